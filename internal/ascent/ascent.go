// Package ascent climbs the free energy: drivers that move a parameter vector uphill, one sweep an evaluation. It
// knows vectors only, no rows and no densities.
package ascent

import (
	"context"
	"iter"
	"math"
)

// An Objective evaluates the free energy and what a step needs, at the cost of one sweep.
type Objective interface {
	// Eval sweeps with theta, moved inside the floors of the family, at inverse temperature beta; +Inf means hard
	// labels. The point belongs to the caller.
	Eval(ctx context.Context, theta []float64, beta float64) (*Point, error)
}

// Point is one evaluation.
type Point struct {
	Theta   []float64
	Beta    float64
	F       float64   // free energy after the E-step at Theta, plus Prior, nats; minus the cost for k-means
	Prior   float64   // log prior density of Theta, nats, without constants; 0 where there is no prior
	LogLik  float64   // log-likelihood of Theta, nats
	Entropy float64   // sum of row weights times the entropy of responsibilities, nats
	Labels  uint64    // fingerprint of hard labels: equal where no label differs; 0 where there is none
	Weights []float64 // sum of row weights times responsibilities of each component
	Next    []float64 // the EM step: the M-step for these responsibilities
	Lifted  float64   // F after that M-step, with the responsibilities as they are
	Flat    []bool    // components that the floor regularises, though their covariance is above it; nil where that cannot be

	// Grad is the gradient of F at Theta, 0 at the parameters of Held; nil for hard labels and costs.
	Grad []float64
	// Whole is the gradient at all parameters, those of Held included.
	Whole []float64
	// Held tells which parameters sit on a floor that the M-step does not leave: an active set, which only Next moves.
	Held []bool
	// Leaves tells that EM moves some probability off 0 or 1: the point is no optimum, however small its gradient.
	Leaves bool
	// Edge is the free energy, nats, that probabilities on their way to 0 or 1 have still to gain: those of Held that EM still
	// moves.
	Edge float64
	// Near is what is known of the surroundings; nil where Grad is.
	Near Geometry
}

// Geometry is the complete-data information at a point: the metric in which EM's step is the gradient. It comes from
// the sums of the point's own sweep, so that no method costs a pass.
type Geometry interface {
	// Precondition sets z to the inverse of the complete-data information times q. z and q may be the same slice.
	Precondition(z, q []float64)
	// Multiply sets q to the complete-data information times the move z. q and z must not overlap.
	Multiply(q, z []float64)
	// Length returns the length of the move z in that metric: standard errors, were the labels known.
	Length(z []float64) float64
	// Reach returns how far the move z goes in units of the longest that a driver may try in one step.
	Reach(z []float64) float64
	// Nudge adds small random moves to theta, in all components.
	Nudge(theta []float64, normal func() float64)
	// Part does so only to components that have become the same as others, and reports whether there are any.
	Part(theta []float64, normal func() float64) bool
}

// Curved is a Geometry whose metric changes from point to point, but far less so in a frame that goes with the point: for
// axes the turns about themselves. What a driver remembers of other points it keeps in their frames.
type Curved interface {
	Geometry
	// Framed sets f to the gradient g in the frame of the point. f and g may be the same slice.
	Framed(f, g []float64)
	// PreconditionFramed is Precondition in the frame: of a gradient and to a move there.
	PreconditionFramed(z, q []float64)
	// Unframed sets z to the move of theta that the move w in the frame begins with. z and w may be the same slice.
	Unframed(z, w []float64)
	// Along sets theta to where the move w in the frame leads.
	Along(theta, w []float64)
	// Between sets w, a move in the frame, to the one that led to theta, which may have been moved inside the floors since.
	// It returns false where theta has another frame than w led to.
	Between(w, theta []float64) bool
}

// Step is where a driver stands after an evaluation it accepted.
type Step struct {
	Iteration int // accepted steps so far; 0 is the start
	Sweeps    int // evaluations so far
	Point     *Point
	// Halves tells that the step was an E-step and that Point.Next is an M-step the driver takes: the two halves of EM.
	Halves bool
	// Change is the rise of F over the step before, nats; 0 at the start, and NaN where the step before had another beta.
	Change float64
	// Distance estimates how far Theta is from the optimum, in standard errors; NaN where it is not known yet.
	Distance float64
	// Remaining estimates the free energy still to gain, nats; NaN where it is not known yet.
	Remaining float64
	// Searching tells that the driver is still looking for a better maximum, at a temperature or on a schedule: how far the
	// maximum of this basin is does not matter yet.
	Searching bool
	// Kept counts the moves of hard.Breathing that were kept so far.
	Kept int
	// Memory is what the driver knows of the curvature around Point; nil where it keeps nothing. The next step changes it.
	Memory *Memory
	// Certificate is what was found where the climb was looked at closely; nil elsewhere.
	Certificate *Certificate
	// Done is why the driver stops here; Going on all steps but the last.
	Done Reason
}

// InHalves reports whether the step is an E-step that an M-step follows: of EM, or of hard labels.
func (s *Step) InHalves() bool { return s.Halves || math.IsInf(s.Point.Beta, 1) }

// Reason is why a driver stopped.
type Reason uint8

// Reasons to stop. Those after Flat mean that the demand was met.
const (
	Going      Reason = iota
	Limit             // the number of iterations allowed is used up
	Flat              // F cannot tell steps apart any more, but the distance demanded is not certified
	Close             // the certified distance is within tolerance
	FixedPoint        // the step changes nothing: no label moves, or nothing above rounding
	LogLik            // the mean log-likelihood changed by less than was asked for
	Shift             // the centres moved by less than was asked for
)

// Converged reports whether the driver met its demand.
func (r Reason) Converged() bool { return r > Flat }

// EstimateAfter is how many steps a driver's own estimate of the distance needs to mean anything.
const EstimateAfter = 6

// A Driver climbs from theta and yields every step it accepts, the start first. The loop body may record, draw or
// stop; a driver that was stopped leaves nothing running. An error ends the sequence.
type Driver interface {
	Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error]
}

// unknown is the distance where none can be told.
var unknown = math.NaN()
