package ascent

import (
	"math"
	"slices"
)

// Constants of Newton's steps on the way to the optimum.
const (
	// newtonNear is the estimated distance from the optimum, in standard errors, from which on Newton's steps are tried. The true distance
	// is some two times that.
	newtonNear = 0.3
	// newtonAfter is how many steps a climb takes first that knows nothing of the curvature: early on a climb may look as if it had ended.
	newtonAfter = 20
	// newtonReach is how long Newton's step may be, as a share of the longest step that a driver may try: beyond it the maximum that a
	// driver would climb to may be another.
	newtonReach = 0.1
	// newtonShare is the share of the squared distance that Newton's step may leave, if that is not within the tolerance anyway. With the
	// share of the certificate ten columns, four components ("10d") took two sweeps more.
	newtonShare = 0.003
	// newtonUpTo is how many parameters there may be. What products have told is kept, two vectors each: a gigabyte for a million parameters.
	newtonUpTo = 20_000
	// newtonGain is the share of the gain promised that Newton's step must bring.
	newtonGain = 0.25
)

// newtons takes truncated steps of Newton's method from s, which has been told, as long as each leads closer (Dembo, Eisenstat and
// Steihaug 1982). Their equations are solved by conjugate gradients, preconditioned by what driver and products have learned of the curvature
// (Morales and Nocedal 2000). Near the optimum they need fewer sweeps than L-BFGS, and the last solution is the certificate. Where
// one was taken and no other follows, the climb is to begin again from there. Only drivers that keep a memory are helped so.
func (w *watch) newtons(s Step) (on, again bool) {
	moved, before := false, math.Inf(1)
	for {
		c, err := w.solved(&s)
		if c == nil && err == nil {
			break
		}
		var q *Step
		if err == nil && c.Distance <= before/2 {
			before = c.Distance
			q, err = w.newtonFrom(&s, c)
		}
		if err != nil {
			w.yield(Step{}, err)
			return false, false
		}
		if q == nil {
			w.near = min(w.near, s.Distance/4)
			break
		}
		w.spent -= w.cost // no loss
		w.explored = !c.AtLeast
		moved, s = true, *q
		if on, again = w.pass(&s); again || !on {
			return on, again
		}
	}
	w.explored = false
	if moved {
		w.base, w.known, w.leave, w.o.known = s.Iteration, s.Memory, s.Point.Theta, s.Point
	}
	return true, moved
}

// solved returns a certificate of s that has Newton's step from there, nil where that is not to be tried.
func (w *watch) solved(s *Step) (*Certificate, error) {
	switch {
	case s.Memory == nil || len(s.Point.Theta) > newtonUpTo || w.tol == 0 || w.TolLogLik > 0 || s.Point.Near == nil || s.Point.Beta != 1 || s.Searching || s.Iteration >= w.MaxIter:
		return nil, nil
	case s.Certificate != nil && s.Certificate.Distance > w.tol && s.Certificate.Curvature > level:
		return s.Certificate, nil
	case s.Certificate != nil || !(s.Distance <= w.near) || s.Iteration < newtonAfter && !w.knows || w.spent > w.o.n-w.spent+budget:
		return nil, nil
	}
	if far := unframed(s.Point, s.Memory.apply(s.Point, framed(s.Point, s.Point.Grad))); s.Point.Near.Reach(far) > newtonReach {
		return nil, nil
	}
	c, down, err := w.look(s, w.tol, products, nil)
	if err != nil {
		return nil, err
	}
	if down != nil || !(c.Curvature > level) {
		w.near = min(w.near, s.Distance/4)
		return nil, nil
	}
	return &c, nil
}

// newtonFrom takes Newton's step of c from s. It returns nil where that does not do what it promised.
func (w *watch) newtonFrom(s *Step, c *Certificate) (*Step, error) {
	p := s.Point
	if p.Near.Reach(c.newton) > newtonReach {
		return nil, nil
	}
	q, err := w.newton(p, c)
	if err != nil || !(q.F-p.F >= newtonGain*c.gain-slack*math.Abs(p.F)) || !slices.Equal(q.Held, p.Held) {
		return nil, err
	}
	memory := s.Memory.with(c.pairs)
	distance := memory.decrement(q)
	return &Step{Iteration: s.Iteration + 1, Sweeps: w.o.n, Point: q, Change: q.F - p.F, Distance: distance, Remaining: distance * distance / 2, Memory: &memory}, nil
}
