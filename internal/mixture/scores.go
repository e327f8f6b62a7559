package mixture

import (
	"errors"
	"math"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// RowGrad sets g[j*kern.Rows+i] to d log p(x_i) / d theta_j for every parameter j and every row of p: the score of the
// row, as statistics calls it. For the logits that is r_ic - pi_c, for the family its own. b is m bound at beta = 1, and
// its kernel must be a family.GradKernel. Row weights play no part.
func (m *Mixture) RowGrad(g []float64, b *Bound, p *family.Panel, sc *Scratch) {
	r := b.Logits(p, sc)
	kern.Softmax(r, sc.lse, sc.ent, sc.tmp, len(r)/kern.Rows, 1)
	l := m.logits()
	b.kernel.(family.GradKernel).RowGrad(g[l*kern.Rows:], p, r[:b.k*kern.Rows], sc.Workspace)
	for c := range l {
		pi := 0.0
		if c < b.k {
			pi = math.Exp(b.logw[c])
		} else {
			pi = math.Exp(b.noise.logPi)
		}
		for i, v := range r[c*kern.Rows : c*kern.Rows+kern.Rows] {
			g[c*kern.Rows+i] = v - pi
		}
	}
}

// HasRowGrad reports whether b can be given to RowGrad.
func (b *Bound) HasRowGrad() bool {
	_, ok := b.kernel.(family.GradKernel)
	return ok
}

// Identified returns the places in theta, in order, of the parameters that rows can tell: all that are not held, but one
// of each group of logits of which only the differences matter. That one, the first of the largest, stays; what is left
// are coordinates of the model without a gauge. held may be nil.
func (m *Mixture) Identified(theta []float64, held []bool) []int {
	out := make([]bool, len(theta))
	copy(out, held)
	anchor := func(from, to int) {
		top := -1
		for i := from; i < to; i++ {
			if !out[i] && (top < 0 || theta[i] > theta[top]) {
				top = i
			}
		}
		if top >= 0 {
			out[top] = true
		}
	}
	m.Groups(anchor)
	var keep []int
	for i, v := range out {
		if !v {
			keep = append(keep, i)
		}
	}
	return keep
}

// Groups calls do with the place of every group of logits of which only the differences matter, and its end.
func (m *Mixture) Groups(do func(from, to int)) {
	l := m.logits()
	if m.Chain {
		m.chain().Groups(m.K+1, do)
	} else {
		do(0, l)
	}
	if f, ok := m.Family.(family.Grouped); ok {
		f.Groups(m.K, func(from, to int) { do(l+from, l+to) })
	}
}

// Uncertainty is the covariance matrix of estimated parameters: the inverse of their information.
type Uncertainty struct {
	place map[int]int // of a parameter in cov
	cov   mat.SymDense
}

// ErrSingular is why an information has no inverse.
var ErrSingular = errors.New("the information is singular: the rows cannot tell some parameters apart")

// maxCondition is the largest condition number of an information, scaled to a diagonal of 1, that is inverted. Sums of
// outer products are good to about 1e-14 of it.
const maxCondition = 1e12

// Invert returns the uncertainty of the parameters at the places keep of theta, whose information is info, and
// ErrSingular where that is not safely positive definite.
func Invert(info *mat.SymDense, keep []int) (*Uncertainty, error) {
	u := &Uncertainty{place: make(map[int]int, len(keep))}
	n := len(keep)
	if n == 0 {
		return u, nil
	}
	unit := make([]float64, n) // parameters have units of their own: in units of 1/sqrt(I_jj) none is lost
	for j, at := range keep {
		u.place[at] = j
		unit[j] = 1 / math.Sqrt(info.At(j, j))
		if !(unit[j] > 0 && unit[j] <= math.MaxFloat64) {
			return nil, ErrSingular
		}
	}
	scaled := mat.NewSymDense(n, nil)
	for j := range n {
		for l := j; l < n; l++ {
			scaled.SetSym(j, l, info.At(j, l)*unit[j]*unit[l])
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(scaled) || !(chol.Cond() < maxCondition) || chol.InverseTo(&u.cov) != nil {
		return nil, ErrSingular
	}
	for j := range n {
		for l := j; l < n; l++ {
			u.cov.SetSym(j, l, u.cov.At(j, l)*unit[j]*unit[l])
		}
	}
	return u, nil
}

// StandardError returns the standard error of a function of theta by the delta method: the root of g' V g, where grad is
// the part of its gradient g from place from of theta on and the rest is 0. Parameters that were left out count as known.
// It is NaN where that leaves none.
func (u *Uncertainty) StandardError(from int, grad []float64) float64 {
	var at []int
	var g []float64
	for j, v := range grad {
		if place, ok := u.place[from+j]; ok && v != 0 {
			at, g = append(at, place), append(g, v)
		}
	}
	if len(at) == 0 {
		return math.NaN()
	}
	sum := 0.0
	for i, a := range at {
		for j, b := range at {
			sum += g[i] * g[j] * u.cov.At(a, b)
		}
	}
	return math.Sqrt(sum)
}
