package latent;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import org.apache.spark.SparkEnv;
import org.apache.spark.SparkFiles;

/** The program that computes on an executor: one child process for all tasks, which keeps rows in memory. It serves one call at a time, by all cores. */
final class Worker {
  static final int OK = 0, FAILED = 1, MISSING = 2;

  private static Worker one;

  private final Process process;
  private final DataOutputStream out;
  private final DataInputStream in;

  private Worker(String[] args) throws IOException {
    File program = new File(SparkFiles.get(new File(args[0]).getName()));
    program.setExecutable(true);
    ProcessBuilder b = new ProcessBuilder(program.getPath(), "spark-worker").redirectError(ProcessBuilder.Redirect.INHERIT);
    for (int i = 1; i < args.length; i++) {
      int at = args[i].indexOf('=');
      b.environment().put(args[i].substring(0, at), args[i].substring(at + 1));
    }
    b.environment().put("LATENT_SPARK_THREADS", SparkEnv.get().conf().get("spark.executor.cores", "0"));
    process = b.start();
    Runtime.getRuntime().addShutdownHook(new Thread(process::destroyForcibly));
    out = new DataOutputStream(new BufferedOutputStream(process.getOutputStream(), 1 << 16));
    in = new DataInputStream(new BufferedInputStream(process.getInputStream(), 1 << 16));
  }

  /** What is written of a call after its operation. */
  interface Body {
    void write(DataOutputStream out) throws IOException;
  }

  /** An answer: a status and what comes with it. */
  static final class Answer {
    final int status;
    final byte[] bytes;

    Answer(int status, byte[] bytes) {
      this.status = status;
      this.bytes = bytes;
    }

    /** The answer as a task returns it. An error of the data is an answer like another: Spark would only try it again. */
    byte[] result() {
      byte[] r = new byte[bytes.length + 1];
      r[0] = (byte) status;
      System.arraycopy(bytes, 0, r, 1, bytes.length);
      return r;
    }
  }

  /** Calls the worker of this executor, which is started where there is none. A worker that died is a failure of the task, which Spark tries again. */
  static synchronized Answer call(String[] args, char op, Body body) throws IOException {
    if (one == null || !one.process.isAlive()) one = new Worker(args);
    try {
      one.out.writeByte(op);
      body.write(one.out);
      one.out.flush();
      int status = one.in.readUnsignedByte();
      return new Answer(status, one.in.readNBytes(one.in.readInt()));
    } catch (IOException e) {
      one.process.destroyForcibly();
      one = null;
      throw new IOException("the program that computes on an executor ended", e);
    }
  }

  static void frame(DataOutputStream out, byte[] b) throws IOException {
    out.writeInt(b.length);
    out.write(b);
  }

  static void frame(DataOutputStream out, String s) throws IOException {
    frame(out, s.getBytes(StandardCharsets.UTF_8));
  }
}
