package hard

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/nearest"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// Breathing is k-means that goes on where Lloyd's algorithm ends: it adds a few centres, lets all of them settle, removes as many (it
// "breathes in" and "out"), and keeps the result where the inertia is lower (Fritzke 2020, "The breathing k-means
// algorithm"). New centres stand beside those of the largest cost, or at rows drawn by cost; the centres removed are
// those whose rows lose least by it. Several centres move at first, fewer when that gains no more, at last one.
//
// Where its points are all the rows, each end is polished by moves of single rows that lower the inertia (Hartigan 1975):
// their optima are fewer than those of Lloyd's algorithm, and fixed points of it (Telgarsky and Vattani 2010). Equal rows
// move together, so that a row of weight 2 is two rows.
//
// A start gives the same end for any number of threads. Starts may climb at the same time.
type Breathing struct {
	MaxIter int    // steps allowed: of Lloyd's algorithm, and moves kept; 0 evaluates the start
	Seed    uint64 // of the places of new centres
	Start   int    // number of the start: each draws numbers of its own
	Threads int    // of one start; at least 1 is used

	points *seed.Points
	all    bool
	share  float64 // of the rows that are points
	turns  chan struct{}
}

// NewBreathing looks for moves among the points, in rows of the objective about the same origin. rows is how many rows
// there are: where it is more than the number of points, those are a sample. At most climbs starts look for moves at the
// same time.
func NewBreathing(points *seed.Points, rows int64, climbs int) *Breathing {
	b := &Breathing{points: points, all: int64(points.N) == rows, share: float64(points.N) / float64(rows), turns: make(chan struct{}, max(climbs, 1))}
	if b.all {
		b.points = distinct(points)
	}
	return b
}

// Constants of the moves.
const (
	// Five centres move at first (Fritzke's choice), or a tenth where that is more: with 1000 centres in 100,000 rows five at
	// a time left 0.2 % of the inertia.
	most, tenth = 5, 10
	// tries is how often so many move in vain before fewer do. Each try places new centres in another way.
	tries = 2
	// rough is the relative fall of the inertia at which Lloyd's algorithm need not go on before it is known what it is
	// good for, and hope how far above the best it may then be to go on to its end.
	rough, hope = 1e-3, 1e-2
	// lower is the relative fall of the inertia that counts.
	lower = 1e-9
	// instead is how many starts the moves take the place of: they end when they have compared as many rows as the climbs
	// from so many would.
	instead = 2
	// settled is how many steps Lloyd's algorithm may take among the points.
	settled = 300
	// little is work that is always allowed: multiply-adds, some hundredths of a second.
	little = 1e9
	// dear are the multiply-adds of a pass from which fewer numbers of centres are tried: from the digits on that takes a
	// fifth less time to ends that are 0.003 % higher on average; on a few hundred rows best ends became a tenth rarer.
	dear = 1e6
	// alone are the multiply-adds of a pass below which other threads take longer to wake than they save.
	alone = 5e6
)

// Steps implements ascent.Driver. Where the points are all rows, it yields the steps of Lloyd's algorithm from theta, then
// the end of every move kept, the first polish included, with Halves false. Where they are a sample, it yields the start, lets Lloyd's algorithm and the
// moves run there, and goes on from where they end, if that is no worse. Then Lloyd's algorithm on o climbs to its end: at
// once where nothing moves any more. Done is FixedPoint or Limit; Kept counts the moves.
//
// Sweeps counts evaluations of o, and passes over the points as parts of one, rounded up.
func (b *Breathing) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		c := &breather{Breathing: b, yield: yield}
		if b.MaxIter <= 0 {
			c.lloyd(ctx, o, theta)
			return
		}
		if !b.all {
			p, err := o.Eval(ctx, theta, math.Inf(1))
			if c.evals++; err != nil {
				yield(ascent.Step{}, err)
				return
			}
			if !c.step(p, false, ascent.Going) {
				return
			}
		}
		better, ok := c.search(ctx, theta)
		if ok && !c.lloyd(ctx, o, better) {
			c.lloyd(ctx, o, theta)
		}
	}
}

// breather is one start's way.
type breather struct {
	*Breathing
	yield  func(ascent.Step, error) bool
	last   *ascent.Point // the last that was yielded
	steps  int           // yielded so far
	evals  int           // of the objective
	passes int           // over the points
	kept   int
}

// step yields p as the next step. It reports whether to go on.
func (c *breather) step(p *ascent.Point, halves bool, done ascent.Reason) bool {
	s := ascent.Step{
		Iteration: c.steps, Sweeps: c.evals + int(math.Ceil(float64(c.passes)*c.share)), Point: p, Halves: halves, Distance: math.NaN(), Remaining: math.NaN(),
		Kept: c.kept, Done: done,
	}
	if c.last != nil {
		s.Change = p.F - c.last.F
	}
	if done == ascent.Going && c.steps >= c.MaxIter {
		s.Done = ascent.Limit
	}
	c.last = p
	c.steps++
	return c.yield(s, nil) && s.Done == ascent.Going
}

// lloyd runs Lloyd's algorithm on o to its end, or up to the steps allowed. It reports false, and yields nothing, where
// theta is worse than the last step but for rounding: of the points, but not of the rows that they are a sample of.
func (c *breather) lloyd(ctx context.Context, o ascent.Objective, theta []float64) bool {
	for s, err := range (ascent.EM{Beta: math.Inf(1), MaxIter: math.MaxInt}).Steps(ctx, o, theta) {
		if err != nil {
			c.yield(s, err)
			return true
		}
		c.evals++
		if s.Iteration == 0 && !c.all && c.last != nil && s.Point.F < c.last.F {
			return false
		}
		if c.all && s.Iteration == 0 && c.last != nil {
			c.steps-- // the last step again, now of the objective
		}
		if !c.step(s.Point, true, s.Done) {
			return true
		}
	}
	return true
}

// search looks for moves among the points and returns where they lead from theta. Where the points are all rows, it yields
// steps. It reports whether to go on.
func (c *breather) search(ctx context.Context, theta []float64) (better []float64, ok bool) {
	c.turns <- struct{}{}
	defer func() { <-c.turns }()
	ok = true
	s := &search{Breathing: c.Breathing, ctx: ctx, threads: max(c.Threads, 1), rng: rng.Moves.At(c.Seed, c.Start), levels: map[int]*level{}, border: hartiganBounds{points: c.points}}
	if work := c.points.N * len(theta); work < alone {
		s.threads = 1
	}
	if c.all {
		s.see = func(at *ascent.Point, halves bool) bool {
			c.passes, c.kept = s.passes, s.kept
			ok = c.step(at, halves, ascent.Going)
			return ok
		}
	}
	better = s.run(theta)
	c.passes, c.kept = s.passes, s.kept
	return better, ok
}

// search is one start's way among the points.
type search struct {
	*Breathing
	ctx     context.Context
	threads int
	engine  *nearest.Engine
	levels  map[int]*level // by the number of centres
	best    pairs          // of the best centres: every breath begins there
	wide    pairs          // of those breathed in as well
	border  hartiganBounds
	rng     *rand.Rand
	see     func(at *ascent.Point, halves bool) bool // told of each step; reports whether to go on
	passes  int
	budget  float64 // passes
	kept    int
}

// end is where Lloyd's algorithm came to rest.
type end struct {
	theta []float64
	cost  float64
}

// run climbs from theta and returns where it ended: where rows cannot be compared any more or it was told to stop, the
// best so far.
func (s *search) run(theta []float64) []float64 {
	p := s.points
	origin := p.Origin
	if origin == nil {
		origin = make([]float64, p.D)
	}
	s.engine = nearest.New(p.Table(), origin, s.threads)
	best, ok := s.lloyd(theta, 0, s.see)
	k := len(theta) / p.D
	if !ok || k < 2 {
		return best.theta
	}
	s.budget = float64(s.passes) * (1 + instead/s.share)
	s.budget = max(s.budget, little/float64(p.N*p.D*k))
	if polished, ok := s.polish(best); !ok || !s.keep(&best, polished) {
		return best.theta
	}
	for m := min(max(most, k/tenth), k); m > 0; m -= s.fewer(m, k) {
		for try := 0; try < tries; try++ {
			if float64(s.passes) >= s.budget || best.cost == 0 {
				return best.theta
			}
			next, ok := s.breath(best, m, try)
			if !ok {
				return best.theta
			}
			if next.cost < best.cost*(1-lower) {
				try = -1
				if !s.keep(&best, next) {
					return best.theta
				}
			}
		}
	}
	return best.theta
}

// fewer returns by how many fewer of k centres move where m have moved in vain.
func (s *search) fewer(m, k int) int {
	if s.points.N*s.points.D*k >= dear {
		return max(1, (m+1)/3)
	}
	return max(1, m/4)
}

// keep replaces best by next where that is lower, and tells of it. It reports whether to go on.
func (s *search) keep(best *end, next end) bool {
	if !(next.cost < best.cost*(1-lower)) {
		return true
	}
	*best = next
	s.kept++
	if s.see == nil {
		return true
	}
	l := s.level(len(next.theta) / s.points.D)
	step, ok := l.sweep(next.theta, nil)
	return ok && s.see(l.point(next.theta, step), false)
}

// breath moves m centres and returns what came of it.
func (s *search) breath(best end, m, try int) (end, bool) {
	wide, ok := s.inhale(best.theta, m, try%2 == 0)
	if !ok {
		return best, false
	}
	full, ok := s.lloyd(wide, 10*rough, nil)
	if !ok {
		return best, false
	}
	narrow, ok := s.exhale(full.theta, m)
	if !ok {
		return best, false
	}
	now, ok := s.lloyd(narrow, rough, nil)
	if !ok || !(now.cost < best.cost*(1+hope)) {
		return best, ok
	}
	if now, ok = s.lloyd(now.theta, 0, nil); !ok {
		return best, false
	}
	return s.polish(now)
}

// lloyd runs Lloyd's algorithm from theta until nothing changes or, where tol is above 0, until a step lowers the inertia
// by no more than that share. see, where not nil, is told of each step. It reports false where it was cut off.
func (s *search) lloyd(theta []float64, tol float64, see func(*ascent.Point, bool) bool) (end, bool) {
	last := math.Inf(1)
	var spare []float64
	for i := range settled {
		l := s.level(len(theta) / s.points.D)
		next, ok := l.sweep(theta, spare)
		if !ok {
			return end{theta, last}, false
		}
		cost := -l.stats.F
		if see != nil && !see(l.point(theta, next), true) {
			return end{theta, cost}, false
		}
		if slices.Equal(next, theta) || tol > 0 && last-cost <= tol*cost {
			return end{theta, cost}, true
		}
		if spare = nil; i > 0 && see == nil { // nobody else has it
			spare = theta
		}
		last, theta = cost, next
	}
	return end{theta, last}, true
}

// level is what sweeps with one number of centres share.
type level struct {
	*search
	mix   mixture.Mixture
	state nearest.State
	stats *family.Stats // of the last sweep
	task  []nearest.Task
	near  nearest.Near
}

func (s *search) level(k int) *level {
	l := s.levels[k]
	if l == nil {
		l = &level{search: s, mix: mixture.Mixture{Family: family.KMeans{}, K: k, D: s.points.D}, task: make([]nearest.Task, 1)}
		l.stats = l.mix.NewStats(family.FarRows(k))
		s.levels[k] = l
	}
	return l
}

// sweep labels the points, sets the level's sums, and returns the step of Lloyd's algorithm, in spare unless that is nil. It
// reports false where it was cut off, and where values are so large or so small that squares need not be finite: there
// nothing is looked for.
func (l *level) sweep(theta, spare []float64) (next []float64, ok bool) {
	l.passes++
	if !l.pass(theta, nil) {
		return nil, false
	}
	if next = spare; next == nil {
		next = make([]float64, len(theta))
	}
	l.mix.MStep(next, theta, l.stats)
	return next, true
}

// pass labels the points, sets the level's sums, and near where that is not nil. It reports false where it was cut off, and where values
// are out of range.
func (l *level) pass(theta []float64, near *nearest.Near) (ok bool) {
	l.stats.Reset()
	l.task[0] = nearest.Task{State: &l.state, Theta: theta, K: l.mix.K, Stats: l.stats, Near: near}
	return l.engine.Sweep(l.ctx, l.task) == nil && l.task[0].Done
}

// astray is by what share the cost of all points may differ from what their approximate distances add up to.
const astray = 0.01

// approximate sets q to the labels of theta and to distances as good as the scores of a sweep. It reports false, and q means nothing, where
// these are not good enough, and where it was cut off.
func (l *level) approximate(q *pairs, theta []float64) (ok bool) {
	n := l.points.N
	if l.near.First == nil {
		l.near = nearest.Near{First: make([]float32, n), Second: make([]float32, n)}
	}
	q.theta = nil
	if !l.pass(theta, &l.near) || !l.near.Known {
		return false
	}
	q.reserve(n)
	cost := 0.0
	for i, w := range l.points.W {
		q.label[i], q.first[i], q.second[i] = l.state.Label(i), float64(l.near.First[i]), float64(l.near.Second[i])
		cost += w * q.first[i]
	}
	if !(math.Abs(cost+l.stats.F) <= astray*-l.stats.F) {
		return false
	}
	q.theta = theta
	return true
}

// point describes the last sweep, with theta.
func (l *level) point(theta, next []float64) *ascent.Point {
	return &ascent.Point{Theta: theta, Beta: math.Inf(1), F: l.stats.F, Weights: slices.Clone(l.stats.N), Next: next, Lifted: l.mix.FreeEnergy(next, theta, math.Inf(1), l.stats)}
}
