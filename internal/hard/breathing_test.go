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

// breathing is the driver over all of the points.
func breathing(p *seed.Points, threads int) *Breathing {
	b := NewBreathing(p, int64(p.N), 1)
	b.MaxIter, b.Seed, b.Threads = 300, 1, threads
	return b
}

// cloud is n rows in d columns without groups, where k-means has many optima.
func cloud(s uint64, n, d int) *seed.Points { return normal(s, n, d, 1) }

func drawn(p *seed.Points, k int, s uint64) []float64 {
	return rowsOf(p, seed.PlusPlus(p, k, 1, 2, rng.Starts.At(s, 0).Float64))
}

// means returns the means and weights of the clusters of nearest rows, by their definition.
func means(p *seed.Points, theta []float64) (mean, weight []float64, label []int) {
	d := p.D
	mean, weight = make([]float64, len(theta)), make([]float64, len(theta)/d)
	for i := range p.N {
		at, least := 0, math.Inf(1)
		for c := range weight {
			if q := sqdist(p.At(i), theta[c*d:]); q < least {
				at, least = c, q
			}
		}
		label = append(label, at)
		weight[at] += p.W[i]
		for j, x := range p.At(i) {
			mean[at*d+j] += p.W[i] * x
		}
	}
	for i := range mean {
		mean[i] /= weight[i/d]
	}
	return mean, weight, label
}

// rests fails unless every centre is the mean of the rows that are nearest to it: a fixed point of Lloyd's algorithm.
func rests(t *testing.T, p *seed.Points, at *ascent.Point) {
	t.Helper()
	mean, weight, _ := means(p, at.Theta)
	for i, v := range mean {
		within(t, "a mean", at.Theta[i], v, 1e-11*(1+math.Abs(v)))
	}
	for c, w := range weight {
		within(t, "a weight", at.Weights[c], w, 1e-9*w)
	}
	within(t, "the inertia", -at.F, inertia(p, at.Theta), 1e-11*(1+inertia(p, at.Theta)))
}

func TestBreathingNeverFallsAndEndsAtAFixedPointOfLloyd(t *testing.T) {
	for s := range uint64(6) {
		p := cloud(s, 500, 3)
		for i := range p.W {
			p.W[i] = 0.5 + float64(i%5)
		}
		k := 2 + 3*int(s)
		start := drawn(p, k, s)
		steps := climb(t, breathing(p, 2), kmeans(p, k), start)
		plain := climb(t, lloyd(300), kmeans(p, k), start)
		moves := 0
		for i, step := range steps[1:] {
			if !step.Halves {
				moves++
			}
			if before := steps[i]; step.Kept != moves || step.Point.F < before.Point.F*(1+1e-12) || step.Sweeps <= before.Sweeps || step.Iteration < before.Iteration {
				t.Errorf("k %d: step %d is at %v after %v", k, i+1, step, before)
			}
		}
		last, lloyd := steps[len(steps)-1], plain[len(plain)-1]
		if last.Done != ascent.FixedPoint || last.Point.F < lloyd.Point.F*(1+1e-12) {
			t.Errorf("k %d: %v at %v, but Lloyd's algorithm ends at %v", k, last.Done, last.Point.F, lloyd.Point.F)
		}
		for i := range plain[:len(plain)-1] { // the way to the first end is Lloyd's
			within(t, "F of a step of Lloyd's algorithm", steps[i].Point.F, plain[i].Point.F, 1e-12*math.Abs(plain[i].Point.F))
		}
		rests(t, p, last.Point)
	}
}

func TestBreathingLeavesAPoorEnd(t *testing.T) {
	p := normal(3, 400, 2, 8)
	theta := slices.Concat(slices.Repeat(p.At(0), 7), p.At(1)) // seven centres in one group of eight
	start := make([]float64, len(theta))
	for i, v := range theta {
		start[i] = v + 0.01*float64(i)
	}
	plain, steps := climb(t, lloyd(300), kmeans(p, 8), start), climb(t, breathing(p, 1), kmeans(p, 8), start)
	last := steps[len(steps)-1]
	// Groups are 6 standard deviations apart and more; within them the squares of 400 rows in 2 columns add up to about 800.
	if !(-plain[len(plain)-1].Point.F > 1200) || !(-last.Point.F < 900) || last.Kept == 0 {
		t.Errorf("inertia %v, of Lloyd's algorithm %v; %d moves", -last.Point.F, -plain[len(plain)-1].Point.F, last.Kept)
	}
}

func TestBreathingNeedsNoMoreThanTheStepsAllowed(t *testing.T) {
	p := cloud(2, 300, 2)
	start := drawn(p, 6, 2)
	whole := climb(t, breathing(p, 1), kmeans(p, 6), start)
	for limit := range 12 {
		for _, b := range []*Breathing{breathing(p, 1), NewBreathing(points([][]float64{{0, 0}, {1, 2}, {-1, 1}, {2, 0}, {0, 3}, {1, 1}, {2, 2}}, nil), 300, 1)} {
			b.MaxIter = limit
			steps := climb(t, b, kmeans(p, 6), start)
			last := steps[len(steps)-1]
			if last.Iteration > limit || last.Done == ascent.Going || last.Done == ascent.Limit && last.Iteration != limit {
				t.Errorf("limit %d: %d steps, reason %v", limit, last.Iteration, last.Done)
			}
			if !slices.Equal(steps[0].Point.Theta, start) {
				t.Errorf("limit %d: another start", limit)
			}
			for i := range steps {
				if b.all {
					within(t, "F of a step", steps[i].Point.F, whole[i].Point.F, 1e-12*math.Abs(whole[i].Point.F))
				}
			}
		}
	}
}

// Weights are repeated rows, wherever those stand among the others.
func TestBreathingTakesAWeightForARowThatIsThereAsOften(t *testing.T) {
	once := cloud(5, 200, 2)
	often := &seed.Points{D: 2}
	for i := range once.N {
		once.W[i] = float64(1 + i%3)
		often.X, often.W, often.N = append(often.X, once.At(i)...), append(often.W, 1), often.N+1
	}
	for i := range once.N {
		for range i % 3 {
			often.X, often.W, often.N = append(often.X, once.At(i)...), append(often.W, 1), often.N+1
		}
	}
	for k := 2; k < 9; k++ {
		start := drawn(once, k, uint64(k))
		a, b := climb(t, breathing(once, 1), kmeans(once, k), start), climb(t, breathing(often, 1), kmeans(often, k), start)
		x, y := a[len(a)-1], b[len(b)-1]
		if x.Kept != y.Kept {
			t.Errorf("k %d: %d moves with weights, %d with repeated rows", k, x.Kept, y.Kept)
		}
		for i, v := range x.Point.Theta {
			within(t, "a centre", y.Point.Theta[i], v, 1e-12)
		}
		rests(t, often, x.Point)
	}
}

func TestBreathingIsTheSameForAnyNumberOfThreads(t *testing.T) {
	p := cloud(8, 3000, 4)
	start := drawn(p, 12, 1)
	want := climb(t, breathing(p, 1), kmeans(p, 12), start)
	for _, threads := range []int{2, 3, 8} {
		got := climb(t, breathing(p, threads), kmeans(p, 12), start)
		if len(got) != len(want) {
			t.Fatalf("%d threads: %d steps, want %d", threads, len(got), len(want))
		}
		for i, s := range got {
			if s.Point.F != want[i].Point.F || s.Sweeps != want[i].Sweeps || !slices.Equal(s.Point.Theta, want[i].Point.Theta) {
				t.Fatalf("%d threads: step %d is another", threads, i)
			}
		}
	}
}

// Where the points are a sample of the rows, moves are looked for there, and the end is one of all rows.
func TestBreathingAmongASampleEndsAmongAllRows(t *testing.T) {
	all := cloud(11, 6000, 3)
	sample := &seed.Points{D: 3}
	for i := 0; i < all.N; i += 4 {
		sample.X, sample.W, sample.N = append(sample.X, all.At(i)...), append(sample.W, 1), sample.N+1
	}
	for s := range uint64(3) {
		b := NewBreathing(sample, int64(all.N), 1)
		b.MaxIter, b.Seed = 300, s
		start := drawn(all, 10, s)
		steps, plain := climb(t, b, kmeans(all, 10), start), climb(t, lloyd(300), kmeans(all, 10), start)
		if !slices.Equal(steps[0].Point.Theta, start) || steps[0].Iteration != 0 || steps[1].Iteration != 1 {
			t.Errorf("seed %d: the first step is not the start", s)
		}
		for i, step := range steps[1:] {
			if step.Point.F < steps[i].Point.F*(1+1e-12) {
				t.Errorf("seed %d: step %d falls to %v", s, i+1, step.Point.F)
			}
		}
		last := steps[len(steps)-1]
		// The sample's best partition is not that of all rows, but near it.
		if last.Done != ascent.FixedPoint || last.Point.F < 1.005*plain[len(plain)-1].Point.F || last.Kept == 0 {
			t.Errorf("seed %d: %v at %v, Lloyd's algorithm at %v", s, last.Done, last.Point.F, plain[len(plain)-1].Point.F)
		}
		rests(t, all, last.Point)
	}
}

// Four rows for seven thousand: centres that suit them are worse than the start, which is kept.
func TestBreathingDoesNotFollowAPoorSample(t *testing.T) {
	all := normal(4, 7000, 2, 3)
	plain := climb(t, lloyd(300), kmeans(all, 3), drawn(all, 3, 1))
	rest := plain[len(plain)-1].Point
	b := NewBreathing(points([][]float64{{0, 0}, {0, 1}, {1, 0}, {90, 90}}, nil), 7000, 1)
	b.MaxIter = 300
	steps := climb(t, b, kmeans(all, 3), rest.Theta)
	for i, step := range steps {
		if step.Point.F < rest.F*(1+1e-12) {
			t.Errorf("inertia %v in step %d after %v", -step.Point.F, i, -rest.F)
		}
	}
}

func TestBreathingOnFewOrAwkwardRows(t *testing.T) {
	huge := column(1e200, -1e200, 3e200)
	for _, c := range []struct {
		p     *seed.Points
		start []float64
		want  float64
	}{
		{column(-3, -3, -3, -3, -3), []float64{1, 2}, 0},
		{column(0, 0, 0, 1, 1, 1), []float64{5, 6, 7}, 0},
		{column(0, 1, 2, 3, 4, 5, 6), []float64{0, 1}, 7},
		{column(4), []float64{2}, 0},
		{column(1, 2, 4), []float64{1, 2, 4}, 0},
		{points([][]float64{{0}, {2}, {10}, {12}}, []float64{1e-300, 1, 1, 1}), []float64{0, 2}, 2},
	} {
		steps := climb(t, breathing(c.p, 2), kmeans(c.p, len(c.start)), c.start)
		if last := steps[len(steps)-1]; !(math.Abs(last.Point.F+c.want) < 1e-12) || !last.Done.Converged() {
			t.Errorf("%v from %v: inertia %v, reason %v", c.p.X, c.start, -last.Point.F, last.Done)
		}
	}
	if steps := climb(t, breathing(huge, 1), kmeans(huge, 2), []float64{1e200, 3e200}); len(steps) > 302 {
		t.Errorf("squares that overflow: %d steps", len(steps))
	}
}

func TestBreathingStopsWhenItIsTold(t *testing.T) {
	p := cloud(6, 2000, 3)
	start := drawn(p, 9, 1)
	b := breathing(p, 2)
	for most := 1; most < 40; most += 3 { // the loop body stops
		seen := 0
		for range b.Steps(t.Context(), kmeans(p, 9), start) {
			if seen++; seen == most {
				break
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	var failed error
	seen := 0
	for _, err := range b.Steps(ctx, kmeans(p, 9), start) {
		if failed = err; seen == 4 {
			cancel()
		}
		seen++
	}
	if !errors.Is(failed, context.Canceled) || seen > 7 {
		t.Errorf("%v after %d steps", failed, seen)
	}
	cancel()
	if steps := climb(t, b, kmeans(p, 9), start); steps[len(steps)-1].Done != ascent.FixedPoint { // no turn was kept
		t.Error("not at rest")
	}
}
