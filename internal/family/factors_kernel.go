package family

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
)

// factorKernel scores by Woodbury's identity, d x q operations a row and component: with y = B (x - m) the squared distance is
// |U^-1/2 (x - m - L y)|^2 + |y|^2, in which nothing cancels.
type factorKernel struct {
	family  WideFactors
	k, d, q int
	mean    []float64 // k x d
	all     []factorBound
}

// factorBound is what the rows of a panel need of one covariance.
type factorBound struct {
	*factored
	expect    []float64 // B, packed by kern.TileColumns
	load      []float64 // L, packed so
	inverse   []float64 // d: 1 / u
	precision []float64 // d: the diagonal of S^-1
	shift     float64   // -(d/2) log 2 pi - (1/2) log det S
}

// Bind prepares the covariances.
func (g WideFactors) Bind(theta []float64, k, d int) Kernel { return g.rowScores(theta, k, d) }

func (g WideFactors) rowScores(theta []float64, k, d int) *factorKernel {
	theta = slices.Clone(theta)
	b := &factorKernel{family: g, k: k, d: d, q: g.q(), mean: theta[:k*d], all: make([]factorBound, k)}
	for c := range k {
		f := g.factor(theta, c, k, d)
		t := factorBound{factored: f, expect: make([]float64, d*f.q), load: make([]float64, d*f.q), inverse: make([]float64, d), precision: f.precision()}
		kern.TileColumns(t.expect, f.b, d, f.q)
		kern.TileColumns(t.load, f.l, f.q, d)
		for j, v := range f.u {
			t.inverse[j] = 1 / v
		}
		t.shift = -0.5 * (float64(d)*log2Pi + f.logDet)
		b.all[c] = t
	}
	return b
}

// whiten sets e to x - m, y to the factors expected, and rest to S^-1 e times u: what the factors leave of e.
func (b *factorKernel) whiten(e, y, rest []float64, c int, x []float64) {
	t := &b.all[c]
	kern.Centre(e, x, b.mean[c*b.d:(c+1)*b.d])
	kern.Multiply(y, e, t.expect, b.d, b.q)
	kern.Multiply(rest, y, t.load, b.q, b.d)
	for i, v := range e[:len(rest)] {
		rest[i] = v - rest[i]
	}
}

// scratch returns memory for whiten.
func (b *factorKernel) scratch(ws *Workspace) (e, y, rest []float64) {
	return ws.Y[:b.d*kern.Rows], grow(&ws.gathered().buffers().white, b.q*kern.Rows), ws.V[:b.d*kern.Rows]
}

// Score implements Kernel.
func (b *factorKernel) Score(dst []float64, p *Panel, ws *Workspace) {
	e, y, rest := b.scratch(ws)
	for c := range b.k {
		b.whiten(e, y, rest, c, p.X)
		t, out := &b.all[c], dst[c*kern.Rows:(c+1)*kern.Rows]
		kern.Norms(out, y, b.q)
		for j, f := range t.inverse {
			for i, v := range rest[j*kern.Rows : (j+1)*kern.Rows] {
				out[i] += v * v * f
			}
		}
		for i, v := range out {
			if !(v <= math.MaxFloat64) { // a row so far that its square overflows stays comparable
				v = math.MaxFloat64
			}
			out[i] = t.shift - 0.5*v
		}
	}
}

// Add implements Kernel.
func (b *factorKernel) Add(s *Stats, p *Panel, r []float64, ws *Workspace) {
	d, q := b.d, b.q
	e, y, rest := b.scratch(ws)
	buf := ws.gathered().buffers()
	wide := kern.Pad(q + 1)
	shares, sum, by := grow(&buf.shares, kern.Rows*wide), grow(&buf.features, d*wide), grow(&buf.weighted, wide*kern.Rows)
	for c := range b.k {
		rc := r[c*kern.Rows : (c+1)*kern.Rows]
		if zero(rc) {
			continue
		}
		b.whiten(e, y, rest, c, p.X)
		mute(e, rc)
		mute(y, rc)
		t := s.Sum[b.k*d+c*(d+d*q+q*q):]
		squares, cross, inner := t[:d], t[d:d+d*q], t[d+d*q:d+d*q+q*q]
		kern.Squares(squares, e, rc)
		clear(by)
		copy(by, rc) // column 0: the weight, which makes first moments
		for f := range q {
			out := by[(1+f)*kern.Rows : (2+f)*kern.Rows]
			for i, v := range y[f*kern.Rows : (f+1)*kern.Rows] {
				out[i] = v * rc[i]
			}
			for h := range q {
				sum := 0.0
				for i, v := range y[h*kern.Rows : (h+1)*kern.Rows] {
					sum += v * out[i]
				}
				inner[f*q+h] += sum
			}
		}
		kern.Share(shares, by, ones(buf), q+1)
		clear(sum)
		kern.Accumulate(sum, e, shares, d, q+1)
		for j := range d {
			row := sum[j*wide : j*wide+q+1]
			s.Sum[c*d+j] += row[0]
			for f, v := range row[1:] {
				cross[j*q+f] += v
			}
		}
		for _, v := range rc {
			s.N[c] += v
		}
	}
}

// ones returns a factor of 1 for each row.
func ones(buf *buffers) []float64 {
	v := grow(&buf.rows, kern.Rows)
	for i := range v {
		v[i] = 1
	}
	return v
}

// RowGrad implements GradKernel. With b = S^-1 (x - m) it is r b for a mean, r (b y' - S^-1 L) for the loadings, and for the logarithm of a uniqueness
// (r/2) u_j (b_j^2 - the diagonal of S^-1).
func (b *factorKernel) RowGrad(g []float64, p *Panel, r []float64, ws *Workspace) {
	d, q := b.d, b.q
	row := func(at int) []float64 { return g[at*kern.Rows : (at+1)*kern.Rows] }
	clear(g[:b.family.Params(b.k, d)*kern.Rows])
	e, y, rest := b.scratch(ws)
	for c := range b.k {
		rc, t := r[c*kern.Rows:(c+1)*kern.Rows], &b.all[c]
		if zero(rc) {
			continue
		}
		b.whiten(e, y, rest, c, p.X)
		mute(rest, rc)
		mute(y, rc)
		for j, f := range t.inverse {
			mean, unique := row(c*d+j), row(b.family.Unique(c, j, b.k, d))
			for i, v := range rest[j*kern.Rows : (j+1)*kern.Rows] {
				mean[i] = rc[i] * v * f
				unique[i] += 0.5 * rc[i] * (v*v*f - t.u[j]*t.precision[j])
			}
			for h := range q {
				out, solved := row(b.k*d+(c*d+j)*q+h), t.b[h*d+j]
				for i, v := range y[h*kern.Rows : (h+1)*kern.Rows] {
					out[i] = mean[i]*v - rc[i]*solved
				}
			}
		}
	}
}
