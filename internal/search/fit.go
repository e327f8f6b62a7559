// Package search makes one fit. It climbs from starts that share their passes, splits and merges components after them, looks at the
// final point in every direction, and turns it into a model.
//
// A climb is a driver (package ascent) at work from one start. Its point is a vector of parameters with the sums of a pass there; what
// runs are compared by is the objective of their last point, and higher is better.
package search

import (
	"context"
	"errors"
	"math"
	"slices"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/inference"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// FitOne makes the fit of a plan that leaves no choice: one number of components and one shape. see.Step sees every step of every
// start, and see.Climbed is called when they have ended. Of a replica the result is what Minimal returns. Errors are those of New and Fit.Run, and numbers that float64 cannot hold.
func FitOne(ctx context.Context, src data.Source, p plan.Plan, see Observer) (*Result, error) {
	began := time.Now()
	f, err := New(ctx, src, p)
	if err != nil {
		return nil, err
	}
	f.Watch, f.Climbed = see.Step, see.Climbed
	e, err := f.Run(ctx)
	if err != nil {
		return nil, err
	}
	if p.Replica {
		return f.Minimal(e), nil
	}
	return f.Finish(ctx, e, began)
}

// Outcome is where the climbs of a fit ended.
type Outcome struct {
	Runs        []Run        // by start
	best        int          // index of the best of Runs
	Moved       *Run         // the climb after splitting and merging, or from a neighbour of a candidate, where it is the best; else nil
	moves       *model.Moves // what splitting and merging came to; nil where it was not tried
	Interrupted bool         // the context ended before the search was over
	started     time.Time    // when the starts were there
	climbed     time.Time    // when the climbs had ended
}

// Run climbs from all starts, splits and merges components of the best where the plan leaves the search to the fit, and finds the best
// outcome. If ctx ends it returns what there is, with Interrupted set; before any start has been evaluated, the error of ctx.
func (f *Fit) Run(ctx context.Context) (*Outcome, error) {
	thetas, err := interrupt.Run(ctx, interrupt.Grace, func() ([][]float64, error) { return f.Starts(ctx) })
	if err != nil {
		return nil, err
	}
	e := &Outcome{started: time.Now()}
	if err := f.beginInGrace(ctx, thetas); err != nil {
		if ctx.Err() == nil || f.begun == nil {
			return nil, err
		}
		return e, f.keepBegun(ctx, e)
	}
	if len(f.begun) == 1 {
		e.moves = f.begun[0].moves
	}
	if e.Runs, err = f.Climb(ctx, thetas, f.Watch, true); err != nil {
		return nil, err
	}
	for _, r := range e.Runs {
		e.Interrupted = e.Interrupted || r.Err != nil
		if r.Err != nil && ctx.Err() == nil { // rows that cannot be read any more
			return nil, r.Err
		}
	}
	if e.best, err = interrupt.Run(ctx, f.WaitAfterInterrupt(), func() (int, error) { return f.Best(e.Runs) }); err != nil {
		return nil, err
	}
	win := &e.Runs[e.best]
	if win.pruned && !win.Forgone { // by one with a degenerate component
		if *win, err = f.resume(ctx, *win); err != nil {
			return nil, err
		}
	}
	if f.Plan.Thorough() && !win.Forgone && f.Plan.K > 1 && !e.Interrupted && e.Winner().Last.Done != ascent.Limit {
		if err := f.tryMoves(ctx, e); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	if f.Mix.Bayes != nil {
		if err := f.inOrder(ctx, e); err != nil {
			return nil, err
		}
	}
	e.Interrupted = e.Interrupted || ctx.Err() != nil // also between two climbs: what the rest of the search would have found is not known
	e.climbed = time.Now()
	return e, nil
}

// beginInGrace is begin, which it leaves behind a grace after ctx has ended.
func (f *Fit) beginInGrace(ctx context.Context, thetas [][]float64) (err error) {
	own := *f
	f.begun, err = interrupt.Run(ctx, interrupt.Grace, func() ([]begun, error) {
		err := own.begin(ctx, slices.Clone(thetas))
		return own.begun, err
	})
	for i, b := range f.begun {
		thetas[i] = b.theta
	}
	return err
}

// keepBegun makes an outcome of e, of a fit whose ctx has ended while starts climbed on samples: the start that is best on all rows as far as it
// has come.
func (f *Fit) keepBegun(ctx context.Context, e *Outcome) (err error) {
	e.Interrupted, e.climbed = true, time.Now()
	watch := f.userProgress(f.Watch)
	e.Runs, err = interrupt.Run(ctx, f.WaitAfterInterrupt(), func() ([]Run, error) {
		var thetas [][]float64
		for _, b := range f.begun {
			thetas = append(thetas, b.theta)
		}
		l := f.lockstep(watch)
		return l.climb(context.WithoutCancel(ctx), func(int) ascent.Driver { return ascent.EM{Beta: 1} }, thetas, watch), nil
	})
	if err != nil {
		return err
	}
	e.best, err = f.Best(e.Runs)
	return err
}

// tryMoves is splitAndMerge, which it leaves behind a grace after ctx has ended. f and e then stay as they were.
func (f *Fit) tryMoves(ctx context.Context, e *Outcome) error {
	own, after := *f, *e
	_, err := interrupt.Run(ctx, interrupt.Grace, func() (none struct{}, err error) { return none, own.splitAndMerge(ctx, &after) })
	if ctx.Err() == nil || err == nil {
		*f, *e = own, after
	}
	return err
}

// Winner returns the run that ended best.
func (e *Outcome) Winner() *Run {
	if e.Moved != nil {
		return e.Moved
	}
	return &e.Runs[e.best]
}

// Finish looks at the winner of e in every direction where that is affordable, and turns it into the result of a fit that began at the
// time began.
func (f *Fit) Finish(ctx context.Context, e *Outcome, began time.Time) (*Result, error) {
	if f.Climbed != nil {
		f.Climbed()
	}
	if err := f.Confirm(ctx, e, confirmWork); err != nil {
		return nil, err
	}
	r, err := interrupt.Run(ctx, f.WaitAfterInterrupt(), func() (*Result, error) { return f.result(context.WithoutCancel(ctx), e) })
	if err != nil {
		return nil, err
	}
	r.Timing.Start, r.Timing.Fit, r.Timing.Judge = e.started.Sub(began).Seconds(), e.climbed.Sub(e.started).Seconds(), time.Since(e.climbed).Seconds()
	return r, nil
}

// Fit is a fit under way: see New and Unsized.
type Fit struct {
	prepare.Rows
	Watch     func(Progress) // sees every step; may be nil
	Climbed   func()         // is called when Finish begins; may be nil
	Mix       *mixture.Mixture
	Local     *sweep.Local
	alone     *alone    // what answers for sums in place of passes; nil where rows have to be read
	grid      []float64 // the step that each column's values are rounded to: see grids; nil where no starts were drawn
	drawnFrom int64     // rows that starts were drawn from; 0 where nothing was drawn

	given *given // the model that it starts from; nil where it starts otherwise

	whole *whole       // all rows as one component; nil without a prior that needs it
	told  *model.Prior // the prior with its numbers; nil without one

	begun       []begun       // of each start; nil where starts did not climb on samples
	reached     *ascent.Point // where the best of earlier climbs has ended; nil where there was none
	StartSweeps int           // passes that the choice of starts took
	MoveSweeps  int           // passes that splitting and merging took

	ConfirmSweeps int // passes that the look at the end in every direction took

	Concurrent int     // fits of a choice that are under way at the same time; 0 and 1 mean this one alone
	shared     *shared // what all candidates of a choice draw alike
	// Of a candidate: what makes the passes that it shares with others, and what returns the objective that it must reach to be
	// chosen. Both are nil elsewhere.
	SharedSweeper     sweep.Sweeper
	RequiredObjective func() float64
}

// sweeper returns what climbs ask for passes.
func (f *Fit) sweeper() sweep.Sweeper {
	if f.alone != nil {
		return f.alone
	}
	if f.SharedSweeper != nil {
		return f.SharedSweeper
	}
	return f.Local
}

// Unsized returns a fit of r that has no mixture yet. Size makes it; the plan may be changed before.
func Unsized(r *prepare.Rows) *Fit { return &Fit{Rows: *r, shared: new(shared)} }

// New makes the first pass over src and returns a fit of its rows, ready to climb. Its error says what cannot be fitted, or what would
// take more memory or time than is allowed.
func New(ctx context.Context, src data.Source, p plan.Plan) (*Fit, error) {
	r, err := prepare.New(ctx, src, p)
	if err != nil {
		return nil, err
	}
	f := Unsized(r)
	if p.Prior != nil {
		plain := *f
		plain.Plan.Prior = nil
		if err := plain.Size(); err != nil { // before passes over what cannot be fitted
			return nil, err
		}
		if err := f.LookForPrior(ctx); err != nil {
			return nil, err
		}
	}
	if err := f.Size(); err != nil {
		return nil, err
	}
	return f, f.bayes(ctx)
}

// Size makes the mixture that f.Plan asks for. It refuses one that cannot be fitted, or that would take more than is allowed.
func (f *Fit) Size() error {
	p, d := &f.Plan, len(f.Survey.Mean) // after the transform
	p.Holes = f.Survey.Missing > 0
	f.Mix = &mixture.Mixture{K: p.K, D: d, Uniform: p.Uniform, Chain: p.Chain}
	if f.Noise != nil {
		f.Mix.Noise = &mixture.Noise{LogVolume: f.Noise.LogVolume, LogWidths: f.NoiseWidths}
	}
	if err := p.CheckFactors([]family.Shape{p.Shape}, d, p.Holes); err != nil {
		return err
	}
	f.Mix.Family = p.Kind.Family(f.variables(p.Shape))
	if g, ok := family.BaseOf(f.Mix.Family).(family.Parsimonious); ok {
		if j := g.Hidden(); j >= 0 && len(f.Names) == d && f.Plan.PCA == 0 {
			return plan.Errorf("column %q: its values are so small beside the others' that the variance floor hides them, which %s covariances have in common for all columns; use --scale standard", f.Names[j], p.Shape)
		}
	}
	if n := f.Mix.Params(); p.Algorithm == plan.BFGS && n > ascent.MaxBFGS {
		return plan.Wrong("Algorithm", "bfgs keeps a matrix of %d x %d numbers; use lbfgs for more than %d parameters", n, n, ascent.MaxBFGS)
	}
	if err := f.SetPrior(); err != nil {
		return err
	}
	f.Local = sweep.NewLocal(f.Source, f.Survey.Rows, f.Origin, p.Threads)
	f.alone = f.newAlone()
	return f.affordable()
}

// variables returns what the family of the fit is made for, with covariances of a shape.
func (f *Fit) variables(shape family.Shape) kind.Variables {
	p := &f.Plan
	return kind.Variables{Shape: shape, Types: p.Types, Levels: kind.Counts(p.Levels), Weight: f.Survey.W, Var: f.Survey.Var, RegCovar: f.SquareInUnits(p.RegCovar), Dof: p.Dof, GivenDof: p.GivenDof, Gaps: f.Survey.Gaps}
}

// ObjectiveOf returns what runs are compared by, in the units of the fit: the free energy without a prior; of a mixture at another
// temperature than 1, where the free energy is no log-likelihood, the log-likelihood.
//
// A log posterior is climbed but never compared: as a density of means and covariances it rewards components that hold hardly any rows,
// which sit where the prior is largest. Of iris in three full components, rows 94, 50 and 6 have 13 nats more posterior than 53, 50 and
// 47, and 11 nats less likelihood.
func ObjectiveOf(p *ascent.Point) float64 {
	switch {
	case p.Beta != 1 && !math.IsInf(p.Beta, 1):
		return p.LogLik
	case p.Prior != 0:
		return p.F - p.Prior
	}
	return p.F
}

// ClimbedTo returns what runs are told apart by, in the units of the fit: ObjectiveOf with the log prior. At a maximum of that it does not
// change to first order, as the log-likelihood alone does, so that two runs that stop short of one maximum have almost the same.
func ClimbedTo(p *ascent.Point) float64 { return ObjectiveOf(p) + p.Prior }

// Best returns the index of the best run: of the runs without a degenerate component, if there are any, the one with the highest
// objective. Where no run has a point it returns an error.
func (f *Fit) Best(runs []Run) (int, error) {
	at, bestDegenerate := -1, false
	for i, r := range runs {
		if r.Last.Point == nil || r.met > 0 {
			continue
		}
		degenerate := f.Degenerate(r.Last.Point)
		if at < 0 || bestDegenerate && !degenerate || bestDegenerate == degenerate && ObjectiveOf(r.Last.Point) > ObjectiveOf(runs[at].Last.Point) {
			at, bestDegenerate = i, degenerate
		}
	}
	if at >= 0 {
		return at, nil
	}
	for _, r := range runs {
		if r.Err != nil {
			return 0, r.Err
		}
	}
	return 0, errors.New("no start could be evaluated")
}

// agreement counts how many starts ended where the winner did, and at how many different optima starts ended.
func (f *Fit) agreement(e *Outcome) model.Starts {
	s := model.Starts{N: len(e.Runs), DrawnFrom: f.drawnFrom}
	if e.moves != nil {
		moves := *e.moves
		moves.Gain = f.UserWeight(moves.Gain)
		s.Moves = &moves
	}
	top := ClimbedTo(e.Winner().Last.Point)
	tol := SameOptimum
	if !f.Plan.Mixture() {
		tol = 1e-9 * math.Abs(top)
	}
	var ends []float64
	for _, r := range e.Runs {
		if r.Last.Point == nil {
			continue
		}
		s.Objectives = append(s.Objectives, f.UserObjective(ObjectiveOf(r.Last.Point)))
		if r.pruned {
			s.Pruned++
			continue
		}
		end := ClimbedTo(r.Last.Point)
		ends = append(ends, end)
		if math.Abs(end-top) <= tol {
			s.AgreeWithBest++
		}
	}
	slices.Sort(ends)
	for i, v := range ends {
		if i == 0 || v-ends[i-1] > tol {
			s.DistinctOptima++
		}
	}
	return s
}

// inference returns f as package inference asks about it. The passes of its climbs count as ConfirmSweeps.
func (f *Fit) inference() *inference.Fit {
	var gradient func([]float64) []float64
	if f.alone != nil && f.alone.stats != nil {
		gradient = func(theta []float64) []float64 { return f.alone.gradient(f.Mix, theta) }
	}
	return &inference.Fit{Rows: &f.Rows, Mix: f.Mix, Local: f.Local, Gradient: gradient, Climb: func(ctx context.Context, d ascent.Driver, theta []float64) (ascent.Step, error) {
		r := f.ClimbWith(ctx, d, theta, nil)
		f.ConfirmSweeps += r.Sweeps
		return r.Last, r.Err
	}}
}

// SameOptimum is the difference of two log-likelihoods, in nats, up to which they are taken for those of one optimum. A distance of 0.01
// standard errors from it makes 0.00005.
const SameOptimum = 0.01
