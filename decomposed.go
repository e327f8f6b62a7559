package latent

import (
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// gaussian returns the Gaussian family of the covariances, each by itself where components share a part of them, and its
// parameters that are the components comp. ok is false for another model.
func (f *fit) gaussian(comp []float64) (g family.Gaussian, own []float64, ok bool) {
	switch fam := f.mix.Family.(type) {
	case family.Gaussian:
		return fam, comp, true
	case family.Decomposed:
		g, k, d := fam.Plain(), f.mix.K, f.mix.D
		own = make([]float64, g.Params(k, d))
		fam.Expand(own, comp, k, d)
		return g, own, true
	}
	return g, nil, false
}

// startMixture returns the Gaussian mixture that starts are made in, and its family: that of the fit, or where components
// share a part of their covariances the one in which they do not. ok is false for another model.
func (f *fit) startMixture() (m *mixture.Mixture, g family.Gaussian, ok bool) {
	switch fam := f.mix.Family.(type) {
	case family.Gaussian:
		return f.mix, fam, true
	case family.Decomposed:
		m := *f.mix
		m.Family = fam.Plain()
		return &m, fam.Plain(), true
	}
	return nil, g, false
}

// restrict turns parameters of the mixture that starts are made in into those of the fit.
func (f *fit) restrict(start []float64) []float64 {
	fam, ok := f.mix.Family.(family.Decomposed)
	if !ok {
		return start
	}
	m, _, _ := f.startMixture()
	weight := m.LogWeights(nil, start)
	for c, lw := range weight {
		weight[c] = math.Exp(lw) * f.look.W
	}
	theta := make([]float64, f.mix.Params())
	copy(theta, start[:len(start)-len(m.Components(start))])
	fam.Restrict(f.mix.Components(theta), m.Components(start), weight, m.K, m.D)
	return theta
}

// ownScales returns the parameters of a family whose covariances are each by itself: those of the model, with means of 0.
func (m *Model) ownScales(g family.Gaussian) ([]float64, error) {
	k, d := m.K(), m.dims()
	own := make([]float64, g.Params(k, d))
	for c, cov := range m.Covariance {
		if !g.Scale(g.ScaleOf(own, c, k, d), pack(g.Shape, cov, d), d) {
			return nil, fmt.Errorf("covariances: number %d is not positive definite", c+1)
		}
	}
	return own, nil
}

// fillDecomposed sets comp, whose means are there, to the covariances of the model in the coordinates of its shape.
func (m *Model) fillDecomposed(fam family.Decomposed, comp []float64) error {
	k, d := m.K(), m.dims()
	own, err := m.ownScales(fam.Plain())
	if err != nil {
		return err
	}
	copy(own, comp[:k*d])
	fam.Restrict(comp, own, m.Weights, k, d)
	return nil
}

// shaped returns a covariance as one of the components of m, the last, whose weight is 0: where those share a part of their
// covariances, with the part that the others have.
func (f *fit) shaped(m *Model, cov []float64) []float64 {
	fam, ok := f.mix.Family.(family.Decomposed)
	if !ok {
		return cov
	}
	all := &Model{Kind: m.Kind, Shape: m.Shape, Columns: m.Columns, Transform: m.Transform, Weights: m.Weights, Covariance: append(slices.Clone(m.Covariance), cov)}
	k, d, g := len(m.Weights), m.dims(), fam.Plain()
	own, err := all.ownScales(g)
	if err != nil { // of a model that was read none is
		return cov
	}
	weight := slices.Clone(m.Weights)
	for c := range weight {
		weight[c] *= 1e12 // Restrict counts no component for less than 1e-9, which may be a part of a huge volume
	}
	comp, near, q := make([]float64, fam.Params(k, d)), make([]float64, len(own)), make([]float64, g.Shape.Size(d))
	fam.Restrict(comp, own, weight, k, d)
	fam.Expand(near, comp, k, d)
	g.Covariance(q, g.ScaleOf(near, k-1, k, d), d)
	return unpack(g.Shape, q, d)
}

// ofShape is how far an entry of a covariance may be from the nearest covariances of its model's shape, in standard
// deviations of both columns.
const ofShape = 1e-6

// roundingOfShape, times the condition number of a correlation matrix, is how far rounding of its entries to float64 can take
// what it shares with others, its determinant above all: a multiple of the distance from 1 to the next number.
const roundingOfShape = 16 * 0x1p-52

// condition returns the condition number of the correlations of component c; 1 where there are none.
func (m *Model) condition(c int) float64 {
	d := m.dims()
	if !matrix(m.Shape) {
		return 1
	}
	corr := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			corr.SetSym(j, l, m.Covariance[c][j*d+l]/math.Sqrt(m.variance(c, j))/math.Sqrt(m.variance(c, l)))
		}
	}
	var factor mat.Cholesky
	if !factor.Factorize(corr) {
		return 1 / roundingOfShape // nothing is left of what it shares
	}
	return factor.Cond()
}

// checkDecomposed wants covariances that share what the shape says.
func (m *Model) checkDecomposed() error {
	k, d := m.K(), m.dims()
	fam := family.Decomposed{Shape: m.Shape, Var: make([]float64, d)}
	weight := make([]float64, k)
	for c := range k {
		weight[c] = 1
		for j := range d {
			if v := 1e-4 * m.variance(c, j); c == 0 || v < fam.Var[j] { // far below any floor that a fit has
				fam.Var[j] = v
			}
		}
	}
	g := fam.Plain()
	own, err := m.ownScales(g)
	if err != nil {
		return err
	}
	comp, near := make([]float64, fam.Params(k, d)), make([]float64, len(own))
	fam.Restrict(comp, own, weight, k, d)
	fam.Expand(near, comp, k, d)
	q := make([]float64, g.Shape.Size(d))
	slack := ofShape
	for c := range m.Covariance {
		slack = max(slack, roundingOfShape*m.condition(c))
	}
	for c, cov := range m.Covariance {
		g.Covariance(q, g.ScaleOf(near, c, k, d), d)
		for i, v := range unpack(g.Shape, q, d) {
			j, l := i, i
			if g.Shape.Matrix() {
				j, l = i/d, i%d
			}
			if unit := math.Sqrt(m.variance(c, j)) * math.Sqrt(m.variance(c, l)); !(math.Abs(cov[i]-v) <= slack*unit) {
				return fmt.Errorf("covariances: they are not %s (%s): number %d holds %v in row %d, column %d, where the nearest such have %v", m.Shape, m.Shape.Mclust(), c+1, cov[i], j+1, l+1, v)
			}
		}
	}
	return nil
}
