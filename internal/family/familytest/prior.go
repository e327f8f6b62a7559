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

// PriorLaws runs the laws of a climb on the log posterior, on rows drawn by rows. steps tells that a small step of EM is the gradient in its
// metric, as SmoothLaws has it and CurvedLaws has not. Each law is tried on a few samples.
func PriorLaws(t *testing.T, newFamily Maker, newPrior PriorMaker, rows Rows, steps bool) {
	const samples = 8
	u := suite{newFamily, rows, 1}
	for _, law := range []struct {
		name string
		try  func(t *rapid.T, s *sample, m *mixture.Mixture) (tried bool)
	}{
		{"no half-step lowers the log posterior", posteriorAscends},
		{"the M-step is the maximiser", posteriorMaximised},
		{"gradients match differences", posteriorDifferentiated},
		{"the metric and its inverse agree", posteriorInverted},
		{"a small step of EM is the gradient in its metric", posteriorStep},
		{"a row of weight 2 is the row twice", posteriorRepeats},
	} {
		if law.name == "a small step of EM is the gradient in its metric" && !steps {
			continue
		}
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
	const h = 1e-3
	theta, rng := s.start(m), generator(t)
	g, prior, step := make([]float64, len(theta)), make([]float64, len(theta)), make([]float64, len(theta))
	for _, beta := range []float64{0.5, 1} {
		m.Grad(g, theta, s.sweep(m, theta, beta))
		clear(prior)
		m.AddPriorGrad(prior, theta)
		size := 1.0
		for _, v := range slices.Concat(g, prior) {
			size = max(size, math.Abs(v))
		}
		for _, i := range rng.Perm(len(theta))[:min(6, len(theta))] {
			clear(step)
			step[i] = 1
			slope := func(f func(theta []float64) float64) float64 { // of order h^4
				near, far := f(along(theta, h, step))-f(along(theta, -h, step)), f(along(theta, 2*h, step))-f(along(theta, -2*h, step))
				return (8*near - far) / (12 * h)
			}
			near(t, "gradient of the log prior", prior[i], slope(m.LogPrior), 1e-6*size)
			near(t, "gradient of the log posterior", g[i], slope(func(theta []float64) float64 { return s.posterior(m, theta, beta) }), 1e-6*size)
		}
	}
	return true
}

func posteriorInverted(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	theta := s.start(m)
	geo, rng := s.geometry(m, theta, s.sweep(m, theta, 1)), generator(t)
	a, b := s.move(m, rng), s.move(m, rng)
	za, zb := make([]float64, len(a)), slices.Clone(b)
	geo.Precondition(za, a)
	geo.Precondition(zb, zb)
	square := dot(a, za)
	if !(square > 0) {
		t.Fatalf("q' I^-1 q = %v", square)
	}
	near(t, "z' I z", math.Pow(geo.Length(za), 2), square, 1e-10*square)
	near(t, "b' I^-1 a", dot(b, za), dot(a, zb), 1e-10*math.Sqrt(square*dot(b, zb)))
	return true
}

// posteriorStep compares a step of EM near its end with the gradient in the metric, as stepsAsEM does.
func posteriorStep(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	theta := s.start(m)
	for range 60 {
		m.MStep(theta, theta, s.sweep(m, theta, 1))
	}
	theta = along(theta, 1e-5, s.move(m, generator(t)))
	st := s.sweep(m, theta, 1)
	next, z, held := make([]float64, len(theta)), make([]float64, len(theta)), make([]bool, len(theta))
	m.MStep(next, theta, st)
	geo := s.geometry(m, theta, st)
	m.Grad(z, theta, st)
	geo.Precondition(z, z)
	m.Held(held, theta, next)
	step := along(next, -1, theta)
	length := geo.Length(step)
	size := geo.Reach(step) + length/math.Sqrt(slices.Min(st.N))
	if few(st) || size > 0.01 || slices.Contains(held, true) {
		return false
	}
	if off := geo.Length(along(z, -1, step)); !(off <= 10*size*length+1e-12*math.Sqrt(st.W)) {
		t.Fatalf("I^-1 g is %v off the step of EM, which is %v long and of size %v", off, length, size)
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
