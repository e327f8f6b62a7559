package model

import (
	"context"
	"errors"
	"io"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/chain"
)

const (
	longSequence = 1 << 16 // rows beyond which a sequence is decoded block by block
	blockRows    = 1 << 13 // rows of a block
)

// pieces decodes the rows of a source, those of a stream in tables of whole sequences: see table.
func (d *decoder) pieces(ctx context.Context, src data.Source, most, size int) error {
	src, err := data.Checked(src)
	if err != nil {
		return err
	}
	if t, ok := src.(*data.Table); ok {
		return d.table(ctx, t, most, size)
	}
	r, err := src.Open(ctx)
	if err != nil {
		return err
	}
	defer r.Close()
	var b data.Block
	_, columns := src.Shape()
	rest, begun := &data.Table{D: columns}, 0 // rows that are not decoded, and where the last sequence of them begins
	for {
		err := r.Read(&b, size)
		if err == io.EOF {
			return d.table(ctx, rest, most, size)
		}
		if err != nil {
			return err
		}
		add(rest, &b)
		for i := rest.N - 1; i > 0 && i >= rest.N-b.N && rest.Sequence != nil; i-- {
			if rest.Sequence[i] != rest.Sequence[i-1] {
				begun = i
				break
			}
		}
		if begun == 0 || rest.N < most {
			continue
		}
		if err := d.table(ctx, partOf(rest, 0, begun), most, size); err != nil {
			return err
		}
		next := &data.Table{D: columns, First: rest.First + int64(begun)}
		last := partOf(rest, begun, rest.N)
		add(next, &data.Block{N: last.N, D: last.D, F64: last.F64, F32: last.F32, W: last.W, Sequence: last.Sequence, Row: last.Row, ID: last.ID, Truth: last.Truth, Cells: last.Cells})
		rest, begun = next, 0
	}
}

// add appends the rows of a block to a table, in memory of its own.
func add(t *data.Table, b *data.Block) {
	t.N += b.N
	t.F64, t.F32, t.W, t.Sequence = append(t.F64, b.F64...), append(t.F32, b.F32...), append(t.W, b.W...), append(t.Sequence, b.Sequence...)
	t.ID, t.Truth, t.Cells = append(t.ID, b.ID...), append(t.Truth, b.Truth...), append(t.Cells, b.Cells...)
	for i := range b.N {
		t.Row = append(t.Row, b.Number(i))
	}
}

// table decodes the rows of a table: sequences of more than most rows in blocks of size rows, and all others one at a time.
func (d *decoder) table(ctx context.Context, t *data.Table, most, size int) error {
	from, at := 0, 0
	for at < t.N {
		end := sequenceEnd(t, at)
		if end-at > most {
			if err := d.part(ctx, t, from, at); err != nil {
				return err
			}
			if err := d.long(ctx, t, at, end, size); err != nil {
				return err
			}
			from = end
		}
		at = end
	}
	if from == 0 {
		return d.rows(ctx, t)
	}
	return d.part(ctx, t, from, t.N)
}

// sequenceEnd returns where the sequence of row i ends.
func sequenceEnd(t *data.Table, i int) int {
	if t.Sequence == nil {
		return t.N
	}
	end := i + 1
	for end < t.N && t.Sequence[end] == t.Sequence[i] {
		end++
	}
	return end
}

// part decodes rows from to to of a table, which are whole sequences.
func (d *decoder) part(ctx context.Context, t *data.Table, from, to int) error {
	if from == to {
		return nil
	}
	return d.rows(ctx, partOf(t, from, to))
}

// partOf returns rows from to to of a table. It shares its memory.
func partOf(t *data.Table, from, to int) *data.Table {
	p := &data.Table{N: to - from, D: t.D, First: t.First + int64(from)}
	p.F64, p.F32, p.W, p.Sequence = rowsOf(t.F64, from, to, t.D), rowsOf(t.F32, from, to, t.D), rowsOf(t.W, from, to, 1), rowsOf(t.Sequence, from, to, 1)
	p.Row, p.ID, p.Truth, p.Cells = rowsOf(t.Row, from, to, 1), rowsOf(t.ID, from, to, 1), rowsOf(t.Truth, from, to, 1), rowsOf(t.Cells, from, to, len(t.Cells)/t.N)
	if p.Row == nil { // views of a part count from its own first row
		for i := range p.N {
			p.Row = append(p.Row, p.First+int64(i)+1)
		}
	}
	return p
}

func rowsOf[T any](s []T, from, to, d int) []T {
	if s == nil {
		return nil
	}
	return s[from*d : to*d]
}

// long decodes a sequence, rows from to to of a table, in blocks of size rows.
func (d *decoder) long(ctx context.Context, t *data.Table, from, to, size int) error {
	blocks := d.chain.NewBlocks()
	n := (to - from + size - 1) / size
	block := func(i int) *data.Table { return partOf(t, from+i*size, min(from+(i+1)*size, to)) }
	score := func(i int, keep bool) error {
		d.scores = d.scores[:0]
		return d.states.rows(ctx, block(i), d.threads, wantLogits, func(s *Scored) error {
			if keep {
				d.wait(s)
			}
			d.take(s, 0, s.N)
			return nil
		})
	}
	for i := 0; i < n; i++ {
		if err := score(i, false); err != nil {
			return err
		}
		again, err := blocks.Forward(&d.told, d.scores)
		if at := (*chain.ImpossibleError)(nil); errors.As(err, &at) {
			row := data.Block{First: t.First, Row: t.Row}
			return impossibleRow(row.Number(from + i*size + at.Row))
		}
		if err != nil {
			return err
		}
		if again {
			i = -1
		}
	}
	blocks.Turn()
	for i := n - 1; i >= 0; i-- {
		if err := score(i, false); err != nil {
			return err
		}
		blocks.Backward(&d.told, i, d.scores)
	}
	for i := range n {
		if err := score(i, true); err != nil {
			return err
		}
		path := make([]int32, len(d.scores)/d.chain.Stride)
		if blocks.Decode(&d.told, path, i, d.scores); d.how == Smooth {
			path = nil
		}
		d.tell(d.told.Smoothed, path)
		if err := d.emit(); err != nil {
			return err
		}
	}
	return nil
}
