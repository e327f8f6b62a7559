package latent;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.FileDescriptor;
import java.io.FileOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaSparkContext;

/**
 * A Spark application that lives as long as a fit. It reads requests from standard input and answers on standard output, and it ends when its input
 * does. It knows no algorithm: jobs and answers are bytes that the programs on both ends understand.
 *
 * <p>A request is an operation, a byte, and a list of byte strings; an answer is a status, 0 or 1 for an error, and such a list. Lengths are
 * four bytes, the highest first.
 */
public final class Application {
  private static final class Request {
    final int op;
    final List<byte[]> args;

    Request(int op, List<byte[]> args) {
      this.op = op;
      this.args = args;
    }

    String text(int i) {
      return new String(args.get(i), StandardCharsets.UTF_8);
    }

    int number(int i) {
      return Integer.parseInt(text(i));
    }
  }

  /** @param args the program that workers run, and the settings of its environment, NAME=VALUE */
  public static void main(String[] args) throws Exception {
    DataOutputStream out = new DataOutputStream(new BufferedOutputStream(new FileOutputStream(FileDescriptor.out), 1 << 16));
    System.setOut(System.err); // Spark and its libraries print there
    LinkedBlockingQueue<Request> queue = new LinkedBlockingQueue<>();
    JavaSparkContext[] context = new JavaSparkContext[1];
    Thread reader = new Thread(() -> read(queue));
    reader.setDaemon(true);
    reader.start();
    JavaSparkContext sc;
    try {
      sc = new JavaSparkContext(new SparkConf().setAppName("latent"));
    } catch (Exception e) {
      answer(out, 1, List.of(said(e)));
      return;
    }
    sc.addFile(args[0]);
    Tables tables = new Tables(sc, args);
    answer(out, 0, List.of(bytes(sc.version()), bytes(Integer.toString(sc.defaultParallelism()))));
    while (true) {
      Request r = queue.take();
      try {
        answer(out, 0, serve(tables, r));
      } catch (Exception e) {
        answer(out, 1, List.of(said(e)));
      }
    }
  }

  /** Puts requests into the queue. At the end of the input nobody waits for an answer any more. */
  private static void read(LinkedBlockingQueue<Request> queue) {
    try (DataInputStream in = new DataInputStream(new BufferedInputStream(System.in, 1 << 16))) {
      while (true) {
        int op = in.readUnsignedByte();
        List<byte[]> args = new ArrayList<>();
        for (int n = in.readInt(); n > 0; n--) args.add(in.readNBytes(in.readInt()));
        queue.add(new Request(op, args));
      }
    } catch (IOException e) {
      System.exit(0); // Spark stops its context as the machine shuts down
    }
  }

  private static List<byte[]> serve(Tables t, Request r) throws Exception {
    switch (r.op) {
      case 'O':
        return t.open(r.text(0), r.text(1));
      case 'M':
        return t.map(r.args.get(0), r.number(1), r.number(2));
      case 'B':
        return t.build(r.args.get(0), r.number(1), r.text(2));
      case 'A':
        return t.align(Long.parseLong(r.text(0)), r.number(1));
      case 'P':
        return t.pass(r.args.get(0));
      case 'S':
        return t.save(r.args.get(0), r.text(1), r.text(2), r.text(3));
      case 'F':
        return t.fetch(r.number(0));
      default:
        throw new IOException("no such operation: " + r.op);
    }
  }

  private static void answer(DataOutputStream out, int status, List<byte[]> parts) throws IOException {
    out.writeByte(status);
    out.writeInt(parts.size());
    for (byte[] b : parts) {
      out.writeInt(b.length);
      out.write(b);
    }
    out.flush();
  }

  /** What an exception says in one line: the message of its first cause that has one. */
  private static byte[] said(Throwable e) {
    String message = null;
    for (Throwable t = e; t != null; t = t.getCause()) if (t.getMessage() != null && !(t instanceof EOFException)) message = t.getMessage();
    return bytes(message == null ? e.toString() : message);
  }

  static byte[] bytes(String s) {
    return s.getBytes(StandardCharsets.UTF_8);
  }

  private Application() {}
}
