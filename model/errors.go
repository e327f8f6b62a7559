package model

import (
	"encoding/json"
	"math"
)

// StandardErrors are the standard errors of the natural parameters of a mixture, in the user's units and laid out like
// the Model's. The information behind them is the sum over rows of the outer products of their scores, under a prior that of the log
// posterior, and the delta method turns it into natural units. They hold where the model is right, the rows are independent and many, and the
// fit has finished.
type StandardErrors struct {
	Weights       Errors   // k mixing weights; nil where those are not learned, and of a hidden Markov model
	Initial       Errors   // hmm: as Model.Initial
	Transitions   []Errors // hmm: as Model.Transitions
	Noise         Errors   // the weight of the noise: one number; nil where there is none
	Means         []Errors // as Model.Means, of the d columns
	Covariance    []Errors // gmm, and the scales of t: as Model.Covariance, but d variances for 1 of columns that a transform scaled; after principal components theirs
	Loadings      []Errors // gmm with factors: as Model.Loadings, in their standard position; NaN of two factors that cannot be told apart
	Uniquenesses  []Errors // gmm with factors: as Model.Uniquenesses, one list a component; d numbers for 1 of columns that a transform scaled
	Dof           Errors   // t: as Model.Dof
	Probabilities []Errors // as Model.Probabilities
	Rates         []Errors // mixed: as Model.Rates
	Rows          int64    // rows looked at: all of positive weight, or a sample where that is much work
	Method        string   // "outer products", or under a prior "observed information" where rows and parameters are few
	Why           string   // why there are none

	of *Model // the model, which says how they are nested in JSON; nil: as they are here
}

// Errors are standard errors. A parameter on an edge, such as a probability of 0, has none: NaN, in JSON null.
type Errors []float64

// MarshalJSON writes null for NaN.
func (e Errors) MarshalJSON() ([]byte, error) {
	list := make([]*float64, len(e))
	for i := range e {
		if v := e[i]; v-v == 0 {
			list[i] = &v
		}
	}
	return json.Marshal(list)
}

// UnmarshalJSON reads null as NaN.
func (e *Errors) UnmarshalJSON(b []byte) error {
	var list []*float64
	if err := json.Unmarshal(b, &list); err != nil {
		return err
	}
	*e = make(Errors, len(list))
	for i, v := range list {
		(*e)[i] = math.NaN()
		if v != nil {
			(*e)[i] = *v
		}
	}
	return nil
}

// SetStandardErrors gives the model standard errors, which are then written as its parameters are: nested alike.
func (m *Model) SetStandardErrors(e *StandardErrors) {
	if m.StandardErrors = e; e != nil {
		e.of = m
	}
}
