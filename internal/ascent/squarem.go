package ascent

import (
	"context"
	"iter"
	"math"
)

// SQUAREM extrapolates pairs of EM steps (Varadhan and Roland 2008): with r the first step and v what the second adds
// to it, the parameters go to theta - 2 alpha r + alpha^2 v, where alpha = -|r|/|v| is the third of their step lengths.
// Where that is farther than a driver may go, or lower than the EM step just taken, alpha moves towards -1, which is the
// second EM step itself. A cycle is two sweeps: every evaluation brings the EM step from where it was made.
//
// Lengths are those of the complete-data metric where there is one, so units change nothing. On six mixtures, from the
// same starts to a gradient of 1e-4 standard errors, that took 1298 sweeps in all; lengths of the plain vector lost with
// 2606, an EM step after each extrapolation, as published, with 1945 and 1972.
type SQUAREM struct {
	MaxIter int // accepted steps allowed; 0 evaluates the start
}

// backs is how many extrapolations are tried before the EM step is taken.
const backs = 3

// Steps implements Driver. Where the objective has gradients, the step's Distance is the length of the gradient in the
// complete-data metric, a lower bound.
func (q SQUAREM) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		c := &climb{ctx: ctx, o: o, beta: 1, max: q.MaxIter, yield: yield}
		if !c.start(theta) {
			return
		}
		for {
			from := c.at
			p, ok := c.eval(from.Next)
			if !ok || !c.accept(p, gradient(p)) {
				return
			}
			p, ok = extrapolate(c, from)
			if !ok || !c.accept(p, gradient(p)) {
				return
			}
		}
	}
}

// extrapolate returns a point beyond two EM steps: the one taken from the point given to where the climb stands, and the
// one to come. It is the second EM step if no other is as high as where the climb stands. Parameters at a floor follow
// EM. It returns false if the climb is over.
func extrapolate(c *climb, from *Point) (*Point, bool) {
	at := c.at
	r, v := make([]float64, len(at.Theta)), make([]float64, len(at.Theta))
	for i := range r {
		r[i] = at.Theta[i] - from.Theta[i]
		v[i] = at.Next[i] - at.Theta[i] - r[i]
	}
	alpha := -length(at, r) / length(at, v)
	theta, move := make([]float64, len(r)), make([]float64, len(r))
	for tries := 0; tries < backs && alpha < -1.01 && !math.IsInf(alpha, -1); alpha = (alpha - 1) / 2 {
		for i := range theta {
			theta[i] = from.Theta[i] - 2*alpha*r[i] + alpha*alpha*v[i]
			if at.Held != nil && at.Held[i] {
				theta[i] = at.Next[i]
			}
			move[i] = theta[i] - at.Theta[i]
		}
		if at.Near != nil && !(at.Near.Reach(move) <= 1) {
			continue // costs no sweep
		}
		p, ok := c.eval(theta)
		if !ok || p.F >= at.F-slack*math.Abs(at.F) {
			return p, ok
		}
		tries++
	}
	return c.eval(at.Next)
}

// length returns the length of the move z at p: in the metric of p, if it has one.
func length(p *Point, z []float64) float64 {
	if p.Near != nil {
		return p.Near.Length(z)
	}
	return math.Sqrt(dot(z, z))
}
