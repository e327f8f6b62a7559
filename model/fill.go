package model

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/rng"
)

// A Filler fills in the missing cells of rows by a mixture: from what the cells that are there say of the component and, in a
// component whose numbers vary together, of the others (Little and Rubin 2019, Statistical Analysis with Missing Data, chapter 11).
// That cells are missing must not depend on what would stand in them, once the cells that are there are known: missing at random.
//
// A filler keeps what it has computed for a pattern of missing cells. It is for one goroutine at a time.
type Filler struct {
	m      *Model
	inner  *Model        // of the rows after changes of scale; m where there are none
	change *data.Changes // nil without
	parts  []filling
	scorer *Scorer // of single rows; nil before the first
	x      []float64
	gaps   []int
	filled Filled
}

// filling fills in the cells of some of the columns.
type filling interface {
	// expect sets the missing cells of x, a row after the model's transform, to what is expected of them, where the components have
	// the responsibilities r, of which that of best is the largest.
	expect(x, r []float64, best int) error
	// draw sets them to what is drawn from component c.
	draw(x []float64, c int, rng *rand.Rand) error
}

// A Gap is a missing cell, and what it is filled with.
type Gap struct {
	Row    int     // among those of the block, from 0
	Column int     // of the model, from 0
	Value  float64 // in the user's units; of a category the index of its level, from 0; a bit is 0 or 1
}

// Filled is a run of consecutive rows, with what a model says of them and what their missing cells are filled with. It is valid
// only during the call that receives it.
type Filled struct {
	*Scored
	Gaps []Gap // by rows, then by columns
}

// Filler makes the model ready to fill in missing cells. It must be a mixture that knows its columns: one of principal components,
// or of bits that were made of numbers, is an error.
func (m *Model) Filler() (*Filler, error) {
	if err := m.needsDensity("to fill in missing cells by"); err != nil {
		return nil, err
	}
	if err := m.alone("fills in no cells of single rows", "a mixture (--model gmm) of the same rows does"); err != nil {
		return nil, err
	}
	if m.Noise != nil {
		return nil, errors.New("a model with noise cannot fill in missing cells: rows that lie anywhere say nothing of them; fit the rows without --noise")
	}
	in := m.Changed()
	for i := range in.Transform {
		switch in.Transform[i].Kind {
		case "pca":
			return nil, errors.New("a model of principal components cannot fill in missing cells: a row that lacks one has no components; fit the columns themselves")
		case "binarize":
			return nil, errors.New("a model of bits that were made of numbers cannot fill in missing cells: what the numbers were is not known")
		}
	}
	f := &Filler{m: m, inner: in, change: m.Changes(), x: make([]float64, in.D())}
	for _, p := range m.Parts() {
		if p.kind().Shaped {
			f.parts = append(f.parts, newNormals(p))
		} else {
			f.parts = append(f.parts, newDiscrete(p))
		}
	}
	return f, nil
}

// Fill fills the missing cells of src, whose columns are the model's in order and in the user's units, NaN where a cell is missing,
// with what is expected of them given those that are there: a number or a count with its mean, which for a count need not be whole; a
// category or a bit with the likeliest level, the first of equals. A row without any cell gets what is expected of all rows. Threads,
// each and what fails are as in Model.Rows; that a value lies beyond what a float64 holds is an error too.
func (f *Filler) Fill(ctx context.Context, src data.Source, threads int, each func(*Filled) error) error {
	return f.pass(ctx, src, threads, each, f.expect)
}

// Draw is Fill with cells drawn from their distribution given those that are there: for each row a component by its
// responsibility, and from that component all missing cells together. What is drawn depends on the seed and on the number of the draw,
// from 0, alone. Draws differ as the cells may; that the parameters of the model are estimates is not in them.
func (f *Filler) Draw(ctx context.Context, src data.Source, threads int, seed uint64, number int, each func(*Filled) error) error {
	if number < 0 {
		return &data.ArgumentError{Name: "number", Reason: fmt.Sprintf("is %d; draws are counted from 0", number)}
	}
	random := rng.Gaps.At(seed, number)
	return f.pass(ctx, src, threads, each, func(s *Scored, i int) error { return f.drawn(s, i, random) })
}

// pass has each see all rows, with the gaps of a row filled by fill.
func (f *Filler) pass(ctx context.Context, src data.Source, threads int, each func(*Filled) error, fill func(s *Scored, i int) error) error {
	if each == nil {
		return &data.ArgumentError{Name: "each", Reason: "is nil; it must be a function that takes the rows"}
	}
	return f.m.Rows(ctx, src, threads, func(s *Scored) error {
		f.filled.Scored, f.filled.Gaps = s, f.filled.Gaps[:0]
		for i := range s.N {
			if err := f.row(s, i, fill); err != nil {
				return err
			}
		}
		return each(&f.filled)
	})
}

// row adds the gaps of row i of s.
func (f *Filler) row(s *Scored, i int, fill func(s *Scored, i int) error) error {
	f.gaps = f.gaps[:0]
	for j := range f.x {
		f.x[j] = s.At(i, j)
		if f.x[j] != f.x[j] {
			f.gaps = append(f.gaps, j)
		}
	}
	if len(f.gaps) == 0 {
		return nil
	}
	if err := fill(s, i); err != nil {
		return fmt.Errorf("row %d: %w", s.Number(i), err)
	}
	at, x := f.told()
	for _, j := range at {
		v := x[j]
		if v-v != 0 {
			return fmt.Errorf("row %d, column %q: what is missing lies beyond what a float64 holds; divide the column by a constant", s.Number(i), f.m.Columns[j])
		}
		f.filled.Gaps = append(f.filled.Gaps, Gap{i, j, v})
	}
	return nil
}

// told returns f.x in the user's units, and the columns of the user that were missing in it.
func (f *Filler) told() (at []int, x []float64) {
	for _, t := range slices.Backward(f.inner.Transform) {
		for j := range f.x {
			f.x[j] = f.x[j]*t.Scale[j] + t.Center[j]
		}
	}
	if f.change == nil {
		return f.gaps, f.x
	}
	x = make([]float64, f.m.D())
	f.change.Back(x, f.x)
	for j, from := range f.change.Before() {
		if slices.Contains(f.gaps, from) {
			at = append(at, j)
		}
	}
	return at, x
}

// expect fills the gaps of f.x, row i of s, with what is expected.
func (f *Filler) expect(s *Scored, i int) error {
	r := s.components(i)
	for _, p := range f.parts {
		if err := p.expect(f.x, r, int(s.Component[i])); err != nil {
			return err
		}
	}
	return nil
}

// drawn fills the gaps of f.x, row i of s, with what is drawn.
func (f *Filler) drawn(s *Scored, i int, random *rand.Rand) error {
	c := kind.Pick(s.components(i), random)
	for _, p := range f.parts {
		if err := p.draw(f.x, c, random); err != nil {
			return err
		}
	}
	return nil
}

// FillRow fills the cells of one row that are NaN with what is expected of them, in place: d numbers in the user's units. See Fill.
func (f *Filler) FillRow(row []float64) error { return f.single(row, f.expect) }

// DrawRow fills the cells of one row that are NaN with what is drawn by the caller's random numbers, in place. See Draw.
func (f *Filler) DrawRow(row []float64, random *rand.Rand) error {
	if random == nil {
		return &data.ArgumentError{Name: "random", Reason: "is nil; it must be a generator of random numbers"}
	}
	return f.single(row, func(s *Scored, i int) error { return f.drawn(s, i, random) })
}

func (f *Filler) single(row []float64, fill func(s *Scored, i int) error) error {
	s, err := f.scored(row)
	if err != nil {
		return err
	}
	f.filled.Gaps = f.filled.Gaps[:0]
	if err := f.row(s, 0, fill); err != nil {
		return err
	}
	for _, g := range f.filled.Gaps {
		row[g.Column] = g.Value
	}
	return nil
}

// scored scores a single row.
func (f *Filler) scored(row []float64) (s *Scored, err error) {
	if f.scorer == nil {
		if f.scorer, err = f.m.Scorer(); err != nil {
			return nil, err
		}
	}
	return f.scorer.Score(row)
}

// Impute returns the rows of src with their missing cells filled with what is expected of them, in memory; cells that are there stay as they
// are. The columns of src are the model's, in order and in the user's units. It uses all cores. See Filler.Fill.
func (m *Model) Impute(ctx context.Context, src data.Source) (*data.Table, error) {
	f, err := m.Filler()
	if err != nil {
		return nil, err
	}
	return f.table(ctx, src, func(each func(*Filled) error) error { return f.Fill(ctx, src, 0, each) })
}

// ImputeDraws returns so many tables like that of Impute, whose missing cells are drawn; they depend on the seed alone. See
// Filler.Draw.
func (m *Model) ImputeDraws(ctx context.Context, src data.Source, draws int, seed uint64) ([]*data.Table, error) {
	f, err := m.Filler()
	if err != nil {
		return nil, err
	}
	if draws < 1 {
		return nil, &data.ArgumentError{Name: "draws", Reason: fmt.Sprintf("is %d; there must be at least 1", draws)}
	}
	tables := make([]*data.Table, draws)
	for i := range tables {
		tables[i], err = f.table(ctx, src, func(each func(*Filled) error) error { return f.Draw(ctx, src, 0, seed, i, each) })
		if err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// table returns the rows of src with the gaps that pass finds filled.
func (f *Filler) table(ctx context.Context, src data.Source, pass func(each func(*Filled) error) error) (*data.Table, error) {
	type place struct {
		at    int
		value float64
	}
	var places []place
	d := f.m.D()
	err := pass(func(b *Filled) error {
		for _, g := range b.Gaps {
			places = append(places, place{(int(b.First)+g.Row)*d + g.Column, g.Value})
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	t, err := copied(ctx, src)
	if err != nil {
		return nil, err
	}
	for _, p := range places {
		if p.at >= len(t.F64) {
			return nil, &data.SourceError{Row: int64(t.N), Reason: "ends, but a pass before had more rows"}
		}
		t.F64[p.at] = p.value
	}
	return t, nil
}

// copied returns the rows of src in memory of their own.
func copied(ctx context.Context, src data.Source) (t *data.Table, err error) {
	if src, err = data.Checked(src); err != nil {
		return nil, err
	}
	_, d := src.Shape()
	r, err := src.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	t = &data.Table{D: d}
	var b data.Block
	for {
		switch err := r.Read(&b, 4096); {
		case err == io.EOF:
			return t, nil
		case err != nil:
			return nil, err
		}
		for i := range b.N {
			for j := range d {
				t.F64 = append(t.F64, b.At(i, j))
			}
		}
		t.N += b.N
		t.W, t.Sequence = append(t.W, b.W...), append(t.Sequence, b.Sequence...)
		t.Row, t.ID, t.Truth = append(t.Row, b.Row...), append(t.ID, b.ID...), append(t.Truth, b.Truth...)
	}
}
