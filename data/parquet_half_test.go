package data

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"
)

// halfType is what Arrow writes for floats of 16 bits: two bytes, said to be one.
type halfType struct{ parquet.Type }

func (halfType) LogicalType() *format.LogicalType {
	return &format.LogicalType{Value: &format.Float16Type{}}
}

// TestParquetHalfFloats reads floats of 16 bits, required, optional and in a dictionary, after a group and beside two bytes
// that are no float.
func TestParquetHalfFloats(t *testing.T) {
	half := parquet.Leaf(halfType{parquet.FixedLenByteArrayType(2)})
	g := &orderedGroup{Group: parquet.Group{
		"pair": parquet.Group{"a": parquet.Int(64), "b": parquet.Int(64)}, "h": half, "opt": parquet.Optional(half), "dict": parquet.Encoded(half, &parquet.RLEDictionary),
		"bytes": parquet.Leaf(parquet.FixedLenByteArrayType(2)),
	}, order: []string{"pair", "h", "opt", "dict", "bytes"}}
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[any](&buf, parquet.NewSchema("table", g))
	cell := func(bits uint16, column, level int) parquet.Value {
		return parquet.FixedLenByteArrayValue(binary.LittleEndian.AppendUint16(nil, bits)).Level(0, level, column)
	}
	// 1.5, -2 and 65504, the largest of all, by IEEE 754.
	for i, bits := range []uint16{0x3E00, 0xC000, 0x7BFF} {
		opt := cell(bits, 3, 1)
		if i == 1 {
			opt = parquet.NullValue().Level(0, 0, 3)
		}
		row := parquet.Row{parquet.Int64Value(1).Level(0, 0, 0), parquet.Int64Value(2).Level(0, 0, 1), cell(bits, 2, 0), opt, cell(bits, 4, 0), cell(0x3E00, 5, 0)}
		if _, err := w.WriteRows([]parquet.Row{row}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := write(t, "h.parquet", buf.String())
	src, info, err := Load(t.Context(), path, Options{Missing: "drop", ID: "bytes"})
	if err != nil {
		t.Fatal(err)
	}
	got := src.(*Table)
	if want := []float64{1.5, 1.5, 1.5, 65504, 65504, 65504}; !slices.Equal(info.Features, []string{"h", "opt", "dict"}) || !slices.Equal(got.F64, want) {
		t.Errorf("features %q, values %v, want %v", info.Features, got.F64, want)
	}
	if !slices.Equal(got.ID, []string{"003e", "003e"}) {
		t.Errorf("two bytes that are no float are read as %q", got.ID)
	}
	src, _, err = Load(t.Context(), path, Options{ID: "h", Columns: []string{"dict"}})
	if err != nil {
		t.Fatal(err)
	}
	if id := src.(*Table).ID; !slices.Equal(id, []string{"1.5", "-2", "65504"}) {
		t.Errorf("as text: %q", id)
	}
}
