package data_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
)

// scripted is a source whose passes deliver blocks as they are written down.
type scripted struct {
	rows   int64
	d      int
	passes [][]data.Block // of each pass, the last for all further ones
	opened int
	forget bool // at the end it returns nothing for ever
}

func (s *scripted) Shape() (int64, int) { return s.rows, s.d }

func (s *scripted) Open(context.Context) (data.Reader, error) {
	pass := s.passes[min(s.opened, len(s.passes)-1)]
	s.opened++
	return &scriptedReader{s, pass}, nil
}

type scriptedReader struct {
	s    *scripted
	left []data.Block
}

func (r *scriptedReader) Read(b *data.Block, n int) error {
	if len(r.left) == 0 {
		if r.s.forget {
			return nil
		}
		return io.EOF
	}
	*b, r.left = r.left[0], r.left[1:]
	return nil
}

func (r *scriptedReader) Close() error { return nil }

// drain reads all passes of a source and returns the cells of the last and the first error.
func drain(src data.Source, passes, n int) (cells []float64, err error) {
	for range passes {
		cells = nil
		r, err := src.Open(context.Background())
		if err != nil {
			return nil, err
		}
		for b := new(data.Block); ; {
			if err = r.Read(b, n); err != nil {
				break
			}
			if b.First != int64(len(cells)/b.D) {
				return nil, errors.New("First is not the number of rows before")
			}
			for i := range b.N {
				for j := range b.D {
					cells = append(cells, b.At(i, j))
				}
			}
		}
		if err != io.EOF {
			return cells, err
		}
	}
	return cells, nil
}

// A promise that a source does not keep is an error that says which, and never a panic or a loop without an end.
func TestSourcesThatDoNotKeepTheirPromises(t *testing.T) {
	two := []float64{1, 2, 3, 4}
	good := data.Block{N: 2, D: 2, F64: two}
	for name, c := range map[string]struct {
		src  scripted
		want string
	}{
		"cells missing":            {scripted{passes: [][]data.Block{{{N: 2, D: 2, F64: two[:3]}}}}, "3 cells"},
		"no cells":                 {scripted{passes: [][]data.Block{{{N: 2, D: 2}}}}, "0 cells"},
		"cells too many":           {scripted{passes: [][]data.Block{{{N: 1, D: 2, F64: two}}}}, "4 cells"},
		"cells of two types":       {scripted{passes: [][]data.Block{{{N: 2, D: 2, F64: two, F32: make([]float32, 4)}}}}, "both"},
		"another width":            {scripted{passes: [][]data.Block{{good, {N: 1, D: 4, F64: two}}}}, "4 columns, but it has 2, after 2 rows"},
		"another type":             {scripted{passes: [][]data.Block{{good, {N: 2, D: 2, F32: make([]float32, 4)}}}}, "float32s where it returned float64s"},
		"another type in a pass":   {scripted{passes: [][]data.Block{{good}, {{N: 2, D: 2, F32: make([]float32, 4)}}}}, "float32s"},
		"weights missing":          {scripted{passes: [][]data.Block{{{N: 2, D: 2, F64: two, W: []float64{1}}}}}, "1 weights"},
		"row numbers missing":      {scripted{passes: [][]data.Block{{{N: 2, D: 2, F64: two, Row: []int64{1}}}}}, "1 row numbers"},
		"ids missing":              {scripted{passes: [][]data.Block{{{N: 2, D: 2, F64: two, ID: []string{"a"}}}}}, "1 ids"},
		"a negative number":        {scripted{passes: [][]data.Block{{{N: -1, D: 2}}}}, "-1 rows"},
		"more than asked for":      {scripted{passes: [][]data.Block{{{N: 9, D: 2, F64: make([]float64, 18)}}}}, "9 rows where 8"},
		"more than announced":      {scripted{rows: 3, passes: [][]data.Block{{good, good}}}, "more rows than the 3"},
		"fewer than announced":     {scripted{rows: 5, passes: [][]data.Block{{good, good}}}, "has 5 rows"},
		"more than the first time": {scripted{passes: [][]data.Block{{good}, {good, good}}}, "more rows than the 2"},
		"fewer the second time":    {scripted{passes: [][]data.Block{{good, good}, {good}}}, "has 4 rows"},
		"nothing for ever":         {scripted{forget: true, passes: [][]data.Block{{good}}}, "no rows 100 times"},
	} {
		s := c.src
		s.d = 2
		if s.rows == 0 {
			s.rows = -1
		}
		src, err := data.Checked(&s)
		if err != nil {
			t.Fatal(name, err)
		}
		_, err = drain(src, 2, 8)
		var wrong *data.SourceError
		if !errors.As(err, &wrong) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, wanted %q", name, err, c.want)
		}
	}
}

// Short blocks are filled up to what was asked for, in their order, whatever some of them lack.
func TestShortBlocksAreFilledUp(t *testing.T) {
	s := &scripted{rows: -1, d: 1, passes: [][]data.Block{{
		{N: 1, D: 1, F64: []float64{1}}, {N: 2, D: 1, F64: []float64{2, 3}, W: []float64{5, 6}}, {N: 1, D: 1, F64: []float64{4}}, {N: 1, D: 1, F64: []float64{5}},
	}}}
	src, err := data.Checked(s)
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	var b data.Block
	if err := r.Read(&b, 4); err != nil || b.N != 4 || !slices.Equal(b.F64, []float64{1, 2, 3, 4}) || !slices.Equal(b.W, []float64{1, 5, 6, 1}) {
		t.Errorf("block %+v, error %v", b, err)
	}
	if err := r.Read(&b, 4); err != nil || b.N != 1 || b.F64[0] != 5 || b.First != 4 {
		t.Errorf("block %+v, error %v", b, err)
	}
	if err := r.Read(&b, 4); err != io.EOF || b.N != 0 {
		t.Errorf("%d rows and error %v at the end", b.N, err)
	}
	if cells, err := drain(src, 3, 3); err != nil || !slices.Equal(cells, []float64{1, 2, 3, 4, 5}) {
		t.Errorf("cells %v, error %v", cells, err)
	}
}

// noContext is a context that nobody made.
var noContext context.Context

// Nil sources and contexts, and tables whose slices do not fit, are errors of the call.
func TestArgumentsThatNoCallCanUse(t *testing.T) {
	var none *data.Table
	for name, src := range map[string]data.Source{
		"nil": nil, "a nil table": none, "a nil source of another type": (*scripted)(nil),
		"cells missing": &data.Table{N: 2, D: 2, F64: make([]float64, 3)}, "both types": &data.Table{N: 2, D: 2, F64: make([]float64, 2), F32: make([]float32, 2)},
		"weights missing": &data.Table{N: 2, D: 1, F64: make([]float64, 2), W: []float64{1}}, "a negative number": &data.Table{N: -2, D: -1, F64: make([]float64, 2)},
		"beyond integers": &data.Table{N: 1 << 62, D: 8},
	} {
		var wrong *data.ArgumentError
		if _, err := data.Checked(src); !errors.As(err, &wrong) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	var wrong *data.ArgumentError
	if _, _, _, _, err := data.FirstCell(noContext, &data.Table{}, func(int, float64) bool { return false }); !errors.As(err, &wrong) {
		t.Errorf("a nil context: %v", err)
	}
	table := &data.Table{N: 1, D: 1, F64: []float64{1}}
	if src, err := data.Checked(table); err != nil || src != data.Source(table) {
		t.Errorf("a table that fits: %v, %v", src, err)
	}
}

// What a source is scaled or projected by must fit its columns: to open it says so.
func TestNumbersThatDoNotFitTheColumns(t *testing.T) {
	table := &data.Table{N: 2, D: 2, F64: []float64{1, 2, 3, 4}}
	for name, src := range map[string]data.Source{
		"centers": data.Scaled(table, []float64{1}, []float64{1, 1}), "scales": data.Scaled(table, []float64{1, 1}, []float64{1, 1, 1}), "a nil source": data.Scaled(nil, nil, nil),
		"a mean": data.Projected(table, []float64{0}, [][]float64{{1, 0}}), "an axis": data.Projected(table, []float64{0, 0}, [][]float64{{1, 0}, {1}}), "nil projected": data.Projected(nil, nil, nil),
		"nil binarized": data.Binarized(nil, 0),
	} {
		src.Shape()
		var wrong *data.ArgumentError
		if _, err := src.Open(context.Background()); !errors.As(err, &wrong) {
			t.Errorf("%s: error %v", name, err)
		}
	}
	var wrong *data.ArgumentError
	if _, _, _, _, err := data.FirstCell(context.Background(), table, nil); !errors.As(err, &wrong) {
		t.Errorf("nothing to look for: %v", err)
	}
	if _, err := data.FromMatrix(nil); !errors.As(err, &wrong) {
		t.Errorf("a nil matrix: %v", err)
	}
	if _, _, err := data.Load(noContext, "@iris", data.Options{}); !errors.As(err, &wrong) {
		t.Errorf("a nil context: %v", err)
	}
	if _, err := data.Profile(noContext, "@iris", data.Options{}); !errors.As(err, &wrong) {
		t.Errorf("a nil context: %v", err)
	}
}
