package selection

import (
	"math"

	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
)

// Candidates that share passes race: one that cannot become the best any more stops. Superfluous components settle slowly: with eight
// clusters in a million rows nine tenths of the time went into fits of ten components and more, all of which were worse by a hundred or more
// in BIC.

// otherMaximum is by how much the gain of another local maximum on the sample is multiplied, to be cautious, before a candidate that was
// stopped is denied a climb to it on all rows.
const otherMaximum = 3

// races reports whether the criterion follows from the log-likelihood that a climb reaches.
func (c *choice) races() bool { return c.criterion == plan.BIC || c.criterion == plan.AIC }

// criterionAt returns the criterion of a candidate at an objective.
func (c *choice) criterionAt(f *search.Fit, objective float64) float64 {
	return c.parameterCost(f) - 2*f.UserObjective(objective)
}

// objectiveFor returns the objective at which a candidate has a value of the criterion: the inverse of criterionAt.
func (c *choice) objectiveFor(f *search.Fit, value float64) float64 {
	return math.Ldexp((c.parameterCost(f)-value)/2, f.Units.WeightPower) - f.LogJacobian()
}

// parameterCost returns what the criterion charges for the parameters of a candidate.
func (c *choice) parameterCost(f *search.Fit) float64 {
	free := float64(f.Mix.Free())
	if c.criterion == plan.AIC {
		return 2 * free
	}
	return free * math.Log(f.Weight())
}

// reachedValue returns the criterion of a candidate's outcome, if it could win; else +Inf.
func (c *choice) reachedValue(f *search.Fit, e *search.Outcome) float64 {
	s := e.Winner().Last
	if how, _ := f.Collapsed(s.Point); how != search.Sound || !s.Done.Converged() || !c.races() {
		return math.Inf(1)
	}
	return c.criterionAt(f, search.ObjectiveOf(s.Point))
}
