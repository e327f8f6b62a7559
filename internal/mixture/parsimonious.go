package mixture

import (
	"math"

	"github.com/latent-go/latent/internal/family"
)

// Gaussian returns the Gaussian family of the covariances, or the scales of t distributions, each by itself where components share a part of them, and its
// parameters that are the components comp. ok is false for another model, and where covariances of few factors are too wide to be written out.
func (m *Mixture) Gaussian(comp []float64) (g family.Gaussian, own []float64, ok bool) {
	switch fam := m.Family.(type) {
	case family.Gaussian:
		return fam, comp, true
	case family.Bayes:
		return fam.Gaussian, comp, true
	case family.Constrained:
		g, k, d := fam.Plain(), m.K, m.D
		own = make([]float64, g.Params(k, d))
		fam.Expand(own, comp, k, d)
		return g, own, true
	case family.Student:
		base := *m
		base.Family = fam.Base()
		return base.Gaussian(fam.Scales(comp, m.K))
	}
	return g, nil, false
}

// Start returns the Gaussian mixture that starts are made in, and its family: that of the fit, or where components
// share a part of their covariances the one in which they do not, and where wide covariances have few factors the one with variances alone. ok is false for another model.
func (m *Mixture) Start() (start *Mixture, g family.Gaussian, ok bool) {
	switch fam := m.Family.(type) {
	case family.Gaussian:
		return m, fam, true
	case family.Bayes:
		return m, fam.Gaussian, true
	case family.Constrained:
		own, g := *m, fam.Plain()
		g.Gaps = fam.Patterns()
		own.Family = g
		return &own, g, true
	case family.WideFactors:
		own, g := *m, family.Gaussian{Shape: family.Diag, Var: fam.Var}
		own.Family = g
		return &own, g, true
	case family.Student:
		base := *m
		if base.Family = fam.Base(); fam.Gaps != nil {
			base.Family = base.Family.(family.Incomplete).WithGaps(fam.Gaps)
		}
		return base.Start()
	}
	return nil, g, false
}

// Restrict turns parameters of the mixture Start into those of m; degrees of freedom are those that a fit begins at. weight is the sum of the row weights.
func (m *Mixture) Restrict(start []float64, weight float64) []float64 {
	if t, ok := m.Family.(family.Student); ok {
		base := *m
		base.Family = t.Base()
		theta := make([]float64, m.Params())
		copy(theta, base.Restrict(start, weight))
		t.SetDofs(m.Components(theta), nil, m.K)
		return theta
	}
	plain, _, ok := m.Start()
	if !ok || plain == m {
		return start
	}
	w := plain.LogWeights(nil, start)
	for c, lw := range w {
		w[c] = math.Exp(lw) * weight
	}
	theta := make([]float64, m.Params())
	copy(theta, start[:len(start)-len(plain.Components(start))])
	comp, from := m.Components(theta), plain.Components(start)
	switch fam := m.Family.(type) {
	case family.Constrained:
		fam.Restrict(comp, from, w, m.K, m.D)
	case family.WideFactors:
		fam.Restrict(comp, from, m.K, m.D)
	}
	return theta
}
