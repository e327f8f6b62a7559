package familytest

import (
	"math"
	"slices"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// The gradients of the rows' own log densities, which standard errors are made of, add up to that of the log-likelihood.
func rowGradientsAddUp(t *rapid.T, u suite) bool {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	st := s.sweep(m, theta, 1)
	if few(st) {
		return false
	}
	b, sc := m.Bind(theta, 1), mixture.NewScratch(s.k, s.d)
	if !b.HasRowGrad() {
		t.Fatal("the kernel is no GradKernel: a fit would have no standard errors")
	}
	want, got := make([]float64, len(theta)), make([]float64, len(theta))
	m.Grad(want, theta, st)
	rows, size := make([]float64, len(theta)*kern.Rows), 0.0
	s.panels(0, s.n, func(p *family.Panel, _ int) {
		m.RowGrad(rows, b, p, sc)
		for j := range got {
			for i, w := range p.W[:p.N] {
				got[j] += w * rows[j*kern.Rows+i]
				size = max(size, math.Abs(w*rows[j*kern.Rows+i]))
			}
		}
	})
	for j := range got {
		near(t, "sum of the rows' gradients", got[j], want[j], 1e-10*size*float64(s.n))
	}
	return true
}

// Natural parameters give the family's own parameters back, which give the same natural ones. A family whose components are told by
// means has none.
func naturalsReturn(t *rapid.T, u suite) bool {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	fam, ok := m.Family.(family.Natural)
	if !ok {
		return true
	}
	comp := m.Components(s.start(m))
	told := fam.Natural(nil, comp, s.k)
	back := make([]float64, len(comp))
	fam.FromNatural(back, told, s.k)
	for i, v := range fam.Natural(nil, back, s.k) {
		near(t, "natural parameter", v, told[i], 1e-12*math.Abs(told[i]))
	}
	return true
}

// A component is no way apart from itself, and some way from one that scores rows otherwise.
func liesApart(t *rapid.T, u suite) bool {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	fam, comp, scores := m.Family.(family.Smooth), m.Components(theta), s.scores(m, theta)
	for a := range s.k {
		for b := range s.k {
			switch far := fam.Apart(comp, a, b, s.k, s.d); {
			case a == b && far != 0:
				t.Fatalf("component %d is %v apart from itself", a, far)
			case a != b && scores[a] != scores[b] && !(far > 0):
				t.Fatalf("components %d and %d score row 0 %v and %v, and are %v apart", a, b, scores[a], scores[b], far)
			}
		}
	}
	return s.k > 1
}

// A parameter that is moved to the floors is held there: of two ways that lead out, one at least leads to a floor.
func floorsHold(t *rapid.T, u suite) (moved bool) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	logits := len(theta) - len(m.Components(theta))
	for i := logits; i < len(theta); i++ {
		out, held := false, false
		for _, far := range []float64{-60, 60} {
			there := slices.Clone(theta)
			there[i] += far
			if m.Project(there); there[i] == theta[i]+far {
				continue
			}
			out = true
			at := make([]bool, len(theta))
			m.Held(at, there, there)
			held = held || slices.Contains(at, true)
		}
		if out && !held {
			t.Fatalf("parameter %d of %v is moved inside, and nothing is held there", i, theta)
		}
		moved = moved || out
	}
	return moved
}
