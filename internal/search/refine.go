package search

import (
	"context"
	"math"

	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
)

const (
	// refineFrom is how many times the rows must outnumber the sample for starts to climb on the sample first.
	refineFrom = 4
	// surelyBeaten is how many standard deviations of the difference a start must be below the best on the sample to climb no more.
	surelyBeaten = 5
	// refineNear is the distance from their maxima on the sample, in standard errors, at which starts leave it: the maxima of all rows
	// are some standard errors of the sample away.
	refineNear = 1
)

// refine lets the starts climb on the sample p that they were drawn from, and returns where they ended. On all rows a few passes are then
// left of a hundred or more: the maxima of the sample are a few standard errors of all rows away, and starts have left its saddles. A start
// that ends with a degenerate component is returned as it was. One that is surely lower than the best, by the rows' differences in log
// density, is marked in f.beaten.
func (f *Fit) refine(ctx context.Context, p *seed.Points, thetas [][]float64) ([][]float64, error) {
	s := f.onPoints(p)
	if s.Plan.Tol > 0 {
		s.Plan.Tol = max(s.Plan.Tol, refineNear)
	}
	runs, err := s.Climb(ctx, thetas, nil, false)
	if err != nil {
		return nil, err
	}
	best := -1
	scores := make([][]float64, len(runs)) // log densities of the rows; nil with a degenerate component
	for i, r := range runs {
		if r.Err != nil {
			return nil, r.Err
		}
		if s.Degenerate(r.Last.Point) {
			continue
		}
		thetas[i] = r.Last.Point.Theta
		err := s.Local.Rows(ctx, s.Mix, thetas[i], func(rows *sweep.Scored) error {
			scores[i] = append(scores[i], rows.LogDensity...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if best < 0 || ObjectiveOf(r.Last.Point) > ObjectiveOf(runs[best].Last.Point) {
			best = i
		}
	}
	f.beaten = make([]bool, len(runs))
	for i, score := range scores {
		f.beaten[i] = score != nil && lead(p.W, scores[best], score) > surelyBeaten
	}
	return thetas, nil
}

// lead returns how many standard deviations the sum of the rows' differences a - b, by their weights w, is above 0; 0 where it is not
// above 0.
func lead(w, a, b []float64) float64 {
	var sum, total float64
	for i, w := range w {
		sum, total = sum+w*(a[i]-b[i]), total+w
	}
	spread := 0.0
	for i, w := range w {
		off := w * (a[i] - b[i] - sum/total)
		spread += off * off
	}
	if sum <= 0 {
		return 0
	}
	return sum / math.Sqrt(spread)
}
