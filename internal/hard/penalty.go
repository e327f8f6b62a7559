package hard

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

// Suggest returns a penalty for about k clusters by farthest-first traversal (Kulis and Jordan 2012, end of section 3): a
// set begins with the overall mean and takes, k times, the row farthest from it; the result is the squared distance at
// which the last was taken. A guess only: the set's centres never move, and single rows far out count as clusters.
func Suggest(p *seed.Points, k int) float64 {
	last, taken := 0.0, 0
	for _, distance := range farthestFirst(p, overallMean(p)) {
		if taken == k {
			break
		}
		last = distance
		taken++
	}
	return last
}

// farthestFirst takes the row farthest from a set that begins with one point and then holds the rows taken, for ever; with
// it comes its squared distance from the set, which never rises. Each takes a pass over the rows.
func farthestFirst(p *seed.Points, centre []float64) iter.Seq2[int, float64] {
	return func(yield func(int, float64) bool) {
		near := slices.Repeat([]float64{math.Inf(1)}, p.N) // squared distance to the nearest of the set
		for {
			far := 0
			for i := range p.N {
				q := 0.0
				for j, x := range p.At(i) {
					q += (x - centre[j]) * (x - centre[j])
				}
				near[i] = min(near[i], q)
				if near[i] > near[far] {
					far = i
				}
			}
			if !yield(far, near[far]) {
				return
			}
			centre = p.At(far)
		}
	}
}

// crowd is how many rows of the set that LeastClusters looks at may share a cluster, before it gives up.
const crowd = 4

// LeastClusters returns a number of clusters below which DP-means cannot end on rows that contain p. It stops counting
// when that is above most. The error is that of ctx.
//
// DP-means ends with no row of weight 1 or more farther than sqrt(lambda) from its centre. Hence s rows of one cluster have
// at most s lambda as their squares about their own mean, and 2 lambda s/(s-1) as the mean of their squared distances from
// each other. Of rows that are all at least delta > 2 lambda apart, a cluster so holds at most delta/(delta - 2 lambda).
// Farthest-first traversal finds such rows. It costs less than the fit: n distances a row, at most four rows a cluster.
func LeastClusters(ctx context.Context, p *seed.Points, penalty float64, most int) (int, error) {
	p = heavy(p)
	if p.N == 0 {
		return 1, ctx.Err()
	}
	for i := range p.N { // rows closer than rounding share a cluster at any penalty
		penalty = max(penalty, noise(p.At(i)))
	}
	least, taken := 1, 1
	for _, delta := range farthestFirst(p, p.At(0)) {
		if delta <= 2*penalty || least > most || ctx.Err() != nil {
			break
		}
		together := int(min(delta/(delta-2*penalty)*(1+1e-9), crowd+1)) // not less by rounding
		if together > crowd {
			break
		}
		taken++
		least = max(least, (taken+together-1)/together)
	}
	return least, ctx.Err()
}

// heavy returns the rows of weight 1 or more.
func heavy(p *seed.Points) *seed.Points {
	q := &seed.Points{D: p.D}
	for i, w := range p.W {
		if w >= 1 {
			q.X, q.W = append(q.X, p.At(i)...), append(q.W, w)
			q.N++
		}
	}
	return q
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
