package model

// Provenance is what a model file remembers of its fit.
type Provenance struct {
	Data      string    `json:"data,omitempty"`      // the name of the data, as given
	Rows      int64     `json:"rows"`                // rows of positive weight
	Sequences int64     `json:"sequences,omitempty"` // hmm: sequences fitted
	Missing   *Missing  `json:"missing,omitempty"`   // nil where every cell had a value
	LeftOut   []LeftOut `json:"left_out,omitempty"`  // columns of the data that are no features, though nobody left them out
	Course
	GroupRows []int64  `json:"component_rows"`       // rows that carry each label
	NoiseRows int64    `json:"noise_rows,omitempty"` // rows that carry the label 0, of noise
	AtFloor   []bool   `json:"at_floor"`
	ICL       *float64 `json:"icl,omitempty"`
	Inertia   *float64 `json:"inertia,omitempty"`
	Findings
}

// Missing says what the rows that were fitted lacked.
type Missing struct {
	Cells     int64 `json:"cells"`
	Rows      int64 `json:"rows"`       // rows that lack a cell
	Patterns  int64 `json:"patterns"`   // sets of columns that a row lacks, the empty one of complete rows among them
	EmptyRows int64 `json:"empty_rows"` // rows without any cell, which are not fitted
}

// LeftOut is a column that is no feature, and why.
type LeftOut struct {
	Column string `json:"column"`
	Why    string `json:"why"`
}

// Course is how a fit went. A result and a model file tell it alike.
type Course struct {
	TotalWeight    float64 `json:"weight_total"` // sum of row weights
	Dropped        int64   `json:"dropped_rows"`
	Converged      bool    `json:"converged"`
	Interrupted    bool    `json:"interrupted,omitempty"`
	Algorithm      string  `json:"algorithm"`
	Why            string  `json:"algorithm_why,omitempty"` // why it was chosen, where that was left to the fit
	FreeParameters int     `json:"free_parameters,omitempty"`
	Init           string  `json:"init"`
	Seed           uint64  `json:"seed"`
	Iterations     int     `json:"iterations"`           // accepted steps of the winning start
	Sweeps         int     `json:"sweeps"`               // passes of the winning start
	SweepsTotal    int     `json:"sweeps_total"`         // passes of all starts
	Moves          int     `json:"moves_kept,omitempty"` // breathing: moves that the winning start kept
	Starts         Starts  `json:"starts"`
}

// Findings are what a fit found beside its model. A result and a model file tell them alike.
type Findings struct {
	Prior        *Prior   `json:"prior,omitempty"`         // with Spec.Prior: its numbers
	LogPrior     *float64 `json:"log_prior,omitempty"`     // and its log density at the parameters, nats, without constants
	LogPosterior *float64 `json:"log_posterior,omitempty"` // what was climbed: the log-likelihood plus LogPrior

	Penalty    *float64    `json:"penalty,omitempty"`   // DP-means: the price of a cluster
	Objective  *float64    `json:"objective,omitempty"` // DP-means: inertia + penalty k
	ColumnSD   []float64   `json:"column_sd,omitempty"` // standard deviations of the columns over all rows, in the user's units; 0 for categories beside other columns; nil where all are bits or categories, and where no fit told them
	Truth      *Truth      `json:"truth,omitempty"`
	ELBO       *float64    `json:"elbo,omitempty"`       // variational Bayes: the evidence lower bound in the user's units, nats
	KMax       int         `json:"k_max,omitempty"`      // variational Bayes: the most components, of which K are in use
	Choice     *Choice     `json:"choice,omitempty"`     // where K or the covariance shape was chosen: how
	Candidates []Candidate `json:"candidates,omitempty"` // and from what, the fewest components first
	Clusters   *Clusters   `json:"clusters,omitempty"`   // with Spec.Merge: which components make one cluster
	Stability  *Stability  `json:"stability,omitempty"`  // with Spec.Bootstrap
	LRT        *LRT        `json:"lrt,omitempty"`        // with Spec.LRT
	Update     *Update     `json:"update,omitempty"`     // where rows that came later have updated the model: the last time
	Warnings   []Warning   `json:"warnings"`
	Version    string      `json:"version"` // of this package
}
