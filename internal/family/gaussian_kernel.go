package family

import (
	"math"
	"sync"

	"github.com/latent-go/latent/internal/kern"
)

// gaussianKernel scores by whitening: log N(x) = shift - |W (x - m)|^2 / 2 with W = L^-1. Differences are taken before
// they are squared, so nothing cancels (an expanded quadratic form loses (m/sd)^2 units in the last place).
type gaussianKernel struct {
	g      Gaussian
	k, d   int
	mean   []float64 // k x d
	whiten []float64 // count x size: inverse scales
	shift  []float64 // k: -(d/2) log 2 pi - log det L
	theta  []float64 // with gaps: the parameters
	filler sync.Once
	fill   *completer // Full and Tied: what completes rows with gaps; made when it is needed
}

func (b *gaussianKernel) Score(dst []float64, p *Panel, ws *Workspace) {
	switch {
	case b.g.cellwise():
		b.scoreCells(dst, p, ws)
		return
	case p.Holes:
		b.completer().score(dst, p, ws.gathered())
		return
	}
	for c := range b.k {
		b.score(dst[c*kern.Rows:c*kern.Rows+kern.Rows], p, c, ws)
	}
}

// score sets out to log p_c of the rows.
func (b *gaussianKernel) score(out []float64, p *Panel, c int, ws *Workspace) {
	d := b.d
	m, w := b.mean[c*d:c*d+d], b.g.scale(b.whiten, c, d)
	switch b.g.Shape.kind() {
	case Full:
		kern.Centre(ws.Y, p.X, m)
		kern.Whiten(ws.V, ws.Y, w, d)
		kern.Norms(out, ws.V, d)
	case Diag:
		kern.SqdistScaled(out, p.X, m, w)
	default:
		kern.Centre(ws.Y, p.X, m)
		kern.Norms(out, ws.Y, d)
		f := w[0] * w[0]
		for i := range out {
			out[i] *= f
		}
	}
	for i, v := range out {
		if !(v <= math.MaxFloat64) { // a row so far that its square overflows (to Inf, or Inf - Inf) stays comparable
			v = math.MaxFloat64
		}
		out[i] = b.shift[c] - 0.5*v
	}
}

func (b *gaussianKernel) Add(s *Stats, p *Panel, r []float64, ws *Workspace) {
	switch {
	case b.g.cellwise():
		b.addCells(s, p, r, ws)
		return
	case p.Holes:
		f := b.completer()
		f.complete(p, ws.gathered())
		f.gather(p, r, nil, ws.gathered())
		f.flush(s, ws.gathered())
		return
	}
	for c := range b.k {
		if rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]; !zero(rc) {
			b.add(s, p, rc, c, ws)
		}
	}
}

// add adds the panel with weights rc to component c.
func (b *gaussianKernel) add(s *Stats, p *Panel, rc []float64, c int, ws *Workspace) {
	d := b.d
	kern.Centre(ws.Y, p.X, b.mean[c*d:c*d+d])
	s.N[c] += kern.First(s.Sum[c*d:c*d+d], ws.Y, rc)
	q := b.g.scale(s.Sum[b.k*d:], c, d)
	switch b.g.Shape.kind() {
	case Full:
		kern.Second(q, ws.Y, rc, ws.T, d)
	case Diag:
		kern.Squares(q, ws.Y, rc)
	default:
		kern.Norms(ws.T, ws.Y, d)
		for i, v := range rc {
			if v != 0 { // the square of a row of weight 0 may overflow
				q[0] += v * ws.T[i]
			}
		}
	}
}

// zero reports whether no row of the panel belongs to the component.
func zero(r []float64) bool {
	for _, v := range r {
		if v != 0 {
			return false
		}
	}
	return true
}
