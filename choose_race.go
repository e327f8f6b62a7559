package latent

import (
	"math"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/plan"
)

// Candidates that share passes race: one that cannot become the best any more stops. Components that the rows have no use
// for settle slowly: with eight clusters in a million rows nine tenths of the time went into fits of ten components and
// more, all of them a hundred behind in BIC.

// Constants of the race of candidates.
const (
	rivalGap  = 10 // nats that a climb which is stopped must be behind, beside
	rivalSure = 20 // times what it can still gain by its own estimate
	// rivalNear is the estimated distance from its own end, in standard errors, within which a climb that began at a top of
	// the sample may be stopped. Others are held to raceNear: early on a climb may look as if it had ended long before a small
	// component has found its place. With 5, after ten steps, the end of fifteen components was 280 nats off, not the ten
	// that were estimated.
	rivalNear = 1
	// otherMaximum is how many times what another local maximum gains on the sample must suffice for a candidate that was stopped
	// to climb to it.
	otherMaximum = 3
)

// races reports whether the criterion follows from the log-likelihood that a climb reaches.
func (c *choice) races() bool { return c.criterion == plan.BIC || c.criterion == plan.AIC }

// reach returns the criterion of a candidate whose climb has come to an objective.
func (c *choice) reach(f *fit, objective float64) float64 {
	return c.cost(f) - 2*f.userObjective(objective)
}

// objectiveFor returns the objective at which the candidate has a value of the criterion.
func (c *choice) objectiveFor(f *fit, value float64) float64 {
	return math.Ldexp((c.cost(f)-value)/2, f.units.weights) - f.jacobian()
}

// cost is what the criterion adds for the parameters of a candidate.
func (c *choice) cost(f *fit) float64 {
	free := float64(f.mix.Free())
	if c.criterion == plan.AIC {
		return 2 * free
	}
	return free * math.Log(f.weight())
}

// reachedValue returns the criterion of what a candidate came to, if it could win; else +Inf.
func (c *choice) reachedValue(f *fit, e *outcome) float64 {
	s := e.win().last
	if how, _ := f.collapsed(s.Point); how != sound || !s.Done.Converged() || !c.races() {
		return math.Inf(1)
	}
	return c.reach(f, s.Point.F)
}

// rival is what the climbs of a candidate know of the others.
type rival struct {
	need func() float64 // the objective that one must reach for the candidate to be chosen
	near float64        // see rivalNear
}

// cannotWin reports whether a climb will not reach the objective that it must.
func (r *rival) cannotWin(s ascent.Step) bool {
	return s.Point != nil && s.Point.Beta == 1 && s.Iteration >= raceSteps && s.Distance < r.near && s.Point.F+rivalGap+rivalSure*s.Remaining < r.need()
}
