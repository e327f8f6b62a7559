package search

import "github.com/latent-go/latent/internal/ascent"

// A climb is stopped for the sake of other candidates where the objective it must reach is more than rivalGap nats, and rivalSure times
// what it can still gain by its own estimate, above it.
const (
	rivalGap  = 10
	rivalSure = 20
	// rivalNear is the estimated distance from its own optimum, in standard errors, within which a climb that began at a maximum of
	// the sample may be stopped. Others are held to raceNear: early on a climb may look as if it had ended, long before a small
	// component has found its place. With 5, after ten steps, fifteen components had 280 nats left to gain, not the ten that were
	// estimated.
	rivalNear = 1
)

// rival is what the climbs of a candidate know of the other candidates.
type rival struct {
	required func() float64 // returns the objective that a climb must reach for the candidate to be chosen
	near     float64        // estimated distance in standard errors within which a climb may be stopped
}

// cannotWin reports whether a climb will not reach the objective that it must.
func (r *rival) cannotWin(s ascent.Step) bool {
	return s.Point != nil && s.Point.Beta == 1 && s.Iteration >= raceSteps && s.Distance < r.near && ObjectiveOf(s.Point)+rivalGap+rivalSure*s.Remaining < r.required()
}
