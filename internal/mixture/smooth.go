package mixture

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
)

// Smooth reports whether the mixture has the gradient and the metric that drivers other than EM need.
func (m *Mixture) Smooth() bool {
	_, ok := m.Family.(family.Smooth)
	return ok
}

// Grad sets g to the gradient of the free energy at theta in nats, from the sums s of a sweep with theta at any inverse
// temperature, and that of LogPrior: for the logits N_c - W pi_c (softmax), the noise's among them, those of a chain likewise with moves for rows,
// for the family its own. The family must be smooth.
func (m *Mixture) Grad(g, theta []float64, s *family.Stats) {
	m.Family.(family.Smooth).Grad(m.Components(g), m.Components(theta), s)
	switch {
	case m.Bayes != nil:
		if m.logits() > 0 {
			m.countMetric(theta).gradient(g, s.N)
		}
		return
	case m.Chain:
		m.chain().Grad(g[:m.logits()], theta[:m.logits()], m.chainStats(s, false))
	case m.logits() > 0:
		for c, lw := range m.LogWeights(nil, theta) {
			g[c] = s.N[c] - s.W*math.Exp(lw)
		}
	}
	if m.Noise != nil {
		g[m.K] = s.Noise - s.W*math.Exp(m.LogNoise(theta))
	}
	if m.Prior != nil {
		m.AddPriorGrad(g, theta)
	}
}

// Project moves theta inside the floors of the family, if it has any, and of the noise's weight.
func (m *Mixture) Project(theta []float64) {
	m.projectNoise(theta)
	if m.Chain {
		m.chain().Project(theta[:m.logits()], m.K+1, 1)
	}
	if f, ok := m.Family.(family.Smooth); ok {
		f.Project(m.Components(theta), m.K, m.D)
	}
}

// Held sets held[i] for the parameters that sit on a floor both at theta and after its M-step, next, and that the M-step does
// not move off it. It reports whether that moves any off.
func (m *Mixture) Held(held []bool, theta, next []float64) (leaves bool) {
	f, l := m.Family.(family.Smooth), m.logits()
	clear(held)
	leaves = m.heldNoise(held, theta, next)
	if m.Chain {
		leaves = heldBy(m.chain(), held[:l], theta[:l], next[:l], m.K+1, 1)
	}
	return heldBy(f, held[l:], m.Components(theta), m.Components(next), m.K, m.D) || leaves
}

// heldBy is Held of the parameters of a family.
func heldBy(f family.Smooth, held []bool, theta, next []float64, k, d int) (leaves bool) {
	f.Held(held, theta, k, d)
	if !slices.Contains(held, true) {
		return false
	}
	after := make([]bool, len(held))
	f.Held(after, next, k, d)
	for i, a := range after {
		held[i] = held[i] && a
	}
	e, ok := f.(family.Edged)
	return ok && e.Release(held, theta, next, k, d)
}

// Inside moves off 0 or 1 those probabilities of theta that are held near it, though that is no better than what lies beside it,
// and reports whether there are any. g is the gradient at theta with its held parameters, weights the weight of each
// component. It is false for families without probabilities.
func (m *Mixture) Inside(theta []float64, held []bool, g, weights []float64) bool {
	f, ok := m.Family.(family.Edged)
	l := m.logits()
	return ok && held != nil && f.Inside(m.Components(theta), held[l:], g[l:], weights, m.K, m.D)
}

// Edge returns the free energy, nats, that the held probabilities have still to gain on their way to 0 or 1, from the gradient g
// at theta and the M-step next: along the logit t of one the gradient falls as exp(-|t|), so that its integral is what it is at
// theta. It is 0 for families without probabilities.
func (m *Mixture) Edge(held []bool, g, theta, next []float64) float64 {
	sum := 0.0
	l := m.logits()
	edges := func(from, to int) {
		for i := l + from; i < l+to; i++ {
			if held[i] && next[i] != theta[i] {
				sum += math.Abs(g[i])
			}
		}
	}
	if m.Chain {
		edges(-l, 0)
	}
	switch f := m.Family.(type) {
	case family.Mixed:
		f.Edges(m.K, edges)
	case family.Edged:
		edges(0, len(g)-l)
	}
	return sum
}

// Geometry is the complete-data information of a mixture at Theta, whose sweep gave Stats. It implements
// ascent.Geometry.
type Geometry struct {
	Mixture *Mixture
	Theta   []float64
	Stats   *family.Stats

	counts *countMetric // with Mixture.Bayes; nil where it is to be made when it is needed
}

// Near returns the complete-data information at theta, whose sweep gave s. It is for one goroutine at a time.
func (m *Mixture) Near(theta []float64, s *family.Stats) Geometry {
	g := Geometry{Mixture: m, Theta: theta, Stats: s}
	if m.Bayes != nil {
		g.counts = m.countMetric(theta)
	}
	return g
}

// ofCounts returns the metric of the logits of a mixture with Bayes.
func (g Geometry) ofCounts() *countMetric {
	if g.counts != nil {
		return g.counts
	}
	return g.Mixture.countMetric(g.Theta)
}

// Precondition sets z to the inverse of the complete-data information times q. The information of the logits is that
// of a multinomial, N_c (delta - pi), whose inverse on moves that add to 0 is q_c / N_c less its mean.
func (g Geometry) Precondition(z, q []float64) { g.precondition(z, q, false) }

func (g Geometry) precondition(z, q []float64, framed bool) {
	m := g.Mixture
	g.preconditionComponents(z, q, framed)
	switch {
	case m.logits() == 0:
		return
	case m.Bayes != nil:
		g.ofCounts().precondition(z, q)
		return
	case m.Chain:
		m.chain().Precondition(z[:m.logits()], q[:m.logits()], g.Theta[:m.logits()], m.chainStats(g.Stats, true))
		return
	}
	mean, n := 0.0, m.logits()
	for c := range n {
		z[c] = q[c] / g.support(c)
		mean += z[c] / float64(n)
	}
	for c := range n {
		z[c] -= mean
	}
}

// Multiply sets q to the complete-data information times z. q and z must not overlap.
func (g Geometry) Multiply(q, z []float64) {
	m := g.Mixture
	g.multiplyComponents(q, z)
	switch {
	case m.Bayes != nil:
		g.ofCounts().multiply(q, z)
	case m.Chain:
		m.chain().Multiply(q[:m.logits()], z[:m.logits()], g.Theta[:m.logits()], m.chainStats(g.Stats, true))
	case m.logits() > 0:
		mean := g.meanLogit(z)
		for c := range m.logits() {
			q[c] = g.support(c) * (z[c] - mean)
		}
	}
}

// meanLogit returns the mean of the moves z of the logits by the weights of the components.
func (g Geometry) meanLogit(z []float64) float64 {
	total, mean := 0.0, 0.0
	for c := range g.Mixture.logits() {
		n := g.support(c)
		total += n
		mean += n * z[c]
	}
	return mean / total
}

// Length returns the length of the move z in the metric of the complete-data information.
func (g Geometry) Length(z []float64) float64 {
	m := g.Mixture
	sum := g.squaredLength(z)
	switch {
	case m.Bayes != nil:
		sum += g.ofCounts().square(z)
	case m.Chain:
		sum += m.chain().SquaredLength(z[:m.logits()], g.Theta[:m.logits()], m.chainStats(g.Stats, true))
	case m.logits() > 0:
		mean := g.meanLogit(z)
		for c := range m.logits() {
			n := g.support(c)
			sum += n * (z[c] - mean) * (z[c] - mean)
		}
	}
	return math.Sqrt(sum)
}

// Reach returns how far the move z goes in units of the longest step a driver may try.
func (g Geometry) Reach(z []float64) float64 {
	m := g.Mixture
	far := m.Family.(family.Smooth).Reach(m.Components(z), m.Components(g.Theta), m.K, m.D)
	for _, v := range z[:m.logits()] {
		far = max(far, math.Abs(v)/3)
	}
	return far
}

// same is how near two components are taken for one, in standard deviations of a row.
const same = 0.1

// Nudge adds small random moves to all components.
func (g Geometry) Nudge(theta []float64, normal func() float64) {
	m := g.Mixture
	m.Family.(family.Smooth).Nudge(m.Components(theta), m.K, m.D, normal)
}

// Part adds small random moves to components that have become the same as others and leaves the rest; false where there
// are none.
func (g Geometry) Part(theta []float64, normal func() float64) bool {
	m, fam := g.Mixture, g.Mixture.Family.(family.Smooth)
	comp := m.Components(theta)
	before, twin, some := slices.Clone(comp), make([]bool, m.K), false
	for a := range m.K {
		for b := range a {
			if fam.Apart(comp, a, b, m.K, m.D) < same {
				twin[a], some = true, true
			}
		}
	}
	if !some {
		return false
	}
	fam.Nudge(comp, m.K, m.D, normal)
	for c, t := range twin {
		if !t {
			fam.Place(c, m.K, m.D, func(from, to int) { copy(comp[from:to], before[from:to]) })
		}
	}
	return true
}
