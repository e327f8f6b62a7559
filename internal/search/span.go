package search

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

const (
	// spanRows is the number of rows up to which starts of a wide table climb in the space that the rows span.
	spanRows = 200
	// spanSteps is how many EM steps they take there at most.
	spanSteps = 200
)

// span is the space that the rows of a wide table span about their mean, in some unit for each column: orthonormal axes, and the rows along them. A
// mixture of one uniqueness for all columns is the same there, but for columns in which all rows are 0.
type span struct {
	mean, unit []float64
	axes       *mat.Dense // d x r
	points     *seed.Points
}

// newSpan returns the span of the points in units of the columns; nil where they are all alike.
func newSpan(p *seed.Points, mean, unit []float64) *span {
	e := mat.NewDense(p.N, p.D, nil)
	for i := range p.N {
		row := e.RawRowView(i)
		floats.SubTo(row, p.At(i), mean)
		floats.Div(row, unit)
	}
	products := mat.NewSymDense(p.N, nil)
	products.SymOuterK(1, e)
	var eigen mat.EigenSym
	if !eigen.Factorize(products, true) {
		return nil
	}
	values := eigen.Values(nil)
	var vectors mat.Dense
	eigen.VectorsTo(&vectors)
	first := 0
	for first < p.N && !(values[first] > 1e-10*values[p.N-1]) {
		first++
	}
	r := p.N - first
	if r == 0 {
		return nil
	}
	s := &span{mean: mean, unit: unit, axes: new(mat.Dense), points: &seed.Points{N: p.N, D: r, W: p.W, Row: p.Row}}
	kept := mat.DenseCopyOf(vectors.Slice(0, p.N, first, p.N))
	for i := range p.N {
		row := kept.RawRowView(i)
		for a, v := range row {
			size := math.Sqrt(values[first+a])
			s.points.X = append(s.points.X, v*size)
			row[a] = v / size
		}
	}
	s.axes.Mul(e.T(), kept)
	return s
}

// into returns what theta, parameters of from, is in the span: of other shapes than one uniqueness their mean.
func (s *span) into(theta []float64, from, to *mixture.Mixture) []float64 {
	wide, narrow := from.Family.(family.WideFactors), to.Family.(family.Factors)
	k, d, r, q := from.K, from.D, to.D, wide.Shape.Factors()
	comp, own := from.Components(theta), make([]float64, to.Params())
	copy(own, theta[:len(theta)-len(comp)])
	in := to.Components(own)
	x, l := make([]float64, d), make([]float64, r*q)
	project := func(dst []float64, stride int) {
		floats.Div(x, s.unit)
		var y mat.VecDense
		y.MulVec(s.axes.T(), mat.NewVecDense(d, x))
		for a := range r {
			dst[a*stride] = y.AtVec(a)
		}
	}
	for c := range k {
		floats.SubTo(x, comp[c*d:c*d+d], s.mean)
		project(in[c*r:], 1)
		loadings := wide.LoadingsOf(comp, c, k, d)
		for f := range q {
			for j := range x {
				x[j] = loadings[j*q+f]
			}
			project(l[f:], q)
		}
		u := 0.0
		for j, v := range wide.UniquenessesOf(comp, c, k, d) {
			u += v / (s.unit[j] * s.unit[j]) / float64(d)
		}
		narrow.SetFactors(in, l, slices.Repeat([]float64{u}, r), c, k, r)
	}
	return own
}

// outOf is the inverse of into.
func (s *span) outOf(theta []float64, from, to *mixture.Mixture) []float64 {
	narrow, wide := from.Family.(family.Factors), to.Family.(family.WideFactors)
	k, d, r, q := to.K, to.D, from.D, wide.Shape.Factors()
	comp, own := from.Components(theta), make([]float64, to.Params())
	copy(own, theta[:len(theta)-len(comp)])
	out := to.Components(own)
	l, u := mat.NewDense(d, q, nil), make([]float64, d)
	for c := range k {
		mean := mat.NewVecDense(d, out[c*d:c*d+d])
		mean.MulVec(s.axes, mat.NewVecDense(r, comp[c*r:c*r+r]))
		floats.Mul(out[c*d:c*d+d], s.unit)
		floats.Add(out[c*d:c*d+d], s.mean)
		l.Mul(s.axes, mat.NewDense(r, q, slices.Clone(narrow.LoadingsOf(comp, c, k, r))))
		one := narrow.UniquenessesOf(comp, c, k, r)[0]
		for j := range d {
			floats.Scale(s.unit[j], l.RawRowView(j))
			u[j] = one * s.unit[j] * s.unit[j]
		}
		wide.SetFactors(out, l.RawMatrix().Data, u, c, k, d)
	}
	return own
}

// inSpan lets starts of a wide table with few rows climb in the space that the rows span, where EM's step for one uniqueness is in closed form: of that
// shape they leave it at their maxima. Starts that meet there come back as one slice: see climbDistinct. For the other shapes columns are measured by their standard deviations there, and it is a better start.
func (f *Fit) inSpan(ctx context.Context, p *seed.Points, thetas [][]float64) ([][]float64, error) {
	fam, ok := f.Mix.Family.(family.WideFactors)
	if !ok || p.N > spanRows || p.N >= p.D || int64(p.N) < f.Survey.Used {
		return thetas, nil
	}
	mean, unit := make([]float64, p.D), make([]float64, p.D)
	for j := range unit {
		mean[j] = f.Survey.Mean[j] - f.Origin[j]
		if unit[j] = 1; !fam.Shape.OneUniqueness() {
			unit[j] = math.Sqrt(f.Survey.Var[j])
		}
	}
	s := newSpan(p, mean, unit)
	if s == nil {
		return thetas, nil
	}
	r, top := s.points.D, 1.0
	if fam.Shape.Factors() >= r {
		return thetas, nil
	}
	if fam.Shape.OneUniqueness() {
		top = slices.Max(f.Survey.Var)
	}
	own := *f.Mix
	own.D = r
	own.Family = family.Factors{WideFactors: family.WideFactors{Shape: family.RoundFactors.WithFactors(fam.Shape.Factors()), Var: slices.Repeat([]float64{top}, r)}, Beyond: p.D - r}
	starts := make([][]float64, len(thetas))
	for i, theta := range thetas {
		starts[i] = s.into(theta, f.Mix, &own)
	}
	l := &lockstep{sweeper: sweep.NewLocal(s.points.Table(), int64(p.N), make([]float64, r), f.Plan.Threads), threads: f.Plan.Threads, mix: &own}
	driver := func(int) ascent.Driver {
		return until{ascent.EM{Beta: 1, MaxIter: spanSteps, Ascends: true}, moveNear / 10, ascent.EstimateAfter}
	}
	out, ends := make([][]float64, len(thetas)), make([]float64, len(thetas))
	for i, r := range l.climb(ctx, driver, starts, nil) {
		if r.Err != nil {
			return nil, r.Err
		}
		ends[i] = r.Last.Point.F
		if at := slices.IndexFunc(ends[:i], func(v float64) bool { return math.Abs(v-ends[i]) <= SameOptimum }); at >= 0 {
			out[i] = out[at]
			continue
		}
		out[i] = s.outOf(r.Last.Point.Theta, &own, f.Mix)
	}
	return out, nil
}

// climbDistinct lets climb run from each of thetas that is a slice of its own, and gives the others, which met in the span, what that start has come to.
func climbDistinct(thetas [][]float64, climb func(thetas [][]float64, at []int) []Run) []Run {
	var own [][]float64
	var first []int                // of each of own its number among thetas
	of := make([]int, len(thetas)) // the place among own
	for i, theta := range thetas {
		of[i] = slices.IndexFunc(own, func(v []float64) bool { return &v[0] == &theta[0] })
		if of[i] < 0 {
			of[i], own, first = len(own), append(own, theta), append(first, i)
		}
	}
	some := climb(own, first)
	if len(own) == len(thetas) {
		return some
	}
	runs, seen := make([]Run, len(thetas)), make([]bool, len(own))
	for i, at := range of {
		runs[i] = some[at]
		if runs[i].start = i; seen[at] {
			runs[i].Sweeps = 0
		}
		seen[at] = true
	}
	return runs
}
