package hard

import (
	"context"
	"slices"

	"github.com/latent-go/latent/ascent"
	"github.com/latent-go/latent/seed"
	"github.com/latent-go/latent/sweep"
)

// Suggest returns a penalty for about k clusters by farthest-first traversal (Kulis and Jordan 2012, end of section 3): a
// set begins with the overall mean and takes, k times, the row farthest from it; the result is the squared distance at
// which the last was taken. A guess only: the set's centres never move, and single rows far out count as clusters.
func Suggest(p *seed.Points, k int) float64 {
	centre := overallMean(p)
	near := make([]float64, p.N) // squared distance to the nearest of the set
	last := 0.0
	for round := range k {
		far := 0
		for i := range p.N {
			q := 0.0
			for j, x := range p.At(i) {
				q += (x - centre[j]) * (x - centre[j])
			}
			if round == 0 || q < near[i] {
				near[i] = q
			}
			if near[i] > near[far] {
				far = i
			}
		}
		last, centre = near[far], p.At(far)
	}
	return last
}

// PathPoint is where DP-means ended for one penalty.
type PathPoint struct {
	Penalty   float64
	K         int
	Objective float64 // SSE + Penalty K
	Theta     []float64
	Done      ascent.Reason
}

// Path runs DP-means for every penalty, the largest first, each from where the one before ended: the first from start.
// It costs little more than the smallest penalty alone. A smaller penalty only ever opens clusters at first, so the path
// is nested where a cold start need not be: the two may end at different local optima, and neither is always better.
// p.Penalty is not used.
func (p DPMeans) Path(ctx context.Context, s sweep.Sweeper, start []float64, d int, penalties []float64) ([]PathPoint, error) {
	penalties = slices.Clone(penalties)
	slices.Sort(penalties)
	slices.Reverse(penalties)
	var path []PathPoint
	for _, p.Penalty = range penalties {
		var last ascent.Step
		for step, err := range p.Steps(ctx, s, start, d) {
			if err != nil {
				return path, err
			}
			last = step
		}
		start = last.Point.Theta
		path = append(path, PathPoint{Penalty: p.Penalty, K: len(start) / d, Objective: -last.Point.F, Theta: start, Done: last.Done})
	}
	return path, nil
}

// overallMean returns the weighted mean of the points.
func overallMean(p *seed.Points) []float64 {
	mean, w := make([]float64, p.D), 0.0
	for i := range p.N {
		w += p.W[i]
		for j, x := range p.At(i) {
			mean[j] += p.W[i] / w * (x - mean[j])
		}
	}
	return mean
}
