package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// units returns the standard deviations that the floor and the M-step measure columns by: for shapes with axes of their own
// one for all.
func (g Parsimonious) units() []float64 {
	unit := make([]float64, len(g.Var))
	for j, v := range g.Var {
		if g.turned() {
			v = max(slices.Min(g.Var), 1e-4*slices.Max(g.Var))
		}
		unit[j] = math.Sqrt(v)
	}
	return unit
}

// Hidden returns a column whose own variance is below the floor that it is held to, since shapes with axes of their own have one
// floor for all columns; -1 where there is none.
func (g Parsimonious) Hidden() int {
	for j, u := range g.units() {
		if MinEigenvalue*u*u > g.Var[j] {
			return j
		}
	}
	return -1
}

// low returns the logarithm of the root of the smallest eigenvalue of a covariance whose columns are measured by unit, or a
// lower bound of it that is above enough; -Inf where no float64 can hold its inverse.
func (e *ellipsoid) low(unit []float64, enough float64) float64 {
	if e.unit == nil {
		low := math.Inf(1)
		for a, v := range e.log {
			low = min(low, v-math.Log(unit[a]))
		}
		return low
	}
	// The largest eigenvalue of W'W is exact where the smallest of its inverse may be lost to rounding.
	d := len(e.log)
	w := make([]float64, d*(d+1)/2) // the inverse of T, then its rows over their standard deviations
	top := math.Inf(-1)
	for _, v := range e.log {
		top = max(top, -v)
	}
	for j := range d {
		w[tri(j, j)] = 1
		for l := range j {
			t := 0.0
			for m := l; m < j; m++ {
				t += e.unit[strict(j, m)] * w[tri(m, l)]
			}
			w[tri(j, l)] = -t
		}
	}
	rows := mat.NewDense(d, d, nil)
	off, sum := 0.0, 0.0
	for j := range d {
		f := math.Exp(-e.log[j] - top)
		for l := range j + 1 {
			v := float64(w[tri(j, l)] * f * unit[l]) // rounded: fused, v - v would not be 0
			off += v - v
			sum += v * v // the sum of all eigenvalues
			rows.Set(j, l, v)
		}
	}
	if bound := -top - math.Log(sum)/2; off == 0 && bound > enough {
		return bound
	}
	var svd mat.SVD
	if off != 0 || !svd.Factorize(rows, mat.SVDNone) {
		return math.Inf(-1)
	}
	return -top - math.Log(svd.Values(nil)[0])
}

// logFloor is the logarithm of the root of MinEigenvalue.
var logFloor = math.Log(MinEigenvalue) / 2

// AtFloor tells which components have an eigenvalue at the floor (within 1e-3 of it).
func (g Parsimonious) AtFloor(theta []float64, k, d int) []bool {
	at, unit := make([]bool, k), g.units()
	for c, e := range g.unturned(theta, k, d) {
		near := logFloor + math.Log(1.001)/2
		at[c] = e.low(unit, near) <= near
	}
	return at
}

// Flat tells which components have rows flatter than the floor where the shape is their own and the volume that of all:
// the covariance is that of moments raised to the floor, and stands above it, for the volume makes up for what is flat. As at
// the floor, it is a few rows all but equal in some direction that decide the likelihood. s are the sums of a sweep with theta,
// next the M-step.
func (g Parsimonious) Flat(next, theta []float64, s *Stats) []bool {
	flat := make([]bool, s.K)
	if g.Shape != TiedVolumeDiag && g.Shape != TiedVolumeAxes && g.Shape != TiedVolume {
		return flat
	}
	d := s.D
	m := g.moments(make([]float64, len(next)), theta, s, g.units())
	for i, c := range m.at {
		if flat[c] = m.flat[i]; !flat[c] || g.Shape != TiedVolumeAxes {
			continue
		}
		axes, low := newRotation(g.layout(s.K, d).direction(next, c), d).axes, math.Inf(1)
		b := within(axes, m.s[i], d)
		for a := range d {
			low = min(low, b[a*d+a])
		}
		flat[c] = low <= MinEigenvalue*1.001 // else what is flat lies between the axes
	}
	return flat
}

// Project raises covariances to the floor. Within 1e-3 of it they are inside, the tolerance of AtFloor. Directions whose
// coordinates are far out are rewritten: half a turn is at infinity, and a driver on its way there would never arrive. What
// no float64 can hold, a trial step that no driver accepts, becomes something that it can.
func (g Parsimonious) Project(theta []float64, k, d int) {
	l := g.layout(k, d)
	g.settle(theta, l, k)
	g.lift(theta, k, d, 1-1e-3)
	if g.turned() && d > 1 {
		for at := l.directions; at < l.end; at += l.turns {
			rewrap(theta[at:at+l.turns], d)
		}
	}
}

// Where coordinates end, in units of the columns' standard deviations: shapes, volumes, which the floor may raise further,
// and entries of triangles.
const (
	farShape     = 60 // exp(60) = 1e26
	farVolume    = 240
	farDirection = 1e30
)

// settle holds coordinates to what float64 can work with.
func (g Parsimonious) settle(theta []float64, l layout, k int) {
	clamp := func(v []float64, mid, most float64) {
		for i, x := range v {
			if x != x {
				x = mid
			}
			v[i] = max(min(x, mid+most), mid-most)
		}
	}
	mid, unit := 0.0, g.units()
	for _, u := range unit {
		mid += math.Log(u) / float64(l.d)
	}
	clamp(theta[l.volumes:l.shapes], mid, farVolume)
	for c := range k {
		for j, t := 0, l.direction(theta, c); len(t) > 0 && j < l.d; j++ {
			for m := range j {
				clamp(t[strict(j, m):strict(j, m)+1], 0, farDirection*unit[j]/unit[m])
			}
		}
		s, rest := l.shape(theta, c), 0.0 // the last is minus the sum of the others, and so is its part without units
		clamp(s, 0, 1e100)
		size := 0.0
		for a, v := range s {
			v -= math.Log(unit[a]) - mid
			rest += v
			size = max(size, math.Abs(v))
		}
		if size = max(size, math.Abs(rest)); size > farShape*(1+1e-12) {
			for a := range s {
				own := math.Log(unit[a]) - mid
				s[a] = own + (s[a]-own)*farShape/size
			}
		}
	}
}

// lift raises covariances with an eigenvalue below factor times the floor to it and reports whether there was one. A
// volume that a component has to itself is raised, shape and directions as they are; so is the volume of all where they
// share the shape too. Where only the volume is shared (EVI, EVE, EVV) the component becomes rounder (see rounder), and
// under VVE single variances are raised.
func (g Parsimonious) lift(theta []float64, k, d int, factor float64) (outside bool) {
	l, unit := g.layout(k, d), g.units()
	if !l.ownVolume && l.ownShape { // a component of this volume must be able to be inside
		least := (logFloor + math.Log(2)/2)
		for _, u := range unit {
			least += math.Log(u) / float64(d)
		}
		if at := l.volume(0); theta[at] < least {
			theta[at], outside = least, true
		}
	}
	for c, e := range g.unturned(theta, k, d) {
		if l.ownVolume != l.ownShape || !l.ownShape {
			e.log = l.logs(theta, c) // those before may have raised what is shared
		}
		inside := logFloor + math.Log(factor)/2
		low := e.low(unit, inside)
		if math.IsInf(low, -1) { // beyond float64
			clear(e.unit)
			low = e.low(unit, inside)
		}
		if !(low < inside) {
			continue
		}
		outside = true
		switch {
		case l.ownShape && l.ownVolume:
			for a := range e.log {
				e.log[a] = max(e.log[a], logFloor+math.Log(unit[a]))
			}
			l.setLogs(theta, c, e.log)
		case l.ownShape:
			g.rounder(&e, unit)
			at := l.volume(0)
			volume := theta[at]
			l.setLogs(theta, c, e.log)
			theta[at] = volume
			copy(l.direction(theta, c), e.unit)
		default:
			theta[l.volume(c)] += logFloor - low
		}
	}
	return outside
}

// rounder adds to the covariance as much of the columns' own variances as raises its smallest eigenvalue to the floor,
// and keeps its determinant.
func (g Parsimonious) rounder(e *ellipsoid, unit []float64) {
	was := *e
	top := math.Inf(-1)
	for a, v := range was.log {
		top = max(top, v-math.Log(unit[a]))
	}
	lo, hi := 2*logFloor-60, max(2*top+60, 0) // logarithms of the share
	for range 100 {
		mid := (lo + hi) / 2
		if try := was.plus(math.Exp(mid), unit); try.low(unit, logFloor) >= logFloor {
			hi, *e = mid, try
		} else {
			lo = mid
		}
	}
}

// plus returns the covariance with share times the squares of unit added, at the same determinant.
func (e *ellipsoid) plus(share float64, unit []float64) ellipsoid {
	d := len(e.log)
	p := ellipsoid{log: make([]float64, d)}
	if e.unit == nil {
		for a, v := range e.log {
			p.log[a] = logSD(math.Exp(2*(v-math.Log(unit[a])))+share) + math.Log(unit[a])
		}
	} else {
		u, q := make([]float64, d*(d+1)/2), make([]float64, d*(d+1)/2)
		e.scale(u)
		Gaussian{Shape: Full}.Covariance(q, u, d)
		for j := range d {
			for l := range j + 1 {
				q[tri(j, l)] /= unit[j] * unit[l]
			}
			q[tri(j, j)] += share
		}
		cholesky(u, q, d, 0)
		p.unit = make([]float64, len(e.unit))
		for j := range d {
			pivot := max(u[tri(j, j)], 1e-300)
			p.log[j] = math.Log(pivot * unit[j])
			for r := j + 1; r < d; r++ {
				p.unit[strict(r, j)] = u[tri(r, j)] / pivot * unit[r] / unit[j]
			}
		}
	}
	shift := 0.0
	for a := range p.log {
		shift += (e.log[a] - p.log[a]) / float64(d)
	}
	for a := range p.log {
		p.log[a] += shift
	}
	return p
}

// Held marks what a floor holds: of a component at the floor its volume, shape and directions, shared ones included, since
// the floor binds along a direction that no coordinate follows.
func (g Parsimonious) Held(held []bool, theta []float64, k, d int) {
	clear(held)
	l := g.layout(k, d)
	mark := func(part []float64) { // a part is a slice of theta: its capacity is cut to its length
		for i := range part {
			part[i] = 1
		}
	}
	marks := make([]float64, len(theta))
	for c, at := range g.AtFloor(theta, k, d) {
		if at {
			marks[l.volume(c)] = 1
			mark(l.shape(marks, c))
			mark(l.direction(marks, c))
		}
	}
	for i, v := range marks {
		held[i] = v > 0
	}
}
