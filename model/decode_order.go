package model

import (
	"cmp"
	"context"
	"slices"

	"github.com/latent-go/latent/data"
)

// DecodeByRow is Decode with the rows in the order of their numbers in the file (Block.Number), where sequences may lie among each other. It holds
// what is told of all rows, unless they are in that order already.
func (m *Model) DecodeByRow(ctx context.Context, src data.Source, how Decoding, threads int, each func(*Scored) error) error {
	if t, ok := src.(*data.Table); !ok || t == nil || slices.IsSorted(t.Row) || each == nil {
		return m.Decode(ctx, src, how, threads, each) // streams have no other order
	}
	var o byRow
	err := m.Decode(ctx, src, how, threads, func(s *Scored) error {
		for i := range s.N {
			o.places = append(o.places, placeOf{len(o.runs), i, s.Number(i)})
		}
		o.runs = append(o.runs, s)
		return nil
	})
	if err != nil {
		return err
	}
	slices.SortFunc(o.places, func(a, b placeOf) int { return cmp.Compare(a.number, b.number) })
	for part := range slices.Chunk(o.places, runRows) {
		if err := each(o.gather(part)); err != nil {
			return err
		}
	}
	return nil
}

// runRows is how many rows DecodeByRow hands on at a time.
const runRows = 2048

// byRow are runs of rows and the places of all rows in them. Runs are those of a decoder, which makes each anew.
type byRow struct {
	runs   []*Scored
	places []placeOf
}

// placeOf is where a row is: row i of a run, and its number in the file.
type placeOf struct {
	run, i int
	number int64
}

// gather returns the rows at some places.
func (o *byRow) gather(places []placeOf) *Scored {
	first := o.runs[places[0].run]
	b := &data.Block{N: len(places), D: first.D, First: places[0].number - 1}
	s := &Scored{Block: b, K: first.K}
	for _, p := range places {
		from := o.runs[p.run]
		d, cells := from.D, len(from.Cells)/from.N
		b.Row = append(b.Row, p.number)
		b.F64, b.F32 = addRow(b.F64, from.F64, p.i, d), addRow(b.F32, from.F32, p.i, d)
		b.W, b.Slope, b.Sequence = addRow(b.W, from.W, p.i, 1), addRow(b.Slope, from.Slope, p.i, 1), addRow(b.Sequence, from.Sequence, p.i, 1)
		b.ID, b.Truth, b.Cells = addRow(b.ID, from.ID, p.i, 1), addRow(b.Truth, from.Truth, p.i, 1), addRow(b.Cells, from.Cells, p.i, cells)
		s.Label, s.LogDensity = addRow(s.Label, from.Label, p.i, 1), addRow(s.LogDensity, from.LogDensity, p.i, 1)
		s.Responsibilities = addRow(s.Responsibilities, from.Responsibilities, p.i, from.K)
		s.Entropy, s.Best = addRow(s.Entropy, from.Entropy, p.i, 1), addRow(s.Best, from.Best, p.i, 1)
	}
	s.Component, s.ComponentResponsibilities = s.Label, s.Responsibilities
	return s
}

// addRow appends row i of rows of d values; nothing where there are none.
func addRow[T any](to, from []T, i, d int) []T {
	if from == nil {
		return to
	}
	return append(to, from[i*d:(i+1)*d]...)
}
