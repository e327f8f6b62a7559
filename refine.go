package latent

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
// degenerate component there is left as it was; one that is surely lower than the best, by the rows' differences in log density, is marked as beaten.
func (f *fit) refine(ctx context.Context, p *seed.Points, thetas [][]float64) ([][]float64, error) {
	s := f.on(p)
	if s.plan.Tol > 0 {
		s.plan.Tol = max(s.plan.Tol, refineNear)
	}
	runs, err := s.climb(ctx, thetas, nil, false)
	if err != nil {
		return nil, err
	}
	best := -1
	scores := make([][]float64, len(runs)) // of the rows, nil with a degenerate component
	for i, r := range runs {
		if r.err != nil {
			return nil, r.err
		}
		if s.degenerate(r.last.Point) {
			continue
		}
		thetas[i] = r.last.Point.Theta
		err := s.local.Rows(ctx, f.mix, thetas[i], func(rows *sweep.Scored) error {
			scores[i] = append(scores[i], rows.LogDensity...)
			return nil
		})
		if err != nil {
			return nil, err
		}
		if best < 0 || r.last.Point.F > runs[best].last.Point.F {
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
