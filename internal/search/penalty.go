package search

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/hard"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// SuggestPenalty returns a penalty that leads DP-means to about k clusters, in the user's units. It refuses a k for which there is none.
func (f *Fit) SuggestPenalty(ctx context.Context, k int) (float64, error) {
	if k < 1 || int64(k) > f.Survey.Used {
		return 0, plan.Wrong("K", "is %d; with --penalty auto it is the number of clusters wanted, from 1 to the number of rows, %d", k, f.Survey.Used)
	}
	distinct, err := prepare.DistinctRows(ctx, f.Source, k+1)
	if err != nil {
		return 0, err
	}
	if distinct < k {
		return 0, plan.Wrong("K", "is %d; with --penalty auto it is the number of clusters wanted, at most the number of distinct rows, %d", k, distinct)
	}
	points, err := f.sample(ctx)
	if err != nil {
		return 0, err
	}
	penalty, err := interrupt.Run(ctx, interrupt.Grace, func() (float64, error) { return hard.Suggest(points, k), nil })
	if err != nil {
		return 0, err
	}
	if rows, err := f.priced(ctx); err != nil {
		return 0, err
	} else if rows != nil && hard.Free(rows) && 1 < k && k < distinct {
		if penalty, err = f.priceOf(ctx, rows, k, penalty); err != nil {
			return 0, err
		}
	}
	if penalty == 0 && distinct > k { // every distinct row would get a cluster
		return 0, plan.Wrong("Penalty", "auto looks at %d of the rows, which hold too few distinct ones for %d clusters: give a number", points.N, k)
	}
	return math.Ldexp(penalty, f.CostPower()), nil
}

// priceOf returns a penalty at which k clusters cost least: it lies between what the k-th cluster saves, by k-means, and what one more
// would save. It is below the largest squared distance from the overall mean, since no cluster opens at a higher penalty. Where no such
// penalty is left it returns guess.
func (f *Fit) priceOf(ctx context.Context, rows *seed.Points, k int, guess float64) (float64, error) {
	var inertia [3]float64 // of k - 1, k and k + 1
	for i := range inertia {
		var err error
		if inertia[i], _, err = InertiaOf(ctx, rows.Table(), f.Plan.PlainKMeans(k-1+i, f.Plan.Threads)); err != nil {
			return 0, err
		}
	}
	saved, more := inertia[0]-inertia[1], max(inertia[1]-inertia[2], 0)
	most := min(saved, hard.Suggest(rows, 1))
	if !(most > more) {
		return guess, nil
	}
	return (most + more) / 2, nil
}

// PenaltyPath returns what DP-means finds at each penalty, the largest first, each from where the one before ended. Penalties and objectives
// are in the user's units.
func (f *Fit) PenaltyPath(ctx context.Context, penalties []float64) ([]hard.PathPoint, error) {
	start, err := f.Starts(ctx)
	if err != nil {
		return nil, err
	}
	inUnits := slices.Clone(penalties)
	for i, v := range inUnits {
		inUnits[i] = f.SquareInUnits(v)
	}
	rows, err := f.priced(ctx)
	if err != nil {
		return nil, err
	}
	path, err := hard.DPMeans{MaxIter: f.Plan.MaxIter, Points: rows}.Path(ctx, f.Local, start[0], f.Mix.D, inUnits)
	for i := range path {
		path[i].Penalty, path[i].Objective = math.Ldexp(path[i].Penalty, f.CostPower()), math.Ldexp(path[i].Objective, f.CostPower())
	}
	return path, err
}

// checkPenalty refuses a penalty that is sure to open more clusters than DP-means can hold, which would otherwise show after hours. A fit
// of few steps ends before that.
func (f *Fit) checkPenalty(ctx context.Context) error {
	if f.Plan.MaxIter < hard.MostClusters {
		return nil
	}
	p, err := seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, seed.SampleRows, rng.StartSample.New(f.Plan.Seed))
	if err != nil {
		return err
	}
	least, err := hard.LeastClusters(ctx, p, f.SquareInUnits(*f.Plan.Penalty), hard.MostClusters)
	if err == nil && least > hard.MostClusters {
		err = plan.Wrong("Penalty", "is %v, which opens more than %d clusters: raise it", *f.Plan.Penalty, hard.MostClusters)
	}
	return err
}

// InertiaOf returns the inertia that k-means reaches on the rows of src, in the units of the fit, and the sum of their weights. If ctx ends,
// its error is returned.
func InertiaOf(ctx context.Context, src data.Source, p plan.Plan) (inertia, weight float64, err error) {
	f, err := New(ctx, src, p)
	if err != nil {
		return 0, 0, err
	}
	e, err := f.Run(ctx)
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return 0, 0, err
	}
	return -ObjectiveOf(e.Winner().Last.Point), f.Survey.W, nil
}
