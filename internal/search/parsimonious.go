package search

import (
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
	p := &kind.Parameters{Kind: kind.Of(m.Kind), Shape: m.Shape, Levels: m.Levels, D: len(m.Variables()), Weights: m.Weights, Means: m.Means, Covariance: m.Covariance, Dof: m.Dof, Probabilities: m.Probabilities}
	if p.Kind.Parted {
		for _, part := range m.Parts() {
			p.Parts = append(p.Parts, kind.ParametersOf{Parameters: NaturalOf(part.Model), Columns: part.Columns})
		}
	}
	return p
}

// restrict turns parameters of the mixture that starts are made in, which ties no parts of covariances, into those of the fit.
func (f *Fit) restrict(start []float64) []float64 { return f.Mix.Restrict(start, f.Survey.W) }
