package family

import (
	"math"

	"gonum.org/v1/gonum/floats"
	"gonum.org/v1/gonum/mat"
)

// factorRidge is the share of the information with known factors that is added to that without, so that it has an inverse where a factor has
// no loadings, or all but determines a column.
const factorRidge = 1e-3

// factorMetric is the information that one row of a component carries of its loadings and uniquenesses if the factors are not known: with
// dS = dL L' + L dL' + diag(u dlog u) half the trace of S^-1 dS S^-1 dS, and factorRidge of what known factors add. It is taken where it is all but
// diagonal: loadings over the roots of u, with the factors turned so that L' U^-1 L is the diagonal of sizes. Rotations are then the skew part of V' dL.
type factorMetric struct {
	f      *factored
	sizes  []float64  // q
	turn   *mat.Dense // q x q
	axes   *mat.Dense // V, d x q: the loadings in that frame are V diag(sizes)^1/2
	pull   *mat.Dense // W V diag(sizes)^1/2, d x q, with W the inverse of I + V diag(sizes) V'
	root   []float64  // d: roots of u
	shrunk []float64  // q: sizes / (1 + sizes), what W takes off along V
}

func newFactorMetric(f *factored) *factorMetric {
	d, q := f.d, f.q
	m := &factorMetric{f: f, sizes: make([]float64, q), axes: mat.NewDense(d, q, nil), pull: mat.NewDense(d, q, nil), root: make([]float64, d), shrunk: make([]float64, q)}
	for j, v := range f.u {
		m.root[j] = math.Sqrt(v)
	}
	m.sizes, m.turn = eigenSym(symmetric(f.gram(), q))
	top := floats.Max(m.sizes)
	framed := m.framed(f.l)
	for h, v := range m.sizes {
		if !(v > 1e-12*top && v > 1e-12) { // no loadings
			m.sizes[h] = 0
			continue
		}
		m.shrunk[h] = v / (1 + v)
		for j := range d {
			a := framed.At(j, h) / math.Sqrt(v)
			m.axes.Set(j, h, a)
			m.pull.Set(j, h, a*math.Sqrt(v)/(1+v))
		}
	}
	return m
}

// framed returns a move of the loadings in the frame.
func (m *factorMetric) framed(l []float64) *mat.Dense {
	x := mat.NewDense(m.f.d, m.f.q, nil)
	for j := range m.f.d {
		for f, v := range l[j*m.f.q : (j+1)*m.f.q] {
			x.Set(j, f, v/m.root[j])
		}
	}
	x.Mul(x, m.turn)
	return x
}

// unframed sets l to the move x in the frame.
func (m *factorMetric) unframed(l []float64, x *mat.Dense) {
	var back mat.Dense
	back.Mul(x, m.turn.T())
	for j := range m.f.d {
		for f := range m.f.q {
			l[j*m.f.q+f] = back.At(j, f) * m.root[j]
		}
	}
}

// split returns the coefficients of x along V and the rest of it.
func (m *factorMetric) split(x mat.Matrix) (along, rest *mat.Dense) {
	along, rest = new(mat.Dense), new(mat.Dense)
	along.Mul(m.axes.T(), x)
	rest.Mul(m.axes, along)
	rest.Sub(x, rest)
	return along, rest
}

// pair returns the metric of the coefficients (f, h) and (h, f) along V: [a b; b c]. For f = h it is a.
func (m *factorMetric) pair(f, h int) (a, b, c float64) {
	v, w := m.sizes[f], m.sizes[h]
	share := 1 / ((1 + v) * (1 + w))
	if f == h {
		return 2*v*share + factorRidge, 0, 0
	}
	return share*w + factorRidge, share * math.Sqrt(v*w), share*v + factorRidge
}

// solve sets x, a gradient in the loadings in the frame, to the inverse of their own block of the metric times it.
func (m *factorMetric) solve(x *mat.Dense) {
	along, rest := m.split(x)
	m.solveAlong(along)
	for j := range m.f.d {
		for f, v := range m.shrunk {
			rest.Set(j, f, rest.At(j, f)/(v+factorRidge))
		}
	}
	x.Mul(m.axes, along)
	x.Add(x, rest)
}

// solveAlong is solve of the coefficients along V.
func (m *factorMetric) solveAlong(x *mat.Dense) {
	for f := range m.f.q {
		own, _, _ := m.pair(f, f)
		x.Set(f, f, x.At(f, f)/own)
		for h := range f {
			a, b, c := m.pair(f, h)
			det, u, v := a*c-b*b, x.At(f, h), x.At(h, f)
			x.Set(f, h, (c*u-b*v)/det)
			x.Set(h, f, (a*v-b*u)/det)
		}
	}
}

// unturn takes the rotation out of the move x.
func (m *factorMetric) unturn(x *mat.Dense) {
	along, rest := m.split(x)
	for f, v := range m.sizes {
		for h, w := range m.sizes[:f] {
			if v+w == 0 {
				continue
			}
			s, t := math.Sqrt(v), math.Sqrt(w)
			turn := (s*along.At(f, h) - t*along.At(h, f)) / (v + w)
			along.Set(f, h, along.At(f, h)-s*turn)
			along.Set(h, f, along.At(h, f)+t*turn)
		}
	}
	x.Mul(m.axes, along)
	x.Add(x, rest)
}

// shrink returns W x.
func (m *factorMetric) shrink(x mat.Matrix) *mat.Dense {
	var along, y mat.Dense
	along.Mul(m.axes.T(), x)
	_, n := along.Dims()
	for f, v := range m.shrunk {
		for i := range n {
			along.Set(f, i, v*along.At(f, i))
		}
	}
	y.Mul(m.axes, &along)
	y.Sub(x, &y)
	return &y
}

// toUnique returns what the block between loadings and logarithms of uniquenesses makes of the move x of the loadings; ofUnique is its transpose.
func (m *factorMetric) toUnique(x mat.Matrix) []float64 {
	y, e := m.shrink(x), make([]float64, m.f.d)
	for j := range e {
		e[j] = floats.Dot(m.pull.RawRowView(j), y.RawRowView(j))
	}
	return e
}

func (m *factorMetric) ofUnique(e []float64) *mat.Dense {
	x := mat.NewDense(m.f.d, m.f.q, nil)
	for j, v := range e {
		floats.AddScaledTo(x.RawRowView(j), x.RawRowView(j), v, m.pull.RawRowView(j))
	}
	return m.shrink(x)
}

// uniques returns the d x d block of the logarithms of uniquenesses: half of the squares of W.
func (m *factorMetric) uniques() *mat.SymDense {
	s := mat.NewSymDense(m.f.d, nil)
	for j := range m.f.d {
		for l := range j + 1 {
			w := 0.0
			for f, v := range m.shrunk {
				w -= v * m.axes.At(j, f) * m.axes.At(l, f)
			}
			if j == l {
				w++
				s.SetSym(j, j, (w*w+factorRidge)/2)
			} else {
				s.SetSym(j, l, w*w/2)
			}
		}
	}
	return s
}

// reduced returns what is left of that block once the loadings are free: its Schur complement.
func (m *factorMetric) reduced() *mat.SymDense {
	d, q := m.f.d, m.f.q
	s := m.uniques()
	back := mat.NewDense(d, q, nil) // of column l: W V times the coefficients along V
	along := mat.NewDense(q, q, nil)
	for l := range d {
		pull := m.pull.RawRowView(l)
		for f, v := range m.shrunk {
			for h := range q {
				along.Set(f, h, (1-v)*m.axes.At(l, f)*pull[h])
			}
		}
		m.solveAlong(along)
		for f, v := range m.shrunk {
			floats.Scale(1-v, along.RawRowView(f))
		}
		back.Mul(m.axes, along)
		for j := l; j < d; j++ {
			sum := floats.Dot(m.pull.RawRowView(j), back.RawRowView(j))
			rest := -floats.Dot(m.axes.RawRowView(j), m.axes.RawRowView(l))
			if j == l {
				rest++
			}
			for h, v := range m.pull.RawRowView(j) {
				sum += rest * v * pull[h] / (m.shrunk[h] + factorRidge)
			}
			s.SetSym(j, l, s.At(j, l)-sum)
		}
	}
	return s
}

// square returns the squared length of the moves l of the loadings and e of the logarithms of uniquenesses, rotations left out.
func (m *factorMetric) square(l, e []float64) float64 {
	x := m.framed(l)
	m.unturn(x)
	along, rest := m.split(x)
	sum := 2 * floats.Dot(e, m.toUnique(x))
	for j := range m.f.d {
		for f, v := range m.shrunk {
			sum += (v + factorRidge) * rest.At(j, f) * rest.At(j, f)
		}
	}
	for f := range m.f.q {
		own, _, _ := m.pair(f, f)
		sum += own * along.At(f, f) * along.At(f, f)
		for h := range f {
			a, b, c := m.pair(f, h)
			u, v := along.At(f, h), along.At(h, f)
			sum += a*u*u + 2*b*u*v + c*v*v
		}
	}
	v := mat.NewVecDense(len(e), e)
	return sum + mat.Inner(v, m.uniques(), v)
}

// multiply returns the metric times the moves l of the loadings and e of the logarithms of uniquenesses: gradients in the loadings and in those
// logarithms. Rotations are left out on both sides.
func (m *factorMetric) multiply(l, e []float64) (loadings, uniques []float64) {
	x := m.framed(l)
	m.unturn(x)
	uniques = m.toUnique(x)
	var own mat.VecDense
	own.MulVec(m.uniques(), mat.NewVecDense(len(e), e))
	floats.Add(uniques, own.RawVector().Data)
	along, y := m.split(x)
	for f, v := range m.shrunk {
		for j := range m.f.d {
			y.Set(j, f, (v+factorRidge)*y.At(j, f))
		}
		a, _, _ := m.pair(f, f)
		along.Set(f, f, a*along.At(f, f))
		for h := range f {
			a, b, c := m.pair(f, h)
			u, v := along.At(f, h), along.At(h, f)
			along.Set(f, h, a*u+b*v)
			along.Set(h, f, b*u+c*v)
		}
	}
	x.Mul(m.axes, along)
	x.Add(x, y)
	x.Add(x, m.ofUnique(e))
	m.unturn(x)
	x.Mul(x, m.turn.T())
	loadings = make([]float64, len(l))
	for i := range loadings {
		loadings[i] = x.At(i/m.f.q, i%m.f.q) / m.root[i/m.f.q]
	}
	return loadings, uniques
}

// Precondition sets z to the inverse of the information times q: of the means N S^-1, of loadings and uniquenesses N times factorMetric. No rotation of
// factors is left in z.
func (g Factors) Precondition(z, q, theta []float64, s *Stats) {
	k, d := s.K, s.D
	from := g.noise(k, d)
	right, metrics, moves := make([]float64, g.uniques(k, d)), make([]*factorMetric, k), make([]*mat.Dense, k)
	copy(right, q[from:])
	for c := range k {
		f := g.factor(theta, c, k, d)
		m := newFactorMetric(f)
		x := mat.NewDense(d, f.q, nil) // a gradient in L turns as a move of L, with u on the other side
		for j := range d {
			for h, v := range g.LoadingsOf(q, c, k, d)[j*f.q : (j+1)*f.q] {
				x.Set(j, h, v*m.root[j])
			}
		}
		x.Mul(x, m.turn)
		m.solve(x)
		for j, v := range m.toUnique(x) {
			right[g.Unique(c, j, k, d)-from] -= v
		}
		x.Scale(1/s.Support(c), x)
		metrics[c], moves[c] = m, x
		f.times(z[c*d:c*d+d], q[c*d:c*d+d])
		floats.Scale(1/s.Support(c), z[c*d:c*d+d])
	}
	g.solveUniques(z[from:], right, metrics, s)
	for c, m := range metrics {
		e := make([]float64, d)
		for j := range e {
			e[j] = z[g.Unique(c, j, k, d)]
		}
		x := m.ofUnique(e)
		m.solve(x)
		x.Sub(moves[c], x)
		m.unturn(x)
		m.unframed(g.LoadingsOf(z, c, k, d), x)
	}
}

// solveUniques sets z to the logarithms of uniquenesses for what the loadings leave of their gradient.
func (g Factors) solveUniques(z, right []float64, metrics []*factorMetric, s *Stats) {
	k, d := s.K, s.D
	solve := func(h *mat.SymDense, z, right []float64) {
		var chol mat.Cholesky
		if !chol.Factorize(h) { // not finite
			clear(z)
			return
		}
		solveInto(z, &chol, right)
	}
	switch g.Shape.base() {
	case OwnFactors:
		for c, m := range metrics {
			h := m.reduced()
			h.ScaleSym(s.Support(c), h)
			solve(h, z[c*d:c*d+d], right[c*d:c*d+d])
		}
	case TiedFactors:
		total := mat.NewSymDense(d, nil)
		for c, m := range metrics {
			h := m.reduced()
			h.ScaleSym(s.Support(c), h)
			total.AddSym(total, h)
		}
		solve(total, z, right)
	default:
		for c := range k {
			z[c] = right[c] / (s.Support(c) * mat.Sum(metrics[c].reduced()))
		}
	}
}

// Multiply implements Smooth.
func (g Factors) Multiply(q, z, theta []float64, s *Stats) {
	k, d := s.K, s.D
	e := make([]float64, d)
	clear(q[g.noise(k, d):])
	for c := range k {
		n, f := s.Support(c), g.factor(theta, c, k, d)
		f.refined(q[c*d:c*d+d], z[c*d:c*d+d])
		floats.Scale(n, q[c*d:c*d+d])
		for j := range e {
			e[j] = z[g.Unique(c, j, k, d)]
		}
		loadings, uniques := newFactorMetric(f).multiply(g.LoadingsOf(z, c, k, d), e)
		floats.ScaleTo(g.LoadingsOf(q, c, k, d), n, loadings)
		for j, v := range uniques {
			q[g.Unique(c, j, k, d)] += n * v
		}
	}
}

// SquaredLength implements Smooth.
func (g Factors) SquaredLength(z, theta []float64, s *Stats) float64 {
	k, d := s.K, s.D
	sum, e := 0.0, make([]float64, d)
	for c := range k {
		f := g.factor(theta, c, k, d)
		for j := range e {
			e[j] = z[g.Unique(c, j, k, d)]
		}
		sum += s.Support(c) * (f.square(z[c*d:c*d+d]) + newFactorMetric(f).square(g.LoadingsOf(z, c, k, d), e))
	}
	return sum
}
