package family

import (
	"math"
	"slices"
)

// Limits of degrees of freedom that are fitted. Below LeastDof a few equal rows make the likelihood unbounded before the floor of
// variances stops them; at MostDof the density is a Gaussian's to three digits, and the likelihood of a few thousand rows cannot tell the
// two apart: a component there counts as Gaussian.
const (
	LeastDof = 1.0
	MostDof  = 1000.0
)

// startDof is what degrees of freedom begin at: tails heavy enough for rows far out to count for little, and light enough for the
// first steps not to be those of medians.
const startDof = 10.0

// Dof says which degrees of freedom the components of a Student family have.
type Dof uint8

// The choices of degrees of freedom.
const (
	OwnDof   Dof = iota // each component its own
	TiedDof             // one for all
	GivenDof            // given, and no parameters
)

// Student is the multivariate t family (Peel and McLachlan 2000): with location m, scale matrix S, v degrees of freedom and
// delta = (x - m)' S^-1 (x - m),
//
//	log t(x) = lgamma((v+d)/2) - lgamma(v/2) - (d/2) log(v pi) - (1/2) log det S - (v+d)/2 log(1 + delta/v)
//
// It is a Gaussian whose precision is S^-1 times a hidden gamma variable, expected to be u = (v+d)/(v+delta) once the row is known: a
// row far out counts for little. The scale matrices have one of the fourteen shapes.
//
// theta holds the locations and scales as the Gaussian or Parsimonious family of the shape has its means and covariances, then the
// logarithms of the degrees of freedom: k, one or none.
//
// Sums are those of that family for rows of weight r u, then k sums of r u and k of r log u. Stats.N is the sum of r. With gaps one more
// number follows: sum r log t(x), of the cells that are there.
type Student struct {
	Shape    Shape
	Var      []float64 // as in Gaussian: what the floor of scales is measured by
	RegCovar float64   // as in Gaussian
	Dof      Dof
	Given    []float64 // of GivenDof: one for each component, or one for all; above 0
	// Gaps says what cells are missing; nil is for complete rows. With gaps every row is completed, whatever the shape.
	Gaps *Gaps
}

// WithGaps implements Incomplete.
func (g Student) WithGaps(gaps *Gaps) Family {
	g.Gaps = gaps
	return g
}

// Patterns implements Incomplete.
func (g Student) Patterns() *Gaps { return g.Gaps }

// conic is what Student needs of the family of its scales: Gaussian and Parsimonious have it.
type conic interface {
	Smooth
	Factored
}

// Base returns the family of locations and scales: the Gaussian one of the shape.
func (g Student) Base() Family { return g.base() }

// BaseOf returns the family of locations and scales of a Student family, and f itself where it is none.
func BaseOf(f Family) Family {
	if t, ok := f.(Student); ok {
		return t.Base()
	}
	return f
}

func (g Student) base() conic {
	if g.Shape.Parsimonious() {
		return Parsimonious{Shape: g.Shape, Var: g.Var, RegCovar: g.RegCovar}
	}
	return Gaussian{Shape: g.Shape, Var: g.Var, RegCovar: g.RegCovar}
}

// Plain returns the family with the same scales, each by itself.
func (g Student) Plain() Student {
	if g.Shape.Parsimonious() {
		g.Shape = g.Shape.Alone()
	}
	return g
}

// Name returns the name of the shape.
func (g Student) Name() string { return g.Shape.String() }

// free is how many degrees of freedom are parameters.
func (g Student) free(k int) int {
	switch g.Dof {
	case OwnDof:
		return k
	case TiedDof:
		return 1
	}
	return 0
}

// Params returns the length of theta.
func (g Student) Params(k, d int) int { return g.base().Params(k, d) + g.free(k) }

// Free returns the number of locations, of scale parameters and of degrees of freedom.
func (g Student) Free(k, d int) int { return g.Params(k, d) }

// Sums returns the length of Stats.Sum.
func (g Student) Sums(k, d int) int {
	n := g.base().Sums(k, d) + 2*k
	if g.Gaps != nil {
		n++
	}
	return n
}

// sums is the Gaussian family whose layout the moments have.
func (g Student) sums() Gaussian {
	if g.Shape.Parsimonious() {
		return Gaussian{Shape: g.Shape.Alone()}
	}
	return Gaussian{Shape: g.Shape}
}

// moments returns the part of the sums that is laid out as the base's.
func (g Student) moments(s *Stats) []float64 { return s.Sum[:g.sums().Params(s.K, s.D)] }

// Density returns true.
func (g Student) Density() bool { return true }

// Scales returns the part of theta that is Base's: the locations and scales of the k components. It shares theta's memory.
func (g Student) Scales(theta []float64, k int) []float64 { return theta[:len(theta)-g.free(k)] }

// tails returns the part of theta that holds the logarithms of degrees of freedom.
func (g Student) tails(theta []float64, k int) []float64 { return theta[len(theta)-g.free(k):] }

// Dofs returns the degrees of freedom of the k components theta: k numbers, also where they are tied or given.
func (g Student) Dofs(theta []float64, k int) []float64 {
	v, t := make([]float64, k), g.tails(theta, k)
	for c := range v {
		switch g.Dof {
		case GivenDof:
			v[c] = g.Given[min(c, len(g.Given)-1)]
		default:
			v[c] = dofOf(t[min(c, len(t)-1)])
		}
	}
	return v
}

// dofOf is exp, and exact at the limit.
func dofOf(log float64) float64 {
	if log == logMost {
		return MostDof
	}
	return math.Exp(log)
}

var logLeast, logMost = math.Log(LeastDof), math.Log(MostDof)

// SetDofs sets the degrees of freedom of the k components theta to dof, k numbers above 0, moved inside the limits: own ones as they are, tied
// ones to their geometric mean; given ones stay. A nil dof stands for what a fit begins at.
func (g Student) SetDofs(theta, dof []float64, k int) {
	t, mean := g.tails(theta, k), 0.0
	for c := range k {
		v := math.Log(startDof)
		if dof != nil {
			v = math.Log(dof[c])
		}
		mean += v / float64(k)
		if g.Dof == OwnDof {
			t[c] = min(max(v, logLeast), logMost)
		}
	}
	if g.Dof == TiedDof {
		t[0] = min(max(mean, logLeast), logMost)
	}
}

// AtFloor tells which components have a scale at the floor.
func (g Student) AtFloor(theta []float64, k, d int) []bool {
	return g.base().AtFloor(g.Scales(theta, k), k, d)
}

// Flat implements Flattening, for those shapes that do.
func (g Student) Flat(next, theta []float64, s *Stats) []bool {
	f, ok := g.base().(Flattening)
	if !ok || g.ownVolume() { // what is flat there is at the floor
		return make([]bool, s.K)
	}
	t := g.step(theta, s, true)
	return f.Flat(g.Scales(next, s.K), t.around, t.inner)
}

// weighted returns s as sums of the base, with the weights n: where they are r the gradient and the information of the scales are those
// of a Gaussian, where they are r u so are the moments. It shares the moments with s.
func (g Student) weighted(s *Stats, n []float64) *Stats {
	own := *s
	own.N, own.Sum = n, g.moments(s)
	return &own
}

// hiddenSums returns the sums of r u and of r log u of each component, in s's memory.
func (g Student) hiddenSums(s *Stats) (u, logs []float64) {
	at := len(g.moments(s))
	return s.Sum[at : at+s.K], s.Sum[at+s.K : at+2*s.K]
}

// ownVolume reports whether each component has a volume of its own, which Kent, Tyler and Vardi's step can rescale by itself.
func (g Student) ownVolume() bool { return g.Shape.Mclust()[0] == 'V' }

// plain returns the Gaussian family of the scales, each by itself but for shapes that share the whole, and its parameters.
func (g Student) plain(theta []float64, k, d int) (Gaussian, []float64) {
	own := g.Scales(theta, k)
	switch b := g.base().(type) {
	case Parsimonious:
		return b.Plain(), expanded(b, own, k, d)
	case Gaussian:
		return b, own
	}
	return Gaussian{}, nil
}

// distances returns sum r u delta of each component under the parameters next, from the sums of a sweep with theta: in the first place
// that of all components where they share the whole scale. logDet is the logarithm of the determinant of each scale.
func (g Student) distances(next, theta []float64, s *Stats) (sum, logDet []float64) {
	k, d := s.K, s.D
	p, own := g.plain(next, k, d)
	u, _ := g.hiddenSums(s)
	b := p.Bind(own, k, d).(*gaussianKernel)
	sum, logDet = make([]float64, k), make([]float64, k)
	for c := range k {
		logDet[c] = -2*b.shift[c] - float64(d)*log2Pi
	}
	if p.Shape.Shared() {
		e := p.Expected(own, theta, g.weighted(s, u))
		for c := range k {
			e -= u[c] * b.shift[c]
		}
		sum[0] = -2 * e
		return sum, logDet
	}
	z := p.Shape.Size(d)
	for c := range k {
		if !(u[c] > minWeight) {
			continue
		}
		one := &Stats{K: 1, D: d, N: u[c : c+1], Sum: slices.Concat(s.Sum[c*d:c*d+d], s.Sum[k*d+c*z:k*d+c*z+z])}
		here := slices.Concat(own[c*d:c*d+d], p.ScaleOf(own, c, k, d))
		sum[c] = -2 * (p.Expected(here, theta[c*d:c*d+d], one) - u[c]*b.shift[c])
	}
	return sum, logDet
}

// Expected returns the free energy in nats of the hidden gamma variables as a sweep with theta found them, but for one factor alpha that
// the best for next is taken of, for each component or, where these share a volume, for all. With a = (v'+d)/2, v' those of theta,
// l(a) = log a - psi(a), E log u = log u - l(a) and g(x) = lgamma(x) - x log x + x it is the sum over the components of
//
//	N [a l(a) + g(a) - g(v/2) + v/2 - (d/2) log 2 pi - (1/2) log det S - (v+d)/2 log alpha] + (v+d)/2 sum r E log u
//	- (sum r u delta + v sum r u) / (2 alpha)
//
// which is never above the log density of the rows, and equal to it where next is theta (alpha is 1 there). With gaps a is another one
// for each row, so that a constant differs: there it is what makes the two equal.
func (g Student) Expected(next, theta []float64, s *Stats) float64 {
	f := g.bound(next, theta, s)
	if g.Gaps != nil {
		f += s.Sum[len(s.Sum)-1] - g.bound(theta, theta, s)
	}
	return f
}

func (g Student) bound(next, theta []float64, s *Stats) float64 {
	k, d := s.K, s.D
	u, logs := g.hiddenSums(s)
	v, old := g.Dofs(next, k), g.Dofs(theta, k)
	sum, logDet := g.distances(next, theta, s)
	half := float64(d) / 2
	f, power, rate := 0.0, 0.0, 0.0 // power log alpha + rate / alpha is what alpha costs; d/2 of N is in the constants, v/2 of N in logGammaRest
	pay := func() {
		if power > minWeight {
			f -= power * math.Log(rate/power)
		}
		power, rate = 0, 0
	}
	for c := range k {
		n, a := s.N[c], old[c]/2+half
		lag := psiLag(a) // log u - E log u
		f += n * (a*lag + logGammaRest(a) - logGammaRest(v[c]/2) - half*(1+log2Pi) - logDet[c]/2)
		f += (v[c]/2 + half) * (logs[c] - n*lag)
		power += n * (v[c]/2 + half)
		rate += (sum[c] + v[c]*u[c]) / 2
		if g.ownVolume() {
			pay()
		}
	}
	pay()
	return f
}
