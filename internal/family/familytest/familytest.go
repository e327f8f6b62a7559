// Package familytest holds the laws that every family of components must pass, whatever its density: they follow from
// the theory of the free energy, not from an implementation.
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

// A Maker returns the family for columns whose variances are v.
type Maker func(v []float64) family.Family

// betas are the inverse temperatures that the laws are tried at; the last means hard labels.
var betas = []float64{0.5, 1, 1.2, math.Inf(1)}

// Rows draws n rows of d columns, of k groups or so, row by row; n is k(d+3) or more. A component that has a share of all
// of them must be well inside the family's floors. The laws use Blobs unless told otherwise.
type Rows func(rng *rand.Rand, n, d, k int) []float64

// Blobs draws k round clouds of unit variance whose centres are 4 units from 0 or so. Values are multiples of 1/1024.
func Blobs(rng *rand.Rand, n, d, k int) (x []float64) {
	centre := make([]float64, k*d)
	for i := range centre {
		centre[i] = 4 * rng.NormFloat64()
	}
	for range n {
		c := rng.IntN(k)
		for j := range d {
			x = append(x, math.Round(1024*(centre[c*d+j]+rng.NormFloat64()))/1024)
		}
	}
	return x
}

// Holes draws what rows does, with cells missing: three in ten, but one of each row at least. The first four rows are complete.
func Holes(rows Rows) Rows {
	return func(rng *rand.Rand, n, d, k int) []float64 {
		x := rows(rng, n, d, k)
		for i := 4; i < n; i++ {
			for j, keep := 0, rng.IntN(d); j < d; j++ {
				if j != keep && rng.Float64() < 0.3 {
					x[i*d+j] = math.NaN()
				}
			}
		}
		return x
	}
}

// Gapped makes the families of newFamily for rows with missing cells.
func Gapped(newFamily Maker) Maker {
	return func(v []float64) family.Family {
		return newFamily(v).(family.Incomplete).WithGaps(family.NewGaps(len(v)))
	}
}

// Laws runs the laws that hold for every family, on Blobs.
func Laws(t *testing.T, newFamily Maker) { LawsOn(t, newFamily, Blobs) }

// LawsOn runs the laws that hold for every family, on the rows that suit it.
func LawsOn(t *testing.T, newFamily Maker, rows Rows) { Case{New: newFamily, Rows: rows}.Laws(t) }

// Case is a family under test for which not all laws hold, or that needs several columns.
type Case struct {
	New     Maker
	Rows    Rows
	Columns int      // at least so many, 4 at most; 0 for any number
	Except  []string // names of laws that do not hold
	Slack   float64  // relative difference of parameters made from equal sums in another order, where the maximum is flat; 0 for 1e-9
}

func (c Case) suite() suite {
	return suite{c.New, c.Rows, max(c.Columns, 1), max(c.Slack, 1e-9)}
}

// Laws is LawsOn for the case.
func (c Case) Laws(t *testing.T) {
	u := c.suite()
	for _, law := range []struct {
		name string
		try  func(t *rapid.T, u suite)
	}{
		{"no half of a step lowers the free energy", ascends},
		{"sums of two parts merge to the sums of the whole", splits},
		{"merging nothing changes nothing", mergesNothing},
		{"a weight is a number of repeats", repeats},
		{"the order of components does not matter", permutes},
		{"a large beta approaches hard labels", hardens},
		{"the expected log density is what scoring every row gives", expects},
		{"sums about other parameters say the same", moves},
		{"no other parameters explain the responsibilities better", maximises},
	} {
		if slices.Contains(c.Except, law.name) {
			continue
		}
		t.Run(law.name, func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { law.try(t, u) })
		})
	}
	t.Run("scoring and adding allocate nothing", func(t *testing.T) { allocates(t, u) })
}

// LocationScale runs the laws of families whose theta begins with k x d locations and whose shape stretches with the
// columns: each on its own if perColumn, else only all alike.
func LocationScale(t *testing.T, newFamily Maker, perColumn bool) {
	u := Case{New: newFamily, Rows: Blobs}.suite()
	t.Run("a shift of the rows shifts the locations only", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { shifts(t, u) })
	})
	t.Run("a change of units changes densities by its Jacobian", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) { stretches(t, u, perColumn) })
	})
}

// Sweep returns the sums of one pass over all rows of x (n x D) with weights w (n; nil counts every row once), a panel
// at a time in one thread.
func Sweep(m *mixture.Mixture, theta []float64, beta float64, x, w []float64) *family.Stats {
	s := &sample{n: len(x) / m.D, d: m.D, k: m.K, x: x, w: w}
	if w == nil {
		s.w = slices.Repeat([]float64{1}, s.n)
	}
	return s.sweep(m, theta, beta)
}

// suite is a family under test and the rows that suit it.
type suite struct {
	newFamily Maker
	rows      Rows
	least     int // columns
	slack     float64
}

// sample is rows with weights and some responsibilities to begin with.
type sample struct {
	n, d, k int
	x       []float64 // n x d
	w       []float64 // n
	r       []float64 // n x k, rows sum to 1
	v       []float64 // d: variances of the columns
}

// draw draws a sample large enough that no component of blobs needs a floor.
func (u suite) draw(t *rapid.T) *sample {
	s := &sample{d: rapid.IntRange(u.least, 4).Draw(t, "d"), k: rapid.IntRange(1, 4).Draw(t, "k")}
	s.n = rapid.IntRange(s.k*(s.d+3), 90).Draw(t, "n")
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
	s.x = u.rows(rng, s.n, s.d, s.k)
	for range s.n {
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
		mean, there := 0.0, 0.0
		for i, w := range s.w {
			if v := s.x[i*s.d+j]; v == v {
				mean += w / total * v
				there += w / total
			}
		}
		mean /= there
		for i, w := range s.w {
			if v := s.x[i*s.d+j] - mean; v == v {
				s.v[j] += w / total / there * v * v
			}
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
		p.Mark()
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
