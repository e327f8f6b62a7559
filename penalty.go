package latent

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/hard"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// PenaltyPoint is what DP-means finds at one penalty.
type PenaltyPoint struct {
	Penalty   float64 `json:"penalty"`
	K         int     `json:"k"`
	Inertia   float64 `json:"inertia"`
	Objective float64 `json:"objective"` // inertia + penalty k
	Converged bool    `json:"converged"` // no label changes and no cluster pays any more
}

// SuggestPenalty returns the penalty that leads DP-means to about k clusters, in squared distance after the
// spec's scale: of few rows that at which k cost least by k-means, and else by farthest-first
// traversal from the overall mean (Kulis and Jordan 2012). It is a guess; where groups overlap the number found differs. It is 0 only where each distinct row is to be a cluster, and k above their number is an error.
func SuggestPenalty(ctx context.Context, src data.Source, spec Spec, k int) (float64, error) {
	f, err := dpMeans(ctx, src, spec, 1)
	if err != nil {
		return 0, err
	}
	if k < 1 || int64(k) > f.look.Used {
		return 0, plan.Wrong("K", "is %d; with --penalty auto it is the number of clusters wanted, from 1 to the number of rows, %d", k, f.look.Used)
	}
	distinct, err := distinctRows(ctx, f.src, k+1)
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
	return math.Ldexp(penalty, f.costPower()), nil
}

// priceOf returns a penalty at which k clusters cost least: between what the k-th saves, by k-means, and what one more would. It
// stays below the largest squared distance from the overall mean, from which on nothing opens; where that leaves no room it is
// guess.
func (f *fit) priceOf(ctx context.Context, rows *seed.Points, k int, guess float64) (float64, error) {
	var inertia [3]float64 // of k - 1, k and k + 1
	for i := range inertia {
		var err error
		if inertia[i], _, err = inertiaOf(ctx, rows.Table(), f.plan.Centres(k-1+i, f.plan.Threads)); err != nil {
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

// PenaltyPath runs DP-means at each penalty, the largest first, each from where the one before ended: how the number of
// clusters grows as they get cheaper. Cold starts may end at other local optima.
func PenaltyPath(ctx context.Context, src data.Source, spec Spec, penalties []float64) ([]PenaltyPoint, error) {
	for _, v := range penalties {
		spec.Penalty = &v
		if err := spec.ValidateOne(); err != nil {
			return nil, err
		}
	}
	if len(penalties) == 0 {
		return nil, nil
	}
	f, err := dpMeans(ctx, src, spec, slices.Min(penalties))
	if err != nil {
		return nil, err
	}
	start, err := f.starts(ctx)
	if err != nil {
		return nil, err
	}
	inUnits := slices.Clone(penalties)
	for i, v := range inUnits {
		inUnits[i] = f.inUnits(v)
	}
	rows, err := f.priced(ctx)
	if err != nil {
		return nil, err
	}
	path, err := hard.DPMeans{MaxIter: f.plan.MaxIter, Points: rows}.Path(ctx, f.local, start[0], f.mix.D, inUnits)
	points := make([]PenaltyPoint, len(path))
	for i, p := range path {
		penalty, objective := math.Ldexp(p.Penalty, f.costPower()), math.Ldexp(p.Objective, f.costPower())
		points[i] = PenaltyPoint{Penalty: penalty, K: p.K, Objective: objective, Inertia: objective - penalty*float64(p.K), Converged: p.Done.Converged()}
	}
	return slices.Clip(points), err
}

// checkPenalty refuses a penalty that is sure to open more clusters than DP-means can, which else shows after hours. Few
// steps end before that.
func (f *fit) checkPenalty(ctx context.Context) error {
	if f.plan.MaxIter < hard.MostClusters {
		return nil
	}
	p, err := seed.Sample(ctx, f.src, f.look.Used, f.origin, seed.SampleRows, rng.StartSample.New(f.plan.Seed))
	if err != nil {
		return err
	}
	least, err := hard.LeastClusters(ctx, p, f.inUnits(*f.plan.Penalty), hard.MostClusters)
	if err == nil && least > hard.MostClusters {
		err = plan.Wrong("Penalty", "is %v, which opens more than %d clusters: raise it", *f.plan.Penalty, hard.MostClusters)
	}
	return err
}

// dpMeans prepares a fit of DP-means.
func dpMeans(ctx context.Context, src data.Source, spec Spec, penalty float64) (*fit, error) {
	spec.K, spec.Penalty = 0, &penalty
	p, err := plan.New(plan.Spec(spec))
	if err != nil {
		return nil, err
	}
	return prepare(ctx, src, p)
}
