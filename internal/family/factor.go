package family

import "math"

// A Factored family can also be written in covariance factors: Sigma = L L^T with L as it is, where the free
// coordinates hold logarithms of its diagonal. The literature compares quasi-Newton methods and conjugate gradients in
// these coordinates (Salakhutdinov, Roweis and Ghahramani 2003; Naim and Gildea 2012, appendix A.2).
//
// The factors l are as many as theta and laid out like it. Each moves its own parameter of theta only.
type Factored interface {
	Smooth
	// Factor sets l to the factors of theta. l and theta may be the same slice.
	Factor(l, theta []float64, k, d int)
	// Unfactor sets theta to the free coordinates of l. A column of L whose diagonal is negative changes sign, which
	// leaves Sigma as it is; a diagonal of 0 becomes one below the floor, so that Project raises it to the floor. l and theta may be
	// the same slice.
	Unfactor(theta, l []float64, k, d int)
	// FactorGrad sets gl to the gradient in l of a function whose gradient at theta is g. The same numbers turn a
	// small move g of l into that of theta. gl and g may be the same slice.
	FactorGrad(gl, g, theta []float64, k, d int)
}

// Factor sets l to the means and to L (Full and Tied) or standard deviations, all in units of the columns' own standard
// deviations. Those methods have no metric of their own: in raw units, with columns a factor of 1e5 apart, they did not
// arrive in 5000 steps.
func (g Gaussian) Factor(l, theta []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64, log bool) {
		v := theta[i]
		if log {
			v = math.Exp(v)
		}
		l[i] = v / unit
	})
}

// Unfactor implements Factored.
func (g Gaussian) Unfactor(theta, l []float64, k, d int) {
	copy(theta, l)
	if g.Shape.kind() == Full {
		size := g.Shape.Size(d)
		for c := range g.Shape.Count(k) {
			upright(theta[k*d+c*size:k*d+c*size+size], d)
		}
	}
	// A diagonal of L inside the floor is never below half of it: its square is a conditional variance, at least the
	// smallest eigenvalue.
	least := math.Sqrt(MinEigenvalue) / 2
	g.coordinates(k, d, func(i int, unit float64, log bool) {
		if log {
			theta[i] = math.Log(max(math.Abs(theta[i]), least) * unit)
		} else {
			theta[i] *= unit
		}
	})
}

// upright changes the sign of the columns of the packed l whose diagonal is negative.
func upright(l []float64, d int) {
	for j := range d {
		if l[tri(j, j)] < 0 {
			for i := j; i < d; i++ {
				l[tri(i, j)] = -l[tri(i, j)]
			}
		}
	}
}

// FactorGrad implements Factored.
func (g Gaussian) FactorGrad(gl, grad, theta []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64, log bool) {
		if log {
			unit *= math.Exp(-theta[i])
		}
		gl[i] = grad[i] * unit
	})
}

// coordinates calls f with the place in theta of every parameter, the standard deviation of the column it is measured
// in, and whether it is a logarithm.
func (g Gaussian) coordinates(k, d int, f func(i int, unit float64, log bool)) {
	unit := make([]float64, d)
	for j := range unit {
		unit[j] = math.Sqrt(g.Var[j])
	}
	for i := range k * d {
		f(i, unit[i%d], false)
	}
	size := g.Shape.Size(d)
	for c := range g.Shape.Count(k) {
		at := k*d + c*size
		switch g.Shape.kind() {
		case Full:
			for j := range d {
				for m := range j + 1 {
					f(at+tri(j, m), unit[j], m == j)
				}
			}
		case Diag:
			for j := range d {
				f(at+j, unit[j], true)
			}
		default:
			f(at, math.Sqrt(g.sphericalFloor()/MinEigenvalue), true)
		}
	}
}
