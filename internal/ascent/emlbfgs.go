package ascent

import (
	"context"
	"iter"
	"math"
	"slices"
)

// EMLBFGS takes a few EM steps and then climbs by L-BFGS in the metric of the complete-data information: EM's own step
// is that metric's gradient step (Jamshidian and Jennrich 1997, QN2), the memory of recent steps corrects it for what
// the missing labels hide. It needs 5 to 27 times fewer sweeps than EM where components overlap.
//
// L-BFGS with a scaled identity in place of the metric lost: it ties only on two columns, and leaves the basin of its
// start more often.
type EMLBFGS struct {
	Warm    int // EM steps first; more of them keep more often to the maximum that EM ends at
	Memory  int // pairs of moves and gradient changes kept
	MaxIter int // accepted steps allowed; 0 evaluates the start
	// Known is what an earlier climb has learned of the curvature at the start; nil where nothing is known. It stays as it is.
	Known *Memory
}

// Constants of the line search.
const (
	armijo   = 1e-4  // share of the slope that a step must gain
	halvings = 6     // trials before the memory is dropped
	slack    = 1e-13 // rounding of F, relative
	// modesty multiplies the decrement in the driver's own matrix, which has seen only some directions: measured, it is
	// 0.6 to 0.9 of the true one near the end.
	modesty = 1.4
)

// Steps implements Driver. The step's Distance comes from the decrement in the driver's own matrix, sqrt(g' H g).
func (e EMLBFGS) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		c := climb{ctx: ctx, o: o, beta: 1, max: e.MaxIter, yield: yield}
		if !c.start(theta) {
			return
		}
		m := Memory{most: e.Memory}
		if e.Known != nil {
			m.s, m.y, m.sy = slices.Clone(e.Known.s), slices.Clone(e.Known.y), slices.Clone(e.Known.sy)
		}
		c.memory = &m
		for c.iteration < e.Warm && !c.ended {
			if !c.em(&m) {
				return
			}
		}
		for !c.ended {
			begins := c.iteration == 0 && len(m.s) > 0 // what the last step gained is not known
			if !begins && promised(c.at) > c.change {  // a step of EM gains more than the last one here did
				from := c.at
				if !c.em(&m) {
					return
				}
				if _, curved := from.Near.(Curved); !curved { // where frames turn, EM's step is no move in one
					m.keep(from, c.at, make([]float64, len(from.Theta)))
				}
				continue
			}
			p, move, ok := c.search(m.direction(c.at))
			if !ok {
				return
			}
			if p == nil { // uphill by nothing that F can show: forget, and let EM step
				m.forget()
				if !c.em(&m) {
					return
				}
				continue
			}
			m.keep(c.at, p, move)
			if !c.accept(p, m.decrement(p)) {
				return
			}
		}
	}
}

// climb is the state common to drivers with accepted and rejected evaluations.
type climb struct {
	ctx       context.Context
	o         Objective
	beta      float64
	max       int
	yield     func(Step, error) bool
	at        *Point
	iteration int
	sweeps    int
	change    float64 // of F in the last step
	still     int     // steps in a row that changed F by no more than rounding
	ended     bool
	memory    *Memory // what steps tell of the curvature; nil where nothing is kept
}

// eval evaluates the objective; false means that the climb is over.
func (c *climb) eval(theta []float64) (*Point, bool) {
	p, err := c.o.Eval(c.ctx, theta, c.beta)
	c.sweeps++
	if err != nil {
		c.yield(Step{}, err)
		return nil, false
	}
	return p, true
}

// start evaluates and yields the start.
func (c *climb) start(theta []float64) bool {
	p, ok := c.eval(theta)
	if !ok {
		return false
	}
	c.at = p
	return c.tell(unknown)
}

// accept moves to p and yields it.
func (c *climb) accept(p *Point, distance float64) bool {
	c.change = p.F - c.at.F
	if c.still++; math.Abs(c.change) > slack*math.Abs(p.F) {
		c.still = 0
	}
	c.at = p
	c.iteration++
	return c.tell(distance)
}

func (c *climb) tell(distance float64) bool {
	s := Step{Iteration: c.iteration, Sweeps: c.sweeps, Point: c.at, Change: c.change, Distance: distance, Remaining: distance * distance / 2, Memory: c.memory}
	switch {
	case slices.Equal(c.at.Next, c.at.Theta), c.still >= window:
		s.Done, c.ended = FixedPoint, true
	case c.iteration >= c.max:
		s.Done, c.ended = Limit, true
	}
	return c.yield(s, nil) && !c.ended
}

// em takes the EM step; the distance is told in the matrix of m.
func (c *climb) em(m *Memory) bool {
	p, ok := c.eval(c.at.Next)
	if !ok {
		return false
	}
	return c.accept(p, m.decrement(p))
}

// search tries steps along w from the current point, a move in its frame whose slope is that of F along it; parameters held
// by a floor follow EM. It returns the first point that gains enough and the move to it, nil if none does, and false if the
// climb is over.
func (c *climb) search(w []float64, slope float64) (p *Point, move []float64, ok bool) {
	if !(slope > 0) {
		return nil, nil, true
	}
	step, held, z := 1.0, drift(c.at), unframed(c.at, w)
	axpy(z, 1, held)
	if far := c.at.Near.Reach(z); far > 1 {
		step = 1 / far
	}
	move = make([]float64, len(w))
	for range halvings {
		clear(move)
		axpy(move, step, w)
		theta := along(c.at, move)
		axpy(theta, step, held)
		p, ok := c.eval(theta)
		if !ok {
			return nil, nil, false
		}
		gain := p.F - c.at.F
		if gain >= armijo*step*slope-slack*math.Abs(c.at.F) {
			return p, move, true
		}
		// The maximum of the parabola through F, its slope and the value tried, kept between a tenth and a half of the step.
		shrink := 0.25
		if den := 2 * (step*slope - gain); den > 0 && !math.IsInf(den, 1) {
			shrink = min(max(slope*step/den, 0.1), 0.5)
		}
		step *= shrink
	}
	return nil, nil, true
}

// promised returns the gain to expect of a step of EM: half of the slope along it, since the step ends at the maximum of the free energy
// with the responsibilities as they are.
func promised(p *Point) float64 {
	gain := 0.0
	for i, g := range p.Grad {
		gain += g * (p.Next[i] - p.Theta[i])
	}
	return gain / 2
}

// framed returns the gradient g in the frame of p; g itself where theta is the frame.
func framed(p *Point, g []float64) []float64 {
	f := slices.Clone(g)
	if near, ok := p.Near.(Curved); ok {
		near.Framed(f, g)
	}
	return f
}

// unframed returns the move of theta that w is in the frame of p.
func unframed(p *Point, w []float64) []float64 {
	z := slices.Clone(w)
	if near, ok := p.Near.(Curved); ok {
		near.Unframed(z, w)
	}
	return z
}

// along returns where the move w in the frame of p leads.
func along(p *Point, w []float64) []float64 {
	theta := slices.Clone(p.Theta)
	if near, ok := p.Near.(Curved); ok {
		near.Along(theta, w)
	} else {
		axpy(theta, 1, w)
	}
	return theta
}

// Memory holds the pairs of the L-BFGS two-loop recursion, each in the frame of its point, the metric of the point being its
// first matrix.
type Memory struct {
	most int
	s, y [][]float64 // moves, and falls of the gradient
	sy   []float64
}

// Scaled returns what is known of a function that is f times the one m is of.
func (m *Memory) Scaled(f float64) *Memory {
	n := &Memory{most: m.most, s: slices.Clone(m.s)}
	for i, y := range m.y {
		own := slices.Clone(y)
		for j := range own {
			own[j] *= f
		}
		n.y, n.sy = append(n.y, own), append(n.sy, f*m.sy[i])
	}
	return n
}

// add remembers a move s and the fall y of the gradient over it.
func (m *Memory) add(s, y []float64, sy float64) {
	m.s, m.y, m.sy = append(m.s, s), append(m.y, y), append(m.sy, sy)
}

// with returns a memory of the pairs of m and, more recent than those, of n.
func (m *Memory) with(n *Memory) Memory {
	return Memory{most: m.most, s: slices.Concat(m.s, n.s), y: slices.Concat(m.y, n.y), sy: slices.Concat(m.sy, n.sy)}
}

func (m *Memory) forget() { m.s, m.y, m.sy = m.s[:0], m.y[:0], m.sy[:0] }

// apply returns H q, both in the frame of p.
func (m *Memory) apply(p *Point, q []float64) []float64 {
	z := slices.Clone(q)
	alpha := make([]float64, len(m.s))
	for i := len(m.s) - 1; i >= 0; i-- {
		alpha[i] = dot(m.s[i], z) / m.sy[i]
		axpy(z, -alpha[i], m.y[i])
	}
	mask(z, p.Held)
	if near, ok := p.Near.(Curved); ok {
		near.PreconditionFramed(z, z)
	} else {
		p.Near.Precondition(z, z)
	}
	mask(z, p.Held)
	for i := range m.s {
		axpy(z, alpha[i]-dot(m.y[i], z)/m.sy[i], m.s[i])
	}
	return z
}

// decrement estimates the distance from p by modesty times sqrt(g' H g); while nothing is remembered that is a lower bound of the distance.
func (m *Memory) decrement(p *Point) float64 {
	g := framed(p, p.Grad)
	d := modesty * math.Sqrt(max(dot(g, m.apply(p, g)), 0))
	if !slices.Contains(p.Held, true) {
		return d
	}
	return math.Hypot(d, p.Near.Length(drift(p)))
}

// direction returns the move from p, in its frame, and the slope of F along it. Parameters held by a floor do not move.
func (m *Memory) direction(p *Point) (w []float64, slope float64) {
	g := framed(p, p.Grad)
	w = m.apply(p, g)
	slope = dot(w, g)
	if !(slope > 0) {
		m.forget()
		w = m.apply(p, g)
		slope = dot(w, g)
	}
	mask(w, p.Held)
	return w, slope
}

// keep remembers the move that led from a to b.
func (m *Memory) keep(a, b *Point, move []float64) {
	if !slices.Equal(a.Held, b.Held) || !between(a, b, move) {
		m.forget()
		return
	}
	s, y := move, framed(a, a.Grad)
	axpy(y, -1, framed(b, b.Grad))
	mask(s, a.Held)
	mask(y, a.Held)
	sy, size := dot(s, y), 0.0
	for i, v := range s { // unlike the lengths of s and y, this does not depend on the units of columns
		size += math.Abs(v * y[i])
	}
	if !(sy > 1e-8*size) { // F curves upwards here: no use to a matrix that must be positive
		return
	}
	m.add(s, y, sy)
	if len(m.s) > m.most {
		m.s, m.y, m.sy = m.s[1:], m.y[1:], m.sy[1:]
	}
}

// between sets w, the move tried from a, to the one that led to b, and reports whether their frames go together.
func between(a, b *Point, w []float64) bool {
	if near, ok := a.Near.(Curved); ok {
		return near.Between(w, b.Theta)
	}
	for i, v := range b.Theta {
		w[i] = v - a.Theta[i]
	}
	return true
}

// drift is EM's step for the parameters held by a floor, 0 for the others.
func drift(p *Point) []float64 {
	z := make([]float64, len(p.Theta))
	for i, held := range p.Held {
		if held {
			z[i] = p.Next[i] - p.Theta[i]
		}
	}
	return z
}

// mask sets z to 0 where held.
func mask(z []float64, held []bool) {
	for i, h := range held {
		if h {
			z[i] = 0
		}
	}
}

func dot(a, b []float64) float64 {
	s := 0.0
	for i, v := range a {
		s += v * b[i]
	}
	return s
}

// axpy adds f x to y.
func axpy(y []float64, f float64, x []float64) {
	for i, v := range x {
		y[i] += f * v
	}
}

// scale multiplies x by f.
func scale(x []float64, f float64) {
	for i := range x {
		x[i] *= f
	}
}
