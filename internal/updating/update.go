package updating

import (
	"context"
	"errors"
	"fmt"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// Updated is what came of an update.
type Updated struct {
	Model     *model.Model
	Converged bool
	Passes    int // over the new rows
}

// Update goes on with the fit of m by the rows of src, in the model's columns and the user's units, and what m keeps of the rows before, whose
// weights are multiplied by forget.
func Update(ctx context.Context, src data.Source, m *model.Model, forget float64, threads int) (*Updated, error) {
	if m.Sums == nil {
		return nil, plan.Errorf("the model holds no sums of its rows; fit it with --keep-sums")
	}
	if !(forget > 0 && forget <= 1) {
		return nil, fmt.Errorf("forget is %v; it must be above 0 and at most 1", forget)
	}
	p, err := newPass(ctx, src, m, m.Sums.Origin, forget*m.Sums.Weight, threads)
	if err != nil {
		return nil, err
	}
	before, err := score(ctx, src, m, threads)
	if err != nil {
		return nil, err
	}
	all := &joint{p.fit.Local, p.fit.Mix, p.stats(m.Sums, forget), p.theta}
	p.fit.SharedSweeper = all
	run := p.fit.ClimbWith(ctx, p.fit.Driver(0), p.theta, nil)
	switch {
	case run.Err != nil:
		return nil, run.Err
	case run.Last.Point == nil:
		return nil, errors.New("no step could be evaluated")
	}
	theta := run.Last.Point.Theta
	s, err := p.sums(ctx, all, theta)
	if err != nil {
		return nil, err
	}
	next := p.fit.InOwnOrder(theta, run.Last.Point)
	after, err := score(ctx, src, next, threads)
	if err != nil {
		return nil, err
	}
	u := &Updated{Model: next, Converged: run.Last.Done.Converged(), Passes: run.Sweeps}
	next.Spec = m.Spec
	next.Sums = p.kept(s, m.Sums.Rows+p.fit.Survey.Used, pooled(m.Sums.LogDensity, forget*m.Sums.Weight, after.Spread, after.weight))
	_ = before
	return u, nil
}

// pooled returns the spread over rows of weight v with the spread a and others of weight w with the spread b (Chan, Golub, LeVeque 1983).
func pooled(a model.Spread, v float64, b model.Spread, w float64) model.Spread {
	share, off := w/(v+w), b.Mean-a.Mean
	return model.Spread{Mean: a.Mean + share*off, Variance: a.Variance + share*(b.Variance-a.Variance) + share*(1-share)*off*off}
}
