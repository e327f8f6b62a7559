package data

import (
	"context"
	"io"
)

// NonBit looks for a value that is neither 0 nor 1: the first one by rows, then by columns, in a row of positive
// weight. row is its number in the file, from 1 (Block.Number), and col its column, from 0; they mean nothing unless
// found. It makes one pass at most and stops at the first.
func NonBit(ctx context.Context, src Source) (row int64, col int, value float64, found bool, err error) {
	r, err := src.Open(ctx)
	if err != nil {
		return 0, 0, 0, false, err
	}
	defer func() {
		if e := r.Close(); err == nil {
			err = e
		}
	}()
	var b Block
	for {
		if err := ctx.Err(); err != nil {
			return 0, 0, 0, false, err
		}
		if err := r.Read(&b, 4096); err == io.EOF {
			return 0, 0, 0, false, nil
		} else if err != nil {
			return 0, 0, 0, false, err
		}
		for i := range b.N {
			for j := range b.D {
				if v := b.At(i, j); v != 0 && v != 1 && b.Weight(i) > 0 {
					return b.Number(i), j, v, true, nil
				}
			}
		}
	}
}
