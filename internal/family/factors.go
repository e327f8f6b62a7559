package family

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MinUniqueness is the floor under uniquenesses, as a share of the column's own variance. A uniqueness there is a Heywood case: the
// factors then determine the column.
const MinUniqueness = 1e-6

// NarrowColumns is the number of columns up to which Factors serves, and WideFactors beyond: the M-step of Factors takes d^3 operations,
// some milliseconds at 64 columns, and reaches the maximum that the one of WideFactors goes towards.
const NarrowColumns = 64

// WideFactors is the multivariate normal family whose covariances have few factors:
//
//	S = L L' + diag(u), L the d x q loadings, u the d uniquenesses
//
// of each component by itself (OwnFactors), with one u for all (TiedFactors: Ghahramani and Hinton 1997), or with one number for the
// whole of u (RoundFactors: the principal component analysers of Tipping and Bishop 1999). One component is factor analysis, or
// probabilistic PCA. A row is x = m + L y + e with q hidden factors y, standard normal, and noise e of variances u.
//
// theta holds k x d means, then k times the loadings by rows, then logarithms of uniquenesses: k x d, d or k. L is determined up to a
// rotation of the factors, so that q(q-1)/2 directions a component are flat. The metric leaves them out: the length of a rotation is 0, and
// Precondition returns moves without one.
//
// A sweep needs nothing that is d x d. With B = L' S^-1, e = x - m and y = B e, the factors expected from a row, the sums are k x d of
// r e, and then for each component d of r e_j^2, d x q of r e y' and q x q of r y y'. They serve one step of EM that counts the factors as
// missing too (Ghahramani and Hinton 1997), with the mean moved first and rows counted from where it is then.
//
// The floor of a uniqueness is MinUniqueness of the column's variance; of RoundFactors it is MinEigenvalue of the largest one.
type WideFactors struct {
	Shape Shape     // of which Factors is at least 1
	Var   []float64 // the variances of the d columns; all must be positive
}

// Name returns the name of the shape.
func (g WideFactors) Name() string { return g.Shape.String() }

// q returns the number of factors.
func (g WideFactors) q() int { return g.Shape.Factors() }

// Params returns the length of theta.
func (g WideFactors) Params(k, d int) int { return g.noise(k, d) + g.uniques(k, d) }

// loads returns where the loadings begin in theta, noise where the uniquenesses do.
func (g WideFactors) loads(k, d int) int { return k * d }
func (g WideFactors) noise(k, d int) int { return k*d + k*d*g.q() }

// uniques returns how many parameters the uniquenesses have.
func (g WideFactors) uniques(k, d int) int {
	switch g.Shape.base() {
	case OwnFactors:
		return k * d
	case TiedFactors:
		return d
	}
	return k
}

// Unique returns the place in theta of the logarithm of the uniqueness of column j in component c.
func (g WideFactors) Unique(c, j, k, d int) int {
	at := g.noise(k, d)
	switch g.Shape.base() {
	case OwnFactors:
		return at + c*d + j
	case TiedFactors:
		return at + j
	}
	return at + c
}

// Sums returns the length of Stats.Sum.
func (g WideFactors) Sums(k, d int) int { return k*d*(g.q()+2) + k*g.q()*g.q() }

// Free returns the number of means, of loadings less that of their rotations, and of uniquenesses.
func (g WideFactors) Free(k, d int) int {
	q := g.q()
	return g.Params(k, d) - k*q*(q-1)/2
}

// Density returns true.
func (g WideFactors) Density() bool { return true }

// LoadingsOf returns the loadings of component c in theta, in theta's memory: d x q by rows.
func (g WideFactors) LoadingsOf(theta []float64, c, k, d int) []float64 {
	n := d * g.q()
	at := g.loads(k, d) + c*n
	return theta[at : at+n : at+n]
}

// UniquenessesOf returns the d uniquenesses of component c in theta.
func (g WideFactors) UniquenessesOf(theta []float64, c, k, d int) []float64 {
	u := make([]float64, d)
	if g.Shape.base() == RoundFactors {
		u[0] = math.Exp(theta[g.Unique(c, 0, k, d)])
		for j := range u {
			u[j] = u[0]
		}
		return u
	}
	for j := range u {
		u[j] = math.Exp(theta[g.Unique(c, j, k, d)])
	}
	return u
}

// SetFactors sets loadings and uniquenesses of component c in theta. Where uniquenesses are shared, those of the last call count. u has d numbers, all
// positive; of RoundFactors their mean counts.
func (g WideFactors) SetFactors(theta, loadings, u []float64, c, k, d int) {
	copy(g.LoadingsOf(theta, c, k, d), loadings)
	if g.Shape.base() == RoundFactors {
		theta[g.Unique(c, 0, k, d)] = math.Log(floats.Sum(u) / float64(d))
		return
	}
	for j, v := range u {
		theta[g.Unique(c, j, k, d)] = math.Log(v)
	}
}

// lowest returns the logarithms of the floors under the uniquenesses of the columns.
func (g WideFactors) lowest() []float64 {
	low, top := make([]float64, len(g.Var)), floats.Max(g.Var)
	for j, v := range g.Var {
		if low[j] = math.Log(MinUniqueness * v); g.Shape.base() == RoundFactors {
			low[j] = math.Log(MinEigenvalue * top)
		}
	}
	return low
}

// factored is one covariance L L' + diag(u), ready for solving by it (Woodbury). All matrices are by rows.
type factored struct {
	d, q   int
	l, u   []float64 // d x q loadings, d uniquenesses
	inner  []float64 // q x q: the inverse of I + L' U^-1 L, the covariance of the factors once a row is known
	b      []float64 // q x d: B = L' S^-1
	logDet float64
}

// factor returns the covariance of component c.
func (g WideFactors) factor(theta []float64, c, k, d int) *factored {
	return newFactored(g.LoadingsOf(theta, c, k, d), g.UniquenessesOf(theta, c, k, d))
}

// newFactored keeps l and u.
func newFactored(l, u []float64) *factored {
	d := len(u)
	q := len(l) / d
	s := &factored{d: d, q: q, l: l, u: u, inner: make([]float64, q*q), b: make([]float64, q*d)}
	precision := mat.NewSymDense(q, nil)
	for f, v := range s.gram() {
		if f/q <= f%q {
			if f/q == f%q {
				v++
			}
			precision.SetSym(f/q, f%q, v)
		}
	}
	for _, v := range u {
		s.logDet += math.Log(v)
	}
	var chol mat.Cholesky
	if !chol.Factorize(precision) { // not finite: a trial step that no driver accepts
		s.logDet = math.Inf(1)
		return s
	}
	s.logDet += chol.LogDet()
	inverse := mat.NewSymDense(q, nil)
	_ = chol.InverseTo(inverse) // its error says only that the matrix is ill-conditioned
	for f := range q {
		for h := range q {
			s.inner[f*q+h] = inverse.At(f, h)
		}
	}
	for f := range q {
		inner, row := s.inner[f*q:f*q+q], s.b[f*d:f*d+d]
		for j, v := range u {
			sum := 0.0
			for h, a := range l[j*q : j*q+q] {
				sum += inner[h] * a
			}
			row[j] = sum / v
		}
	}
	return s
}

// gram returns L' U^-1 L.
func (s *factored) gram() []float64 {
	m := make([]float64, s.q*s.q)
	for j, v := range s.u {
		addOuter(m, s.l[j*s.q:j*s.q+s.q], 1/v)
	}
	return m
}

// addOuter adds f l l' to m.
func addOuter(m, l []float64, f float64) {
	for i, a := range l {
		row := m[i*len(l) : (i+1)*len(l)]
		for h, b := range l {
			row[h] += f * a * b
		}
	}
}

// expect sets y to B e, the factors expected of a row that is e off the mean.
func (s *factored) expect(y, e []float64) {
	for f := range y {
		y[f] = floats.Dot(s.b[f*s.d:(f+1)*s.d], e)
	}
}

// solve sets x to S^-1 e = U^-1 (e - L B e). x and e may be the same slice.
func (s *factored) solve(x, e []float64) {
	y := make([]float64, s.q)
	s.expect(y, e)
	for j, v := range s.u {
		x[j] = (e[j] - floats.Dot(s.l[j*s.q:j*s.q+s.q], y)) / v
	}
}

// refined sets x to S^-1 e, and corrects it by what S x leaves of e: where a uniqueness is next to 0 the two cancel in solve. x and e must not overlap.
func (s *factored) refined(x, e []float64) {
	s.solve(x, e)
	left := make([]float64, s.d)
	s.times(left, x)
	floats.SubTo(left, e, left)
	s.solve(left, left)
	floats.Add(x, left)
}

// times sets x to S e. x and e may be the same slice.
func (s *factored) times(x, e []float64) {
	y := make([]float64, s.q)
	for j, v := range e {
		floats.AddScaled(y, v, s.l[j*s.q:j*s.q+s.q])
	}
	for j, v := range s.u {
		x[j] = v*e[j] + floats.Dot(s.l[j*s.q:j*s.q+s.q], y)
	}
}

// square returns e' S^-1 e as |U^-1/2 (e - L y)|^2 + |y|^2, y = B e: nothing cancels.
func (s *factored) square(e []float64) float64 {
	y := make([]float64, s.q)
	s.expect(y, e)
	sum := floats.Dot(y, y)
	for j, v := range s.u {
		t := e[j] - floats.Dot(s.l[j*s.q:j*s.q+s.q], y)
		sum += t * t / v
	}
	return sum
}

// precision returns the diagonal of S^-1.
func (s *factored) precision() []float64 {
	p := make([]float64, s.d)
	for j, v := range s.u {
		p[j] = 1 / v
		for f, a := range s.l[j*s.q : j*s.q+s.q] {
			p[j] -= a / v * s.b[f*s.d+j]
		}
	}
	return p
}

// covariance sets q to the packed lower triangle of S.
func (s *factored) covariance(q []float64) {
	for j := range s.d {
		for l := range j + 1 {
			q[tri(j, l)] = floats.Dot(s.l[j*s.q:j*s.q+s.q], s.l[l*s.q:l*s.q+s.q])
		}
		q[tri(j, j)] += s.u[j]
	}
}

// exceeds reports whether S - diag(least) is positive definite. With H the columns where u - least is not positive and A the others, it is so
// if the Schur complement of A is: L_H (I + L_A' (u - least)_A^-1 L_A)^-1 L_H' + (u - least)_H.
func (s *factored) exceeds(least []float64) bool {
	var low []int
	for j, v := range s.u {
		if !(v > least[j]) {
			low = append(low, j)
		}
	}
	switch {
	case len(low) == 0:
		return true
	case len(low) > s.q:
		return false
	}
	inner := make([]float64, s.q*s.q)
	for f := range s.q {
		inner[f*s.q+f] = 1
	}
	for j, v := range s.u {
		if v > least[j] {
			addOuter(inner, s.l[j*s.q:j*s.q+s.q], 1/(v-least[j]))
		}
	}
	var chol mat.Cholesky
	if !chol.Factorize(symmetric(inner, s.q)) {
		return false
	}
	rest := mat.NewSymDense(len(low), nil)
	for a, j := range low {
		solved := mat.NewVecDense(s.q, nil)
		if chol.SolveVecTo(solved, mat.NewVecDense(s.q, s.l[j*s.q:j*s.q+s.q])) != nil {
			return false
		}
		for b, l := range low[:a+1] {
			rest.SetSym(a, b, mat.Dot(solved, mat.NewVecDense(s.q, s.l[l*s.q:l*s.q+s.q])))
			if l == j {
				rest.SetSym(a, a, rest.At(a, a)+s.u[j]-least[j])
			}
		}
	}
	return chol.Factorize(rest)
}

// Exceeds reports whether the covariance of component c less the diagonal matrix of least is positive definite.
func (g WideFactors) Exceeds(theta, least []float64, c, k, d int) bool {
	s := &factored{d: d, q: g.q(), l: g.LoadingsOf(theta, c, k, d), u: g.UniquenessesOf(theta, c, k, d)}
	return s.exceeds(least)
}

// AtFloor tells which components have a covariance that is all but singular in units of the columns' variances: more uniquenesses are at
// their floor than there are factors to take their place, or the loadings of those columns are dependent. A Heywood case alone is
// none: its density hardly depends on the floor.
func (g WideFactors) AtFloor(theta []float64, k, d int) []bool {
	at, least := make([]bool, k), g.lowest()
	for j, v := range least {
		least[j] = 2 * math.Exp(v)
	}
	for c := range at {
		at[c] = !g.Exceeds(theta, least, c, k, d)
	}
	return at
}

// Heywood returns the columns of component c whose uniqueness is at its floor; nil for RoundFactors, which have none of a column.
func (g WideFactors) Heywood(theta []float64, c, k, d int) (columns []int) {
	if g.Shape.base() == RoundFactors {
		return nil
	}
	for j, low := range g.lowest() {
		if theta[g.Unique(c, j, k, d)] <= low+nearFloor {
			columns = append(columns, j)
		}
	}
	return columns
}

// nearFloor is how far above its floor the logarithm of a uniqueness counts as being there.
const nearFloor = 1e-9

// Solver solves by one covariance with factors, d x d, in d q operations (Woodbury's identity).
type Solver struct{ *factored }

// NewSolver returns the solver of a covariance with loadings l, d x q by rows, and d uniquenesses u. It keeps both.
func NewSolver(l, u []float64) *Solver { return &Solver{newFactored(l, u)} }

// Square returns e' S^-1 e, the squared Mahalanobis distance of a row that is e off the mean, d numbers.
func (s *Solver) Square(e []float64) float64 { return s.square(e) }

// Expect sets y to L' S^-1 e: the q factors expected of a row that is e off the mean, d numbers.
func (s *Solver) Expect(y, e []float64) { s.expect(y, e) }

// Among returns the solver of the variables at the places at alone, whose covariance has the same factors.
func (s *Solver) Among(at []int) *Solver {
	l, u := make([]float64, 0, len(at)*s.q), make([]float64, 0, len(at))
	for _, j := range at {
		l, u = append(l, s.l[j*s.q:j*s.q+s.q]...), append(u, s.u[j])
	}
	if len(at) == 0 {
		return &Solver{&factored{q: s.q, inner: make([]float64, s.q*s.q)}}
	}
	return NewSolver(l, u)
}
