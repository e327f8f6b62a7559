package familytest

import (
	"math"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"github.com/latent-go/latent/internal/family"
)

// What responsibilities are worth under any parameters does not depend on the parameters that their sums are about.
func moves(t *rapid.T, u suite) {
	s := u.draw(t)
	m := s.mixture(u.newFamily)
	from := s.start(m)
	if completesByTheta(m.Family) {
		return
	}
	st := s.given(m, from)
	if !m.Family.Density() {
		st = s.sweep(m, from, math.Inf(1))
	}
	rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "other"), 0))
	around := func(size float64) []float64 {
		next := slices.Clone(from)
		for i := range next {
			next[i] += size * rng.NormFloat64()
		}
		return next
	}
	for _, size := range []float64{0, 0.01, 1, 30} {
		to := around(size)
		moved := *st
		moved.N, moved.Sum = slices.Clone(st.N), slices.Clone(st.Sum)
		family.Move(m.Family, &moved, m.Components(to), m.Components(from))
		if size == 0 {
			nearAll(t, "sums that stay", moved.Sum, st.Sum, 1e-12)
		}
		for range 3 {
			next := around(0.3)
			want := m.Family.Expected(m.Components(next), m.Components(from), st)
			got := m.Family.Expected(m.Components(next), m.Components(to), &moved)
			near(t, "what the responsibilities are worth", got, want, 1e-10*(1+size*size)*(1+math.Abs(want)+math.Abs(st.F)))
		}
	}
}

// completesByTheta reports whether the family completes sums by the parameters that they are about, as Parsimonious does where covariances are
// diagonal and cells are missing.
func completesByTheta(f family.Family) bool {
	switch f := f.(type) {
	case family.Parsimonious:
		return f.Gaps != nil && !f.Shape.Matrix()
	case family.Student:
		return true
	case family.Mixed:
		return slices.ContainsFunc(f.Parts, func(p family.Part) bool { return completesByTheta(p.Family) })
	}
	return false
}
