// Package selection makes many fits and chooses one. Its candidates are fits of several numbers of components and covariance shapes. They
// share passes where rows are many, race each other, and start from one another's outcomes.
package selection

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/inference"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// choice is a choice of K and of the covariance shape under way.
type choice struct {
	plan         plan.Plan
	see          search.Observer
	base         *search.Fit // what all candidates share: the first pass and the transform
	distinct     int         // distinct rows, counted up to one more than the largest K
	lo, hi       int         // the lowest and the highest K of all
	hiBeforeLook int         // the highest K of the range without the last look beyond it; 0 where nobody has looked
	criterion    plan.Criterion
	all          []*contender // the fewest components first
	judges       *judges      // nil where silhouettes are not asked for
	refs         *references  // nil where gaps are not
	penalty      *float64     // of the elbow, once all candidates are done

	seconds float64 // of one core, by the estimate, of candidates with many parameters for the table

	best *contender // of those that can win; nil where there are none
	bar  float64    // the lowest criterion of candidates that have shared passes; +Inf where there are none

	judged      atomic.Bool // a candidate has a silhouette
	broken      error       // of the source; nil where that is whole
	mu          sync.Mutex
	done, looks int // fits that are done, and fits in all: some candidates are fitted twice
}

// contender is a candidate and its fit.
type contender struct {
	model.Candidate
	order      int
	shape      family.Shape
	sameAs     *contender // an earlier candidate that is the same model; nil where there is none
	large      bool       // it would take more than is allowed and is not tried
	fit        *search.Fit
	outcome    *search.Outcome // compact
	extraStart []float64       // where the climb from candidate From began; nil where there was none
	agreeing   int             // climbs from neighbours that ended where it did
	second     bool            // it has had its second round, from its neighbours
	judged     sampled         // the sample that its silhouette is of
}

// Fit makes the fits of a plan and returns the result of the best: of every candidate where the plan leaves a choice, else of the one fit. It
// makes no repetitions. If ctx ends, the result is of what was done by then, and its provenance says so; before there is any, the error is that
// of ctx.
func Fit(ctx context.Context, src data.Source, p plan.Plan, see search.Observer) (*search.Result, error) {
	if p.Chooses() {
		return choose(ctx, src, p, see)
	}
	return search.FitOne(ctx, src, p, see)
}

// choose fits every candidate and returns the result of the best.
func choose(ctx context.Context, src data.Source, p plan.Plan, see search.Observer) (*search.Result, error) {
	began := time.Now()
	c := &choice{plan: p, see: see, criterion: p.Criterion, bar: math.Inf(1)}
	lo, hi := p.Sizes()
	rows, err := prepare.New(ctx, src, p.Candidate(lo, family.Full))
	if err != nil {
		return nil, err
	}
	if err := rows.CheckCriterion(c.criterion); err != nil {
		return nil, err
	}
	c.base = search.Unsized(rows)
	c.base.Plan = p
	if err := c.base.LookForPrior(ctx); err != nil {
		return nil, err
	}
	c.base.Plan = rows.Plan
	if w := c.base.Weight(); w < leastCounted && (c.criterion == plan.BIC || c.criterion == plan.ICL) {
		return nil, plan.Wrong("Criterion", "%s takes what the row weights add up to, %s, as the number of rows: multiply the weights by what makes them count rows, or say which -k and --covariance", c.criterion, text.Significant(w, 3))
	}
	shapes, _ := p.Shapes(c.base.Survey.Used, len(c.base.Survey.Mean))
	if err := p.CheckFactors(shapes, len(c.base.Survey.Mean), c.base.Survey.Missing > 0); err != nil {
		return nil, err
	}
	if err := p.CheckRange(c.base.Survey.Used, len(shapes)); err != nil {
		return nil, err
	}
	if c.distinct, err = prepare.DistinctRows(ctx, c.base.Source, hi+1); err != nil {
		return nil, err
	}
	left := c.list(lo, hi)
	large, err := c.leaveLarge()
	if err != nil {
		return nil, err
	}
	if c.criterion == plan.Silhouette {
		c.judges = &judges{threads: p.Threads}
	}
	if c.criterion == plan.Gap {
		if c.refs, err = interrupt.Run(ctx, interrupt.Grace, func() (*references, error) { return newReferences(ctx, c.base) }); err != nil {
			return nil, err
		}
	}
	looked := time.Now()
	if err := c.fitAll(ctx); err != nil && ctx.Err() == nil {
		return nil, err
	}
	if c.broken != nil {
		return nil, c.broken
	}
	c.settle()
	climbed := time.Now()
	if c.best == nil {
		return nil, c.whyNone(ctx)
	}
	win := c.best
	if p.Replica {
		return win.fit.Minimal(win.outcome), nil
	}
	r, err := c.finalResult(ctx, win, began)
	if err != nil {
		return nil, err
	}
	r.Timing.Start, r.Timing.Fit, r.Timing.Judge = looked.Sub(began).Seconds(), climbed.Sub(looked).Seconds(), time.Since(climbed).Seconds()
	c.addCandidates(r, left)
	r.Model.Provenance.Choice.TooLarge = large
	if err := c.collinear(ctx, r); err != nil {
		return nil, err
	}
	return r, nil
}

// leastCounted is the least sum of row weights whose logarithm BIC and ICL can charge for a parameter: below 1 it would be negative.
const leastCounted = 2

// list makes the candidates with lo to hi components, and returns the codes of the shapes that are left out.
func (c *choice) list(lo, hi int) (left []string) {
	shapes, out := c.plan.Shapes(c.base.Survey.Used, len(c.base.Survey.Mean))
	for _, s := range out {
		left = append(left, s.Mclust())
	}
	c.lo, c.hi = lo, lo-1
	c.add(shapes, hi)
	return left
}

// add makes candidates of the shapes with more components than there were, up to hi, and returns them.
func (c *choice) add(shapes []family.Shape, hi int) (added []*contender) {
	d := len(c.base.Survey.Mean)
	for k := c.hi + 1; k <= hi; k++ {
		known := map[string]*contender{}
		for _, shape := range shapes {
			x := &contender{Candidate: model.Candidate{K: k}, order: len(c.all), shape: shape}
			if c.plan.Shaped() {
				x.Covariance, x.Mclust = shape.String(), shape.Mclust()
				key := c.plan.ModelKey(shape, k, d)
				if x.sameAs = known[key]; x.sameAs == nil {
					known[key] = x
				}
			}
			c.all, added = append(c.all, x), append(added, x)
		}
	}
	c.hi = hi
	return added
}

// SideBySideRows is the number of rows up to which candidates are fitted side by side, each by one thread, since passes over few rows
// leave threads idle. With more rows candidates share passes, and each pass has all threads.
const SideBySideRows = 20_000

// Bounds of the candidates that share passes, for the memory of their sums.
const (
	waveTasks   = 200       // climbs
	waveNumbers = 2_000_000 // parameters of all climbs
)

// fitAll fits the candidates, and further ones as long as the range of K grows, until all are done or ctx ends.
func (c *choice) fitAll(ctx context.Context) (err error) {
	for fresh := c.all; len(fresh) > 0 && err == nil; {
		for len(fresh) > 0 && err == nil {
			c.fitOnce(ctx, fresh)
			fresh, err = c.grow(ctx)
		}
		second := c.secondRound(c.all)
		c.looks += len(second)
		c.exchange(ctx, second)
		c.alias()
		if err == nil {
			fresh, err = c.grow(ctx)
		}
	}
	return err
}

// fitOnce fits candidates from their own starts.
func (c *choice) fitOnce(ctx context.Context, fresh []*contender) {
	var queue []*contender
	for _, x := range fresh {
		if x.sameAs == nil && !x.large {
			queue = append(queue, x)
		}
	}
	c.looks += len(queue)
	threads := c.plan.Threads
	if c.base.Survey.Used > SideBySideRows {
		for rest := queue; len(rest) > 0; {
			n := c.wave(rest)
			c.together(ctx, rest[:n])
			rest = rest[n:]
		}
		return
	}
	largestFirst(ctx, threads, queue, func(_ int, x *contender) { c.tried(ctx, x, 1, nil) })
}

// largestFirst calls do for every candidate of a queue, the last first, by so many workers. Large candidates take longest: begun first,
// none runs alone at the end. do is also called after ctx has ended, to say that a candidate was not tried.
func largestFirst(ctx context.Context, workers int, queue []*contender, do func(i int, x *contender)) {
	par.Do(context.WithoutCancel(ctx), workers, len(queue), func(_, n int) { // its error can only be that of a context
		i := len(queue) - 1 - n
		do(i, queue[i])
	})
}

// tried is try, followed by note.
func (c *choice) tried(ctx context.Context, x *contender, threads int, j *joint) {
	c.try(ctx, x, threads, j)
	c.note(x)
}

// alias gives candidates that are the same model as an earlier one the numbers of that.
func (c *choice) alias() {
	for _, x := range c.all {
		if x.sameAs != nil {
			own := x.Candidate
			x.Candidate = x.sameAs.Candidate
			x.Covariance, x.Mclust, x.SameAs = own.Covariance, own.Mclust, x.sameAs.Mclust
		}
	}
}

// wave returns how many of the candidates may share passes, at least 1.
func (c *choice) wave(rest []*contender) int {
	d := len(c.base.Survey.Mean)
	one := c.plan.Candidate(1, family.Full)
	if a := one.Driver(d); one.Medians() || a == plan.MiniBatch || a == plan.Exact {
		return 1 // they keep the rows in memory and make no passes
	}
	tasks, numbers := 0, 0
	for i, x := range rest {
		p := c.plan.Candidate(x.K, x.shape)
		n := p.Starts(c.base.Survey.Used) * p.Tries(p.Start(d), c.base.Survey.Used)
		tasks, numbers = tasks+n, numbers+n*x.K*(1+d+p.Shape.Size(d))
		if i > 0 && (tasks > waveTasks || numbers > waveNumbers) {
			return i
		}
	}
	return len(rest)
}

// together fits candidates that share their passes.
func (c *choice) together(ctx context.Context, wave []*contender) {
	j := &joint{sweeper: sweep.NewLocal(c.base.Source, c.base.Survey.Rows, c.base.Origin, c.plan.Threads), live: len(wave), best: c.bar}
	defer func() { c.bar = j.best }()
	var wg sync.WaitGroup
	var caught par.Caught
	for _, x := range wave { // all begin: each pass waits for all that have not left
		wg.Go(func() {
			defer caught.Catch()
			c.tried(ctx, x, c.plan.Threads, j)
		})
	}
	wg.Wait()
	caught.Raise()
}

// What is said of candidates when ctx has ended.
const (
	cutShort = "interrupted"
	notTried = "interrupted before it was tried"
)

// try fits one candidate and fills in its numbers, or why it failed. With j it shares passes with others, which it leaves when its climbs
// have ended.
func (c *choice) try(ctx context.Context, x *contender, threads int, j *joint) {
	value := math.Inf(1)
	leave := sync.OnceFunc(func() {
		if j != nil {
			j.leave(ctx, value)
		}
	})
	defer leave()
	switch {
	case ctx.Err() != nil:
		x.Why = notTried
		return
	case x.K > c.distinct:
		x.Why = fmt.Sprintf("there are only %d distinct rows", c.distinct)
		return
	}
	f := *c.base
	f.Plan = c.plan.Candidate(x.K, x.shape)
	f.Plan.Threads = threads
	e, err := (*search.Outcome)(nil), f.Size()
	if err == nil {
		if j != nil {
			seen := math.Inf(1)
			f.SharedSweeper = member{j, x.order, &seen}
			if c.races() {
				f.RequiredObjective = func() float64 { return c.objectiveFor(&f, seen) }
			}
		}
		if e, err = f.Run(ctx); err == nil {
			value = c.reachedValue(&f, e)
		}
	}
	leave()
	if err == nil {
		err = c.measureWithin(ctx, x, &f, e)
	}
	if err == nil && c.refs != nil {
		if why := c.refs.judge(ctx, x, &f); why != nil && x.Why == "" {
			x.Why = plan.FlagText(why)
			if ctx.Err() != nil {
				x.Why = cutShort
			}
		}
	}
	if err != nil {
		x.Why = plan.FlagText(err)
		c.fail(err)
		return
	}
	f.Local = nil // what it keeps between sweeps may be large
	f.RequiredObjective = nil
	x.fit, x.outcome = &f, e.Compact()
}

// fail notes err if it is an error of the source rather than of a candidate: the source breaks its promises.
func (c *choice) fail(err error) {
	if wrong := (*data.SourceError)(nil); errors.As(err, &wrong) {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.broken = cmp.Or(c.broken, err)
	}
}

// measureWithin is measure, which it gives up after a while when ctx has ended.
func (c *choice) measureWithin(ctx context.Context, x *contender, f *search.Fit, e *search.Outcome) error {
	own := *x
	wait := f.WaitAfterInterrupt()
	if c.judges != nil {
		if wait = search.ResultWait; c.judged.Load() { // there is one to choose
			wait = interrupt.Grace
		}
	}
	_, err := interrupt.Run(ctx, wait, func() (none struct{}, err error) {
		return none, own.measure(context.WithoutCancel(ctx), f, e, c.judges)
	})
	if err == nil || ctx.Err() == nil {
		*x = own
		if x.Silhouette != nil && x.Why == "" {
			c.judged.Store(true)
		}
	} else {
		err = errors.New(cutShort)
	}
	return err
}

// measure sets the numbers of a candidate as its result would have them, by one pass with the model's own parameters.
func (x *contender) measure(ctx context.Context, f *search.Fit, e *search.Outcome, judges *judges) error {
	if f.SharedSweeper == nil { // where passes are shared, rows are many
		if err := f.Confirm(ctx, e, search.CandidateWork); err != nil {
			return err
		}
	}
	last := e.Winner().Last
	p := last.Point
	m, _ := f.Model(p)
	t, err := f.Judge(ctx, m)
	if err != nil {
		return err
	}
	r := f.Numbers(t, p)
	if err := f.CheckNumbers(ctx, r); err != nil {
		return err
	}
	x.LogLik, x.BIC, x.AIC, x.ICL, x.Inertia, x.FreeParameters = r.LogLik, r.BIC, r.AIC, r.ICL, r.Inertia, new(f.Mix.Free())
	x.Converged, x.Pruned = last.Done.Converged() && !e.Interrupted, e.Winner().Forgone
	x.Undetermined = x.Converged && inference.IsFlat(&last)
	how, why := f.Collapsed(p)
	x.AtFloor, x.Narrow, x.FewRows, x.Why = how == search.OnFloor, how == search.TooNarrow, how == search.TooFew, why
	if x.Why == "" && e.Interrupted {
		x.Why = cutShort
	}
	if judges == nil {
		return nil
	}
	if x.Silhouette, x.judged, err = judges.silhouette(ctx, f, p); err != nil && x.Why == "" {
		x.Why = plan.FlagText(err)
	}
	return nil
}

// note counts a candidate as done and tells the observer.
func (c *choice) note(x *contender) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.done++
	if c.see.Candidate != nil {
		c.see.Candidate(c.done, c.looks, x.Candidate)
	}
}
