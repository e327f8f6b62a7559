package familytest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/floats"
	"pgregory.net/rapid"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// SmoothLaws runs the laws of a family.Smooth, on Blobs.
func SmoothLaws(t *testing.T, newFamily Maker) { SmoothLawsOn(t, newFamily, Blobs) }

// SmoothLawsOn runs the laws of a family.Smooth, on the rows that suit it.
func SmoothLawsOn(t *testing.T, newFamily Maker, rows Rows) {
	Case{New: newFamily, Rows: rows}.SmoothLaws(t)
}

// SmoothLaws is SmoothLawsOn for the case.
func (c Case) SmoothLaws(t *testing.T) {
	c.suite().hold(t, []law{
		{"the gradient is that of the free energy", differentiates},
		{"the inverse of the metric undoes it", inverts},
		{"the metric is the curvature of the free energy at an M-step", curves},
		{"a small step of EM is the gradient in its metric", stepsAsEM},
		{"what is inside the floors stays", staysInside},
		{"what is outside the floors moves inside at once", movesInside},
		{"twice a move reaches twice as far", reaches},
		{"a nudge parts components that are the same", nudges},
		{"no floor holds what is well inside", holdsNothing},
		{"what is moved to a floor is held there", floorsHold},
		{"the rows' gradients add up to the gradient", rowGradientsAddUp},
		{"natural parameters are told and read alike", naturalsReturn},
		{"a component is apart from others, not from itself", liesApart},
	}, c.Except...)
}

// law is what holds for the families that it suits. try reports whether the sample that it drew fits it.
type law struct {
	name string
	try  func(t *rapid.T, u suite) (tried bool)
}

// hold runs laws, but for those with the names except.
func (u suite) hold(t *testing.T, laws []law, except ...string) {
	for _, law := range laws {
		if slices.Contains(except, law.name) {
			continue
		}
		t.Run(law.name, func(t *testing.T) {
			holds(t, func(t *rapid.T) bool { return law.try(t, u) })
		})
	}
}

// holds checks a law that only some of the samples fit, in as many rounds as it takes to meet ten of them.
func holds(t *testing.T, try func(t *rapid.T) (tried bool)) {
	tried, least := 0, 10
	if testing.Short() { // a fifth of the samples
		least = 1
	}
	for rounds := 0; tried < least && rounds < 5; rounds++ {
		rapid.Check(t, func(t *rapid.T) {
			if try(t) {
				tried++
			}
		})
	}
	if tried < least {
		t.Errorf("only %d samples fit the law", tried)
	}
}

func (s *sample) geometry(m *mixture.Mixture, theta []float64, st *family.Stats) mixture.Geometry {
	return mixture.Geometry{Mixture: m, Theta: theta, Stats: st}
}

// move returns a random vector in theta's coordinates whose logits of the mixing weights add to 0, as those of every
// gradient do.
func (s *sample) move(m *mixture.Mixture, rng *rand.Rand) []float64 {
	z := make([]float64, m.Params())
	for i := range z {
		z[i] = rng.NormFloat64()
	}
	logits, mean := z[:len(z)-len(m.Components(z))], 0.0
	for _, v := range logits {
		mean += v / float64(len(logits))
	}
	for c := range logits {
		logits[c] -= mean
	}
	return z
}

// along returns theta + h z.
func along(theta []float64, h float64, z []float64) []float64 {
	to := slices.Clone(theta)
	for i, v := range z {
		to[i] += h * v
	}
	return to
}

// few reports whether a component has so few rows that it may be flat.
func few(st *family.Stats) bool { return slices.Min(st.N) < float64(2*st.D+4) }

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

func generator(t *rapid.T) *rand.Rand {
	return rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "directions"), 0))
}

// Fisher's identity: with the responsibilities of an E-step at theta, the gradient of the bound is that of the free
// energy itself.
func differentiates(t *rapid.T, u suite) bool {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	m.MStep(theta, theta, s.sweep(m, theta, 1))
	g, rng := make([]float64, len(theta)), generator(t)
	for _, beta := range []float64{0.5, 1, 1.2} {
		st := s.sweep(m, theta, beta)
		if few(st) {
			return false
		}
		m.Grad(g, theta, st)
		size := 1 + st.W
		for _, v := range g {
			size = max(size, math.Abs(v))
		}
		for _, i := range rng.Perm(len(theta))[:min(6, len(theta))] {
			near(t, "gradient of the bound", g[i], slope(theta, i, func(next []float64) float64 { return m.FreeEnergy(next, theta, beta, st) }), 1e-6*size)
			near(t, "gradient of the free energy", g[i], slope(theta, i, func(theta []float64) float64 { return s.sweep(m, theta, beta).F }), 1e-6*size)
		}
	}
	return true
}

// slope returns the derivative of f in parameter i at theta, by central differences of order h^4.
func slope(theta []float64, i int, f func(theta []float64) float64) float64 {
	const h = 1e-3
	step := make([]float64, len(theta))
	step[i] = 1
	near, far := f(along(theta, h, step))-f(along(theta, -h, step)), f(along(theta, 2*h, step))-f(along(theta, -2*h, step))
	return (8*near - far) / (12 * h)
}

func inverts(t *rapid.T, u suite) bool {
	s := u.draw(t)
	return metricInverts(t, s, s.mixture(u.newFamily))
}

// With z = I^-1 q, z' I z = q' z; and I^-1 is symmetric and positive. What lengths say of the sum and the difference of two moves gives every
// entry of I, and a product with I is that.
func metricInverts(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	theta := s.start(m)
	geo, rng := s.geometry(m, theta, s.sweep(m, theta, 1)), generator(t)
	a, b := s.move(m, rng), s.move(m, rng)
	za, zb := make([]float64, len(a)), slices.Clone(b)
	geo.Precondition(za, a)
	geo.Precondition(zb, zb)
	square := dot(a, za)
	if !(square > 0) {
		t.Fatalf("q' I^-1 q = %v", square)
	}
	near(t, "z' I z", math.Pow(geo.Length(za), 2), square, 1e-10*square)
	near(t, "b' I^-1 a", dot(b, za), dot(a, zb), 1e-10*math.Sqrt(square*dot(b, zb)))
	lengthsTell(t, geo, s.move(m, rng), s.move(m, rng))
	lengthsTell(t, geo, za, zb)
	return true
}

// lengthsTell compares a product with the metric with lengths.
func lengthsTell(t *rapid.T, geo mixture.Geometry, a, b []float64) {
	q, e := make([]float64, len(a)), make([]float64, len(a))
	geo.Multiply(q, a)
	long, short := geo.Length(along(a, 1, b)), geo.Length(along(a, -1, b))
	near(t, "b' I a", dot(b, q), (long-short)*(long+short)/4, 1e-10*geo.Length(a)*geo.Length(b))
	for i, v := range q {
		e[i] = 1
		one := geo.Length(e)
		if one > 0 { // in units in which both moves are about as long
			h := geo.Length(a) / one
			long, short := geo.Length(along(a, h, e)), geo.Length(along(a, -h, e))
			near(t, "an entry of I a", v, (long-short)*(long+short)/(4*h), 1e-10*geo.Length(a)*one)
		}
		e[i] = 0
	}
}

// settle takes theta to where the M-step of the responsibilities leaves it as it is. It reports whether 200 steps were enough.
func (s *sample) settle(m *mixture.Mixture, theta []float64) bool {
	before := make([]float64, len(theta))
	for range 200 {
		copy(before, theta)
		m.MStep(theta, theta, s.given(m, theta))
		if floats.EqualApprox(before, theta, 1e-7) {
			return true
		}
	}
	return false
}

// Where the responsibilities' own M-step leaves the parameters as they are, the complete-data information is minus the
// second derivative of the free energy, the responsibilities held fixed: expected and observed are the same there.
func curves(t *rapid.T, u suite) bool {
	const h = 1e-3
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	if completes(m.Family) && (few(s.given(m, theta)) || !s.settle(m, theta)) { // its M-step depends on the parameters before
		return false
	}
	st := s.given(m, theta)
	held := make([]bool, len(theta))
	if m.Held(held, theta, theta); slices.Contains(held, true) {
		return false
	}
	geo, z := s.geometry(m, theta, st), s.move(m, generator(t))
	geo.Precondition(z, z)
	length := geo.Length(z)
	for i := range z {
		z[i] /= length
	}
	f := func(h float64) float64 { return m.FreeEnergy(along(theta, h, z), theta, 1, st) }
	// Moves of 1e-3 and 2e-3 standard errors, as far as rounding allows more: the second difference of order h^4.
	step := h * math.Sqrt(st.W)
	curvature := (16*(f(step)+f(-step)) - (f(2*step) + f(-2*step)) - 30*f(0)) / (12 * step * step)
	near(t, "curvature along a move of length 1", -curvature, 1, 1e-4)
	return true
}

func stepsAsEM(t *rapid.T, u suite) bool {
	s := u.draw(t)
	return stepIsPreconditioned(t, s, s.mixture(u.newFamily))
}

// Near its end EM's step is I^-1 g to first order in itself. Lengths are compared in the metric, which does not see the constant
// that logits are free to share.
func stepIsPreconditioned(t *rapid.T, s *sample, m *mixture.Mixture) bool {
	theta := s.start(m)
	for range 60 {
		m.MStep(theta, theta, s.sweep(m, theta, 1))
	}
	m.Project(theta)
	rng := generator(t)
	theta = along(theta, 1e-5, s.move(m, rng))
	st := s.sweep(m, theta, 1)
	next, z, held := make([]float64, len(theta)), make([]float64, len(theta)), make([]bool, len(theta))
	m.MStep(next, theta, st)
	geo := s.geometry(m, theta, st)
	m.Grad(z, theta, st)
	geo.Precondition(z, z)
	m.Held(held, theta, next)
	step := along(next, -1, theta)
	length := geo.Length(step)
	size := geo.Reach(step) + length/math.Sqrt(slices.Min(st.N)) // of the step, in units of the components
	if few(st) || size > 0.01 || slices.Contains(held, true) {   // still on its way, or to an edge
		return false
	}
	if off := geo.Length(along(z, -1, step)); !(off <= 10*size*length+1e-12*math.Sqrt(st.W)) {
		t.Fatalf("I^-1 g is %v off the step of EM, which is %v long and of size %v", off, length, size)
	}
	return true
}

// M-steps end inside the floors, also of a component that holds one row.
func staysInside(t *rapid.T, u suite) bool {
	s := u.draw(t)
	if rapid.Bool().Draw(t, "one row alone") && s.k > 1 {
		for i := range s.n {
			if row := s.r[i*s.k : (i+1)*s.k]; i == 0 {
				clear(row)
				row[0] = 1
			} else {
				row[1] += row[0]
				row[0] = 0
			}
		}
	}
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	for range 4 {
		was := slices.Clone(theta)
		m.Project(theta)
		if !slices.Equal(theta, was) {
			t.Fatalf("an M-step led to %v, which was moved to %v", was, theta)
		}
		m.MStep(theta, theta, s.sweep(m, theta, 1))
	}
	return true
}

// One parameter is far off, the others as steps may lead them.
func movesInside(t *rapid.T, u suite) (moved bool) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	somewhere := along(s.start(m), 1, s.move(m, generator(t)))
	for i := range 2 * len(somewhere) {
		far := slices.Clone(somewhere)
		far[i/2] += float64(80*(i%2) - 40)
		once := slices.Clone(far)
		m.Project(once)
		twice := slices.Clone(once)
		m.Project(twice)
		if !slices.Equal(twice, once) {
			t.Fatalf("%v was moved inside to %v and again to %v", far, once, twice)
		}
		if st := s.sweep(m, once, 1); math.IsNaN(st.F) || math.IsInf(st.F, 0) {
			t.Fatalf("F is %v inside the floors, at %v", st.F, once)
		}
		moved = moved || !slices.Equal(once, far)
	}
	return moved
}

func reaches(t *rapid.T, u suite) bool {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	geo, z := s.geometry(m, theta, s.sweep(m, theta, 1)), s.move(m, generator(t))
	far := geo.Reach(z)
	if !(far > 0) {
		t.Fatalf("reach %v", far)
	}
	for _, f := range []float64{-1, 2, 1e-3, 0} {
		near(t, "reach", geo.Reach(along(make([]float64, len(z)), f, z)), math.Abs(f)*far, 1e-12*far)
	}
	return true
}

func nudges(t *rapid.T, u suite) bool {
	s := u.draw(t)
	for i := range s.r {
		s.r[i] = 1 / float64(s.k)
	}
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	geo, seed := s.geometry(m, theta, s.sweep(m, theta, 1)), rapid.Uint64().Draw(t, "nudge")
	a, b := slices.Clone(theta), slices.Clone(theta)
	geo.Nudge(a, rand.New(rand.NewPCG(seed, 0)).NormFloat64)
	geo.Nudge(b, rand.New(rand.NewPCG(seed, 0)).NormFloat64)
	if !slices.Equal(a, b) {
		t.Fatalf("the same numbers moved %v to %v and to %v", theta, a, b)
	}
	if far := geo.Reach(along(a, -1, theta)); !(far > 0 && far < 1) {
		t.Fatalf("a nudge of %v times the longest step", far)
	}
	before, after := s.scores(m, theta), s.scores(m, a)
	for c := 1; c < s.k; c++ {
		if before[0] != before[c] {
			t.Fatalf("components that took the same share of every row score it %v and %v", before[0], before[c])
		}
		if after[0] == after[c] {
			t.Fatalf("components 0 and %d still score row 0 the same, %v", c, after[0])
		}
	}
	return s.k > 1
}

// Where every component has a share of every row, and the rows suit the family, no parameter is near a floor.
func holdsNothing(t *rapid.T, u suite) bool {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	if f, ok := m.Family.(family.Student); ok { // blobs have no tails that would tell degrees of freedom
		f.SetDofs(m.Components(theta), nil, s.k)
	}
	held := slices.Repeat([]bool{true}, len(theta))
	m.Held(held, theta, theta)
	if slices.Contains(held, true) {
		t.Fatalf("held: %v at %v", held, theta)
	}
	return true
}
