package tell

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/text"
)

// Trust is the sentence that says whether the computation has finished, what is not known of its end, and how many of the starts ended
// there. r is one of a fit or of a model file.
func Trust(r *latent.Result) string {
	switch {
	case r.ByHand:
		return "Nothing was fitted: the model was written by hand."
	case r.Update != nil:
		return updated(r)
	case r.Starts.N == 0:
		return "The model file does not say whether the computation had finished."
	}
	return ended(r) + starts(r) + "."
}

// updated says what the last update of a model came to.
func updated(r *latent.Result) string {
	u := r.Update
	s := fmt.Sprintf("Updated %s, the last time by %s after %s that were not there any more; ", text.Count(u.Count, "time"), text.Count(u.Rows, "row"), text.Count(u.OldRows, "row"))
	if !u.Converged {
		return s + "the computation had not finished."
	}
	return s + "the computation finished."
}

// ended says how the computation ended.
func ended(r *latent.Result) string {
	after := text.Count(r.Iterations, "iteration")
	switch {
	case r.Interrupted:
		return "The computation was interrupted after " + after + ", not finished: this is the best so far"
	case !r.Converged && r.Reason == ascent.Flat:
		return "The computation has not finished: after " + after + " rounding hides what a further step would gain"
	case !r.Converged:
		return "The computation has not finished after " + after + ": raise --max-iter"
	case r.Reason == ascent.LogLik:
		return "The computation finished by --tol-loglik: how far the maximum is, is not known"
	case r.Reason == ascent.Shift:
		return "The computation finished by --tol-shift: some rows may still change their group"
	case r.Algorithm == "exact":
		return "The computation finished: no other division into groups has a lower inertia"
	case r.Certificate.DistanceSE != nil && *r.Certificate.DistanceSE > far:
		return fmt.Sprintf("The computation finished, %s standard errors from the maximum", About(*r.Certificate.DistanceSE))
	}
	return "The computation finished"
}

// far is the distance from the maximum, in standard errors, from which on it is told: a tenth of what the rows leave uncertain.
const far = 0.1

// starts says how many starts ended at the result, and what led there where none did.
func starts(r *latent.Result) string {
	s := r.Starts
	var none string
	switch {
	case s.AgreeWithBest > 0 && s.N > 1:
		return fmt.Sprintf("; %s of %s starts found this", text.Thousands(int64(s.AgreeWithBest)), text.Thousands(int64(s.N)))
	case s.AgreeWithBest > 0 && s.Moves != nil && s.Moves.Kept > 0:
		return "; two groups of the start were merged and another was split"
	case s.AgreeWithBest > 0:
		return ""
	case s.N > 1:
		none = fmt.Sprintf("; none of the %s starts found this", text.Thousands(int64(s.N)))
	default:
		none = "; the start did not find this"
	}
	switch {
	case r.Choice != nil && r.Choice.From != "":
		return none + ", continuing from " + r.Choice.From + " did"
	case s.Moves != nil && s.Moves.Kept > 0:
		return none + ", splitting and merging groups did"
	}
	return none
}

// Climbed says what the fit of a mixture climbed.
func Climbed(r *latent.Result) string {
	switch {
	case r.ELBO != nil:
		return "the evidence lower bound"
	case r.Prior != nil:
		return "log posterior"
	}
	return "log-likelihood"
}

// Certain says how far the final point of a mixture is from the maximum, and what was met on the way; empty where nothing is known of it.
func Certain(r *latent.Result) string {
	c := r.Certificate
	var parts []string
	switch {
	case c.DistanceSE != nil && c.Remaining != nil && c.Method != nil:
		guess := map[string]string{"estimate": "by a rough estimate ", "lower bound": "at least "}[*c.Method]
		parts = append(parts, fmt.Sprintf("%s%s standard errors from the maximum, %s nats of %s to gain", guess, About(*c.DistanceSE), About(*c.Remaining), Climbed(r)))
	case c.Why != "":
		parts = append(parts, c.Why)
	case r.Algorithm == "minibatch":
		parts = append(parts, "batches gain no more")
	case r.Converged && r.Reason != ascent.Shift && (r.LogLik == nil && c.Method == nil || r.Algorithm == "hard-em"):
		parts = append(parts, "no row changes its group any more")
	}
	if c.Saddles > 0 {
		parts = append(parts, "left "+text.Count(c.Saddles, "saddle point")+" on the way")
	}
	return strings.Join(parts, "; ")
}

// About writes an estimate for a reader: one digit, and nothing below a thousandth.
func About(v float64) string {
	switch {
	case v < 0.001:
		return "less than 0.001"
	case v < 1:
		return "about " + strconv.FormatFloat(v, 'g', 1, 64)
	}
	return "about " + text.Whole(v)
}
