package search

import (
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// shaped returns the covariance cov of the last component of m, whose weight is 0, as a covariance of m's shape: where components share a
// part of their covariances, with that part of the others.
func (f *Fit) shaped(m *model.Model, cov []float64) []float64 {
	numbers, _ := f.Mix.Numbers()
	fam, ok := family.BaseOf(numbers.Family).(family.Parsimonious)
	if !ok {
		return cov
	}
	all := &kind.Parameters{Kind: kind.Gaussian, Shape: m.Shape, D: numbers.D, Weights: m.Weights, Means: m.Means}
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

// NaturalOf returns the natural parameters of a model, which share its memory.
func NaturalOf(m *model.Model) *kind.Parameters {
	p := &kind.Parameters{Kind: kind.Of(m.ComponentKind()), Shape: m.Shape, Levels: m.Levels, D: len(m.Variables()), Weights: m.Weights, Means: m.Means, Covariance: m.Covariance, Loadings: m.Loadings, Uniquenesses: m.Uniquenesses, Dof: m.Dof, Probabilities: m.Probabilities}
	if m.Noise != nil {
		p.NoiseWeight = m.Noise.Weight
	}
	if p.Kind.Parted {
		for _, part := range m.Parts() {
			p.Parts = append(p.Parts, kind.ParametersOf{Parameters: NaturalOf(part.Model), Columns: part.Columns})
		}
	}
	return p
}

// The weights that noise has where a climb starts: from 0 EM could not raise it.
const (
	startNoise = 0.1  // in a start that is drawn or given
	leastNoise = 0.01 // after a move, at least
)

// narrowStart is the share of the columns' variances that every other start with noise begins with. From the whole variances a component
// spreads over several groups and the noise gets little; from a tenth it settles on one of them, and the noise may get the rest.
const narrowStart = 0.1

// startVariances returns the variances that components begin with where they are put around centres.
func (f *Fit) startVariances(g family.Gaussian, rng *rand.Rand) []float64 {
	if f.Mix.Noise == nil || f.Mix.K > 1 || rng.IntN(2) == 0 {
		return g.Var
	}
	v := slices.Clone(g.Var)
	for j := range v {
		v[j] *= narrowStart
	}
	return v
}

// restrict turns parameters of the mixture that starts are made in, which ties no parts of covariances, into those of the fit. Noise, where
// there is any, gets the weight of a start.
func (f *Fit) restrict(start []float64) []float64 {
	theta := f.Mix.Restrict(start, f.Survey.W)
	f.Mix.SetNoise(theta, startNoise)
	return theta
}
