package ascent

import (
	"context"
	"math"
	"slices"
)

// A Chart writes parameters in other coordinates l, as many as there are parameters. Each coordinate moves one parameter
// only, so the factors that Grad multiplies by also turn a small move of l into that of theta.
type Chart interface {
	// To sets l to the coordinates of theta.
	To(l, theta []float64)
	// From sets theta to the parameters of l; any l is valid, and several may give the same theta.
	From(theta, l []float64)
	// Grad sets gl to the gradient in l from g, the gradient at theta.
	Grad(gl, g, theta []float64)
}

// itself is the chart whose coordinates are the parameters.
type itself struct{}

func (itself) To(l, theta []float64)   { copy(l, theta) }
func (itself) From(theta, l []float64) { copy(theta, l) }
func (itself) Grad(gl, g, _ []float64) { copy(gl, g) }

// charted is a climb by line searches in the coordinates of a chart.
type charted struct {
	climb
	chart Chart
	here  place // where the climb stands
}

// place is a point in the coordinates of a chart.
type place struct {
	*Point
	l, g []float64 // coordinates, and the gradient in them
}

// newCharted returns a climb at inverse temperature 1; a nil chart means the parameters themselves.
func newCharted(ctx context.Context, o Objective, chart Chart, most int, yield func(Step, error) bool) *charted {
	if chart == nil {
		chart = itself{}
	}
	return &charted{climb: climb{ctx: ctx, o: o, beta: 1, max: most, yield: yield}, chart: chart}
}

func (c *charted) place(p *Point) place {
	q := place{p, make([]float64, len(p.Theta)), make([]float64, len(p.Theta))}
	c.chart.To(q.l, p.Theta)
	c.chart.Grad(q.g, p.Grad, p.Theta)
	return q
}

// start evaluates and yields the start.
func (c *charted) start(theta []float64) bool {
	ok := c.climb.start(theta)
	if ok {
		c.here = c.place(c.at)
	}
	return ok
}

// move accepts q and yields it.
func (c *charted) move(q place, distance float64) bool {
	c.here = q
	return c.accept(q.Point, distance)
}

// em takes the EM step, where no search climbs. If not even that rises, which close to a floor is a matter of rounding,
// the climb ends where it stands.
func (c *charted) em() bool {
	p, ok := c.eval(c.here.Next)
	if !ok {
		return false
	}
	if !(p.F >= c.here.F-slack*math.Abs(c.here.F)) {
		p, c.still = c.here.Point, window
	}
	return c.move(c.place(p), gradient(p))
}

// holds reports whether a floor holds a parameter here. F is then so steep beside it that a search in coordinates
// without a metric takes tiny steps. EM steps in turn with searches keep the steep parameters at their maximum, and only they move those
// that are held. Where a component had collapsed onto a repeated value they cut the sweeps of ECG from 1753 to 57, those of BFGS from 113 to 26.
func (c *charted) holds() bool { return slices.Contains(c.here.Held, true) }

// search looks along z from here for a step that meets the strong Wolfe conditions, z itself, a step of 1, being the
// first to try; z is 0 at what a floor holds. left is the share of the slope that may be left. found is false if nothing climbs, or if the last few
// steps raised F by nothing that shows and only EM's is left to try; ok is false if the climb is over.
func (c *charted) search(z []float64, left float64) (to place, step float64, found, ok bool) {
	slope := dot(z, c.here.g)
	if !(slope > 0) || c.still >= window-1 {
		return place{}, 0, false, true
	}
	w := wolfe{
		left: left, longest: c.longest(z), most: searches,
		from: trial{f: c.here.F, slope: slope}, noise: slack * math.Abs(c.here.F),
		eval: func(step float64) (trial, bool) {
			p, ok := c.eval(c.along(z, step))
			if !ok {
				return trial{}, false
			}
			q := c.place(p)
			return trial{step, p.F, dot(q.g, z), q}, true
		},
	}
	t, found, ok := w.search()
	return t.place, t.step, found, ok
}

// along returns the parameters a step along z from here.
func (c *charted) along(z []float64, step float64) []float64 {
	l, theta := make([]float64, len(z)), make([]float64, len(z))
	for i := range l {
		l[i] = c.here.l[i] + step*z[i]
	}
	c.chart.From(theta, l)
	return theta
}

// longest returns the longest step along z that a driver may try, +Inf if there is no end. Where moves are small the
// chart is linear: that bound comes first, and within it no coordinate passes through a place that no theta has, as a
// standard deviation through 0 would.
func (c *charted) longest(z []float64) float64 {
	near := c.here.Near
	step := 1 / near.Reach(c.push(z))
	if math.IsInf(step, 1) {
		return step
	}
	for range 50 {
		move := c.along(z, step)
		axpy(move, -1, c.here.Theta)
		if near.Reach(move) <= 1+1e-9 {
			break
		}
		step *= 0.8
	}
	return step
}

// push returns the move of theta that a small move z from here amounts to.
func (c *charted) push(z []float64) []float64 {
	v := make([]float64, len(z))
	c.chart.Grad(v, z, c.here.Theta)
	return v
}

// cauchy returns the step along z to the maximum of the quadratic model with the slope there and the curvature of the complete-data
// information: the right step if the labels were known. The maximum of F along z is never nearer, to second order.
func (c *charted) cauchy(z []float64) float64 {
	length := c.here.Near.Length(c.push(z))
	return dot(z, c.here.g) / (length * length)
}

// gradient returns the length of the gradient in the complete-data metric, standard errors: a lower bound of the
// distance to the optimum. NaN where the objective has no gradient.
func gradient(p *Point) float64 {
	if p.Near == nil {
		return unknown
	}
	z := make([]float64, len(p.Grad))
	p.Near.Precondition(z, p.Grad)
	return math.Hypot(math.Sqrt(max(dot(p.Grad, z), 0)), p.Near.Length(drift(p)))
}
