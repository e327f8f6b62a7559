package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// ordinaryCount is the largest count whose scores are sums of three terms, good to 1e-10 nats there. A row with a larger one is
// scored by logCount, cell by cell, where nothing cancels.
const ordinaryCount = 1 << 16

type poissonKernel struct {
	gaps  bool // cells may be missing
	k, d  int
	theta []float64 // k x d log rates
	rates []float64 // their exponentials
	none  []float64 // k: log probability of a row without events
}

// base returns what Base gives of the panel, in memory of ws where nobody brought it.
func (b *poissonKernel) base(p *Panel, ws *Workspace) []float64 {
	if p.Base != nil {
		return p.Base
	}
	Poisson{}.Base(ws.T, p.X, b.d)
	return ws.T[:kern.Rows]
}

// Score implements Kernel.
func (b *poissonKernel) Score(dst []float64, p *Panel, ws *Workspace) {
	base := b.base(p, ws)
	if b.gaps {
		b.scoreGaps(dst, p, base, ws)
		return
	}
	for c, none := range b.none {
		out := dst[c*kern.Rows : c*kern.Rows+kern.Rows]
		weigh(out, p.X, b.theta[c*b.d:c*b.d+b.d], none)
		for i, v := range base {
			out[i] += v
		}
	}
	if kern.Largest(p.X, b.d) > ordinaryCount {
		b.largeRows(dst, p.X, nil)
	}
}

// scoreGaps is Score where cells may be missing: a cell that is there adds x t - rate.
func (b *poissonKernel) scoreGaps(dst []float64, p *Panel, base []float64, ws *Workspace) {
	x, own := p.cells(), ws.V[:kern.Rows]
	for c := range b.k {
		out := dst[c*kern.Rows : c*kern.Rows+kern.Rows]
		weigh(out, x, b.theta[c*b.d:c*b.d+b.d], 0)
		weigh(own, p.Mask, b.rates[c*b.d:c*b.d+b.d], 0)
		for i, v := range base {
			out[i] = max(out[i]-own[i]+v, -math.MaxFloat64/4)
		}
	}
	if kern.Largest(x, b.d) > ordinaryCount {
		b.largeRows(dst, p.X, nil)
	}
}

// largeRows sets the scores of the rows of x with a count that is not ordinary. logw, where not nil, is added to them.
func (b *poissonKernel) largeRows(dst, x, logw []float64) {
	for i := range kern.Rows {
		some := false
		for at := i; at < b.d*kern.Rows; at += kern.Rows {
			some = some || math.Abs(x[at]) > ordinaryCount
		}
		for c := 0; some && c < b.k; c++ {
			sum := 0.0
			if logw != nil {
				sum = logw[c]
			}
			for j, t := range b.theta[c*b.d : c*b.d+b.d] {
				sum += logCount(x[j*kern.Rows+i], t, b.rates[c*b.d+j])
			}
			dst[c*kern.Rows+i] = max(sum, -math.MaxFloat64/4)
		}
	}
}

// Add implements Kernel.
func (b *poissonKernel) Add(s *Stats, p *Panel, r []float64, ws *Workspace) {
	base, x, last := b.base(p, ws), p.X, s.Sum[len(s.Sum)-1:]
	if b.gaps {
		x = p.cells()
	}
	for c := range b.k {
		rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]
		if zero(rc) {
			continue
		}
		s.N[c] += kern.First(s.Sum[c*b.d:c*b.d+b.d], x, rc)
		if b.gaps {
			kern.First(s.Sum[(b.k+c)*b.d:(b.k+c+1)*b.d], p.Mask, rc)
		}
		kern.First(last, base, rc)
	}
}

// RowGrad implements GradKernel: r (x - rate).
func (b *poissonKernel) RowGrad(g []float64, p *Panel, r []float64, _ *Workspace) {
	for c := range b.k {
		rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]
		for j := range b.d {
			at := c*b.d + j
			rate := b.rates[at]
			out := g[at*kern.Rows : at*kern.Rows+kern.Rows]
			for i, v := range p.X[j*kern.Rows : j*kern.Rows+kern.Rows] {
				out[i] = rc[i] * (v - rate)
			}
		}
	}
	muteGaps(g, p, b.k, b.d)
}

// Fuse implements Fusable.
func (b *poissonKernel) Fuse(logw []float64) FusedKernel {
	k, d := b.k, b.d
	f := &fusedPoisson{b: b, logw: logw, n: d + 2}
	if b.gaps {
		f.n += d
	}
	f.tiles, f.few = make([]float64, f.n*k), k <= kern.Few && f.n*kern.Pad(k) <= maxFew
	w := make([]float64, 0, len(f.tiles))
	for c, lw := range logw {
		w = append(w, b.theta[c*d:c*d+d]...)
		if !b.gaps {
			w = append(w, b.none[c]+lw, 1)
			continue
		}
		w = append(w, lw, 1)
		for _, rate := range b.rates[c*d : c*d+d] {
			w = append(w, -rate)
		}
	}
	kern.TileColumns(f.tiles, w, f.n, k)
	return f
}

// fusedPoisson takes scores and sums as products with d + 2 features of a row: its counts, 1, and what Base gives. Where cells may be missing,
// those that are there are d more, and each of them has a rate.
type fusedPoisson struct {
	b     *poissonKernel
	logw  []float64
	n     int       // features
	tiles []float64 // of kern.Multiply: log rates, log probabilities without events, ones; with gaps log rates, zeros, ones, rates below 0
	few   bool      // kern.AccumulateFew gathers the sums
}

// features returns those of p.
func (f *fusedPoisson) features(p *Panel, g *Gathered, ws *Workspace) []float64 {
	d := f.b.d
	t := p.X[:min(f.n*kern.Rows, cap(p.X))]
	if f.b.gaps || len(t) < f.n*kern.Rows {
		t = grow(&g.buffers().features, f.n*kern.Rows)
		copy(t, p.cells()[:d*kern.Rows])
	}
	if f.b.gaps {
		copy(t[(d+2)*kern.Rows:], p.Mask[:d*kern.Rows])
	}
	copy(t[(d+1)*kern.Rows:], f.b.base(p, ws))
	one := t[d*kern.Rows : (d+1)*kern.Rows]
	for i := range one {
		one[i] = 1
	}
	return t
}

// Logits implements FusedKernel.
func (f *fusedPoisson) Logits(dst []float64, p *Panel, g *Gathered, ws *Workspace) {
	kern.Multiply(dst, f.features(p, g, ws), f.tiles, f.n, f.b.k)
	if kern.Largest(p.cells(), f.b.d) > ordinaryCount {
		f.b.largeRows(dst, p.X, f.logw)
	}
}

// Gather implements FusedKernel.
func (f *fusedPoisson) Gather(_ *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	t, n, k := f.features(p, g, ws), f.n, f.b.k
	if f.few {
		kern.AccumulateFew(grow(&g.few, n*k*kern.Lanes), t, q, factor, n, k)
		return
	}
	kp := kern.Pad(k)
	r := grow(&g.buffers().shares, kern.Rows*kp)
	kern.Share(r, q[:kp*kern.Rows], factor, k)
	kern.Accumulate(grow(&g.sum, n*kp), t, r, n, k)
}

// Flush implements FusedKernel.
func (f *fusedPoisson) Flush(s *Stats, g *Gathered) {
	k, d, n := f.b.k, f.b.d, f.n
	last := len(s.Sum) - 1
	kp, sum := kern.Pad(k), g.sum
	at := func(j, c int) float64 { return sum[j*kp+c] }
	if f.few {
		sum = g.few
		at = func(j, c int) float64 { return kern.Sum(sum[(c*n+j)*kern.Lanes:]) }
	}
	if len(sum) == 0 { // nothing was gathered
		return
	}
	for c := range k {
		for j := range d {
			s.Sum[c*d+j] += at(j, c)
		}
		s.N[c] += at(d, c)
		s.Sum[last] += at(d+1, c)
		for j := range n - d - 2 { // with gaps
			s.Sum[(k+c)*d+j] += at(d+2+j, c)
		}
	}
	clear(sum)
}
