package selection

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/model"
)

// Ranked returns copies of the candidates that could win, the best by the criterion first; of those that are the same model, the first. The gap
// statistic does not choose its largest value: then the winner, with k components, comes first.
func Ranked(by plan.Criterion, all []model.Candidate, k int) (able []model.Candidate) {
	c := &choice{criterion: by}
	for _, x := range all {
		if c.usable(&x) && x.SameAs == "" {
			able = append(able, x)
		}
	}
	slices.SortStableFunc(able, func(a, b model.Candidate) int { return c.compare(&a, &b) })
	if by == plan.Gap { // the winner need not have the largest
		at := slices.IndexFunc(able, func(x model.Candidate) bool { return x.K == k })
		if at > 0 {
			win := able[at]
			able = slices.Insert(slices.Delete(able, at, at+1), 0, win)
		}
	}
	return able
}

// usable reports whether a candidate may win.
func (c *choice) usable(x *model.Candidate) bool {
	v := x.Value(string(c.criterion))
	return v == v && !x.Collapsed()
}

// compare orders candidates that may win, the best first, and of equal ones that with fewer components. Interrupted candidates stand where
// their values put them, which could only have become better.
func (c *choice) compare(a, b *model.Candidate) int {
	va, vb := a.Value(string(c.criterion)), b.Value(string(c.criterion))
	if c.criterion.Highest() {
		va, vb = -va, -vb
	}
	return cmp.Or(cmp.Compare(va, vb), cmp.Compare(a.K, b.K))
}

// before reports whether a is better than b.
func (c *choice) before(a, b *contender) bool {
	return cmp.Or(c.compare(&a.Candidate, &b.Candidate), cmp.Compare(a.order, b.order)) < 0
}

// finalResult returns the result of the winner: the same as that of a fit of its K and shape alone, but for the climb from a neighbour. Where a
// step is to be seen, or starts were stopped for the sake of other candidates, it climbs again.
func (c *choice) finalResult(ctx context.Context, win *contender, began time.Time) (*search.Result, error) {
	f, e := win.fit, win.outcome
	f.Plan.Threads, f.SharedSweeper, f.RequiredObjective = c.plan.Threads, nil, nil
	if err := f.Size(); err != nil {
		return nil, err
	}
	stopped := func(r search.Run) bool { return r.Forgone }
	if (c.see.Step != nil || slices.ContainsFunc(e.Runs, stopped)) && ctx.Err() == nil { // for the observer, or since alone no start would have been stopped
		f.Watch, f.StartSweeps, f.MoveSweeps, f.ConfirmSweeps = c.see.Step, 0, 0, 0
		again, err := f.Run(ctx)
		if err == nil && win.extraStart != nil {
			again.Moved, err = f.ClimbExtra(ctx, again, win.extraStart)
		}
		if err == nil && !again.Interrupted {
			e = again
		}
	}
	e.Interrupted = e.Interrupted || ctx.Err() != nil
	f.Climbed = c.see.Climbed
	return f.Finish(ctx, e, began)
}

// whyNone returns the error that says why no candidate could win.
func (c *choice) whyNone(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	floor := 0
	var reasons []string
	for _, x := range c.all {
		if x.AtFloor {
			floor++
		} else if !slices.Contains(reasons, x.Why) {
			reasons = append(reasons, x.Why)
		}
	}
	e := &DegenerateError{Candidates: len(c.all), AtFloor: floor, Reasons: reasons}
	said, err := c.aboutCollinear(ctx, "every group is at the variance floor")
	if err != nil {
		return err
	}
	e.collinear = said
	return e
}
