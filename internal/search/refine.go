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
	// surelyBeaten is by how many of its standard deviations a start must be below the best on the sample to climb no more.
	surelyBeaten = 5
	// refineNear is the distance from their tops on the sample, in standard errors, at which starts leave it: those of all
	// rows are some standard errors of the sample away.
	refineNear = 1
)

// refine lets the starts climb on the sample that they were drawn from. On all rows a few passes are then left of a hundred
// or more: the maxima on the sample are a few standard errors of all rows away, and its saddles are left there. A start that ends with a
// Degenerate component there is left as it was; one that is surely lower than the best, by the rows' differences in log density, is marked as beaten.
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
	scores := make([][]float64, len(runs)) // of the rows, nil with a degenerate component
	for i, r := range runs {
		if r.Err != nil {
			return nil, r.Err
		}
		if s.Degenerate(r.Last.Point) {
			continue
		}
		thetas[i] = r.Last.Point.Theta
		err := s.Local.Rows(ctx, f.Mix, thetas[i], func(rows *sweep.Scored) error {
			scores[i] = append(scores[i], rows.LogDensity...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if best < 0 || r.Last.Point.F > runs[best].Last.Point.F {
			best = i
		}
	}
	f.beaten = make([]bool, len(runs))
	for i, score := range scores {
		f.beaten[i] = score != nil && lead(p.W, scores[best], score) > surelyBeaten
	}
	return thetas, nil
}

// lead returns by how many standard deviations the sum of the rows' differences a - b, weighted, is above 0.
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
