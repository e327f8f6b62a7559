package seed

import (
	"context"
	"math"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// lloydSteps is how many steps k-means may take to make a start.
const lloydSteps = 300

// Lloyd runs k-means on the points from the given rows to its end (at most 300 steps) and returns the labels.
func Lloyd(ctx context.Context, p *Points, rows []int, threads int) ([]int32, error) {
	if p.Levels != nil {
		return lloydLevels(ctx, p, rows)
	}
	k := len(rows)
	m := &mixture.Mixture{Family: family.KMeans{}, K: k, D: p.D}
	theta := make([]float64, 0, k*p.D)
	for _, i := range rows {
		theta = append(theta, p.At(i)...)
	}
	s := sweep.NewLocal(p.Table(), int64(p.N), make([]float64, p.D), threads)
	for step, err := range (ascent.EM{Beta: math.Inf(1), MaxIter: lloydSteps}).Steps(ctx, single{s, m, new(sweep.State)}, theta) {
		if err != nil {
			return nil, err
		}
		theta = step.Point.Theta
	}
	labels := make([]int32, 0, p.N)
	err := s.Rows(ctx, m, theta, func(r *sweep.Scored) error {
		labels = append(labels, r.Label...)
		return nil
	})
	return labels, err
}

// single is the objective of one mixture on a sweeper of its own.
type single struct {
	s sweep.Sweeper
	m *mixture.Mixture

	state *sweep.State // what one sweep leaves for the next
}

func (o single) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	stats, err := o.s.Sweep(ctx, []sweep.Task{{Mixture: o.m, Theta: theta, Beta: beta, State: o.state}})
	if err != nil {
		return nil, err
	}
	p := &ascent.Point{Theta: theta, Beta: beta, F: stats[0].F, Next: make([]float64, len(theta))}
	o.m.MStep(p.Next, theta, stats[0])
	return p, nil
}

// FromLabels returns the parameters that one M-step makes of the labels, at most m.K of them. A component of less
// weight than d + 2 rows cannot give a covariance of its own: it takes the pooled one, so that no start begins
// with a degenerate component. labels[i] belongs to row i of p.
func FromLabels(m *mixture.Mixture, g family.Gaussian, p *Points, labels []int32) []float64 {
	theta := Around(m, g, Means(p, labels, m.K), ones(m.K), g.Var)
	next := labelStep(m, theta, p, labels, 1)
	weight := make([]float64, m.K)
	for i, c := range labels {
		weight[c] += p.W[i]
	}
	if g.Shape.Shared() {
		return next
	}
	pooled := pool(m, g, next, weight)
	u := make([]float64, g.Shape.Size(m.D))
	for c, w := range weight {
		if w < float64(m.D+2) {
			g.ToScale(u, append([]float64(nil), pooled...), 1, m.D)
			copy(g.ScaleOf(m.Components(next), c, m.K, m.D), u)
		}
	}
	return next
}

// pool returns the mean of the components' covariances, each counted by its weight.
func pool(m *mixture.Mixture, g family.Gaussian, theta, weight []float64) []float64 {
	z := g.Shape.Size(m.D)
	pooled, q, total := make([]float64, z), make([]float64, z), 0.0
	for c, w := range weight {
		g.Covariance(q, g.ScaleOf(m.Components(theta), c, m.K, m.D), m.D)
		for i, v := range q {
			pooled[i] += w * v
		}
		total += w
	}
	for i := range pooled {
		pooled[i] /= total
	}
	if g.Shape == family.Spherical { // ToScale divides the total of squares by d
		pooled[0] *= float64(m.D)
	}
	return pooled
}

// FromLabelsWithConfidence returns the parameters that one M-step makes of labels: the labelled component gets the share confidence of each
// row, from 0 to 1, and all components share the rest. labels[i] belongs to row i of p.
func FromLabelsWithConfidence(m *mixture.Mixture, p *Points, labels []int32, confidence float64) []float64 {
	return labelStep(m, make([]float64, m.Params()), p, labels, confidence)
}

// flushed is how many panels labelStep gathers before it adds their sums to the others, which takes as long as some panels do.
const flushed = 64

// labelStep runs the points through one M-step with the responsibilities of the labels.
func labelStep(m *mixture.Mixture, theta []float64, p *Points, labels []int32, confidence float64) []float64 {
	b, s, sc := m.Bind(theta, 1), m.NewStats(0), mixture.NewScratch(m.K, m.D)
	panel := &family.Panel{D: m.D, X: make([]float64, m.D*kern.Rows), W: make([]float64, kern.Rows)}
	zero := make([]float64, m.D)
	for lo := 0; lo < p.N; lo += kern.Rows {
		panel.N = min(kern.Rows, p.N-lo)
		kern.Pack(panel.X, p.X[lo*m.D:(lo+panel.N)*m.D], zero, panel.N, m.D)
		if family.PatternsOf(m.Family) != nil {
			panel.Mark()
		}
		clear(panel.W)
		copy(panel.W, p.W[lo:lo+panel.N])
		b.Assign(s, panel, labels[lo:lo+panel.N], confidence, sc)
		if (lo/kern.Rows+1)%flushed == 0 {
			b.Flush(s, sc)
		}
	}
	b.Flush(s, sc)
	next := make([]float64, len(theta))
	m.MStep(next, theta, s)
	return next
}

// Means returns the k x d means of the labelled rows, over the cells that are there; a label without any gets the cell of row 0, or the mean of
// the column where that is missing.
func Means(p *Points, labels []int32, k int) []float64 {
	w, m := make([]float64, k*p.D), make([]float64, k*p.D)
	for i, c := range labels {
		for j, x := range p.At(i) {
			if x == x {
				w[int(c)*p.D+j] += p.W[i]
				m[int(c)*p.D+j] += p.W[i] * x
			}
		}
	}
	for i, w := range w {
		if w > 0 {
			m[i] /= w
		} else if m[i] = p.At(0)[i%p.D]; m[i] != m[i] {
			m[i] = p.means()[i%p.D]
		}
	}
	return m
}

func ones(k int) []float64 {
	w := make([]float64, k)
	for c := range w {
		w[c] = 1
	}
	return w
}

// Around returns the mixture with the given k x d means, weights in proportion to weight, and for every component the
// one big covariance with variances v: the start of the lecture, in which columns of another unit count the same.
func Around(m *mixture.Mixture, g family.Gaussian, means, weight, v []float64) []float64 {
	theta := make([]float64, m.Params())
	total := 0.0
	for _, w := range weight {
		total += w
	}
	if !m.Uniform {
		for c, w := range weight {
			theta[c] = max(math.Log(w/total), mixture.MinLogWeight)
		}
	}
	comp := m.Components(theta)
	copy(comp, means)
	for c := range g.Shape.Count(m.K) {
		u := g.ScaleOf(comp, c, m.K, m.D)
		g.FromVariances(u, v)
	}
	return theta
}
