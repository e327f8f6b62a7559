package data

import (
	"context"
	"encoding/gob"
	"fmt"
	"slices"
)

// Scaled returns src with (x - center[j]) / scale[j] in place of every value x of column j, in float64. Where center and scale
// have not one number a column, or src is nil, Open fails with an *ArgumentError.
func Scaled(src Source, center, scale []float64) Source {
	return Viewed(src, scaledView{center, scale})
}

// scaledView is the view of Scaled.
type scaledView struct{ Center, Scale []float64 }

// Rows implements View.
func (v scaledView) Rows(src Source) Source {
	fits := func(d int) bool { return len(v.Center) == d && len(v.Scale) == d }
	return &mapped{src, len(v.Scale), fits, func(dst []float64, b *Block) error {
		for i := range b.N {
			for j := range b.D {
				dst[i*b.D+j] = (b.At(i, j) - v.Center[j]) / v.Scale[j]
			}
		}
		return nil
	}}
}

// Projected returns src with the coordinates of every row x in the space that the n axes span about mean: column a of it
// is sum_j axes[a][j] (x[j] - mean[j]), in float64.
func Projected(src Source, mean []float64, axes [][]float64) Source {
	return Viewed(src, projectedView{mean, axes})
}

// projectedView is the view of Projected.
type projectedView struct {
	Mean []float64
	Axes [][]float64
}

// Rows implements View.
func (v projectedView) Rows(src Source) Source {
	n := len(v.Axes)
	fits := func(d int) bool {
		return len(v.Mean) == d && !slices.ContainsFunc(v.Axes, func(axis []float64) bool { return len(axis) != d })
	}
	return &mapped{src, n, fits, func(dst []float64, b *Block) error {
		x := make([]float64, len(v.Mean))
		for i := range b.N {
			for j, m := range v.Mean {
				x[j] = b.At(i, j) - m
			}
			Project(dst[i*n:i*n+n], x, v.Axes)
		}
		return nil
	}}
}

// Project sets dst[a] = sum_j axes[a][j] x[j]. The sums run over j in order: a row has the same coordinates wherever it is.
func Project(dst, x []float64, axes [][]float64) {
	a := 0
	for ; a+4 <= len(axes); a += 4 { // four at a time: a sum by itself waits for its last addition
		p, q, r, s := axes[a][:len(x)], axes[a+1][:len(x)], axes[a+2][:len(x)], axes[a+3][:len(x)]
		var sp, sq, sr, ss float64
		for j, v := range x {
			sp += p[j] * v
			sq += q[j] * v
			sr += r[j] * v
			ss += s[j] * v
		}
		dst[a], dst[a+1], dst[a+2], dst[a+3] = sp, sq, sr, ss
	}
	for ; a < len(axes); a++ {
		sum := 0.0
		for j, v := range x {
			sum += axes[a][j] * v
		}
		dst[a] = sum
	}
}

// Binarized returns src with 1 in place of every value above threshold and 0 in place of all others, in float64. A missing cell stays missing.
func Binarized(src Source, threshold float64) Source {
	return Viewed(src, binarizedView{threshold})
}

// binarizedView is the view of Binarized.
type binarizedView struct{ Threshold float64 }

// Rows implements View.
func (v binarizedView) Rows(src Source) Source {
	d := 0
	if src != nil {
		_, d = src.Shape()
	}
	return &mapped{src, d, func(int) bool { return true }, func(dst []float64, b *Block) error {
		for i := range dst {
			dst[i] = 0
		}
		for i, x := range b.F64 {
			switch {
			case x > v.Threshold:
				dst[i] = 1
			case x != x:
				dst[i] = x
			}
		}
		for i, x := range b.F32 {
			switch {
			case float64(x) > v.Threshold:
				dst[i] = 1
			case x != x:
				dst[i] = float64(x)
			}
		}
		return nil
	}}
}

func init() {
	for _, v := range []View{scaledView{}, projectedView{}, binarizedView{}, changesView{}} {
		gob.Register(v)
	}
}

// mapped is a source with other values, d a row: set gives dst, N x d, those for the rows of b. fits reports whether the
// numbers that it maps by are those of rows of d values.
type mapped struct {
	src  Source
	d    int
	fits func(d int) bool
	set  func(dst []float64, b *Block) error // an error ends the pass
}

func (s *mapped) Shape() (rows int64, cols int) {
	if s.src == nil {
		return -1, s.d
	}
	rows, _ = s.src.Shape()
	return rows, s.d
}

func (s *mapped) Open(ctx context.Context) (Reader, error) {
	if s.src == nil {
		return nil, &ArgumentError{"src", "is nil; it must be a source of rows"}
	}
	if _, d := s.src.Shape(); !s.fits(d) {
		return nil, &ArgumentError{"the numbers to scale or to project by", fmt.Sprintf("do not fit rows of %d columns", d)}
	}
	r, err := s.src.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &mappedReader{s: s, r: r}, nil
}

// mappedReader reads rows below and writes their new values in the memory of the block it is given.
type mappedReader struct {
	s     *mapped
	r     Reader
	below Block // its values serve for the next Read; all else belongs to the block that was given
}

func (r *mappedReader) Read(b *Block, n int) error {
	x, f64, f32 := b.F64, r.below.F64, r.below.F32
	r.below = *b
	r.below.F64, r.below.F32 = f64, f32
	if err := r.r.Read(&r.below, n); err != nil {
		*b = Block{}
		return err
	}
	*b = r.below
	b.D, b.F32 = r.s.d, nil
	b.F64 = resized(x, b.N*b.D)
	if err := r.s.set(b.F64, &r.below); err != nil {
		*b = Block{}
		return err
	}
	b.Slope = r.below.Slope
	return nil
}

func (r *mappedReader) Close() error { return r.r.Close() }
