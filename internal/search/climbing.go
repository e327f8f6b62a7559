package search

import (
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/model"
)

// Model returns the model at the step, before its M-step, in the user's units and in the climb's own order of components: each keeps its
// place from step to step, and those of a given model have the places that they have there.
func (p Progress) Model() *model.Model {
	f := p.fit.wide(p.Point.Theta)
	if m, _, ok := f.unmoved(p.Point.Theta); ok {
		return f.UserModel(f.sized(m, p.Point))
	}
	return f.InOwnOrder(p.Point.Theta, p.Point)
}

// Bound reports whether the climb is one of the evidence lower bound of variational Bayes.
func (p Progress) Bound() bool { return p.fit != nil && p.fit.Mix.Bayes != nil }

// Next is Model after the M-step; nil where the step has no halves, or is the last.
func (p Progress) Next() *model.Model {
	if !p.InHalves() || p.Done != ascent.Going {
		return nil
	}
	return p.fit.wide(p.Point.Next).InOwnOrder(p.Point.Next, p.Point)
}

// wide returns the fit with as many components as theta holds: a climb of centres may add some, or have more for a while.
func (f *Fit) wide(theta []float64) *Fit {
	if f.Plan.Mixture() || len(theta) == f.Mix.Params() {
		return f
	}
	own := *f
	own.Mix = &mixture.Mixture{Family: f.Mix.Family, K: len(theta) / f.Mix.D, D: f.Mix.D, Uniform: f.Mix.Uniform}
	return &own
}

// InOwnOrder returns the model of theta, parameters of the step at p, in the user's units and in the climb's own order. Its numbers are to the last
// bit those of the model of a result.
func (f *Fit) InOwnOrder(theta []float64, p *ascent.Point) *model.Model {
	sizes := p.Weights
	if len(sizes) < f.Mix.K { // an M-step that adds centres
		sizes = make([]float64, f.Mix.K)
	}
	m, order := f.byWeight(theta, sizes)
	return f.UserModel(f.sized(m.Reordered(f.placesIn(order)), p))
}

// sized gives centres the weights of the rows that were theirs at p, and returns the model. An M-step that adds centres leaves them without.
func (f *Fit) sized(m *model.Model, p *ascent.Point) *model.Model {
	if !m.HasDensity() && len(p.Weights) == m.K() {
		m.Sizes = make([]float64, len(p.Weights))
		for c, w := range p.Weights {
			m.Sizes[c] = f.UserWeight(w)
		}
	}
	return m
}

// placesIn returns where each component of the climb's own order is in a model whose component c is order[c] of the parameters, or one of
// those that took no part, in their own order, where that is -1.
func (f *Fit) placesIn(order []int) []int {
	own := upTo(len(order)) // for each component of the climb's own order its index among the parameters
	if f.given != nil {
		own = f.given.at
	}
	at, absent := make([]int, len(own)), 0
	for c, i := range own {
		if i >= 0 {
			at[c] = slices.Index(order, i)
			continue
		}
		for ; order[absent] >= 0; absent++ {
		}
		at[c] = absent
		absent++
	}
	return at
}
