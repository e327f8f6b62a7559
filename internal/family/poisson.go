package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

const (
	// MinRate is the floor under the rates of Poisson, in events a row. Without it a row with an event in a column where no row
	// of a component has one would be impossible there for good, and the log rate infinite. It costs a row without events at
	// most 1e-12 nats.
	MinRate = 1e-12
	// MaxCount is the largest count, and the largest rate: beyond it a float64 does not hold every whole number.
	MaxCount = 1 << 53
)

// heldEvents is where a log rate counts as held: where all rows together are expected to have fewer such events. As for Bernoulli
// the likelihood has no curvature left there, and only EM's own step is to be trusted. A rate of rare events, far below 1, is on
// no edge where rows are many.
const heldEvents = 0.01

var (
	minLogRate = math.Log(MinRate)
	maxLogRate = math.Log(MaxCount)
)

// Poisson is the family of independent counts (latent classes of rows of counts): log p(x) = sum_j x_j t_j - exp t_j - log x_j!.
// Cells are whole numbers from 0 to MaxCount and must be read relative to the origin 0. A cell that is negative, or larger, says
// nothing of the component.
//
// theta is k x d log rates. A rate is the mean number of events a row, from MinRate to MaxCount. Sums are k x d: sum w r x, the
// weight of the events, and one number more: sum w r b, b what Base gives of a row. With Gaps k x d weights of the rows that have a
// cell come before that one.
type Poisson struct {
	// Weight is the sum of the row weights, which says what rate is next to none; 0 where nobody asks.
	Weight float64
	Gaps   *Gaps // what cells are missing; nil for complete rows
}

// WithGaps implements Incomplete.
func (f Poisson) WithGaps(g *Gaps) Family { return Poisson{f.Weight, g} }

// Patterns implements Incomplete.
func (f Poisson) Patterns() *Gaps { return f.Gaps }

// cells returns those of the sums s.
func (f Poisson) cells(s *Stats) cells {
	if f.Gaps == nil {
		return completeCells(s)
	}
	n := s.K * s.D
	return cells{s.Sum[:n], s.Sum[n : 2*n]}
}

// Name returns "poisson".
func (Poisson) Name() string { return "poisson" }

// Params returns k*d.
func (Poisson) Params(k, d int) int { return k * d }

// Sums returns k*d + 1, and k*d more with gaps.
func (f Poisson) Sums(k, d int) int {
	if f.Gaps != nil {
		return 2*k*d + 1
	}
	return k*d + 1
}

// Free returns k*d.
func (Poisson) Free(k, d int) int { return k * d }

// Density returns true: scores are log probabilities.
func (Poisson) Density() bool { return true }

// Natural sets dst, as long as theta, to the rates; nil allocates.
func (Poisson) Natural(dst, theta []float64, _ int) []float64 {
	if dst == nil {
		dst = make([]float64, len(theta))
	}
	for i, t := range theta {
		dst[i] = math.Exp(t)
	}
	return dst
}

// FromNatural sets theta to the logarithms of the rates, moved inside their range.
func (Poisson) FromNatural(theta, rates []float64, _ int) {
	for i, v := range rates {
		theta[i] = clampRate(math.Log(v))
	}
}

func clampRate(t float64) float64 { return min(max(t, minLogRate), maxLogRate) }

// Base implements Based: it sets base to -sum_j log x_j!.
func (Poisson) Base(base, x []float64, d int) {
	base = base[:kern.Rows]
	clear(base)
	for j := range d {
		for i, v := range x[j*kern.Rows : j*kern.Rows+kern.Rows] {
			if n := uint64(v); v >= 0 && n < tabled && float64(n) == v {
				base[i] -= logFactorials[n]
			} else if isCount(v) {
				f, _ := math.Lgamma(v + 1)
				base[i] -= f
			}
		}
	}
}

func isCount(x float64) bool { return x >= 0 && x <= MaxCount }

// tabled is how many log factorials are in a table.
const tabled = 1024

var logFactorials = func() (t [tabled]float64) {
	for n := range t {
		t[n], _ = math.Lgamma(float64(n) + 1)
	}
	return t
}()

// logCount returns the log probability of the count x at a rate and its logarithm t, without cancellation however large both are: minus
// half the deviance, and the logarithm of the largest probability a count of x can have (Loader 2000, "Fast and accurate
// computation of binomial probabilities"). It is 0 for what is no count.
func logCount(x, t, rate float64) float64 {
	switch {
	case !isCount(x):
		return 0
	case x < 16:
		f, _ := math.Lgamma(x + 1)
		return x*t - rate - f
	}
	square := 1 / (x * x) // of Stirling's series
	series := (1./12 - square*(1./360-square*(1./1260-square*(1./1680-square/1188)))) / x
	return -halfDeviance(x, t, rate) - series - math.Log(2*math.Pi*x)/2
}

// halfDeviance returns x log(x/rate) - x + rate for x > 0.
func halfDeviance(x, t, rate float64) float64 {
	if !(math.Abs(x-rate) < 0.1*(x+rate)) {
		return x*(math.Log(x)-t) + rate - x
	}
	v := (x - rate) / (x + rate)
	sum, term := (x-rate)*v, 2*x*v
	for n := 3.0; ; n += 2 { // log(x/rate) = 2 (v + v^3/3 + ...)
		term *= v * v
		next := sum + term/n
		if next == sum {
			return sum
		}
		sum = next
	}
}

// Bind takes the log probability of a row without events out of every score: log p(x) = base(x) + none + sum_j x_j t_j.
func (f Poisson) Bind(theta []float64, k, d int) Kernel {
	b := &poissonKernel{gaps: f.Gaps != nil, k: k, d: d, theta: append([]float64(nil), theta[:k*d]...), none: make([]float64, k)}
	b.rates = Poisson{}.Natural(nil, b.theta, k)
	for c := range k {
		b.none[c] = withoutEvents(b.theta[c*d : c*d+d])
	}
	return b
}

// withoutEvents returns the log probability of a row without events, for log rates t.
func withoutEvents(t []float64) float64 {
	sum := 0.0
	for _, v := range t {
		sum -= math.Exp(v)
	}
	return max(sum, -math.MaxFloat64/4) // of a rate beyond the range of float64
}

// MStep sets the rates to the means, held above the floor, which is the constrained maximiser since columns do not interact.
func (f Poisson) MStep(next, theta []float64, s *Stats) {
	x := f.cells(s)
	for i, n := range x.weight {
		if n > minWeight {
			next[i] = clampRate(math.Log(max(x.sum[i], 0) / n))
		} else {
			next[i] = theta[i]
		}
	}
}

// Expected implements Family; it needs only next.
func (f Poisson) Expected(next, _ []float64, s *Stats) float64 {
	d, sum := s.D, s.Sum[f.Sums(s.K, s.D)-1]
	if f.Gaps != nil {
		x := f.cells(s)
		for i, t := range next {
			sum += x.sum[i]*t - x.weight[i]*math.Exp(t)
		}
		return max(sum, -math.MaxFloat64/4)
	}
	for c, n := range s.N {
		sum += n * withoutEvents(next[c*d:c*d+d])
		for j, t := range next[c*d : c*d+d] {
			sum += s.Sum[c*d+j] * t
		}
	}
	return sum
}

// AtFloor returns all false. A rate near 0 is a result: probabilities are bounded by 1, and no component gains by shrinking
// onto a row.
func (Poisson) AtFloor(_ []float64, k, _ int) []bool { return make([]bool, k) }

// countMoments are the mean and the variance of a count by its log rate.
var countMoments = canonical{math.Exp, math.Exp}

// Grad sets g to events seen less events expected.
func (f Poisson) Grad(g, theta []float64, s *Stats) { countMoments.grad(g, theta, f.cells(s)) }

// Precondition implements Smooth: the information of a log rate is N times the rate.
func (f Poisson) Precondition(z, q, theta []float64, s *Stats) {
	countMoments.precondition(z, q, theta, f.cells(s), s)
}

// Multiply implements Smooth.
func (f Poisson) Multiply(q, z, theta []float64, s *Stats) {
	countMoments.multiply(q, z, theta, f.cells(s), s)
}

// SquaredLength implements Smooth.
func (f Poisson) SquaredLength(z, theta []float64, s *Stats) float64 {
	return countMoments.squaredLength(z, theta, f.cells(s), s)
}

// Reach implements Smooth. A large rate may move by 2 standard deviations of its counts, a small one by 3 in its logarithm.
func (Poisson) Reach(z, theta []float64, _, _ int) float64 {
	far := 0.0
	for i, v := range z {
		far = max(far, math.Abs(v)*max(math.Exp(theta[i]/2)/2, 1./3))
	}
	return far
}

// Apart implements Smooth.
func (Poisson) Apart(theta []float64, a, b, _, d int) float64 {
	return countMoments.apart(theta, a, b, d)
}

// Place tells where the log rates of component c are.
func (Poisson) Place(c, _, d int, do func(from, to int)) { do(c*d, c*d+d) }

// Nudge moves every rate by 0.05 standard deviations of its counts, and a log rate by no more than 0.5 of a normal number.
func (Poisson) Nudge(theta []float64, _, _ int, normal func() float64) {
	for i, t := range theta {
		theta[i] += nudgeLogit(math.Exp(t)) * normal()
	}
}

// Project moves the rates inside their range.
func (Poisson) Project(theta []float64, _, _ int) {
	for i, t := range theta {
		theta[i] = clampRate(t)
	}
}

// Held marks the log rates of events that all but never happen.
func (f Poisson) Held(held []bool, theta []float64, _, _ int) {
	edge := math.Log(max(heldEvents/max(f.Weight, 1), 10*MinRate))
	for i, t := range theta {
		held[i] = t < edge
	}
}

// Release implements Edged.
func (Poisson) Release(held []bool, theta, next []float64, _, _ int) (some bool) {
	for i, t := range theta {
		if held[i] && next[i] > t+releases {
			held[i], some = false, true
		}
	}
	return some
}

// Inside implements Edged.
func (Poisson) Inside(theta []float64, held []bool, g, weights []float64, _, d int) (some bool) {
	for i, t := range theta {
		if held[i] && math.Abs(g[i]) < indifferent*weights[i/d]*math.Exp(t) {
			theta[i], some = math.Log(besideEdge), true
		}
	}
	return some
}
