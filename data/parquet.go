package data

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// parquetFile is a Parquet file. Its top-level columns are the columns of the rows; those that hold lists or groups
// count as text that says so.
type parquetFile struct {
	name    string
	r       io.ReaderAt
	size    int64
	file    *parquet.File
	columns []parquetColumn
	na      *naTexts
	first   []int64 // index of the first row of each row group, and of the end
}

// parquetColumn is a top-level column.
type parquetColumn struct {
	name   string
	leaf   int // index among the leaves; -1 for a column of lists or groups
	kind   parquetKind
	scale  int  // decimals
	unit   int  // times and timestamps: nanoseconds in 1
	utc    bool // timestamps: as UTC rather than local
	maxDef byte // definition level of a cell that is not null
}

// openParquet reads the footer and the headers of all pages, so that the row count is known to be true before
// anybody makes room for the rows.
func openParquet(r io.ReaderAt, size int64, name string) (cells, error) {
	if err := checkFooter(r, size, name); err != nil {
		return nil, err
	}
	f := &parquetFile{name: name, r: r, size: size}
	err := f.guard(func() error {
		file, err := parquet.OpenFile(r, size, parquet.SkipPageIndex(true), parquet.SkipBloomFilters(true), parquet.ReadBufferSize(64<<10))
		if err != nil {
			return fileError(name, "the Parquet file cannot be read: %v", err)
		}
		f.file = file
		return f.schema()
	})
	if err == nil {
		err = f.guard(f.checkGroups)
	}
	if err != nil {
		return nil, err
	}
	return f, nil
}

// checkFooter makes sure that the file ends as it says, before its length of the footer is believed.
func checkFooter(r io.ReaderAt, size int64, name string) error {
	if size < 12 {
		return fileError(name, "not a Parquet file: it has %d bytes", size)
	}
	var head, end [8]byte
	if err := readFull(r, head[:4], 0, name); err != nil {
		return err
	}
	if err := readFull(r, end[:], size-8, name); err != nil {
		return err
	}
	switch magic := string(end[4:]); {
	case !bytes.Equal(head[:4], []byte("PAR1")) && string(head[:4]) != "PARE":
		return fileError(name, "not a Parquet file: it does not start with PAR1")
	case magic == "PARE" || string(head[:4]) == "PARE":
		return fileError(name, "an encrypted Parquet file; save it without encryption")
	case magic != "PAR1":
		return fileError(name, "the Parquet file does not end with PAR1: it is cut short")
	}
	if n := int64(binary.LittleEndian.Uint32(end[:4])); n > size-12 {
		return fileError(name, "the Parquet file says its footer has %d bytes, but the file has %d: it is damaged", n, size)
	}
	return nil
}

// guard turns a panic of the Parquet library, which does not check every byte of a damaged file, into an error.
func (f *parquetFile) guard(do func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fileError(f.name, "the Parquet file is damaged: %v", p)
		}
	}()
	return do()
}

// schema lists the top-level columns.
func (f *parquetFile) schema() error {
	halves := f.halfFloats()
	for i, c := range f.file.Root().Columns() {
		col := parquetColumn{name: validText(c.Name()), leaf: -1, kind: parquetNested}
		if c.Leaf() && !c.Repeated() {
			col.leaf, col.maxDef = c.Index(), byte(c.MaxDefinitionLevel())
			if err := col.setType(c.Type()); err != nil {
				return columnError(f.name, col.name, "%v", err)
			}
			if col.kind == parquetHex && halves[i] {
				col.kind = parquetHalf
			}
		}
		f.columns = append(f.columns, col)
	}
	if len(f.columns) == 0 {
		return fileError(f.name, "the Parquet file has no columns")
	}
	return nil
}

// halfFloats returns which top-level columns are floats of 16 bits. The library's types do not tell them from other cells
// of two bytes; the schema in the footer does, where elements stand depth first.
func (f *parquetFile) halfFloats() map[int]bool {
	halves := map[int]bool{}
	column := -1
	for i, inside := 1, int32(0); i < len(f.file.Metadata().Schema); i++ {
		e := &f.file.Metadata().Schema[i]
		if inside > 0 {
			inside--
		} else if column++; e.TypeLength.Valid && e.TypeLength.V == 2 {
			_, halves[column] = e.LogicalType.Value.(*format.Float16Type)
		}
		if e.NumChildren.Valid && e.NumChildren.V > 0 {
			inside += e.NumChildren.V
		}
	}
	return halves
}

// nested reports whether a column holds lists or groups.
func (f *parquetFile) nested(column int) bool { return f.columns[column].kind == parquetNested }

// textual reports whether the cells of a column are text by their type, even if they look like numbers.
func (f *parquetFile) textual(column int) bool {
	k := f.columns[column].kind
	return !k.isNumber() && k != parquetText && k != parquetNull
}

// numeric reports whether the cells of a column are numbers by their type.
func (f *parquetFile) numeric(column int) bool {
	k := f.columns[column].kind
	return k.isNumber() && k != parquetBool
}

// setType decides how the cells of a leaf are read.
func (c *parquetColumn) setType(t parquet.Type) error {
	if l := t.LogicalType(); l != nil {
		switch v := l.Value.(type) {
		case *format.NullType:
			c.kind = parquetNull
			return nil
		case *format.DecimalType:
			return c.setDecimal(t.Kind(), int(v.Scale))
		case *format.DateType:
			c.kind = parquetDate
			return nil
		case *format.TimeType:
			c.kind = parquetTime
			return c.setUnit(v.Unit)
		case *format.TimestampType:
			c.kind, c.utc = parquetTimestamp, v.IsAdjustedToUTC
			return c.setUnit(v.Unit)
		case *format.IntType:
			c.kind = map[bool]parquetKind{true: parquetInt, false: parquetUint}[v.IsSigned]
			return nil
		}
	}
	switch k := t.Kind(); k {
	case parquet.Boolean:
		c.kind = parquetBool
	case parquet.Int32, parquet.Int64:
		c.kind = parquetInt
	case parquet.Int96:
		c.kind = parquetInt96
	case parquet.Float:
		c.kind = parquetFloat
	case parquet.Double:
		c.kind = parquetDouble
	case parquet.ByteArray:
		c.kind = parquetText
	case parquet.FixedLenByteArray:
		c.kind = parquetHex
	default:
		return fmt.Errorf("the type %s is not known", t)
	}
	return nil
}

func (c *parquetColumn) setDecimal(k parquet.Kind, scale int) error {
	if scale < 0 || scale > 1000 {
		return fmt.Errorf("decimals with %d digits after the point cannot be read", scale)
	}
	c.kind, c.scale = parquetDecimal, scale
	if k == parquet.ByteArray || k == parquet.FixedLenByteArray {
		c.kind = parquetBigDecimal
	}
	return nil
}

func (c *parquetColumn) setUnit(u format.TimeUnit) error {
	switch u.Value.(type) {
	case *format.MilliSeconds:
		c.unit = 1e6
	case *format.MicroSeconds:
		c.unit = 1e3
	case *format.NanoSeconds:
		c.unit = 1
	default:
		return fmt.Errorf("the unit of its times is not known")
	}
	return nil
}

func (f *parquetFile) names() []string {
	names := make([]string, len(f.columns))
	for i, c := range f.columns {
		names[i] = c.name
	}
	return names
}

func (f *parquetFile) rows() int64 { return f.first[len(f.first)-1] }

// Close does nothing: the file belongs to the caller.
func (f *parquetFile) Close() error { return nil }

// kindOf says in words which cells a column holds, alike for types whose cells are read alike; "" for one that holds nothing but nulls.
func (f *parquetFile) kindOf(column int) string {
	switch k := f.columns[column].kind; {
	case f.numeric(column):
		return "number"
	case k == parquetNull:
		return ""
	default:
		return map[parquetKind]string{parquetBool: "true and false", parquetText: "text", parquetDate: "date", parquetTime: "time",
			parquetTimestamp: "timestamp", parquetInt96: "timestamp", parquetHex: "bytes", parquetNested: "lists or groups"}[k]
	}
}
