package pca

import (
	"context"
	"fmt"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// Box returns the sides of the smallest box along the principal axes of the rows of src that holds all of positive weight:
// along axis j, the smallest variance first, they lie between lo[j] and hi[j], measured from their mean. look is what
// sweep.Look found out about them; there are at most ExactColumns columns. It makes two passes of N d² operations each. The
// result is the same for any number of threads.
func Box(ctx context.Context, src data.Source, look *sweep.Survey, threads int) (lo, hi []float64, err error) {
	r, axes, err := axesOf(ctx, src, look, threads)
	if err != nil {
		return nil, nil, err
	}
	return r.ranges(ctx, axes.RawMatrix())
}

// Axes returns the principal axes of the rows of src, that of the smallest variance first: d orthonormal rows of d numbers. look is what
// sweep.Look found out about them; there are at most ExactColumns columns. It makes a pass of N d² operations, wherever the rows are.
func Axes(ctx context.Context, src data.Source, look *sweep.Survey, threads int) ([][]float64, error) {
	_, axes, err := axesOf(ctx, src, look, threads)
	if err != nil {
		return nil, err
	}
	list := make([][]float64, len(look.Mean))
	for a := range list {
		list[a] = mat.Col(nil, a, axes)
	}
	return list, nil
}

// axesOf returns the principal axes of the rows of src, one a column, and the rows.
func axesOf(ctx context.Context, src data.Source, look *sweep.Survey, threads int) (*rows, *mat.Dense, error) {
	d, total := len(look.Mean), 0.0
	if d > ExactColumns {
		return nil, nil, fmt.Errorf("the axes of a box are found of at most %d columns, but there are %d", ExactColumns, d)
	}
	for _, v := range look.Var {
		total += v
	}
	r := &rows{src: src, mean: look.Mean, look: look, total: total, threads: threads}
	axes := mat.NewDense(d, d, nil)
	for j := range d {
		axes.Set(j, j, 1)
	}
	if scale := 1 / total; total > 0 && scale-scale == 0 && scale != 0 { // else all rows are equal, or squares of their numbers overflow: any axes do
		sum, err := r.covariance(ctx)
		if err != nil {
			return nil, nil, err
		}
		var e mat.EigenSym
		if !e.Factorize(symmetric(sum, d), true) {
			return nil, nil, fmt.Errorf("the principal axes of %d columns cannot be found", d)
		}
		e.VectorsTo(axes)
	}
	return r, axes, nil
}

// ranges returns the smallest and the largest coordinate of the rows along each column of axes.
func (r *rows) ranges(ctx context.Context, axes blas64.General) (lo, hi []float64, err error) {
	d := len(r.mean)
	workers := make([]*projection, max(r.threads, 1))
	none := func(sides []float64) {
		for j := range d {
			sides[j], sides[d+j] = math.Inf(1), math.Inf(-1)
		}
	}
	pass := &sweep.Reduction[[]float64]{
		Rows: r.look.Rows, Threads: r.threads, Clear: none,
		New: func() []float64 {
			sides := make([]float64, 2*d)
			none(sides)
			return sides
		},
		Add: func(id int, b *data.Block, sides []float64) error {
			if workers[id] == nil {
				workers[id] = &projection{x: general(blockRows, d), at: general(blockRows, d)}
			}
			workers[id].add(sides, b, r.mean, axes)
			return nil
		},
		Merge: func(into, from []float64) {
			for j := range d {
				into[j], into[d+j] = min(into[j], from[j]), max(into[d+j], from[d+j])
			}
		},
	}
	sides, err := pass.Run(ctx, r.src)
	if err != nil {
		return nil, nil, err
	}
	for _, v := range sides {
		if v-v != 0 {
			return nil, nil, fmt.Errorf("the principal axes of these rows leave the range of a float64; divide the columns by a constant")
		}
	}
	return sides[:d:d], sides[d:], nil
}

// projection is the memory of one worker of ranges.
type projection struct{ x, at blas64.General }

// add widens the sides of a box, the low ones first, until it holds the rows of b of positive weight.
func (p *projection) add(sides []float64, b *data.Block, mean []float64, axes blas64.General) {
	d := len(mean)
	for from := 0; from < b.N; {
		n := 0
		for ; from < b.N && n < blockRows; from++ {
			if b.Weight(from) == 0 {
				continue
			}
			for j, m := range mean {
				p.x.Data[n*d+j] = b.At(from, j) - m
			}
			n++
		}
		if p.x.Rows, p.at.Rows = n, n; n == 0 {
			continue
		}
		blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, p.x, axes, 0, p.at)
		for i := range n {
			for j, v := range p.at.Data[i*d : i*d+d] {
				sides[j], sides[d+j] = min(sides[j], v), max(sides[d+j], v)
			}
		}
	}
}

// symmetric unpacks the lower triangle of a matrix.
func symmetric(sum []float64, d int) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for l, v := range sum[j*(j+1)/2 : j*(j+1)/2+j+1] {
			s.SetSym(j, l, v)
		}
	}
	return s
}
