package search

import (
	"context"
	"iter"
	"math"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/hard"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/onedim"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

// Climb runs the plan's driver from each of thetas, by which the runs it returns are ordered. watch, where not nil, sees every step, in
// the user's units. With race, climbs that can no longer win are stopped. If ctx ends, runs that have not ended have its
// error. The error returned is of reading rows that a driver needs in memory, before any climb.
func (f *Fit) Climb(ctx context.Context, thetas [][]float64, watch func(Progress), race bool) ([]Run, error) {
	watch = f.userProgress(watch)
	driver := f.Plan.Driver(f.Mix.D)
	switch {
	case driver == plan.DPMeans:
		return f.climbPriced(ctx, thetas[0], watch)
	case driver == plan.MiniBatch:
		return f.climbBatches(ctx, thetas, watch)
	case driver == plan.Breathing:
		return f.climbBreathing(ctx, thetas, watch)
	case f.Plan.Medians():
		return f.climbMedians(ctx, thetas, watch)
	case driver == plan.Exact:
		return atOptimum(f.lockstep(watch).climb(ctx, f.Driver, thetas, watch)), nil
	case race:
		return climbDistinct(thetas, func(own [][]float64, at []int) []Run { return f.race(ctx, own, at, watch) }), nil
	}
	return f.lockstep(watch).climb(ctx, f.Driver, thetas, watch), nil
}

// race is Climb where climbs that can no longer win are stopped. Starts go on from where they have come on samples; those that lost there are only evaluated.
// Start i is that of number at[i].
func (f *Fit) race(ctx context.Context, thetas [][]float64, at []int, watch func(Progress)) []Run {
	l := f.lockstep(watch)
	if l.smooth && f.Plan.Tol > 0 {
		l.degenerate, l.hurried, l.reached = f.Degenerate, f.Survey.Used >= laddered, f.reached
		l.joins = l.hurried
	}
	if f.begun == nil {
		return l.climb(ctx, func(i int) ascent.Driver { return f.Driver(at[i]) }, thetas, watch)
	}
	on := make([]begun, len(thetas))
	for i := range on {
		on[i] = f.begun[at[i]]
	}
	runs := l.climb(ctx, func(i int) ascent.Driver {
		if on[i].beaten {
			return ascent.EM{Beta: 1} // evaluates the start
		}
		d := f.Driver(at[i]).(ascent.Finish)
		d.Driver = on[i].driver(d.Driver.(ascent.EMLBFGS), f.Survey.W)
		return d
	}, thetas, watch)
	for i := range runs {
		runs[i].pruned = runs[i].pruned || on[i].beaten
		runs[i].Sweeps += int(math.Ceil(on[i].passes))
	}
	return runs
}

// climbPriced runs DP-means from theta. It sets the number of components to what it has found.
func (f *Fit) climbPriced(ctx context.Context, theta []float64, watch func(Progress)) ([]Run, error) {
	points, err := f.priced(ctx)
	if err != nil {
		return nil, err
	}
	driver := hard.DPMeans{Penalty: f.SquareInUnits(*f.Plan.Penalty), MaxIter: f.Plan.MaxIter, Points: points}
	runs := follow(ctx, []iter.Seq2[ascent.Step, error]{driver.Steps(ctx, f.Local, theta, f.Mix.D)}, watch)
	if p := runs[0].Last.Point; p != nil {
		f.Mix.K = len(p.Theta) / f.Mix.D
	}
	return runs, nil
}

// climbBatches runs mini-batches from each of thetas.
func (f *Fit) climbBatches(ctx context.Context, thetas [][]float64, watch func(Progress)) ([]Run, error) {
	points, err := f.all(ctx)
	if err != nil {
		return nil, err
	}
	p := &f.Plan
	driver := hard.MiniBatch{Points: points, BatchSize: p.BatchSize, MaxIter: p.MaxIter, Seed: p.Seed, Threads: p.Threads}
	return f.lockstep(watch).climb(ctx, func(int) ascent.Driver { return driver }, thetas, watch), nil
}

// climbBreathing runs breathing k-means from each of thetas.
func (f *Fit) climbBreathing(ctx context.Context, thetas [][]float64, watch func(Progress)) ([]Run, error) {
	points, err := f.breathed(ctx)
	if err != nil {
		return nil, err
	}
	p := &f.Plan
	atOnce := min(p.Threads, len(thetas))
	driver := hard.NewBreathing(points, f.Survey.Used, atOnce)
	driver.MaxIter, driver.Seed, driver.Threads = p.MaxIter, p.Seed, p.Threads/atOnce
	return f.lockstep(watch).climb(ctx, func(start int) ascent.Driver {
		own := *driver
		own.Start = start
		return &own
	}, thetas, watch), nil
}

// climbMedians runs K-medians from each of thetas.
func (f *Fit) climbMedians(ctx context.Context, thetas [][]float64, watch func(Progress)) ([]Run, error) {
	points, err := f.all(ctx)
	if err != nil {
		return nil, err
	}
	medians := &hard.Medians{Points: points, Threads: f.Plan.Threads}
	climbs := make([]iter.Seq2[ascent.Step, error], len(thetas))
	for i, theta := range thetas {
		climbs[i] = f.Driver(i).Steps(ctx, medians, theta)
	}
	runs := follow(ctx, climbs, watch)
	if f.Plan.Driver(f.Mix.D) == plan.Exact {
		runs = atOptimum(runs)
	}
	return runs, nil
}

// atOptimum returns runs whose start was the best partition: they have ended, whatever the last digit of a mean or median does.
func atOptimum(runs []Run) []Run {
	runs[0].Last.Done = ascent.FixedPoint
	return runs
}

// lockstep returns what climbs of f run in. watch is nil where nobody sees their steps.
func (f *Fit) lockstep(watch func(Progress)) *lockstep {
	l := &lockstep{sweeper: f.sweeper(), threads: f.Plan.Threads, mix: f.Mix, lift: watch != nil, smooth: f.Mix.Smooth() && !f.Plan.Hard() && f.Plan.RegCovar == 0}
	if f.RequiredObjective != nil {
		if l.rival = (&rival{f.RequiredObjective, raceNear}); f.begun != nil { // starts have climbed on the sample
			l.rival.near = rivalNear
		}
	}
	return l
}

// follow runs climbs to their ends, one after another. If ctx ends it leaves them after a grace.
func follow(ctx context.Context, climbs []iter.Seq2[ascent.Step, error], watch func(Progress)) []Run {
	var r record
	r.begin(len(climbs))
	_, left := interrupt.Run(ctx, interrupt.Grace, func() (none struct{}, err error) {
		for i, steps := range climbs {
			for s, err := range steps {
				if !r.add(i, s, err, watch) {
					break
				}
			}
		}
		return none, nil
	})
	over := make([]bool, len(climbs))
	for i := range over {
		over[i] = left == nil || r.ended(i)
	}
	return r.leave(over, left)
}

// resume lets a climb that was stopped go on to its end. Anti-annealing has ended its schedule of temperatures by then, so EM-L-BFGS
// goes on.
func (f *Fit) resume(ctx context.Context, r Run) (Run, error) {
	on := *f
	if on.Plan.Driver(f.Mix.D) == plan.AntiAnnealing {
		on.Plan = on.Plan.With(plan.EMLBFGS)
	}
	on.Plan.MaxIter = max(f.Plan.MaxIter-r.Last.Iteration, 0)
	var watch func(Progress)
	if f.Watch != nil {
		watch = func(p Progress) {
			p.Start, p.Iteration, p.Sweeps = r.start+1, p.Iteration+r.Last.Iteration, p.Sweeps+r.Sweeps
			f.Watch(p)
		}
	}
	runs, err := on.Climb(ctx, [][]float64{r.Last.Point.Theta}, watch, false)
	switch {
	case err != nil:
		return r, err
	case runs[0].Err != nil && ctx.Err() == nil:
		return r, runs[0].Err
	case runs[0].Last.Point == nil:
		return r, nil
	}
	end := runs[0]
	end.start, end.Sweeps, end.Last.Iteration = r.start, end.Sweeps+r.Sweeps, end.Last.Iteration+r.Last.Iteration
	return end, nil
}

// all returns all rows of positive weight, in memory and in their order. It is for what the sums of a pass do not give.
func (f *Fit) all(ctx context.Context) (*seed.Points, error) {
	return f.shared.sample(math.MaxInt, func() (*seed.Points, error) {
		return seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, math.MaxInt, rng.StartSample.New(0))
	})
}

// pricedRows is the number of rows up to which DP-means looks for a cheaper partition: the search takes less than a second.
const pricedRows = 1000

// priced returns the rows among which DP-means looks for a cheaper partition: all, or none where they are many.
func (f *Fit) priced(ctx context.Context) (*seed.Points, error) {
	if f.Survey.Used > pricedRows {
		return nil, nil
	}
	return f.all(ctx)
}

// Driver returns the plan's driver for the start of that number, from 0. Each start has random nudges of its own: where annealing has
// merged all components, starts differ in nothing else.
func (f *Fit) Driver(start int) ascent.Driver {
	s, most, nudges := &f.Plan, f.Plan.MaxIter, f.Plan.Seed+uint64(start)
	if s.Hard() {
		if s.Driver(f.Mix.D) == plan.Exact {
			most = 0 // there is nothing left to climb
		}
		return ascent.EM{Beta: math.Inf(1), MaxIter: most, TolShift: f.SquareInUnits(s.TolShift)}
	}
	finish := ascent.Finish{MaxIter: most, Tol: s.Tol, TolLogLik: s.TolLogLik, Weight: f.Survey.W, Seed: nudges}
	quasi := ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: most}
	switch s.Driver(f.Mix.D) {
	case plan.EM:
		finish.Driver = ascent.EM{Beta: 1, MaxIter: most, Ascends: s.RegCovar == 0}
	case plan.EMLBFGS, plan.VB:
		finish.Driver = quasi
	case plan.AntiAnnealing:
		finish.Driver = ascent.Anneal{Betas: s.Beta, Sweeps: s.BetaSteps, MaxIter: most, Seed: nudges, Last: quasi}
	case plan.SQUAREM:
		finish.Driver = ascent.SQUAREM{MaxIter: most}
	case plan.BFGS:
		finish.Driver = ascent.BFGS{Chart: f.Mix.Chart(), MaxIter: most}
	case plan.LBFGS:
		finish.Driver = ascent.LBFGS{Chart: f.Mix.Chart(), MaxIter: most}
	case plan.ECG:
		finish.Driver = ascent.ECG{Chart: f.Mix.Chart(), MaxIter: most}
	}
	return finish
}

// exact returns the centres of the best partition of one column.
func (f *Fit) exact(ctx context.Context) ([]float64, error) {
	p, err := f.all(ctx)
	if err != nil {
		return nil, err
	}
	cost := onedim.Squared
	if f.Plan.Medians() {
		cost = onedim.Absolute
	}
	r, err := onedim.Cluster(ctx, p.X, p.W, f.Plan.K, cost)
	if err != nil {
		return nil, err
	}
	return r.Centers, nil
}

// Climb runs driver d for mix from theta, with passes that sweeper makes, and returns its last step. see, which must not be nil, sees
// every step.
func Climb(ctx context.Context, sweeper sweep.Sweeper, mix *mixture.Mixture, d ascent.Driver, theta []float64, see func(ascent.Step)) (ascent.Step, error) {
	l := &lockstep{sweeper: sweeper, mix: mix}
	r := l.climb(ctx, func(int) ascent.Driver { return d }, [][]float64{theta}, func(p Progress) { see(p.Step) })[0]
	return r.Last, r.Err
}

// ClimbWith runs driver d from theta, in place of the plan's. watch, where not nil, sees every step, in the units of the fit.
func (f *Fit) ClimbWith(ctx context.Context, d ascent.Driver, theta []float64, watch func(Progress)) Run {
	return f.lockstep(nil).climb(ctx, func(int) ascent.Driver { return d }, [][]float64{theta}, watch)[0]
}
