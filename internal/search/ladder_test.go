package search

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// overlapping returns a fit of k components to 20,000 rows that overlap, a sample of 5,000 of them, and what makes starts of equal components of
// variance 1 whose first columns have such means, the second 0.
func overlapping(t *testing.T, k int) (ctx context.Context, f *Fit, p *seed.Points, around func(x ...float64) []float64) {
	t.Helper()
	ctx, src := context.Background(), fixtures.Overlapping(20_000)
	f, err := New(ctx, src, fixtures.Plan(plan.Spec{K: k}))
	if err != nil {
		t.Fatal(err)
	}
	p, err = seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, 5000, rng.StartSample.New(1))
	if err != nil {
		t.Fatal(err)
	}
	mix, g, _ := f.Mix.Start()
	return ctx, f, p, func(x ...float64) []float64 {
		means := make([]float64, 0, 2*len(x))
		for _, v := range x {
			means = append(means, v-f.Origin[0], -f.Origin[1])
		}
		return seed.Around(mix, g, means, slices.Repeat([]float64{1}, k), []float64{1, 1})
	}
}

// A start that surely leads to a lower maximum of the sample is evaluated on all rows and stopped. Two starts that lead to the same maximum
// both climb on. Each begins higher than it would have without the sample.
func TestStartsBeatenOnTheSampleClimbNoMore(t *testing.T) {
	t.Parallel()
	ctx, f, p, around := overlapping(t, 3)
	starts := [][]float64{around(0, 3.5, 12), around(-1, 5, 12), around(2, 11, 13)}
	before := slices.Clone(starts)
	if err := f.climbRungs(ctx, []rung{{f.onPoints(p), p}}, starts); err != nil {
		t.Fatal(err)
	}
	passes := make([]float64, len(starts))
	for i, b := range f.begun {
		passes[i] = b.passes
		if b.beaten != (i == 2) {
			t.Fatalf("start %d is beaten: %v", i, b.beaten)
		}
	}
	runs, err := f.Climb(ctx, starts, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	f.begun = nil
	old, err := f.Climb(ctx, before, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if r.pruned != (i == 2) || i == 2 && r.Sweeps != 1+int(math.Ceil(passes[2])) {
			t.Errorf("start %d: pruned %v after %d sweeps", i, r.pruned, r.Sweeps)
		}
		if i < 2 && math.Abs(r.Last.Point.F-old[i].Last.Point.F) > SameOptimum {
			t.Errorf("start %d ends at %v, without a sample at %v", i, r.Last.Point.F, old[i].Last.Point.F)
		}
	}
}

// Of starts that differ by a thousandth of a standard deviation, or in the order of their components alone, one climbs the sample, to where it comes by
// itself. A start that is elsewhere climbs too.
func TestStartsAtOnePlaceClimbTheSampleOnce(t *testing.T) {
	t.Parallel()
	ctx, f, p, around := overlapping(t, 2)
	climbed := func(starts ...[]float64) []begun {
		if err := f.climbRungs(ctx, []rung{{f.onPoints(p), p}}, starts); err != nil {
			t.Fatal(err)
		}
		return f.begun
	}
	alone := climbed(around(1, 5))[0]
	all := climbed(around(1, 5), around(1.001, 5), around(5, 1), around(3, 3.5))
	whole := 0
	for _, b := range all[:3] {
		if b.passes >= alone.passes/2 {
			whole++
		}
		if !slices.Equal(b.theta, all[0].theta) {
			t.Error("starts at one place do not end at one")
		}
	}
	if whole != 1 || all[3].passes < alone.passes/2 {
		t.Errorf("passes %v, %v, %v and %v from elsewhere; %v alone", all[0].passes, all[1].passes, all[2].passes, all[3].passes, alone.passes)
	}
	if d := all[0].end.F - alone.end.F; math.Abs(d) > SameOptimum {
		t.Errorf("the end is %v nats from that of a start alone", d)
	}
}

// The difference is a sum of weighted differences with its standard deviation; here 4 rows by hand.
func TestDifferenceHasAStandardDeviation(t *testing.T) {
	t.Parallel()
	w, b := []float64{1, 2, 1, 0}, []float64{0, 0, 0, 7}
	// differences 1, 2, 3 with weights 1, 2, 1: the sum is 8, the mean 2, the weighted deviations -1, 0, 1
	if sum, spread := difference(w, []float64{1, 2, 3, 0}, b); sum != 8 || math.Abs(spread-math.Sqrt2) > 1e-15 {
		t.Errorf("difference %v ± %v, want 8 ± %v", sum, spread, math.Sqrt2)
	}
	if sum, spread := difference(w, b, b); sum != 0 || spread != 0 {
		t.Errorf("no difference is %v ± %v", sum, spread)
	}
}

// A move has no hope where four more steps like its first leave it more than 6 times sqrt(2 d) short, d being what it is short now: 80 nats short
// with 1 gained, 80 - 4 = 76 > 6 sqrt(160) = 75.9; with 79 nats 75 < 75.4.
func TestMovesWithoutHope(t *testing.T) {
	t.Parallel()
	p := promising{steps: 5, before: 100}
	for _, c := range []struct {
		iteration int
		f, change float64
		want      bool
	}{{1, 20, 1, true}, {1, 21, 1, false}, {0, -1e6, 0, false}, {1, -1e6, 1e6, false}, {4, -1e6, 1e5, true}, {5, 200, 1, false}} {
		if got := p.hopeless(&ascent.Step{Iteration: c.iteration, Change: c.change, Point: &ascent.Point{F: c.f}}); got != c.want {
			t.Errorf("at %v after %d steps, the last of %v: %v", c.f, c.iteration, c.change, got)
		}
	}
}

// Steps of EM from where a move leads end with the first where there is no hope, and are all taken where there is.
func TestStepsOfMovesEndWithoutHope(t *testing.T) {
	t.Parallel()
	f, err := New(context.Background(), fixtures.Overlapping(2000), fixtures.Plan(plan.Spec{K: 3, NInit: 1}))
	if err != nil {
		t.Fatal(err)
	}
	thetas, err := f.Starts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	for before, want := range map[float64]int{math.Inf(-1): 6, 0: 2} { // log densities are below 0
		if r := f.ClimbWith(context.Background(), promising{5, before}, thetas[0], nil); r.Sweeps != want {
			t.Errorf("%d passes for F of %v before, want %d", r.Sweeps, before, want)
		}
	}
}

// Rungs are a quarter of the rows above each, as long as there are rows enough for the parameters, and none of more rows than starts are drawn from.
// Fits whose course was asked for have none.
func TestRungsHaveRowsEnoughForTheParameters(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		rows int
		spec plan.Spec
		want []int64
	}{
		"few rows":               {laddered - 1, plan.Spec{K: 2, NInit: 1}, nil},
		"few parameters":         {80_000, plan.Spec{K: 2, NInit: 1}, []int64{1250, 5000, 20_000}},
		"many parameters":        {80_000, plan.Spec{K: 20, NInit: 1}, []int64{5000, 20_000}}, // 119 of them
		"more":                   {80_000, plan.Spec{K: 40, NInit: 1}, []int64{5000, 20_000}}, // 239: 4780 rows
		"too many":               {80_000, plan.Spec{K: 170, NInit: 1}, nil},                  // 1019: 20,380 rows
		"starts of a sample":     {240_000, plan.Spec{K: 500}, []int64{50_000}},               // 2999: 59,980 rows
		"many rows":              {240_000, plan.Spec{K: 2, NInit: 1}, []int64{3125, 12_500, 50_000}},
		"one component":          {80_000, plan.Spec{K: 1}, nil},
		"an algorithm":           {80_000, plan.Spec{K: 2, Algorithm: "em-lbfgs"}, nil},
		"a number of iterations": {80_000, plan.Spec{K: 2, MaxIter: new(20)}, nil},
		"centres":                {80_000, plan.Spec{K: 2, Model: "kmeans"}, nil},
	} {
		f, err := New(context.Background(), fixtures.Overlapping(c.rows), fixtures.Plan(c.spec))
		if err != nil {
			t.Fatal(err)
		}
		rungs, err := f.rungs(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var got []int64
		for _, s := range rungs {
			got = append(got, s.Survey.Used)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %v rows, want %v", name, got, c.want)
		}
	}
}

// A component of 2.5 % of the rows is not lost on samples that have 40 rows of it: from every start the end is that of a climb on all rows
// alone, in less than half of its passes.
func TestSamplesLoseNoSmallComponent(t *testing.T) {
	t.Parallel()
	ctx, u, z := context.Background(), rng.Uniforms(41, 100_000), rng.Normals(42, 200_000)
	for i := range u { // the mixture of testdata/oracle/tolerance, 97.5 and 2.5 %
		if u[i] < 0.025 {
			z[2*i], z[2*i+1] = 2.2+z[2*i]*math.Sqrt(0.3), 1+z[2*i+1]*math.Sqrt(0.3)
		}
	}
	f, err := New(ctx, fixtures.Table(2, z...), fixtures.Plan(plan.Spec{K: 2, Init: "random", NInit: 10}))
	if err != nil {
		t.Fatal(err)
	}
	starts, err := f.Starts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	plain, err := f.Climb(ctx, starts, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.begin(ctx, starts); err != nil {
		t.Fatal(err)
	}
	for i, b := range f.begun { // apart, so that each climbs on all rows
		starts[i] = slices.Clone(b.theta)
	}
	runs, err := f.Climb(ctx, starts, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	with, without := 0, 0
	for i, r := range runs {
		if r.pruned || r.Last.Point.F < plain[i].Last.Point.F-SameOptimum || slices.Min(r.Last.Point.Weights) < 2000 {
			t.Errorf("start %d ends at %v with %.0f rows, on all rows alone at %v", i, r.Last.Point.F, r.Last.Point.Weights, plain[i].Last.Point.F)
		}
		with, without = with+r.Sweeps, without+plain[i].Sweeps
	}
	if 2*with > without {
		t.Errorf("%d passes, %d without samples", with, without)
	}
}

// A given start at the maximum of all rows is not moved to that of a sample first.
func TestAStartAtTheMaximumClimbsNoSample(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f, err := New(ctx, fixtures.Overlapping(40_000), fixtures.Plan(plan.Spec{K: 3, Init: "kmeans", NInit: 1, Algorithm: "em-lbfgs"}))
	if err != nil {
		t.Fatal(err)
	}
	e, err := f.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	m, _ := f.Model(e.Winner().Last.Point)
	again, err := New(ctx, fixtures.Overlapping(40_000), fixtures.Plan(plan.Spec{K: 3, Init: "model", Given: m}))
	if err != nil {
		t.Fatal(err)
	}
	thetas, err := again.Starts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	before := slices.Clone(thetas[0])
	if err := again.begin(ctx, thetas); err != nil {
		t.Fatal(err)
	}
	if len(again.begun) != 1 || !slices.Equal(thetas[0], before) || again.begun[0].passes == 0 || again.begun[0].passes > 1 {
		t.Errorf("it has come to %+v", again.begun)
	}
}

// Where a fit is interrupted between two rungs, the start that is best on all rows is its outcome, with its objective there.
func TestAFitInterruptedOnTheLadderKeepsItsBestStart(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	f, err := New(ctx, fixtures.Overlapping(40_000), fixtures.Plan(plan.Spec{K: 3, Init: "random", NInit: 3}))
	if err != nil {
		t.Fatal(err)
	}
	starts, err := f.Starts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	rungs, err := f.rungs(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if err := f.climbRungs(ctx, rungs[:1], starts); err != nil {
		t.Fatal(err)
	}
	cancel()
	var e Outcome
	if err := f.keepBegun(ctx, &e); err != nil {
		t.Fatal(err)
	}
	best := math.Inf(-1)
	for i := range starts {
		stats, err := f.Local.Sweep(context.Background(), []sweep.Task{{Mixture: f.Mix, Theta: starts[i], Beta: 1}})
		if err != nil {
			t.Fatal(err)
		}
		best = max(best, stats[0].LogLik)
	}
	if got := e.Winner().Last.Point.LogLik; !e.Interrupted || got != best {
		t.Errorf("interrupted %v, at %v, want %v", e.Interrupted, got, best)
	}
}

// Two components of the given start share a group and one covers two groups. On all rows EM ends there; with samples it ends
// where a climb from the means of the groups does, with the same bits for any number of threads. A start with a component in each group
// stays what it is.
func TestASingleStartIsMovedOnSamples(t *testing.T) {
	t.Parallel()
	ctx, groups := context.Background(), [][]float64{{0, 0}, {5, 5}, {10, 0}, {15, 5}, {20, 0}} // of fixtures.FiveClusters
	poor := [][]float64{{-1, 0}, {1, 0}, {0, 1}, {10, 2}, {18, 2}}
	run := func(centres [][]float64, spec plan.Spec) (*Fit, *Outcome) {
		t.Helper()
		spec.K, spec.Init, spec.Centers = 5, "centers", centres
		f, err := New(ctx, fixtures.FiveClusters(32_000), fixtures.Plan(spec))
		if err != nil {
			t.Fatal(err)
		}
		e, err := f.Run(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return f, e
	}
	_, e := run(groups, plan.Spec{Algorithm: "em-lbfgs"})
	want := e.Winner().Last.Point.F
	if _, e := run(poor, plan.Spec{Algorithm: "em"}); e.Winner().Last.Point.F > want-1000 || e.moves != nil {
		t.Errorf("by EM on all rows the poor start ends at %v, with moves %v, the good one at %v", e.Winner().Last.Point.F, e.moves, want)
	}
	var first []float64
	for threads := 1; threads <= 3; threads++ {
		f, e := run(poor, plan.Spec{Threads: threads})
		p := e.Winner().Last.Point
		if e.moves == nil || e.moves.Kept != 1 || e.moves.Tried < 2 || math.Abs(p.F-want) > SameOptimum || len(e.Runs) != 1 {
			t.Errorf("the poor start ends at %v after moves %+v, want %v", p.F, e.moves, want)
		}
		if got := f.begun[0]; got.weight != 8000 { // the highest rung
			t.Errorf("it has climbed a sample of %v rows at last", got.weight)
		}
		if first == nil {
			first = p.Theta
		}
		if !slices.Equal(p.Theta, first) {
			t.Errorf("%d threads: %v, one: %v", threads, p.Theta, first)
		}
	}
	if _, e := run(groups, plan.Spec{}); e.moves == nil || e.moves.Kept != 0 || math.Abs(e.Winner().Last.Point.F-want) > SameOptimum {
		t.Errorf("the good start ends at %v after moves %+v, want %v", e.Winner().Last.Point.F, e.moves, want)
	}
}

// Of several starts, and of kinds whose components show late what they lead to, none is moved on samples.
func TestSeveralStartsAreNotMovedOnSamples(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	for name, c := range map[string]struct {
		src  *data.Table
		spec plan.Spec
	}{
		"two starts": {fixtures.Overlapping(20_000), plan.Spec{K: 3, Init: "random", NInit: 2}},
		"bits":       {fixtures.Coins(20_000, 4), plan.Spec{Model: "bernoulli", K: 2, Init: "random", NInit: 1}},
	} {
		f, err := New(ctx, c.src, fixtures.Plan(c.spec))
		if err != nil {
			t.Fatal(err)
		}
		thetas, err := f.Starts(ctx)
		if err != nil {
			t.Fatal(err)
		}
		if err := f.begin(ctx, thetas); err != nil {
			t.Fatal(err)
		}
		if len(f.begun) != len(thetas) {
			t.Errorf("%s: %d have begun on samples", name, len(f.begun))
		}
		for _, b := range f.begun {
			if b.moves != nil {
				t.Errorf("%s: %+v", name, b.moves)
			}
		}
	}
}

// Of a start and a move that have climbed the same rung the one that ended higher goes on, unless it did so by a degenerate component; a start that was too near to the
// maximum to climb stays.
func TestTheHigherOfStartAndMoveGoesOn(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	f, err := New(ctx, fixtures.Overlapping(1000), fixtures.Plan(plan.Spec{K: 3, Init: "random", NInit: 1}))
	if err != nil {
		t.Fatal(err)
	}
	thetas, err := f.Starts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	at := func(height float64) *ascent.Point {
		return &ascent.Point{Beta: 1, F: height, Theta: thetas[0], Weights: []float64{300, 300, 400}}
	}
	degenerate := at(9)
	degenerate.Flat, degenerate.Weights = []bool{true, false, false}, []float64{1, 500, 499}
	for name, c := range map[string]struct {
		start, move *ascent.Point
		moved       bool
	}{
		"higher":     {at(1), at(2), true},
		"lower":      {at(2), at(1), false},
		"degenerate": {at(2), degenerate, false},
		"away from":  {degenerate, at(2), true},
		"near":       {nil, at(2), false},
	} {
		b, m := begun{theta: []float64{1}, end: c.start, passes: 3, moves: &model.Moves{}}, begun{theta: []float64{2}, end: c.move, passes: 4}
		rung{Fit: f}.take(&b, &m)
		if (b.theta[0] == 2) != c.moved || (b.moves.Kept == 1) != c.moved || b.passes != 7 {
			t.Errorf("%s: %+v, %d kept", name, b, b.moves.Kept)
		}
	}
}
