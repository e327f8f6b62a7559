package search

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"time"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// Progress is one step of one start.
type Progress struct {
	Start int // which start, from 1
	Of    int // how many starts there are
	ascent.Step
	fit *Fit // that climbs; see Model
}

// Observer is told how a fit is getting on, as latent.Observer says. Each function may be nil.
type Observer struct {
	Step      func(Progress)
	Candidate func(done, of int, c model.Candidate)
	Replicate func(done, of int)
	Climbed   func()
}

// Run is what came of one start.
type Run struct {
	start  int         // its number, from 0
	Last   ascent.Step // the last step accepted; its Point is nil where the start itself was not evaluated
	Sweeps int         // passes used
	Err    error       // what ended it before its driver did; nil elsewhere
	// pruned tells that the climb was stopped because what it could still gain would not make it the best.
	pruned  bool
	met     int  // 1 more than the index of the climb that is on its way to the same maximum, for which it was stopped; 0 where there was none
	Forgone bool // it was stopped because its candidate will not be chosen
}

// lockstep runs several climbs at once and gathers their evaluations, so that one pass over the rows serves all of
// them. Each climb runs in its own goroutine and waits; the pass starts when every climb still running has asked.
type lockstep struct {
	sweeper sweep.Sweeper
	threads int // M-steps that may run side by side
	mix     *mixture.Mixture
	lift    bool // points tell the free energy after their M-step too, for those who watch
	smooth  bool // points tell gradients: the mixture has them, and drivers want them
	// degenerate reports whether a point owes its likelihood to a degenerate component. Where it is set climbs race: those that
	// can no longer win are stopped.
	degenerate func(*ascent.Point) bool
	hurried    bool          // the race also stops climbs far behind one that has ended: passes are long
	joins      bool          // climbs that have come to where another is, or has ended, are stopped
	reached    *ascent.Point // where an earlier climb has ended, of a hurried race; nil where there was none
	rival      *rival        // nil where there is none
	slots      chan struct{} // holds one token for each M-step that runs
	stuck      []int         // steps in a row in which each climb has had a degenerate component
	past       [][]float64   // objectives of each climb after each pass, of a hurried race
	state      []sweep.State // what the sweeps of each climb leave for the next
	asks       chan ask      // evaluations that climbs ask for
	ends       chan int      // numbers of climbs that are over
	record
	caught par.Caught // panics of climbs
}

// record is what climbs have come to. They may be left behind when their context ends: what they do then is not seen.
type record struct {
	mu   sync.Mutex
	gone chan struct{} // closed when the climbs are left behind
	runs []Run
}

// begin prepares the record for n climbs.
func (r *record) begin(n int) {
	r.gone, r.runs = make(chan struct{}), make([]Run, n)
	for i := range r.runs {
		r.runs[i].start = i
	}
}

// add notes a step of climb i, or its error, and tells watch of the step. It reports whether the climb is to go on.
func (r *record) add(i int, step ascent.Step, err error, watch func(Progress)) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	select {
	case <-r.gone:
		return false
	default:
	}
	own := &r.runs[i]
	switch {
	case errors.Is(err, errForgone), errors.Is(err, errPruned), errors.Is(err, errMet): // the race has noted that
		return false
	case err != nil:
		own.Err = err
		return false
	}
	own.Last, own.Sweeps = step, step.Sweeps
	if watch != nil {
		watch(Progress{Start: i + 1, Of: len(r.runs), Step: step})
	}
	return true
}

// ended reports whether climb i has come to its last step, or to an error.
func (r *record) ended(i int) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.runs[i].Err != nil || r.runs[i].Last.Done != ascent.Going
}

// leave closes the record and returns what all climbs have come to: those that have met another, what that has. Those that are not over get err.
func (r *record) leave(over []bool, err error) []Run {
	r.mu.Lock()
	defer r.mu.Unlock()
	close(r.gone)
	for i := range r.runs {
		if !over[i] {
			r.runs[i].Err = err
		}
	}
	for i := range r.runs {
		own := &r.runs[i]
		for at := own; at.met > 0; {
			at = &r.runs[at.met-1]
			own.Last, own.pruned, own.Forgone, own.Err = at.Last, at.pruned, at.Forgone, at.Err
		}
	}
	return r.runs
}

// What ends a climb that cannot win: against the other starts, at the optimum of one of them, or for its candidate against other candidates.
var (
	errPruned  = errors.New("pruned")
	errMet     = errors.New("met")
	errForgone = errors.New("forgone")
)

// ask is an evaluation that a climb waits for.
type ask struct {
	start int
	task  sweep.Task
	reply chan<- answer
}

// answer is what its pass came to.
type answer struct {
	stats *family.Stats
	err   error
}

// climb runs driver(i) from thetas[i], for each i, and returns where each climb ended. If ctx ends it waits a grace and leaves the climbs
// that have not ended: an M-step on a thousand columns takes longer than anybody waits.
func (l *lockstep) climb(ctx context.Context, driver func(start int) ascent.Driver, thetas [][]float64, watch func(Progress)) []Run {
	n := len(thetas)
	l.asks, l.ends, l.slots = make(chan ask), make(chan int, n), make(chan struct{}, max(l.threads, 1))
	l.begin(n)
	l.state, l.stuck, l.past = make([]sweep.State, n), make([]int, n), make([][]float64, n)
	for i, theta := range thetas {
		go func() {
			defer func() { l.ends <- i }()
			defer l.caught.Catch()
			for step, err := range driver(i).Steps(ctx, objective{l, i}, theta) {
				if !l.add(i, step, err, watch) {
					return
				}
			}
		}()
	}
	over := make([]bool, n)
	l.serve(ctx, over)
	l.caught.Raise()
	return l.leave(over, ctx.Err())
}

// serve answers the climbs until all are over, or until a grace after ctx has ended. It sets over[i] when climb i is over.
func (l *lockstep) serve(ctx context.Context, over []bool) {
	live, asked := len(over), 0
	waiting := make([]*ask, live) // by start, so that the order of arrival changes nothing
	ended, late := ctx.Done(), (<-chan time.Time)(nil)
	for live > 0 {
		select {
		case a := <-l.asks:
			waiting[a.start] = &a
			asked++
		case i := <-l.ends:
			over[i] = true
			live--
		case <-ended:
			ended, late = nil, time.After(interrupt.Grace)
		case <-late:
			return
		}
		if asked == 0 || asked < live {
			continue
		}
		l.prune(waiting, &asked, over)
		if l.forgo(waiting, &asked); asked == 0 {
			continue
		}
		var asks []*ask
		var tasks []sweep.Task
		for i, a := range waiting {
			if a != nil {
				asks, tasks = append(asks, a), append(tasks, a.task)
				waiting[i] = nil
			}
		}
		asked = 0
		l.answer(ctx, asks, tasks)
	}
}

// answer makes one pass and hands out the sums.
func (l *lockstep) answer(ctx context.Context, asks []*ask, tasks []sweep.Task) {
	stats, err := l.sweeper.Sweep(ctx, tasks)
	for i, a := range asks {
		if err != nil {
			a.reply <- answer{err: err}
			continue
		}
		a.reply <- answer{stats: stats[i]}
	}
}

// point turns the sums of a pass into a point, with the M-step that they give.
func (l *lockstep) point(t *sweep.Task, s *family.Stats) *ascent.Point {
	p := &ascent.Point{Theta: t.Theta, Beta: t.Beta, F: l.mix.Objective(t.Theta, s), LogLik: s.LogLik, Entropy: s.Entropy, Labels: s.Labels, Weights: append([]float64(nil), s.N...)}
	if l.mix.Prior != nil {
		p.Prior = l.mix.LogPrior(t.Theta)
		p.F += p.Prior
	}
	if l.mix.Bayes != nil {
		p.LogLik = p.F
	}
	p.Next = make([]float64, len(t.Theta))
	l.mix.MStep(p.Next, t.Theta, s)
	if fam, ok := l.mix.Family.(family.Flattening); ok && l.mix.Prior == nil { // with a prior no moments are raised to the floor
		p.Flat = fam.Flat(l.mix.Components(p.Next), l.mix.Components(t.Theta), s)
	}
	if l.lift {
		p.Lifted = l.mix.FreeEnergy(p.Next, t.Theta, t.Beta, s) + l.mix.LogPrior(p.Next)
	}
	if l.smooth && !math.IsInf(t.Beta, 1) {
		near := l.mix.Near(t.Theta, s)
		p.Grad, p.Held, p.Near = make([]float64, len(t.Theta)), make([]bool, len(t.Theta)), near
		if c, ok := l.mix.Family.(family.Curved); ok && c.Turned() {
			p.Near = mixture.Curved{Geometry: near}
		}
		l.mix.Grad(p.Grad, t.Theta, s)
		p.Leaves = l.mix.Held(p.Held, t.Theta, p.Next)
		l.mix.Unmoved(p.Held, s)
		p.Whole = slices.Clone(p.Grad)
		p.Edge = l.mix.Edge(p.Held, p.Whole, t.Theta, p.Next)
		for i, held := range p.Held {
			if held {
				p.Grad[i] = 0
			}
		}
	}
	return p
}

// objective is what one climb evaluates.
type objective struct {
	l     *lockstep
	start int
}

// Eval implements ascent.Objective. What follows the pass is done here, in the climb's own goroutine: an M-step that
// iterates takes longer than a pass over few rows.
func (o objective) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	theta = slices.Clone(theta)
	o.l.mix.Project(theta)
	reply := make(chan answer, 1)
	task := sweep.Task{Mixture: o.l.mix, Theta: theta, Beta: beta, State: &o.l.state[o.start]}
	select {
	case o.l.asks <- ask{o.start, task, reply}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	var a answer
	select {
	case a = <-reply:
	case <-o.l.gone:
		a.err = ctx.Err()
	}
	if a.err != nil {
		return nil, a.err
	}
	select {
	case o.l.slots <- struct{}{}:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { <-o.l.slots }()
	return o.l.point(&task, a.stats), nil
}

// userProgress returns a function that takes steps in the units of the fit and shows them to watch in the user's; nil for nil.
func (f *Fit) userProgress(watch func(Progress)) func(Progress) {
	switch {
	case watch == nil:
		return nil
	case f.Units.Scale == nil && f.Units.WeightPower == 0 && f.LogJacobian() == 0:
		return func(p Progress) {
			p.fit = f
			watch(p)
		}
	}
	return func(p Progress) {
		at := *p.Point
		p.fit, p.Point = f, &at
		at.F, at.Lifted, at.Entropy, at.Prior = f.UserObjective(at.F), f.UserObjective(at.Lifted), f.UserWeight(at.Entropy), f.UserWeight(at.Prior)
		if p.Remaining = f.UserWeight(p.Remaining); f.Plan.Mixture() {
			at.LogLik, p.Change = f.UserObjective(at.LogLik), f.UserWeight(p.Change)
		} else {
			p.Change = f.UserObjective(p.Change)
		}
		watch(p)
	}
}
