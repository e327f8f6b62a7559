package family

import (
	"cmp"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// commonAxes are covariances that are to share their axes D. With the diagonals b_c of D' S_c D the likelihood, all else
// at its best, falls with
//
//	sum_c n_c sum_a log b_ca      volumes free (Flury 1984)
//	sum_c n_c (prod_a b_ca)^(1/d) one volume for all.
//
// Axes are turned two at a time to the angle that is best for the pair (Flury and Gautschi 1986), so no turn is for the
// worse. It may end in a local optimum, which is why several starts are tried (Browne and McNicholas 2014 met the same).
type commonAxes struct {
	d     int
	equal bool      // one volume for all
	n     []float64 // weights
	axes  []float64 // d x d: D, column a is axis a
	b     []float64 // len(n) x d x d: D' S_c D
	log   []float64 // len(n): sums of the logarithms of the diagonals; only for one volume
	two   pair      // memory
}

// Limits of the search for common axes.
const (
	axesSweeps  = 60   // over all pairs in one M-step; where they are not enough, for a flat component, the next step goes on
	axesRough   = 1e-4 // angle at which a start is judged
	axesSettled = 1e-9 // angle at which the axes have settled: the cost is flat to the square of it
	axesNear    = 0.1  // angle within which axes that are given are taken for the hill to climb
	axesStarts  = 10   // columns up to which each component's own axes are a start
	axesAngles  = 12   // angles tried for a pair in the first sweep
)

// newCommonAxes starts at the given axes for packed covariances s.
func newCommonAxes(axes []float64, s [][]float64, n []float64, d int, equal bool) *commonAxes {
	p := &commonAxes{d: d, equal: equal, n: n, axes: slices.Clone(axes)}
	for _, q := range s {
		p.b = append(p.b, within(axes, q, d)...)
	}
	return p
}

// within returns D' S D, d x d, for the axes D and the packed S.
func within(axes, q []float64, d int) []float64 {
	half, b := make([]float64, d*d), make([]float64, d*d) // S D
	for j := range d {
		for m := range d {
			v := q[tri(max(j, m), min(j, m))]
			for a := range d {
				half[j*d+a] += v * axes[m*d+a]
			}
		}
	}
	for j := range d {
		for a := range d {
			for e := range d {
				b[a*d+e] += axes[j*d+a] * half[j*d+e]
			}
		}
	}
	return b
}

// findAxes returns the common axes of packed covariances s of weights n. Where those given are near an optimum that no turn
// of a pair can leave, it is that one: the rows of an M-step change little from one to the next. Else the best of several
// starts is climbed from.
func findAxes(near []float64, s [][]float64, n []float64, d int, equal bool) []float64 {
	if d == 1 {
		return slices.Clone(near)
	}
	pooled := make([]float64, len(s[0]))
	for c, q := range s {
		for i, v := range q {
			pooled[i] += n[c] * v
		}
	}
	best := newCommonAxes(near, s, n, d, equal)
	if best.sweep(true) <= axesNear {
		best.settle(axesSettled)
		return best.axes
	}
	best.settle(axesRough)
	cost := best.cost()
	_, own := eigen(pooled, d)
	starts := [][]float64{own}
	if d <= axesStarts {
		for _, q := range s {
			_, own := eigen(q, d)
			starts = append(starts, own)
		}
	}
	for _, axes := range starts {
		p := newCommonAxes(axes, s, n, d, equal)
		p.sweep(true)
		p.settle(axesRough)
		if f := p.cost(); f < cost-1e-9*(1+math.Abs(cost)) {
			best, cost = p, f
		}
	}
	best.settle(axesSettled)
	return best.axes
}

// settle turns pairs until no angle is larger than tol.
func (p *commonAxes) settle(tol float64) {
	for range axesSweeps {
		if p.sweep(false) <= tol {
			return
		}
	}
}

// sweep turns every pair once, to the best of all angles if wide, and returns the largest of the angles.
func (p *commonAxes) sweep(wide bool) (largest float64) {
	p.log = p.log[:0]
	for c := range p.n {
		p.log = append(p.log, p.logs(c))
	}
	for a := range p.d {
		for e := a + 1; e < p.d; e++ {
			phi := p.pair(a, e).angle(wide)
			p.turn(a, e, phi)
			largest = max(largest, math.Abs(phi))
		}
	}
	return largest
}

// cost is what is to be small: for one volume its logarithm, so that units do not matter.
func (p *commonAxes) cost() float64 {
	f, total := 0.0, 0.0
	for c, n := range p.n {
		logs := p.logs(c)
		total += n
		if p.equal {
			f += n * math.Exp(logs/float64(p.d))
		} else {
			f += n * logs
		}
	}
	if p.equal {
		return math.Log(f / total)
	}
	return f / total
}

// logs returns the sum of the logarithms of the diagonal of covariance c.
func (p *commonAxes) logs(c int) (sum float64) {
	for a := range p.d {
		sum += math.Log(p.b[(c*p.d+a)*p.d+a])
	}
	return sum
}

// turn turns axes a and e by the angle phi.
func (p *commonAxes) turn(a, e int, phi float64) {
	if phi == 0 {
		return
	}
	d := p.d
	sin, cos := math.Sincos(phi)
	mix := func(x []float64, i, j int) { x[i], x[j] = cos*x[i]+sin*x[j], cos*x[j]-sin*x[i] }
	for j := range d {
		mix(p.axes, j*d+a, j*d+e)
	}
	for c := range p.n {
		b := p.b[c*d*d : (c+1)*d*d]
		was := b[a*d+a] * b[e*d+e]
		for j := range d {
			mix(b, j*d+a, j*d+e)
		}
		for j := range d {
			mix(b, a*d+j, e*d+j)
		}
		p.log[c] += math.Log(b[a*d+a] * b[e*d+e] / was)
	}
}

// pair is the cost as a function of the angle between two axes: of sum_c w_c log(m^2 - x^2) or sum_c w_c (m^2 - x^2)^q
// with x = u cos 2phi + v sin 2phi.
type pair struct {
	q       float64   // 0: logarithms
	w       []float64 // weights
	m, u, v []float64
}

func (p *commonAxes) pair(a, e int) *pair {
	d, r := p.d, &p.two
	r.w, r.m, r.u, r.v = r.w[:0], r.m[:0], r.u[:0], r.v[:0]
	if p.equal {
		r.q = 1 / float64(d)
	}
	for c, n := range p.n {
		b := p.b[c*d*d : (c+1)*d*d]
		x, y := b[a*d+a], b[e*d+e]
		if p.equal {
			n *= math.Exp(r.q * (p.log[c] - math.Log(x) - math.Log(y)))
		}
		r.w, r.m, r.u, r.v = append(r.w, n), append(r.m, (x+y)/2), append(r.u, (x-y)/2), append(r.v, b[a*d+e])
	}
	return r
}

// at returns the cost at the angle phi and its first two derivatives.
func (r *pair) at(phi float64) (f, slope, curve float64) {
	sin, cos := math.Sincos(2 * phi)
	for c, w := range r.w {
		x, h := r.u[c]*cos+r.v[c]*sin, r.v[c]*cos-r.u[c]*sin // dx/dphi = 2 h
		y := max((r.m[c]-x)*(r.m[c]+x), math.SmallestNonzeroFloat64)
		first, second := -4*x*h/y, 8*(x*x-h*h)/y
		if r.q == 0 {
			f += w * math.Log(y)
		} else {
			g := math.Pow(y, r.q)
			f += w * g
			w *= g * r.q
		}
		slope += w * first
		curve += w * (second + (r.q-1)*first*first)
	}
	return f, slope, curve
}

// angle returns the best angle near 0, or of all if wide.
func (r *pair) angle(wide bool) float64 {
	from, slope, curve := r.at(0)
	best, cost := 0.0, from
	if wide {
		for i := range axesAngles {
			phi := math.Pi / 2 * (float64(i)/axesAngles - 0.5)
			if f, s, c := r.at(phi); f < cost {
				best, cost, slope, curve = phi, f, s, c
			}
		}
	}
	scale := 0.0
	for c, w := range r.w {
		if r.q > 0 {
			w *= math.Pow((r.m[c]-r.u[c])*(r.m[c]+r.u[c]), r.q)
		}
		scale += w
	}
	for range 30 {
		step := -slope / curve
		switch {
		case !(math.Abs(slope) > 1e-15*scale): // rounding
			return best
		case !(curve > 1e-9*scale) || math.Abs(step) > math.Pi/8:
			step = math.Copysign(math.Pi/16, -slope)
		}
		tiny := math.Abs(step) < 1e-7 // too little for the cost to show
		f, s, c := r.at(best + step)
		for i := 0; i < 40 && !tiny && !(f < cost); i++ {
			step /= 4
			tiny = math.Abs(step) < 1e-7
			f, s, c = r.at(best + step)
		}
		if tiny && !(curve > 1e-9*scale) { // flat: every angle is as good
			return best
		}
		best, cost, slope, curve = best+step, f, s, c
		if math.Abs(step) < 1e-13 || tiny && math.Abs(step) < 1e-9 {
			return best
		}
	}
	return best
}

// eigen returns the eigenvalues of the packed symmetric q, largest first, and their vectors in the columns of a d x d
// matrix.
func eigen(q []float64, d int) (values, axes []float64) {
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			s.SetSym(j, l, q[tri(j, l)])
		}
	}
	var e mat.EigenSym
	e.Factorize(s, true)
	var v mat.Dense
	e.VectorsTo(&v)
	values, axes = e.Values(nil), make([]float64, d*d)
	slices.Reverse(values)
	for j := range d {
		for a := range d {
			axes[j*d+a] = v.At(j, d-1-a)
		}
	}
	return values, axes
}

// alike permutes the columns of the axes so that each is as near as it can be to its own of those near, the clearest
// first, and returns the order they came from.
func alike(axes, near []float64, d int) (permuted []float64, order []int) {
	type likeness struct {
		dot  float64
		a, b int
	}
	var all []likeness
	for a := range d {
		for b := range d {
			dot := 0.0
			for j := range d {
				dot += near[j*d+a] * axes[j*d+b]
			}
			all = append(all, likeness{math.Abs(dot), a, b})
		}
	}
	slices.SortStableFunc(all, func(x, y likeness) int { return cmp.Compare(y.dot, x.dot) })
	order, used := slices.Repeat([]int{-1}, d), make([]bool, d)
	for _, l := range all {
		if order[l.a] < 0 && !used[l.b] {
			order[l.a], used[l.b] = l.b, true
		}
	}
	return permute(axes, order, d), order
}

// permute returns the columns of the axes in the given order.
func permute(axes []float64, order []int, d int) []float64 {
	p := make([]float64, d*d)
	for j := range d {
		for a, from := range order {
			p[j*d+a] = axes[j*d+from]
		}
	}
	return p
}
