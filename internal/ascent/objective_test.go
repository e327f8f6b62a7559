package ascent_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// objective is the free energy of a mixture over rows in memory, one sweep an evaluation.
type objective struct {
	m       *mixture.Mixture
	sweeper sweep.Sweeper
	evals   int // evaluations so far
}

// newObjective returns the free energy of m over the rows, whose origin is 0.
func newObjective(t testing.TB, m *mixture.Mixture, rows [][]float64) *objective {
	t.Helper()
	return &objective{m: m, sweeper: sweep.NewLocal(table(rows), int64(len(rows)), make([]float64, m.D), 1)}
}

// gaussians returns a mixture of k Gaussians for the rows, with floors in units of their columns' variances.
func gaussians(t testing.TB, shape family.Shape, k int, rows [][]float64) *mixture.Mixture {
	t.Helper()
	s, err := sweep.Look(context.Background(), table(rows), 1)
	if err != nil {
		t.Fatal(err)
	}
	return &mixture.Mixture{Family: family.Gaussian{Shape: shape, Var: s.Var}, K: k, D: len(rows[0])}
}

func table(rows [][]float64) *data.Table {
	return &data.Table{N: len(rows), D: len(rows[0]), F64: slices.Concat(rows...)}
}

// Eval implements ascent.Objective.
func (o *objective) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	o.evals++
	theta = slices.Clone(theta)
	o.m.Project(theta)
	stats, err := o.sweeper.Sweep(ctx, []sweep.Task{{Mixture: o.m, Theta: theta, Beta: beta}})
	if err != nil {
		return nil, err
	}
	s := stats[0]
	p := &ascent.Point{Theta: theta, Beta: beta, F: s.F, LogLik: s.LogLik, Entropy: s.Entropy, Labels: s.Labels, Weights: slices.Clone(s.N)}
	p.Next = make([]float64, len(theta))
	o.m.MStep(p.Next, theta, s)
	if !o.m.Smooth() {
		return p, nil
	}
	p.Grad, p.Held = make([]float64, len(theta)), make([]bool, len(theta))
	o.m.Grad(p.Grad, theta, s)
	p.Leaves = o.m.Held(p.Held, theta, p.Next)
	p.Whole = slices.Clone(p.Grad)
	p.Edge = o.m.Edge(p.Held, p.Whole, theta, p.Next)
	for i, held := range p.Held {
		if held {
			p.Grad[i] = 0
		}
	}
	p.Near = mixture.Geometry{Mixture: o.m, Theta: theta, Stats: s}
	return p, nil
}

// normals returns n normal numbers of a generator that any language can repeat: pairs of a linear congruential one.
func normals(seed uint64, n int) []float64 {
	uniform := func() float64 {
		seed = seed*6364136223846793005 + 1442695040888963407
		return float64(seed>>11) / (1 << 53)
	}
	z := make([]float64, n)
	for i := range z {
		u, v := uniform(), uniform()
		z[i] = math.Sqrt(-2*math.Log(1-u)) * math.Cos(2*math.Pi*v)
	}
	return z
}

// twoHumps is 42 rows in two humps. From means of -1 and 1 the optimum is known in closed form: means -3 and 3,
// variances 11/30, weights 0.5.
func twoHumps() (rows [][]float64, start []float64) {
	for i := range 21 {
		rows = append(rows, []float64{-4 + 0.1*float64(i)}, []float64{2 + 0.1*float64(i)})
	}
	return rows, []float64{0, 0, -1, 1, 0, 0}
}

// twoHumpsTop is the log-likelihood there.
const twoHumpsTop = -67.6382556919745

// rare is two overlapping Gaussians on two columns, one of them 1 row in 20, with a start near by: EM is slow here.
func rare() (rows [][]float64, start []float64) {
	const n = 2000
	z := normals(1, 2*n)
	for i := range n {
		x := []float64{z[2*i], z[2*i+1]}
		if i%20 == 0 {
			x[0] += 3
		}
		rows = append(rows, x)
	}
	return rows, []float64{math.Log(0.8), math.Log(0.2), 0, 0, 2, 0, 0, 0, 0, 0, 0, 0}
}
