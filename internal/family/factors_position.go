package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// turnTowards turns the factors of the loadings l, which changes no covariance, so that l is as near to old as can be with uniquenesses u
// (orthogonal Procrustes): drivers add and subtract loadings.
func turnTowards(l, old, u []float64) {
	d := len(u)
	q := len(l) / d
	cross := mat.NewDense(q, q, nil)
	for j, v := range u {
		for f, a := range l[j*q : j*q+q] {
			for h, b := range old[j*q : j*q+q] {
				cross.Set(f, h, cross.At(f, h)+a/v*b)
			}
		}
	}
	var svd mat.SVD
	if sum := mat.Norm(cross, 1); !(sum > 0 && sum <= math.MaxFloat64) || !svd.Factorize(cross, mat.SVDFull) {
		return
	}
	var a, b, turn mat.Dense
	svd.UTo(&a)
	svd.VTo(&b)
	turn.Mul(&a, b.T())
	turnBy(l, &turn)
}

// turnBy multiplies the loadings l, by rows, by a q x q matrix.
func turnBy(l []float64, turn *mat.Dense) {
	q, _ := turn.Dims()
	row := make([]float64, q)
	for j := 0; j < len(l); j += q {
		for h := range q {
			row[h] = 0
			for f, a := range l[j : j+q] {
				row[h] += a * turn.At(f, h)
			}
		}
		copy(l[j:j+q], row)
	}
}

// StandardPosition turns the factors of the loadings l, d x q by rows, to where L' diag(1/u) L is diagonal with falling entries and the largest
// loading of each factor is positive. u has d uniquenesses. Covariances stay as they are.
func StandardPosition(l, u []float64) {
	d := len(u)
	q := len(l) / d
	s := &factored{d: d, q: q, l: l, u: u}
	_, axes := eigenSym(symmetric(s.gram(), q))
	turn := mat.NewDense(q, q, nil)
	for f := range q {
		for h := range q {
			turn.Set(h, f, axes.At(h, q-1-f))
		}
	}
	turnBy(l, turn)
	upwards(l, q)
}

// upwards changes the sign of factors so that the largest loading of each is positive.
func upwards(l []float64, q int) {
	for f := range q {
		top := 0.0
		for j := f; j < len(l); j += q {
			if math.Abs(l[j]) > math.Abs(top) {
				top = l[j]
			}
		}
		for j := f; j < len(l) && top < 0; j += q {
			l[j] = -l[j]
		}
	}
}

// Constants of Varimax.
const (
	varimaxRounds = 1000
	varimaxEnd    = 1e-12 // radians
)

// Varimax returns the loadings l, d x q by rows, with factors turned so that the squares of each factor's loadings vary as much as can be (Kaiser 1958, with
// rows of length 1 meanwhile), by planar rotations until none turns further. Factors are in falling order of the sum of squares, and the largest loading of each is positive.
func Varimax(l []float64, q int) []float64 {
	d := len(l) / q
	turned, length := slices.Clone(l), make([]float64, d)
	for j := range d {
		if length[j] = floats.Norm(turned[j*q:j*q+q], 2); length[j] > 0 {
			floats.Scale(1/length[j], turned[j*q:j*q+q])
		}
	}
	for range varimaxRounds {
		most := 0.0
		for f := range q {
			for h := range f {
				most = max(most, math.Abs(turnPlane(turned, q, f, h)))
			}
		}
		if most < varimaxEnd {
			break
		}
	}
	for j := range d {
		floats.Scale(length[j], turned[j*q:j*q+q])
	}
	return bySize(turned, q)
}

// turnPlane turns factors f and h by the angle at which the variances of the squared loadings add up to the most, and returns it.
func turnPlane(l []float64, q, f, h int) float64 {
	var a, b, c, e float64
	n := float64(len(l) / q)
	for j := 0; j < len(l); j += q {
		x, y := l[j+f], l[j+h]
		u, v := x*x-y*y, 2*x*y
		a, b, c, e = a+u, b+v, c+u*u-v*v, e+2*u*v
	}
	angle := math.Atan2(e-2*a*b/n, c-(a*a-b*b)/n) / 4
	sin, cos := math.Sincos(angle)
	for j := 0; j < len(l); j += q {
		x, y := l[j+f], l[j+h]
		l[j+f], l[j+h] = cos*x+sin*y, cos*y-sin*x
	}
	return angle
}

// bySize sorts factors by their sums of squares, the largest first, and turns their largest loadings positive.
func bySize(l []float64, q int) []float64 {
	size, order := make([]float64, q), make([]int, q)
	for i, v := range l {
		size[i%q] += v * v
	}
	for f := range order {
		order[f] = f
	}
	slices.SortStableFunc(order, func(a, b int) int {
		switch {
		case size[a] > size[b]:
			return -1
		case size[a] < size[b]:
			return 1
		}
		return 0
	})
	sorted := make([]float64, len(l))
	for i := range sorted {
		sorted[i] = l[i/q*q+order[i%q]]
	}
	upwards(sorted, q)
	return sorted
}

// symmetric returns the symmetric matrix of q x q numbers by rows.
func symmetric(m []float64, q int) *mat.SymDense {
	s := mat.NewSymDense(q, nil)
	for f := range q {
		for h := range f + 1 {
			s.SetSym(f, h, (m[f*q+h]+m[h*q+f])/2)
		}
	}
	return s
}

// solveInto sets x to m^-1 b for a positive definite m; to 0 where it is not.
func solveInto(x []float64, m *mat.Cholesky, b []float64) {
	var v mat.VecDense
	if m.SolveVecTo(&v, mat.NewVecDense(len(b), b)) != nil {
		clear(x)
		return
	}
	copy(x, v.RawVector().Data)
}

// Rotations calls do with every turn of two factors of a component c of theta: the move of its loadings, which begin at from, and U^-1 times that.
func (g WideFactors) Rotations(theta []float64, k, d int, do func(c, from int, move, dual []float64)) {
	q := g.q()
	for c := range k {
		l, u := g.LoadingsOf(theta, c, k, d), g.UniquenessesOf(theta, c, k, d)
		for a := range q {
			for b := range a {
				move, dual := make([]float64, d*q), make([]float64, d*q)
				for j := range d {
					move[j*q+a], move[j*q+b] = -l[j*q+b], l[j*q+a]
					dual[j*q+a], dual[j*q+b] = move[j*q+a]/u[j], move[j*q+b]/u[j]
				}
				do(c, g.loads(k, d)+c*d*q, move, dual)
			}
		}
	}
}

// PositionGrad calls do with the gradient, as long as theta, of each loading of component c in its standard position; do must not keep it. With J = L' U^-1 L =
// diag(v) there, a move of L turns the factors back by A_fh = dJ_fh / (v_h - v_f). Two factors with the same v cannot be told apart, and their
// gradients are not finite.
func (g WideFactors) PositionGrad(theta []float64, c, k, d int, do func(j, f int, grad []float64)) {
	q, from := g.q(), g.loads(k, d)+c*d*g.q()
	own, u := g.LoadingsOf(theta, c, k, d), g.UniquenessesOf(theta, c, k, d)
	l := slices.Clone(own)
	StandardPosition(l, u)
	s := &factored{d: d, q: q, l: l, u: u}
	sizes := s.gram()
	var turn mat.Dense // own times it is l
	if turn.Solve(mat.NewDense(d, q, slices.Clone(own)), mat.NewDense(d, q, l)) != nil {
		turn.CloneFrom(eye(q))
	}
	grad, there := make([]float64, len(theta)), make([]float64, d*q)
	for j := range d {
		for h := range q {
			clear(grad)
			clear(there)
			there[j*q+h] = 1
			for f := range q {
				if f == h {
					continue
				}
				by := l[j*q+f] / (sizes[h*q+h] - sizes[f*q+f])
				for i, v := range u {
					there[i*q+f] += by * l[i*q+h] / v
					there[i*q+h] += by * l[i*q+f] / v
					grad[g.Unique(c, i, k, d)] -= by * l[i*q+f] * l[i*q+h] / v
				}
			}
			for i := range d { // a move of own is one of l once it is turned
				for a := range q {
					for b := range q {
						grad[from+i*q+a] += there[i*q+b] * turn.At(a, b)
					}
				}
			}
			do(j, h, grad)
		}
	}
}

func eye(q int) *mat.Dense {
	m := mat.NewDense(q, q, nil)
	for f := range q {
		m.Set(f, f, 1)
	}
	return m
}
