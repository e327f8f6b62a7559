package latent

import (
	"fmt"
	"math"
)

// Choice says how K and the covariance shape were chosen.
type Choice struct {
	Criterion string `json:"criterion"`
	Highest   bool   `json:"higher_is_better"`
	// Margin is how far the second best is behind, nil where there is none. Verdict names it for the criteria of a
	// likelihood: "flat" below 2, "clear" from 10, else "fair" (Kass and Raftery 1995). Where there are Doubts a choice is at most fair.
	// The gap statistic has none: its rule holds each candidate beside the next.
	Margin  *float64 `json:"margin"`
	Verdict string   `json:"verdict,omitempty"`
	// Doubts say in words what keeps the choice from being clear, whatever its margin: the fit was interrupted or has not finished, K lies at the
	// edge of the range, or only one climb reached this end.
	Doubts []string `json:"doubts,omitempty"`
	// Reached is how many climbs ended where the winner did: from starts of its own, by moves after them, and from neighbours.
	Reached int `json:"reached,omitempty"`
	// Largest tells that the winner has the largest K that was tried, so that more may do better; Smallest that it has the smallest,
	// and that fewer were possible.
	Largest  bool     `json:"largest_k,omitempty"`
	Smallest bool     `json:"smallest_k,omitempty"`
	LeftOut  []string `json:"left_out,omitempty"` // mclust's codes of shapes that were not tried because they take long
	// TooLarge names what was not tried because its parameters or its work are too many for these rows: a shape by
	// mclust's code, or a shape from a number of groups on.
	TooLarge []string `json:"too_large,omitempty"`
	From     string   `json:"from,omitempty"`            // the winner's, where its climb began at another candidate
	Rows     int      `json:"silhouette_rows,omitempty"` // rows that silhouettes are of: all, or a sample
	// Least is how many rows of every group such a sample has at least, or all of its rows; 0 where it is all rows.
	Least   int      `json:"silhouette_rows_per_group,omitempty"`
	GapRows int      `json:"gap_rows,omitempty"` // rows of each of the reference sets; the inertia beside them is of all rows
	GapSets int      `json:"gap_sets,omitempty"` // sets of reference rows beside them
	Penalty *float64 `json:"penalty,omitempty"`  // of the elbow: what one more group saves on average over the range
}

// Bounds of a difference in BIC, AIC or ICL.
const (
	flatMargin  = 2
	clearMargin = 10
)

// tell adds the candidates to the result of the winner, and how they compare.
func (c *choice) tell(r *Result, left []string) {
	for _, x := range c.all {
		r.Candidates = append(r.Candidates, x.Candidate)
	}
	r.Choice = &Choice{Criterion: c.criterion, Highest: highest(c.criterion), Penalty: c.penalty, LeftOut: left, From: c.best.From}
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
	if len(best) < 2 || c.criterion == "gap" {
		return
	}
	margin := math.Abs(best[1].Value(c.criterion) - best[0].Value(c.criterion))
	r.Choice.Margin = &margin
	switch {
	case r.LogLik == nil || c.criterion == "silhouette": // inertia and silhouettes have no scale of evidence
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
	if c.criterion == "silhouette" {
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
	case r.Choice.Largest && c.spec.open():
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
