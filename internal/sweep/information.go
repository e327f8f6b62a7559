package sweep

import (
	"context"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/rng"
)

// Information is an estimate of the observed information of all rows.
type Information struct {
	Matrix *mat.SymDense // p x p for the p parameters asked for
	Rows   int64         // rows of positive weight it is made of
}

// Information makes one pass and returns sum_i w_i s_i s_i', s_i the gradient of log p(x_i) in the parameters at the
// places keep of theta, in order (mixture.Identified leaves one that is not singular). At the optimum its expectation is that of
// minus the Hessian of the log-likelihood (Berndt, Hall, Hall and Hausman 1974). The work is p^2 / 2 multiply-adds a row.
//
// A share below 1 looks at about that share of the rows and scales what they give up to the weight of all. Which rows, a
// hash of seed and row number decides, so that no order of the rows can spoil it. The family's kernel must be a
// family.GradKernel.
func (l *Local) Information(ctx context.Context, m *mixture.Mixture, theta []float64, keep []int, share float64, seed uint64) (*Information, error) {
	p := len(keep)
	if p == 0 {
		return &Information{}, nil
	}
	total, ok, err := l.outers(m, theta, keep, share, seed).run(ctx, l.src)
	if err != nil {
		return nil, err
	}
	if !ok {
		total = &outer{sum: make([]float64, p*(p+1)/2)}
	}
	return total.information(p), nil
}

// outers returns what folds a pass for the information.
func (l *Local) outers(m *mixture.Mixture, theta []float64, keep []int, share float64, seed uint64) *fold[*outer] {
	p := len(keep)
	bound := m.Bind(theta, 1)
	workers := make([]*products, l.threads)
	chunk := l.chunk
	for n := 1; n < mostJoined && float64(chunk)*share < 64; n *= 2 { // merging is p^2 / 2 additions, and few rows are not worth it
		chunk *= 2
	}
	var spare pool[*outer]
	return &fold[*outer]{
		threads: min(l.threads, max(1, accumulators/(4*(1+p*(p+1)/2)))), chunk: chunk,
		fresh: func() *outer {
			if s, ok := spare.get(); ok {
				clear(s.sum)
				*s = outer{sum: s.sum}
				return s
			}
			return &outer{sum: make([]float64, p*(p+1)/2)}
		},
		reuse: spare.put,
		work: func(id int, b *data.Block, acc *outer) error {
			if workers[id] == nil {
				workers[id] = newProducts(l, m, bound, keep)
			}
			workers[id].add(acc, b, share, seed)
			return nil
		},
		merge: (*outer).merge,
		job:   &informationJob{l.origin, l.rows, wired([]Task{{Mixture: m, Theta: theta, Beta: 1}})[0], keep, share, seed},
	}
}

// informationJob is a pass for the information.
type informationJob struct {
	Origin []float64
	Rows   int64
	Task   wire
	Keep   []int
	Share  float64
	Seed   uint64
}

// Serve implements Job.
func (j *informationJob) Serve(ctx context.Context, p *Part, src *data.Table) ([]Node, error) {
	return nodes(ctx, p.Local(src, j.Rows, j.Origin).outers(j.Task.mixture(), j.Task.Theta, j.Keep, j.Share, j.Seed), src)
}

// accumulators is how many float64 the sums under way may take together, some 1 GB: a pass holds up to four a thread.
const accumulators = 1 << 27

// outer is the sum of the outer products of a run of rows.
type outer struct {
	sum    []float64 // packed lower triangle
	rows   int64     // rows in it
	weight float64   // their weight
	all    float64   // the weight of all rows of the run
}

func (o *outer) merge(next *outer) {
	for i, v := range next.sum {
		o.sum[i] += v
	}
	o.rows += next.rows
	o.weight += next.weight
	o.all += next.all
}

// information returns the sum, scaled to the weight of all rows.
func (o *outer) information(p int) *Information {
	info := &Information{Matrix: mat.NewSymDense(p, nil), Rows: o.rows}
	scale := 1.0
	if o.weight < o.all {
		scale = o.all / o.weight
	}
	for j := range p {
		for l, v := range o.sum[j*(j+1)/2 : j*(j+1)/2+j+1] {
			info.Matrix.SetSym(j, l, scale*v)
		}
	}
	return info
}

// products is one worker's means to add outer products.
type products struct {
	m      *mixture.Mixture
	bound  *mixture.Bound
	origin []float64
	keep   []int

	panel   *family.Panel
	scratch *mixture.Scratch
	grad    []float64 // params x kern.Rows
	tmp     []float64 // of kern.SecondMoments
}

func newProducts(l *Local, m *mixture.Mixture, bound *mixture.Bound, keep []int) *products {
	return &products{m: m, bound: bound, origin: l.origin, keep: keep, panel: newPanel(m.D), scratch: mixture.NewScratch(m.K, m.D),
		grad: make([]float64, max(m.Params(), kern.Pad(len(keep)))*kern.Rows), tmp: make([]float64, kern.SecondScratch(len(keep)))}
}

// add adds the rows of b that are drawn to acc, packed so that no panel is half empty but the last.
func (w *products) add(acc *outer, b *data.Block, share float64, seed uint64) {
	w.panel.N = 0
	for i := range b.N {
		weight := b.Weight(i)
		acc.all += weight
		if weight == 0 || share < 1 && float64(drawn(b.First+int64(i), seed)) >= share*(1<<64) {
			continue
		}
		at := w.panel.N
		for j, o := range w.origin {
			w.panel.X[j*kern.Rows+at] = b.At(i, j) - o
		}
		w.panel.W[at] = weight
		acc.rows++
		acc.weight += weight
		if w.panel.N++; w.panel.N == kern.Rows {
			w.flush(acc)
		}
	}
	if w.panel.N > 0 {
		w.flush(acc)
	}
}

// flush adds the panel to acc and empties it.
func (w *products) flush(acc *outer) {
	if family.PatternsOf(w.m.Family) != nil {
		w.panel.Mark()
	}
	w.m.RowGrad(w.grad, w.bound, w.panel, w.scratch)
	for j, at := range w.keep { // in order, so at >= j
		copy(w.grad[j*kern.Rows:(j+1)*kern.Rows], w.grad[at*kern.Rows:(at+1)*kern.Rows])
	}
	kern.SecondMoments(acc.sum, w.grad, w.panel.W, w.tmp, len(w.keep))
	w.panel.N = 0
	clear(w.panel.W)
	clear(w.panel.X)
}

// drawn returns a number of the row and the seed that is uniform over the rows.
func drawn(row int64, seed uint64) uint64 {
	return rng.Mix((uint64(row)+1)*0x9e3779b97f4a7c15 + seed*0xd1342543de82ef95)
}

// Limits of the work for standard errors.
const (
	// MaxInformation is the largest number of parameters p whose information is worth its p^3 operations and p^2 numbers.
	MaxInformation = 600
	// maxProducts is how much rows x p^2 may be. Half of it is multiply-adds, 3e9 of which a core of 2024 does in a second
	// without vectors.
	maxProducts = 2e9
	// leastRows is how many rows a parameter are looked at, however much work that is. The inverse of an information
	// from R rows is too large by p / R on average: 2.5 % in standard errors here.
	leastRows = 20
)

// InformationShare returns the share of rows to look at for the information of p parameters.
func InformationShare(p int, rows int64) float64 {
	n := max(maxProducts/(float64(p)*float64(p)), leastRows*float64(p))
	return min(1, n/math.Max(1, float64(rows)))
}
