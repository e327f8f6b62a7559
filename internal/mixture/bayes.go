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

// ExpectedDirichlet returns the expected logarithms of k weights with a Dirichlet distribution of these k parameters, all above 0:
// psi(a_c) - psi(sum a) (Bishop 2006, eq. 10.66).
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

// ExpectedSticks returns the expected logarithms of k weights of a stick that is broken by shares with beta distributions of these k pairs of
// parameters, all above 0: what a component takes of the rest, and what it leaves (Blei and Jordan 2006).
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

// offsets returns what is added to the kernel's scores where q counts n rows of each component: the expected logarithm of its weight, and what the
// expected log density is above the log density by the expected precision. divergence is that of q from the prior as far as it depends on
// n alone.
func (m *Mixture) offsets(n []float64) (offset []float64, divergence float64) {
	offset = make([]float64, m.K)
	divergence = m.Family.(family.Bayesian).Counts(offset, nil, n, m.D)
	logs, weights := m.Bayes.Logs(n)
	for c, v := range logs {
		offset[c] += v
	}
	return offset, divergence + weights
}

// divergence returns the Kullback-Leibler divergence of q at theta from the prior, nats.
func (m *Mixture) divergence(theta []float64) float64 {
	_, ofCounts := m.offsets(m.Counts(theta))
	return ofCounts + m.Family.(family.Bayesian).Divergence(m.Components(theta), m.K, m.D)
}

// Objective returns what is climbed, nats, from the sums s of a sweep with theta: the free energy, and with Bayes the evidence lower bound.
func (m *Mixture) Objective(theta []float64, s *family.Stats) float64 {
	if m.Bayes == nil {
		return s.F
	}
	return s.F - m.divergence(theta)
}

// boundAfterStep is FreeEnergy with Bayes: the bound after an M-step.
func (m *Mixture) boundAfterStep(next, theta []float64, s *family.Stats) float64 {
	offset, _ := m.offsets(m.Counts(next))
	f := m.Family.Expected(m.Components(next), m.Components(theta), s) + s.Entropy - m.divergence(next)
	for c, v := range offset {
		f += s.N[c] * v
	}
	return f
}

// countMetric is the metric of the logits of theta, which stand for counts of rows.
type countMetric struct {
	counts []float64
	mass   []float64 // of each component, n_c + h: a move of the logits times it is one of the counts
	share  []float64 // of all masses
	metric *mat.SymDense
	factor *mat.Cholesky // of metric; nil before it is needed
}

// leastMass is the share of h that a component counts for in the metric of the logits at least: no M-step leads below h.
const leastMass = 1e-9

// countMetric returns the metric of the logits at theta: minus the second derivatives of the bound in the counts, responsibilities held fixed where
// they add up to these, up to a constant that is the same in all places, since the sum of the counts does not change.
func (m *Mixture) countMetric(theta []float64) *countMetric {
	n, h, k := m.Counts(theta), m.shift(), m.K
	c := &countMetric{counts: n, mass: make([]float64, k), share: make([]float64, k), metric: mat.NewSymDense(k, nil)}
	total := m.Bayes.Rows + float64(k)*h
	for i, v := range n {
		c.mass[i] = max(v+h, leastMass*h)
		c.share[i] = c.mass[i] / total
	}
	information := make([]float64, k)
	m.Family.(family.Bayesian).Counts(make([]float64, k), information, n, m.D)
	if !m.Bayes.Process {
		for i, v := range n {
			c.metric.SetSym(i, i, information[i]+family.Trigamma(m.Bayes.Concentration+v))
		}
		return c
	}
	before := 0.0
	for i, s := range m.Bayes.Sticks(n) {
		before -= family.Trigamma(s[0] + s[1])
		for j := i; j < k; j++ {
			c.metric.SetSym(i, j, before)
		}
		c.metric.SetSym(i, i, before+family.Trigamma(s[0])+information[i])
		before += family.Trigamma(s[1])
	}
	return c
}

// gradient sets g to the gradient of the bound in the logits, where responsibilities add up to sums. In the counts it is their metric times
// what sums are above them.
func (c *countMetric) gradient(g, sums []float64) {
	k := len(c.counts)
	off, slope := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	for i, v := range c.counts {
		off.SetVec(i, sums[i]-v)
	}
	slope.MulVec(c.metric, off)
	mean := 0.0
	for i, p := range c.share {
		mean += p * slope.AtVec(i)
	}
	for i, v := range c.mass {
		g[i] = v * (slope.AtVec(i) - mean)
	}
}

// precondition sets z to the inverse of the metric times q. Counts move by what has the sum 0.
func (c *countMetric) precondition(z, q []float64) {
	k := len(c.counts)
	right, ones := mat.NewVecDense(k, nil), mat.NewVecDense(k, nil)
	for i, v := range c.mass {
		right.SetVec(i, q[i]/v)
		ones.SetVec(i, 1)
	}
	if c.factor == nil {
		c.factor = new(mat.Cholesky)
		c.factor.Factorize(c.metric)
	}
	var move, flat mat.VecDense
	_ = c.factor.SolveVecTo(&move, right) // a warning of large conditions only
	_ = c.factor.SolveVecTo(&flat, ones)
	share := mat.Sum(&move) / mat.Sum(&flat)
	mean := 0.0
	for i, v := range c.mass {
		z[i] = (move.AtVec(i) - share*flat.AtVec(i)) / v
		mean += z[i] / float64(k)
	}
	for i := range z[:k] {
		z[i] -= mean
	}
}

// multiply sets q to the metric times a move z of the logits.
func (c *countMetric) multiply(q, z []float64) {
	mean := 0.0
	for i, p := range c.share {
		mean += p * z[i]
	}
	move, slope := mat.NewVecDense(len(c.counts), nil), mat.NewVecDense(len(c.counts), nil)
	for i, v := range c.mass {
		move.SetVec(i, v*(z[i]-mean))
	}
	slope.MulVec(c.metric, move)
	sum := 0.0
	for i, v := range c.mass {
		q[i] = v * slope.AtVec(i)
		sum += q[i]
	}
	for i, p := range c.share {
		q[i] -= p * sum
	}
}

// square returns the squared length of a move z of the logits.
func (c *countMetric) square(z []float64) float64 {
	mean := 0.0
	for i, p := range c.share {
		mean += p * z[i]
	}
	move := mat.NewVecDense(len(c.counts), nil)
	for i, v := range c.mass {
		move.SetVec(i, v*(z[i]-mean))
	}
	return mat.Inner(move, c.metric, move)
}
