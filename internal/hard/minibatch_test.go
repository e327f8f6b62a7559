package hard

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

func TestMiniBatchFillsEveryClusterAndTellsTheInertiaOfAllRows(t *testing.T) {
	var rows [][]float64
	for i := range 16 {
		rows = append(rows, []float64{float64(i), float64(i * i % 17)})
	}
	p := points(rows, nil)
	for k := 7; k <= 16; k++ {
		for s := range 60 {
			rng := rng.Starts.At(uint64(s), 0)
			starts := [][]float64{
				rowsOf(p, seed.PlusPlus(p, k, 1, 2, rng.Float64)), rowsOf(p, seed.Random(p, k, rng)), slices.Repeat([]float64{3, 3}, k),
			}
			for _, size := range []int{1, 5, 1000} {
				steps := climb(t, MiniBatch{Points: p, BatchSize: size, MaxIter: 30, Seed: uint64(s)}, kmeans(p, k), starts[s%3])
				last := steps[len(steps)-1].Point
				if slices.Min(last.Weights) == 0 || k == 16 && slices.Max(last.Weights) != 1 {
					t.Errorf("k %d, seed %d, batches of %d: weights %v", k, s, size, last.Weights)
				}
				want := inertia(p, last.Theta)
				within(t, "inertia", -last.F, want, 1e-12*(1+want))
			}
		}
	}
}

func TestMiniBatchOfAnySizeComesNearTheOptimum(t *testing.T) {
	p := column(0, 1, 2, 3, 4, 5, 6)
	for _, size := range []int{1, 3, 7, 1000} {
		for s := range 300 {
			start := rowsOf(p, seed.Random(p, 2, rng.Starts.At(uint64(s), 0)))
			steps := climb(t, MiniBatch{Points: p, BatchSize: size, MaxIter: 100, Seed: uint64(s)}, kmeans(p, 2), start)
			last := steps[len(steps)-1]
			if f := -last.Point.F; f < 7 || f > 14 || math.Abs(f-inertia(p, last.Point.Theta)) > 1e-12 || !last.Done.Converged() {
				t.Errorf("batches of %d, seed %d: inertia %v, reason %v", size, s, f, last.Done)
			}
		}
	}
}

func TestMiniBatchEndsWithFewerDistinctRowsThanClusters(t *testing.T) {
	for _, p := range []*seed.Points{column(-3, -3, -3, -3, -3), column(0, 0, 0, 0, 1, 1, 1)} {
		for _, size := range []int{1, 3, 1000} {
			steps := climb(t, MiniBatch{Points: p, BatchSize: size, MaxIter: 50}, kmeans(p, 3), []float64{0.5, 0.5, 7})
			last := steps[len(steps)-1].Point
			if math.Abs(last.F) > 1e-28 || len(steps) > 10 || slices.Min(last.Weights) != 0 {
				t.Errorf("%v in batches of %d: inertia %v, weights %v after %d steps", p.X, size, -last.F, last.Weights, len(steps))
			}
		}
	}
}

// The first batch of all rows sets every centre to the mean of its rows. After more, a centre is the mean of all it saw.
func TestBatchOfAllRowsIsAStepOfLloyd(t *testing.T) {
	p := normal(1, 200, 3, 4)
	for i := range p.W {
		p.W[i] = 0.5 + float64(i%3)
	}
	o, start := kmeans(p, 4), slices.Clone(p.X[:4*3])
	want := climb(t, lloyd(1), o, start)[1].Point
	steps := climb(t, MiniBatch{Points: p, BatchSize: 200, MaxIter: 1}, o, start)
	got := steps[1].Point
	for i := range want.Theta {
		within(t, "centre", got.Theta[i], want.Theta[i], 1e-12)
	}
	if len(steps) != 2 || steps[1].Sweeps != 3 || steps[1].Iteration != 1 || steps[1].Done != ascent.Limit {
		t.Errorf("%d steps, the last %+v", len(steps), steps[1])
	}
	if !slices.Equal(steps[0].Point.Theta, start) || steps[0].Sweeps != 1 || steps[1].Change != got.F-steps[0].Point.F {
		t.Errorf("first step %+v", steps[0])
	}
}

func TestMiniBatchIsNotMuchWorseThanLloyd(t *testing.T) {
	for s := range uint64(5) {
		p := normal(s, 5000, 4, 6)
		start := rowsOf(p, seed.PlusPlus(p, 6, 4, 2, rng.Starts.At(s, 0).Float64))
		full := climb(t, lloyd(300), kmeans(p, 6), start)
		steps := climb(t, MiniBatch{Points: p, BatchSize: 100, MaxIter: 100, Seed: s}, kmeans(p, 6), start)
		best, last := full[len(full)-1].Point.F, steps[len(steps)-1]
		if last.Point.F < 1.03*best || last.Done != ascent.FixedPoint {
			t.Errorf("seed %d: inertia %v after %d sweeps, Lloyd's %v after %d", s, -last.Point.F, last.Sweeps, -best, len(full))
		}
	}
}

func TestMiniBatchIsNeverWorseThanItsStart(t *testing.T) {
	p := normal(2, 400, 2, 20)
	start := rowsOf(p, seed.PlusPlus(p, 20, 5, 2, rng.Starts.At(1, 0).Float64))
	full := climb(t, lloyd(300), kmeans(p, 20), start)
	for _, start := range [][]float64{full[len(full)-1].Point.Theta, full[len(full)-2].Point.Theta} { // at rest, and almost
		for s := range uint64(20) { // a few batches of 30 rows for 20 clusters can only spoil it
			steps := climb(t, MiniBatch{Points: p, BatchSize: 30, MaxIter: 1, Seed: s}, kmeans(p, 20), start)
			for i := 1; i < len(steps); i++ {
				if steps[i].Point.F < steps[i-1].Point.F {
					t.Errorf("seed %d: F falls from %v to %v", s, steps[i-1].Point.F, steps[i].Point.F)
				}
			}
		}
	}
}

func TestMiniBatchDependsOnSeedAndStartButNotOnThreads(t *testing.T) {
	p := normal(3, 3000, 3, 5)
	end := func(s uint64, threads int, start []float64) []float64 {
		steps := climb(t, MiniBatch{Points: p, BatchSize: 150, MaxIter: 2, Seed: s, Threads: threads}, kmeans(p, 5), start)
		return steps[len(steps)-1].Point.Theta
	}
	start := p.X[:15]
	want := end(42, 1, start)
	for _, threads := range []int{0, 2, 3, 7} {
		if !slices.Equal(end(42, threads, start), want) {
			t.Errorf("%d threads give another answer", threads)
		}
	}
	if slices.Equal(end(43, 1, start), want) {
		t.Error("the seed changes nothing")
	}
	first := func(start []float64) []int { return MiniBatch{Points: p}.newBatches(start).draw() }
	if slices.Equal(first(p.X[:15]), first(p.X[15:30])) {
		t.Error("two starts of one seed see the same batch")
	}
}

func TestARoundOfBatchesHoldsEveryRowOnce(t *testing.T) {
	p := normal(4, 60, 1, 1)
	b := MiniBatch{Points: p, BatchSize: 12}.newBatches([]float64{0})
	for round := range 3 {
		var seen []int
		for range 5 {
			seen = append(seen, b.draw()...)
		}
		slices.Sort(seen)
		for i, row := range seen {
			if i != row {
				t.Fatalf("round %d holds %v", round, seen)
			}
		}
	}
}

func TestMiniBatchPassesErrorsOnAndStopsWhenAsked(t *testing.T) {
	p := normal(1, 100, 2, 2)
	m := MiniBatch{Points: p, BatchSize: 10, MaxIter: 5}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	var last error
	for _, err := range m.Steps(ctx, kmeans(p, 2), p.X[:4]) {
		cancel() // after the start
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("error %v, want that of the context", last)
	}
	for range m.Steps(context.Background(), kmeans(p, 2), p.X[:4]) {
		break // must not go on, or yield panics
	}
	m.MaxIter = 0
	if steps := climb(t, m, kmeans(p, 2), p.X[:4]); len(steps) != 1 || steps[0].Done != ascent.Limit || !slices.Equal(steps[0].Point.Theta, p.X[:4]) {
		t.Errorf("limit 0 gives %+v", steps)
	}
}
