package latent;

import java.io.DataOutputStream;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.sql.Timestamp;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import org.apache.spark.TaskContext;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.DecimalType;

/** Cells that are stored by their types, as they are sent to a worker: a byte that is 0 for no value and 1 before one, numbers with the highest byte first. */
final class Cells {
  /** The letter of a type, as the other end knows it. */
  static char typeOf(DataType t) {
    if (t.equals(DataTypes.DoubleType)) return 'd';
    if (t.equals(DataTypes.FloatType)) return 'f';
    if (t.equals(DataTypes.ByteType) || t.equals(DataTypes.ShortType) || t.equals(DataTypes.IntegerType) || t.equals(DataTypes.LongType)) return 'i';
    if (t.equals(DataTypes.BooleanType)) return 'b';
    if (t instanceof DecimalType) return 'm';
    if (t.equals(DataTypes.StringType)) return 's';
    if (t.equals(DataTypes.DateType) || t.equals(DataTypes.TimestampType) || t.equals(DataTypes.TimestampNTZType)) return 't';
    return 'n'; // lists, groups and the like, of which only the name is known
  }

  /** Writes rows as a piece: see Tables.Piece. */
  static void write(Iterator<Row> rows, char[] types, DataOutputStream to) throws IOException {
    Worker.frame(to, TaskContext.getPartitionId() + "\t\t");
    ByteBuffer b = ByteBuffer.allocate(Tables.FRAME);
    while (rows.hasNext()) {
      Row r = rows.next();
      for (int j = 0; j < types.length; j++) {
        if (b.remaining() < 16) flush(b, to);
        b = cell(r, j, types[j], b, to);
      }
    }
    flush(b, to);
    to.writeInt(0);
  }

  private static void flush(ByteBuffer b, DataOutputStream out) throws IOException {
    if (b.position() == 0) return;
    out.writeInt(b.position());
    out.write(b.array(), 0, b.position());
    b.clear();
  }

  /** Adds a cell to b, or to one that takes its place where it is larger. */
  private static ByteBuffer cell(Row r, int j, char type, ByteBuffer b, DataOutputStream to) throws IOException {
    if (type == 'n') return b;
    if (r.isNullAt(j)) return b.put((byte) 0);
    b.put((byte) 1);
    Object v = r.get(j);
    switch (type) {
      case 'd':
        return b.putDouble((Double) v);
      case 'f':
        return b.putFloat((Float) v);
      case 'i':
        return b.putLong(((Number) v).longValue());
      case 'b':
        return b.put((byte) ((Boolean) v ? 1 : 0));
      default:
        byte[] text = Application.bytes(type == 't' ? dateText(v) : v instanceof BigDecimal ? ((BigDecimal) v).toPlainString() : v.toString());
        if (b.remaining() < 4 + text.length) {
          flush(b, to);
          if (b.capacity() < 4 + text.length) b = ByteBuffer.allocate(4 + text.length + Tables.FRAME);
        }
        return b.putInt(text.length).put(text);
    }
  }

  /** A date or time as ISO 8601 writes it, points of time as those of UTC. */
  private static String dateText(Object v) {
    if (v instanceof Timestamp) v = ((Timestamp) v).toInstant();
    if (v instanceof Instant) return DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(LocalDateTime.ofInstant((Instant) v, ZoneOffset.UTC)) + "Z";
    return v instanceof LocalDateTime ? DateTimeFormatter.ISO_LOCAL_DATE_TIME.format((LocalDateTime) v) : v.toString();
  }

  private Cells() {}
}
