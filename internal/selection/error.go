package selection

import (
	"fmt"
	"strings"

	"github.com/latent-go/latent/internal/plan"
)

// DegenerateError is a choice in which no candidate can win: each has a degenerate component, or could not be fitted.
type DegenerateError struct {
	Candidates int
	AtFloor    int      // candidates with a component at the floor of variances
	Reasons    []string // why the others cannot win, each reason once

	collinear string // which columns put all on the floor, in terms of flags; empty where none do
}

// Error says why no candidate can be chosen.
func (e *DegenerateError) Error() string { return e.advice().Error() }

// Flags says the same in terms of the command's flags.
func (e *DegenerateError) Flags() string { return plan.FlagText(e.advice()) }

func (e *DegenerateError) advice() error {
	if e.collinear != "" {
		return plan.Errorf("no candidate can be chosen: %s", plan.Flags(e.collinear))
	}
	reasons := e.Reasons
	if e.AtFloor > 0 {
		reasons = append(reasons[:len(reasons):len(reasons)], fmt.Sprintf("in %d of %d a group collapsed to the variance floor: its rows are almost equal in some direction", e.AtFloor, e.Candidates))
	}
	return plan.Errorf("no candidate can be chosen: %s; -k N --covariance S fits one number of groups and one shape all the same", strings.Join(reasons, "; "))
}
