package latent;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import org.apache.hadoop.conf.Configuration;
import org.apache.hadoop.fs.FileStatus;
import org.apache.hadoop.fs.FileSystem;
import org.apache.hadoop.fs.Path;
import org.apache.hadoop.io.LongWritable;
import org.apache.hadoop.io.Text;
import org.apache.hadoop.io.compress.CompressionCodec;
import org.apache.hadoop.io.compress.CompressionCodecFactory;
import org.apache.hadoop.mapreduce.Job;
import org.apache.hadoop.mapreduce.lib.input.FileInputFormat;
import org.apache.hadoop.mapreduce.lib.input.FileSplit;
import org.apache.hadoop.mapreduce.lib.input.TextInputFormat;
import org.apache.spark.Partitioner;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaNewHadoopRDD;
import org.apache.spark.api.java.JavaPairRDD;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.api.java.function.Function2;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.RowFactory;
import org.apache.spark.sql.SparkSession;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructField;
import org.apache.spark.storage.StorageLevel;
import scala.Tuple2;

/**
 * A table: pieces, as Spark reads them, and parts, the numbers that workers made of the pieces, cut where a fit wants them. Both are in the order of the
 * rows.
 */
final class Tables {
  static final int FRAME = 1 << 16;
  private static final int SMALL = 1 << 20; // a job that goes with its tasks: one that is broadcast takes a round trip more

  private final JavaSparkContext sc;
  private final String[] worker;

  private JavaRDD<Piece> pieces; // one a partition
  private int[] order; // the partition of each piece; null where that is its number
  private String counted; // of the pieces, a line each: the partition, its rows and its file
  private JavaRDD<byte[]> made; // of each piece: a status and rows of numbers
  private long[] rows; // of each piece, after build
  private int stride; // bytes of a row
  private JavaRDD<byte[]> parts;
  private Pass next; // the pass that is under way
  private JavaRDD<byte[]> passes; // made once, since Spark takes time to look at what a new one does
  private int builds; // tables so far, by which workers name parts

  Tables(JavaSparkContext sc, String[] worker) {
    this.sc = sc;
    this.worker = worker;
  }

  /** A piece as a task reads it: written to a worker in frames, of which the first says where it comes from, and an empty one ends it. */
  interface Piece {
    void write(DataOutputStream out) throws IOException;
  }

  List<byte[]> open(String kind, String what) throws Exception {
    if (parts != null) parts.unpersist();
    parts = null;
    switch (kind) {
      case "text":
        return openText(files(what));
      case "table":
      case "query":
        Dataset<Row> all = kind.equals("table") ? session().table(what) : session().sql(what);
        counts(all.toJavaRDD(), false);
        return openRows(all);
      default:
        return openFiles(kind, files(what));
    }
  }

  private SparkSession session() {
    return SparkSession.builder().getOrCreate();
  }

  /** The files of paths, patterns and folders, one a line, in the order of their names. */
  private List<FileStatus> files(String what) throws IOException {
    List<FileStatus> found = new ArrayList<>();
    for (String name : what.split("\n")) {
      Path path = new Path(name);
      FileSystem fs = path.getFileSystem(sc.hadoopConfiguration());
      FileStatus[] matches = fs.globStatus(path);
      if (matches == null || matches.length == 0) throw new FileNotFoundException(name + ": there is no such file");
      List<FileStatus> own = new ArrayList<>();
      for (FileStatus s : matches) add(fs, s, own);
      if (own.isEmpty()) throw new FileNotFoundException(name + ": there are no files in it");
      own.sort(Comparator.comparing(s -> s.getPath().toString()));
      found.addAll(own);
    }
    return found;
  }

  private static void add(FileSystem fs, FileStatus s, List<FileStatus> to) throws IOException {
    if (!s.isDirectory()) {
      to.add(s);
      return;
    }
    for (FileStatus in : fs.listStatus(s.getPath())) {
      String name = in.getPath().getName();
      if (name.equals("_delta_log") || name.equals(".hoodie"))
        throw new IOException(s.getPath() + ": its log (" + name + ") says which of its files still count; read it as a table, by --table or --query");
      if (!name.startsWith("_") && !name.startsWith(".")) add(fs, in, to);
    }
  }

  /** How many bytes of its files a task reads. */
  private long share(List<FileStatus> files) {
    long total = 0;
    for (FileStatus s : files) total += s.getLen();
    return Math.min(128L << 20, Math.max(4L << 20, total / (2L * sc.defaultParallelism()) + 1));
  }

  private List<byte[]> openText(List<FileStatus> files) throws Exception {
    Configuration conf = new Configuration(sc.hadoopConfiguration());
    conf.setLong("mapreduce.input.fileinputformat.split.maxsize", share(files));
    Job job = Job.getInstance(conf);
    Path[] paths = new Path[files.size()];
    for (int i = 0; i < paths.length; i++) paths[i] = files.get(i).getPath();
    FileInputFormat.setInputPaths(job, paths);
    JavaPairRDD<LongWritable, Text> lines = sc.newAPIHadoopRDD(job.getConfiguration(), TextInputFormat.class, LongWritable.class, Text.class);
    pieces = ((JavaNewHadoopRDD<LongWritable, Text>) lines).mapPartitionsWithInputSplit((split, it) -> {
      FileSplit at = (FileSplit) split;
      Piece piece = out -> {
        Worker.frame(out, TaskContext.getPartitionId() + "\t" + at.getStart() + "\t" + at.getPath());
        ByteArrayOutputStream b = new ByteArrayOutputStream(FRAME + 4096);
        while (it.hasNext()) {
          Text line = it.next()._2();
          b.write(line.getBytes(), 0, line.getLength());
          b.write('\n');
          if (b.size() >= FRAME) flush(b, out);
        }
        if (b.size() > 0) flush(b, out);
        out.writeInt(0);
      };
      return Collections.singletonList(piece).iterator();
    }, true);
    order = null;
    return Arrays.asList(Application.bytes(Integer.toString(pieces.getNumPartitions())), Application.bytes(names(files)), head(files.get(0).getPath()));
  }

  private static void flush(ByteArrayOutputStream b, DataOutputStream out) throws IOException {
    out.writeInt(b.size());
    b.writeTo(out);
    b.reset();
  }

  private static String names(List<FileStatus> files) {
    StringBuilder b = new StringBuilder();
    for (FileStatus s : files) b.append(s.getPath()).append('\n');
    return b.toString();
  }

  /** The beginning of a file, unpacked. */
  private byte[] head(Path path) throws IOException {
    CompressionCodec codec = new CompressionCodecFactory(sc.hadoopConfiguration()).getCodec(path);
    try (InputStream raw = path.getFileSystem(sc.hadoopConfiguration()).open(path); InputStream in = codec == null ? raw : codec.createInputStream(raw)) {
      return in.readNBytes(1 << 18);
    }
  }

  private List<byte[]> openFiles(String format, List<FileStatus> files) throws Exception {
    SparkSession s = session();
    s.conf().set("spark.sql.files.maxPartitionBytes", share(files));
    s.conf().set("spark.sql.files.openCostInBytes", 1L << 40); // so that a partition holds one run of rows of one file
    String[] paths = new String[files.size()];
    for (int i = 0; i < paths.length; i++) paths[i] = files.get(i).getPath().toString();
    Dataset<Row> all = s.read().format(format).load(paths);
    // Without columns Spark reads the numbers of rows alone, in the same partitions.
    counts(all.selectExpr("_metadata.file_path", "_metadata.file_block_start").toJavaRDD(), true);
    return openRows(all);
  }

  /** Counts the rows of each partition and, of files, brings the partitions in the order of these. */
  private void counts(JavaRDD<Row> rdd, boolean files) {
    List<Tuple2<String, String>> found = rdd.mapPartitionsWithIndex((i, it) -> {
      long n = 0;
      String path = "", key = "\uffff";
      while (it.hasNext()) {
        Row r = it.next();
        if (n++ > 0 || !files) continue;
        path = r.getString(0);
        key = path + "\u0000" + String.format("%020d", r.getLong(1));
      }
      return Collections.singletonList(new Tuple2<>(key, i + "\t" + n + "\t" + path)).iterator();
    }, false).collect();
    List<Tuple2<String, String>> sorted = new ArrayList<>(found);
    if (files) sorted.sort(Comparator.comparing(Tuple2::_1)); // partitions without rows come last
    order = new int[sorted.size()];
    StringBuilder b = new StringBuilder();
    for (int i = 0; i < order.length; i++) {
      String line = sorted.get(i)._2();
      order[i] = Integer.parseInt(line.substring(0, line.indexOf('\t')));
      b.append(line).append('\n');
    }
    counted = b.toString();
  }

  private List<byte[]> openRows(Dataset<Row> all) {
    StructField[] fields = all.schema().fields();
    StringBuilder schema = new StringBuilder();
    char[] types = new char[fields.length];
    for (int j = 0; j < types.length; j++) {
      types[j] = Cells.typeOf(fields[j].dataType());
      schema.append(types[j]).append('\t').append(fields[j].name()).append('\n');
    }
    pieces = all.toJavaRDD().mapPartitions(it -> Collections.singletonList((Piece) out -> Cells.write(it, types, out)).iterator(), true);
    return Arrays.asList(Application.bytes(Integer.toString(pieces.getNumPartitions())), Application.bytes(schema.toString()), Application.bytes(counted));
  }

  /** Lets workers serve a job for the pieces from one to another, and returns what they answer, in the order of the pieces. */
  List<byte[]> map(byte[] job, int from, int to) throws IOException {
    List<Integer> want = new ArrayList<>();
    for (int i = from; i < to; i++) want.add(order == null ? i : order[i]);
    Broadcast<byte[]> b = sc.broadcast(job);
    String[] args = worker;
    JavaRDD<byte[]> answers = pieces.mapPartitions(it -> Collections.singletonList(served(args, b.value(), it)).iterator(), true);
    try {
      List<byte[]> all = new ArrayList<>();
      if (want.size() == pieces.getNumPartitions()) {
        List<byte[]> got = answers.collect();
        for (int p : want) all.add(got.get(p));
      } else {
        for (List<byte[]> got : answers.collectPartitions(want.stream().mapToInt(i -> i).toArray())) all.addAll(got);
      }
      return checked(all);
    } finally {
      b.destroy();
    }
  }

  private static byte[] served(String[] args, byte[] job, Iterator<Piece> it) throws IOException {
    Piece piece = it.next();
    return Worker.call(args, 'R', out -> {
      Worker.frame(out, job);
      piece.write(out);
    }).result();
  }

  /** Takes the statuses off; the first error is the outcome of all. */
  private static List<byte[]> checked(List<byte[]> answers) throws IOException {
    List<byte[]> out = new ArrayList<>();
    for (byte[] a : answers) {
      if (a[0] != Worker.OK) throw new IOException(new String(a, 1, a.length - 1, StandardCharsets.UTF_8));
      out.add(Arrays.copyOfRange(a, 1, a.length));
    }
    return out;
  }

  /** Turns the pieces into rows of numbers, of so many bytes each, and returns how many rows each gives. */
  List<byte[]> build(byte[] job, int stride, String storage) throws IOException {
    Broadcast<byte[]> b = sc.broadcast(job);
    String[] args = worker;
    this.stride = stride;
    made = pieces.mapPartitions(it -> Collections.singletonList(served(args, b.value(), it)).iterator(), true).persist(StorageLevel.fromString(storage));
    List<byte[]> told = made.map(a -> a[0] == Worker.OK ? Application.bytes("\u0000" + (a.length - 1) / stride) : a).collect();
    List<byte[]> inOrder = new ArrayList<>();
    for (int i = 0; i < told.size(); i++) inOrder.add(told.get(order == null ? i : order[i]));
    List<byte[]> counts = checked(inOrder);
    rows = new long[counts.size()];
    for (int i = 0; i < rows.length; i++) rows[i] = Long.parseLong(new String(counts.get(i), StandardCharsets.UTF_8));
    return counts;
  }

  /** Cuts the rows into parts of so many each, but for the last, and forgets the pieces. */
  List<byte[]> align(long each, int count) {
    int n = made.getNumPartitions(), stride = this.stride;
    long[] first = new long[n]; // of each partition
    long at = 0;
    for (int i = 0; i < n; i++) {
      first[order == null ? i : order[i]] = at;
      at += rows[i];
    }
    JavaPairRDD<Integer, Tuple2<Long, byte[]>> cut = made.mapPartitionsWithIndex((p, it) -> slices(it.next(), first[p], each, stride).iterator(), true).mapToPair(t -> t);
    parts = cut.partitionBy(new Exact(count)).mapPartitions(it -> Collections.singletonList(joined(it)).iterator(), true).persist(made.getStorageLevel());
    next = new Pass(worker, Integer.toString(builds++));
    passes = parts.mapPartitionsWithIndex(next, true);
    parts.count();
    made.unpersist();
    return List.of();
  }

  private static List<Tuple2<Integer, Tuple2<Long, byte[]>>> slices(byte[] answer, long first, long each, int stride) {
    List<Tuple2<Integer, Tuple2<Long, byte[]>>> out = new ArrayList<>();
    long n = (answer.length - 1) / stride;
    for (long i = 0; i < n; ) {
      long part = (first + i) / each, to = Math.min(n, (part + 1) * each - first);
      out.add(new Tuple2<>((int) part, new Tuple2<>(first + i, Arrays.copyOfRange(answer, (int) (1 + i * stride), (int) (1 + to * stride)))));
      i = to;
    }
    return out;
  }

  private static byte[] joined(Iterator<Tuple2<Integer, Tuple2<Long, byte[]>>> it) {
    List<Tuple2<Long, byte[]>> all = new ArrayList<>();
    while (it.hasNext()) all.add(it.next()._2());
    all.sort(Comparator.comparing(Tuple2::_1));
    int size = 0;
    for (Tuple2<Long, byte[]> t : all) size += t._2().length;
    byte[] out = new byte[size];
    int at = 0;
    for (Tuple2<Long, byte[]> t : all) {
      System.arraycopy(t._2(), 0, out, at, t._2().length);
      at += t._2().length;
    }
    return out;
  }

  /** Lets workers serve a job for all pieces and writes the rows that they answer, of columns with a type and a name a line. Nothing is written where one fails. */
  List<byte[]> save(byte[] job, String columns, String format, String folder) throws IOException {
    Path path = new Path(folder);
    if (path.getFileSystem(sc.hadoopConfiguration()).exists(path)) throw new IOException(folder + ": it is there already; give a folder that is not");
    String[] args = worker;
    List<StructField> fields = new ArrayList<>();
    StringBuilder types = new StringBuilder();
    for (String line : columns.split("\n")) {
      char t = line.charAt(0);
      types.append(t);
      fields.add(DataTypes.createStructField(line.substring(2), t == 'i' ? DataTypes.LongType : t == 'd' ? DataTypes.DoubleType : DataTypes.StringType, true));
    }
    String letters = types.toString();
    Broadcast<byte[]> b = sc.broadcast(job);
    JavaRDD<byte[]> answers = pieces.mapPartitions(it -> Collections.singletonList(served(args, b.value(), it)).iterator(), true).persist(StorageLevel.DISK_ONLY());
    try {
      List<byte[]> told = answers.map(a -> a[0] == Worker.OK ? new byte[1] : a).collect();
      List<byte[]> inOrder = new ArrayList<>();
      for (int i = 0; i < told.size(); i++) inOrder.add(told.get(order == null ? i : order[i]));
      checked(inOrder);
      JavaRDD<Row> rows = answers.flatMap(a -> rows(a, letters));
      session().createDataFrame(rows, DataTypes.createStructType(fields)).write().format(format).option("header", true).save(folder);
    } finally {
      answers.unpersist();
      b.destroy();
    }
    return List.of();
  }

  private static Iterator<Row> rows(byte[] answer, String types) {
    ByteBuffer b = ByteBuffer.wrap(answer, 1, answer.length - 1);
    return new Iterator<>() {
      @Override
      public boolean hasNext() {
        return b.hasRemaining();
      }

      @Override
      public Row next() {
        Object[] cells = new Object[types.length()];
        for (int j = 0; j < cells.length; j++) {
          if (b.get() == 0) continue;
          char t = types.charAt(j);
          if (t == 'i') cells[j] = b.getLong();
          else if (t == 'd') cells[j] = b.getDouble();
          else {
            byte[] s = new byte[b.getInt()];
            b.get(s);
            cells[j] = new String(s, StandardCharsets.UTF_8);
          }
        }
        return RowFactory.create(cells);
      }
    };
  }

  private static final class Exact extends Partitioner {
    private static final long serialVersionUID = 1;
    private final int n;

    Exact(int n) {
      this.n = n;
    }

    @Override
    public int numPartitions() {
      return n;
    }

    @Override
    public int getPartition(Object key) {
      return (Integer) key;
    }
  }

  /** Lets workers make a pass and returns what they answer, in the order of the parts. A worker that does not hold a part is given it. */
  List<byte[]> pass(byte[] job) throws IOException {
    Broadcast<byte[]> b = job.length > SMALL ? sc.broadcast(job) : null;
    next.large = b;
    next.job = b == null ? job : null;
    try {
      return checked(passes.collect());
    } finally {
      if (b != null) b.destroy();
    }
  }

  /** What a task of a pass does: the pass that it is of is the one that was set last when Spark sent it. */
  private static final class Pass implements Function2<Integer, Iterator<byte[]>, Iterator<byte[]>> {
    private static final long serialVersionUID = 1;
    private final String[] args;
    private final String table;
    private byte[] job;
    private Broadcast<byte[]> large;

    Pass(String[] args, String table) {
      this.args = args;
      this.table = table;
    }

    @Override
    public Iterator<byte[]> call(Integer part, Iterator<byte[]> rows) throws IOException {
      return Collections.singletonList(passed(args, table, part, large == null ? job : large.value(), rows)).iterator();
    }
  }

  private static byte[] passed(String[] args, String table, int part, byte[] job, Iterator<byte[]> it) throws IOException {
    byte[] rows = null;
    while (true) {
      byte[] given = rows;
      Worker.Answer a = Worker.call(args, given == null ? 'P' : 'B', out -> {
        Worker.frame(out, table);
        out.writeInt(part);
        Worker.frame(out, job);
        if (given != null) Worker.frame(out, given);
      });
      if (a.status != Worker.MISSING) return a.result();
      rows = it.next();
    }
  }

  List<byte[]> fetch(int part) throws IOException {
    return parts.collectPartitions(new int[] {part})[0];
  }
}
