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

// A start that surely leads to a lower maximum of the sample is evaluated on all rows and stopped. Two starts that lead to the same maximum
// both climb on. Each begins higher than it would have without the sample.
func TestStartsBeatenOnTheSampleClimbNoMore(t *testing.T) {
	t.Parallel()
	ctx, src := context.Background(), fixtures.Overlapping(20_000)
	f, err := New(ctx, src, fixtures.Plan(plan.Spec{K: 3}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, 5000, rng.StartSample.New(1))
	if err != nil {
		t.Fatal(err)
	}
	mix, g, _ := f.Mix.Start()
	around := func(x ...float64) []float64 {
		means := make([]float64, 0, 2*len(x))
		for _, v := range x {
			means = append(means, v-f.Origin[0], -f.Origin[1])
		}
		return seed.Around(mix, g, means, []float64{1, 1, 1}, []float64{1, 1})
	}
	starts := [][]float64{around(0, 3.5, 12), around(-1, 5, 12), around(2, 11, 13)}
	before := slices.Clone(starts)
	after, err := f.refine(ctx, p, starts)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(f.beaten, []bool{false, false, true}) {
		t.Fatalf("beaten: %v", f.beaten)
	}
	runs, err := f.Climb(ctx, after, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	f.beaten = nil
	old, err := f.Climb(ctx, before, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if r.pruned != (i == 2) || i == 2 && r.Sweeps != 1 {
			t.Errorf("start %d: pruned %v after %d sweeps", i, r.pruned, r.Sweeps)
		}
		if i < 2 && math.Abs(r.Last.Point.F-old[i].Last.Point.F) > SameOptimum {
			t.Errorf("start %d ends at %v, without a sample at %v", i, r.Last.Point.F, old[i].Last.Point.F)
		}
	}
}

// The lead is the sum of weighted differences over its standard deviation; here 4 rows by hand.
func TestLeadIsInStandardDeviations(t *testing.T) {
	t.Parallel()
	w, b := []float64{1, 2, 1, 0}, []float64{0, 0, 0, 7}
	// differences 1, 2, 3 with weights 1, 2, 1: the sum is 8, the mean 2, the weighted deviations -1, 0, 1
	if got := lead(w, []float64{1, 2, 3, 0}, b); math.Abs(got-8/math.Sqrt2) > 1e-15 {
		t.Errorf("lead %v, want %v", got, 8/math.Sqrt2)
	}
	if got := lead(w, b, b); got != 0 {
		t.Errorf("no difference leads by %v", got)
	}
	if got := lead(w, b, []float64{1, 1, 1, 0}); got != 0 {
		t.Errorf("what is behind leads by %v", got)
	}
}
