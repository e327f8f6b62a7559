package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Grad sets g to the gradient of the free energy. With G = (S^-1 Q S^-1 - N S^-1)/2 it is 2 G L for loadings and u_j G_jj for the logarithm of a
// uniqueness.
func (g WideFactors) Grad(grad, theta []float64, s *Stats) {
	for c := range s.K {
		f := g.factor(theta, c, s.K, s.D)
		g.gradOf(grad, g.sums(s, c), f, c, s.K)
	}
}

// Grad implements Smooth.
func (g Factors) Grad(grad, theta []float64, s *Stats) {
	for c := range s.K {
		t, f := g.sums(s, theta, c)
		g.gradOf(grad, t, f, c, s.K)
	}
}

// gradOf sets the gradient of component c. What components share is cleared by the first and added to by the others.
func (g WideFactors) gradOf(grad []float64, t factorSums, f *factored, c, k int) {
	d, q := f.d, f.q
	f.solve(grad[c*d:c*d+d], t.first)
	loads, precision := g.LoadingsOf(grad, c, k, d), f.precision()
	for j, v := range f.u {
		l := f.l[j*q : j*q+q]
		for h := range q {
			left := t.cross[j*q+h]
			for a, x := range l {
				left -= x * t.inner[a*q+h]
			}
			loads[j*q+h] = left/v - t.n*f.b[h*d+j]
		}
		at := g.Unique(c, j, k, d)
		if shared := g.Shape.base(); shared == OwnFactors || shared == TiedFactors && c == 0 || shared == RoundFactors && j == 0 {
			grad[at] = 0
		}
		grad[at] += 0.5 * (t.residual(j, l, t.inner)/v - t.n*v*precision[j])
	}
}

// uniqueWeights returns, for each parameter of the uniquenesses, the weight of rows times the number of columns that it is of.
func (g WideFactors) uniqueWeights(s *Stats) []float64 {
	w, from := make([]float64, g.uniques(s.K, s.D)), g.noise(s.K, s.D)
	for c, n := range s.N {
		for j := range s.D {
			w[g.Unique(c, j, s.K, s.D)-from] += s.support(n)
		}
	}
	return w
}

// Precondition sets z to the inverse of the information times q. Means are known up to N S^-1. For loadings and uniquenesses it is that of rows whose
// factors were known too: N (I kron diag(1/u)), a regression on factors of variance 1, and N/2 for a logarithm. No rotation of factors is left in z.
func (g WideFactors) Precondition(z, q, theta []float64, s *Stats) {
	k, d := s.K, s.D
	for c := range k {
		n, f := s.Support(c), g.factor(theta, c, k, d)
		f.times(z[c*d:c*d+d], q[c*d:c*d+d])
		floats.Scale(1/n, z[c*d:c*d+d])
		to, from := g.LoadingsOf(z, c, k, d), g.LoadingsOf(q, c, k, d)
		for i, v := range from {
			to[i] = v * f.u[i/f.q] / n
		}
		f.unturn(to)
	}
	from := g.noise(k, d)
	for i, w := range g.uniqueWeights(s) {
		z[from+i] = 2 * q[from+i] / w
	}
}

// Multiply implements Smooth. To take the rotation of factors out is to project, by the same metric of the loadings.
func (g WideFactors) Multiply(q, z, theta []float64, s *Stats) {
	k, d := s.K, s.D
	for c := range k {
		n, f := s.Support(c), g.factor(theta, c, k, d)
		f.refined(q[c*d:c*d+d], z[c*d:c*d+d])
		floats.Scale(n, q[c*d:c*d+d])
		to := g.LoadingsOf(q, c, k, d)
		copy(to, g.LoadingsOf(z, c, k, d))
		f.unturn(to)
		for i := range to {
			to[i] *= n / f.u[i/f.q]
		}
	}
	from := g.noise(k, d)
	for i, w := range g.uniqueWeights(s) {
		q[from+i] = w / 2 * z[from+i]
	}
}

// SquaredLength implements Smooth.
func (g WideFactors) SquaredLength(z, theta []float64, s *Stats) float64 {
	k, d := s.K, s.D
	sum, from := 0.0, g.noise(k, d)
	for c := range k {
		f := g.factor(theta, c, k, d)
		l := slices.Clone(g.LoadingsOf(z, c, k, d))
		f.unturn(l)
		sum += s.Support(c) * (f.square(z[c*d:c*d+d]) + f.loadingSquare(l))
	}
	for i, w := range g.uniqueWeights(s) {
		sum += w / 2 * z[from+i] * z[from+i]
	}
	return sum
}

// loadingSquare returns sum_j |l_j|^2 / u_j.
func (s *factored) loadingSquare(l []float64) float64 {
	sum := 0.0
	for i, v := range l {
		sum += v * v / s.u[i/s.q]
	}
	return sum
}

// unturn takes the rotation of factors out of a move z of the loadings: the part L A, A skew, that is the nearest to z with rows counted by 1/u. With
// J = L' U^-1 L = W diag(v) W' and K = L' U^-1 z, J A + A J = K - K', so that (W'AW)_fh = (W'(K-K')W)_fh / (v_f + v_h).
func (s *factored) unturn(z []float64) {
	q := s.q
	if q == 1 {
		return
	}
	k := make([]float64, q*q)
	for j, v := range s.u {
		for f, a := range s.l[j*q : j*q+q] {
			floats.AddScaled(k[f*q:f*q+q], a/v, z[j*q:j*q+q])
		}
	}
	values, axes := eigenSym(symmetric(s.gram(), q))
	turn := make([]float64, q*q)
	for f := range q {
		for h := range q {
			size := values[f] + values[h]
			if f == h || !(size > 0) {
				continue
			}
			sum := 0.0
			for a := range q {
				for b := range q {
					sum += axes.At(a, f) * (k[a*q+b] - k[b*q+a]) * axes.At(b, h)
				}
			}
			for a := range q {
				for b := range q {
					turn[a*q+b] += axes.At(a, f) * sum / size * axes.At(b, h)
				}
			}
		}
	}
	for j := range s.u {
		for f, a := range s.l[j*q : j*q+q] {
			floats.AddScaled(z[j*q:j*q+q], -a, turn[f*q:f*q+q])
		}
	}
}

// Reach implements Smooth: a loading may move by a standard deviation of the component.
func (g WideFactors) Reach(z, theta []float64, k, d int) float64 {
	far, column := 0.0, make([]float64, d)
	for c := range k {
		f := g.factor(theta, c, k, d)
		far = max(far, math.Sqrt(f.square(z[c*d:c*d+d]))/2)
		l := g.LoadingsOf(z, c, k, d)
		for h := range f.q {
			for j := range column {
				column[j] = l[j*f.q+h]
			}
			far = max(far, math.Sqrt(f.square(column)))
		}
	}
	for _, v := range z[g.noise(k, d):] {
		far = max(far, math.Abs(v)/2)
	}
	return far
}

// Nudge moves the means by 0.05 of their components' standard deviations.
func (g WideFactors) Nudge(theta []float64, k, d int, normal func() float64) {
	factors := make([]float64, g.q())
	for c := range k {
		for f := range factors {
			factors[f] = 0.05 * normal()
		}
		l, u := g.LoadingsOf(theta, c, k, d), g.UniquenessesOf(theta, c, k, d)
		for j, v := range u {
			theta[c*d+j] += floats.Dot(l[j*len(factors):(j+1)*len(factors)], factors) + 0.05*math.Sqrt(v)*normal()
		}
	}
}

// Apart implements Smooth, in the metric of WideFactors.
func (g WideFactors) Apart(theta []float64, a, b, k, d int) float64 {
	f := g.factor(theta, a, k, d)
	mean, l := make([]float64, d), slices.Clone(g.LoadingsOf(theta, b, k, d))
	floats.SubTo(mean, theta[b*d:b*d+d], theta[a*d:a*d+d])
	turnTowards(l, f.l, f.u)
	floats.Sub(l, f.l)
	sum := f.square(mean) + f.loadingSquare(l)
	for j := range d {
		v := theta[g.Unique(b, j, k, d)] - theta[g.Unique(a, j, k, d)]
		sum += v * v / 2
	}
	return math.Sqrt(sum)
}

// Place tells where the mean of component c is.
func (g WideFactors) Place(c, _, d int, do func(from, to int)) { do(c*d, c*d+d) }

// mostUnique and mostLoading, in logarithms of the columns' variances and in their standard deviations, bound trial steps so that all stays in
// the range of float64.
const (
	mostUnique  = 200.0
	mostLoading = 1e80
)

// Project raises uniquenesses to the floor, and keeps trial steps in the range of float64.
func (g WideFactors) Project(theta []float64, k, d int) {
	low, highest := g.lowest(), math.Log(floats.Max(g.Var))+mostUnique
	for c := range k {
		l := g.LoadingsOf(theta, c, k, d)
		for i, v := range l {
			most := mostLoading * math.Sqrt(g.Var[i/g.q()])
			switch {
			case v != v:
				l[i] = 0
			case math.Abs(v) > most:
				l[i] = math.Copysign(most, v)
			}
		}
		for j := range d {
			u := &theta[g.Unique(c, j, k, d)]
			if !(*u >= low[j]) {
				*u = low[j]
			}
			*u = min(*u, highest)
		}
	}
}

// Held marks the uniquenesses at the floor.
func (g WideFactors) Held(held []bool, theta []float64, k, d int) {
	clear(held)
	low := g.lowest()
	for c := range k {
		for j := range d {
			if at := g.Unique(c, j, k, d); theta[at] <= low[j]+nearFloor {
				held[at] = true
			}
		}
	}
}

// Factor implements Factored: means and loadings, and roots of uniquenesses, all in units of the columns' standard deviations.
func (g WideFactors) Factor(l, theta []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64, log bool) {
		v := theta[i]
		if log {
			v = math.Exp(v / 2)
		}
		l[i] = v / unit
	})
}

// Unfactor implements Factored.
func (g WideFactors) Unfactor(theta, l []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64, log bool) {
		if theta[i] = l[i] * unit; log {
			theta[i] = 2 * math.Log(max(math.Abs(l[i]), math.Sqrt(MinEigenvalue)/2)*unit)
		}
	})
}

// FactorGrad implements Factored.
func (g WideFactors) FactorGrad(gl, grad, theta []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64, log bool) {
		if log {
			unit *= 2 * math.Exp(-theta[i]/2)
		}
		gl[i] = grad[i] * unit
	})
}

// coordinates calls f with the place in theta of every parameter, the standard deviation of the column it is measured in, and whether it is a logarithm.
func (g WideFactors) coordinates(k, d int, f func(i int, unit float64, log bool)) {
	q, loads, noise, top := g.q(), g.loads(k, d), g.noise(k, d), math.Sqrt(floats.Max(g.Var))
	for i := range g.Params(k, d) {
		switch {
		case i < loads:
			f(i, math.Sqrt(g.Var[i%d]), false)
		case i < noise:
			f(i, math.Sqrt(g.Var[(i-loads)/q%d]), false)
		case g.Shape.base() == RoundFactors:
			f(i, top, true)
		default:
			f(i, math.Sqrt(g.Var[(i-noise)%d]), true)
		}
	}
}
