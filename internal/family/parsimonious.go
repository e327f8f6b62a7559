package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// Parsimonious is a multivariate normal family whose covariances share a part (see Shape): their volume, their shape, the
// directions of their axes, or two of these (Celeux and Govaert 1995).
//
// theta holds k x d means, then log volumes, shapes and directions, each once where it is equal in all components (E) and
// k times where it varies (V). It has as many coordinates as the model has free parameters, and every vector is a valid
// model.
//
//	volume      1: v, the mean of the logarithms of the standard deviations along the axes; det S = exp(2 d v)
//	shape       d-1: what those logarithms differ from v by, s_1 ... s_d-1; s_d = -s_1 - ... - s_d-1
//	directions  d(d-1)/2: EVE, VVE, EEV and VEV: a skew matrix K, D its Cayley transform (see rotation). VEE and EVV, where
//	            shape and directions are shared alike: the unit lower triangle T of S = T diag(exp(2(v + s))) T'.
//	            VEI and EVI: none, the axes are the columns.
//
// In these coordinates volume, shape and directions are orthogonal in the complete-data information, which so inverts in
// closed form. Cholesky factors throughout would need constraints for equal eigenvalues or axes; axes throughout, as
// Celeux and Govaert have them, lose their meaning where eigenvalues are equal, so that triangles stand where they can.
//
// Sums are those of Gaussian for Full, or Diag for VEI and EVI, and so are the kernels.
//
// The floor of MinEigenvalue is in units of the columns' variances, as for Gaussian, where a change of units leaves a
// model of the shape one (VEI, EVI, VEE, EVV). Eigenvalues of a matrix whose axes or eigenvalues are shared have no column:
// theirs is in units of the smallest variance of a column, or of 1e-4 of the largest where that is more.
type Parsimonious struct {
	Shape Shape     // one for which Shape.Parsimonious is true
	Var   []float64 // the variances of the d columns; all must be positive
	// RegCovar is added to every variance by the M-step before the shape is imposed; above 0 no objective is climbed.
	RegCovar float64
	// Gaps says what cells are missing; nil is for complete rows. With gaps every row is completed, as Gaussian does for Full, also where
	// the covariances are diagonal: what components share ties the columns together. Sums are those of Plain with gaps.
	Gaps *Gaps
}

// WithGaps implements Incomplete.
func (g Parsimonious) WithGaps(gaps *Gaps) Family {
	g.Gaps = gaps
	return g
}

// Patterns implements Incomplete.
func (g Parsimonious) Patterns() *Gaps { return g.Gaps }

// gathered is Plain with the gaps: the family whose kernel gathers the sums.
func (g Parsimonious) gathered() Gaussian {
	p := g.Plain()
	p.Gaps = g.Gaps
	return p
}

// completed returns the sums of a sweep with theta in which every row is completed: with diagonal covariances a missing cell adds its
// variance to the second moment, and its entropy.
func (g Parsimonious) completed(s *Stats, theta []float64) *Stats {
	p, k, d := g.gathered(), s.K, s.D
	if !p.cellwise() {
		return s
	}
	own, n, end := *s, p.cellWeights(s), p.Params(k, d)
	own.Sum = make([]float64, end+1)
	copy(own.Sum, s.Sum[:end])
	for c, e := range g.unturned(theta, k, d) {
		for j, u := range e.log {
			missing := s.N[c] - n[c*d+j]
			own.Sum[k*d+c*d+j] += missing * math.Exp(2*u)
			own.Sum[end] += missing * (0.5*(1+log2Pi) + u)
		}
	}
	return &own
}

// Name returns the name of the shape.
func (g Parsimonious) Name() string { return g.Shape.String() }

// Params returns the length of theta.
func (g Parsimonious) Params(k, d int) int { return g.layout(k, d).end }

// Free returns the number of means and of covariance parameters: the length of theta.
func (g Parsimonious) Free(k, d int) int { return g.Params(k, d) }

// Sums returns the length of Stats.Sum.
func (g Parsimonious) Sums(k, d int) int { return g.gathered().Sums(k, d) }

// Density returns true.
func (g Parsimonious) Density() bool { return true }

// Plain returns the Gaussian family of the same covariances, each by itself: Full or Diag.
func (g Parsimonious) Plain() Gaussian {
	return Gaussian{Shape: g.Shape.Alone(), Var: g.Var, RegCovar: g.RegCovar}
}

// varies reports whether volume (0), shape (1) or directions (2) vary between components.
func (g Parsimonious) varies(part int) bool { return g.Shape.Mclust()[part] == 'V' }

// triangular reports whether shape and directions are those of a unit lower triangle.
func (g Parsimonious) triangular() bool { return g.Shape == TiedShapeAxes || g.Shape == TiedVolume }

// turned reports whether directions are a rotation.
func (g Parsimonious) turned() bool { return g.Shape.Matrix() && !g.triangular() }

// layout says where in theta the parts of the k covariances are.
type layout struct {
	d                                 int
	volumes, shapes, directions, end  int // where each begins
	ownVolume, ownShape, ownDirection bool
	turns                             int // coordinates of directions
}

func (g Parsimonious) layout(k, d int) layout {
	l := layout{d: d, ownVolume: g.varies(0), ownShape: g.varies(1), ownDirection: g.varies(2)}
	if g.Shape.Matrix() {
		l.turns = d * (d - 1) / 2
	}
	many := func(own bool) int {
		if own {
			return k
		}
		return 1
	}
	l.volumes = k * d
	l.shapes = l.volumes + many(l.ownVolume)
	l.directions = l.shapes + many(l.ownShape)*(d-1)
	l.end = l.directions + many(l.ownDirection)*l.turns
	return l
}

// volume returns where the volume of component c is.
func (l layout) volume(c int) int {
	if !l.ownVolume {
		c = 0
	}
	return l.volumes + c
}

// shape returns the shape of component c in v, which is laid out like theta.
func (l layout) shape(v []float64, c int) []float64 {
	if !l.ownShape {
		c = 0
	}
	from, to := l.shapes+c*(l.d-1), l.shapes+(c+1)*(l.d-1)
	return v[from:to:to]
}

// direction returns the directions of component c in v, which is laid out like theta.
func (l layout) direction(v []float64, c int) []float64 {
	if !l.ownDirection {
		c = 0
	}
	from, to := l.directions+c*l.turns, l.directions+(c+1)*l.turns
	return v[from:to:to]
}

// ellipsoid is one covariance.
type ellipsoid struct {
	log  []float64 // d: logarithms of the standard deviations along the axes
	turn *rotation // turned shapes
	unit []float64 // triangular shapes: the strictly lower triangle of T
}

// ellipsoids returns the covariances of theta.
func (g Parsimonious) ellipsoids(theta []float64, k, d int) []ellipsoid {
	l, all := g.layout(k, d), g.unturned(theta, k, d)
	for c := range all {
		switch {
		case !g.turned():
		case c > 0 && !l.ownDirection:
			all[c].turn = all[0].turn
		default:
			all[c].turn = newRotation(l.direction(theta, c), d)
		}
	}
	return all
}

// unturned returns the covariances without rotations, which take the longest and which eigenvalues do not depend on.
func (g Parsimonious) unturned(theta []float64, k, d int) []ellipsoid {
	l, all := g.layout(k, d), make([]ellipsoid, k)
	for c := range all {
		all[c].log = l.logs(theta, c)
		if g.triangular() {
			all[c].unit = l.direction(theta, c)
		}
	}
	return all
}

// logs returns v_c + s_c from v, which is laid out like theta.
func (l layout) logs(v []float64, c int) []float64 {
	logs, volume, last := make([]float64, l.d), v[l.volume(c)], 0.0
	for a, s := range l.shape(v, c) {
		logs[a] = volume + s
		last -= s
	}
	logs[l.d-1] = volume + last
	return logs
}

// setLogs sets the volume and the shape of component c in theta.
func (l layout) setLogs(theta []float64, c int, logs []float64) {
	volume := 0.0
	for _, v := range logs {
		volume += v / float64(l.d)
	}
	theta[l.volume(c)] = volume
	s := l.shape(theta, c)
	for a := range s {
		s[a] = logs[a] - volume
	}
}

// scale sets u to the covariance as a scale of Plain.
func (e *ellipsoid) scale(u []float64) {
	switch d := len(e.log); {
	case e.turn != nil:
		e.factor(u)
	case e.unit != nil:
		for l, v := range e.log {
			u[tri(l, l)] = v
			sd := math.Exp(v)
			for j := l + 1; j < d; j++ {
				u[tri(j, l)] = e.unit[strict(j, l)] * sd
			}
		}
	default:
		copy(u, e.log)
	}
}

// factor sets u to the log-Cholesky factor of D diag(exp(2 log)) D': the triangle R' of diag(exp(log)) D' = Q R. Rows come
// largest first, which keeps the small ones exact.
func (e *ellipsoid) factor(u []float64) {
	d := len(e.log)
	order := descending(e.log)
	volume := 0.0
	for _, v := range e.log {
		volume += v / float64(d)
	}
	r := make([]float64, d*d)
	for i, a := range order {
		sd := math.Exp(e.log[a] - volume)
		for j := range d {
			r[i*d+j] = sd * e.turn.axes[j*d+a]
		}
	}
	const block = 32 // columns that lapack takes together
	work := make([]float64, (1+block)*d)
	// mat.QR would spend most of its time on an estimate of the condition.
	lapack64.Geqrf(blas64.General{Rows: d, Cols: d, Stride: d, Data: r}, work[:d], work[d:], block*d)
	size := math.Exp(volume)
	for l := range d {
		pivot := r[l*d+l]
		sign := math.Copysign(size, pivot)
		for j := l + 1; j < d; j++ {
			u[tri(j, l)] = sign * r[l*d+j]
		}
		u[tri(l, l)] = volume + math.Log(max(math.Abs(pivot), 1e-300))
	}
}

// Expand implements Constrained.
func (g Parsimonious) Expand(plain, theta []float64, k, d int) {
	g.expand(plain, theta, g.ellipsoids(theta, k, d), k, d)
}

func (g Parsimonious) expand(plain, theta []float64, all []ellipsoid, k, d int) {
	copy(plain, theta[:k*d])
	p := g.Plain()
	for c := range all {
		all[c].scale(p.ScaleOf(plain, c, k, d))
	}
}

// Restrict implements Constrained. The nearest parameters are those of the M-step for rows with the moments of plain. Covariances are
// raised to the floor.
func (g Parsimonious) Restrict(theta, plain, weight []float64, k, d int) {
	p := g.Plain()
	s := NewStats(k, d, p.Sums(k, d), 0)
	for c := range k {
		s.N[c] = max(weight[c], 1e-9)
		q := p.scale(s.Sum[k*d:], c, d)
		p.Covariance(q, p.ScaleOf(plain, c, k, d), d)
		for i := range q {
			q[i] *= s.N[c]
		}
	}
	clear(theta)
	copy(theta, plain[:k*d])
	g.RegCovar, g.Gaps = 0, nil
	g.MStep(theta, theta, s)
}

// Expected returns sum_i w_i sum_c r_ic log N(x_i | next_c) in nats.
func (g Parsimonious) Expected(next, theta []float64, s *Stats) float64 {
	s = g.completed(s, theta)
	// Of theta only the means matter: the moments are about them.
	return g.Plain().Expected(expanded(g, next, s.K, s.D), theta[:s.K*s.D], s)
}

// Bind factorises the covariances.
func (g Parsimonious) Bind(theta []float64, k, d int) Kernel {
	all := g.ellipsoids(theta, k, d)
	plain := make([]float64, g.Plain().Params(k, d))
	g.expand(plain, theta, all, k, d)
	b := &parsimoniousKernel{Kernel: g.gathered().Bind(plain, k, d), family: g, theta: slices.Clone(theta), l: g.layout(k, d), mean: plain[:k*d], all: make([]whitener, k)}
	for c := range all {
		b.all[c] = all[c].whitener(g.Plain().ScaleOf(plain, c, k, d))
	}
	return b
}
