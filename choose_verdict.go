package latent

import (
	"fmt"
	"math"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// Bounds of a difference in BIC, AIC or ICL.
const (
	flatMargin  = 2
	clearMargin = 10
)

// addCandidates adds the candidates to the result of the winner, and how they compare.
func (c *choice) addCandidates(r *Result, left []string) {
	for _, x := range c.all {
		r.Candidates = append(r.Candidates, x.Candidate)
	}
	r.Choice = &model.Choice{Criterion: string(c.criterion), Highest: c.criterion.Highest(), Penalty: c.penalty, LeftOut: left, From: c.best.From}
	r.Choice.Largest = r.K == c.hi && c.hi < c.distinct && c.hi > c.lo
	r.Choice.Smallest = r.K == c.lo && c.lo > c.fewest() && c.hi > c.lo
	if c.judges != nil {
		r.Choice.Rows, r.Choice.Least = c.best.judged.rows, c.best.judged.least
	}
	if c.refs != nil {
		r.Choice.GapRows, r.Choice.GapSets = c.refs.rows, gapReferences
	}
	r.Choice.Reached = c.reached(r)
	r.Choice.Doubts = c.doubts(r)
	best := r.Ranked()
	if len(best) < 2 || c.criterion == plan.Gap {
		return
	}
	margin := math.Abs(best[1].Value(string(c.criterion)) - best[0].Value(string(c.criterion)))
	r.Choice.Margin = &margin
	switch {
	case r.LogLik == nil || c.criterion == plan.Silhouette: // inertia and silhouettes have no scale of evidence
	case margin < flatMargin:
		r.Choice.Verdict = "flat"
	case margin >= clearMargin && r.Choice.Doubts == nil:
		r.Choice.Verdict = "clear"
	default:
		r.Choice.Verdict = "fair"
	}
}

// fewest is the lowest K that the criterion has a value of.
func (c *choice) fewest() int {
	if c.criterion == plan.Silhouette {
		return 2
	}
	return 1
}

// reached returns how many climbs ended where the winner did.
func (c *choice) reached(r *Result) int {
	n := r.Starts.AgreeWithBest + c.best.met
	if c.best.From == "" && r.Starts.Moves != nil && r.Starts.Moves.Kept > 0 {
		n++
	}
	return n
}

// doubts says what keeps a choice from being clear.
func (c *choice) doubts(r *Result) (doubts []string) {
	doubt := func(format string, a ...any) { doubts = append(doubts, fmt.Sprintf(format, a...)) }
	switch {
	case r.Interrupted:
		doubt("the choice was interrupted")
	case !r.Converged:
		doubt("the best fit has not finished")
	}
	switch {
	case r.Choice.Largest && c.plan.Open():
		doubt("k = %d is the largest that is tried unasked; -k %d:%d tries more", r.K, c.lo, 2*c.hi)
	case r.Choice.Largest:
		doubt("k = %d is the largest of the range; -k %d:%d tries more", r.K, c.lo, 2*c.hi)
	case r.Choice.Smallest:
		doubt("k = %d is the smallest of the range; -k %d:%d tries fewer", r.K, c.fewest(), c.hi)
	}
	if r.LogLik != nil && r.K > 1 && !r.Interrupted && r.Choice.Reached < 2 {
		doubt("only one climb reached it")
	}
	return doubts
}
