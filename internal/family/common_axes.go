package family

import (
	"cmp"
	"math"
	"slices"
)

// commonAxes are covariances that are to share their axes D. With the diagonals b_c of D' S_c D the likelihood, all else
// at its best, falls with
//
//	sum_c n_c sum_a log b_ca      volumes free (Flury 1984)
//	sum_c n_c (prod_a b_ca)^(1/d) one volume for all.
//
// Axes are turned two at a time to the angle that is best for the pair (Flury and Gautschi 1986) until they are near, then
// all at once by Newton's method; no turn is for the worse. It may end in a local optimum, which is why several starts are
// tried (Browne and McNicholas 2014 met the same).
type commonAxes struct {
	d     int
	equal bool      // one volume for all
	n     []float64 // weights
	axes  []float64 // d x d: D', row a is axis a
	b     []float64 // len(n) x d x d: D' S_c D
	w     []float64 // len(n): n, for one volume times (prod_a b_ca)^(1/d)
	two   pair      // memory
}

// Limits of the search for common axes.
const (
	axesSweeps  = 200  // over all pairs until the axes are near
	axesRough   = 1e-4 // angle at which a start is judged
	axesSettled = 1e-9 // angle at which the axes have settled: the cost is flat to the square of it
	axesTiny    = 1e-7 // step towards the best angle of a pair that is its last
	axesBlind   = 1e-4 // step too short for the cost to show where it hardly curves
	axesNear    = 0.1  // largest angle of a sweep up to which axes count as near an optimum
	axesStarts  = 10   // columns up to which each component's own axes are a start
	axesAngles  = 12   // angles tried for a pair in the first sweep
)

// newCommonAxes starts at the given axes for packed covariances s.
func newCommonAxes(axes []float64, s [][]float64, n []float64, d int, equal bool) *commonAxes {
	p := &commonAxes{d: d, equal: equal, n: n, axes: transposed(axes, d), w: slices.Clone(n)}
	if equal {
		p.two.q = 1 / float64(d)
	}
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

// findAxes returns the common axes of packed covariances s of weights n. Where the axes given are near an optimum that no rotation of a
// pair can leave, the answer is that optimum: covariances change little from one M-step to the next. Else it goes on from the best of
// several starts. It reports whether the axes have settled.
func findAxes(near []float64, s [][]float64, n []float64, d int, equal bool) (axes []float64, settled bool) {
	if d == 1 {
		return slices.Clone(near), true
	}
	pooled := make([]float64, len(s[0]))
	for c, q := range s {
		for i, v := range q {
			pooled[i] += n[c] * v
		}
	}
	best := newCommonAxes(near, s, n, d, equal)
	if best.sweep(true) <= axesNear {
		settled = best.settle(axesSettled, axesSteps)
		return transposed(best.axes, d), settled
	}
	best.settle(axesRough, axesJudged)
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
		p.settle(axesRough, axesJudged)
		if f := p.cost(); f < cost-1e-9*(1+math.Abs(cost)) {
			best, cost = p, f
		}
	}
	settled = best.settle(axesSettled, axesSteps)
	return transposed(best.axes, d), settled
}

// settle turns the axes until no angle is larger than tol: in pairs until they are near, then by Newton's method in so many
// steps at most. It reports whether it got there.
func (p *commonAxes) settle(tol float64, steps int) bool {
	for range axesSweeps {
		switch angle := p.sweep(false); {
		case angle <= tol:
			return !math.IsNaN(p.cost())
		case angle <= axesNear:
			return p.newton(tol, steps)
		}
	}
	return false
}

// sweep turns every pair once, to the best of all angles if wide, and returns the largest of the angles.
func (p *commonAxes) sweep(wide bool) (largest float64) {
	if p.equal {
		for c, n := range p.n {
			p.w[c] = n * math.Exp(p.logs(c)/float64(p.d))
		}
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
	mix(p.axes[a*d:a*d+d], p.axes[e*d:e*d+d], sin, cos)
	for c := range p.n {
		b := p.b[c*d*d : (c+1)*d*d]
		x, y, v := b[a*d+a], b[e*d+e], b[a*d+e]
		row, other := b[a*d:a*d+d], b[e*d:e*d+d]
		mix(row, other, sin, cos)
		row[a], other[e] = cos*cos*x+sin*(2*cos*v+sin*y), cos*cos*y-sin*(2*cos*v-sin*x)
		row[e] = cos*sin*(y-x) + (cos-sin)*(cos+sin)*v
		other[a] = row[e]
		for j := range d {
			b[j*d+a], b[j*d+e] = row[j], other[j]
		}
		if p.equal {
			p.w[c] *= p.two.of(row[a] * other[e] / (x * y))
		}
	}
}

// mix turns x towards y.
func mix(x, y []float64, sin, cos float64) {
	for i, v := range x {
		x[i], y[i] = cos*v+sin*y[i], cos*y[i]-sin*v
	}
}

// pair is the cost as a function of the angle between two axes: sum_c w_c log y or sum_c w_c y^q, where y is the product of
// the two variances over what it is at 0, (m^2 - x^2) / (m^2 - u^2) with x = u cos 2phi + v sin 2phi.
type pair struct {
	q     float64 // 0: logarithms
	terms []term
}

// term is the part of the cost that is one covariance's. m, u and v are in units of (m^2 - u^2)^(1/2).
type term struct{ w, m, u, v float64 }

func (p *commonAxes) pair(a, e int) *pair {
	d, r := p.d, &p.two
	r.terms = r.terms[:0]
	for c, w := range p.w {
		b := p.b[c*d*d : (c+1)*d*d]
		x, y := b[a*d+a], b[e*d+e]
		unit := 1 / math.Sqrt(x*y)
		r.terms = append(r.terms, term{w, (x + y) / 2 * unit, (x - y) / 2 * unit, b[a*d+e] * unit})
	}
	return r
}

// product returns y.
func (t *term) product(x float64) float64 { return max((t.m-x)*(t.m+x), math.SmallestNonzeroFloat64) }

// cost returns the cost at the angle whose double has this sine and cosine.
func (r *pair) cost(sin, cos float64) (f float64) {
	for i := range r.terms {
		t := &r.terms[i]
		if y := math.Log(t.product(t.u*cos + t.v*sin)); r.q == 0 {
			f += t.w * y
		} else {
			f += t.w * math.Expm1(r.q*y)
		}
	}
	return f
}

// of returns y^q.
func (r *pair) of(y float64) float64 {
	if y == 1 {
		return 1
	}
	return math.Exp(r.q * math.Log(y))
}

// slopes returns the first two derivatives of the cost where x is u cos + v sin of an angle.
func (r *pair) slopes(sin, cos float64) (slope, curve float64) {
	for i := range r.terms {
		t := &r.terms[i]
		x, h, w := t.u*cos+t.v*sin, t.v*cos-t.u*sin, t.w // dx/dphi = 2 h
		y := t.product(x)
		if sin == 0 {
			y = 1
		}
		first, second := -4*x*h/y, 8*(x*x-h*h)/y
		if r.q > 0 {
			w *= r.q * r.of(y)
		}
		slope += w * first
		curve += w * (second + (r.q-1)*first*first)
	}
	return slope, curve
}

// tried are the sines and cosines of twice the angles that a wide search tries.
var tried = func() (t [axesAngles][2]float64) {
	for i := range t {
		t[i][0], t[i][1] = math.Sincos(2 * triedAngle(i))
	}
	return t
}()

func triedAngle(i int) float64 { return math.Pi / 2 * (float64(i)/axesAngles - 0.5) }

// angle returns the best angle near 0, or of all if wide.
func (r *pair) angle(wide bool) (best float64) {
	cost, sin, cos := 0.0, 0.0, 1.0 // at 0
	if wide {
		for i, t := range tried {
			if f := r.cost(t[0], t[1]); f < cost {
				best, cost, sin, cos = triedAngle(i), f, t[0], t[1]
			}
		}
	}
	scale := 0.0
	for i := range r.terms {
		scale += r.terms[i].w
	}
	if r.q > 0 {
		scale *= r.q
	}
	for range 30 {
		slope, curve := r.slopes(sin, cos)
		step := -slope / curve
		switch {
		case !(math.Abs(slope) > 1e-15*scale): // rounding
			return best
		case !(curve > 1e-9*scale) || math.Abs(step) > math.Pi/8:
			step = math.Copysign(math.Pi/16, -slope)
		case math.Abs(step) < axesTiny: // too little for the cost to show; another would be below rounding
			return best + step
		}
		var f float64
		first := step
		for range 40 {
			sin, cos = math.Sincos(2 * (best + step))
			if f = r.cost(sin, cos); f < cost {
				break
			}
			if step /= 4; math.Abs(step) < axesTiny {
				if curve > 1e-9*scale && math.Abs(first) < axesBlind { // the slope is exact where the cost is rounded
					best += first
				}
				return best
			}
		}
		best, cost = best+step, f
	}
	return best
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
