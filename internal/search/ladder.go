package search

import (
	"context"
	"iter"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// Constants of the ladder of samples.
const (
	// rungStep is how many times the rows of one rung a rung has more than the one below it, and all rows more than the highest.
	rungStep = 4
	// mostRungs is how many rungs there are at most.
	mostRungs = 3
	// laddered is the number of rows from which on climbs begin on samples. Of fewer a pass takes no longer than what surrounds it.
	laddered = 20_000
	// rungRows is the least number of rows of a rung.
	rungRows = 1000
	// rungPerParameter is the least number of rows a free parameter. With 5, three starts of 16 components in 16 columns, 100,000 rows, took a fifth more passes than without samples.
	rungPerParameter = 20
	// rungPerOwn is the least weight of a component where the climb on a rung ends, in rows for each parameter of its own. Below it the
	// maximum may be one that only the sample has: of 24 starts of four components in ten columns (bench/peers.py, "10d") three ended in one of 2.8 rows a
	// parameter, and 4,400 nats too low on all rows. With 4 none did; with 8 the ends were no higher, and fewer rungs were of use.
	rungPerOwn = 4
	// rungStarts is the number of starts of a search on samples. Two more than of one on as many rows without samples cost next to nothing there: of 16 seeds the default found the best
	// maximum known of six components in five columns ("6g") in 12 without samples, in 10 with samples from three starts in 54 % of the passes, in 13 from five in 49 %.
	rungStarts = 5
	// rungNear is the estimated distance from its maximum, in standard errors of the rung, at which a climb leaves it, after raceSteps steps where nothing was known
	// of the curvature. The estimate is too small on plateaus: left at a distance of 1, rungs gave points before a saddle, and climbs of all rows took twice as many passes.
	rungNear = 0.1
	// atOptimumNear times the square root of the number of parameters is the distance within which a given start is as near to the maximum as the
	// rung can tell: its own is as many standard errors away as that square root.
	atOptimumNear = 2
	// surelyBeaten is how many standard deviations of the difference a start must be below the best on a rung to climb no more.
	surelyBeaten = 3
	// rungMoves is how many moves of a single start are compared with it on the second rung, after rungMoveSteps steps of EM on the lowest. There they
	// cannot be compared: a component that fits chance gains as much on any number of rows, one that was missed in proportion to them. Of 48 starts of "6g" 33
	// ended higher than by EM and 2 lower, in 74 passes in the median; without moves 17 and 14 in 196.
	// With 3 or 10 steps on the lowest rung, or two moves, as many ended lower.
	rungMoves     = 3
	rungMoveSteps = 5
	// rungMovePairs is how many pairs may merge there, those whose responsibilities are most alike. With four as many of the 48 ended lower and higher, and
	// where every start finds the best maximum ("10d") moves took a sixth of the time.
	rungMovePairs = 2
	// hopelessly is how many times the standard deviation of a difference may be what it is between fits that are near each other. Of 152 moves
	// from the ends of 24 starts of each of four mixtures (bench/peers.py, "2g", "4g", "10d", "6g") it was 1 to 1.65 times that.
	hopelessly = 2
)

// rung is a fit to a sample of the rows, and that sample.
type rung struct {
	*Fit
	points *seed.Points
}

// begun is what the climbs of the starts on samples of the rows have come to.
type begun struct {
	theta  []float64
	beaten bool           // it lost on a sample already
	known  *ascent.Memory // what it has learned of the curvature of a function; nil where nothing
	weight float64        // of the rows whose objective that is
	passes float64        // passes over samples, by their shares of the rows
	given  bool           // theta is still where the caller put it
	end    *ascent.Point  // where the climb on the last rung ended, even if theta did not move there; nil where it did not climb that
	moves  *model.Moves   // what splitting and merging came to; nil where it was not tried
}

// rungs returns fits to growing samples of the rows, the smallest first. The maxima of a sample of m of n rows are some sqrt(n/m) standard
// errors of all rows from theirs, which is a few passes. The highest rung is a quarter of the rows, at most as many as starts are drawn from, so that memory does not grow with the
// rows; those below it are a quarter of the next each, as long as there are rows enough for the parameters. Where there are not, starts that were drawn from a
// sample climb on that. Nothing here depends on where the rows are.
func (f *Fit) rungs(ctx context.Context) (up []rung, err error) {
	p := &f.Plan
	if !f.climbsRungs() {
		return nil, nil
	}
	n, least := f.topRows()
	if many := p.Thorough() && f.Survey.Used >= rungStep*seed.SampleRows; n < least && !many {
		return nil, nil
	}
	s, err := f.topRung(ctx, n)
	if err != nil {
		return nil, err
	}
	up = append(up, rung{f.onPoints(s), s})
	for !p.Bayes() && len(up) < mostRungs && s.N/rungStep >= least {
		if s, err = f.shared.rung(s); err != nil {
			return nil, err
		}
		up = append(up, rung{f.onPoints(s), s})
	}
	slices.Reverse(up)
	return up, nil
}

// climbsRungs reports whether starts climb on samples first: those of climbs to the maximum by the driver that the fit has chosen itself.
func (f *Fit) climbsRungs() bool {
	p := &f.Plan
	switch {
	case p.Bayes():
		return p.Thorough() && f.Survey.Used >= rungStep*seed.SampleRows
	case p.Chain || p.Replica || p.K == 1 || f.alone != nil || f.Survey.Used < laddered:
		return false
	}
	return p.Driver(f.Mix.D) == plan.EMLBFGS && p.Algorithm == plan.Auto && f.Mix.Smooth() && p.Spec.MaxIter == nil && p.Tol > 0 && p.TolLogLik == 0
}

// topRows returns how many rows the highest rung has, and how many are the least for a rung.
func (f *Fit) topRows() (n, least int) {
	return int(min(f.Survey.Used/rungStep, seed.SampleRows)), max(rungRows, rungPerParameter*f.Mix.Free())
}

// starts returns the number of starts: more than the plan says where the search is left to the fit and has rungs.
func (f *Fit) starts() int {
	starts := f.Plan.Starts(f.Survey.Used)
	if n, least := f.topRows(); f.Plan.Thorough() && f.Plan.NInit == 0 && !f.Plan.Bayes() && f.climbsRungs() && n >= least {
		return max(starts, rungStarts)
	}
	return starts
}

// topRung returns the sample of n rows that is the highest rung: that for starts where it is as large.
func (f *Fit) topRung(ctx context.Context, n int) (*seed.Points, error) {
	return f.shared.sample(n, func() (*seed.Points, error) {
		return seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, n, rng.StartSample.New(f.Plan.Seed))
	})
}

// begin lets the starts climb the rungs, and keeps in f.begun what they have come to. On all rows a few passes are then left of a hundred or
// more. Parameters and what was learned of the curvature are handed up. A rung is as if it had not been for a start that ends on it with a degenerate component, or one of
// too few rows. A start that is surely lower than the best, by the rows' differences in log density, climbs no more.
// A single start is moved after the lowest rung: see moveOnRungs. Starts that have met have the same slice in thetas afterwards. If ctx ends, f.begun is what the rungs climbed so far have given.
func (f *Fit) begin(ctx context.Context, thetas [][]float64) error {
	f.begun = nil
	rungs, err := f.rungs(ctx)
	if err != nil || len(rungs) == 0 {
		return err
	}
	return f.climbRungs(ctx, rungs, thetas)
}

// climbRungs is begin on the given rungs.
func (f *Fit) climbRungs(ctx context.Context, rungs []rung, thetas [][]float64) error {
	starts := make([]begun, len(thetas))
	for i, theta := range thetas {
		starts[i] = begun{theta: theta, given: f.Plan.HasStart()}
	}
	for i, s := range rungs {
		if err := s.climbRung(ctx, starts, f.share(s), i == len(rungs)-1); err != nil {
			return err
		}
		switch {
		case i == 0 && len(rungs) > 1 && f.movesOnRungs(&starts[0]):
			moved, err := f.moveOnRungs(ctx, s, rungs[1], &starts[0])
			if err != nil {
				return err
			}
			if moved != nil {
				starts = append(starts, *moved)
			}
		case len(starts) > len(thetas):
			s.take(&starts[0], &starts[1])
			starts = starts[:1]
		}
		f.begun = starts[:len(thetas)]
		for i, b := range f.begun {
			thetas[i] = b.theta
		}
	}
	return nil
}

// share returns the share of the rows that a rung has.
func (f *Fit) share(s rung) float64 { return float64(s.Survey.Used) / float64(f.Survey.Used) }

// climbRung lets the starts climb on the rows of s, a share of all. The last rung is the one below all rows.
func (s *Fit) climbRung(ctx context.Context, starts []begun, share float64, last bool) error {
	var live []*begun
	var thetas [][]float64
	for i := range starts {
		b := &starts[i]
		if b.end = nil; b.beaten {
			continue
		}
		if b.given {
			near, err := s.atOptimum(ctx, b.theta)
			if b.passes += share; err != nil {
				return err
			}
			if near {
				continue
			}
		}
		live, thetas = append(live, b), append(thetas, b.theta)
	}
	l := s.lockstep(nil)
	l.joins = true
	runs := l.climb(ctx, func(i int) ascent.Driver {
		least := raceSteps
		if live[i].known != nil {
			least = ascent.EstimateAfter
		}
		return until{live[i].driver(s.Driver(i).(ascent.Finish).Driver.(ascent.EMLBFGS), s.Survey.W), rungNear, least}
	}, thetas, nil)
	for i, r := range runs {
		if r.Err != nil {
			return r.Err
		}
		live[i].passes, live[i].end = live[i].passes+float64(r.Sweeps)*share, r.Last.Point
	}
	return s.compare(ctx, live, runs, share, last)
}

// atOptimum reports whether theta is as near to a maximum as the rows of s can tell.
func (s *Fit) atOptimum(ctx context.Context, theta []float64) (bool, error) {
	r := s.ClimbWith(ctx, ascent.EMLBFGS{}, theta, nil)
	if r.Err != nil {
		return false, r.Err
	}
	return r.Last.Point.Slope() <= atOptimumNear*math.Sqrt(float64(s.Mix.Free())), nil
}

// driver returns the driver d as the start goes on with it, on rows of so much weight.
func (b *begun) driver(d ascent.EMLBFGS, weight float64) ascent.Driver {
	if b.known != nil {
		d.Warm, d.Known = 0, b.known.Scaled(weight/b.weight)
	}
	return d
}

// compare moves the starts to where their climbs on the rows of s, a share of all, have ended, and finds those that are beaten. Where last is true, those that
// have met become one.
func (s *Fit) compare(ctx context.Context, starts []*begun, runs []Run, share float64, last bool) error {
	best := -1
	sound, scores := make([]bool, len(runs)), make([][]float64, len(runs)) // scores are log densities of the rows
	for i, r := range runs {
		b, p := starts[i], r.Last.Point
		if sound[i] = s.sound(p); sound[i] {
			b.theta, b.known, b.weight, b.given = p.Theta, r.Last.Memory, s.Survey.W, false
		}
		if len(runs) == 1 {
			return nil
		}
		b.passes += share
		var err error
		if scores[i], err = s.logDensities(ctx, p.Theta); err != nil {
			return err
		}
		if sound[i] && (best < 0 || ObjectiveOf(p) > ObjectiveOf(runs[best].Last.Point)) {
			best = i
		}
	}
	if best < 0 {
		return nil
	}
	weights := s.Source.(*data.Table).W
	for i, score := range scores {
		sum, spread := difference(weights, scores[best], score)
		switch {
		case i == best:
		case sum > surelyBeaten*spread, sum > 0 && !sound[i]:
			starts[i].beaten = true
		case last && sound[i] && math.Hypot(sum, spread) < math.Sqrt(float64(s.Mix.Free())):
			starts[i].theta = starts[best].theta
		}
	}
	return nil
}

// movesOnRungs reports whether b, the first start, is moved after it has climbed the lowest rung: one that stands alone, of a kind whose components show within a few
// steps what they lead to. A given one that is as near to the maximum as the rung can tell has not climbed.
func (f *Fit) movesOnRungs(b *begun) bool {
	return f.starts() == 1 && !f.Plan.Kind.Soft && b.end != nil
}

// moveOnRungs compares the start, after its climb on the lowest rung, with moves from the end of that: each merges two components and splits a third. Moves take a few
// EM steps on that rung. The best of them that are not surely lower than the start, and the start, take some more on the next; the highest of these becomes the start. Where
// the end was one that only the sample has the start has not climbed yet, so that few steps say nothing of where it leads: the best move is then returned, to climb the next rung beside it.
func (f *Fit) moveOnRungs(ctx context.Context, low, next rung, b *begun) (beside *begun, err error) {
	m := f.moveSearch(low.Fit, low.points)
	b.moves, m.rules.fresh, m.rules.pairs = &m.Moves, false, min(rungMovePairs, m.rules.pairs)
	thetas, err := m.movesOf(ctx, b)
	b.passes += float64(m.sweeps) * f.share(low)
	if err != nil || len(thetas) == 0 {
		return nil, err
	}
	if b.known != nil {
		thetas = slices.Insert(thetas, 0, b.theta)
	}
	runs := next.lockstep(nil).climb(ctx, func(int) ascent.Driver { return ascent.EM{Beta: 1, MaxIter: moveSteps} }, thetas, nil)
	for _, r := range runs {
		if r.Err != nil {
			return nil, r.Err
		}
		b.passes += float64(r.Sweeps) * f.share(next)
	}
	best, err := next.Best(runs)
	if err != nil {
		return nil, err
	}
	theta := runs[best].Last.Point.Theta
	switch {
	case b.known == nil:
		return &begun{theta: theta}, nil
	case best > 0:
		b.theta, b.known, m.Kept = theta, nil, 1
	}
	return nil, nil
}

// movesOf returns where the best moves from the end of the climb of b on the rows of m lead within a few steps of EM, but for those that are surely lower than b.
func (m *MoveSearch) movesOf(ctx context.Context, b *begun) (thetas [][]float64, err error) {
	resp, err := m.Responsibilities(ctx, b.end.Theta)
	if err != nil {
		return nil, err
	}
	moved, err := m.starts(ctx, resp)
	if err != nil {
		return nil, err
	}
	to := promising{rungMoveSteps, b.end.F}
	if b.known == nil { // the end was one that only the sample has
		to.before = math.Inf(-1)
	}
	runs, err := m.try(ctx, moved, to, rungMoves)
	if err != nil {
		return nil, err
	}
	m.sweeps++
	if runs = slices.DeleteFunc(runs, func(r Run) bool { return to.hopeless(&r.Last) }); len(runs) == 0 {
		return nil, nil
	}
	m.sweeps += len(runs)
	own, err := m.Fit.logDensities(ctx, b.theta)
	if err != nil {
		return nil, err
	}
	for _, r := range runs {
		theta := r.Last.Point.Theta
		score, err := m.Fit.logDensities(ctx, theta)
		if err != nil {
			return nil, err
		}
		if sum, spread := difference(m.Points.W, own, score); sum <= surelyBeaten*spread {
			thetas = append(thetas, theta)
		}
	}
	return thetas, nil
}

// promising takes so many steps of EM from where a move leads, as long as these may come near enough to F before the move.
type promising struct {
	steps  int
	before float64 // F before the move, nats
}

// Steps implements ascent.Driver.
func (p promising) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		for s, err := range (ascent.EM{Beta: 1, MaxIter: p.steps}).Steps(ctx, o, theta) {
			if !yield(s, err) || p.hopeless(&s) {
				return
			}
		}
	}
}

// hopeless reports whether the steps left would end surely below F before the move if each gained what the last one did; the first gains most. The
// rows' log densities differ by d nats in sum with a standard deviation of about sqrt(2 d) where the two are near each other, and hopelessly
// stands for that it is more.
func (p promising) hopeless(s *ascent.Step) bool {
	short := p.before - s.Point.F
	return s.Iteration > 0 && short-float64(p.steps-s.Iteration)*s.Change > surelyBeaten*hopelessly*math.Sqrt(2*max(short, 0))
}

// take makes of b the move c, which has climbed a rung of s beside it, where that ended higher.
func (s rung) take(b, c *begun) {
	b.passes += c.passes
	if b.end != nil && !s.Degenerate(c.end) && (s.Degenerate(b.end) || ObjectiveOf(c.end) > ObjectiveOf(b.end)) {
		b.theta, b.known, b.weight, b.given = c.theta, c.known, c.weight, false
		b.moves.Kept = 1
	}
	b.beaten = false
}

// logDensities returns the log density of each row at theta.
func (f *Fit) logDensities(ctx context.Context, theta []float64) (each []float64, err error) {
	err = f.Local.Rows(ctx, f.Mix, theta, func(rows *sweep.Scored) error {
		each = append(each, rows.LogDensity...)
		return nil
	})
	return each, err
}

// sound reports whether a point has neither a degenerate component nor one of too few rows for what it has of its own.
func (s *Fit) sound(p *ascent.Point) bool {
	own := float64(s.Mix.Free()) / float64(s.Mix.K)
	return !s.Degenerate(p) && (s.Mix.Bayes != nil || slices.Min(p.Weights) >= rungPerOwn*own*s.Survey.W/float64(s.Survey.Used))
}

// difference returns the sum of the rows' differences a - b, by their weights w, and the standard deviation of that sum.
func difference(w, a, b []float64) (sum, spread float64) {
	total := 0.0
	for i, w := range w {
		sum, total = sum+w*(a[i]-b[i]), total+w
	}
	for i, w := range w {
		off := w * (a[i] - b[i] - sum/total)
		spread += off * off
	}
	return sum, math.Sqrt(spread)
}
