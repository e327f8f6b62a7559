package family

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// MinEigenvalue is the floor under covariances: with D the diagonal of the columns' own variances, every eigenvalue
// of D^-1/2 S D^-1/2 of a component's covariance S is at least this. Without a floor the likelihood of a Gaussian
// mixture has no upper bound: a component that shrinks onto one value wins without limit.
const MinEigenvalue = 1e-9

// minWeight is the responsibility below which a component keeps its parameters: nothing supports a new value.
const minWeight = 1e-200

// Gaussian is the multivariate normal family (Bishop 2006, section 9.2).
//
// theta holds k x d means, then the scales: for Full and Tied the packed lower Cholesky factor L of S = L L^T with the
// logarithm of its diagonal, for Diag and TiedDiag d log standard deviations, for the spherical shapes one. Shared
// shapes hold one scale, the others k.
//
// Sums are k x d first moments about each component's current mean, then the second moments about it: packed lower
// triangles, d squares or their total; shared shapes hold one, the others k. Moments about the mean in use add over
// blocks like any sums and never cancel, however far the data are from zero and however tight the component.
type Gaussian struct {
	Shape Shape
	// Var holds the variances of the d columns, D in MinEigenvalue. All must be positive.
	Var []float64
	// RegCovar is added to every variance by the M-step, as scikit-learn does; above 0 no objective is climbed.
	RegCovar float64
	// Gaps says what cells are missing; nil is for complete rows. With gaps, Full and Tied complete each row by its conditional mean and
	// add its conditional covariance to the second moments (Little and Rubin 2019, section 11.2), and one number follows the sums:
	// sum w r H, H the entropy in nats of what is missing given the rest of the row and the component. The other shapes take moments over
	// the cells that are there, and k x d weights of the rows that have a cell follow.
	Gaps *Gaps
}

// WithGaps implements Incomplete.
func (g Gaussian) WithGaps(gaps *Gaps) Family {
	g.Gaps = gaps
	return g
}

// Patterns implements Incomplete.
func (g Gaussian) Patterns() *Gaps { return g.Gaps }

// cellwise reports whether moments are taken over the cells that are there, column by column.
func (g Gaussian) cellwise() bool { return g.Gaps != nil && g.Shape.kind() != Full }

// Name returns the name of the shape.
func (g Gaussian) Name() string { return g.Shape.String() }

// Params returns the length of theta.
func (g Gaussian) Params(k, d int) int { return k*d + g.Shape.Count(k)*g.Shape.Size(d) }

// Sums returns the length of Stats.Sum.
func (g Gaussian) Sums(k, d int) int {
	switch {
	case g.Gaps == nil:
		return g.Params(k, d)
	case g.cellwise():
		return g.Params(k, d) + k*d
	}
	return g.Params(k, d) + 1
}

// second returns the second moments of the sums s.
func (g Gaussian) second(s *Stats) []float64 { return s.Sum[s.K*s.D : g.Params(s.K, s.D)] }

// hidden returns the entropy of missing cells of the sums s: 0 where they have none.
func (g Gaussian) hidden(s *Stats) float64 {
	if n := g.Params(s.K, s.D); len(s.Sum) > n {
		return s.Sum[n]
	}
	return 0
}

// Free returns the number of means and of covariance parameters.
func (g Gaussian) Free(k, d int) int { return g.Params(k, d) }

// Density returns true.
func (g Gaussian) Density() bool { return true }

// scale returns the c-th scale, or sum of second moments, in v (which starts after the means).
func (g Gaussian) scale(v []float64, c, d int) []float64 {
	if g.Shape.Shared() {
		c = 0
	}
	z := g.Shape.Size(d)
	return v[c*z : c*z+z : c*z+z]
}

// ScaleOf returns the scale of component c in theta, in theta's memory; shared shapes have one for all.
func (g Gaussian) ScaleOf(theta []float64, c, k, d int) []float64 { return g.scale(theta[k*d:], c, d) }

// FromVariances sets u to the scale of independent columns with variances v: their diagonal matrix, or their mean.
func (g Gaussian) FromVariances(u, v []float64) {
	clear(u)
	switch g.Shape.kind() {
	case Full:
		for j, x := range v {
			u[tri(j, j)] = logSD(x)
		}
	case Diag:
		for j, x := range v {
			u[j] = logSD(x)
		}
	default:
		mean := 0.0
		for _, x := range v {
			mean += x / float64(len(v))
		}
		u[0] = logSD(mean)
	}
}

// logSD returns the logarithm of the standard deviation. The root comes first: math.Log of a subnormal variance is
// wrong on amd64 (Go 1.26: -709.09 for 1e-310, not -713.80).
func logSD(variance float64) float64 { return math.Log(math.Sqrt(variance)) }

// Bind factorises the covariances.
func (g Gaussian) Bind(theta []float64, k, d int) Kernel {
	m := append([]float64(nil), theta[:k*d]...)
	b := &gaussianKernel{g: g, k: k, d: d, mean: m, shift: make([]float64, k)}
	if g.Gaps != nil {
		b.theta = append([]float64(nil), theta[:g.Params(k, d)]...)
	}
	z, count := g.Shape.Size(d), g.Shape.Count(k)
	b.whiten = make([]float64, count*z)
	for c := range count {
		w := b.whiten[c*z : c*z+z]
		logDet := g.inverse(w, theta[k*d+c*z:k*d+c*z+z], d)
		for e := c; e < k; e += count { // shared shapes: every e; others: c alone
			b.shift[e] = -0.5*float64(d)*math.Log(2*math.Pi) - logDet
		}
	}
	return b
}

// inverse sets w to the inverse of the scale u (L^-1 packed, or 1/sd) and returns log det L.
func (g Gaussian) inverse(w, u []float64, d int) (logDet float64) {
	switch g.Shape.kind() {
	case Full:
		for j := range d { // by rows, which are contiguous
			at := tri(j, 0)
			row, inv := w[at:at+j+1], math.Exp(-u[at+j])
			logDet += u[at+j]
			clear(row)
			for m, v := range u[at : at+j] {
				floats.AddScaled(row[:m+1], v, w[tri(m, 0):][:m+1])
			}
			floats.Scale(-inv, row)
			row[j] = inv
		}
	case Diag:
		for j, v := range u {
			logDet += v
			w[j] = math.Exp(-v)
		}
	default:
		logDet = float64(d) * u[0]
		w[0] = math.Exp(-u[0])
	}
	return logDet
}

// MStep sets means and covariances to the weighted moments (Bishop 2006, eq. 9.24 and 9.25), held above the floor.
// Clipping the eigenvalues of D^-1/2 S D^-1/2 is the exact maximiser under the floor's constraint.
func (g Gaussian) MStep(next, theta []float64, s *Stats) {
	if g.cellwise() {
		g.mStepCells(next, theta, s)
		return
	}
	k, d := s.K, s.D
	first, second := s.Sum[:k*d], g.second(s)
	pool, weight := make([]float64, g.Shape.Size(d)), 0.0
	if g.Shape.Shared() {
		copy(pool, second)
		for c := range k {
			weight += s.N[c]
			if s.N[c] > minWeight {
				g.recentre(pool, first[c*d:c*d+d], s.N[c])
			}
		}
		if weight > minWeight {
			g.ToScale(next[k*d:], pool, weight, d)
		} else {
			copy(next[k*d:], theta[k*d:])
		}
	}
	for c := range k {
		n, t := s.N[c], first[c*d:c*d+d]
		if !(n > minWeight) {
			copy(next[c*d:c*d+d], theta[c*d:c*d+d])
			if !g.Shape.Shared() {
				copy(g.scale(next[k*d:], c, d), g.scale(theta[k*d:], c, d))
			}
			continue
		}
		if !g.Shape.Shared() {
			copy(pool, g.scale(second, c, d))
			g.recentre(pool, t, n)
			g.ToScale(g.scale(next[k*d:], c, d), pool, n, d)
		}
		for j := range d {
			next[c*d+j] = theta[c*d+j] + t[j]/n
		}
	}
}

// recentre moves second moments about the old mean to the new one: q -= t t^T / n, t the first moments.
func (g Gaussian) recentre(q, t []float64, n float64) {
	switch g.Shape.kind() {
	case Full:
		for j := range t {
			for l := range j + 1 {
				q[tri(j, l)] -= t[j] * t[l] / n
			}
		}
	case Diag:
		for j, v := range t {
			q[j] -= v * v / n
		}
	default:
		for _, v := range t {
			q[0] -= v * v / n
		}
	}
}

// ToScale sets u to the free coordinates of the covariance q / n, raised to the floor. q is overwritten.
func (g Gaussian) ToScale(u, q []float64, n float64, d int) {
	for i := range q {
		q[i] /= n
	}
	switch g.Shape.kind() {
	case Full:
		for j := range d {
			q[tri(j, j)] += g.RegCovar
		}
	case Diag:
		for j := range q {
			q[j] += g.RegCovar
		}
	default:
		q[0] = q[0]/float64(d) + g.RegCovar
	}
	g.ScaleAbove(u, q, d)
}

// ScaleAbove sets u to the free coordinates of the covariance q (packed lower triangle, variances or one variance),
// raised to the floor. q is overwritten.
func (g Gaussian) ScaleAbove(u, q []float64, d int) {
	switch g.Shape.kind() {
	case Full:
		g.choleskyAbove(u, q, d)
	case Diag:
		for j, v := range q {
			u[j] = logSD(max(v, MinEigenvalue*g.Var[j]))
		}
	default:
		u[0] = logSD(max(q[0], g.sphericalFloor()))
	}
}

// sphericalFloor is the smallest variance of a spherical component: MinEigenvalue of the largest column variance.
func (g Gaussian) sphericalFloor() float64 {
	v := 0.0
	for _, w := range g.Var {
		v = max(v, w)
	}
	return MinEigenvalue * v
}

// Expected returns sum_i w_i sum_c r_ic log N(x_i | next_c) in nats from the moments about the means of theta.
func (g Gaussian) Expected(next, theta []float64, s *Stats) float64 {
	if g.cellwise() {
		return g.expectedCells(next, theta, s)
	}
	k, d := s.K, s.D
	b := g.Bind(next, k, d).(*gaussianKernel)
	first, second := s.Sum[:k*d], g.second(s)
	f, shift, z := g.hidden(s), make([]float64, d), g.Shape.Size(d)
	if g.Shape.Shared() {
		f -= 0.5 * g.trace(b.whiten[:z], second, d)
	}
	for c := range k {
		n, t, w := s.N[c], first[c*d:c*d+d], g.scale(b.whiten, c, d)
		f += n * b.shift[c]
		if !g.Shape.Shared() {
			f -= 0.5 * g.trace(w, g.scale(second, c, d), d)
		}
		// |W (x - b)|^2 = |W (x - a)|^2 - 2 (W (x-a)).(W e) + |W e|^2 with e = b - a
		cross, square := 0.0, 0.0
		for j := range d {
			shift[j] = next[c*d+j] - theta[c*d+j]
		}
		for j := range d {
			we, wt := g.row(w, shift, j), g.row(w, t, j)
			cross += we * wt
			square += we * we
		}
		f += cross - 0.5*n*square
	}
	return f
}

// row returns row j of W x, W an inverse scale.
func (g Gaussian) row(w, x []float64, j int) float64 {
	switch g.Shape.kind() {
	case Full:
		t := 0.0
		for l := range j + 1 {
			t += w[tri(j, l)] * x[l]
		}
		return t
	case Diag:
		return w[j] * x[j]
	}
	return w[0] * x[j]
}

// trace returns tr(W Q W^T), Q the second moments.
func (g Gaussian) trace(w, q []float64, d int) float64 {
	t := 0.0
	switch g.Shape.kind() {
	case Full:
		for j := range d {
			for l := range j + 1 {
				for m := range j + 1 {
					t += w[tri(j, l)] * q[tri(max(l, m), min(l, m))] * w[tri(j, m)]
				}
			}
		}
	case Diag:
		for j, v := range w {
			t += v * v * q[j]
		}
	default:
		t = w[0] * w[0] * q[0]
	}
	return t
}

// AtFloor tells which components have an eigenvalue at MinEigenvalue (within 1e-3 of it, which rounding in the
// factors of an ill-conditioned matrix needs).
func (g Gaussian) AtFloor(theta []float64, k, d int) []bool {
	at := make([]bool, k)
	for c := range k {
		at[c] = g.smallest(g.scale(theta[k*d:], c, d), d) <= MinEigenvalue*1.001
	}
	return at
}

// smallest returns the smallest eigenvalue of D^-1/2 S D^-1/2.
func (g Gaussian) smallest(u []float64, d int) float64 {
	switch g.Shape.kind() {
	case Full:
		s := mat.NewSymDense(d, nil)
		q := make([]float64, len(u))
		g.Covariance(q, u, d)
		for j := range d {
			for l := range j + 1 {
				s.SetSym(j, l, q[tri(j, l)]/math.Sqrt(g.Var[j]*g.Var[l]))
			}
		}
		var e mat.EigenSym
		e.Factorize(s, false)
		return e.Values(nil)[0]
	case Diag:
		v := math.Inf(1)
		for j := range u {
			v = min(v, math.Exp(2*u[j])/g.Var[j])
		}
		return v
	}
	return math.Exp(2*u[0]) / (g.sphericalFloor() / MinEigenvalue)
}

// Covariance sets q to the covariance of the scale u: a packed lower triangle, d variances or one.
func (g Gaussian) Covariance(q, u []float64, d int) {
	if g.Shape.kind() != Full {
		for j := range u {
			q[j] = math.Exp(2 * u[j])
		}
		return
	}
	at := func(j, l int) float64 {
		if j == l {
			return math.Exp(u[tri(j, j)])
		}
		return u[tri(j, l)]
	}
	for j := range d {
		for l := range j + 1 {
			t := 0.0
			for m := range l + 1 {
				t += at(j, m) * at(l, m)
			}
			q[tri(j, l)] = t
		}
	}
}

// Scale sets u to the free coordinates of the covariance q (packed lower triangle, variances or one variance) as it
// stands, and reports whether it is positive definite. It raises nothing.
func (g Gaussian) Scale(u, q []float64, d int) bool {
	if g.Shape.kind() == Full {
		if !cholesky(u, q, d, 0) {
			return false
		}
		for j := range d {
			u[tri(j, j)] = math.Log(u[tri(j, j)])
		}
		return true
	}
	for j, v := range q {
		if !(v > 0) {
			return false
		}
		u[j] = logSD(v)
	}
	return true
}

// Colour sets x = L z for the scale u: it gives white noise the covariance L L^T. x and z must not overlap.
func (g Gaussian) Colour(x, z, u []float64) {
	for j := range z {
		switch g.Shape.kind() {
		case Full:
			x[j] = math.Exp(u[tri(j, j)]) * z[j]
			for l := range j {
				x[j] += u[tri(j, l)] * z[l]
			}
		case Diag:
			x[j] = math.Exp(u[j]) * z[j]
		default:
			x[j] = math.Exp(u[0]) * z[j]
		}
	}
}
