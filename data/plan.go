package data

import (
	"context"
	"sort"
	"sync"

	"github.com/latent-go/latent/internal/rng"
)

// plan says what a pass does with every column and where it puts it in a batch.
type plan struct {
	wants   []want
	number  []int // column of the file -> column of batch.F64; -1 for none
	text    []int // column of the file -> column of batch.Text; -1 for none
	numbers int   // columns of batch.F64
	texts   int   // columns of batch.Text
}

func newPlan(wants []want) *plan {
	p := &plan{wants: wants, number: make([]int, len(wants)), text: make([]int, len(wants))}
	for c, w := range wants {
		p.number[c], p.text[c] = -1, -1
		if w&number != 0 {
			p.number[c] = p.numbers
			p.numbers++
		}
		if w&text != 0 {
			p.text[c] = p.texts
			p.texts++
		}
	}
	return p
}

// picked is the first rows of a file, or some of them: their indexes in rising order.
type picked struct {
	cells
	n   int64
	sel []int64 // nil for the first n
}

func (p *picked) rows() int64 { return p.n }

// rowOf returns the index in the file of row i.
func (p *picked) rowOf(i int64) int64 {
	if p.sel == nil {
		return i
	}
	return p.sel[i]
}

// read implements cells: rows are numbered among the picked ones, lines stay those of the file.
func (p *picked) read(ctx context.Context, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	pool := sync.Pool{New: func() any { return new(batch) }}
	pl := newPlan(wants)
	return p.cells.read(ctx, wants, ordered, threads, func(b *batch) error {
		out := pool.Get().(*batch)
		defer pool.Put(out)
		if p.pick(out, b, pl); out.N == 0 {
			return nil
		}
		return yield(out)
	})
}

// pick sets out to the picked rows of b.
func (p *picked) pick(out, b *batch, pl *plan) {
	lo, hi := b.First, min(b.First+int64(b.N), p.n)
	find := func(row int64) int64 { return row }
	if p.sel != nil {
		find = func(row int64) int64 {
			return int64(sort.Search(len(p.sel), func(i int) bool { return p.sel[i] >= row }))
		}
		lo, hi = find(b.First), find(b.First+int64(b.N))
	}
	out.First, out.N = lo, int(max(0, hi-lo))
	out.F64, out.Text, out.Bad, out.Line = out.F64[:0], out.Text[:0], out.Bad[:0], out.Line[:0]
	for r := lo; r < hi; r++ {
		i := int(p.rowOf(r) - b.First)
		out.F64 = append(out.F64, b.F64[i*pl.numbers:(i+1)*pl.numbers]...)
		out.Text = append(out.Text, b.Text[i*pl.texts:(i+1)*pl.texts]...)
		if b.Line != nil {
			out.Line = append(out.Line, b.Line[i])
		}
	}
	if b.Line == nil {
		out.Line = nil
	}
	for _, bad := range b.Bad {
		if r := find(bad.Row); r < hi && p.rowOf(r) == bad.Row {
			bad.Row = r
			out.Bad = append(out.Bad, bad)
		}
	}
}

// sampleRows chooses n of m rows, every set of n with the same probability, in rising order.
func sampleRows(m, n int64, seed uint64) []int64 {
	sample := rng.Select(rng.Rows.New(seed), n, m)
	sel := make([]int64, 0, n)
	for i := int64(0); !sample.Done(); i++ {
		if sample.Take() {
			sel = append(sel, i)
		}
	}
	return sel
}
