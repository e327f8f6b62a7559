package model

// Provenance is what a model file remembers of its fit.
type Provenance struct {
	Data        string      `json:"data,omitempty"` // the name of the data, as given
	Rows        int64       `json:"rows"`           // rows of positive weight
	Weight      float64     `json:"weight_total"`
	Dropped     int64       `json:"dropped_rows"`
	Converged   bool        `json:"converged"`
	Interrupted bool        `json:"interrupted,omitempty"`
	Algorithm   string      `json:"algorithm"`
	Why         string      `json:"algorithm_why,omitempty"`
	Free        int         `json:"free_parameters,omitempty"`
	Init        string      `json:"init"`
	Seed        uint64      `json:"seed"`
	Iterations  int         `json:"iterations"`
	Sweeps      int         `json:"sweeps"`
	SweepsTotal int         `json:"sweeps_total"`
	Moves       int         `json:"moves_kept,omitempty"`
	Starts      Starts      `json:"starts"`
	GroupRows   []int64     `json:"component_rows"` // rows that carry each label
	AtFloor     []bool      `json:"at_floor"`
	ICL         *float64    `json:"icl,omitempty"`
	Inertia     *float64    `json:"inertia,omitempty"`
	Penalty     *float64    `json:"penalty,omitempty"`
	Objective   *float64    `json:"objective,omitempty"`
	ColumnSD    []float64   `json:"column_sd,omitempty"`
	Truth       *Truth      `json:"truth,omitempty"`
	Choice      *Choice     `json:"choice,omitempty"` // how K and the shape were chosen, where they were, and from what
	Candidates  []Candidate `json:"candidates,omitempty"`
	Stability   *Stability  `json:"stability,omitempty"`
	LRT         *LRT        `json:"lrt,omitempty"`
	Warnings    []string    `json:"warnings"`
	Version     string      `json:"version"`
}
