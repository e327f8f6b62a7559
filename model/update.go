package model

import "fmt"

// Update is what a model remembers of the last update, which went on with the fit by rows that came later. What it says is of those rows, and
// of the model's sums of the rows before them, which were not there any more.
type Update struct {
	Count     int     `json:"count"`      // updates so far, this one included
	Rows      int64   `json:"rows"`       // new rows of positive weight
	Weight    float64 `json:"weight"`     // the sum of their weights
	OldRows   int64   `json:"old_rows"`   // rows that were gone
	OldWeight float64 `json:"old_weight"` // what they had counted
	Forget    float64 `json:"forget"`     // what their weights were multiplied by
	Converged bool    `json:"converged"`
	Passes    int     `json:"passes"` // over the new rows
	// How well the model explains the rows: of a mixture the mean log density of a row, in nats and in the user's units, and of centres the mean
	// squared distance. The other one is nil.
	LogDensity *Explained `json:"mean_log_density,omitempty"`
	Distance   *Explained `json:"mean_squared_distance,omitempty"`
}

// Explained compares how well a model explains new rows with how well it had explained those before.
type Explained struct {
	Old     float64 `json:"old"`     // rows that are gone, each by the model of its time
	New     float64 `json:"new"`     // new rows, by the model before the update
	Updated float64 `json:"updated"` // new rows, by the model after it
	// Apart is how many standard errors New is from what would be expected of it, were the new rows like the old ones; a row explained
	// worse counts as below 0.
	Apart float64 `json:"standard_errors_apart"`
}

// check wants counts that are not negative.
func (u *Update) check() error {
	switch {
	case !(u.Forget > 0 && u.Forget <= 1):
		return fmt.Errorf("forget: it is %v; it must be above 0 and at most 1", u.Forget)
	case !(u.Weight >= 0 && u.OldWeight >= 0):
		return fmt.Errorf("weight, old_weight: they are %v and %v; a sum of row weights is not negative", u.Weight, u.OldWeight)
	}
	return notNegative("count", u.Count, "rows", u.Rows, "old_rows", u.OldRows, "passes", u.Passes)
}
