package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// factorSums are the sums of one component with the factors y = B (x - m) expected by the parameters of the sweep: what WideFactors gathers,
// and what Factors has from second moments. Matrices are by rows.
type factorSums struct {
	n       float64
	first   []float64 // d: sum r e, e = x - m
	squares []float64 // d: sum r e_j^2
	cross   []float64 // d x q: sum r e y'
	inner   []float64 // q x q: sum r y y'
}

// sums returns the sums of component c, in the memory of s.
func (g WideFactors) sums(s *Stats, c int) factorSums {
	k, d, q := s.K, s.D, g.q()
	v := s.Sum[k*d+c*(d+d*q+q*q):]
	return factorSums{s.N[c], s.Sum[c*d : c*d+d], v[:d], v[d : d+d*q], v[d+d*q : d+d*q+q*q]}
}

// sumsOf returns the sums that the second moments q, a packed lower triangle about the mean, and the first moments first come to.
func (f *factored) sumsOf(n float64, first, q []float64) factorSums {
	d, k := f.d, f.q
	t := factorSums{n, first, make([]float64, d), make([]float64, d*k), make([]float64, k*k)}
	for j := range d {
		t.squares[j] = q[tri(j, j)]
		for h := range k {
			b, sum := f.b[h*d:h*d+d], 0.0
			for l, v := range q[tri(j, 0) : tri(j, j)+1] {
				sum += v * b[l]
			}
			for l := j + 1; l < d; l++ {
				sum += q[tri(l, j)] * b[l]
			}
			t.cross[j*k+h] = sum
		}
	}
	for j := range d {
		for h := range k {
			floats.AddScaled(t.inner[h*k:h*k+k], f.b[h*d+j], t.cross[j*k:j*k+k])
		}
	}
	return t
}

// about returns the sums about the mean m + e, with y = B (x - m - e).
func (t factorSums) about(e []float64, f *factored) factorSums {
	d, q := f.d, f.q
	s := factorSums{t.n, make([]float64, d), make([]float64, d), make([]float64, d*q), make([]float64, q*q)}
	ye, yt := make([]float64, q), make([]float64, q)
	f.expect(ye, e)
	f.expect(yt, t.first)
	for j, v := range e {
		s.first[j] = t.first[j] - t.n*v
		s.squares[j] = t.squares[j] + v*(t.n*v-2*t.first[j])
		for h := range q {
			s.cross[j*q+h] = t.cross[j*q+h] - v*yt[h] - t.first[j]*ye[h] + t.n*v*ye[h]
		}
	}
	for a := range q {
		for b := range q {
			s.inner[a*q+b] = t.inner[a*q+b] - yt[a]*ye[b] - ye[a]*yt[b] + t.n*ye[a]*ye[b]
		}
	}
	return s
}

// residual returns sum r (e_j - l'y)^2 for loadings l of column j, with sum r y y' = inner.
func (t *factorSums) residual(j int, l, inner []float64) float64 {
	q := len(l)
	sum := t.squares[j]
	for f, a := range l {
		sum += a * (floats.Dot(inner[f*q:f*q+q], l) - 2*t.cross[j*q+f])
	}
	return sum
}

// logDensity returns sum r log N(x | m, S).
func (t *factorSums) logDensity(f *factored) float64 {
	sum := 0.0
	for j, v := range f.u {
		sum += t.residual(j, f.l[j*f.q:j*f.q+f.q], t.inner) / v
	}
	for h := range f.q {
		sum += t.inner[h*f.q+h]
	}
	return -0.5 * (t.n*(float64(f.d)*log2Pi+f.logDet) + sum)
}

// counted returns sum r E[y y'], the factors known up to their covariance given the row.
func (t *factorSums) counted(f *factored) []float64 {
	m := make([]float64, len(t.inner))
	floats.AddScaledTo(m, t.inner, t.n, f.inner)
	return m
}

// bound returns sum r E log N(x | m + L y, u) for loadings and uniquenesses of to, where the factors are distributed as f says.
func (t *factorSums) bound(to, f *factored) float64 {
	inner, sum := t.counted(f), 0.0
	for j, v := range to.u {
		sum += t.n*math.Log(v) + t.residual(j, to.l[j*f.q:j*f.q+f.q], inner)/v
	}
	return -0.5 * sum
}

// step sets l to the loadings of the M-step of sums about the mean itself, and u to the variances that are left: L = C B' (I - B L + B C B')^-1
// and diag(C - L B C).
func (t *factorSums) step(l, u []float64, f *factored) {
	q := f.q
	var inner mat.Cholesky
	if !inner.Factorize(symmetric(t.counted(f), q)) { // not finite
		copy(l, f.l)
		copy(u, f.u)
		return
	}
	for j := range u {
		solveInto(l[j*q:j*q+q], &inner, t.cross[j*q:j*q+q])
		u[j] = max((t.squares[j]-floats.Dot(l[j*q:j*q+q], t.cross[j*q:j*q+q]))/t.n, 0)
	}
}

// MStep moves the means to those of the rows and takes one step of EM there that counts the factors as missing.
func (g WideFactors) MStep(next, theta []float64, s *Stats) {
	k, d := s.K, s.D
	left := make([]float64, k*d)
	for c := range k {
		f, t := g.factor(theta, c, k, d), g.sums(s, c)
		if !(t.n > minWeight) {
			copy(next[c*d:c*d+d], theta[c*d:c*d+d])
			copy(g.LoadingsOf(next, c, k, d), f.l)
			copy(left[c*d:c*d+d], f.u)
			continue
		}
		e := make([]float64, d)
		floats.ScaleTo(e, 1/t.n, t.first)
		t = t.about(e, f)
		l := make([]float64, len(f.l))
		t.step(l, left[c*d:c*d+d], f)
		floats.AddTo(next[c*d:c*d+d], theta[c*d:c*d+d], e)
		copy(g.LoadingsOf(next, c, k, d), l)
	}
	copy(next[g.noise(k, d):], theta[g.noise(k, d):])
	g.setUniquenesses(next, left, s)
}

// setUniquenesses sets the uniquenesses of theta to left, k x d variances that the loadings leave, shared as the shape says and raised to
// the floor. Components without weight keep theirs.
func (g WideFactors) setUniquenesses(theta, left []float64, s *Stats) {
	k, d, low := s.K, s.D, g.lowest()
	set := func(c, j int, v float64) { theta[g.Unique(c, j, k, d)] = max(math.Log(v), low[j]) }
	if g.Shape.base() == TiedFactors {
		total := floats.Sum(s.N)
		if !(total > minWeight) {
			return
		}
		for j := range d {
			v := 0.0
			for c, n := range s.N {
				v += n / total * left[c*d+j]
			}
			set(0, j, v)
		}
		return
	}
	for c, n := range s.N {
		switch {
		case !(n > minWeight):
		case g.Shape.base() == RoundFactors:
			set(c, 0, floats.Sum(left[c*d:c*d+d])/float64(d))
		default:
			for j, v := range left[c*d : c*d+d] {
				set(c, j, v)
			}
		}
	}
}

// Expected returns the free energy in nats of components and factors, the latter distributed as the parameters of the sweep say once the
// mean is that of next: never above sum r log N(x | next), and equal to it where only the means differ.
func (g WideFactors) Expected(next, theta []float64, s *Stats) float64 {
	k, d, sum := s.K, s.D, 0.0
	e := make([]float64, d)
	for c := range k {
		from, to := g.factor(theta, c, k, d), g.factor(next, c, k, d)
		floats.SubTo(e, next[c*d:c*d+d], theta[c*d:c*d+d])
		t := g.sums(s, c).about(e, from)
		sum += t.logDensity(from) + t.bound(to, from) - t.bound(from, from)
	}
	return sum
}

// Restrict sets theta to what a climb starts from where components have the means and variances of plain, parameters of the Gaussian family for Diag:
// half of each variance is unique, and the loadings are waves of different lengths along the columns.
func (g WideFactors) Restrict(theta, plain []float64, k, d int) {
	copy(theta, plain[:k*d])
	q, u := g.q(), make([]float64, d)
	for c := range k {
		l := g.LoadingsOf(theta, c, k, d)
		for j := range d {
			v := math.Exp(2 * plain[k*d+c*d+j])
			u[j] = v / 2
			for f := range q {
				l[j*q+f] = math.Sqrt(v) / 2 * math.Cos(float64((j+1)*(f+1))/2)
			}
		}
		g.SetFactors(theta, l, u, c, k, d)
	}
}

// StartFrom sets the loadings and uniquenesses of component c in theta to principal components of rows, of n x d cells and weights w, about the mean that
// the component has: of RoundFactors the maximum for those rows, else principal components in units of the columns' standard deviations, with at least a
// tenth of each variance unique. It takes the n x n products of rows, so that rows should be few. Too few for the factors change nothing.
func (g WideFactors) StartFrom(theta, x, w []float64, c, k, d int) {
	n, q, round := len(w), g.q(), g.Shape.base() == RoundFactors
	total := floats.Sum(w)
	if n < q+2 || !(total > 0) {
		return
	}
	e, v := slices.Clone(x), make([]float64, d)
	for i := range n {
		row := e[i*d : i*d+d]
		floats.Sub(row, theta[c*d:c*d+d])
		floats.Scale(math.Sqrt(w[i]/total), row)
		for j, cell := range row {
			v[j] += cell * cell
		}
	}
	unit := make([]float64, d)
	for j := range unit {
		unit[j] = 1
		if !round {
			v[j] = max(v[j], 2*MinUniqueness*g.Var[j])
			unit[j] = math.Sqrt(v[j])
		}
	}
	for i := range e {
		e[i] /= unit[i%d]
	}
	products := mat.NewSymDense(n, nil)
	for a := range n {
		for b := range a + 1 {
			products.SetSym(a, b, floats.Dot(e[a*d:a*d+d], e[b*d:b*d+d]))
		}
	}
	values, axes := eigenSym(products)
	rest := 0.0 // the variance beside the factors, of each column
	for _, s := range values[:n-q] {
		rest += max(s, 0) / float64(d-q)
	}
	if !(values[n-q] > 1e-9*values[n-1] && rest > 0) {
		return
	}
	l, u := make([]float64, d*q), make([]float64, d)
	for f := range q {
		at := n - 1 - f
		size := 1.0
		if round {
			size = math.Sqrt(max(values[at]-rest, 0) / values[at])
		}
		for i := range n {
			for j, cell := range e[i*d : i*d+d] {
				l[j*q+f] += size * axes.At(i, at) * cell * unit[j]
			}
		}
	}
	for j := range u {
		if u[j] = rest; !round {
			u[j] = max(v[j]-floats.Dot(l[j*q:j*q+q], l[j*q:j*q+q]), v[j]/10)
		}
	}
	g.SetFactors(theta, l, u, c, k, d)
}
