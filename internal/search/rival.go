package search

import "github.com/latent-go/latent/internal/ascent"

// Constants of the race of candidates.
const (
	rivalGap  = 10 // nats that a climb which is stopped must be behind, beside
	rivalSure = 20 // times what it can still gain by its own estimate
	// rivalNear is the estimated distance from its own end, in standard errors, within which a climb that began at a top of
	// the sample may be stopped. Others are held to raceNear: early on a climb may look as if it had ended long before a small
	// component has found its place. With 5, after ten steps, the end of fifteen components was 280 nats off, not the ten
	// that were estimated.
	rivalNear = 1
)

// rival is what the climbs of a candidate know of the others.
type rival struct {
	required func() float64 // the objective that one must reach for the candidate to be chosen
	near     float64        // see rivalNear
}

// cannotWin reports whether a climb will not reach the objective that it must.
func (r *rival) cannotWin(s ascent.Step) bool {
	return s.Point != nil && s.Point.Beta == 1 && s.Iteration >= raceSteps && s.Distance < r.near && s.Point.F+rivalGap+rivalSure*s.Remaining < r.required()
}
