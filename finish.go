package latent

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/ascent"
	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/score"
)

// result turns the winning run into a model and judges it with one more pass, by the model's own numbers: what is
// reported is what the model file gives back.
func (f *fit) result(ctx context.Context, runs []run, best int, interrupted bool) (*Result, error) {
	win := runs[best]
	m, floor := f.model(win.last.Point)
	t, err := f.judge(ctx, m)
	if err != nil {
		return nil, err
	}
	if m.Kind == "kmeans" {
		m.Sizes = t.sizes
	}
	s := win.last
	r := &Result{
		Model: m.Kind, K: f.spec.K, N: f.look.Used, Weight: f.look.W, D: f.mix.D, Columns: f.names,
		Algorithm: f.spec.driver(), Init: f.spec.start(), Seed: f.spec.seed(), Converged: s.Done.Converged() && !interrupted, Interrupted: interrupted, Reason: s.Done,
		Iterations: s.Iteration, Sweeps: win.moves + 1, Threads: f.spec.threads(), Free: f.mix.Free(),
		Starts: f.agreement(runs, best), Warnings: []string{}, Version: Version, Fitted: m,
	}
	for _, run := range runs {
		r.SweepsTotal += run.moves
	}
	r.SweepsTotal += 2 // the first pass, and the one that judges
	f.numbers(r, t)
	f.certify(r, s)
	f.components(r, m, t, floor)
	f.warnings(r, floor)
	if t.agreement != nil {
		r.Truth = &Truth{ARI: t.agreement.ARI(), NMI: t.agreement.NMI()}
	}
	return r, f.sign(r)
}

// sign puts into the model what the fit found out, so that the file alone can tell it again. No times and no thread
// counts: the same fit gives the same bytes.
func (f *fit) sign(r *Result) (err error) {
	m := r.Fitted
	m.N, m.LogLik = new(f.look.Used), r.LogLik
	spec := f.spec
	spec.Threads, spec.Columns = 0, nil
	if m.Spec, err = json.Marshal(spec); err != nil {
		return err
	}
	m.Certificate, err = json.Marshal(r.Certificate)
	m.Provenance = &Provenance{
		Rows: f.look.Used, Weight: r.Weight, Converged: r.Converged, Interrupted: r.Interrupted, Algorithm: r.Algorithm, Init: r.Init,
		Seed: r.Seed, Iterations: r.Iterations, Sweeps: r.Sweeps, SweepsTotal: r.SweepsTotal, Starts: r.Starts, ICL: r.ICL,
		Inertia: r.Inertia, Truth: r.Truth, Warnings: r.Warnings, Version: r.Version,
	}
	for _, c := range r.Components {
		m.Provenance.GroupRows = append(m.Provenance.GroupRows, c.Rows)
		m.Provenance.AtFloor = append(m.Provenance.AtFloor, c.AtFloor)
	}
	return err
}

// numbers fills in the objective and the criteria.
func (f *fit) numbers(r *Result, t *tally) {
	if r.Model == "kmeans" {
		r.Inertia = new(0 - t.best)
		return
	}
	ll := t.logLik
	n, p := f.look.W, r.Free
	r.LogLik, r.MeanLogLik = new(ll), new(ll/n)
	r.BIC, r.AIC, r.ICL = new(score.BIC(p, n, ll)), new(score.AIC(p, ll)), new(score.ICL(p, n, ll, t.entropy))
}

// certify says how far from the optimum the fit stopped.
func (f *fit) certify(r *Result, s ascent.Step) {
	c := &r.Certificate
	c.OnEdge = []string{}
	if f.spec.hard() || f.spec.RegCovar > 0 {
		return
	}
	method := "estimate" // the driver's own, where the climb was cut short
	if s.Certificate != nil {
		method = string(s.Certificate.Method)
		c.Why = s.Certificate.Why
		if s.Certificate.Curvature == s.Certificate.Curvature {
			c.Curvature = new(s.Certificate.Curvature)
		}
	}
	if s.Distance == s.Distance {
		c.DistanceSE, c.Remaining, c.Method = new(s.Distance), new(s.Remaining), &method
	}
}

// model turns parameters into a model with its components in canonical order: by weight, ties by mean. floor tells
// which of them sit on a floor.
func (f *fit) model(p *ascent.Point) (m *Model, floor []bool) {
	k, d := f.mix.K, f.mix.D
	comp := f.mix.Components(p.Theta)
	weight := make([]float64, k)
	for c, lw := range f.mix.LogWeights(nil, p.Theta) {
		weight[c] = math.Exp(lw)
	}
	g, mixed := f.mix.Family.(family.Gaussian)
	if !mixed {
		weight = p.Weights
	}
	means := make([][]float64, k)
	order := make([]int, k)
	for c := range k {
		order[c], means[c] = c, make([]float64, d)
		for j := range d {
			means[c][j] = f.origin[j] + comp[c*d+j]
		}
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if weight[a] != weight[b] {
			return map[bool]int{true: -1, false: 1}[weight[a] > weight[b]]
		}
		return slices.Compare(means[a], means[b])
	})
	m = &Model{Kind: f.spec.model(), Columns: f.names, Transform: f.transform}
	at := f.mix.Family.AtFloor(comp, k, d)
	for _, c := range order {
		m.Means = append(m.Means, means[c])
		floor = append(floor, at[c])
		if mixed {
			m.Weights = append(m.Weights, weight[c])
		}
	}
	if mixed {
		m.Shape = g.Shape
		for i := range g.Shape.Count(k) {
			q := make([]float64, g.Shape.Size(d))
			g.Covariance(q, g.ScaleOf(comp, order[i], k, d), d)
			m.Covariance = append(m.Covariance, unpack(g.Shape, q, d))
		}
		normalise(m.Weights)
	}
	return m, floor
}

// normalise divides weights by their sum, which the rounding of logarithms leaves within a few units of 1.
func normalise(w []float64) {
	sum := 0.0
	for _, v := range w {
		sum += v
	}
	for c := range w {
		w[c] /= sum
	}
}

// judge makes the pass that labels, counts and scores the rows by the model.
func (f *fit) judge(ctx context.Context, m *Model) (*tally, error) {
	t := &tally{rows: make([]int64, m.K()), sizes: make([]float64, m.K())}
	return t, m.Rows(ctx, f.user, f.spec.threads(), t.add)
}

// components fills in the groups, in the user's units.
func (f *fit) components(r *Result, m *Model, t *tally, floor []bool) {
	for c := range m.K() {
		x := Component{Label: c + 1, Rows: t.rows[c], Mean: m.UserMean(c), AtFloor: floor[c]}
		if m.Kind == "gmm" {
			x.Weight, x.Covariance = m.Weights[c], m.userCovariance(c)
		} else {
			x.Weight = t.sizes[c] / f.look.W
		}
		r.Components = append(r.Components, x)
	}
	if m.Kind == "gmm" {
		r.Covariance, r.Mclust = m.Shape.String(), m.Shape.Mclust()
	}
}

// warnings says what the reader of the result should know.
func (f *fit) warnings(r *Result, floor []bool) {
	switch {
	case r.Interrupted:
		r.warn("interrupted: this is the best so far")
	case !r.Converged:
		r.warn(fmt.Sprintf("not finished after %d iterations: raise --max-iter", r.Iterations))
	}
	if f.spec.RegCovar > 0 {
		r.warn("--reg-covar adds to the variances outside the likelihood: nothing is climbed, so no distance to an optimum can be told")
	}
	for c, at := range floor {
		if !at {
			continue
		}
		if f.mix.Family.(family.Gaussian).Shape.Shared() {
			r.warn("the shared covariance is at the floor of variances: the rows of each component are all but equal in some direction")
			r.Certificate.OnEdge = append(r.Certificate.OnEdge, "covariance")
			break
		}
		r.warn(fmt.Sprintf("component %d is at the floor of variances (%g of the columns' own): its %d rows are all but equal in some direction", c+1, family.MinEigenvalue, r.Components[c].Rows))
		r.Certificate.OnEdge = append(r.Certificate.OnEdge, fmt.Sprintf("covariance %d", c+1))
	}
	for _, c := range r.Components {
		if c.Rows == 0 {
			r.warn(fmt.Sprintf("component %d is empty: no row carries its label", c.Label))
		}
	}
}

func (r *Result) warn(s string) { r.Warnings = append(r.Warnings, s) }

// UserMean returns the mean of component c in the user's units.
func (m *Model) UserMean(c int) []float64 {
	mean := append([]float64(nil), m.Means[c]...)
	for _, t := range slices.Backward(m.Transform) {
		for j := range mean {
			mean[j] = mean[j]*t.Scale[j] + t.Center[j]
		}
	}
	return mean
}

// userCovariance returns the covariance of component c in the user's units: a matrix, d variances, or one number
// where the shape has one and no transform gave the columns scales of their own.
func (m *Model) userCovariance(c int) any {
	d := m.D()
	cov := slices.Clone(m.Covariance[min(c, len(m.Covariance)-1)])
	shape := m.Shape
	if len(m.Transform) > 0 && shape.Size(d) == 1 && !matrix(shape) {
		cov, shape = slices.Repeat(cov, d), family.Diag
	}
	for _, t := range m.Transform {
		for i := range cov {
			if matrix(shape) {
				cov[i] *= t.Scale[i/d] * t.Scale[i%d]
			} else {
				cov[i] *= t.Scale[i] * t.Scale[i]
			}
		}
	}
	return covarianceValue(shape, cov, d)
}
