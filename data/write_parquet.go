package data

import (
	"fmt"
	"io"

	"github.com/parquet-go/parquet-go"
)

// parquetSink writes a flat Parquet file, Snappy-compressed, in row groups of 128 Ki rows.
type parquetSink struct {
	w    *parquet.GenericWriter[any]
	d    int
	vals []parquet.Value // of the rows that wait
	rows []parquet.Row
}

// parquetRows is how many rows are handed over at once.
const parquetRows = 256

func newParquetSink(w io.Writer, cols []OutColumn) (s *parquetSink, err error) {
	seen := make(map[string]bool, len(cols))
	g := &orderedGroup{Group: parquet.Group{}}
	for _, c := range cols {
		if seen[c.Name] {
			return nil, fmt.Errorf("two columns are called %q, which Parquet does not allow; rename one", c.Name)
		}
		seen[c.Name] = true
		node := parquet.Leaf(parquet.DoubleType)
		switch c.Kind {
		case Int:
			node = parquet.Int(64)
		case Text:
			node = parquet.String()
		}
		g.Group[c.Name] = node
		g.order = append(g.order, c.Name)
	}
	defer func() { // the library panics on names that it cannot take
		if p := recover(); p != nil {
			err = fmt.Errorf("these columns cannot be written as Parquet: %v", p)
		}
	}()
	schema := parquet.NewSchema("table", g)
	return &parquetSink{
		d:    len(cols),
		vals: make([]parquet.Value, 0, parquetRows*len(cols)),
		w: parquet.NewGenericWriter[any](w, schema, parquet.Compression(&parquet.Snappy),
			parquet.MaxRowsPerRowGroup(128<<10), parquet.CreatedBy("latent", "", "")),
	}, nil
}

// orderedGroup is a parquet.Group, a map, whose fields keep their order.
type orderedGroup struct {
	parquet.Group
	order []string
}

// Fields implements parquet.Node.
func (g *orderedGroup) Fields() []parquet.Field {
	byName := make(map[string]parquet.Field, len(g.order))
	for _, f := range g.Group.Fields() {
		byName[f.Name()] = f
	}
	fields := make([]parquet.Field, len(g.order))
	for i, name := range g.order {
		fields[i] = byName[name]
	}
	return fields
}

func (s *parquetSink) add(j int, v parquet.Value) { s.vals = append(s.vals, v.Level(0, 0, j)) }

func (s *parquetSink) whole(j int, v int64)   { s.add(j, parquet.Int64Value(v)) }
func (s *parquetSink) float(j int, v float64) { s.add(j, parquet.DoubleValue(v)) }
func (s *parquetSink) text(j int, t string) {
	s.add(j, parquet.ByteArrayValue([]byte(validText(t)))) // as the reader takes it
}

func (s *parquetSink) end() error {
	s.rows = append(s.rows, s.vals[len(s.vals)-s.d:])
	if len(s.rows) < parquetRows {
		return nil
	}
	return s.flush()
}

func (s *parquetSink) flush() error {
	_, err := s.w.WriteRows(s.rows)
	s.rows, s.vals = s.rows[:0], s.vals[:0]
	return err
}

func (s *parquetSink) close() error {
	if err := s.flush(); err != nil {
		return err
	}
	return s.w.Close()
}
