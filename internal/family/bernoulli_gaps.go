package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// cells returns the weights of the ones, and those of the rows that have a cell.
func (f Bernoulli) cells(s *Stats) cells {
	if f.Gaps == nil {
		return completeCells(s)
	}
	x := cells{make([]float64, s.K*s.D), make([]float64, s.K*s.D)}
	for i := range x.sum {
		x.sum[i], x.weight[i] = s.Sum[2*i], s.Sum[2*i]+s.Sum[2*i+1]
	}
	return x
}

// mStepGaps is MStep of rows with gaps: p is the share of ones among the rows that have the cell.
func (Bernoulli) mStepGaps(next, theta []float64, s *Stats) {
	for i, t := range theta[:s.K*s.D] {
		if one, zero := max(s.Sum[2*i], 0), max(s.Sum[2*i+1], 0); one+zero > minWeight {
			next[i] = clampLogit(math.Log(one / zero))
		} else {
			next[i] = t
		}
	}
}

// expectedGaps is Expected of rows with gaps.
func (Bernoulli) expectedGaps(next []float64, s *Stats) float64 {
	sum := 0.0
	for i, t := range next[:s.K*s.D] {
		sum -= s.Sum[2*i]*softplus(-t) + s.Sum[2*i+1]*softplus(t)
	}
	return sum
}

// bitGaps scores bits of which some are missing by the log probabilities of ones and of zeros.
type bitGaps struct {
	*bernoulliKernel
	family Bernoulli
	pairs  []float64 // k x d pairs: log probability of a one, of a zero
}

func (f Bernoulli) bindGaps(theta []float64, k, d int) Kernel {
	plain := Bernoulli{}.Bind(theta, k, d).(*bernoulliKernel)
	b := &bitGaps{plain, f, make([]float64, 2*k*d)}
	for i, t := range plain.logit {
		b.pairs[2*i], b.pairs[2*i+1] = -softplus(-t), -softplus(t)
	}
	return b
}

// features returns two of each column of the panel: that the cell is 1, and that it is 0.
func pairFeatures(p *Panel, ws *Workspace) []float64 {
	d := p.D
	t := grow(&ws.filled, 2*d*kern.Rows)
	for j := range d {
		one, zero := t[2*j*kern.Rows:(2*j+1)*kern.Rows], t[(2*j+1)*kern.Rows:(2*j+2)*kern.Rows]
		for i, v := range p.X[j*kern.Rows : j*kern.Rows+kern.Rows] {
			one[i], zero[i] = 0, 0
			if v == v {
				one[i], zero[i] = v, 1-v
			}
		}
	}
	return t
}

func (b *bitGaps) Score(dst []float64, p *Panel, ws *Workspace) {
	t := pairFeatures(p, ws)
	for c := range b.k {
		weigh(dst[c*kern.Rows:c*kern.Rows+kern.Rows], t, b.pairs[2*c*b.d:2*(c+1)*b.d], 0)
	}
}

func (b *bitGaps) Add(s *Stats, p *Panel, r []float64, ws *Workspace) {
	t := pairFeatures(p, ws)
	for c := range b.k {
		if rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]; !zero(rc) {
			s.N[c] += kern.First(s.Sum[2*c*b.d:2*(c+1)*b.d], t, rc)
		}
	}
}

// Fuse implements Fusable; it returns nil where Bits returns 0.
func (b *bitGaps) Fuse(logw []float64) FusedKernel {
	width := b.family.Bits(b.d)
	if width == 0 {
		return nil
	}
	return &fusedBits{plain: b, family: b.family, logw: logw, bits: kern.NewBits(b.pairs, logw, b.k, width), d: b.d, width: width, k: b.k}
}

// packPairs is PackBits for rows with gaps: of two bits a column the first says that the cell is 1, the second that it is 0.
func packPairs(words []uint32, x []float64, d int) bool {
	to := kern.BitColumns(words, 2*d)
	clear(to)
	for j := range d {
		for i, v := range x[j*kern.Rows : j*kern.Rows+kern.Rows] {
			switch {
			case v == 1:
				to[2*j] |= 1 << i
			case v == 0:
				to[2*j+1] |= 1 << i
			case v == v:
				return false
			}
		}
	}
	kern.TransposeBits(words, 2*d)
	return true
}
