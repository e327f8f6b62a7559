package familytest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// The E-step closes the gap between the free energy and its bound, the M-step lifts both.
func ascends(t *rapid.T, u suite) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	for _, beta := range betas {
		theta := s.start(m)
		st := s.sweep(m, theta, beta)
		for range 12 {
			f := st.F
			tol := 1e-10 * (1 + math.Abs(f))
			next := make([]float64, len(theta))
			m.MStep(next, theta, st)
			if slices.Min(st.N) < float64(2*s.d+4) || slices.Contains(m.Family.AtFloor(m.Components(next), s.k, s.d), true) {
				// All but flat, with few rows or at the floor: moments are rounded to 1e-16 of the widest direction, and
				// the floor is 1e-9 of the variance of a column, which may be the narrowest.
				tol = 1e-6 * st.W
				if narrow := slices.Min(s.v); narrow > 0 {
					tol *= slices.Max(s.v) / narrow
				}
			}
			lifted := m.FreeEnergy(next, theta, beta, st)
			if !(lifted >= f-tol) {
				t.Fatalf("beta %v: the M-step lowers F from %v to %v", beta, f, lifted)
			}
			theta, st = next, s.sweep(m, next, beta)
			if !(st.F >= lifted-tol) {
				t.Fatalf("beta %v: the E-step lowers F from %v to %v", beta, lifted, st.F)
			}
		}
	}
}

func splits(t *rapid.T, u suite) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	cut := rapid.IntRange(0, s.n).Draw(t, "cut")
	for _, beta := range betas {
		whole, left, right := s.sweep(m, theta, beta), s.sums(m, theta, beta, 0, cut), s.sums(m, theta, beta, cut, s.n)
		left.Merge(right)
		alike(t, left, whole)
		if left.Rows != whole.Rows || whole.Rows != int64(s.n) {
			t.Fatalf("%d rows, in one piece %d, want %d", left.Rows, whole.Rows, s.n)
		}
		if left.Labels != whole.Labels {
			t.Fatalf("the fingerprint of labels is %x, in one piece %x", left.Labels, whole.Labels)
		}
		far := func(st *family.Stats) (f []int64) {
			for _, v := range st.Far {
				f = append(f, v.Row)
			}
			return f
		}
		if !slices.Equal(far(left), far(whole)) {
			t.Fatalf("worst rows %v, in one piece %v", far(left), far(whole))
		}
	}
}

func mergesNothing(t *rapid.T, u suite) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	for _, beta := range betas {
		want, into := s.sweep(m, theta, beta), s.sweep(m, theta, beta)
		into.Merge(m.NewStats(want.FarMax))
		from := m.NewStats(want.FarMax)
		from.Merge(want)
		for _, got := range []*family.Stats{into, from} {
			if got.Rows != want.Rows || got.W != want.W || got.F != want.F || got.LogLik != want.LogLik || got.Entropy != want.Entropy ||
				!slices.Equal(got.N, want.N) || !slices.Equal(got.Sum, want.Sum) || len(got.Far) != len(want.Far) {
				t.Fatalf("%+v, want %+v", got, want)
			}
		}
	}
}

func repeats(t *rapid.T, u suite) {
	s := u.draw(t)
	more := &sample{d: s.d, k: s.k, v: s.v}
	for i := range s.n {
		s.w[i] = float64((i + 1) % 4)
		for range (i + 1) % 4 {
			more.n++
			more.x = append(more.x, s.x[i*s.d:(i+1)*s.d]...)
			more.r = append(more.r, s.r[i*s.k:(i+1)*s.k]...)
			more.w = append(more.w, 1)
		}
	}
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	nearAll(t, "start", more.start(m), theta, u.slack)
	for _, beta := range betas {
		alike(t, s.sweep(m, theta, beta), more.sweep(m, theta, beta))
	}
}

func permutes(t *rapid.T, u suite) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	other := *s
	other.r = make([]float64, len(s.r))
	perm := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "permutation"), 0)).Perm(s.k)
	for i := range s.n {
		for c, to := range perm {
			other.r[i*s.k+to] = s.r[i*s.k+c]
		}
	}
	a, b := s.start(m), other.start(m)
	for range 3 {
		for i, v := range s.scores(m, a) {
			got := other.scores(m, b)[i/s.k*s.k+perm[i%s.k]]
			near(t, "score of the same component elsewhere", got, v, 1e-9*(1+math.Abs(v)))
		}
		sa, sb := s.sweep(m, a, 1), other.sweep(m, b, 1)
		near(t, "F", sb.F, sa.F, 1e-10*(1+math.Abs(sa.F)))
		for c, to := range perm {
			near(t, "N", sb.N[to], sa.N[c], 1e-9*sa.W)
		}
		m.MStep(a, a, sa)
		m.MStep(b, b, sb)
	}
}

// (1/beta) log sum exp(beta s) lies between max s and max s + (log k)/beta.
func hardens(t *rapid.T, u suite) {
	const beta = 1e6
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	logw := m.LogWeights(nil, theta)
	scores := s.scores(m, theta)
	for i := range s.n { // rows almost on a border are soft at any beta
		row := scores[i*s.k : (i+1)*s.k]
		for c := range row {
			row[c] += logw[c]
		}
		top := slices.Max(row)
		for _, v := range row {
			if v != top && top-v < 1e-3 {
				s.w[i] = 0
			}
		}
	}
	hard, soft := s.sweep(m, theta, math.Inf(1)), s.sweep(m, theta, beta)
	if gap := soft.F - hard.F; !(gap >= -1e-12*math.Abs(hard.F)) || gap > hard.W*math.Log(float64(s.k))/beta+1e-12*math.Abs(hard.F) {
		t.Fatalf("F is %v at beta %v and %v for hard labels", soft.F, beta, hard.F)
	}
	nearAll(t, "N", soft.N, hard.N, 1e-9)
	near(t, "log-likelihood", soft.LogLik, hard.LogLik, 1e-10*(1+math.Abs(hard.LogLik)))
}

func expects(t *rapid.T, u suite) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	st, r := s.given(m, theta), s.r
	if !m.Family.Density() { // a cost is that of hard labels
		st = s.sweep(m, theta, math.Inf(1))
		r = make([]float64, len(s.r))
		scores := s.scores(m, theta)
		for i := range s.n {
			row := scores[i*s.k : (i+1)*s.k]
			r[i*s.k+slices.Index(row, slices.Max(row))] = 1
		}
	}
	next := make([]float64, len(theta))
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "other"), 0))
	for _, size := range []float64{0, 0.01, 0.5} {
		for i, v := range theta {
			next[i] = v + size*rng.NormFloat64()
		}
		want, scale := 0.0, 0.0
		for i, v := range s.scores(m, next) {
			want += s.w[i/s.k] * r[i] * v
			scale += s.w[i/s.k] * r[i] * math.Abs(v)
		}
		got := m.Family.Expected(m.Components(next), m.Components(theta), st)
		if size > 0 && completes(m.Family) {
			want = min(want, got) // of which got is a lower bound that is reached at theta
		}
		near(t, "expected log density", got, want, 1e-11*(1+scale))
	}
}

// completes reports whether the family completes rows with what is hidden beside their component: missing cells, or the gamma variables
// of t distributions.
func completes(f family.Family) bool {
	if _, ok := f.(family.Student); ok {
		return true
	}
	if family.PatternsOf(f) == nil {
		return false
	}
	switch f := f.(type) {
	case family.Gaussian:
		return f.Shape.Matrix()
	case family.Parsimonious, family.Factors:
		return true
	case family.Mixed:
		return slices.ContainsFunc(f.Parts, func(p family.Part) bool { return completes(p.Family) })
	}
	return false
}

// The M-step is the global maximum over all parameters above the floor.
func maximises(t *rapid.T, u suite) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	theta := s.start(m)
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "directions"), 0))
	for _, beta := range betas {
		st := s.sweep(m, theta, beta)
		if slices.Min(st.N) < float64(s.d+2) {
			continue // too few rows to stay off the floor
		}
		next := make([]float64, len(theta))
		m.MStep(next, theta, st)
		if slices.Contains(m.Family.AtFloor(m.Components(next), s.k, s.d), true) {
			continue
		}
		best := m.FreeEnergy(next, theta, beta, st)
		other := make([]float64, len(theta))
		for _, size := range []float64{1e-4, 1e-2, 0.1, 1} {
			for range 4 {
				for i, v := range next {
					other[i] = v + size*rng.NormFloat64()
				}
				if slices.Contains(m.Family.AtFloor(m.Components(other), s.k, s.d), true) {
					continue
				}
				if _, ok := m.Family.(family.Student); ok {
					m.Project(other) // inside the limits of degrees of freedom
				}
				if f := m.FreeEnergy(other, theta, beta, st); f > best+1e-11*(1+math.Abs(best)) {
					t.Fatalf("beta %v: parameters %v off explain the responsibilities by %v, the M-step by %v", beta, size, f, best)
				}
			}
		}
	}
}

func allocates(t *testing.T, u suite) {
	const k, d = 3, 4
	m := &mixture.Mixture{Family: u.newFamily([]float64{1, 1, 1, 1}), K: k, D: d}
	kernel, ws := m.Family.Bind(make([]float64, m.Family.Params(k, d)), k, d), family.NewWorkspace(d)
	p := &family.Panel{N: kern.Rows, D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
	for i := range p.X {
		p.X[i] = float64(i%7) - 3
	}
	if family.PatternsOf(m.Family) != nil {
		p.X[3], p.X[kern.Rows+3], p.X[3*kern.Rows+5] = math.NaN(), math.NaN(), math.NaN()
	}
	p.Mark()
	dst, st, label := make([]float64, k*kern.Rows), m.NewStats(0), make([]int32, kern.Rows)
	for i := range p.W {
		p.W[i] = 1
	}
	hard, _ := kernel.(family.HardKernel)
	if n := testing.AllocsPerRun(20, func() {
		kernel.Score(dst, p, ws)
		kernel.Add(st, p, dst, ws)
		if hard != nil {
			hard.AddHard(st, p, label)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func shifts(t *rapid.T, u suite) {
	s := u.draw(t)
	moved := *s
	moved.x = slices.Clone(s.x)
	by := make([]float64, s.d)
	for j := range by {
		by[j] = float64(rapid.IntRange(-4096, 4096).Draw(t, "shift")) // exact, as the rows are multiples of 1/1024
	}
	for i := range moved.x {
		moved.x[i] += by[i%s.d]
	}
	m := s.mixture(u.newFamily)
	a, b := s.start(m), moved.start(m)
	for range 3 {
		ca, cb := m.Components(a), m.Components(b)
		for i := range ca {
			want := ca[i]
			if i < s.k*s.d {
				want += by[i%s.d]
			}
			near(t, "parameter", cb[i], want, 1e-8*(1+math.Abs(want)))
		}
		sa, sb := s.sweep(m, a, 1), moved.sweep(m, b, 1)
		near(t, "F", sb.F, sa.F, 1e-8*(1+math.Abs(sa.F)))
		nearAll(t, "N", sb.N, sa.N, 1e-8)
		m.MStep(a, a, sa)
		m.MStep(b, b, sb)
	}
}

// With x in units of s, densities are multiplied by the product of s; a cost is in squared units.
func stretches(t *rapid.T, u suite, perColumn bool) {
	s := u.draw(t)
	scale := make([]float64, s.d)
	for j := range scale {
		if j == 0 || perColumn {
			scale[j] = math.Ldexp(1, rapid.IntRange(-30, 30).Draw(t, "exponent"))
		} else {
			scale[j] = scale[0]
		}
	}
	big := *s
	big.x = slices.Clone(s.x)
	for i := range big.x {
		big.x[i] *= scale[i%s.d]
	}
	big.variances()
	m, mb := s.mixture(u.newFamily), big.mixture(u.newFamily)
	beta := 1.0
	if !m.Family.Density() {
		beta = math.Inf(1) // at a finite beta a cost in other units is another temperature
	}
	a, b := s.start(m), big.start(mb)
	for range 3 {
		sa, sb := s.sweep(m, a, beta), big.sweep(mb, b, beta)
		want := sa.F * scale[0] * scale[0]
		if m.Family.Density() {
			want = sa.F
			for _, f := range scale {
				want -= sa.W * math.Log(f)
			}
		}
		near(t, "F", sb.F, want, 1e-9*(sa.W+math.Abs(want)))
		nearAll(t, "N", sb.N, sa.N, 1e-9)
		m.MStep(a, a, sa)
		mb.MStep(b, b, sb)
	}
}
