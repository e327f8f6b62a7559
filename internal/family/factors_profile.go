package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// profile is what the uniquenesses u of one component cost once the loadings are the best for them. With v and V the eigenvalues, largest first, and
// eigenvectors of U^-1/2 C U^-1/2, those are U^1/2 V_q (v_q - 1)^1/2 of the first q, as far as v is above 1 (Lawley 1940), and minus twice the
// expected log-likelihood is, but for a constant, n times
//
//	sum_j log u_j + sum_f (log v_f + 1) + sum of the other v
//
// Joreskog (1967) minimises it by Newton's method in log u.
type profile struct {
	packed []float64     // covariance of the rows, a packed lower triangle
	c      *mat.SymDense // the same
	n      float64
	d, q   int

	u      []float64 // d: roots of the uniquenesses
	values []float64 // eigenvalues, smallest first
	axes   *mat.Dense
	kept   int // factors with loadings: of the largest eigenvalues
}

func newProfile(packed []float64, d int, n float64, q int) *profile {
	return &profile{packed: packed, c: symmetricOf(packed, d), n: n, d: d, q: q}
}

// at goes to the uniquenesses whose logarithms are given, and returns their cost.
func (p *profile) at(log []float64) (cost float64) {
	d := p.d
	p.u = make([]float64, d)
	for j, v := range log {
		p.u[j] = math.Exp(v / 2)
		cost += v
	}
	scaled := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			scaled.SetSym(j, l, p.c.At(j, l)/(p.u[j]*p.u[l]))
		}
	}
	p.values, p.axes = eigenSym(scaled)
	p.kept = 0
	for i, v := range slices.Backward(p.values) {
		if d-i <= p.q && v > 1 {
			p.kept++
			cost += math.Log(v) + 1
		} else {
			cost += v
		}
	}
	return p.n * cost
}

// loadings returns the best loadings, d x q by rows.
func (p *profile) loadings() []float64 {
	l := make([]float64, p.d*p.q)
	for f := range p.kept {
		i := p.d - 1 - f
		size := math.Sqrt(p.values[i] - 1)
		for j := range p.d {
			l[j*p.q+f] = p.u[j] * size * p.axes.At(j, i)
		}
	}
	return l
}

// addGradient adds the gradient of the cost in log u: n (1 - sum over the factors of V_jf^2 - sum over the others of v_g V_jg^2).
func (p *profile) addGradient(grad []float64) {
	for j := range p.d {
		sum := 1.0
		for i, v := range p.values {
			a := p.axes.At(j, i)
			if i >= p.d-p.kept {
				v = 1
			}
			sum -= v * a * a
		}
		grad[j] += p.n * sum
	}
}

// addHessian adds the second derivatives (Clarke 1970). With P = sum V_g V_g' and A = sum v_g V_g V_g' over all but the factors they are n times
//
//	A_jl P_jl + sum_f sum_g V_jf V_lf V_jg V_lg (v_f + v_g) (1 - v_g) / (v_f - v_g)
func (p *profile) addHessian(h *mat.SymDense) {
	d, rest := p.d, p.d-p.kept
	others := p.axes.Slice(0, d, 0, max(rest, 1))
	scaled := mat.NewDense(d, max(rest, 1), nil)
	var plain, weighted mat.Dense
	product := func(to *mat.Dense, weight func(g int) float64) {
		for j := range d {
			for g := range rest {
				scaled.Set(j, g, weight(g)*others.At(j, g))
			}
		}
		to.Mul(scaled, others.T())
	}
	product(&plain, func(int) float64 { return 1 })
	product(&weighted, func(g int) float64 { return p.values[g] })
	add := func(other func(j, l int) float64) {
		for j := range d {
			for l := range j + 1 {
				h.SetSym(j, l, h.At(j, l)+p.n*weighted.At(j, l)*other(j, l))
			}
		}
	}
	add(plain.At)
	for f := rest; f < d; f++ {
		v := p.values[f]
		product(&weighted, func(g int) float64 {
			w := p.values[g]
			return (v + w) * (1 - w) / max(v-w, 1e-12*v)
		})
		add(func(j, l int) float64 { return p.axes.At(j, f) * p.axes.At(l, f) })
	}
}

// Constants of Newton's method.
const (
	profileSteps = 100
	longestStep  = 2.0   // in the logarithm of a uniqueness
	profileEnd   = 1e-24 // squared decrement a row at which it ends
	profileNoise = 1e-14 // rounding of the cost, and of its eigenvalues, relative: below it Newton's steps are taken as they are
)

// newtonUniquenesses returns the logarithms of the uniquenesses that minimise the cost of all profiles together, none below least, from the given ones.
// It leaves the profiles there.
func newtonUniquenesses(all []*profile, log, least []float64) []float64 {
	d := len(log)
	cost := func(log []float64) (sum float64) {
		for _, p := range all {
			sum += p.at(log)
		}
		return sum
	}
	n := 0.0
	for _, p := range all {
		n += p.n
	}
	now, before := cost(log), math.Inf(1)
	for range profileSteps {
		grad := make([]float64, d)
		for _, p := range all {
			p.addGradient(grad)
		}
		var free []int
		for j, v := range grad {
			if log[j] > least[j] || v < 0 {
				free = append(free, j)
			}
		}
		move := newtonMove(all, grad, free)
		slope := floats.Dot(move, grad)
		noise := profileNoise * math.Abs(now)
		for _, p := range all {
			noise += profileNoise * p.n * p.values[d-1]
		}
		if !(-slope > profileEnd*n) || -slope < noise && -slope > before/2 {
			return log
		}
		before = -slope
		if far := floats.Norm(move, math.Inf(1)); far > longestStep {
			floats.Scale(longestStep/far, move)
			slope *= longestStep / far
		}
		next, better := descend(cost, now+noise, log, least, move, slope)
		if next == nil {
			cost(log)
			return log
		}
		log, now = next, better
	}
	return log
}

// newtonMove returns the step of Newton's method among the free uniquenesses. Where the cost is concave, as on the way to a Heywood case, curvatures count
// by their sizes: the step leads down all the same, and far where the slope is long.
func newtonMove(all []*profile, grad []float64, free []int) []float64 {
	move := make([]float64, len(grad))
	if len(free) == 0 {
		return move
	}
	h := mat.NewSymDense(len(grad), nil)
	for _, p := range all {
		p.addHessian(h)
	}
	part, right, x := mat.NewSymDense(len(free), nil), mat.NewVecDense(len(free), nil), mat.NewVecDense(len(free), nil)
	for a, j := range free {
		right.SetVec(a, -grad[j])
		for b, l := range free[:a+1] {
			part.SetSym(a, b, h.At(j, l))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(part) || chol.SolveVecTo(x, right) != nil {
		values, axes := eigenSym(part)
		var along mat.VecDense
		along.MulVec(axes.T(), right)
		least := 1e-8 * max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
		for i, v := range values {
			along.SetVec(i, along.AtVec(i)/max(math.Abs(v), least))
		}
		x.MulVec(axes, &along)
	}
	for a, j := range free {
		move[j] = x.AtVec(a)
	}
	return move
}

// descend returns the first point on the move, halved again and again, that costs enough less, and its cost; nil where none does.
func descend(cost func([]float64) float64, now float64, log, least, move []float64, slope float64) (next []float64, better float64) {
	step := 1.0
	for range 40 {
		next = make([]float64, len(log))
		for j, v := range log {
			next[j] = max(v+step*move[j], least[j])
		}
		if slices.Equal(next, log) {
			return nil, now
		}
		if better = cost(next); better <= now+1e-4*step*slope {
			return next, better
		}
		step /= 2
	}
	return nil, now
}

// eigenSym returns the eigenvalues, smallest first, and eigenvectors of a symmetric matrix; of one that is not finite those of the unit matrix.
func eigenSym(s *mat.SymDense) (values []float64, axes *mat.Dense) {
	d := s.SymmetricDim()
	var e mat.EigenSym
	axes = mat.NewDense(d, d, nil)
	if sum := mat.Sum(s); sum-sum != 0 || !e.Factorize(s, true) {
		for j := range d {
			axes.Set(j, j, 1)
		}
		return slices.Repeat([]float64{1}, d), axes
	}
	e.VectorsTo(axes)
	return e.Values(nil), axes
}

// symmetricOf returns the symmetric matrix of a packed lower triangle.
func symmetricOf(q []float64, d int) *mat.SymDense {
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			s.SetSym(j, l, q[tri(j, l)])
		}
	}
	return s
}
