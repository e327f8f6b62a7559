package data

import (
	"context"
	"io"
)

// FirstCell looks for a cell that wrong reports: the first one by rows, then by columns, in a row of positive weight. wrong is
// given the number of the column, from 0, and the value; it is not asked about a missing cell. row is its number in the file,
// from 1 (Block.Number), and col its column; they mean nothing unless found. It makes one pass at most and stops at the first.
func FirstCell(ctx context.Context, src Source, wrong func(j int, v float64) bool) (row int64, col int, value float64, found bool, err error) {
	if err := CheckContext(ctx); err != nil {
		return 0, 0, 0, false, err
	}
	if wrong == nil {
		return 0, 0, 0, false, &ArgumentError{"wrong", "is nil; it must be a function that looks at a cell"}
	}
	return firstCell(ctx, src, func(j int, v float64) bool { return v == v && wrong(j, v) })
}

// FirstMissing looks for a cell without a value, as FirstCell does: the first one by rows, then by columns, in a row of
// positive weight.
func FirstMissing(ctx context.Context, src Source) (row int64, col int, found bool, err error) {
	row, col, _, found, err = firstCell(ctx, src, func(_ int, v float64) bool { return v != v })
	return row, col, found, err
}

// firstCell looks for the first cell that is reports.
func firstCell(ctx context.Context, src Source, is func(j int, v float64) bool) (row int64, col int, value float64, found bool, err error) {
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
				if v := b.At(i, j); is(j, v) && b.Weight(i) > 0 {
					return b.Number(i), j, v, true, nil
				}
			}
		}
	}
}
