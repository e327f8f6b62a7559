package familytest

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/internal/mixture"
)

// PriorMaker returns a prior of k components of a family on columns with variances v.
type PriorMaker func(v []float64, k int) *mixture.Prior

// PriorLaws runs the laws of a climb on the log posterior, on rows drawn by rows. steps says that a small step of EM is the gradient in its
// metric, a law of SmoothLaws and not of CurvedLaws. Each law is tried on a few samples.
func PriorLaws(t *testing.T, newFamily Maker, newPrior PriorMaker, rows Rows, steps bool) {
	const samples = 8
	u := Case{New: newFamily, Rows: rows}.suite()
	type priorLaw struct {
		name string
		try  func(t *rapid.T, s *sample, m *mixture.Mixture) (tried bool)
	}
	laws := []priorLaw{
		{"no half-step lowers the log posterior", posteriorAscends},
		{"the M-step is the maximiser", posteriorMaximised},
		{"gradients match differences", posteriorDifferentiated},
		{"the inverse of the metric undoes it", metricInverts},
		{"a row of weight 2 is the row twice", posteriorRepeats},
	}
	if steps {
		laws = append(laws, priorLaw{"a small step of EM is the gradient in its metric", stepIsPreconditioned})
	}
	for _, law := range laws {
		t.Run(law.name, func(t *testing.T) {
			t.Parallel()
			tried := 0
			for rounds := 0; tried < samples && rounds < 3; rounds++ {
				rapid.Check(t, func(t *rapid.T) {
					if tried == samples {
						return
					}
					s := u.draw(t)
					m := s.mixture(newFamily)
					m.Prior = newPrior(s.v, s.k)
					if law.try(t, s, m) {
						tried++
					}
				})
			}
			if tried < samples {
				t.Errorf("only %d samples fit the law", tried)
			}
		})
	}
}

// posterior returns F + log prior at theta.
func (s *sample) posterior(m *mixture.Mixture, theta []float64, beta float64) float64 {
	return s.sweep(m, theta, beta).F + m.LogPrior(theta)
}

func posteriorAscends(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	for _, beta := range []float64{0.5, 1, math.Inf(1)} {
		theta, last := s.start(m), math.Inf(-1)
		for range 12 {
			st := s.sweep(m, theta, beta)
			after := st.F + m.LogPrior(theta)
			slack := 1e-10 * (1 + math.Abs(after))
			if after < last-slack {
				t.Fatalf("the E-step at beta %v leads from %v to %v", beta, last, after)
			}
			next := make([]float64, len(theta))
			m.MStep(next, theta, st)
			last = m.FreeEnergy(next, theta, beta, st) + m.LogPrior(next)
			if last < after-slack {
				t.Fatalf("the M-step at beta %v leads from %v to %v", beta, after, last)
			}
			theta = next
		}
	}
	return true
}

// posteriorMaximised tries moves of all sizes from where the M-step leads.
func posteriorMaximised(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	rng, theta := generator(t), s.start(m)
	st := s.sweep(m, theta, 1)
	next := make([]float64, len(theta))
	m.MStep(next, theta, st)
	f := func(next []float64) float64 { return m.FreeEnergy(next, theta, 1, st) + m.LogPrior(next) }
	top := f(next)
	for _, h := range []float64{1e-4, 1e-3, 1e-2, 0.1, 0.5} {
		if v := f(along(next, h, s.move(m, rng))); v > top+1e-9*(1+math.Abs(top)) {
			t.Fatalf("a move of %v leads from %v to %v", h, top, v)
		}
	}
	return true
}

func posteriorDifferentiated(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	theta, rng := s.start(m), generator(t)
	g, prior := make([]float64, len(theta)), make([]float64, len(theta))
	for _, beta := range []float64{0.5, 1} {
		m.Grad(g, theta, s.sweep(m, theta, beta))
		clear(prior)
		m.AddPriorGrad(prior, theta)
		size := 1.0
		for _, v := range slices.Concat(g, prior) {
			size = max(size, math.Abs(v))
		}
		for _, i := range rng.Perm(len(theta))[:min(6, len(theta))] {
			near(t, "gradient of the log prior", prior[i], slope(theta, i, m.LogPrior), 1e-6*size)
			near(t, "gradient of the log posterior", g[i], slope(theta, i, func(theta []float64) float64 { return s.posterior(m, theta, beta) }), 1e-6*size)
		}
	}
	return true
}

func posteriorRepeats(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	theta := s.start(m)
	twice := *s
	twice.n, twice.x, twice.w = 0, nil, nil
	for i, w := range s.w {
		row := s.x[i*s.d : i*s.d+s.d]
		twice.n, twice.x, twice.w = twice.n+2, append(append(twice.x, row...), row...), append(twice.w, w/2, w/2)
	}
	a, b := make([]float64, len(theta)), make([]float64, len(theta))
	m.MStep(a, theta, s.sweep(m, theta, 1))
	m.MStep(b, theta, twice.sweep(m, theta, 1))
	nearAll(t, "step of rows that are there twice", b, a, 1e-9)
	return true
}
