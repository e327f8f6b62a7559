package family

import (
	"math"
)

// Grad implements Smooth. With the moments weighted by r u, locations and scales have the gradients of a Gaussian; that of v is
// half the sum of r [psi((v+d)/2) - psi(v/2) + log(v/(v+d)) + 1 + log u - u].
func (g Student) Grad(grad, theta []float64, s *Stats) {
	k, d := s.K, s.D
	g.base().Grad(g.Scales(grad, k), g.Scales(theta, k), g.weighted(s, s.N))
	u, logs := g.hiddenSums(s)
	to := g.tails(grad, k)
	clear(to)
	for c, v := range g.Dofs(theta, k) {
		if len(to) > 0 {
			to[min(c, len(to)-1)] += v / 2 * (s.N[c]*dofSlope(v, float64(d)) + logs[c] - u[c])
		}
	}
}

// dofSlope is psi((v+d)/2) - psi(v/2) + log(v/(v+d)) + 1.
func dofSlope(v, d float64) float64 {
	return psiLag(v/2) - psiLag((v+d)/2) + 1
}

// The complete-data information is that of rows whose component is known and whose gamma variable is not (Lange, Little and Taylor 1989).
// For one row, with t = d log det S along a move of the scale:
//
//	location  (v+d)/(v+d+2) S^-1
//	scale     (v+d)/(v+d+2) times a Gaussian's, less t^2 / (2 (v+d+2))
//	S with v  -t / ((v+d) (v+d+2))
//	v         (psi'(v/2) - psi'((v+d)/2)) / 4 - d (v+d+4) / (2 v (v+d) (v+d+2))
//
// EM's information, of known gamma variables, has no block of S with v; with it v settles in as many steps as the rest.

// tailInformation is that information of one component, for the log of v, all rows counted.
type tailInformation struct {
	weight float64 // of a Gaussian's information: N (v+d)/(v+d+2)
	volume float64 // that is added for t^2: negative
	cross  float64 // of t with log v: negative
	tail   float64 // of log v
}

func (g Student) information(theta []float64, s *Stats) []tailInformation {
	k, d := s.K, float64(s.D)
	all := make([]tailInformation, k)
	for c, v := range g.Dofs(theta, k) {
		n, w := s.Support(c), v+d
		all[c] = tailInformation{weight: s.support(n * w / (w + 2)), volume: -n / (2 * (w + 2))}
		if g.Dof != GivenDof {
			all[c].tail = n * dofInformation(v, d)
			if v > LeastDof && v < MostDof { // at a limit v does not move, and the scale moves as if it were given
				all[c].cross = -n * v / (w * (w + 2))
			}
		}
	}
	return all
}

// dofInformation returns the information of log v in one row. At MostDof its terms cancel but for seven digits.
func dofInformation(v, d float64) float64 {
	i := (Trigamma(v/2)-Trigamma((v+d)/2))/4 - d*(v+d+4)/(2*v*(v+d)*(v+d+2))
	return v * v * i
}

// counted returns the sums of the base with the weights that its information has here.
func (g Student) counted(s *Stats, info []tailInformation) *Stats {
	n := make([]float64, len(info))
	for c := range info {
		n[c] = info[c].weight
	}
	return g.weighted(s, n)
}

// rescale adds to z the move of the scale of component c that multiplies it by 1 + 2 by, for a small by.
func (g Student) rescale(z, theta []float64, by float64, c, k, d int) {
	g.eachVolume(c, k, d, func(at int, _ float64) { z[at] += by })
	if g.Shape == Full || g.Shape == Tied {
		p := Gaussian{Shape: g.Shape}
		u, to := p.ScaleOf(theta, c, k, d), p.ScaleOf(z, c, k, d)
		for j := range d {
			for l := range j {
				to[tri(j, l)] += by * u[tri(j, l)]
			}
		}
	}
}

// eachVolume calls do with the places of the base's parameters that the determinant of the scale of component c depends on, and its
// logarithm's derivative in each.
func (g Student) eachVolume(c, k, d int, do func(at int, slope float64)) {
	if g.Shape.Parsimonious() {
		do(Parsimonious{Shape: g.Shape}.layout(k, d).volume(c), 2*float64(d))
		return
	}
	size := g.Shape.Size(d)
	at := k * d
	if !g.Shape.Shared() {
		at += c * size
	}
	switch g.Shape.kind() {
	case Full:
		for j := range d {
			do(at+tri(j, j), 2)
		}
	case Diag:
		for j := range d {
			do(at+j, 2)
		}
	default:
		do(at, 2*float64(d))
	}
}

// Precondition implements Smooth.
func (g Student) Precondition(z, q, theta []float64, s *Stats) {
	g.precondition(z, q, theta, s, g.base().Precondition)
}

// PreconditionFramed implements Curved: the frame leaves volumes as they are.
func (g Student) PreconditionFramed(z, q, theta []float64, s *Stats) {
	g.precondition(z, q, theta, s, g.base().(Curved).PreconditionFramed)
}

// precondition applies the inverse of B + U M U', where B is the base's information, and the columns of U are the slopes t of the
// volumes and the units of the degrees of freedom: the moves a = t'z of the volumes and y of the degrees of freedom solve a small system
// first (Woodbury). Its matrix is diagonal but for one row and column, of the volume or of the degrees of freedom that all share.
func (g Student) precondition(z, q, theta []float64, s *Stats, base func(z, q, theta []float64, s *Stats)) {
	k, d := s.K, s.D
	info := g.information(theta, s)
	scales := g.Scales(theta, k)
	tail := append([]float64(nil), g.tails(q, k)...)
	base(g.Scales(z, k), g.Scales(q, k), scales, g.counted(s, info))
	volumes := 1
	if g.ownVolume() {
		volumes = k
	}
	v := make([]volumeBlock, volumes)
	for c := range info {
		m := &v[min(c, volumes-1)]
		m.weight += info[c].weight
		m.own += info[c].volume
	}
	for m := range v {
		g.eachVolume(m, k, d, func(at int, slope float64) { v[m].start += slope * z[at] })
		v[m].reach = 2 * float64(d) / v[m].weight
		v[m].share = v[m].reach / (1 + v[m].reach*v[m].own)
	}
	y := g.solveTails(tail, v, info)
	for m := range v {
		pull := v[m].own * v[m].start
		for c := range info {
			if min(c, volumes-1) == m && len(y) > 0 {
				pull += info[c].cross * y[min(c, len(y)-1)]
			}
		}
		g.rescale(z, scales, -pull/(1+v[m].reach*v[m].own)/v[m].weight, m, k, d)
	}
	copy(g.tails(z, k), y)
}

// volumeBlock is what the small system knows of one volume.
type volumeBlock struct {
	weight float64 // of the rows, as the base counts them
	own    float64 // what is added to its information
	start  float64 // t' B^-1 q
	reach  float64 // t' B^-1 t
	share  float64 // reach / (1 + reach own)
}

// solveTails returns the moves of the degrees of freedom.
func (g Student) solveTails(q []float64, v []volumeBlock, info []tailInformation) []float64 {
	if len(q) == 0 {
		return nil
	}
	diag, rhs := make([]float64, len(q)), append([]float64(nil), q...)
	cross := make([]float64, len(q)) // with the one volume, where there is one
	for c := range info {
		at := min(c, len(q)-1)
		diag[at] += info[c].tail
		cross[at] += info[c].cross
	}
	if len(v) > 1 || len(q) == 1 {
		sum := make([]float64, len(v))
		for c := range info {
			sum[min(c, len(v)-1)] += info[c].cross
		}
		for m := range v {
			at := min(m, len(q)-1)
			diag[at] -= v[m].share * sum[m] * sum[m]
			rhs[at] -= sum[m] * v[m].start / (1 + v[m].reach*v[m].own)
		}
		for i := range rhs {
			rhs[i] /= diag[i]
		}
		return rhs
	}
	// diag(tail) - share cross cross': one volume for all, degrees of freedom of their own (Sherman and Morrison)
	m, up, down := v[0], 0.0, 1.0
	for i := range rhs {
		rhs[i] -= cross[i] * m.start / (1 + m.reach*m.own)
		up += cross[i] * rhs[i] / diag[i]
		down -= m.share * cross[i] * cross[i] / diag[i]
	}
	for i := range rhs {
		rhs[i] = (rhs[i] + m.share*cross[i]*up/down) / diag[i]
	}
	return rhs
}

// Multiply implements Smooth.
func (g Student) Multiply(q, z, theta []float64, s *Stats) {
	k, d := s.K, s.D
	info := g.information(theta, s)
	g.base().Multiply(g.Scales(q, k), g.Scales(z, k), g.Scales(theta, k), g.counted(s, info))
	y, tails := g.tails(z, k), g.tails(q, k)
	clear(tails)
	for c := range info {
		a, v := 0.0, 0.0
		g.eachVolume(c, k, d, func(at int, slope float64) { a += slope * z[at] })
		if len(y) > 0 {
			at := min(c, len(y)-1)
			v = y[at]
			tails[at] += info[c].cross*a + info[c].tail*v
		}
		g.eachVolume(c, k, d, func(at int, slope float64) { q[at] += slope * (info[c].volume*a + info[c].cross*v) })
	}
}

// SquaredLength implements Smooth.
func (g Student) SquaredLength(z, theta []float64, s *Stats) float64 {
	k, d := s.K, s.D
	info := g.information(theta, s)
	sum, y := g.base().SquaredLength(g.Scales(z, k), g.Scales(theta, k), g.counted(s, info)), g.tails(z, k)
	for c := range info {
		a := 0.0
		g.eachVolume(c, k, d, func(at int, slope float64) { a += slope * z[at] })
		sum += info[c].volume * a * a
		if len(y) > 0 {
			v := y[min(c, len(y)-1)]
			sum += 2*info[c].cross*a*v + info[c].tail*v*v
		}
	}
	return sum
}

// Reach implements Smooth: degrees of freedom may change by a factor e in one step.
func (g Student) Reach(z, theta []float64, k, d int) float64 {
	far := g.base().Reach(g.Scales(z, k), g.Scales(theta, k), k, d)
	for _, v := range g.tails(z, k) {
		far = max(far, math.Abs(v))
	}
	return far
}

// Nudge moves the locations.
func (g Student) Nudge(theta []float64, k, d int, normal func() float64) {
	g.base().Nudge(g.Scales(theta, k), k, d, normal)
}

// Apart implements Smooth.
func (g Student) Apart(theta []float64, a, b, k, d int) float64 {
	far := g.base().Apart(g.Scales(theta, k), a, b, k, d)
	if g.Dof != OwnDof {
		return far
	}
	t := g.tails(theta, k)
	return math.Sqrt(far*far + max(dofInformation(g.Dofs(theta, k)[a], float64(d)), 0)*(t[a]-t[b])*(t[a]-t[b]))
}

// Place tells where the location of component c is.
func (g Student) Place(c, _, d int, do func(from, to int)) { do(c*d, c*d+d) }

// Project raises scales to the floor and moves degrees of freedom inside their limits.
func (g Student) Project(theta []float64, k, d int) {
	g.base().Project(g.Scales(theta, k), k, d)
	t := g.tails(theta, k)
	for i, v := range t {
		if v != v {
			v = math.Log(startDof)
		}
		t[i] = min(max(v, logLeast), logMost)
	}
}

// Held marks what the base does, and degrees of freedom at a limit.
func (g Student) Held(held []bool, theta []float64, k, d int) {
	n := len(held) - g.free(k)
	g.base().Held(held[:n], g.Scales(theta, k), k, d)
	for i, v := range g.tails(theta, k) {
		held[n+i] = v <= logLeast || v >= logMost
	}
}

// Factor implements Factored: logarithms of degrees of freedom are as they are.
func (g Student) Factor(l, theta []float64, k, d int) {
	copy(l, theta)
	g.base().Factor(g.Scales(l, k), g.Scales(theta, k), k, d)
}

// Unfactor implements Factored.
func (g Student) Unfactor(theta, l []float64, k, d int) {
	copy(theta, l)
	g.base().Unfactor(g.Scales(theta, k), g.Scales(l, k), k, d)
}

// FactorGrad implements Factored.
func (g Student) FactorGrad(gl, grad, theta []float64, k, d int) {
	copy(gl, grad)
	g.base().FactorGrad(g.Scales(gl, k), g.Scales(grad, k), g.Scales(theta, k), k, d)
}

// Turned implements Curved: the scales may have axes.
func (g Student) Turned() bool {
	c, ok := g.base().(Curved)
	return ok && c.Turned()
}

// Framed implements Curved.
func (g Student) Framed(f, grad, theta []float64, k, d int) {
	copy(f, grad)
	g.base().(Curved).Framed(g.Scales(f, k), g.Scales(grad, k), g.Scales(theta, k), k, d)
}

// Unframed implements Curved.
func (g Student) Unframed(z, w, theta []float64, k, d int) {
	copy(z, w)
	g.base().(Curved).Unframed(g.Scales(z, k), g.Scales(w, k), g.Scales(theta, k), k, d)
}

// Along implements Curved.
func (g Student) Along(next, w, theta []float64, k, d int) {
	for i, v := range g.tails(theta, k) {
		g.tails(next, k)[i] = v + g.tails(w, k)[i]
	}
	g.base().(Curved).Along(g.Scales(next, k), g.Scales(w, k), g.Scales(theta, k), k, d)
}

// Between implements Curved.
func (g Student) Between(w, next, theta []float64, k, d int) bool {
	for i, v := range g.tails(theta, k) {
		g.tails(w, k)[i] = g.tails(next, k)[i] - v
	}
	return g.base().(Curved).Between(g.Scales(w, k), g.Scales(next, k), g.Scales(theta, k), k, d)
}
