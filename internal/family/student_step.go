package family

import (
	"math"
	"slices"
)

// studentStep is the half of an M-step that is done before the base's: the new locations, the moments about them and the degrees of
// freedom.
type studentStep struct {
	around []float64 // the base's parameters: new locations, old scales
	inner  *Stats    // the base's sums about them, for its own M-step
	dof    []float64 // new
}

// MStep sets next to the parameters that the hidden gamma variables of the sweep ask for, and rescales these (Kent, Tyler and Vardi 1994;
// as parameter expansion Liu, Rubin and Wu 1998): locations are means by the weights r u, scales are the Gaussian M-step for the moments
// by r u over their mean, degrees of freedom solve
//
//	log(v/2) - psi(v/2) + 1 + sum r (E log u - log alpha - u/alpha) / N = 0
//
// with alpha the mean of u. It climbs as EM's own step does (alpha = 1) and faster.
//
// Where a scale comes to the floor, or the axes that all share are found by an iteration, the factor may not be the best one. If the step
// would be for the worse, EM's own is taken.
func (g Student) MStep(next, theta []float64, s *Stats) {
	old := slices.Clone(theta)
	g.mStep(next, old, s, true)
	loose := g.Shape == TiedAxes || g.Shape == TiedVolumeAxes || slices.Contains(g.AtFloor(next, s.K, s.D), true)
	if loose && !(g.Expected(next, old, s) >= g.Expected(old, old, s)) {
		g.mStep(next, old, s, false)
	}
}

// mStep is MStep without that, or EM's own step.

func (g Student) mStep(next, theta []float64, s *Stats, rescale bool) {
	k := s.K
	t := g.step(theta, s, rescale)
	g.base().MStep(g.Scales(next, k), t.around, t.inner)
	if g.Dof != GivenDof {
		g.SetDofs(next, t.dof, k)
	}
}

func (g Student) step(theta []float64, s *Stats, rescale bool) studentStep {
	k, d := s.K, s.D
	u, _ := g.hiddenSums(s)
	p := g.sums()
	dof, alpha := g.hidden(theta, s, rescale)
	inner := g.weighted(s, slices.Clone(s.N))
	inner.Sum = slices.Clone(inner.Sum)
	around := slices.Clone(g.Scales(theta, k))
	for c := range k {
		first, q := inner.Sum[c*d:c*d+d], p.scale(inner.Sum[k*d:], c, d)
		if !(u[c] > minWeight) {
			inner.N[c] = 0
			continue
		}
		p.recentre(q, first, u[c])
		for j := range first {
			around[c*d+j] += first[j] / u[c]
			first[j] = 0
		}
	}
	second := inner.Sum[k*d:]
	for c := range p.Shape.Count(k) {
		z := p.Shape.Size(d)
		for i := range second[c*z : c*z+z] {
			second[c*z+i] /= alpha[c]
		}
	}
	return studentStep{around: around, inner: inner, dof: dof}
}

// dofRounds is how often degrees of freedom and the one factor of all components are solved in turn.
// They have settled once they change by less than a share dofSettled, of which the objective feels the square.
const (
	dofRounds  = 30
	dofSettled = 1e-9
)

// hidden returns the new degrees of freedom and the factor that the hidden variables are divided by: the best pair. Without rescale the
// factor is 1.
func (g Student) hidden(theta []float64, s *Stats, rescale bool) (dof, alpha []float64) {
	k, d := s.K, s.D
	u, logs := g.hiddenSums(s)
	dof, alpha = g.Dofs(theta, k), slices.Repeat([]float64{1}, k)
	mean := slices.Clone(logs) // sum r E log u
	for c, v := range dof {
		a := (v + float64(d)) / 2
		mean[c] -= s.N[c] * psiLag(a)
	}
	for range dofRounds {
		if rescale {
			g.factors(alpha, dof, u, s.N)
		}
		before := slices.Clone(dof)
		g.solve(dof, alpha, u, mean, s.N)
		still := true
		for c, v := range dof {
			still = still && math.Abs(v-before[c]) <= dofSettled*v
		}
		if !rescale || g.ownVolume() || still {
			break
		}
	}
	return dof, alpha
}

// factors sets alpha to the mean of u: of each component, or of all, each counted by its degrees of freedom.
func (g Student) factors(alpha, dof, u, n []float64) {
	up, down := 0.0, 0.0
	for c := range alpha {
		if !(u[c] > minWeight) {
			continue
		}
		up, down = up+dof[c]*u[c], down+dof[c]*n[c]
		if g.ownVolume() {
			alpha[c] = u[c] / n[c]
		}
	}
	if !g.ownVolume() && down > 0 {
		for c := range alpha {
			alpha[c] = up / down
		}
	}
}

// solve sets dof to the roots for the factors alpha; mean are the sums of r E log u.
func (g Student) solve(dof, alpha, u, mean, n []float64) {
	weight, sum := 0.0, 0.0
	for c := range dof {
		if !(u[c] > minWeight) {
			continue
		}
		own := mean[c] - n[c]*math.Log(alpha[c]) - u[c]/alpha[c]
		weight, sum = weight+n[c], sum+own
		if g.Dof == OwnDof {
			dof[c] = dofRoot(1+own/n[c], dof[c])
		}
	}
	if g.Dof == TiedDof && weight > 0 {
		v := dofRoot(1+sum/weight, dof[0])
		for c := range dof {
			dof[c] = v
		}
	}
}

// lagLeast and lagMost are psiLag at the limits of degrees of freedom.
var lagLeast, lagMost = psiLag(LeastDof / 2), psiLag(MostDof / 2)

// dofRoot returns the v between LeastDof and MostDof for which log(v/2) - psi(v/2) + constant is 0, or the limit that is nearest to it:
// log x - psi(x) falls from infinity to 0. Newton's method in log v, kept within what is left of the interval, begins at the value before.
func dofRoot(constant, before float64) float64 {
	switch {
	case !(lagLeast+constant > 0):
		return LeastDof
	case !(lagMost+constant < 0):
		return MostDof
	}
	lo, hi, v := LeastDof, MostDof, min(max(before, 1.001*LeastDof), 0.999*MostDof)
	for range 100 {
		x := v / 2
		f := psiLag(x) + constant
		if f > 0 {
			lo = v
		} else {
			hi = v
		}
		next := v * math.Exp(min(max(f/(x*Trigamma(x)-1), -3), 3))
		if !(next > lo && next < hi) {
			next = math.Sqrt(lo * hi)
		}
		if math.Abs(next-v) <= 1e-15*v {
			return next
		}
		v = next
	}
	return v
}
