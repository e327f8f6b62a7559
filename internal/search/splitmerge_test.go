package search

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// Two clusters under one component, and one under two: EM stays there, a move does not. With more rows than moves are tried
// on they see a sample, and the result is of all rows.
func TestMovesLeaveAMaximumThatEMCannot(t *testing.T) {
	t.Parallel()
	for _, n := range []int{900, 12_000} {
		z := rng.Normals(3, 2*n)
		x := make([]float64, 0, 2*n)
		for i := range n {
			x = append(x, z[2*i]+12*float64(i%3), z[2*i+1])
		}
		src, ctx := fixtures.Table(2, x...), context.Background()
		f, err := New(ctx, src, fixtures.Plan(plan.Spec{K: 3}))
		if err != nil {
			t.Fatal(err)
		}
		p, err := seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, n, rng.StartSample.New(1))
		if err != nil {
			t.Fatal(err)
		}
		labels := make([]int32, n)
		for i := range n { // the first cluster cut in two, the others together
			if labels[i] = 2; i%3 == 0 {
				labels[i] = int32(i / 3 % 2)
			}
		}
		mix, g, _ := f.Mix.Start()
		runs, err := f.Climb(ctx, [][]float64{seed.FromLabels(mix, g, p, labels)}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		e := &Outcome{Runs: runs}
		if err := f.splitAndMerge(ctx, e); err != nil {
			t.Fatal(err)
		}
		for i := range n {
			labels[i] = int32(i % 3)
		}
		right, err := f.Climb(ctx, [][]float64{seed.FromLabels(mix, g, p, labels)}, nil, false)
		if err != nil {
			t.Fatal(err)
		}
		want, low := right[0].Last.Point.F, runs[0].Last.Point.F
		if low > want-100 {
			t.Fatalf("%d rows: the bad start climbs to %v: nothing is tested", n, low)
		}
		if got := e.Winner().Last; math.Abs(got.Point.F-want) > SameOptimum || !got.Done.Converged() {
			t.Errorf("%d rows: moves lead to %v (%v), want %v", n, got.Point.F, got.Done, want)
		}
		if m := e.moves; m.Kept < 1 || m.Tried < m.Kept || math.Abs(m.Gain-(want-low)) > SameOptimum || n <= moveRows && f.MoveSweeps <= m.Tried*moveSteps || n > moveRows && f.MoveSweeps != e.Moved.Sweeps {
			t.Errorf("%d rows: %+v after %d sweeps", n, *m, f.MoveSweeps)
		}
	}
}

// The pairs are ordered by the cosine of their responsibilities, taken from the definition.
func TestPairsMostAlikeMergeFirst(t *testing.T) {
	t.Parallel()
	const n, k = 40, 5
	u := rng.Uniforms(5, n*k)
	w := rng.Uniforms(6, n)
	for i := range n {
		row, sum := u[i*k:i*k+k], 0.0
		for c := range row {
			row[c] = math.Pow(row[c], 8)
			sum += row[c]
		}
		for c := range row {
			row[c] /= sum
		}
	}
	cosine := func(a, b int) float64 {
		var ab, aa, bb float64
		for i := range n {
			ab += w[i] * u[i*k+a] * u[i*k+b]
			aa += w[i] * u[i*k+a] * u[i*k+a]
			bb += w[i] * u[i*k+b] * u[i*k+b]
		}
		return ab / math.Sqrt(aa*bb)
	}
	pairs := SimilarPairs(w, u, k)
	if len(pairs) != k*(k-1)/2 {
		t.Fatalf("%d pairs", len(pairs))
	}
	if !slices.IsSortedFunc(pairs, func(p, q [2]int) int { return int(math.Copysign(1, cosine(q[0], q[1])-cosine(p[0], p[1]))) }) {
		t.Error("the pairs are in another order")
	}
}

// One M-step of responsibilities gives each component its weighted mean and covariance.
func TestStartFromResponsibilities(t *testing.T) {
	t.Parallel()
	const n, k = 60, 3
	x, u := rng.Normals(8, n), rng.Uniforms(9, n*k)
	for i := range n {
		row := u[i*k : i*k+k]
		sum := 0.0
		for c := range row {
			row[c] += 0.1 // none is so small that it is left out
			sum += row[c]
		}
		for c := range row {
			row[c] /= sum
		}
	}
	ctx := context.Background()
	f, err := New(ctx, fixtures.Table(1, x...), fixtures.Plan(plan.Spec{K: k}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, n, rng.StartSample.New(1))
	if err != nil {
		t.Fatal(err)
	}
	theta := f.FromResponsibilities(p, u, 1)
	comp := f.Mix.Components(theta)
	for c := range k {
		var sum, mean, v float64
		for i := range n {
			sum += u[i*k+c]
			mean += u[i*k+c] * (x[i] - f.Origin[0])
		}
		mean /= sum
		for i := range n {
			v += u[i*k+c] * math.Pow(x[i]-f.Origin[0]-mean, 2) / sum
		}
		if math.Abs(comp[c]-mean) > 1e-12 || math.Abs(2*comp[k+c]-math.Log(v)) > 1e-12 {
			t.Errorf("component %d: mean %v, log sd %v; want %v, %v", c, comp[c], comp[k+c], mean, math.Log(v)/2)
		}
	}
}
