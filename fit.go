package latent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Fit finds the groups in the rows of src that spec asks for.
//
// A fit that used up its steps is a result with Converged false, not an error. If ctx ends while the starts climb, or while
// components are split and merged after them, the best so far is returned with Interrupted set; before there is anything to return, the
// error is that of ctx. Errors are for what cannot be fitted: a spec that makes no sense, rows
// with values that are not finite, fewer distinct rows than groups, a column without spread under a mixture.
//
// Where spec leaves a choice of K or of the covariance shape, every candidate is fitted, and again from where its neighbours
// ended. The result is that of the best, with the Candidates beside it: the same as of a Fit with its K and shape, unless Choice.From names the
// candidate at which it began. Those with a component at the floor of
// variances never win; where no other is left, that is an error.
//
// Bootstrap and LRT repeat the fit on other rows when it is done. If ctx ends meanwhile, the result stands, and its Stability and
// LRT say how many replicates they are of.
func Fit(ctx context.Context, src data.Source, spec Spec, observers ...Observer) (*Result, error) {
	began := time.Now()
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(plan.Spec(spec))
	if err != nil {
		return nil, err
	}
	r, err := fitPlan(ctx, src, p, all(observers))
	if err != nil {
		return nil, err
	}
	return r.result(p.Threads, time.Since(began)), nil
}

// fitPlan is Fit for a spec that was parsed.
func fitPlan(ctx context.Context, src data.Source, p plan.Plan, see Observer) (*Fitted, error) {
	began := time.Now()
	switch {
	case p.Bootstrap > 0 || p.LRT > 0:
		return repeated(ctx, src, p, see)
	case p.Chooses():
		return choose(ctx, src, p, see)
	}
	f, err := prepare(ctx, src, p)
	if err != nil {
		return nil, err
	}
	f.watch = see.Step
	e, err := f.run(ctx)
	if err != nil {
		return nil, err
	}
	if p.Replica {
		return f.minimal(e), nil
	}
	return f.finish(ctx, e, began)
}

// end is where the climbs of a fit ended.
type outcome struct {
	runs        []run
	best        int
	moved       *run         // where splitting and merging led, nil unless that is the highest
	moves       *model.Moves // what they came to, nil where none were tried
	interrupted bool
	started     time.Time // when the starts were there
	climbed     time.Time // when the climbs had ended
}

// run climbs from all starts and finds the best end.
func (f *fit) run(ctx context.Context) (*outcome, error) {
	thetas, err := interrupt.Run(ctx, interrupt.Grace, func() ([][]float64, error) { return f.starts(ctx) })
	if err != nil {
		return nil, err
	}
	e := &outcome{started: time.Now()}
	if e.runs, err = f.climb(ctx, thetas, f.watch, true); err != nil {
		return nil, err
	}
	for _, r := range e.runs {
		e.interrupted = e.interrupted || r.err != nil
		if r.err != nil && ctx.Err() == nil { // rows that cannot be read any more
			return nil, r.err
		}
	}
	if e.best, err = interrupt.Run(ctx, f.patience(), func() (int, error) { return f.best(e.runs) }); err != nil {
		return nil, err
	}
	win := &e.runs[e.best]
	if win.pruned && !win.forgone { // by one with a degenerate component
		if *win, err = f.resume(ctx, *win); err != nil {
			return nil, err
		}
	}
	if f.plan.Thorough() && !win.forgone && f.plan.K > 1 && !e.interrupted && e.win().last.Done != ascent.Limit {
		if err := f.moved(ctx, e); err != nil && ctx.Err() == nil {
			return nil, err
		}
	}
	e.interrupted = e.interrupted || ctx.Err() != nil // between starts and moves as well: what they might have found is not known
	e.climbed = time.Now()
	return e, nil
}

// moved is move. What it comes to after ctx has ended and a grace with it is not seen.
func (f *fit) moved(ctx context.Context, e *outcome) error {
	own, after := *f, *e
	_, err := interrupt.Run(ctx, interrupt.Grace, func() (none struct{}, err error) { return none, own.move(ctx, &after) })
	if ctx.Err() == nil || err == nil {
		*f, *e = own, after
	}
	return err
}

// win is where the highest climb ended.
func (e *outcome) win() *run {
	if e.moved != nil {
		return e.moved
	}
	return &e.runs[e.best]
}

// finish turns the end of a fit that began at a time into its result.
func (f *fit) finish(ctx context.Context, e *outcome, began time.Time) (*Fitted, error) {
	if err := f.confirm(ctx, e, confirmWork); err != nil {
		return nil, err
	}
	r, err := interrupt.Run(ctx, f.patience(), func() (*Fitted, error) { return f.result(context.WithoutCancel(ctx), e) })
	if err != nil {
		return nil, err
	}
	r.Timing.Start, r.Timing.Fit, r.Timing.Judge = e.started.Sub(began).Seconds(), e.climbed.Sub(e.started).Seconds(), time.Since(e.climbed).Seconds()
	return r, nil
}

// fit is a fit under way.
type fit struct {
	plan      plan.Plan
	watch     func(Progress)    // sees every step; may be nil
	user      data.Source       // rows in the user's units
	src       data.Source       // rows after the transform
	measured  data.Source       // rows in the units of the fit, before any other transform
	units     fitUnits          // that the fit measures columns and weights by
	transform []model.Transform // of the columns, that of the units first
	look      *sweep.Survey     // of src
	origin    []float64
	mix       *mixture.Mixture
	local     *sweep.Local
	names     []string
	sd        []float64 // standard deviations of the columns in the user's units; nil for bits and levels
	grid      []float64 // of each column: see grids; nil where nothing was drawn
	discrete  []string  // names of columns with few distinct values
	drawnFrom int64     // rows that starts were drawn from; 0 where nothing was drawn

	given *given // the model that it starts from; nil elsewhere

	beaten      []bool // starts that lost on the sample already; nil where they did not climb there
	startSweeps int    // passes that choosing starts took
	moveSweeps  int    // passes that splitting and merging took

	confirmSweeps int // passes that the closer look at the end took

	beside int     // fits of a choice that are under way at the same time; 0 means this one alone
	shared *shared // what was drawn, by all candidates of a choice
	// Of a candidate among others: the passes it shares, and the objective it must reach to be chosen; nil elsewhere.
	joint sweep.Sweeper
	need  func() float64
}

// sweeper is what climbs ask for passes.
func (f *fit) sweeper() sweep.Sweeper {
	if f.joint != nil {
		return f.joint
	}
	return f.local
}

// prepare makes the first pass and refuses rows that cannot be fitted.
func prepare(ctx context.Context, src data.Source, p plan.Plan) (*fit, error) {
	f, err := survey(ctx, src, p)
	if err != nil {
		return nil, err
	}
	return f, f.size()
}

// survey is prepare as far as it does not depend on K, but for refusing too large a one, nor on the covariance shape.
func survey(ctx context.Context, src data.Source, p plan.Plan) (*fit, error) {
	if err := p.One(); err != nil {
		return nil, err
	}
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	if _, d := src.Shape(); p.Algorithm == plan.Exact && d != 1 && p.PCA != 1 {
		return nil, plan.Wrong("Algorithm", "exact is for one column, but %d are fitted; use lloyd, or choose one with --columns", d)
	}
	f := &fit{plan: p, user: src, src: src, measured: src, shared: new(shared)}
	_, d := src.Shape()
	if f.names = p.Columns; f.names == nil {
		for j := range d {
			f.names = append(f.names, strconv.Itoa(j+1))
		}
	}
	if len(f.names) != d {
		return nil, plan.Wrong("Columns", "has %d names for %d columns", len(f.names), d)
	}
	look, err := sweep.Look(ctx, src, p.Threads)
	if err != nil {
		return nil, err
	}
	f.look = look
	for _, step := range []func(context.Context) error{f.rescale, f.spreads, f.check, f.checkRange, f.scale, f.checkCells, f.checkDistinct, f.findDiscrete} {
		if err := step(ctx); err != nil {
			return nil, err
		}
	}
	f.origin = f.look.Origin()
	if !p.Kind.Centred() {
		f.origin = make([]float64, len(f.look.Mean))
	}
	return f, nil
}

// size makes the mixture of K components that is fitted.
func (f *fit) size() error {
	p, d := &f.plan, len(f.look.Mean) // after the transform
	f.mix = &mixture.Mixture{K: p.K, D: d, Uniform: p.Uniform}
	v := kind.Variables{Shape: p.Shape, Levels: kind.Counts(p.Levels), Var: f.look.Var, RegCovar: f.inUnits(p.RegCovar)}
	f.mix.Family = p.Kind.Family(v)
	if g, ok := f.mix.Family.(family.Parsimonious); ok {
		if j := g.Hidden(); j >= 0 && len(f.names) == d && f.plan.PCA == 0 {
			return fmt.Errorf("column %q: its values are so small beside the others' that the floor of variances hides them, which %s covariances have in common for all columns; use --scale standard", f.names[j], p.Shape)
		}
	}
	if n := f.mix.Params(); p.Algorithm == plan.BFGS && n > ascent.MaxBFGS {
		return plan.Wrong("Algorithm", "bfgs keeps a matrix of %d x %d numbers; use lbfgs for more than %d parameters", n, n, ascent.MaxBFGS)
	}
	f.local = sweep.NewLocal(f.src, f.look.Rows, f.origin, p.Threads)
	return f.affordable()
}

// spreads notes the standard deviations of the columns.
func (f *fit) spreads(context.Context) error {
	if f.plan.Kind.Cells.Units {
		for j, v := range f.look.Var {
			sd := math.Sqrt(v)
			if f.units.scale != nil {
				sd *= f.units.scale[j]
			}
			f.sd = append(f.sd, sd)
		}
	}
	return nil
}

// check refuses what no fit can use.
func (f *fit) check(context.Context) error {
	look, k := f.look, f.plan.K
	switch {
	case look.Rows == 0:
		return errors.New("there are no rows to fit")
	case look.Used == 0 || look.W == 0:
		return errors.New("all row weights are zero: there is nothing to fit")
	case int64(k) > look.Used:
		return plan.Wrong("K", "is %d, but the number of rows is %d", k, look.Used)
	}
	if err := checkWeights(f.weight()); err != nil {
		return err
	}
	for j, v := range look.Var {
		if (math.IsInf(v, 1) || v != v) && f.plan.Binarize == nil {
			return tooLarge(f.names[j])
		}
		if v == 0 && look.Min[j] < look.Max[j] && f.plan.Mixture() && f.plan.Binarize == nil {
			return tooSmall(f.names[j])
		}
		if v == 0 && f.plan.Kind.Shaped {
			return fmt.Errorf("column %q is constant (%v in every row): a mixture cannot give it a variance; use --exclude %s", f.names[j], look.Min[j], text.ShellWord(f.names[j]))
		}
	}
	return nil
}

// checkDistinct refuses more components than there are distinct rows, after any transform.
func (f *fit) checkDistinct(ctx context.Context) error {
	k := f.plan.K
	if k <= 1 {
		return nil
	}
	distinct, err := distinctRows(ctx, f.src, k)
	if err == nil && distinct < k {
		err = plan.Wrong("K", "is %d, but the number of distinct rows is %d", k, distinct)
	}
	return err
}

// checkCells refuses cells that the model has no place for: that are no bits for a model of bits, no levels for one of levels.
func (f *fit) checkCells(ctx context.Context) error {
	cells := f.plan.Kind.Cells
	if cells.Levels && len(f.plan.Levels) != len(f.names) {
		return plan.Wrong("Levels", "names the levels of %d columns, but there %s %d", len(f.plan.Levels), text.Form(len(f.names), "is", "are"), len(f.names))
	}
	return cells.Check(ctx, f.src, f.plan.Levels, f.names, true)
}

// distinctRows counts distinct rows of positive weight and stops at most.
func distinctRows(ctx context.Context, src data.Source, most int) (int, error) {
	r, err := src.Open(ctx)
	if err != nil {
		return 0, err
	}
	defer r.Close()
	seen := map[string]struct{}{}
	var b data.Block
	var key []byte
	for len(seen) < most && ctx.Err() == nil {
		if err := r.Read(&b, 256); err == io.EOF {
			break
		} else if err != nil {
			return 0, err
		}
		for i := 0; i < b.N && len(seen) < most; i++ {
			if b.Weight(i) == 0 {
				continue
			}
			key = key[:0]
			for j := range b.D {
				key = strconv.AppendUint(key, math.Float64bits(b.At(i, j)+0), 36) // +0 turns -0 into 0
				key = append(key, ' ')
			}
			seen[string(key)] = struct{}{}
		}
	}
	return len(seen), ctx.Err()
}

// objectiveOf is what runs are compared by: the free energy, but for a mixture at another temperature than 1, where that is no
// log-likelihood, the log-likelihood.
func objectiveOf(p *ascent.Point) float64 {
	if p.Beta != 1 && !math.IsInf(p.Beta, 1) {
		return p.LogLik
	}
	return p.F
}

// best returns the index of the winning run: the highest, runs without a degenerate component first.
func (f *fit) best(runs []run) (int, error) {
	at, spike := -1, false
	for i, r := range runs {
		if r.last.Point == nil {
			continue
		}
		degenerate := f.degenerate(r.last.Point)
		if at < 0 || spike && !degenerate || spike == degenerate && objectiveOf(r.last.Point) > objectiveOf(runs[at].last.Point) {
			at, spike = i, degenerate
		}
	}
	if at >= 0 {
		return at, nil
	}
	for _, r := range runs {
		if r.err != nil {
			return 0, r.err
		}
	}
	return 0, errors.New("no start could be evaluated")
}

// jacobian is what a log-likelihood of transformed rows lacks to one in the user's units: the density of a row is that of
// the transformed row over the product of the scales.
func (f *fit) jacobian() float64 {
	if !f.plan.Mixture() {
		return 0
	}
	return -f.look.W * model.LogVolume(f.transform, len(f.names))
}

// agreement counts how many starts ended where the winner did, and how many different ends there were.
func (f *fit) agreement(e *outcome) model.Starts {
	s := model.Starts{N: len(e.runs), DrawnFrom: f.drawnFrom}
	if e.moves != nil {
		moves := *e.moves
		moves.Gain = f.userWeight(moves.Gain)
		s.Moves = &moves
	}
	top := objectiveOf(e.win().last.Point)
	tol := agree
	if !f.plan.Mixture() {
		tol = 1e-9 * math.Abs(top)
	}
	var ends []float64
	for _, r := range e.runs {
		if r.last.Point == nil {
			continue
		}
		s.Objectives = append(s.Objectives, f.userObjective(objectiveOf(r.last.Point)))
		if r.pruned {
			s.Outraced++
			continue
		}
		ends = append(ends, objectiveOf(r.last.Point))
		if math.Abs(objectiveOf(r.last.Point)-top) <= tol {
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
