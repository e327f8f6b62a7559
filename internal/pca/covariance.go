package pca

import (
	"context"
	"fmt"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/sweep"
)

// rows are centred and weighted so that S is in shares of the total variance: its trace is 1, whatever the units.
type rows struct {
	src     data.Source
	mean    []float64
	look    *sweep.Survey
	total   float64
	threads int
}

// accumulators is how many float64 the sums under way may take together, some 1 GB: a pass holds up to four a thread.
const accumulators = 1 << 27

// pass adds up size numbers over the rows. work adds the rows lo to hi of a block; each worker has its own. job is the same for rows on
// other machines.
func (r *rows) pass(ctx context.Context, size int, job sweep.Job, worker func() func(sum []float64, b *data.Block) error) ([]float64, error) {
	sum, err := r.reduction(size, job, worker).Run(ctx, r.src)
	if err != nil {
		return nil, err
	}
	for _, v := range sum {
		if v-v != 0 {
			return nil, fmt.Errorf("the principal components of these rows leave the range of a float64; divide the columns by a constant")
		}
	}
	return sum, nil
}

func (r *rows) reduction(size int, job sweep.Job, worker func() func(sum []float64, b *data.Block) error) *sweep.Reduction[[]float64] {
	threads := min(r.threads, max(1, accumulators/(4*size)))
	workers := make([]func([]float64, *data.Block) error, max(threads, 1))
	return &sweep.Reduction[[]float64]{
		Rows: r.look.Rows, Threads: threads, Job: job,
		New:   func() []float64 { return make([]float64, size) },
		Clear: func(sum []float64) { clear(sum) },
		Add: func(id int, b *data.Block, sum []float64) error {
			if err := complete(b); err != nil {
				return err
			}
			if workers[id] == nil {
				workers[id] = worker()
			}
			return workers[id](sum, b)
		},
		Merge: func(into, from []float64) {
			for i, v := range from {
				into[i] += v
			}
		},
	}
}

// complete refuses rows that lack a cell.
func complete(b *data.Block) error {
	for i := range b.N {
		for j := range b.D {
			if x := b.At(i, j); x-x != 0 && b.Weight(i) > 0 {
				return fmt.Errorf("row %d, column %d: the value is %v; principal components need every cell: leave out rows or columns that lack one", b.Number(i), j+1, x)
			}
		}
	}
	return nil
}

// weight returns what row i counts in S.
func (r *rows) weight(b *data.Block, i int) float64 { return b.Weight(i) / r.look.W / r.total }

// covariance returns S from one pass: its packed lower triangle.
func (r *rows) covariance(ctx context.Context) ([]float64, error) {
	d := len(r.mean)
	return r.pass(ctx, d*(d+1)/2, &covarianceJob{*r.wire()}, r.squares(ctx))
}

// squares returns what adds rows to S.
func (r *rows) squares(ctx context.Context) func() func([]float64, *data.Block) error {
	d := len(r.mean)
	return func() func([]float64, *data.Block) error {
		x, w := make([]float64, kern.Pad(d)*kern.Rows), make([]float64, kern.Rows)
		tmp := make([]float64, kern.SecondScratch(d))
		return func(sum []float64, b *data.Block) error {
			for lo := 0; lo < b.N; lo += kern.Rows {
				if err := ctx.Err(); err != nil {
					return err
				}
				n := min(kern.Rows, b.N-lo)
				if b.F64 != nil {
					kern.Pack(x, b.F64[lo*d:(lo+n)*d], r.mean, n, d)
				} else {
					kern.Pack(x, b.F32[lo*d:(lo+n)*d], r.mean, n, d)
				}
				clear(w)
				for i := range n {
					w[i] = r.weight(b, lo+i)
				}
				kern.SecondMoments(sum, x, w, tmp, d)
			}
			return nil
		}
	}
}

// exact takes S apart.
func (c *Components) exact(ctx context.Context, r *rows, n int) error {
	d := len(c.Mean)
	sum, err := r.covariance(ctx)
	if err != nil {
		return err
	}
	c.Passes = 1
	axes, share, err := eigen(symmetric(sum, d))
	if err != nil {
		return err
	}
	return c.take(axes, share, n)
}

// eigen returns the eigenvectors of s, one a row, and its eigenvalues, the largest first.
func eigen(s *mat.SymDense) (vectors [][]float64, values []float64, err error) {
	d := s.SymmetricDim()
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil, fmt.Errorf("the eigenvalues of the covariance of %d columns cannot be found", d)
	}
	var v mat.Dense
	e.VectorsTo(&v)
	up := e.Values(nil)
	for j := d - 1; j >= 0; j-- {
		vectors, values = append(vectors, mat.Col(nil, j, &v)), append(values, up[j])
	}
	return vectors, values, nil
}

// blockRows is how many rows of many columns are centred at a time: some megabytes.
const blockRows = 64

// product returns S q' as m rows for the m rows of q, from one pass.
func (r *rows) product(ctx context.Context, q blas64.General) (blas64.General, error) {
	d, m := q.Cols, q.Rows
	sum, err := r.pass(ctx, m*d, &productJob{*r.wire(), q}, r.products(ctx, q))
	return blas64.General{Rows: m, Cols: d, Stride: d, Data: sum}, err
}

// products returns what adds rows to S q'.
func (r *rows) products(ctx context.Context, q blas64.General) func() func([]float64, *data.Block) error {
	d, m := q.Cols, q.Rows
	return func() func([]float64, *data.Block) error {
		x, p := general(blockRows, d), general(blockRows, m)
		return func(sum []float64, b *data.Block) error {
			y := blas64.General{Rows: m, Cols: d, Stride: d, Data: sum}
			for lo := 0; lo < b.N; lo += blockRows {
				if err := ctx.Err(); err != nil {
					return err
				}
				x.Rows = min(blockRows, b.N-lo)
				p.Rows = x.Rows
				for i := range x.Rows {
					for j, o := range r.mean {
						x.Data[i*d+j] = b.At(lo+i, j) - o
					}
				}
				blas64.Gemm(blas.NoTrans, blas.Trans, 1, x, q, 0, p)
				for i := range x.Rows {
					blas64.Scal(r.weight(b, lo+i), blas64.Vector{N: m, Inc: 1, Data: p.Data[i*m : i*m+m]})
				}
				blas64.Gemm(blas.Trans, blas.NoTrans, 1, p, x, 1, y)
			}
			return nil
		}
	}
}

func general(rows, cols int) blas64.General {
	return blas64.General{Rows: rows, Cols: cols, Stride: cols, Data: make([]float64, rows*cols)}
}
