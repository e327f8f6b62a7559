package selection

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Bounds of the difference between the two best in BIC, AIC or ICL.
const (
	flatMargin  = 2  // below it the choice is flat: they are almost equally good
	clearMargin = 10 // from it on the choice is clear, if nothing makes it doubtful
)

// addCandidates adds to the result of the winner the candidates, how they compare, and the codes of the shapes left out.
func (c *choice) addCandidates(r *search.Result, left []string) {
	p, k := r.Model.Provenance, r.Model.K()
	for _, x := range c.all {
		p.Candidates = append(p.Candidates, x.Candidate)
	}
	p.Choice = &model.Choice{Criterion: string(c.criterion), Highest: c.criterion.Highest(), Penalty: c.penalty, LeftOut: left, From: c.best.From}
	p.Choice.Largest = k == c.hi && c.hi < c.distinct && c.hi > c.lo
	p.Choice.Smallest = k == c.lo && c.lo > c.fewest() && c.hi > c.lo
	if c.judges != nil {
		p.Choice.Rows, p.Choice.Least = c.best.judged.rows, c.best.judged.least
	}
	if c.refs != nil {
		p.Choice.GapRows, p.Choice.GapSets = c.refs.rows, gapReferences
	}
	p.Choice.Reached = c.reached(r)
	p.Choice.Doubts = c.doubts(r)
	best := Ranked(c.criterion, p.Candidates, k)
	if len(best) < 2 || c.criterion == plan.Gap {
		return
	}
	margin := math.Abs(best[1].Value(string(c.criterion)) - best[0].Value(string(c.criterion)))
	p.Choice.Margin = &margin
	switch {
	case r.Model.LogLik == nil || c.criterion == plan.Silhouette: // inertia and silhouettes have no scale of evidence
	case margin < flatMargin:
		p.Choice.Verdict = "flat"
	case margin >= clearMargin && p.Choice.Doubts == nil:
		p.Choice.Verdict = "clear"
	default:
		p.Choice.Verdict = "fair"
	}
}

// fewest returns the lowest K for which the criterion has a value.
func (c *choice) fewest() int {
	if c.criterion == plan.Silhouette {
		return 2
	}
	return 1
}

// reached returns how many climbs ended where the winner did: starts, splits and merges, and climbs from neighbours.
func (c *choice) reached(r *search.Result) int {
	starts := r.Model.Provenance.Starts
	n := starts.AgreeWithBest + c.best.agreeing
	if c.best.From == "" && starts.Moves != nil && starts.Moves.Kept > 0 {
		n++
	}
	return n
}

// doubts returns the reasons in words why the choice is not clear; nil where there are none.
func (c *choice) doubts(r *search.Result) (doubts []string) {
	p, k, part := r.Model.Provenance, r.Model.K(), c.plan.Part()
	doubt := func(format string, a ...any) { doubts = append(doubts, fmt.Sprintf(format, a...)) }
	switch {
	case p.Interrupted:
		doubt("the choice was interrupted")
	case !p.Converged:
		doubt("the best fit has not finished")
	}
	switch {
	case p.Choice.Largest && c.plan.OpenRange():
		doubt("%s the most that are tried without -k; -k %d:%d tries more", text.Are(k, part), c.lo, 2*c.hi)
	case p.Choice.Largest:
		doubt("%s the upper edge of the range; -k %d:%d tries more", text.Are(k, part), c.lo, 2*c.hi)
	case p.Choice.Smallest:
		doubt("%s the lower edge of the range; -k %d:%d tries fewer", text.Are(k, part), c.fewest(), c.hi)
	}
	if r.Model.LogLik != nil && k > 1 && !p.Interrupted && p.Choice.Reached < 2 {
		doubt("this result was reached only once; more starts (--n-init) would confirm it or find a better one")
	}
	return doubts
}

// collinear warns of collinear columns where they kept candidates from winning.
func (c *choice) collinear(ctx context.Context, r *search.Result) error {
	said, err := c.aboutCollinear(ctx, "candidates with full covariances are excluded because a group collapsed")
	if said != "" {
		r.WarnFirst(model.Warn(model.Collinear, "%s", said))
	}
	return err
}

// aboutCollinear names collinear columns, and says what becomes of candidates for that, where a candidate with matrices as covariances is at
// the floor of variances; "" elsewhere.
func (c *choice) aboutCollinear(ctx context.Context, becomes string) (string, error) {
	if !slices.ContainsFunc(c.all, func(x *contender) bool {
		return x.AtFloor && x.shape.Matrix()
	}) {
		return "", nil
	}
	return c.base.Collinear(context.WithoutCancel(ctx), becomes)
}
