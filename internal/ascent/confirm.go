package ascent

import (
	"context"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Confirm looks at the end of a climb more closely than a climb looks at each of its own: it multiplies with the information
// until it has seen every direction. It starts at that end. Where there is a way up it goes on by Climb; else the last step
// carries the certificate of the whole information.
//
// It is for few parameters: the information of p of them takes up to 2p sweeps and some p^3 operations.
type Confirm struct {
	Climb Finish // goes on where the end is none; MaxIter is what it may still take
	Done  Reason // why the climb had stopped
}

// Constants of Confirm.
const (
	// margin is what Newton's decrement is multiplied by before it is told. The information changes on the way to the optimum, most
	// where a probability goes to 0: along its logit F falls off as exp(t), and twice as much is left to gain as Newton's quadratic
	// model says, at sqrt 2 times the distance.
	margin = 1.5
	// rounds is how often the end may be left for a closer one.
	rounds = 6
	// edgeSteps is how many steps of EM are taken for probabilities on their way to 0 or 1.
	edgeSteps = 200
	// tiny is the distance, in standard errors, up to which an end stays where it is: what the information changes over it
	// is within the margin.
	tiny = 1e-3
)

// Steps implements Driver. The first step is the point at theta; iterations are counted from there.
func (c Confirm) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		e := ending{yield: yield}
		e.watch = newWatch(ctx, c.Climb, o, func(s Step, err error) bool {
			if e.stopped = err != nil; e.stopped {
				return yield(s, err)
			}
			if e.at = s; s.Done != Going { // not yet told: it is to be looked at
				return false
			}
			return e.pass()
		})
		p, err := e.watch.o.Eval(ctx, theta, 1)
		if err != nil {
			yield(Step{}, err)
			return
		}
		e.at = Step{Point: p, Sweeps: 1, Distance: unknown, Remaining: unknown, Done: c.Done}
		for round := 1; e.judge(round < rounds); round++ {
			if e.at.Done == Limit {
				break
			}
		}
		if e.err != nil {
			yield(Step{}, e.err)
		} else if !e.stopped {
			e.at.Sweeps = e.watch.o.n
			yield(e.at, nil)
		}
	}
}

// ending is one run of Confirm.
type ending struct {
	watch   *watch
	yield   func(Step, error) bool
	at      Step // where it stands: not yet yielded
	err     error
	stopped bool // the loop body wants no more, or has heard an error
}

// pass yields where it stands as a step on the way.
func (e *ending) pass() bool {
	s := e.at
	s.Done, s.Sweeps = Going, e.watch.o.n
	e.stopped = !e.yield(s, nil)
	return !e.stopped
}

// judge looks at where it stands. It returns true where that has moved and is to be looked at again, which it may do where
// more is true.
func (e *ending) judge(more bool) (again bool) {
	b := observed{ctx: e.watch.ctx, o: e.watch.o, at: e.at.Point, central: true}
	c, down, err := b.whole(e.watch.normal)
	if e.err = err; err != nil {
		return false
	}
	if more && e.at.Iteration < e.watch.MaxIter {
		if again = e.move(&c, down); again || e.ended() {
			return again && !e.ended()
		}
	}
	e.rest(&c)
	return false
}

// move leaves where it stands, whose certificate is c, for a place closer to the optimum, or for one higher up where down is a
// direction that may lead there. It returns false where there is none.
func (e *ending) move(c *Certificate, down []float64) (moved bool) {
	w, s := e.watch, &e.at
	if w.Tol > 0 && s.Point.edge() > w.Tol/2 && e.edges() || e.ended() {
		return true
	}
	closer := math.Sqrt(2*c.gain) > tiny || c.Curvature < ridge && c.gain > slack*math.Abs(s.Point.F)
	if closer && c.Curvature > -ridge && e.newton(c) || e.ended() {
		return true
	}
	if down != nil && w.left < leaves && !(s.Point.F-w.flat < rise) {
		s.Certificate = c
		off, err := w.off(s, down)
		if e.err = err; off || err != nil {
			return err == nil && e.climb(w.leave)
		}
	}
	if w.Tol > 0 && c.Distance > w.Tol { // the climb took itself to be closer
		w.factor *= min(max(2, c.Distance/w.Tol), 10)
		return e.climb(s.Point.Theta)
	}
	return false
}

// rest ends where it stands.
func (e *ending) rest(c *Certificate) {
	w, s := e.watch, &e.at
	if math.IsInf(c.Distance, 1) {
		c.Distance, c.Remaining = unknown, unknown
	}
	c.Saddles = w.left
	s.Certificate, s.Distance, s.Remaining = c, c.Distance, c.Remaining
	switch {
	case w.Tol > 0 && !(c.Distance <= w.Tol):
		if s.Done.Converged() {
			s.Done = Flat
		}
	case !s.Done.Converged() && s.Done != Limit:
		s.Done = Close
	}
}

// ended reports whether nothing more is to be done.
func (e *ending) ended() bool { return e.err != nil || e.stopped }

// newton takes Newton's step where that leads closer to the optimum. An end that is far from the optimum, but within tolerance
// and on no ridge, stays where it is: what is told of it is measured at the step, and +Inf where that does not fit.
func (e *ending) newton(c *Certificate) (moved bool) {
	w, p := e.watch, e.at.Point
	q, err := w.newton(p, c)
	if e.err = err; err != nil {
		return false
	}
	leads := q.F >= p.F-slack*math.Abs(p.F) && slices.Equal(q.Held, p.Held) && q.Slope() < p.Slope()
	if c.Distance > quadraticRange && c.Distance <= w.Tol && within(w.Tol, c.Curvature) == w.Tol {
		at := c.after(q)
		if !leads || !c.measured(p, q, &at) || c.Distance > w.Tol {
			c.Distance = math.Inf(1)
		}
		return false
	}
	if !leads && c.Distance > quadraticRange && c.Distance <= w.Tol {
		c.Distance = math.Inf(1) // the gradient grows where it should vanish: the optimum is elsewhere
	}
	if !leads || !e.pass() {
		return false
	}
	e.at.Iteration, e.at.Point, e.at.Change, e.at.Halves, e.at.Certificate = e.at.Iteration+1, q, q.F-p.F, false, nil
	return true
}

// edges takes steps of EM until the probabilities on their way to 0 or 1 have little left to gain: only EM moves them. It
// returns false where they have more after as many as are allowed.
func (e *ending) edges() bool {
	w, s := e.watch, &e.at
	for range edgeSteps {
		if s.Iteration >= w.MaxIter || s.Point.edge() <= w.Tol/4 {
			break
		}
		q, err := w.o.Eval(w.ctx, s.Point.Next, s.Point.Beta)
		if e.err = err; err != nil || !e.pass() {
			return false
		}
		s.Iteration, s.Point, s.Change, s.Halves, s.Certificate = s.Iteration+1, q, q.F-s.Point.F, false, nil
	}
	return s.Point.edge() <= w.Tol/2
}

// edge returns the distance, in standard errors, that what is to gain at the edge stands for.
func (p *Point) edge() float64 { return math.Sqrt(2 * p.Edge) }

// climb goes on from theta, and stands where that ends.
func (e *ending) climb(theta []float64) (again bool) {
	w := e.watch
	if !e.pass() {
		return false
	}
	w.base, w.last, w.spent, w.tol = e.at.Iteration+1, e.at.Point, 0, w.Tol
	for w.climb(theta) {
		theta = w.leave
	}
	return !e.stopped
}

// Slope returns the length of the gradient of p in its metric: Newton's decrement, were the labels known.
func (p *Point) Slope() float64 {
	z := make([]float64, len(p.Grad))
	p.Near.Precondition(z, p.Grad)
	mask(z, p.Held)
	return math.Sqrt(max(dot(p.Grad, z), 0))
}

// whole is the certificate of the whole information. down is a direction in which it is not positive, nil where there is
// none.
func (b *observed) whole(normal func() float64) (c Certificate, down []float64, err error) {
	g := slices.Clone(b.at.Grad)
	mask(g, b.at.Held)
	s := &spectrum{near: b.at.Near, held: b.at.Held, times: b.times}
	if err := s.whole(len(g), normal); err != nil {
		return c, nil, err
	}
	var n decrement
	for n = s.decrement(g); !n.told && len(s.moves) < len(g); n = s.decrement(g) { // equal eigenvalues have hidden some of it
		if !s.beginDual(n.rest) {
			break
		}
		if err := s.run(len(g)); err != nil {
			return c, nil, err
		}
	}
	held := drift(b.at)
	c = Certificate{Method: Information, Curvature: n.curvature, Whole: true, gain: n.square / 2, newton: n.move}
	c.Distance = math.Hypot(margin*math.Hypot(math.Sqrt(n.square), b.at.Near.Length(held)), b.at.edge())
	axpy(c.newton, 1, held)
	if n.curvature < level {
		down = n.down
		u := slices.Clone(b.at.Theta)
		if b.at.Near.Part(u, normal) { // to shift weight between equal components is as flat, and leads nowhere
			axpy(u, -1, b.at.Theta)
			down = u
		}
	}
	if n.curvature < -level {
		c.Distance, c.Why = unknown, upwards
	}
	c.Remaining = c.Distance * c.Distance / 2
	return c, down, nil
}

// decrement is what a spectrum makes of a gradient.
type decrement struct {
	square    float64   // g' I^-1 g, from above; what slopes along a flat direction counts as if its curvature were level
	move      []float64 // I^-1 g, without flat directions
	curvature float64   // the smallest eigenvalue; NaN where everything is held
	down      []float64 // its direction
	rest      []float64 // what of g the moves do not span
	told      bool      // rest adds little to square
}

// decrement returns Newton's decrement for the gradient g.
func (s *spectrum) decrement(g []float64) decrement {
	d := decrement{move: make([]float64, len(g)), curvature: unknown, rest: slices.Clone(g)}
	along := make([]float64, len(s.moves))
	for j, v := range s.moves {
		along[j] = dot(v, g)
		axpy(d.rest, -along[j], s.duals[j])
	}
	if values, vectors := s.t.eigen(); values != nil {
		d.curvature, d.down = values[0], s.direction(mat.Col(nil, 0, vectors))
		for i, value := range values {
			slope := 0.0
			for j, a := range along {
				slope += vectors.At(j, i) * a
			}
			d.square += slope * slope / max(math.Abs(value), level)
			if value >= level {
				axpy(d.move, slope/value, s.direction(mat.Col(nil, i, vectors)))
			}
		}
	}
	z := make([]float64, len(g))
	s.near.Precondition(z, d.rest)
	mask(z, s.held)
	axpy(d.move, 1, z)
	rest := max(dot(z, d.rest), 0) / max(d.curvature, level)
	d.told = !(rest > settled*d.square)
	d.square += rest
	return d
}
