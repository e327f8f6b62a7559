package search

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

// normals returns n numbers.
func normals(n int, rng *rand.Rand) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	return x
}

// Of one component the sums of a pass with other parameters are those that a pass makes.
func TestOneComponentTakesOnePass(t *testing.T) {
	const n, d = 200, 6
	rng, ctx := rand.New(rand.NewPCG(61, 0)), context.Background()
	src := &data.Table{N: n, D: d, F64: normals(n*d, rng)}
	m := &mixture.Mixture{Family: family.FactorsOf(family.OwnFactors.WithFactors(2), slices.Repeat([]float64{1}, d), nil), K: 1, D: d}
	local := sweep.NewLocal(src, n, make([]float64, d), 2)
	a := &alone{Sweeper: local}
	for i := range 3 {
		theta := normals(m.Params(), rng)
		task := []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}}
		got, err := a.Sweep(ctx, task)
		if err != nil {
			t.Fatal(err)
		}
		want, err := local.Sweep(ctx, task)
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(got[0].LogLik-want[0].LogLik) > 1e-10*math.Abs(want[0].LogLik) || got[0].F != got[0].LogLik || got[0].W != n || got[0].Rows != n {
			t.Errorf("pass %d: log-likelihood %v of %v rows, want %v of %d", i, got[0].LogLik, got[0].W, want[0].LogLik, n)
		}
		for j, v := range want[0].Sum {
			if math.Abs(got[0].Sum[j]-v) > 1e-9*(1+math.Abs(v)) {
				t.Errorf("pass %d: sum %d is %v, want %v", i, j, got[0].Sum[j], v)
			}
		}
		g, own := make([]float64, len(theta)), a.gradient(m, theta)
		m.Grad(g, theta, want[0])
		for j, v := range g {
			if math.Abs(own[j]-v) > 1e-8*(1+math.Abs(v)) {
				t.Errorf("pass %d: entry %d of the gradient is %v, want %v", i, j, own[j], v)
			}
		}
	}
}

// In the span of few rows a mixture with one uniqueness has the same log-likelihood as among the columns, and a step of EM there does not lower it; into the
// span and out of it again leads back.
func TestTheSpanOfFewRows(t *testing.T) {
	const n, d, k, q = 20, 80, 2, 2
	rng, ctx := rand.New(rand.NewPCG(62, 0)), context.Background()
	p := &seed.Points{N: n, D: d, X: normals(n*d, rng), W: slices.Repeat([]float64{1}, n)}
	mean := make([]float64, d)
	for i := range n {
		for j := range d {
			mean[j] += p.X[i*d+j] / n
		}
	}
	shape := family.RoundFactors.WithFactors(q)
	wide := &mixture.Mixture{Family: family.WideFactors{Shape: shape, Var: slices.Repeat([]float64{1}, d)}, K: k, D: d}
	s := newSpan(p, mean, slices.Repeat([]float64{1}, d))
	r := s.points.D
	if r != n-1 {
		t.Fatalf("the span has %d dimensions, want %d", r, n-1)
	}
	in := &mixture.Mixture{Family: family.Factors{WideFactors: family.WideFactors{Shape: shape, Var: slices.Repeat([]float64{1}, r)}, Beyond: d - r}, K: k, D: r}
	logLik := func(m *mixture.Mixture, x, theta []float64) *family.Stats {
		stats, err := sweep.NewLocal(&data.Table{N: n, D: m.D, F64: x}, n, make([]float64, m.D), 1).Sweep(ctx, []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}})
		if err != nil {
			t.Fatal(err)
		}
		return stats[0]
	}
	theta := normals(in.Params(), rng)
	for step := range 4 {
		st := logLik(in, s.points.X, theta)
		out := s.outOf(theta, in, wide)
		if want := logLik(wide, p.X, out).LogLik; math.Abs(st.LogLik-want) > 1e-9*math.Abs(want) {
			t.Fatalf("step %d: log-likelihood %v in the span, %v among the columns", step, st.LogLik, want)
		}
		for i, v := range s.into(out, wide, in) {
			if math.Abs(v-theta[i]) > 1e-9*(1+math.Abs(v)) {
				t.Errorf("step %d: parameter %d came back as %v, was %v", step, i, v, theta[i])
			}
		}
		next := slices.Clone(theta)
		in.MStep(next, theta, st)
		if after := logLik(in, s.points.X, next).LogLik; after < st.LogLik-1e-9*math.Abs(st.LogLik) {
			t.Errorf("step %d: from %v to %v", step, st.LogLik, after)
		}
		theta = next
	}
}

// Starts that are one slice climb once, and come back in their places.
func TestStartsThatMeetClimbOnce(t *testing.T) {
	a, b := []float64{1}, []float64{2}
	climbs := 0
	runs := climbDistinct([][]float64{a, b, a, b}, func(thetas [][]float64, _ []int) []Run {
		climbs = len(thetas)
		own := make([]Run, len(thetas))
		for i := range own {
			own[i] = Run{start: i, Sweeps: 10 + i}
		}
		return own
	})
	if climbs != 2 || len(runs) != 4 || runs[2].start != 2 || runs[0].Sweeps != 10 || runs[1].Sweeps != 11 || runs[2].Sweeps != 0 || runs[3].Sweeps != 0 {
		t.Errorf("%d climbs, %v", climbs, runs)
	}
}
