// Package seed chooses where a climb starts: centres drawn from the rows, and mixtures built around them.
package seed

import (
	"context"
	"errors"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"sync"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
)

// SampleRows is the largest number of rows that starts are drawn from. Beyond it a uniform sample stands for the rows:
// a cluster of one row in a thousand still has fifty rows in it, and a start is only a start.
const SampleRows = 50_000

// Points are rows in memory, relative to an origin.
type Points struct {
	N, D int
	X    []float64 // N x D; NaN where a cell is missing
	W    []float64 // N row weights, all positive
	Row  []int64   // index of each row in its source

	// Narrow holds the cells of NarrowSample in place of X: N x D, as they stand in their source. Rows are these less Origin.
	Narrow []float32
	Origin []float64

	// Levels is how many levels each column has where cells are their numbers, from 0; nil where cells are measurements.
	// Rows of levels are as far apart, in squared distance, as the number of columns they differ in.
	Levels []int

	pack  sync.Once
	cells []float64 // of Panels
}

// Sample reads the rows of positive weight, relative to origin, or most of them drawn at random where there are more.
// used is their number.
func Sample(ctx context.Context, src data.Source, used int64, origin []float64, most int, generator *rand.Rand) (*Points, error) {
	d := len(origin)
	p := &Points{D: d}
	want := min(used, int64(most))
	sample := rng.Select(generator, want, used)
	if r, ok := src.(data.Remote); ok {
		return sampleElsewhere(ctx, r, used, origin, sample)
	}
	reader, err := src.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer reader.Close()
	p.X, p.W, p.Row = make([]float64, 0, want*int64(d)), make([]float64, 0, want), make([]int64, 0, want)
	var b data.Block
	for !sample.Done() {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if err := reader.Read(&b, 4096); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return nil, err
		}
		for i := 0; i < b.N && !sample.Done(); i++ {
			w := b.Weight(i)
			if w > 0 && sample.Take() {
				p.add(&b, i, w, origin)
			}
		}
	}
	return p, nil
}

func (p *Points) add(b *data.Block, i int, w float64, origin []float64) {
	if b.F64 != nil {
		p.X = appendLess(p.X, b.F64[i*b.D:(i+1)*b.D], origin)
	} else {
		p.X = appendLess(p.X, b.F32[i*b.D:(i+1)*b.D], origin)
	}
	p.W = append(p.W, w)
	p.Row = append(p.Row, b.First+int64(i))
	p.N++
}

// appendLess appends row - origin to x.
func appendLess[F float32 | float64](x []float64, row []F, origin []float64) []float64 {
	n := len(x)
	x = append(x, origin...)
	for j, v := range row {
		x[n+j] = float64(v) - x[n+j]
	}
	return x
}

// Scaled returns the points with column j multiplied by factor[j].
func (p *Points) Scaled(factor []float64) *Points {
	return p.mapped(func(j int, x float64) float64 { return x * factor[j] })
}

// Mapped returns the points with every cell x as f(x).
func (p *Points) Mapped(f func(x float64) float64) *Points {
	return p.mapped(func(_ int, x float64) float64 { return f(x) })
}

// mapped returns the points with every cell x of column j as f(j, x).
func (p *Points) mapped(f func(j int, x float64) float64) *Points {
	q := &Points{N: p.N, D: p.D, X: make([]float64, len(p.X)), W: p.W, Row: p.Row}
	for i, x := range p.X {
		q.X[i] = f(i%p.D, x)
	}
	return q
}

// Of returns some of the columns of the points.
func (p *Points) Of(columns []int) *Points {
	if len(columns) == p.D {
		return p
	}
	q := &Points{N: p.N, D: len(columns), X: make([]float64, 0, p.N*len(columns)), W: p.W, Row: p.Row}
	for i := range p.N {
		for _, j := range columns {
			q.X = append(q.X, p.X[i*p.D+j])
		}
	}
	return q
}

// Filled returns the points with the mean of its column in place of a missing cell; p itself where none is missing.
func (p *Points) Filled() *Points {
	if !p.Gaps() {
		return p
	}
	mean := p.means()
	return p.mapped(func(j int, x float64) float64 {
		if x != x {
			return mean[j]
		}
		return x
	})
}

// Gaps reports whether a cell is missing.
func (p *Points) Gaps() bool { return slices.ContainsFunc(p.X, func(x float64) bool { return x != x }) }

// means returns the mean of each column over the cells that are there.
func (p *Points) means() []float64 {
	weight, mean := make([]float64, p.D), make([]float64, p.D)
	for i, w := range p.W {
		for j, x := range p.At(i) {
			if x == x {
				weight[j] += w
				mean[j] += (x - mean[j]) * (w / weight[j])
			}
		}
	}
	return mean
}

// Whitened returns the points with their own mean taken off and L^-1 applied, L L^T their covariance: Euclidean distances
// between them are those of Mahalanobis, which no linear map of the columns changes. Points that do not span all columns
// are returned as they are.
func (p *Points) Whitened() *Points {
	var total float64
	mean := make([]float64, p.D)
	for i, w := range p.W {
		total += w
		for j, x := range p.At(i) {
			mean[j] += w * x
		}
	}
	for j := range mean {
		mean[j] /= total
	}
	cov := mat.NewSymDense(p.D, nil)
	for i, w := range p.W {
		x := p.At(i)
		for j := range x {
			for l := range j + 1 {
				cov.SetSym(j, l, cov.At(j, l)+w/total*(x[j]-mean[j])*(x[l]-mean[l]))
			}
		}
	}
	var c mat.Cholesky
	if !c.Factorize(cov) || c.Cond() > 1e12 {
		return p
	}
	var l mat.TriDense
	c.LTo(&l)
	q := &Points{N: p.N, D: p.D, X: make([]float64, len(p.X)), W: p.W, Row: p.Row}
	for i := range p.N {
		x, y := p.At(i), q.At(i)
		for j := range y {
			t := x[j] - mean[j]
			for m := range j {
				t -= l.At(j, m) * y[m]
			}
			y[j] = t / l.At(j, j)
		}
	}
	return q
}

// At returns row i. It shares memory, but not with narrow points.
func (p *Points) At(i int) []float64 {
	if p.Narrow != nil {
		return appendLess(nil, p.Narrow[i*p.D:(i+1)*p.D], p.Origin)
	}
	return p.X[i*p.D : i*p.D+p.D : i*p.D+p.D]
}

// Table returns the points as a source for a sweep: narrow ones as they stand, without weights where all are 1.
func (p *Points) Table() *data.Table {
	if p.Narrow != nil && !slices.ContainsFunc(p.W, func(w float64) bool { return w != 1 }) {
		return &data.Table{N: p.N, D: p.D, F32: p.Narrow}
	}
	return &data.Table{N: p.N, D: p.D, F64: p.X, F32: p.Narrow, W: p.W}
}

// Random draws k different rows, each with probability proportional to its weight among those left.
func Random(p *Points, k int, rng *rand.Rand) []int {
	w := append([]float64(nil), p.W...)
	rows := make([]int, 0, k)
	for len(rows) < min(k, p.N) {
		i := draw(w, rng.Float64())
		w[i] = 0
		rows = append(rows, i)
	}
	return rows
}

// Greedy is the number of candidates that greedy k-means++ tries for each centre: 2 + log k, as scikit-learn does.
func Greedy(k int) int { return 2 + int(math.Log(float64(k))) }

// PlusPlus draws k rows by D^2 weighting: the first with probability proportional to its weight, each further one to
// its weight times its squared distance from the nearest row drawn so far (Arthur and Vassilvitskii 2007). Of several
// candidates the one that lowers the total most is kept; one candidate is the plain method, whose expected cost is
// within 8 (ln k + 2) of the optimum.
//
// u01 returns uniform numbers in [0, 1). Rows are the same for any number of threads. Fewer than k come back only where fewer
// rows are distinct.
func PlusPlus(p *Points, k, candidates, threads int, u01 func() float64) []int {
	rows := []int{draw(p.W, u01())}
	all := newPanels(p, threads)
	near, sum := make([]float64, p.N), make([]float64, p.N) // weight times squared distance to the nearest row drawn
	all.lower([][]float64{near}, nil, rows)
	trial, total, tries := make([][]float64, candidates), make([]float64, candidates), make([]int, 0, candidates)
	for c := range trial {
		trial[c] = make([]float64, p.N)
	}
	for len(rows) < k {
		running(sum, near)
		tries = tries[:0]
		for range candidates {
			i := search(sum, near, u01())
			if i < 0 {
				break // every row equals a row drawn
			}
			tries = append(tries, i)
		}
		all.lower(trial, near, tries)
		totals(total, trial[:len(tries)])
		kept, least := -1, math.Inf(1)
		for c, t := range total[:len(tries)] {
			if t < least {
				kept, least = c, t
			}
		}
		if kept < 0 {
			break
		}
		rows = append(rows, tries[kept])
		near, trial[kept] = trial[kept], near
	}
	return rows
}

// draw returns an index with probability proportional to w for a uniform u in [0, 1), never one of weight 0, and -1
// where all are 0. Rounding in the running sum cannot pass the end: the last index of positive weight takes the rest.
func draw(w []float64, u float64) int {
	total := 0.0
	for _, v := range w {
		total += v
	}
	at, sum, last := u*total, 0.0, -1
	for i, v := range w {
		if v > 0 {
			sum += v
			last = i
			if sum > at {
				return i
			}
		}
	}
	return last
}
