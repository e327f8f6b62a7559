package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// A GradKernel can also differentiate the log density of every row by itself. Statistics calls that gradient the row's
// score; the outer products of the rows' scores estimate the information, and so standard errors.
type GradKernel interface {
	Kernel
	// RowGrad sets g[j*kern.Rows+i] to sum_c r_ic d log p_c(x_i) / d theta_j for every parameter j of the family.
	// r[c*kern.Rows+i] is the responsibility of component c for row i, without the row's weight. Where it is 0 the
	// component adds 0, however far the row is.
	RowGrad(g []float64, p *Panel, r []float64, ws *Workspace)
}

// A Grouped family has logits of which only the differences within a group matter: its information is singular along
// a constant added to a group.
type Grouped interface {
	Family
	// Groups calls f with the place of every group in theta and its end.
	Groups(k int, f func(from, to int))
}

// RowGrad implements GradKernel. With y = W (x - m) and b = W'y it is r b for a mean. For a factor it is r times the
// lower triangle of b y' - W', of which W' has the diagonal only; its diagonal times L_jj for the logarithms. It costs
// O(d^2) a component and row.
func (b *gaussianKernel) RowGrad(g []float64, p *Panel, r []float64, ws *Workspace) {
	if p.Holes {
		rowGradsByPass(g, b.g, b, b.theta, b.k, p, r, ws)
		return
	}
	k, d := b.k, b.d
	clear(g[:b.g.Params(k, d)*kern.Rows])
	size := b.g.Shape.Size(d)
	for c := range k {
		rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]
		if zero(rc) {
			continue
		}
		mean, at := g[c*d*kern.Rows:(c+1)*d*kern.Rows], k*d
		if !b.g.Shape.Shared() {
			at += c * size
		}
		scale, w := g[at*kern.Rows:(at+size)*kern.Rows], b.g.scale(b.whiten, c, d)
		kern.Centre(ws.Y, p.X, b.mean[c*d:c*d+d])
		mute(ws.Y, rc)
		switch b.g.Shape.kind() {
		case Full:
			kern.Whiten(ws.V, ws.Y, w, d)
			whitenTransposed(ws.Y, ws.V, w, d)
			fullGrad(mean, scale, w, rc, ws, d)
		case Diag:
			diagGrad(mean, scale, w, rc, ws.Y)
		default:
			sphericalGrad(mean, scale, w[0]*w[0], rc, ws, d)
		}
	}
}

// rowGradsByPass is RowGrad of rows with gaps. By Fisher's identity the gradient of the log density of a row is that of Expected for the sums
// of a pass over the row alone.
func rowGradsByPass(g []float64, f Smooth, kernel Kernel, theta []float64, k int, p *Panel, r []float64, ws *Workspace) {
	d := p.D
	s, grad := NewStats(k, d, f.Sums(k, d), 0), make([]float64, f.Params(k, d))
	one, own := &Panel{N: 1, D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}, make([]float64, k*kern.Rows)
	clear(g[:len(grad)*kern.Rows])
	for i := range p.N {
		for j := range d {
			one.X[j*kern.Rows] = p.X[j*kern.Rows+i]
		}
		one.Mark()
		for c := range k {
			own[c*kern.Rows] = r[c*kern.Rows+i]
		}
		s.Reset()
		kernel.Add(s, one, own, ws)
		f.Grad(grad, theta, s)
		for j, v := range grad {
			g[j*kern.Rows+i] = v
		}
	}
}

// mute sets the rows of y that do not belong to the component to 0: 0 times what may overflow must be 0.
func mute(y, r []float64) {
	for i, v := range r {
		if v == 0 {
			for at := i; at < len(y); at += kern.Rows {
				y[at] = 0
			}
		}
	}
}

// whitenTransposed sets y = W'x for each row, W as in kern.Whiten. y must not overlap x.
func whitenTransposed(y, x, w []float64, d int) {
	clear(y[:d*kern.Rows])
	for m := range d {
		from := x[m*kern.Rows : m*kern.Rows+kern.Rows]
		for j, f := range w[tri(m, 0) : tri(m, m)+1] {
			to := y[j*kern.Rows : j*kern.Rows+kern.Rows]
			for i, v := range from {
				to[i] += f * v
			}
		}
	}
}

// fullGrad sets mean and adds to scale for ws.V = y and ws.Y = b.
func fullGrad(mean, scale, w, r []float64, ws *Workspace, d int) {
	for j := range d {
		rb := mean[j*kern.Rows : j*kern.Rows+kern.Rows]
		for i, v := range ws.Y[j*kern.Rows : j*kern.Rows+kern.Rows] {
			rb[i] = r[i] * v
		}
		for l := range j {
			out := scale[tri(j, l)*kern.Rows : (tri(j, l)+1)*kern.Rows]
			for i, v := range ws.V[l*kern.Rows : l*kern.Rows+kern.Rows] {
				out[i] += rb[i] * v
			}
		}
		out, sd := scale[tri(j, j)*kern.Rows:(tri(j, j)+1)*kern.Rows], 1/w[tri(j, j)]
		for i, v := range ws.V[j*kern.Rows : j*kern.Rows+kern.Rows] {
			out[i] += rb[i]*v*sd - r[i]
		}
	}
}

// diagGrad sets mean and adds to scale for y = x - m.
func diagGrad(mean, scale, w, r, y []float64) {
	for j, f := range w {
		m, s := mean[j*kern.Rows:j*kern.Rows+kern.Rows], scale[j*kern.Rows:j*kern.Rows+kern.Rows]
		for i, v := range y[j*kern.Rows : j*kern.Rows+kern.Rows] {
			z := f * v
			m[i] = r[i] * f * z
			s[i] += r[i] * (z*z - 1)
		}
	}
}

// sphericalGrad sets mean and adds to scale for ws.Y = x - m; f is 1 / variance. Squares are added up here, since the last
// digits of kern.Norms depend on the level.
func sphericalGrad(mean, scale []float64, f float64, r []float64, ws *Workspace, d int) {
	norm := ws.T[:kern.Rows]
	clear(norm)
	for j := range d {
		m := mean[j*kern.Rows : j*kern.Rows+kern.Rows]
		for i, v := range ws.Y[j*kern.Rows : j*kern.Rows+kern.Rows] {
			m[i] = r[i] * f * v
			norm[i] += v * v
		}
	}
	for i, v := range r {
		scale[i] += v * (f*norm[i] - float64(d))
	}
}

// CovarianceGrad sets grad, as long as the scale u, to the gradient of entry (j, l) of its covariance in the free
// coordinates u. A shape without covariances has entries with j = l only.
func (g Gaussian) CovarianceGrad(grad, u []float64, j, l, d int) {
	clear(grad)
	switch g.Shape.kind() {
	case Full: // S_jl = sum_m L_jm L_lm
		at := func(j, m int) (entry, slope float64) {
			if j == m {
				v := math.Exp(u[tri(j, j)])
				return v, v
			}
			return u[tri(j, m)], 1
		}
		for m := range min(j, l) + 1 {
			a, da := at(j, m)
			b, db := at(l, m)
			grad[tri(j, m)] += da * b
			grad[tri(l, m)] += db * a
		}
	case Diag:
		grad[j] = 2 * math.Exp(2*u[j])
	default:
		grad[0] = 2 * math.Exp(2*u[0])
	}
}

// RowGrad implements GradKernel: r (x - p).
func (b *bernoulliKernel) RowGrad(g []float64, p *Panel, r []float64, _ *Workspace) {
	for c := range b.k {
		rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]
		for j := range b.d {
			at, one := c*b.d+j, logistic(b.logit[c*b.d+j])
			out := g[at*kern.Rows : at*kern.Rows+kern.Rows]
			for i, v := range p.X[j*kern.Rows : j*kern.Rows+kern.Rows] {
				out[i] = rc[i] * (v - one)
			}
		}
	}
	muteGaps(g, p, b.k, b.d)
}

// muteGaps sets the gradients of k x d parameters, one a column, to 0 for the rows that lack the cell.
func muteGaps(g []float64, p *Panel, k, d int) {
	if !p.Holes {
		return
	}
	for at, there := range p.Mask[:d*kern.Rows] {
		for c := 0; there == 0 && c < k; c++ {
			g[c*d*kern.Rows+at] = 0
		}
	}
}

// RowGrad implements GradKernel: r (1 - p) at the level of the cell and -r p at the others; 0 for a cell that is no
// level.
func (b *categoricalKernel) RowGrad(g []float64, p *Panel, r []float64, _ *Workspace) {
	var code [kern.Rows]int
	width := b.width - len(b.levels)
	for c := range b.k {
		rc, logp, at := r[c*kern.Rows:c*kern.Rows+kern.Rows], b.logp[c*b.width:(c+1)*b.width], c*width
		for j, levels := range b.levels {
			codes(&code, p.X[j*kern.Rows:], levels)
			for l := range levels {
				out, prob := g[(at+l)*kern.Rows:(at+l+1)*kern.Rows], math.Exp(logp[l])
				for i, v := range code {
					switch v {
					case l:
						out[i] = rc[i] * (1 - prob)
					case levels:
						out[i] = 0
					default:
						out[i] = -rc[i] * prob
					}
				}
			}
			at, logp = at+levels, logp[levels+1:]
		}
	}
}

// Groups implements Grouped: a group a component and column.
func (f Categorical) Groups(k int, do func(from, to int)) {
	f.columns(k, func(_, _, from, to int) { do(from, to) })
}
