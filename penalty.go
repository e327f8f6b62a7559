package latent

import (
	"context"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
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
// traversal from the overall mean (Kulis and Jordan 2012). It is a guess; where groups overlap the number found differs. It is 0 only
// where each distinct row is to be a cluster, and k above their number is an error.
func SuggestPenalty(ctx context.Context, src data.Source, spec Spec, k int) (float64, error) {
	f, err := dpMeans(ctx, src, spec, 1)
	if err != nil {
		return 0, err
	}
	return f.SuggestPenalty(ctx, k)
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
	path, err := f.PenaltyPath(ctx, penalties)
	points := make([]PenaltyPoint, len(path))
	for i, p := range path {
		points[i] = PenaltyPoint{Penalty: p.Penalty, K: p.K, Objective: p.Objective, Inertia: p.Objective - p.Penalty*float64(p.K), Converged: p.Done.Converged()}
	}
	return slices.Clip(points), err
}

// dpMeans prepares a fit of DP-means.
func dpMeans(ctx context.Context, src data.Source, spec Spec, penalty float64) (*search.Fit, error) {
	spec.K, spec.Penalty = 0, &penalty
	p, err := plan.New(plan.Spec(spec))
	if err != nil {
		return nil, err
	}
	return search.New(ctx, src, p)
}
