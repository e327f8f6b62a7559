package mixture

import (
	"math"

	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/mathext"

	"github.com/latent-go/latent/internal/family"
)

// Bayes makes theta stand for a distribution q of the weights and of the parameters of a mixture under a prior: variational Bayes. The family
// must be family.Bayesian. The free energy that is climbed is then the evidence lower bound,
//
//	sum_i w_i log sum_c exp(E log pi_c + E log p_c(x_i)) - KL(q || prior)
//
// after an E-step, every constant in it. All of q follows from how many rows each component counts and from what the family's theta
// holds: the natural parameters of q are those of the prior plus sums over rows, so that the M-step is one of pseudo-rows, and its step is
// that of the natural gradient (Hoffman, Blei, Wang and Paisley 2013).
//
// The k logits of theta are log(n_c + h) up to a constant, n_c the rows that component c counts, which add up to Rows. The number h makes every
// vector a valid q, and keeps a component of no rows at an ordinary place.
type Bayes struct {
	// Concentration is the parameter of the prior of the weights, above 0: of each component in a symmetric Dirichlet distribution.
	Concentration float64
	// Process takes a truncated stick-breaking prior in place of it (Blei and Jordan 2006): component c takes of what those before it
	// have left a share that is Beta(1, Concentration), the last one too.
	Process bool
	Rows    float64 // sum of the row weights
}

// shift returns h: less than h below 0 no count of theta falls.
func (m *Mixture) shift() float64 {
	h := min(m.Bayes.Concentration, m.Family.(family.Bayesian).LeastCount(m.D))
	if m.Bayes.Process { // what is left of a stick counts all components after it
		return min(h/float64(m.K), 1)
	}
	return h
}

// Counts returns how many rows each component of q counts at theta. The mixture must have Bayes.
func (m *Mixture) Counts(theta []float64) []float64 {
	n, h := m.LogWeights(nil, theta), m.shift()
	total := m.Bayes.Rows + float64(m.K)*h
	for c, lw := range n {
		n[c] = total*math.Exp(lw) - h
	}
	return n
}

// ofCounts returns the logit of a component that counts n rows of so many.
func (m *Mixture) ofCounts(n, rows float64) float64 {
	h := m.shift()
	return math.Log((max(n, 0) + h) / (rows + float64(m.K)*h))
}

// Logs returns E log pi_c for weights whose q counts n rows of each component, and the divergence of q from their prior, in nats.
func (b *Bayes) Logs(n []float64) (logs []float64, divergence float64) {
	a0 := b.Concentration
	if b.Process {
		sticks := b.Sticks(n)
		logs = ExpectedSticks(sticks)
		for c, s := range sticks {
			taken, left := s[0], s[1]
			whole := mathext.Digamma(taken + left)
			divergence += logGamma(taken+left) - logGamma(taken) - logGamma(left) - math.Log(a0)
			divergence += n[c]*(mathext.Digamma(taken)-whole) + (left-a0)*(mathext.Digamma(left)-whole)
		}
		return logs, divergence
	}
	concentration, sum := make([]float64, len(n)), 0.0
	for c, v := range n {
		concentration[c] = a0 + v
		sum += a0 + v
	}
	k := float64(len(n))
	divergence = logGamma(sum) - logGamma(k*a0) + k*logGamma(a0)
	logs = ExpectedDirichlet(concentration)
	for c, v := range n {
		divergence += v*logs[c] - logGamma(a0+v)
	}
	return logs, divergence
}

// ExpectedDirichlet returns the expected logarithms of weights with a Dirichlet distribution of these parameters.
func ExpectedDirichlet(concentration []float64) []float64 {
	logs, sum := make([]float64, len(concentration)), 0.0
	for _, a := range concentration {
		sum += a
	}
	for c, a := range concentration {
		logs[c] = mathext.Digamma(a) - mathext.Digamma(sum)
	}
	return logs
}

// ExpectedSticks returns the expected logarithms of weights of a stick that is broken by shares with beta distributions of these parameters: what
// a component takes of the rest, and what it leaves.
func ExpectedSticks(sticks [][2]float64) []float64 {
	logs, before := make([]float64, len(sticks)), 0.0
	for c, s := range sticks {
		whole := mathext.Digamma(s[0] + s[1])
		logs[c] = mathext.Digamma(s[0]) - whole + before
		before += mathext.Digamma(s[1]) - whole
	}
	return logs
}

// Sticks returns the two parameters of the beta distribution of each share of a stick, for weights whose q counts n rows of each component:
// what the component takes and what it leaves.
func (b *Bayes) Sticks(n []float64) [][2]float64 {
	sticks, after := make([][2]float64, len(n)), 0.0
	for c := len(n) - 1; c >= 0; c-- {
		sticks[c] = [2]float64{1 + n[c], b.Concentration + after}
		after += n[c]
	}
	return sticks
}

// logGamma returns log Gamma(x).
func logGamma(x float64) float64 {
	v, _ := math.Lgamma(x)
	return v
}

// expectation is what q says at theta beside what the family's kernel knows.
type expectation struct {
	counts      []float64
	offset      []float64 // of the expected log density of a row with its weight above the kernel's score
	information []float64 // of the counts, from the family
	divergence  float64   // of q from the prior
}

// expect returns the expectation at theta.
func (m *Mixture) expect(theta []float64) expectation {
	f, n := m.Family.(family.Bayesian), m.Counts(theta)
	e := expectation{counts: n, offset: make([]float64, m.K), information: make([]float64, m.K)}
	e.divergence = f.Counts(e.offset, e.information, n, m.D) + f.Divergence(m.Components(theta), m.K, m.D)
	logs, weights := m.Bayes.Logs(n)
	e.divergence += weights
	for c, v := range logs {
		e.offset[c] += v
	}
	return e
}

// Offsets returns what is added to the kernel's scores: the expected logarithm of each weight, and what the expected log density is above
// the log density by the expected precision.
func (m *Mixture) Offsets(theta []float64) []float64 { return m.expect(theta).offset }

// Objective returns what is climbed, nats, from the sums s of a sweep with theta: the free energy, and with Bayes the evidence lower bound.
func (m *Mixture) Objective(theta []float64, s *family.Stats) float64 {
	if m.Bayes == nil {
		return s.F
	}
	return s.F - m.expect(theta).divergence
}

// lifted is FreeEnergy with Bayes: the bound after an M-step.
func (m *Mixture) lifted(next, theta []float64, s *family.Stats) float64 {
	e := m.expect(next)
	f := m.Family.Expected(m.Components(next), m.Components(theta), s) + s.Entropy - e.divergence
	for c, v := range e.offset {
		f += s.N[c] * v
	}
	return f
}

// metricOfCounts returns minus the second derivatives of the bound in the counts n, responsibilities held fixed where they add up to n,
// up to a constant that is the same in all places: counts have a sum that does not change. information is the family's part.
func (b *Bayes) metricOfCounts(n, information []float64) *mat.SymDense {
	k := len(n)
	metric := mat.NewSymDense(k, nil)
	if !b.Process {
		for c, v := range n {
			metric.SetSym(c, c, information[c]+trigamma(b.Concentration+v))
		}
		return metric
	}
	before := 0.0
	for c, s := range b.Sticks(n) {
		before -= trigamma(s[0] + s[1])
		for j := c; j < k; j++ {
			metric.SetSym(c, j, before)
		}
		metric.SetSym(c, c, before+trigamma(s[0])+information[c])
		before += trigamma(s[1])
	}
	return metric
}

// trigamma returns the second derivative of log Gamma(x).
func trigamma(x float64) float64 { return mathext.Zeta(2, x) }

// masses returns n_c + h, by which a move of the logits becomes one of the counts, and their shares.
func (m *Mixture) masses(n []float64) (mass, share []float64) {
	h := m.shift()
	mass, share = make([]float64, m.K), make([]float64, m.K)
	total := m.Bayes.Rows + float64(m.K)*h
	for c, v := range n {
		mass[c] = max(v+h, leastMass*h)
		share[c] = mass[c] / total
	}
	return mass, share
}

// leastMass is the share of h that a component counts for in the metric of the logits at least: no M-step leads below h.
const leastMass = 1e-9

// gradOfLogits sets g to the gradient of the bound in the logits. That in the counts is their metric times what the responsibilities add up
// to less the counts.
func (m *Mixture) gradOfLogits(g, theta []float64, s *family.Stats) {
	e := m.expect(theta)
	metric := m.Bayes.metricOfCounts(e.counts, e.information)
	off, slope := mat.NewVecDense(m.K, nil), mat.NewVecDense(m.K, nil)
	for c, v := range e.counts {
		off.SetVec(c, s.N[c]-v)
	}
	slope.MulVec(metric, off)
	mass, share := m.masses(e.counts)
	mean := 0.0
	for c, p := range share {
		mean += p * slope.AtVec(c)
	}
	for c, v := range mass {
		g[c] = v * (slope.AtVec(c) - mean)
	}
}

// preconditionLogits sets z to the inverse of the information of the logits at theta times q. A move of the counts has the sum 0.
func (m *Mixture) preconditionLogits(z, q, theta []float64) {
	e := m.expect(theta)
	metric := m.Bayes.metricOfCounts(e.counts, e.information)
	mass, _ := m.masses(e.counts)
	right, ones := mat.NewVecDense(m.K, nil), mat.NewVecDense(m.K, nil)
	for c, v := range mass {
		right.SetVec(c, q[c]/v)
		ones.SetVec(c, 1)
	}
	var factor mat.Cholesky
	var move, flat mat.VecDense
	factor.Factorize(metric)
	_ = factor.SolveVecTo(&move, right) // a warning of large conditions only
	_ = factor.SolveVecTo(&flat, ones)
	share := mat.Sum(&move) / mat.Sum(&flat)
	mean := 0.0
	for c, v := range mass {
		z[c] = (move.AtVec(c) - share*flat.AtVec(c)) / v
		mean += z[c] / float64(m.K)
	}
	for c := range m.K {
		z[c] -= mean
	}
}

// squaredLogits returns the squared length of a move z of the logits at theta.
func (m *Mixture) squaredLogits(z, theta []float64) float64 {
	e := m.expect(theta)
	mass, share := m.masses(e.counts)
	mean := 0.0
	for c, p := range share {
		mean += p * z[c]
	}
	move := mat.NewVecDense(m.K, nil)
	for c, v := range mass {
		move.SetVec(c, v*(z[c]-mean))
	}
	return mat.Inner(move, m.Bayes.metricOfCounts(e.counts, e.information), move)
}
