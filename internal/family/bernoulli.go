package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// MinProbability is the floor under the probabilities of Bernoulli and Categorical: a bit is 1 with probability at least
// this and at most 1 less this. Without it a cell that no row of a component has would make every such row impossible
// there for good, and its logit infinite. It costs a cell that is certain at most 1e-12 nats a row.
const MinProbability = 1e-12

// heldProbability is where a logit counts as held. At an optimum on the edge p goes to 0 and its logit to minus
// infinity: the likelihood has no curvature left there, the quadratic picture of drivers and certificate fails, and
// only EM's own step, which multiplies p by a ratio, is to be trusted.
const heldProbability = 1e-6

var (
	maxLogit  = math.Log1p(-MinProbability) - math.Log(MinProbability)
	heldLogit = math.Log1p(-heldProbability) - math.Log(heldProbability)
)

// Bernoulli is the family of independent bits (Bishop 2006, section 9.3.3; latent class analysis of yes and no answers).
// Cells are 0 or 1 and must be read relative to the origin 0.
//
// theta is k x d logits log p/(1-p), p the probability that column j is 1 in component c, each within the logits of
// MinProbability. Sums are k x d: sum w r x, the weight of the ones. With Gaps they are k x d pairs: the weight of the ones and that
// of the zeros.
type Bernoulli struct {
	Gaps *Gaps // what cells are missing; nil for complete rows
}

// WithGaps implements Incomplete.
func (Bernoulli) WithGaps(g *Gaps) Family { return Bernoulli{g} }

// Patterns implements Incomplete.
func (f Bernoulli) Patterns() *Gaps { return f.Gaps }

// Name returns "bernoulli".
func (Bernoulli) Name() string { return "bernoulli" }

// Params returns k*d.
func (Bernoulli) Params(k, d int) int { return k * d }

// Sums returns k*d, and twice that with gaps.
func (f Bernoulli) Sums(k, d int) int {
	if f.Gaps != nil {
		return 2 * k * d
	}
	return k * d
}

// Free returns k*d.
func (Bernoulli) Free(k, d int) int { return k * d }

// Density returns true: scores are log probabilities.
func (Bernoulli) Density() bool { return true }

// Natural sets dst, as long as theta, to the probabilities of a 1; nil allocates.
func (Bernoulli) Natural(dst, theta []float64, _ int) []float64 {
	if dst == nil {
		dst = make([]float64, len(theta))
	}
	for i, t := range theta {
		dst[i] = logistic(t)
	}
	return dst
}

// FromNatural sets theta to the logits of the probabilities p of a 1, moved inside the floor.
func (Bernoulli) FromNatural(theta, p []float64, _ int) {
	for i, v := range p {
		theta[i] = clampLogit(logit(v, 1))
	}
}

// logit returns log(s/(n-s)), the logit of s ones in n, also where rounding has put s a little beyond 0 or n.
func logit(s, n float64) float64 { return math.Log(max(s, 0) / max(n-s, 0)) }

func clampLogit(t float64) float64 { return min(max(t, -maxLogit), maxLogit) }

// logistic returns 1/(1+exp(-t)) without loss where it is small.
func logistic(t float64) float64 {
	e := math.Exp(-math.Abs(t))
	if t < 0 {
		return e / (1 + e)
	}
	return 1 / (1 + e)
}

// bitVariance returns p(1-p) for the logit t.
func bitVariance(t float64) float64 {
	e := math.Exp(-math.Abs(t))
	return e / ((1 + e) * (1 + e))
}

// softplus returns log(1+exp(t)): minus the log probability of a 0 for the logit t.
func softplus(t float64) float64 { return max(t, 0) + math.Log1p(math.Exp(-math.Abs(t))) }

// Bind takes the log probability of a row of zeros out of every score: log p(x) = base + sum_j x_j t_j.
func (f Bernoulli) Bind(theta []float64, k, d int) Kernel {
	if f.Gaps != nil {
		return f.bindGaps(theta, k, d)
	}
	b := &bernoulliKernel{k: k, d: d, logit: append([]float64(nil), theta[:k*d]...), base: make([]float64, k)}
	for c := range k {
		b.base[c] = zeros(theta[c*d : c*d+d])
	}
	return b
}

// zeros returns the log probability of a row of zeros.
func zeros(t []float64) float64 {
	sum := 0.0
	for _, v := range t {
		sum -= softplus(v)
	}
	return sum
}

// MStep sets p to the share of ones, held inside the floor, which is the constrained maximiser since columns do not
// interact (Bishop 2006, eq. 9.59).
func (f Bernoulli) MStep(next, theta []float64, s *Stats) {
	if f.Gaps != nil {
		f.mStepGaps(next, theta, s)
		return
	}
	d := s.D
	for c, n := range s.N {
		to := next[c*d : c*d+d]
		if !(n > minWeight) {
			copy(to, theta[c*d:c*d+d])
			continue
		}
		for j := range to {
			to[j] = clampLogit(logit(s.Sum[c*d+j], n))
		}
	}
}

// Expected implements Family; it needs only next.
func (f Bernoulli) Expected(next, _ []float64, s *Stats) float64 {
	if f.Gaps != nil {
		return f.expectedGaps(next, s)
	}
	d, sum := s.D, 0.0
	for c, n := range s.N {
		sum += n * zeros(next[c*d:c*d+d])
		for j, t := range next[c*d : c*d+d] {
			sum += s.Sum[c*d+j] * t
		}
	}
	return sum
}

// AtFloor returns all false. A bit that is certain is a result: the likelihood is bounded by 1, and no component gains
// by shrinking onto a row.
func (Bernoulli) AtFloor(_ []float64, k, _ int) []bool { return make([]bool, k) }

// bitMoments are the mean and the variance of a bit by its logit.
var bitMoments = canonical{logistic, bitVariance}

// Grad sets g to ones seen less ones expected.
func (f Bernoulli) Grad(g, theta []float64, s *Stats) { bitMoments.grad(g, theta, f.cells(s)) }

// Precondition implements Smooth: the information of a logit is N p (1-p).
func (f Bernoulli) Precondition(z, q, theta []float64, s *Stats) {
	bitMoments.precondition(z, q, theta, f.cells(s), s)
}

// Multiply implements Smooth.
func (f Bernoulli) Multiply(q, z, theta []float64, s *Stats) {
	bitMoments.multiply(q, z, theta, f.cells(s), s)
}

// SquaredLength implements Smooth.
func (f Bernoulli) SquaredLength(z, theta []float64, s *Stats) float64 {
	return bitMoments.squaredLength(z, theta, f.cells(s), s)
}

// Reach implements Smooth.
func (Bernoulli) Reach(z, _ []float64, _, _ int) float64 { return logitReach(z) }

// logitReach returns the largest move of a logit in units of 3.
func logitReach(z []float64) float64 {
	far := 0.0
	for _, v := range z {
		far = max(far, math.Abs(v)/3)
	}
	return far
}

// Apart implements Smooth.
func (Bernoulli) Apart(theta []float64, a, b, _, d int) float64 {
	return bitMoments.apart(theta, a, b, d)
}

// Place tells where the logits of component c are.
func (Bernoulli) Place(c, _, d int, do func(from, to int)) { do(c*d, c*d+d) }

// Nudge moves every p by 0.05 standard deviations of its bit, and a logit by no more than 0.5 of a normal number.
func (Bernoulli) Nudge(theta []float64, _, _ int, normal func() float64) {
	for i, t := range theta {
		theta[i] += nudgeLogit(bitVariance(t)) * normal()
	}
}

// nudgeLogit returns the size of a nudge of the logit of a bit with variance v = p(1-p): dp = v dt is to be 0.05 sqrt v.
func nudgeLogit(v float64) float64 { return 0.05 / max(math.Sqrt(v), 0.1) }

// Project moves the logits inside the floor.
func (Bernoulli) Project(theta []float64, _, _ int) {
	for i, t := range theta {
		theta[i] = clampLogit(t)
	}
}

// Held marks the logits of bits that are all but certain.
func (Bernoulli) Held(held []bool, theta []float64, _, _ int) {
	for i, t := range theta {
		held[i] = math.Abs(t) > heldLogit
	}
}

// Release implements Edged.
func (Bernoulli) Release(held []bool, theta, next []float64, _, _ int) (some bool) {
	for i, t := range theta {
		if held[i] && math.Abs(next[i]) < math.Abs(t)-releases {
			held[i], some = false, true
		}
	}
	return some
}

// Inside implements Edged.
func (Bernoulli) Inside(theta []float64, held []bool, g, weights []float64, _, d int) (some bool) {
	for i, t := range theta {
		if p := 1 / (1 + math.Exp(math.Abs(t))); held[i] && math.Abs(g[i]) < indifferent*weights[i/d]*p {
			theta[i], some = math.Copysign(math.Log1p(-besideEdge)-math.Log(besideEdge), t), true
		}
	}
	return some
}

type bernoulliKernel struct {
	k, d  int
	logit []float64 // k x d
	base  []float64 // k: log probability of a row of zeros
}

func (b *bernoulliKernel) Score(dst []float64, p *Panel, _ *Workspace) {
	for c, base := range b.base {
		weigh(dst[c*kern.Rows:c*kern.Rows+kern.Rows], p.X, b.logit[c*b.d:c*b.d+b.d], base)
	}
}

// weigh sets dst[i] = base + sum_j f[j] x[j*kern.Rows+i].
func weigh(dst, x, f []float64, base float64) {
	for i := 0; i < kern.Rows; i += 4 {
		a0, a1, a2, a3 := base, base, base, base
		for j, t := range f {
			p := x[j*kern.Rows+i : j*kern.Rows+i+4 : j*kern.Rows+i+4]
			a0 += t * p[0]
			a1 += t * p[1]
			a2 += t * p[2]
			a3 += t * p[3]
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = a0, a1, a2, a3
	}
}

func (b *bernoulliKernel) Add(s *Stats, p *Panel, r []float64, _ *Workspace) {
	for c := range b.k {
		if rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]; !zero(rc) {
			s.N[c] += kern.First(s.Sum[c*b.d:c*b.d+b.d], p.X, rc)
		}
	}
}
