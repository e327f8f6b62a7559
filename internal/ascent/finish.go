package ascent

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/rng"
)

// Finish lets a driver climb and decides when it has finished: not when the log-likelihood looks flat, but when the
// distance to the optimum is certified. A saddle is left, never certified. Close to the optimum the last step is
// Newton's, which the certificate has solved for.
//
// The driver's own estimate of the distance decides when to look. A look that finds the optimum farther than the driver
// thought teaches by what factor, and the next one waits until the estimate, so corrected, is within tolerance.
type Finish struct {
	Driver  Driver
	MaxIter int // accepted steps allowed, those before and after a saddle together
	// Tol is the distance to stop at, in standard errors; 0 goes on to a fixed point or the driver's limit.
	Tol float64
	// TolLogLik, where positive, stops instead when the mean log-likelihood a unit of row weight changes by less.
	TolLogLik float64
	Weight    float64 // sum of row weights, for TolLogLik
	Seed      uint64  // of the random moves that look for saddles
}

// Steps implements Driver. The last step carries the certificate; its Distance and Remaining are those certified.
func (f Finish) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		w := newWatch(ctx, f, o, yield)
		for w.climb(theta) {
			theta = w.leave
		}
	}
}

// counted counts evaluations.
type counted struct {
	Objective
	n     int
	known *Point // the next evaluation, if that is known already; nil where it is not
}

func (c *counted) Eval(ctx context.Context, theta []float64, beta float64) (*Point, error) {
	if p := c.known; p != nil {
		c.known = nil
		return p, nil
	}
	c.n++
	return c.Objective.Eval(ctx, theta, beta)
}

// watch is one run of Finish.
type watch struct {
	Finish
	ctx      context.Context
	o        *counted
	yield    func(Step, error) bool
	normal   func() float64
	base     int       // steps accepted by climbs that have ended, at a saddle or for Newton's steps
	last     *Point    // the last point yielded
	factor   float64   // true distance over the driver's estimate, as last seen
	tol      float64   // the distance to stop at now: tightened on a ridge
	leave    []float64 // where to go on after a saddle or Newton's steps
	left     int       // saddles left
	spent    int       // sweeps that looks took
	cost     int       // sweeps of the last one
	flat     float64   // F where a direction that seemed to lead up led nowhere; NaN where none did
	flattest direction // of the least curvature that looks have met
	near     float64   // estimated distance within which Newton's step is tried
	known    *Memory   // what the climb that begins after Newton's steps knows of the curvature; nil where another begins
	knows    bool      // the climb began with knowledge of the curvature
	explored bool      // Newton's step has led here from a point where the distance had settled
}

func newWatch(ctx context.Context, f Finish, o Objective, yield func(Step, error) bool) *watch {
	return &watch{Finish: f, ctx: ctx, o: &counted{Objective: o}, yield: yield, factor: 1, tol: f.Tol, flat: unknown, near: newtonNear, flattest: none, normal: rng.Probes.New(f.Seed).NormFloat64}
}

// climb runs the driver from theta. It returns true if it is to be started again, from w.leave.
func (w *watch) climb(theta []float64) (again bool) {
	driver, told := w.begins(), w.known != nil
	for s, err := range driver.Steps(w.ctx, w.o, theta) {
		if err != nil {
			w.yield(Step{}, err)
			return false
		}
		if told { // the first one only: Newton's step led there
			told = false
			continue
		}
		s.Iteration += w.base
		if s.Iteration >= w.MaxIter && s.Done == Going {
			s.Done = Limit
		}
		if w.last != nil && w.base > 0 && s.Iteration == w.base {
			s.Change = s.Point.F - w.last.F
		}
		s.Distance *= w.factor
		s.Remaining *= w.factor * w.factor
		on, again := w.pass(&s)
		if on && !again {
			on, again = w.newtons(s)
		}
		if again || !on {
			return again
		}
	}
	return false
}

// begins returns the driver that a climb begins with.
func (w *watch) begins() Driver {
	driver := w.Driver
	if a, ok := driver.(Anneal); ok && (w.left > 0 || w.known != nil) { // the search is over: to anneal again would merge again
		driver = a.Last
	}
	e, ok := driver.(EMLBFGS)
	if !ok {
		return driver
	}
	if w.known != nil {
		e.Warm, e.Known = 0, w.known
	}
	w.knows, w.known = e.Known != nil, nil
	return e
}

// pass judges a step and yields it. on is false where that is the end of all, again is true where the climb is to begin again from w.leave.
func (w *watch) pass(s *Step) (on, again bool) {
	w.last = s.Point
	again, err := w.judge(s)
	if err != nil {
		w.yield(Step{}, err)
		return false, false
	}
	s.Sweeps = w.o.n
	if s.Done == Close {
		if w.end(*s) {
			return false, false
		}
		s.Done = Going
	}
	if !w.yield(*s, nil) || s.Done != Going {
		return false, false
	}
	if again {
		w.base = s.Iteration + 1
	}
	return true, again
}

// judge decides what follows the step: nothing, the end, or another climb from w.leave.
func (w *watch) judge(s *Step) (again bool, err error) {
	if s.Point.Beta != 1 || s.Searching && s.Done == Going {
		return false, nil
	}
	if w.TolLogLik > 0 && s.Done == Going && s.Iteration > 0 && math.Abs(s.Change) < w.TolLogLik*w.Weight {
		s.Done = LogLik
	}
	tol, most, normal := w.due(s)
	if most == 0 {
		return false, nil
	}
	c, down, err := w.look(s, tol, most, normal)
	if err != nil {
		return false, err
	}
	w.learn(s, &c)
	c.Saddles = w.left
	s.Certificate, s.Distance, s.Remaining = &c, c.Distance, c.Remaining
	return w.follow(s, down)
}

// look looks closely at a step: at its distance and, unless normal is nil, at the least curvature.
func (w *watch) look(s *Step, tol float64, most int, normal func() float64) (c Certificate, down []float64, err error) {
	before := w.o.n
	b := observed{ctx: w.ctx, o: w.o, at: s.Point, flattest: w.flattest, share: settled}
	enough := 9 * tol * tol // how much farther it is does not matter
	if s.Memory != nil {
		b.memory, enough = *s.Memory, math.Inf(1) // but to a step of Newton's
	}
	if normal == nil && s.Done == Going {
		b.share, b.little = newtonShare, settled*tol*tol
	} else if w.explored && !math.IsInf(tol, 1) {
		b.little = leftOf * tol * tol
	}
	c, down, err = b.certify(tol, enough, most, normal)
	w.cost = w.o.n - before
	w.spent += w.cost
	if c.flattest.curvature == c.flattest.curvature && !(w.flattest.curvature <= c.flattest.curvature) {
		w.flattest = c.flattest
	}
	return c, down, err
}

// due decides whether to look closely at a step: to what distance, with how many products with the information (0: not
// at all), and with what random moves the search for saddles starts (nil: no search).
func (w *watch) due(s *Step) (tol float64, most int, normal func() float64) {
	switch {
	case s.Point.Near == nil:
		return 0, 0, nil
	case s.Done == Limit && (w.Tol == 0 || s.Iteration < 2*leastProducts):
		return 0, 0, nil // so many steps were asked for and nothing else, or too few to say anything
	case s.Done == Limit:
		return math.Inf(1), min(products, s.Iteration/2), nil // what is cut short is not to cost more for a look at its end
	case s.Done != Going:
		return math.Inf(1), products, w.normal
	case w.TolLogLik == 0 && w.tol > 0 && s.Distance <= w.tol && w.spent <= w.o.n-w.spent+budget:
		return w.tol, products, w.normal
	}
	return 0, 0, nil
}

// learn corrects the driver's estimates by what a look has found.
func (w *watch) learn(s *Step, c *Certificate) {
	switch {
	case c.Distance != c.Distance: // look again when the driver takes itself to be twice as close
		w.factor *= 2
	case c.AtLeast && c.Distance <= w.tol: // not to be tried again at every step
		w.factor *= 4
	case c.Distance > w.tol && s.Distance > 0:
		w.factor *= max(c.Distance/s.Distance, 1.5)
	case s.Distance > 0:
		w.factor *= max(c.Distance/s.Distance, 0.5)
	}
}

// follow decides what follows a look.
func (w *watch) follow(s *Step, down []float64) (again bool, err error) {
	c := s.Certificate
	switch {
	case s.Done == Limit || s.Done == LogLik:
	case down != nil && s.Iteration >= w.MaxIter: // it could go on, but not within the steps allowed
		s.Done = Limit
	case down != nil && w.left < leaves && !(s.Point.F-w.flat < rise):
		if again, err = w.off(s, down); again || err != nil {
			s.Done, s.Halves = Going, false
			return again, err
		}
		fallthrough
	case s.Done == FixedPoint:
		if s.Done == FixedPoint && w.Tol > 0 && !(c.Distance <= w.Tol) {
			s.Done = Flat
		}
	case c.AtLeast:
	case within(w.tol, c.Curvature) < w.tol: // look again where a ridge would show
		w.tol = within(w.tol, c.Curvature)
		if s.Distance <= w.tol {
			s.Done = Close
		}
	case s.Distance <= w.tol:
		s.Done = Close
	}
	return false, nil
}

// within returns how far from the optimum a point may be, in standard errors, to be certified where that is to be tol: less where
// the curvature is so small that it may be on a ridge. The way to the optimum is distance / sqrt(curvature) long in the metric, and
// curvatures change in proportion to its length. For the change to be at most a given share of the curvature, the distance
// must fall as curvature^(3/2) does.
func within(tol, curvature float64) float64 {
	return min(tol, max(tight, quadraticRange*math.Pow(max(curvature, 0)/ridge, 1.5)))
}

// quadraticRange is the distance from the optimum, in standard errors, within which the quadratic model holds so well that the
// gradient after Newton's step is known without another evaluation.
const quadraticRange = 0.01

// negligible is what may be left to gain where Newton's step has led, as a share of F: two values at one maximum differ by as much through rounding.
const negligible = 1e-11

// end yields the step that was certified and, where it gains, Newton's step from there, which the look has solved for. Of
// what was within tolerance that leaves what the solution was cut short by, at the price of one sweep. Where Newton's step has led here and
// next to nothing is left, that was done already.
//
// Outside the range of the quadratic model the end stays where the tolerance allows it to be, but what is told of it is measured
// where Newton's step leads. Where too much of the gradient is left there the look was of another basin and the end is
// none: end returns false and yields nothing.
func (w *watch) end(s Step) bool {
	p := s.Point
	least := slack
	if w.explored && s.Distance <= quadraticRange {
		least = negligible
	}
	if s.Iteration >= w.MaxIter || !(s.Remaining > least*math.Abs(p.F)) {
		w.yield(s, nil)
		return true
	}
	q, err := w.newton(p, s.Certificate)
	if err != nil {
		w.yield(Step{}, err)
		return true
	}
	c := s.Certificate.after(q)
	gains := q.F > p.F && slices.Equal(q.Held, p.Held) // else nothing that F can tell, or into another floor
	if s.Distance > quadraticRange {
		if !gains || !s.Certificate.measured(p, q, &c) || s.Certificate.Distance > w.Tol {
			w.factor *= 2
			return false
		}
		s.Sweeps, s.Distance, s.Remaining = w.o.n, s.Certificate.Distance, s.Certificate.Remaining
		w.yield(s, nil)
		return true
	}
	if !gains {
		s.Sweeps = w.o.n
		w.yield(s, nil)
		return true
	}
	before := s
	before.Done, before.Halves = Going, false
	if !w.yield(before, nil) {
		return true
	}
	s.Iteration, s.Sweeps, s.Point, s.Change, s.Halves = s.Iteration+1, w.o.n, q, q.F-p.F, false
	s.Certificate, s.Distance, s.Remaining = &c, c.Distance, c.Remaining
	w.yield(s, nil)
	return true
}

// newton evaluates where Newton's step of c leads from p.
func (w *watch) newton(p *Point, c *Certificate) (*Point, error) {
	theta := slices.Clone(p.Theta)
	axpy(theta, 1, c.newton)
	return w.o.Eval(w.ctx, theta, p.Beta)
}

// budget is how many sweeps looks may take beyond those of the climb itself.
const budget = 60

// leastProducts is how many products with the information say anything of the distance.
const leastProducts = 3

// Constants of leaving saddles.
const (
	leaves = 20   // saddles a climb may leave
	rise   = 1e-3 // nats to climb before a way up is looked for again where there was none
)

// off looks along a direction in which F may rise, both ways, for a higher place within reach: higher than what the slope
// where it stands has to give, which is no way off anything. Where equal components
// part F is flat to third order along any straight line: it rises only where their variances follow, which is for a few
// M-steps to say.
func (w *watch) off(s *Step, down []float64) (again bool, err error) {
	p := s.Point
	best := p.F + max(slack*math.Abs(p.F), 2*s.Certificate.gain)
	w.leave = nil
	unit := 1 / p.Near.Reach(down)
	reach := [][]float64{{1, 1. / 4, 1. / 16, 1. / 64}, {8, 4, 2}} // a probability leaves 0 by a factor: only farther out does F show it
	if !p.Leaves {
		reach = reach[:1]
	}
	for _, lengths := range reach {
		for _, sign := range []float64{1, -1} {
			for _, far := range lengths {
				q, err := w.beside(p, sign*far*unit, down, best)
				if err != nil {
					return false, err
				}
				if q.F > best {
					best, w.leave = q.F, q.Theta
					break
				}
			}
		}
		if w.leave != nil {
			break
		}
	}
	if w.leave == nil { // as flat as floats can tell
		w.tol, w.flat = min(w.tol, tight), p.F
		return false, nil
	}
	w.left++
	return true, nil
}

// beside returns where a few M-steps lead from h times the move v beside p, no more of them than it takes to be above best.
func (w *watch) beside(p *Point, h float64, v []float64, best float64) (*Point, error) {
	theta := slices.Clone(p.Theta)
	axpy(theta, h, v)
	q, err := w.o.Eval(w.ctx, theta, p.Beta)
	for i := 0; i < 3 && err == nil && !(q.F > best); i++ {
		q, err = w.o.Eval(w.ctx, q.Next, p.Beta)
	}
	return q, err
}
