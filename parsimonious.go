package latent

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/model"
)

// gaussian returns the Gaussian family of the covariances, each by itself where components share a part of them, and its
// parameters that are the components comp. ok is false for another model.
func (f *fit) gaussian(comp []float64) (g family.Gaussian, own []float64, ok bool) {
	switch fam := f.mix.Family.(type) {
	case family.Gaussian:
		return fam, comp, true
	case family.Parsimonious:
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
	case family.Parsimonious:
		m := *f.mix
		m.Family = fam.Plain()
		return &m, fam.Plain(), true
	}
	return nil, g, false
}

// restrict turns parameters of the mixture that starts are made in into those of the fit.
func (f *fit) restrict(start []float64) []float64 {
	fam, ok := f.mix.Family.(family.Parsimonious)
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

// shaped returns a covariance as one of the components of m, the last, whose weight is 0: where those share a part of their
// covariances, with the part that the others have.
func (f *fit) shaped(m *model.Model, cov []float64) []float64 {
	fam, ok := f.mix.Family.(family.Parsimonious)
	if !ok {
		return cov
	}
	all := naturalOf(m)
	all.Covariance = append(slices.Clone(m.Covariance), cov)
	k, d, g := len(m.Weights), all.D, fam.Plain()
	own, err := all.Scales(g)
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
	return kind.Unpack(g.Shape, q, d)
}

// naturalOf returns the natural parameters of a model. They share memory.
func naturalOf(m *model.Model) *kind.Parameters {
	return &kind.Parameters{Kind: kind.Of(m.Kind), Shape: m.Shape, Levels: m.Levels, D: len(m.Variables()), Weights: m.Weights, Means: m.Means, Covariance: m.Covariance, Probabilities: m.Probabilities}
}
