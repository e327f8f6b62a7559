package model

import (
	"context"
	"io"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
)

// drawn is n rows drawn from a model, anew in every pass.
type drawn struct {
	m         *Model
	n         int
	seed      uint64
	component int // that all are drawn from; or anyOf
}

// anyOf is no component: each row is drawn from one by its weight.
const anyOf = -1

func (d *drawn) Shape() (rows int64, cols int) { return int64(d.n), d.m.D() }

func (d *drawn) Open(context.Context) (data.Reader, error) {
	s, err := d.m.Sampler(d.seed)
	if err != nil {
		return nil, err
	}
	return &drawnReader{drawn: d, sampler: s}, nil
}

// drawnReader draws the rows of a pass.
type drawnReader struct {
	*drawn
	sampler *Sampler
	next    int
}

func (r *drawnReader) Read(b *data.Block, n int) error {
	d := r.m.D()
	n = min(n, r.n-r.next)
	*b = data.Block{N: n, D: d, First: int64(r.next), F64: slices.Grow(b.F64[:0], n*d)[:n*d]}
	if n == 0 {
		return io.EOF
	}
	for row := range slices.Chunk(b.F64, d) {
		if r.component == anyOf {
			r.sampler.Draw(row)
		} else {
			r.sampler.of(r.component, row)
		}
	}
	r.next += n
	return nil
}

func (r *drawnReader) Close() error { return nil }

// lacking is a source without the cells of some columns, those that are gone. It holds nothing but cells.
type lacking struct {
	data.Source
	gone []bool
}

func (l *lacking) Open(ctx context.Context) (data.Reader, error) {
	r, err := l.Source.Open(ctx)
	return &lackingReader{Reader: r, gone: l.gone}, err
}

// lackingReader reads below and copies the cells that stay.
type lackingReader struct {
	data.Reader
	gone  []bool
	below data.Block
}

func (r *lackingReader) Read(b *data.Block, n int) error {
	x := b.F64
	if err := r.Reader.Read(&r.below, n); err != nil {
		*b = data.Block{}
		return err
	}
	n, d := r.below.N, r.below.D
	*b = data.Block{N: n, D: d, First: r.below.First, F64: slices.Grow(x[:0], n*d)[:n*d]}
	for i := range n {
		for j, gone := range r.gone {
			if b.F64[i*d+j] = math.NaN(); !gone {
				b.F64[i*d+j] = r.below.At(i, j)
			}
		}
	}
	return nil
}

// some returns the rows of src that have a cell, at most so many of them taken at random, all sets alike (Vitter 1985, algorithm R); all is whether it has all.
func some(ctx context.Context, src data.Source, most int) (t *data.Table, all bool, err error) {
	_, d := src.Shape()
	t = &data.Table{D: d}
	random, seen := rng.Tails.New(TailSeed), int64(0)
	err = data.EachBlock(ctx, src, func(b *data.Block) error {
		for i := range b.N {
			if b.Empty(i) {
				continue
			}
			seen++
			at := t.N
			if at == most {
				if at = int(random.Int64N(seen)); at >= most {
					continue
				}
			} else {
				t.F64 = append(t.F64, make([]float64, d)...)
				t.N++
			}
			for j := range d {
				t.F64[at*d+j] = b.At(i, j)
			}
		}
		return nil
	})
	return t, seen <= int64(most), err
}
