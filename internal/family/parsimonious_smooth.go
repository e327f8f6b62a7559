package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"
)

// Grad implements Smooth: the chain rule. Along the axes of component c, with B = D' Q D for the second moments Q, it is
// B_aa / sd_a^2 - N for the logarithm of standard deviation a and B_ab (1/sd_a^2 - 1/sd_b^2) for a turn of axis a towards
// axis b.
func (g Parsimonious) Grad(grad, theta []float64, s *Stats) {
	s = g.completed(s, theta)
	k, d, p := s.K, s.D, g.Plain()
	l, all := g.layout(k, d), g.ellipsoids(theta, k, d)
	plain := make([]float64, p.Params(k, d))
	g.expand(plain, theta, all, k, d)
	flat := make([]float64, len(plain))
	p.Grad(flat, plain, s)
	clear(grad[:l.end])
	copy(grad, flat[:k*d])
	byLog := make([]float64, d)
	for c := range all {
		e, own, to := &all[c], p.ScaleOf(flat, c, k, d), l.direction(grad, c)
		switch {
		case e.turn != nil:
			b := within(e.turn.axes, p.scale(s.Sum[k*d:], c, d), d)
			turn := make([]float64, len(to))
			for a := range d {
				byLog[a] = b[a*d+a]*math.Exp(-2*e.log[a]) - s.N[c]
				for o := range a {
					turn[strict(a, o)] = b[a*d+o] * (math.Exp(-2*e.log[a]) - math.Exp(-2*e.log[o]))
				}
			}
			for i, v := range e.turn.pull(turn) {
				to[i] += v
			}
		case e.unit != nil:
			u := p.ScaleOf(plain, c, k, d)
			for a := range d {
				byLog[a] = own[tri(a, a)]
				for j := a + 1; j < d; j++ {
					byLog[a] += own[tri(j, a)] * u[tri(j, a)]
					to[strict(j, a)] += own[tri(j, a)] * math.Exp(e.log[a])
				}
			}
		default:
			copy(byLog, own)
		}
		l.spread(grad, byLog, c)
	}
}

// flatTurn is added to the information of a turn, which is 0 for axes of one length: with it a turn of theirs has a metric.
// It is that of axes whose variances are 1 % apart.
const flatTurn = 1e-4

// leastTurn is the smallest share of its expectation that the information of a turn is taken for, and 1 over it the largest.
// With 0.3 EEV and VEV take two thirds of the passes that expectations alone take.
const leastTurn = 0.3

// turnInformation returns the information of the turns that some components have in common, whose rows have the sums s. In
// expectation it is (sd_a/sd_b - sd_b/sd_a)^2 for each row. Rows of a component whose moments B along its axes have other
// ratios than the shape that it shares tell more or less than that, (B_a - B_b) (1/sd_b^2 - 1/sd_a^2), and the step of EM
// goes by what they tell; so does this.
func (g Parsimonious) turnInformation(all []ellipsoid, components []int, s *Stats) []float64 {
	k, d, p := s.K, s.D, g.Plain()
	info, expected := make([]float64, d*(d-1)/2), make([]float64, d*(d-1)/2)
	total := 0.0
	for _, c := range components {
		e, n := &all[c], s.Support(c)
		q := slices.Clone(p.scale(s.Sum[k*d:], c, d))
		p.recentre(q, s.Sum[c*d:c*d+d], n)
		b := within(e.turn.axes, q, d)
		total += n
		for a := range d {
			for o := range a {
				x := 2 * math.Sinh(min(math.Abs(e.log[a]-e.log[o]), 150))
				expected[strict(a, o)] += n * x * x
				info[strict(a, o)] += (b[a*d+a] - b[o*d+o]) * (math.Exp(-2*e.log[o]) - math.Exp(-2*e.log[a]))
			}
		}
	}
	for i, v := range info {
		info[i] = max(min(v, expected[i]/leastTurn), leastTurn*expected[i]) + total*flatTurn
	}
	return info
}

// parts calls f once for every volume, shape and set of directions, with the weight of the rows that it describes and the
// components that it belongs to.
func (l layout) parts(s *Stats, f func(part int, weight float64, components []int)) {
	all, total := make([]int, s.K), 0.0
	for c, n := range s.N {
		all[c] = c
		total += n
	}
	for part, own := range []bool{l.ownVolume, l.ownShape, l.ownDirection} {
		if !own {
			f(part, s.support(total), all)
			continue
		}
		for c := range all {
			f(part, s.Support(c), all[c:c+1])
		}
	}
}

// Precondition implements Smooth. Volume, shape and directions are orthogonal. With N the weight of the rows the
// information of a volume is 2 d N, that of a shape 2 N (I + 1 1'), and that of turns and triangles is diagonal where they
// are moved along the axes.
func (g Parsimonious) Precondition(z, q, theta []float64, s *Stats) {
	g.precondition(z, q, theta, s, false)
}

// PreconditionFramed implements Curved.
func (g Parsimonious) PreconditionFramed(z, q, theta []float64, s *Stats) {
	g.precondition(z, q, theta, s, true)
}

func (g Parsimonious) precondition(z, q, theta []float64, s *Stats, framed bool) {
	s = g.completed(s, theta)
	k, d, p := s.K, s.D, g.Plain()
	l, all := g.layout(k, d), g.ellipsoids(theta, k, d)
	plain := make([]float64, p.Params(k, d))
	g.expand(plain, theta, all, k, d)
	flat := make([]float64, len(plain))
	copy(flat, q[:k*d])
	p.Precondition(flat, flat, plain, s)
	copy(z, flat[:k*d])
	l.parts(s, func(part int, weight float64, components []int) {
		c := components[0]
		switch part {
		case 0:
			z[l.volume(c)] = q[l.volume(c)] / (2 * float64(d) * weight)
		case 1:
			mean, to := 0.0, l.shape(z, c)
			for _, v := range l.shape(q, c) {
				mean += v / float64(d)
			}
			for a, v := range l.shape(q, c) {
				to[a] = (v - mean) / (2 * weight)
			}
		default:
			copy(l.direction(z, c), g.preconditionDirection(l.direction(q, c), all, s, weight, components, framed))
		}
	})
}

// preconditionDirection returns the inverse of the information of directions times q.
func (g Parsimonious) preconditionDirection(q []float64, all []ellipsoid, s *Stats, weight float64, components []int, framed bool) []float64 {
	e := &all[components[0]]
	switch {
	case e.turn != nil:
		w, info := q, g.turnInformation(all, components, s)
		if !framed {
			w = e.turn.push(q)
		}
		w = slices.Clone(w)
		for i := range w {
			w[i] /= info[i]
		}
		if framed {
			return w
		}
		return e.turn.move(w)
	case e.unit != nil: // dT = T diag(sd) X diag(1/sd), X strictly lower with information N
		x := e.triangular(q, true)
		for i := range x {
			x[i] /= weight
		}
		return e.triangular(x, false)
	}
	return nil
}

// triangular returns the strictly lower triangle of T diag(sd) X diag(1/sd); transposed, that of diag(sd) T' X diag(1/sd).
func (e *ellipsoid) triangular(x []float64, transposed bool) []float64 {
	d, y := len(e.log), make([]float64, len(x))
	t := func(j, l int) float64 {
		if j == l {
			return 1
		}
		return e.unit[strict(j, l)]
	}
	for j := range d {
		for l := range j {
			if transposed {
				for m := j; m < d; m++ {
					y[strict(j, l)] += t(m, j) * x[strict(m, l)]
				}
				y[strict(j, l)] *= math.Exp(e.log[j] - e.log[l])
				continue
			}
			for m := l + 1; m <= j; m++ {
				y[strict(j, l)] += t(j, m) * math.Exp(e.log[m]-e.log[l]) * x[strict(m, l)]
			}
		}
	}
	return y
}

// whitened returns X for the move z of T: diag(1/sd) T^-1 z diag(sd).
func (e *ellipsoid) whitened(z []float64) []float64 {
	d, x := len(e.log), make([]float64, len(z))
	for l := range d {
		for j := l + 1; j < d; j++ { // T y = z, column by column; y is kept in x until it is scaled
			v := z[strict(j, l)]
			for m := l + 1; m < j; m++ {
				v -= e.unit[strict(j, m)] * x[strict(m, l)]
			}
			x[strict(j, l)] = v
		}
		for j := l + 1; j < d; j++ {
			x[strict(j, l)] *= math.Exp(e.log[l] - e.log[j])
		}
	}
	return x
}

// whitenedGrad returns the gradient in T from that in X: the transpose of whitened.
func (e *ellipsoid) whitenedGrad(x []float64) []float64 {
	d, g := len(e.log), make([]float64, len(x))
	for l := range d {
		for j := d - 1; j > l; j-- {
			v := x[strict(j, l)] * math.Exp(e.log[l]-e.log[j])
			for m := j + 1; m < d; m++ {
				v -= e.unit[strict(m, j)] * g[strict(m, l)]
			}
			g[strict(j, l)] = v
		}
	}
	return g
}

// meansOnly returns the move of Plain that moves the means as z does and nothing else.
func (g Parsimonious) meansOnly(z []float64, k, d int) []float64 {
	flat := make([]float64, g.Plain().Params(k, d))
	copy(flat, z[:k*d])
	return flat
}

// Multiply implements Smooth.
func (g Parsimonious) Multiply(q, z, theta []float64, s *Stats) {
	s = g.completed(s, theta)
	k, d, p := s.K, s.D, g.Plain()
	l, all := g.layout(k, d), g.ellipsoids(theta, k, d)
	plain := make([]float64, p.Params(k, d))
	g.expand(plain, theta, all, k, d)
	means := make([]float64, len(plain))
	p.Multiply(means, g.meansOnly(z, k, d), plain, s)
	copy(q, means[:k*d])
	l.parts(s, func(part int, weight float64, components []int) {
		c := components[0]
		switch e := &all[c]; {
		case part == 0:
			q[l.volume(c)] = 2 * float64(d) * weight * z[l.volume(c)]
		case part == 1:
			to, from := l.shape(q, c), l.shape(z, c)
			last := floats.Sum(from)
			for a, v := range from {
				to[a] = 2 * weight * (v + last)
			}
		case e.turn != nil:
			info, w := g.turnInformation(all, components, s), e.turn.turn(l.direction(z, c))
			for i := range w {
				w[i] *= info[i]
			}
			copy(l.direction(q, c), e.turn.pull(w))
		case e.unit != nil:
			x := e.whitened(l.direction(z, c))
			floats.Scale(weight, x)
			copy(l.direction(q, c), e.whitenedGrad(x))
		}
	})
}

// SquaredLength implements Smooth.
func (g Parsimonious) SquaredLength(z, theta []float64, s *Stats) float64 {
	s = g.completed(s, theta)
	k, d, p := s.K, s.D, g.Plain()
	l, all := g.layout(k, d), g.ellipsoids(theta, k, d)
	plain := make([]float64, p.Params(k, d))
	g.expand(plain, theta, all, k, d)
	sum := p.SquaredLength(g.meansOnly(z, k, d), plain, s)
	l.parts(s, func(part int, weight float64, components []int) {
		c := components[0]
		switch e := &all[c]; {
		case part == 0:
			sum += 2 * float64(d) * weight * z[l.volume(c)] * z[l.volume(c)]
		case part == 1:
			last := 0.0
			for _, v := range l.shape(z, c) {
				sum += 2 * weight * v * v
				last += v
			}
			sum += 2 * weight * last * last
		case e.turn != nil:
			info := g.turnInformation(all, components, s)
			for i, w := range e.turn.turn(l.direction(z, c)) {
				sum += info[i] * w * w
			}
		case e.unit != nil:
			for _, x := range e.whitened(l.direction(z, c)) {
				sum += weight * x * x
			}
		}
	})
	return sum
}

// farTurn is the longest turn of an axis that a driver may try in one step, radians.
const farTurn = 0.5

// Reach implements Smooth. A turn reaches as far as its angle in units of farTurn, less between axes that are much alike: a
// component hardly feels those.
func (g Parsimonious) Reach(z, theta []float64, k, d int) float64 {
	l, all := g.layout(k, d), g.ellipsoids(theta, k, d)
	plain := make([]float64, g.Plain().Params(k, d))
	g.expand(plain, theta, all, k, d)
	far := g.Plain().Reach(g.meansOnly(z, k, d), plain, k, d)
	for c := range all {
		for _, v := range l.logs(z, c) {
			far = max(far, math.Abs(v))
		}
		if all[c].turn != nil {
			turn := all[c].turn.turn(l.direction(z, c))
			for j := range d {
				for o := range j {
					much := min(2*math.Sinh(min(math.Abs(all[c].log[j]-all[c].log[o]), 1)), 1)
					far = max(far, math.Abs(turn[strict(j, o)])*much/farTurn)
				}
			}
		}
	}
	return far
}

// Nudge moves the means by 0.05 of their components' standard deviations.
func (g Parsimonious) Nudge(theta []float64, k, d int, normal func() float64) {
	plain := expanded(g, theta, k, d)
	g.Plain().Nudge(plain, k, d, normal)
	copy(theta, plain[:k*d])
}

// Apart implements Smooth, in the coordinates of Plain: what components share adds nothing.
func (g Parsimonious) Apart(theta []float64, a, b, k, d int) float64 {
	return g.Plain().Apart(expanded(g, theta, k, d), a, b, k, d)
}

// Place tells where the mean of component c is.
func (g Parsimonious) Place(c, _, d int, do func(from, to int)) { do(c*d, c*d+d) }

// Factor sets l to theta with means and triangles in units of the columns' standard deviations: logarithms, and turns, have
// no unit. It implements Factored.
func (g Parsimonious) Factor(l, theta []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64) { l[i] = theta[i] / unit })
}

// Unfactor implements Factored.
func (g Parsimonious) Unfactor(theta, l []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64) { theta[i] = l[i] * unit })
}

// FactorGrad implements Factored.
func (g Parsimonious) FactorGrad(gl, grad, _ []float64, k, d int) {
	g.coordinates(k, d, func(i int, unit float64) { gl[i] = grad[i] * unit })
}

// coordinates calls f with the place in theta of every parameter and its unit.
func (g Parsimonious) coordinates(k, d int, f func(i int, unit float64)) {
	l := g.layout(k, d)
	sd := func(j int) float64 { return math.Sqrt(g.Var[j]) }
	for i := range l.end {
		unit := 1.0
		switch {
		case i < k*d:
			unit = sd(i % d)
		case i >= l.directions && g.triangular():
			at, j := (i-l.directions)%l.turns, 1
			for at >= j {
				at, j = at-j, j+1
			}
			unit = sd(j) / sd(at)
		}
		f(i, unit)
	}
}
