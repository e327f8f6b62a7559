package latent

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// overlappingRows returns n rows of three clusters in two columns, two of which overlap.
func overlappingRows(n int) *data.Table {
	z := normals(31, 2*n)
	for i := range n {
		z[2*i] += [3]float64{0, 3.5, 12}[i%3]
	}
	return matrixOf(2, z...)
}

// With many rows the starts climb on a sample first. The end is that of a climb on all rows from the plain start, in a
// few passes, and the same bits for any number of threads.
func TestManyRowsAreClimbedOnASampleFirst(t *testing.T) {
	t.Parallel()
	src := overlappingRows(refineFrom * seed.SampleRows)
	plain := mustFit(t, src, Spec{K: 3, NInit: 1})
	first := mustFit(t, src, Spec{K: 3, Threads: 1})
	again := mustFit(t, src, Spec{K: 3, Threads: 3})
	if math.Abs(*first.LogLik-*plain.LogLik) > agree || !first.Converged {
		t.Errorf("log-likelihood %v (finished: %v), want %v", *first.LogLik, first.Converged, *plain.LogLik)
	}
	if first.Sweeps*2 > plain.Sweeps {
		t.Errorf("%d sweeps of all rows, %d without a sample", first.Sweeps, plain.Sweeps)
	}
	if *first.LogLik != *again.LogLik || !slices.Equal(first.Starts.Objectives, again.Starts.Objectives) || !slices.Equal(first.Components[0].Mean, again.Components[0].Mean) {
		t.Error("another number of threads gives another result")
	}
}

// A start that leads to a lower hill of the sample, and surely so, is evaluated on all rows and stopped; two ways to the
// same hill both climb on. Each begins higher than it would have.
func TestStartsBeatenOnTheSampleClimbNoMore(t *testing.T) {
	t.Parallel()
	ctx, src := context.Background(), overlappingRows(20_000)
	f, err := prepare(ctx, src, planOf(Spec{K: 3}))
	if err != nil {
		t.Fatal(err)
	}
	p, err := seed.Sample(ctx, f.src, f.look.Used, f.origin, 5000, rng.StartSample.New(1))
	if err != nil {
		t.Fatal(err)
	}
	mix, g, _ := f.startMixture()
	around := func(x ...float64) []float64 {
		means := make([]float64, 0, 2*len(x))
		for _, v := range x {
			means = append(means, v-f.origin[0], -f.origin[1])
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
	runs, err := f.climb(ctx, after, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	f.beaten = nil
	old, err := f.climb(ctx, before, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if r.pruned != (i == 2) || i == 2 && r.sweeps != 1 {
			t.Errorf("start %d: outraced %v after %d sweeps", i, r.pruned, r.sweeps)
		}
		if i < 2 && math.Abs(r.last.Point.F-old[i].last.Point.F) > agree {
			t.Errorf("start %d ends at %v, without a sample at %v", i, r.last.Point.F, old[i].last.Point.F)
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
