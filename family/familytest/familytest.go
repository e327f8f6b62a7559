// Package familytest holds the laws that every family of components must pass, whatever its density: they follow from
// the theory of the free energy, not from an implementation.
package familytest

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/mixture"
)

// A Maker returns the family for columns whose variances are v.
type Maker func(v []float64) family.Family

// betas are the inverse temperatures that the laws are tried at; the last means hard labels.
var betas = []float64{0.5, 1, 1.2, math.Inf(1)}

// Laws runs the laws that hold for every family.
func Laws(t *testing.T, newFamily Maker) {
	for _, law := range []struct {
		name string
		try  func(t *rapid.T, newFamily Maker)
	}{
		{"no half of a step lowers the free energy", ascends},
		{"sums of two parts merge to the sums of the whole", splits},
		{"merging nothing changes nothing", mergesNothing},
		{"a weight is a number of repeats", repeats},
		{"the order of components does not matter", permutes},
		{"a large beta approaches hard labels", hardens},
		{"the expected log density is what scoring every row gives", expects},
		{"no other parameters explain the responsibilities better", maximises},
	} {
		t.Run(law.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { law.try(t, newFamily) })
		})
	}
	t.Run("scoring and adding allocate nothing", func(t *testing.T) { allocates(t, newFamily) })
}

// LocationScale runs the laws of families whose theta begins with k x d locations and whose shape stretches with the
// columns: each on its own if perColumn, else only all alike.
func LocationScale(t *testing.T, newFamily Maker, perColumn bool) {
	t.Run("a shift of the rows shifts the locations only", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { shifts(t, newFamily) })
	})
	t.Run("a change of units changes densities by its Jacobian", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { stretches(t, newFamily, perColumn) })
	})
}

// sample is rows with weights and some responsibilities to begin with.
type sample struct {
	n, d, k int
	x       []float64 // n x d, multiples of 1/1024
	w       []float64 // n
	r       []float64 // n x k, rows sum to 1
	v       []float64 // d: variances of the columns
}

// rows draws a sample of a few blobs, large enough that no component needs a floor.
func rows(t *rapid.T) *sample {
	s := &sample{d: rapid.IntRange(1, 4).Draw(t, "d"), k: rapid.IntRange(1, 4).Draw(t, "k")}
	s.n = rapid.IntRange(s.k*(s.d+3), 90).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	centre := make([]float64, s.k*s.d)
	for i := range centre {
		centre[i] = 4 * rng.NormFloat64()
	}
	for range s.n {
		c := rng.IntN(s.k)
		for j := range s.d {
			s.x = append(s.x, math.Round(1024*(centre[c*s.d+j]+rng.NormFloat64()))/1024)
		}
		s.w = append(s.w, 0.25+float64(rng.IntN(8))/4)
		sum, at := 0.0, len(s.r)
		for range s.k {
			s.r = append(s.r, 0.05+rng.Float64())
			sum += s.r[len(s.r)-1]
		}
		for i := at; i < len(s.r); i++ {
			s.r[i] /= sum
		}
	}
	s.variances()
	return s
}

func (s *sample) variances() {
	s.v = make([]float64, s.d)
	total := 0.0
	for _, w := range s.w {
		total += w
	}
	for j := range s.d {
		mean := 0.0
		for i, w := range s.w {
			mean += w / total * s.x[i*s.d+j]
		}
		for i, w := range s.w {
			s.v[j] += w / total * (s.x[i*s.d+j] - mean) * (s.x[i*s.d+j] - mean)
		}
	}
}

func (s *sample) mixture(newFamily Maker) *mixture.Mixture {
	return &mixture.Mixture{Family: newFamily(s.v), K: s.k, D: s.d}
}

// panels calls f with the rows lo to hi, a panel at a time, and the index of the first.
func (s *sample) panels(lo, hi int, f func(p *family.Panel, first int)) {
	for ; lo < hi; lo += kern.Rows {
		p := &family.Panel{N: min(kern.Rows, hi-lo), D: s.d, X: make([]float64, s.d*kern.Rows), W: make([]float64, kern.Rows), First: int64(lo)}
		for i := range p.N {
			p.W[i] = s.w[lo+i]
			for j := range s.d {
				p.X[j*kern.Rows+i] = s.x[(lo+i)*s.d+j]
			}
		}
		f(p, lo)
	}
}

// sums sweeps the rows lo to hi.
func (s *sample) sums(m *mixture.Mixture, theta []float64, beta float64, lo, hi int) *family.Stats {
	b, sc := m.Bind(theta, beta), mixture.NewScratch(s.k, s.d)
	st := m.NewStats(b.FarMax())
	s.panels(lo, hi, func(p *family.Panel, _ int) { b.Add(st, p, sc) })
	return st
}

// sweep sweeps all rows.
func (s *sample) sweep(m *mixture.Mixture, theta []float64, beta float64) *family.Stats {
	return s.sums(m, theta, beta, 0, s.n)
}

// start makes parameters of the responsibilities s.r: the M-step of some arbitrary parameters, taken twice so that
// nothing of those is left.
func (s *sample) start(m *mixture.Mixture) []float64 {
	theta := make([]float64, m.Params())
	for range 2 {
		m.MStep(theta, theta, s.given(m, theta))
	}
	return theta
}

// given returns the sums of the responsibilities s.r.
func (s *sample) given(m *mixture.Mixture, theta []float64) *family.Stats {
	kernel, ws, st := m.Family.Bind(m.Components(theta), s.k, s.d), family.NewWorkspace(s.d), m.NewStats(0)
	s.panels(0, s.n, func(p *family.Panel, first int) {
		r := make([]float64, s.k*kern.Rows)
		for i := range p.N {
			st.W += p.W[i]
			for c := range s.k {
				r[c*kern.Rows+i] = p.W[i] * s.r[(first+i)*s.k+c]
			}
		}
		kernel.Add(st, p, r, ws)
	})
	return st
}

// scores returns log p_c(x_i) as an n x k matrix.
func (s *sample) scores(m *mixture.Mixture, theta []float64) []float64 {
	kernel, ws := m.Family.Bind(m.Components(theta), s.k, s.d), family.NewWorkspace(s.d)
	out, dst := make([]float64, s.n*s.k), make([]float64, s.k*kern.Rows)
	s.panels(0, s.n, func(p *family.Panel, first int) {
		kernel.Score(dst, p, ws)
		for i := range p.N {
			for c := range s.k {
				out[(first+i)*s.k+c] = dst[c*kern.Rows+i]
			}
		}
	})
	return out
}

func near(t *rapid.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Fatalf("%s = %v, want %v within %v", what, got, want, tol)
	}
}

func nearAll(t *rapid.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%s: %d numbers, want %d", what, len(got), len(want))
	}
	size := 1.0
	for _, v := range want {
		size = max(size, math.Abs(v))
	}
	for i := range got {
		near(t, what, got[i], want[i], tol*size)
	}
}

// alike compares sums, up to rounding.
func alike(t *rapid.T, got, want *family.Stats) {
	t.Helper()
	near(t, "W", got.W, want.W, 1e-12*want.W)
	nearAll(t, "F, log-likelihood, entropy", []float64{got.F, got.LogLik, got.Entropy}, []float64{want.F, want.LogLik, want.Entropy}, 1e-11)
	nearAll(t, "N", got.N, want.N, 1e-11)
	nearAll(t, "Sum", got.Sum, want.Sum, 1e-11)
}

// The E-step closes the gap between the free energy and its bound, the M-step lifts both.
func ascends(t *rapid.T, newFamily Maker) {
	s := rows(t)
	m := s.mixture(newFamily)
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
				// the floor counts in 1e-9 of it.
				tol = 1e-6 * st.W
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

func splits(t *rapid.T, newFamily Maker) {
	s := rows(t)
	m := s.mixture(newFamily)
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

func mergesNothing(t *rapid.T, newFamily Maker) {
	s := rows(t)
	m := s.mixture(newFamily)
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

func repeats(t *rapid.T, newFamily Maker) {
	s := rows(t)
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
	m := s.mixture(newFamily)
	theta := s.start(m)
	nearAll(t, "start", more.start(m), theta, 1e-9)
	for _, beta := range betas {
		alike(t, s.sweep(m, theta, beta), more.sweep(m, theta, beta))
	}
}

func permutes(t *rapid.T, newFamily Maker) {
	s := rows(t)
	m := s.mixture(newFamily)
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
func hardens(t *rapid.T, newFamily Maker) {
	const beta = 1e6
	s := rows(t)
	m := s.mixture(newFamily)
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

func expects(t *rapid.T, newFamily Maker) {
	s := rows(t)
	m := s.mixture(newFamily)
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
		near(t, "expected log density", m.Family.Expected(m.Components(next), m.Components(theta), st), want, 1e-11*(1+scale))
	}
}

// The M-step is the global maximum over all parameters above the floor.
func maximises(t *rapid.T, newFamily Maker) {
	s := rows(t)
	m := s.mixture(newFamily)
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
				if f := m.FreeEnergy(other, theta, beta, st); f > best+1e-11*(1+math.Abs(best)) {
					t.Fatalf("beta %v: parameters %v off explain the responsibilities by %v, the M-step by %v", beta, size, f, best)
				}
			}
		}
	}
}

func allocates(t *testing.T, newFamily Maker) {
	const k, d = 3, 4
	m := &mixture.Mixture{Family: newFamily([]float64{1, 1, 1, 1}), K: k, D: d}
	kernel, ws := m.Family.Bind(make([]float64, m.Family.Params(k, d)), k, d), family.NewWorkspace(d)
	p := &family.Panel{N: kern.Rows, D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
	for i := range p.X {
		p.X[i] = float64(i%7) - 3
	}
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

func shifts(t *rapid.T, newFamily Maker) {
	s := rows(t)
	moved := *s
	moved.x = slices.Clone(s.x)
	by := make([]float64, s.d)
	for j := range by {
		by[j] = float64(rapid.IntRange(-4096, 4096).Draw(t, "shift")) // exact, as the rows are multiples of 1/1024
	}
	for i := range moved.x {
		moved.x[i] += by[i%s.d]
	}
	m := s.mixture(newFamily)
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
func stretches(t *rapid.T, newFamily Maker, perColumn bool) {
	s := rows(t)
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
	m, mb := s.mixture(newFamily), big.mixture(newFamily)
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
