package model

import (
	"math"
)

// Candidate is a number of components and a covariance shape that a choice has looked at. Numbers are nil where it could
// not be fitted, and Why says what kept it from winning.
type Candidate struct {
	K              int      `json:"k"`
	Covariance     string   `json:"covariance,omitempty"`
	Mclust         string   `json:"mclust,omitempty"`
	LogLik         *float64 `json:"log_likelihood"`
	FreeParameters *int     `json:"free_parameters"`
	BIC            *float64 `json:"bic"`
	AIC            *float64 `json:"aic"`
	ICL            *float64 `json:"icl"`
	Inertia        *float64 `json:"inertia,omitempty"`    // kmeans: weighted sum of squared distances; kmedians: of L1 distances
	Silhouette     *float64 `json:"silhouette,omitempty"` // where it is the criterion: the mean of the rows that Choice tells
	Gap            *float64 `json:"gap,omitempty"`        // where it is the criterion, and its standard error over the reference sets
	GapSE          *float64 `json:"gap_se,omitempty"`
	Objective      *float64 `json:"objective,omitempty"` // where the elbow is the criterion: inertia + Choice.Penalty k
	AtFloor        bool     `json:"at_floor"`            // a component sits on the floor of variances: it never wins
	Narrow         bool     `json:"narrow,omitempty"`    // a component of few rows is narrower, in some direction, than values are told apart: it never wins
	FewRows        bool     `json:"few_rows,omitempty"`  // a component holds fewer rows than a covariance of its own takes: it never wins
	Converged      bool     `json:"converged"`
	// Undetermined tells that the log-likelihood was found to be flat in some direction at its end: the rows do not determine
	// all parameters. Where parameters and rows are many only some directions are looked at.
	Undetermined bool   `json:"undetermined,omitempty"`
	Pruned       bool   `json:"outraced,omitempty"` // its climbs were stopped, since what they could still gain would not make it the best
	From         string `json:"from,omitempty"`     // another candidate at which the climb that got highest began, and what was done to it
	SameAs       string `json:"same_as,omitempty"`  // mclust's code of an earlier candidate of the same K that is the same model
	Why          string `json:"why,omitempty"`
}

// Collapsed reports whether a component of the candidate is degenerate, so that it never wins: AtFloor, Narrow or FewRows.
func (c *Candidate) Collapsed() bool { return c.AtFloor || c.Narrow || c.FewRows }

// Value returns a criterion of the candidate: "bic", "aic", "icl", "silhouette", "gap" or "elbow"; NaN where it has none.
func (c *Candidate) Value(criterion string) float64 {
	v := map[string]*float64{"bic": c.BIC, "aic": c.AIC, "icl": c.ICL, "silhouette": c.Silhouette, "gap": c.Gap, "elbow": c.Objective}[criterion]
	if v == nil || math.IsInf(*v, 0) {
		return math.NaN()
	}
	return *v
}

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
	// Reached is how many fits ended where the winner did: from its own starts, by moves after them, and from neighbouring candidates.
	Reached int `json:"reached,omitempty"`
	// Largest tells that the winner has the largest K that was tried, so that more may do better; Smallest that it has the smallest,
	// and that fewer were possible.
	Largest  bool     `json:"largest_k,omitempty"`
	Smallest bool     `json:"smallest_k,omitempty"`
	LeftOut  []string `json:"left_out,omitempty"` // mclust's codes of shapes that were not tried because they take long
	// TooLarge names what was not tried because its parameters or its work are too many for these rows: a shape by
	// mclust's code, or a shape from a number of groups on.
	TooLarge []string `json:"too_large,omitempty"`
	From     string   `json:"from,omitempty"`            // the winner's, where it was continued from another candidate
	Rows     int      `json:"silhouette_rows,omitempty"` // rows that silhouettes are of: all, or a sample
	// Least is how many rows of every group such a sample has at least, or all of its rows; 0 where it is all rows.
	Least   int      `json:"silhouette_rows_per_group,omitempty"`
	GapRows int      `json:"gap_rows,omitempty"` // rows of each of the reference sets; the inertia beside them is of all rows
	GapSets int      `json:"gap_sets,omitempty"` // sets of reference rows beside them
	Penalty *float64 `json:"penalty,omitempty"`  // of the elbow: what one more group saves on average over the range
}
