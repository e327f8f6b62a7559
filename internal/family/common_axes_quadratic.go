package family

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// quadraticModel is the second-order model of the cost of common axes. A rotation takes the axes D to D cay(W) with W skew, which is
// I + W + W W/2 and less: with the columns w_a of W, B = D' S D and r_a = 1 / b_aa,
//
//	sum_a log b_aa  rises by  2 sum_a r_a (B w_a)_a + sum_a w_a' M_a w_a
//	(M_a)_jl = B_jl (r_a - (r_j + r_l)/2) - 2 r_a^2 B_aj B_al.
//
// The M_a are summed over components once, after which a product with the second derivatives costs d^3 whatever their
// number. A step is the strictly lower triangle of W.
type quadraticModel struct {
	d      int
	slope  []float64   // d (d - 1) / 2: first derivatives
	m      []float64   // d x d x d: sum_c f_c M_a, f_c = n_c or, with one volume for all, n_c |B_c|^(1/d) / d, over their sum
	ranks  [][]float64 // with one volume for all: what components add to the second derivatives, as r r'
	blocks []float64   // d x d x d: see block
	w, mw  []float64   // memory, d x d: the w_a, and what a matrix makes of them
}

// quadratic returns the model about the axes.
func (p *commonAxes) quadratic() *quadraticModel {
	d := p.d
	f, total := make([]float64, len(p.n)), 0.0
	for c, n := range p.n {
		if f[c] = n; p.equal {
			f[c] *= math.Exp(p.logs(c) / float64(d))
		}
		total += f[c]
	}
	h := &quadraticModel{d: d, slope: make([]float64, d*(d-1)/2), m: make([]float64, d*d*d), w: make([]float64, d*d), mw: make([]float64, d*d)}
	r := make([]float64, d)
	for c := range p.n {
		b, share := p.b[c*d*d:(c+1)*d*d], f[c]/total
		for a := range d {
			r[a] = 1 / b[a*d+a]
		}
		if p.equal {
			own := make([]float64, len(h.slope))
			slopes(own, b, r, math.Sqrt(share)/float64(d), d)
			h.ranks = append(h.ranks, own)
			share /= float64(d)
		}
		slopes(h.slope, b, r, share, d)
		h.add(b, r, share)
	}
	for a := range d {
		h.blocks = append(h.blocks, h.block(a)...)
	}
	return h
}

// slopes adds f times the first derivatives of sum_a log b_aa.
func slopes(out, b, r []float64, f float64, d int) {
	for j := range d {
		for l := range j {
			out[strict(j, l)] += 2 * f * b[j*d+l] * (r[l] - r[j])
		}
	}
}

// add adds the M_a of a component of weight f.
func (h *quadraticModel) add(b, r []float64, f float64) {
	d := h.d
	for a := range d {
		for j := range d {
			if j == a {
				continue
			}
			m, two := h.m[(a*d+j)*d:(a*d+j)*d+d], 2*r[a]*r[a]*b[a*d+j]
			for l, v := range b[j*d : j*d+d] {
				m[l] += f * (v*(r[a]-(r[j]+r[l])/2) - two*b[a*d+l])
			}
		}
	}
}

// block returns one block of the block-Jacobi preconditioner: the inverse, d x d, of the second derivatives in the rotations of
// axis a towards every other. Where a component is flat along an axis the cost is steep in all of these together, which no pair
// alone tells.
func (h *quadraticModel) block(a int) []float64 {
	const row = 1e-9 // of the mean of the diagonal: what is added to it at first where the cost is not convex
	d := h.d
	s, mean := make([]float64, d*d), 0.0
	for j := range d {
		for l := range d {
			if j != a && l != a {
				s[j*d+l] = h.m[(a*d+j)*d+l] + h.m[(a*d+l)*d+j]
			}
		}
		if j != a {
			s[j*d+j] += 2 * h.m[(j*d+a)*d+a]
			mean += math.Abs(s[j*d+j]) / float64(d-1)
		}
	}
	s[a*d+a] = max(mean, math.SmallestNonzeroFloat64)
	inverse := make([]float64, d*d)
	for shift := 0.0; shift <= math.MaxFloat64; shift = max(10*shift, row*s[a*d+a]) {
		copy(inverse, s)
		for j := range d {
			inverse[j*d+j] += shift
		}
		t, ok := lapack64.Potrf(blas64.Symmetric{Uplo: blas.Lower, N: d, Stride: d, Data: inverse})
		if ok {
			lapack64.Potri(t)
			break
		}
		clear(inverse) // stays 0, no step, where derivatives overflow: at a place that a search tries, far from all rows
	}
	for j := range d {
		for l := range j {
			inverse[l*d+j] = inverse[j*d+l]
		}
	}
	for l := range d {
		inverse[a*d+l], inverse[l*d+a] = 0, 0
	}
	return inverse
}

// through sets y to what the turn x becomes when each column w_a of W goes through its own of the d matrices m.
func (h *quadraticModel) through(m, y, x []float64) {
	d := h.d
	for j := range d {
		for l := range j {
			h.w[l*d+j], h.w[j*d+l] = x[strict(j, l)], -x[strict(j, l)]
		}
	}
	for a := range d {
		w := h.w[a*d : a*d+d]
		for j := range d {
			h.mw[a*d+j] = dot(m[(a*d+j)*d:(a*d+j)*d+d], w)
		}
	}
	for j := range d {
		for l := range j {
			y[strict(j, l)] = h.mw[l*d+j] - h.mw[j*d+l]
		}
	}
}

// times sets y to half the second derivatives times x.
func (h *quadraticModel) times(y, x []float64) {
	h.through(h.m, y, x)
	for _, own := range h.ranks {
		f := dot(own, x) / 2
		for i, v := range own {
			y[i] += f * v
		}
	}
}

// axesSolve is the residual of the equations of a long step, beside their right side. It is less the shorter the step is, so
// that the last ones are as good as exact (Eisenstat and Walker 1996).
const axesSolve = 0.1

// axesStep is a step of the quadratic model.
type axesStep struct {
	w     []float64 // W, its strictly lower triangle
	size  float64   // length, in the metric of the preconditioner: its square is a cost
	falls float64   // by how much the model falls
	edge  bool      // the radius stopped it
}

// step returns the step that is the best of the model within the radius: Newton's where the cost is convex and the step
// short, else one to the edge, by conjugate gradients (Steihaug 1983).
func (h *quadraticModel) step(radius float64) (t axesStep) {
	n := len(h.slope)
	t.w = make([]float64, n)
	r, z, q, y := make([]float64, n), make([]float64, n), make([]float64, n), make([]float64, n)
	for i, g := range h.slope {
		r[i] = -g
	}
	h.through(h.blocks, z, r)
	copy(q, z)
	rz := dot(r, z)
	end := rz * min(axesSolve*axesSolve, math.Sqrt(rz))
	ww, wq, qq := 0.0, 0.0, rz // products in the metric of the stars
	for range 2 * n {
		if !(rz > end) {
			break
		}
		h.times(y, q)
		curve := 2 * dot(q, y)
		alpha := rz / curve
		if t.edge = !(curve > 0) || ww+alpha*(2*wq+alpha*qq) >= radius*radius; t.edge {
			alpha = (math.Sqrt(wq*wq+qq*(radius*radius-ww)) - wq) / qq
		}
		t.falls += alpha * (rz - alpha*curve/2)
		ww += alpha * (2*wq + alpha*qq)
		for i := range r {
			t.w[i] += alpha * q[i]
			r[i] -= 2 * alpha * y[i]
		}
		if t.edge {
			break
		}
		h.through(h.blocks, z, r)
		before := rz
		rz = dot(r, z)
		beta := rz / before
		wq, qq = beta*(wq+alpha*qq), rz+beta*beta*qq
		for i := range q {
			q[i] = z[i] + beta*q[i]
		}
	}
	t.size = math.Sqrt(ww)
	return t
}

func dot(x, y []float64) (sum float64) {
	for i, v := range x {
		sum += v * y[i]
	}
	return sum
}
