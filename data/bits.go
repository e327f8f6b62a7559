package data

import (
	"context"
	"fmt"
	"io"
	"math"
)

// NonBit looks for a value that is neither 0 nor 1: the first one by rows, then by columns, in a row of positive
// weight. row is its number in the file, from 1 (Block.Number), and col its column, from 0; they mean nothing unless
// found. It makes one pass at most and stops at the first.
func NonBit(ctx context.Context, src Source) (row int64, col int, value float64, found bool, err error) {
	return first(ctx, src, func(_ int, v float64) bool { return v != 0 && v != 1 })
}

// NonLevel looks, as NonBit does, for a value in column j that is no whole number from 0 to levels[j]-1.
func NonLevel(ctx context.Context, src Source, levels []int) (row int64, col int, value float64, found bool, err error) {
	if src, err = Checked(src); err != nil {
		return 0, 0, 0, false, err
	}
	if _, d := src.Shape(); len(levels) != d {
		return 0, 0, 0, false, &ArgumentError{"levels", fmt.Sprintf("are those of %d columns, but the source has %d", len(levels), d)}
	}
	return first(ctx, src, func(j int, v float64) bool { return !(v >= 0 && v < float64(levels[j])) || v != math.Trunc(v) })
}

// first looks for a cell that is wrong, in a row of positive weight.
func first(ctx context.Context, src Source, wrong func(j int, v float64) bool) (row int64, col int, value float64, found bool, err error) {
	if err := CheckContext(ctx); err != nil {
		return 0, 0, 0, false, err
	}
	if src, err = Checked(src); err != nil {
		return 0, 0, 0, false, err
	}
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
				if v := b.At(i, j); wrong(j, v) && b.Weight(i) > 0 {
					return b.Number(i), j, v, true, nil
				}
			}
		}
	}
}
