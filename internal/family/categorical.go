package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// Categorical is the family of independent columns of unordered codes (latent class analysis; Goodman 1974). A cell of
// column j is a whole number from 0 to Levels[j]-1, read relative to the origin 0. A cell that is none of them says
// nothing of the component, as if it were missing.
//
// theta holds, for each component, Levels[j] logits for column j after column; probabilities are their softmax, at least
// MinProbability each. A constant added to the logits of one column changes nothing; an M-step sets log probabilities.
// Sums have the same places: the weight of the rows at each level.
type Categorical struct {
	// Levels is how many levels each of the d columns has, 1 or more.
	Levels []int
}

// width is the number of logits of one component.
func (f Categorical) width() int {
	sum := 0
	for _, l := range f.Levels {
		sum += l
	}
	return sum
}

// columns calls do with the place of every column of every component in theta, and its end.
func (f Categorical) columns(k int, do func(c, j, from, to int)) {
	at := 0
	for c := range k {
		for j, l := range f.Levels {
			do(c, j, at, at+l)
			at += l
		}
	}
}

// Name returns "categorical".
func (Categorical) Name() string { return "categorical" }

// Params returns k times the number of levels of all columns.
func (f Categorical) Params(k, _ int) int { return k * f.width() }

// Sums returns k times the number of levels of all columns.
func (f Categorical) Sums(k, _ int) int { return k * f.width() }

// Free returns k times the number of levels that are not the last of their column.
func (f Categorical) Free(k, d int) int { return k * (f.width() - d) }

// Density returns true: scores are log probabilities.
func (Categorical) Density() bool { return true }

// Natural sets dst, as long as theta, to the probabilities of the levels; nil allocates.
func (f Categorical) Natural(dst, theta []float64, k int) []float64 {
	if dst == nil {
		dst = make([]float64, len(theta))
	}
	f.columns(k, func(_, _, from, to int) { softmax(dst[from:to], theta[from:to]) })
	return dst
}

// FromNatural sets theta to the logarithms of the probabilities p, moved inside the floor. Where those of a column
// do not add to 1, their shares count.
func (f Categorical) FromNatural(theta, p []float64, k int) {
	f.columns(k, func(_, _, from, to int) {
		logShares(theta[from:to], p[from:to], total(p[from:to]))
	})
}

// logSoftmax sets dst to the log probabilities of the logits t. dst and t may be the same.
func logSoftmax(dst, t []float64) {
	top, sum := math.Inf(-1), 0.0
	for _, v := range t {
		top = max(top, v)
	}
	for _, v := range t {
		sum += math.Exp(v - top)
	}
	shift := math.Log(sum)
	for i, v := range t {
		dst[i] = v - top - shift
	}
}

func softmax(dst, t []float64) {
	logSoftmax(dst, t)
	for i, v := range dst {
		dst[i] = math.Exp(v)
	}
}

func total(s []float64) float64 {
	sum := 0.0
	for _, v := range s {
		sum += v
	}
	return sum
}

// logShares sets t to the log probabilities, none below the floor, that maximise sum_l s_l t_l, n the sum of s: levels
// below the floor are put on it and the others share what is left, which may push another below.
func logShares(t, s []float64, n float64) {
	low, left, rest := 0, 1.0, n // levels on the floor; probability and weight of the others
	for {
		below, weight := 0, 0.0
		for _, v := range s {
			if v*left < MinProbability*rest {
				below++
				weight += v
			}
		}
		if below <= low { // not ==: by rounding a level may rise above again, and fall, for ever
			break
		}
		low, left, rest = below, 1-float64(below)*MinProbability, n-weight
	}
	for l, v := range s {
		if v*left < MinProbability*rest {
			t[l] = math.Log(MinProbability)
		} else {
			t[l] = math.Log(v / rest * left)
		}
	}
}

// Bind takes the softmax of every column.
func (f Categorical) Bind(theta []float64, k, d int) Kernel {
	width := f.width() + d
	b := &categoricalKernel{levels: f.Levels, k: k, width: width, logp: make([]float64, k*width)}
	f.columns(k, func(c, j, from, to int) {
		at := from + c*d + j // every column before this one has a place more
		logSoftmax(b.logp[at:at+to-from], theta[from:to])
	})
	return b
}

// MStep sets the probabilities to the shares of the levels, held above the floor.
func (f Categorical) MStep(next, theta []float64, s *Stats) {
	f.columns(s.K, func(_, _, from, to int) {
		if n := total(s.Sum[from:to]); n > minWeight {
			logShares(next[from:to], s.Sum[from:to], n)
		} else {
			copy(next[from:to], theta[from:to])
		}
	})
}

// Expected implements Family; it needs only next.
func (f Categorical) Expected(next, _ []float64, s *Stats) float64 {
	sum, logp := 0.0, make([]float64, len(next))
	f.columns(s.K, func(_, _, from, to int) {
		logSoftmax(logp[from:to], next[from:to])
		for l := from; l < to; l++ {
			sum += s.Sum[l] * logp[l]
		}
	})
	return sum
}

// AtFloor returns all false: a level that a component lacks is a result, as for Bernoulli.
func (Categorical) AtFloor(_ []float64, k, _ int) []bool { return make([]bool, k) }

// Grad sets g to rows seen less rows expected at each level.
func (f Categorical) Grad(g, theta []float64, s *Stats) {
	p := f.Natural(nil, theta, s.K)
	f.columns(s.K, func(_, _, from, to int) {
		n := total(s.Sum[from:to])
		for l := from; l < to; l++ {
			g[l] = s.Sum[l] - n*p[l]
		}
	})
}

// Precondition implements Smooth. The information of a column is N (diag p - p p'), which does not see a constant added
// to all its logits. Of its inverses this is the one whose moves have mean 0 under p, (diag 1/p - 1 1')/N: a gradient
// becomes (seen - expected)/expected, which is what an M-step adds to log probabilities to first order. Unlike a plain
// mean, the mean under p does not hear of levels that hardly occur. It is symmetric, and z' I z = q' z for every q.
func (f Categorical) Precondition(z, q, theta []float64, s *Stats) {
	p := f.Natural(nil, theta, s.K)
	f.columns(s.K, func(_, _, from, to int) {
		n, mean := s.support(total(s.Sum[from:to])), total(q[from:to])
		for l := from; l < to; l++ {
			z[l] = (q[l]/p[l] - mean) / n
		}
	})
}

// Multiply implements Smooth.
func (f Categorical) Multiply(q, z, theta []float64, s *Stats) {
	p := f.Natural(nil, theta, s.K)
	f.columns(s.K, func(_, _, from, to int) {
		n, mean := s.support(total(s.Sum[from:to])), 0.0
		for l := from; l < to; l++ {
			mean += p[l] * z[l]
		}
		for l := from; l < to; l++ {
			q[l] = n * p[l] * (z[l] - mean)
		}
	})
}

// SquaredLength implements Smooth.
func (f Categorical) SquaredLength(z, theta []float64, s *Stats) float64 {
	sum, p := 0.0, f.Natural(nil, theta, s.K)
	f.columns(s.K, func(_, _, from, to int) {
		mean, square := 0.0, 0.0
		for l := from; l < to; l++ {
			mean += p[l] * z[l]
		}
		for l := from; l < to; l++ {
			square += p[l] * (z[l] - mean) * (z[l] - mean)
		}
		sum += s.support(total(s.Sum[from:to])) * square
	})
	return sum
}

// Reach implements Smooth.
func (Categorical) Reach(z, _ []float64, _, _ int) float64 { return logitReach(z) }

// Apart implements Smooth: sum p (log p_b - log p_a)^2 over levels, logits being logarithms of p up to the gauge.
func (f Categorical) Apart(theta []float64, a, b, k, _ int) float64 {
	p, width, sum := f.Natural(nil, theta, k), f.width(), 0.0
	for l := range width {
		pa, pb := p[a*width+l], p[b*width+l]
		t := math.Log(max(pb, MinProbability)) - math.Log(max(pa, MinProbability))
		sum += pa * t * t
	}
	return math.Sqrt(sum)
}

// Place tells where the logits of component c are.
func (f Categorical) Place(c, _, _ int, do func(from, to int)) { do(c*f.width(), (c+1)*f.width()) }

// Nudge moves every p by 0.05 standard deviations of its level, and a logit by no more than 0.5 of a normal number.
func (f Categorical) Nudge(theta []float64, k, _ int, normal func() float64) {
	for l, p := range f.Natural(nil, theta, k) {
		theta[l] += nudgeLogit(p*(1-p)) * normal()
	}
}

// Project moves the probabilities inside the floor, where a column has one below it.
func (f Categorical) Project(theta []float64, k, _ int) {
	p := f.Natural(nil, theta, k)
	f.columns(k, func(_, _, from, to int) {
		for _, v := range p[from:to] {
			if v < MinProbability*(1-1e-9) { // rounding of what logShares sets is inside
				logShares(theta[from:to], p[from:to], total(p[from:to]))
				return
			}
		}
	})
}

// Held marks the logits of levels that are all but certain or all but absent, as Bernoulli does.
func (f Categorical) Held(held []bool, theta []float64, k, _ int) {
	for l, p := range f.Natural(nil, theta, k) {
		held[l] = p < heldProbability || p > 1-heldProbability
	}
}

// Release implements Edged. Where a level comes back, one that was all but certain is so no more.
func (f Categorical) Release(held []bool, theta, next []float64, k, _ int) (some bool) {
	was, is := make([]float64, len(theta)), make([]float64, len(theta))
	f.columns(k, func(_, _, from, to int) {
		logSoftmax(was[from:to], theta[from:to])
		logSoftmax(is[from:to], next[from:to])
		back := false
		for l := from; l < to; l++ {
			if held[l] && was[l] < -1 && is[l] > was[l]+releases {
				held[l], back = false, true
			}
		}
		some = some || back
		for l := from; back && l < to; l++ {
			held[l] = held[l] && was[l] < -1
		}
	})
	return some
}

// Inside implements Edged. The levels of a column that are moved come to have the same probability.
func (f Categorical) Inside(theta []float64, held []bool, g, weights []float64, k, _ int) (some bool) {
	logp, width := make([]float64, len(theta)), f.width()
	f.columns(k, func(_, _, from, to int) { logSoftmax(logp[from:to], theta[from:to]) })
	for l, t := range logp {
		if p := math.Exp(t); held[l] && t < -1 && math.Abs(g[l]) < indifferent*weights[l/width]*p {
			theta[l] += math.Log(besideEdge) - t
			some = true
		}
	}
	return some
}

// mostLevels is how many levels columns may have on average to be read as bits, one for each level. Measured on Zen 5 where
// look-ups of one level at a time become as fast.
const (
	mostLevels     = 32
	mostLevelsInGo = 4
)

// Bits is the number of levels of all columns: a bit says that the cell is the level. It is 0 where columns have too many,
// and for few levels in plain Go.
func (f Categorical) Bits(d int) int {
	most := mostLevels
	if kern.Current() == kern.Go {
		if most = mostLevelsInGo; f.width() < leastBitsInGo {
			return 0
		}
	}
	if w := f.width(); w <= most*d {
		return w
	}
	return 0
}

// PackBits implements Binary. A cell that is no level has no bit.
func (f Categorical) PackBits(words []uint32, x []float64, _ int) bool {
	width := f.width()
	to := kern.BitColumns(words, width)
	clear(to)
	for j, l := range f.Levels {
		for i, v := range x[j*kern.Rows : j*kern.Rows+kern.Rows] {
			if v >= 0 && v < float64(l) {
				to[int(v)] |= 1 << i
			}
		}
		to = to[l:]
	}
	kern.TransposeBits(words, width)
	return true
}

// Fuse implements Fusable; it returns nil where Bits returns 0.
func (b *categoricalKernel) Fuse(logw []float64) FusedKernel {
	f, d := Categorical{Levels: b.levels}, len(b.levels)
	width := f.Bits(d)
	if width == 0 {
		return nil
	}
	logp := make([]float64, 0, b.k*width)
	for c := range b.k {
		at := c * b.width
		for _, l := range b.levels {
			logp = append(logp, b.logp[at:at+l]...)
			at += l + 1
		}
	}
	return &fusedBits{plain: b, family: f, logw: logw, bits: kern.NewBits(logp, logw, b.k, width), d: d, width: width, k: b.k}
}

type categoricalKernel struct {
	levels   []int
	k, width int
	logp     []float64 // k x width: log probabilities, and a 0 after each column for cells that are no level
}

// codes sets to[i] to the level of row i, or levels where it is none.
func codes(to *[kern.Rows]int, x []float64, levels int) {
	for i, v := range x[:kern.Rows] {
		to[i] = levels
		if v >= 0 && v < float64(levels) {
			to[i] = int(v)
		}
	}
}

func (b *categoricalKernel) Score(dst []float64, p *Panel, _ *Workspace) {
	var code [kern.Rows]int
	clear(dst[:b.k*kern.Rows])
	at := 0
	for j, l := range b.levels {
		codes(&code, p.X[j*kern.Rows:], l)
		for c := range b.k {
			logp, out := b.logp[c*b.width+at:c*b.width+at+l+1], dst[c*kern.Rows:c*kern.Rows+kern.Rows]
			for i, v := range code {
				out[i] += logp[v]
			}
		}
		at += l + 1
	}
}

func (b *categoricalKernel) Add(s *Stats, p *Panel, r []float64, _ *Workspace) {
	var code [kern.Rows]int
	for c := range b.k {
		s.N[c] += kern.First(nil, nil, r[c*kern.Rows:])
	}
	at, width := 0, b.width-len(b.levels)
	for j, l := range b.levels {
		codes(&code, p.X[j*kern.Rows:], l)
		for c := range b.k {
			sum, rc := s.Sum[c*width+at:c*width+at+l], r[c*kern.Rows:c*kern.Rows+kern.Rows]
			for i, v := range code {
				if v < l {
					sum[v] += rc[i]
				}
			}
		}
		at += l
	}
}
