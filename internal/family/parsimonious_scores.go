package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// parsimoniousKernel is the kernel of Plain, with gradients of rows in the coordinates of a Parsimonious family.
type parsimoniousKernel struct {
	Kernel
	family Parsimonious
	theta  []float64 // with gaps: the parameters
	l      layout
	mean   []float64 // k x d
	all    []whitener
}

// whitener is what gradients of rows need of one covariance. Matrices are d x d.
type whitener struct {
	sd     []float64 // d: standard deviations along the axes
	w      []float64 // triangular: the inverse of L
	z      []float64 // turned: diag(1/sd) D'
	p, q   []float64 // turned: M diag(1/sd^2) D' and M D'
	moving bool      // directions are coordinates
}

// whitener returns that of a covariance whose scale in Plain is u.
func (e *ellipsoid) whitener(u []float64) whitener {
	d := len(e.log)
	t := whitener{sd: make([]float64, d), moving: e.unit != nil || e.turn != nil}
	for a, v := range e.log {
		t.sd[a] = math.Exp(v)
	}
	switch {
	case e.unit != nil:
		t.w = make([]float64, len(u))
		Gaussian{Shape: Full}.inverse(t.w, u, d)
	case e.turn != nil:
		t.z, t.p, t.q = make([]float64, d*d), make([]float64, d*d), make([]float64, d*d)
		for a := range d {
			for j := range d {
				x := e.turn.axes[j*d+a]
				t.z[a*d+j] = x / t.sd[a]
				for i := range d {
					t.q[i*d+j] += e.turn.m[i*d+a] * x
					t.p[i*d+j] += e.turn.m[i*d+a] * x / (t.sd[a] * t.sd[a])
				}
			}
		}
	}
	return t
}

// Fuse implements Fusable.
func (b *parsimoniousKernel) Fuse(logw []float64) FusedKernel { return b.Kernel.(Fusable).Fuse(logw) }

// RowGrad implements GradKernel. With z the row in standard deviations along the axes it is r (z_a^2 - 1) for the
// logarithm of standard deviation a, which is spread over volume and shape.
func (b *parsimoniousKernel) RowGrad(g []float64, p *Panel, r []float64, ws *Workspace) {
	if p.Holes {
		rowGradsByPass(g, b.family, b.Kernel, b.theta, len(b.all), p, r, ws)
		return
	}
	d := b.l.d
	rows := func(i, n int) []float64 { return g[i*kern.Rows : (i+n)*kern.Rows] }
	clear(rows(0, b.l.end))
	for c := range b.all {
		rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]
		if zero(rc) {
			continue
		}
		kern.Centre(ws.Y, p.X, b.mean[c*d:c*d+d])
		mute(ws.Y, rc)
		t, mean := &b.all[c], rows(c*d, d)
		shape, direction := b.l.shapes, b.l.directions
		if b.l.ownShape {
			shape += c * (d - 1)
		}
		if b.l.ownDirection {
			direction += c * b.l.turns
		}
		switch {
		case t.w != nil:
			t.triangle(mean, rows(direction, b.l.turns), rc, ws, d)
		case t.moving:
			t.turned(mean, rows(direction, b.l.turns), rc, ws, d)
		default:
			t.diagonal(mean, rc, ws)
		}
		spread(rows(b.l.volume(c), 1), rows(shape, d-1), rc, ws.V, d)
	}
}

// diagonal sets mean, and ws.V to the whitened rows.
func (t *whitener) diagonal(mean, r []float64, ws *Workspace) {
	for j, sd := range t.sd {
		z, out := ws.V[j*kern.Rows:(j+1)*kern.Rows], mean[j*kern.Rows:(j+1)*kern.Rows]
		for i, v := range ws.Y[j*kern.Rows : (j+1)*kern.Rows] {
			z[i] = v / sd
			out[i] = r[i] * z[i] / sd
		}
	}
}

// triangle sets mean, adds to the gradient of T and sets ws.V to the whitened rows.
func (t *whitener) triangle(mean, unit, r []float64, ws *Workspace, d int) {
	kern.Whiten(ws.V, ws.Y, t.w, d)
	whitenTransposed(ws.Y, ws.V, t.w, d)
	for j := range d {
		rb := mean[j*kern.Rows : (j+1)*kern.Rows]
		for i, v := range ws.Y[j*kern.Rows : (j+1)*kern.Rows] {
			rb[i] = r[i] * v
		}
		for l := range j {
			out := unit[strict(j, l)*kern.Rows : (strict(j, l)+1)*kern.Rows]
			for i, v := range ws.V[l*kern.Rows : (l+1)*kern.Rows] {
				out[i] += rb[i] * v * t.sd[l]
			}
		}
	}
}

// turned sets mean, adds to the gradient of K and sets ws.V to the whitened rows. With x the row less the mean the
// gradient of K is p q' - q p', where p = M diag(1/sd^2) D'x and q = M D'x.
func (t *whitener) turned(mean, k, r []float64, ws *Workspace, d int) {
	p, q := ws.V, mean
	timesRows(p, t.p, ws.Y, d)
	timesRows(q, t.q, ws.Y, d)
	for j := range d {
		for l := range j {
			out := k[strict(j, l)*kern.Rows : (strict(j, l)+1)*kern.Rows]
			for i := range out {
				out[i] += r[i] * (p[j*kern.Rows+i]*q[l*kern.Rows+i] - q[j*kern.Rows+i]*p[l*kern.Rows+i])
			}
		}
	}
	timesRows(ws.V, t.z, ws.Y, d)
	clear(mean)
	for a := range d {
		z := ws.V[a*kern.Rows : (a+1)*kern.Rows]
		for j := range d {
			out, f := mean[j*kern.Rows:(j+1)*kern.Rows], t.z[a*d+j]
			for i, v := range z {
				out[i] += r[i] * f * v
			}
		}
	}
}

// timesRows sets y = A x for each row, A d x d.
func timesRows(y, a, x []float64, d int) {
	for j := range d {
		out := y[j*kern.Rows : (j+1)*kern.Rows]
		clear(out)
		for l := range d {
			f := a[j*d+l]
			for i, v := range x[l*kern.Rows : (l+1)*kern.Rows] {
				out[i] += f * v
			}
		}
	}
}

// spread adds r (z_a^2 - 1) to the gradients of volume and shape: the last axis moves against all others.
func spread(volume, shape, r, z []float64, d int) {
	last := z[(d-1)*kern.Rows : d*kern.Rows]
	for a := range d {
		za := z[a*kern.Rows : (a+1)*kern.Rows]
		for i, v := range za {
			volume[i] += r[i] * (v*v - 1)
			if a < d-1 {
				shape[a*kern.Rows+i] += r[i] * (v*v - last[i]*last[i])
			}
		}
	}
}

// CovarianceGrad sets grad, as long as theta, to the gradient of entry (j, l) of the covariance of component c. Shapes
// without covariances have entries with j = l only.
func (g Parsimonious) CovarianceGrad(grad, theta []float64, c, j, l, k, d int) {
	clear(grad)
	lay, e := g.layout(k, d), g.ellipsoids(theta, k, d)[c]
	byLog := make([]float64, d) // the gradient in the logarithms along the axes
	axis := func(i, a int) float64 {
		switch {
		case e.turn != nil:
			return e.turn.axes[i*d+a]
		case i == a:
			return 1
		case e.unit != nil && i > a:
			return e.unit[strict(i, a)]
		}
		return 0
	}
	for a, v := range e.log {
		byLog[a] = 2 * axis(j, a) * axis(l, a) * math.Exp(2*v)
	}
	lay.spread(grad, byLog, c)
	to := lay.direction(grad, c)
	switch {
	case e.turn != nil:
		turn := make([]float64, len(to)) // d(D S D') = D (W S - S W) D'
		for a := range d {
			for b := range a {
				gap := math.Exp(2*e.log[b]) - math.Exp(2*e.log[a])
				turn[strict(a, b)] = (axis(j, a)*axis(l, b) + axis(j, b)*axis(l, a)) * gap
			}
		}
		copy(to, e.turn.pull(turn))
	case e.unit != nil:
		for a := range d {
			v := math.Exp(2 * e.log[a])
			if j > a {
				to[strict(j, a)] += axis(l, a) * v
			}
			if l > a {
				to[strict(l, a)] += axis(j, a) * v
			}
		}
	}
}

// spread adds the gradient in the logarithms along the axes of component c to that in volume and shape.
func (l layout) spread(grad, byLog []float64, c int) {
	last, s := byLog[l.d-1], l.shape(grad, c)
	for a, v := range byLog {
		grad[l.volume(c)] += v
		if a < l.d-1 {
			s[a] += v - last
		}
	}
}
