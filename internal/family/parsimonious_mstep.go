package family

import (
	"cmp"
	"math"
	"slices"
)

// moments are the covariances of the rows of the components that have any, in units of Parsimonious.units: packed lower
// triangles, or d variances.
type moments struct {
	d     int
	at    []int       // components
	n     []float64   // weights
	s     [][]float64 // covariances, raised to the floor
	flat  []bool      // those that were raised
	total float64
	loose bool // the step may not be the best for the rows: a covariance was raised, or an iteration has not settled
}

// moments returns the covariances about the new means, which it sets in next.
func (g Parsimonious) moments(next, theta []float64, s *Stats, unit []float64) *moments {
	s = g.completed(s, theta)
	k, d, p := s.K, s.D, g.Plain()
	m := &moments{d: d}
	for c := range k {
		n, first := s.N[c], s.Sum[c*d:c*d+d]
		if !(n > minWeight) {
			continue
		}
		q := slices.Clone(p.scale(s.Sum[k*d:], c, d))
		p.recentre(q, first, n)
		for j := range d {
			next[c*d+j] = theta[c*d+j] + first[j]/n
			if !g.Shape.Matrix() {
				q[j] = (q[j]/n + g.RegCovar) / (unit[j] * unit[j])
				continue
			}
			for l := range j + 1 {
				q[tri(j, l)] /= n * unit[j] * unit[l]
			}
			q[tri(j, j)] += g.RegCovar / (unit[j] * unit[j])
		}
		raised := g.raise(q, d)
		m.loose = m.loose || raised
		m.at, m.n, m.s, m.flat = append(m.at, c), append(m.n, n), append(m.s, q), append(m.flat, raised)
		m.total += n
	}
	return m
}

// raise raises the eigenvalues of q to MinEigenvalue and reports whether one was below.
func (g Parsimonious) raise(q []float64, d int) (raised bool) {
	if !g.Shape.Matrix() {
		for j, v := range q {
			if !(v >= MinEigenvalue && v <= math.MaxFloat64) {
				q[j], raised = MinEigenvalue, true
			}
		}
		return raised
	}
	settle(q, d)
	l := make([]float64, len(q))
	if cholesky(l, q, d, MinEigenvalue) {
		return false
	}
	clip(q, d)
	return true
}

// MStep sets means to the weighted means, and the covariances to those of the shape under which rows with the moments
// about them are the most likely (Celeux and Govaert 1995). EVI, EVV and EEV are in closed form. VEI, VEE and VEV find
// volumes by Newton's method, which ends in the one optimum there is (see volumes); EVE and VVE turn axes (see commonAxes).
// All are carried to the end, so that the step is the maximiser and not just an ascent.
//
// Where a component's rows are flatter than the floor their moments are raised to it before the shape is imposed. What
// comes out is the best of that, not of the moments themselves. If it, or an iteration cut short, would be for the worse,
// covariances stay as they are.
func (g Parsimonious) MStep(next, theta []float64, s *Stats) {
	k, d := s.K, s.D
	old, unit := slices.Clone(theta), g.units()
	copy(next, old)
	m := g.moments(next, old, s, unit)
	if len(m.at) == 0 {
		return
	}
	before := slices.Clone(next)
	l := g.layout(k, d)
	switch g.Shape {
	case TiedShapeDiag:
		g.diagonals(next, l, unit, m, m.volumesAndShape(m.s))
	case TiedVolumeDiag:
		g.diagonals(next, l, unit, m, oneVolume(m.n, logsOf(m.s)))
	case TiedShapeAxes:
		g.triangles(next, l, unit, m, m.proportional())
	case TiedVolume:
		g.triangles(next, l, unit, m, m.factors())
	case TiedVolumeAxes, TiedAxes:
		g.shared(next, old, l, unit, m)
	default:
		g.turns(next, old, l, unit, m)
	}
	outside := g.lift(next, k, d, 1)
	if (m.loose || outside) && g.RegCovar == 0 && g.Expected(next, old, s) < g.Expected(before, old, s) {
		copy(next, before)
		g.Project(next, k, d)
	}
}

// diagonals writes the logarithms of the standard deviations of columns.
func (g Parsimonious) diagonals(next []float64, l layout, unit []float64, m *moments, logs [][]float64) {
	for i, c := range m.at {
		for j := range logs[i] {
			logs[i][j] += math.Log(unit[j])
		}
		l.setLogs(next, c, logs[i])
	}
}

// triangles writes log-Cholesky factors as volume, shape and unit triangle.
func (g Parsimonious) triangles(next []float64, l layout, unit []float64, m *moments, factors [][]float64) {
	for i, c := range m.at {
		logs, t := make([]float64, l.d), l.direction(next, c)
		for j := range l.d {
			v := factors[i][tri(j, j)]
			logs[j] = v + math.Log(unit[j])
			for r := j + 1; r < l.d; r++ {
				t[strict(r, j)] = factors[i][tri(r, j)] * math.Exp(-v) * unit[r] / unit[j]
			}
		}
		l.setLogs(next, c, logs)
	}
}

// turns writes the axes of each component for EEV and VEV. Axes are taken with eigenvalues in the same order in all, which
// no other pairing beats, and named in the order that those of old have.
func (g Parsimonious) turns(next, old []float64, l layout, unit []float64, m *moments) {
	d := l.d
	values, axes := make([][]float64, len(m.at)), make([][]float64, len(m.at))
	for i, q := range m.s {
		values[i], axes[i] = eigen(q, d)
		for a := range values[i] {
			values[i][a] = max(values[i][a], MinEigenvalue) // rounding
		}
	}
	var logs [][]float64
	if l.ownVolume {
		logs = m.volumesAndShape(values)
	} else {
		mean := make([]float64, d)
		for i, v := range values {
			for a := range v {
				mean[a] += m.n[i] / m.total * v[a]
			}
		}
		logs = slices.Repeat(logsOf([][]float64{mean}), len(m.at))
	}
	order := make([]int, d) // the rank of each axis
	for r, a := range descending(l.logs(old, m.at[0])) {
		order[a] = r
	}
	for i, c := range m.at {
		own := make([]float64, d)
		for a, from := range order {
			own[a] = logs[i][from] + math.Log(unit[0])
		}
		l.setLogs(next, c, own)
		cayley(l.direction(next, c), permute(axes[i], order, d), newRotation(l.direction(old, c), d).axes, d)
	}
}

// descending returns the places of the values, the largest first, of equals the first.
func descending(v []float64) []int {
	place := make([]int, len(v))
	for a := range place {
		place[a] = a
	}
	slices.SortStableFunc(place, func(a, b int) int { return cmp.Compare(v[b], v[a]) })
	return place
}

// shared writes the common axes of EVE and VVE.
func (g Parsimonious) shared(next, old []float64, l layout, unit []float64, m *moments) {
	d := l.d
	near := newRotation(l.direction(old, 0), d).axes
	axes, settled := findAxes(near, m.s, m.n, d, !l.ownVolume)
	m.loose = m.loose || !settled
	axes, _ = alike(axes, near, d)
	logs := make([][]float64, len(m.at))
	cayley(l.direction(next, 0), axes, near, d)
	axes = newRotation(l.direction(next, 0), d).axes // as they are told: at the floor the last digits of an axis count
	for i, q := range m.s {
		b := within(axes, q, d)
		for a := range d {
			logs[i] = append(logs[i], math.Log(max(b[a*d+a], MinEigenvalue))/2)
		}
	}
	if !l.ownVolume {
		logs = oneVolume(m.n, logs)
	}
	g.diagonals(next, l, unit, m, logs)
}

// factors returns the log-Cholesky factors of the covariances, made to have one volume: the best there is under EVV.
func (m *moments) factors() [][]float64 {
	all, pivots := make([][]float64, len(m.s)), make([][]float64, len(m.s))
	for i, q := range m.s {
		all[i] = logCholesky(q, m.d)
		for j := range m.d {
			pivots[i] = append(pivots[i], all[i][tri(j, j)])
		}
	}
	for i, logs := range oneVolume(m.n, pivots) {
		f := math.Exp(logs[0] - all[i][0])
		for j := range m.d {
			for l := range j {
				all[i][tri(j, l)] *= f
			}
			all[i][tri(j, j)] = logs[j]
		}
	}
	return all
}

// logCholesky returns the Cholesky factor of q, which is positive definite but for rounding, with the logarithm of its
// diagonal.
func logCholesky(q []float64, d int) []float64 {
	u := make([]float64, len(q))
	if !cholesky(u, q, d, 0) {
		for j := range d {
			q[tri(j, j)] += 4 * float64(d) * 1e-16 * q[tri(j, j)]
		}
		cholesky(u, q, d, 0)
	}
	for j := range d {
		u[tri(j, j)] = math.Log(max(u[tri(j, j)], math.Sqrt(MinEigenvalue)/2))
	}
	return u
}

// logsOf returns the logarithms of the roots of variances.
func logsOf(variances [][]float64) [][]float64 {
	all := make([][]float64, len(variances))
	for i, v := range variances {
		for _, x := range v {
			all[i] = append(all[i], logSD(x))
		}
	}
	return all
}

// oneVolume shifts logarithms of standard deviations to one common mean, the best for weights n: the volume is the mean of
// the components' own.
func oneVolume(n []float64, logs [][]float64) [][]float64 {
	own, top := make([]float64, len(logs)), math.Inf(-1)
	for i, v := range logs {
		for _, x := range v {
			own[i] += x / float64(len(v))
		}
		top = max(top, own[i])
	}
	sum, total := 0.0, 0.0
	for i, v := range own {
		sum += n[i] * math.Exp(2*(v-top))
		total += n[i]
	}
	volume := top + math.Log(sum/total)/2
	for i, v := range logs {
		for a := range v {
			v[a] += volume - own[i]
		}
	}
	return logs
}
