package latent

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// Constants of splitting and merging.
const (
	moveRows   = 5000   // rows that moves are tried on: all, or a sample
	movePairs  = 4      // pairs that may merge, those whose responsibilities are most alike
	moveTries  = 30     // moves tried in a round, on
	moveWork   = 60_000 // rows of all tries together
	moveSteps  = 10     // EM steps of a try
	moveClimbs = 3      // tries that climb on
	moveRounds = 5      // moves kept
	moveGain   = 0.1    // nats that a move must gain
	moveNear   = 0.1    // estimated standard errors from its top at which the climb of a move ends
	moveShare  = 0.01   // responsibilities below this do not move

	// Of bits and levels, whose components need no rows for a covariance and whose likelihoods have many local maxima: more moves, from
	// softer starts, and new starts beside them.
	discreteSplit  = 4    // rows of a component that is split, at least
	discreteFirm   = 0.2  // how much a move trusts its responsibilities; with 0.7 twice as many searches ended too low
	discreteGain   = 0.02 // nats that a move must gain
	discreteRounds = 3    // rounds in a row without a gain that end the search, two where most starts agree, on
	discreteFails  = 3000 // rows of those rounds together, and one round on more
)

// moveRules are how moves are tried.
type moveRules struct {
	pairs int     // that may merge, those whose responsibilities are most alike
	rows  int     // of a component that is split, at least
	gain  float64 // nats that a move must gain
	fails int     // rounds in a row without a gain that end the search
	fresh bool    // whether rounds are filled up with starts that are drawn anew
}

// rules returns those of the mixture on n rows.
func (f *fit) rules(n int) moveRules {
	k := f.plan.K
	if f.plan.Kind.Soft {
		return moveRules{k * (k - 1) / 2, discreteSplit, discreteGain, min(max(discreteFails/n, 1), discreteRounds), true}
	}
	return moveRules{min(movePairs, k*(k-1)/2), 2 * (f.mix.D + 2), moveGain, 1, false}
}

// moves is a search for higher local maxima on some of the rows.
type moves struct {
	f            *fit                     // of the same mixture to these rows
	bad          func(*ascent.Point) bool // points that may not win
	points, near *seed.Points
	rng          *rand.Rand
	sweeps       int
	rules        moveRules
	skip         int       // moves from where the search is that earlier rounds have tried
	ends         []float64 // the objectives of the last climbs that went to their end
	model.Moves
}

// move goes on from the best end by merging two components and splitting a third, as long as that finds a higher maximum
// (Ueda, Nakano, Ghahramani and Hinton 2000). Moves are tried on a sample of the rows where there are many; what gains there climbs on all
// rows, and counts if it ends higher.
func (f *fit) move(ctx context.Context, e *outcome) error {
	m, err := f.moves(ctx)
	if err != nil {
		return err
	}
	best := e.runs[e.best].last.Point
	at, all := best, int64(m.points.N) == f.look.Used
	if !all {
		at, _, err = m.top(ctx, [][]float64{at.Theta})
	}
	if s := f.agreement(e); 2*s.AgreeWithBest > s.N { // there is little to find
		m.rules.fails = min(m.rules.fails, discreteRounds-1)
	}
	for fails := 0; at != nil && err == nil && fails < m.rules.fails && m.Kept < moveRounds; {
		var next *ascent.Point
		if next, err = m.step(ctx, at); next == nil {
			fails++
			continue
		}
		at, fails, m.skip = next, 0, 0
		m.Kept++
	}
	if e.moves = &m.Moves; all { // else they are no passes over the rows
		f.moveSweeps = m.sweeps
	}
	if err != nil || m.Kept == 0 {
		return err
	}
	r, err := f.extra(ctx, e, at.Theta)
	if err != nil || r.last.Point == nil || f.degenerate(r.last.Point) || objectiveOf(r.last.Point) <= objectiveOf(best) {
		m.Kept = 0
		return err
	}
	e.moved, m.Gain = r, objectiveOf(r.last.Point)-objectiveOf(best)
	return nil
}

// extra climbs from theta, as one more start after those of e.
func (f *fit) extra(ctx context.Context, e *outcome, theta []float64) (*run, error) {
	var watch func(Progress)
	if f.watch != nil {
		watch = func(p Progress) {
			p.Start, p.Of = len(e.runs)+1, len(e.runs)+1
			f.watch(p)
		}
	}
	runs, err := f.climb(ctx, [][]float64{theta}, watch, false)
	if err != nil {
		return nil, err
	}
	r := &runs[0]
	r.start = len(e.runs)
	f.moveSweeps += r.sweeps
	return r, r.err
}

// moves returns a search that begins nowhere yet.
func (f *fit) moves(ctx context.Context) (*moves, error) {
	p, err := f.shared.sample(moveRows, func() (*seed.Points, error) {
		return seed.Sample(ctx, f.src, f.look.Used, f.origin, moveRows, rng.StartSample.New(f.plan.Seed))
	})
	if err != nil {
		return nil, err
	}
	m := &moves{f: f.on(p), points: p, near: f.near(p, plan.KMeans), rng: rng.Moves.New(f.plan.Seed), rules: f.rules(p.N)}
	m.bad = m.f.degenerate
	return m, nil
}

// on returns the fit of the same mixture to the points alone.
func (f *fit) on(p *seed.Points) *fit {
	s, look := *f, *f.look
	look.Rows, look.Used, look.W = int64(p.N), int64(p.N), 0
	for _, w := range p.W {
		look.W += w
	}
	s.look, s.joint, s.need, s.src, s.origin = &look, nil, nil, p.Table(), make([]float64, p.D)
	s.user = s.src
	s.local = sweep.NewLocal(s.src, look.Rows, s.origin, f.plan.Threads)
	return &s
}

// step returns the highest local maximum that one move leads to, nil if none is higher.
func (m *moves) step(ctx context.Context, at *ascent.Point) (*ascent.Point, error) {
	resp, err := m.responsibilities(ctx, at.Theta)
	if err != nil {
		return nil, err
	}
	starts, err := m.starts(ctx, resp)
	if err != nil {
		return nil, err
	}
	top, _, err := m.best(ctx, starts)
	if err != nil || top == nil || top.F < at.F+m.rules.gain {
		return nil, err
	}
	return top, nil
}

// responsibilities returns those of the components at theta for the rows, row-major.
func (m *moves) responsibilities(ctx context.Context, theta []float64) ([]float64, error) {
	var resp []float64
	err := m.f.local.Rows(ctx, m.f.mix, theta, func(s *sweep.Scored) error {
		resp = append(resp, s.Responsibilities...)
		return nil
	})
	m.sweeps++
	return resp, err
}

// best returns the highest local maximum that some starts lead to, and which start that was; nil where all are bad. A few
// EM steps say which may climb on.
func (m *moves) best(ctx context.Context, starts [][]float64) (top *ascent.Point, start int, err error) {
	m.Tried += len(starts)
	l := &lockstep{sweeper: m.f.local, threads: m.f.plan.Threads, mix: m.f.mix}
	runs := l.climb(ctx, func(int) ascent.Driver { return ascent.EM{Beta: 1, MaxIter: moveSteps} }, starts, nil)
	if err := m.count(runs); err != nil {
		return nil, 0, err
	}
	runs = slices.DeleteFunc(runs, func(r run) bool { return m.bad(r.last.Point) })
	slices.SortStableFunc(runs, func(a, b run) int { return cmp.Compare(b.last.Point.F, a.last.Point.F) })
	runs = runs[:min(len(runs), moveClimbs)]
	if len(runs) == 0 {
		return nil, 0, nil
	}
	var thetas [][]float64
	for _, r := range runs {
		thetas = append(thetas, r.last.Point.Theta)
	}
	top, at, err := m.top(ctx, thetas)
	return top, runs[at].start, err
}

// top climbs and returns the highest point reached, and from which start; nil if all are bad.
func (m *moves) top(ctx context.Context, thetas [][]float64) (top *ascent.Point, start int, err error) {
	l := m.f.lockstep(nil)
	l.degenerate = m.bad
	driver := until{ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: m.f.plan.MaxIter}, moveNear}
	runs := l.climb(ctx, func(int) ascent.Driver { return driver }, thetas, nil)
	if err := m.count(runs); err != nil {
		return nil, 0, err
	}
	m.ends = nil
	for i, r := range runs {
		p := r.last.Point
		if p == nil || m.bad(p) {
			continue
		}
		m.ends = append(m.ends, p.F)
		if top == nil || p.F > top.F {
			top, start = p, i
		}
	}
	return top, start, nil
}

// met returns how many of the last climbs ended at an objective, as near as they were carried.
func (m *moves) met(height float64) (n int) {
	for _, f := range m.ends {
		if math.Abs(f-height) < moveGain {
			n++
		}
	}
	return n
}

// count adds the sweeps of the runs, and returns the error of any.
func (m *moves) count(runs []run) error {
	for _, r := range runs {
		m.sweeps += r.sweeps
		if r.err != nil {
			return r.err
		}
	}
	return nil
}

// until is a driver that stops at a distance, by its own estimate.
type until struct {
	ascent.Driver
	distance float64 // standard errors
}

func (u until) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		for s, err := range u.Driver.Steps(ctx, o, theta) {
			if !yield(s, err) || s.Iteration > estimateAfter && s.Distance < u.distance {
				return
			}
		}
	}
}

// starts returns the parameters after each move from the responsibilities: the pairs most alike merge first, and with each
// every other component is split. A round goes on where the last one from there stopped, and begins again after the last move.
func (m *moves) starts(ctx context.Context, resp []float64) ([][]float64, error) {
	k := m.f.mix.K
	var starts [][]float64
	most := min(moveTries, moveWork/m.points.N)
	number := 0
	for _, pair := range alike(m.points.W, resp, k)[:m.rules.pairs] {
		for c := range k {
			if c == pair[1] || c == pair[0] && k > 2 { // of two components the only third is both together
				continue
			}
			if number++; number <= m.skip {
				continue
			}
			r := slices.Clone(resp)
			for i := range m.points.N {
				r[i*k+pair[0]] += r[i*k+pair[1]]
				r[i*k+pair[1]] = 0
			}
			ok, err := m.split(ctx, r, c, pair[1])
			if err != nil {
				return nil, err
			}
			if ok {
				starts = append(starts, m.f.fromResponsibilities(m.points, r, discreteFirm))
			}
			if len(starts) == most {
				m.skip = number
				return starts, nil
			}
		}
	}
	m.skip = 0
	return m.fill(ctx, starts, most)
}

// fill adds starts that are drawn anew until there are so many, by turns from random rows and by k-means++, where the rules say so.
func (m *moves) fill(ctx context.Context, starts [][]float64, most int) ([][]float64, error) {
	for i := 0; m.rules.fresh && len(starts) < most; i++ {
		method := []plan.Start{plan.Random, plan.PlusPlus}[i/2%2]
		theta, err := m.f.drawn(ctx, m.points, m.near, method, confidence(plan.Mixed, i+1), m.rng)
		if err != nil {
			return nil, err
		}
		starts = append(starts, theta)
	}
	return starts, nil
}

// split gives a part of the rows of component c to the component into, by k-means from a start drawn at random. It reports
// whether there are rows enough for two.
func (m *moves) split(ctx context.Context, resp []float64, c, into int) (bool, error) {
	k := m.f.mix.K
	part := &seed.Points{D: m.near.D, Levels: m.near.Levels}
	var rows []int
	for i := range m.points.N {
		if resp[i*k+c] > 0.5 {
			rows = append(rows, i)
			part.N++
			part.X, part.W = append(part.X, m.near.At(i)...), append(part.W, m.near.W[i])
		}
	}
	if len(rows) < m.rules.rows {
		return false, nil
	}
	two := seed.PlusPlus(part, 2, 1, m.f.plan.Threads, m.rng.Float64)
	if len(two) < 2 { // all rows are equal
		return false, nil
	}
	labels, err := seed.Lloyd(ctx, part, two, 1)
	for j, label := range labels {
		if label == 1 {
			at := rows[j] * k
			resp[at+into], resp[at+c] = resp[at+c], 0
		}
	}
	return true, err
}

// alike returns all pairs of the k components, those first whose responsibilities are most alike: of the largest cosine
// of the angle between them (Ueda et al. 2000, eq. 22, over their lengths).
func alike(w, resp []float64, k int) [][2]int {
	both := make([]float64, k*k)
	for i, w := range w {
		r := resp[i*k : i*k+k]
		for a, ra := range r {
			for b := range a + 1 {
				both[a*k+b] += w * ra * r[b]
			}
		}
	}
	cosine := func(p [2]int) float64 {
		a, b := p[1], p[0]
		if length := math.Sqrt(both[a*k+a]) * math.Sqrt(both[b*k+b]); length > 0 {
			return both[a*k+b] / length
		}
		return 1 // nothing is lost with an empty component
	}
	var pairs [][2]int
	for a := range k {
		for b := range a {
			pairs = append(pairs, [2]int{b, a})
		}
	}
	slices.SortStableFunc(pairs, func(p, q [2]int) int { return cmp.Compare(cosine(q), cosine(p)) })
	return pairs
}

// fromResponsibilities returns the parameters that one M-step makes of responsibilities, row-major. firm is how much a start of bits
// or levels believes them.
func (f *fit) fromResponsibilities(p *seed.Points, resp []float64, firm float64) []float64 {
	k := f.mix.K
	q := &seed.Points{D: p.D, Levels: p.Levels} // each row once for every component, with that share of its weight
	var labels []int32
	for i := range p.N {
		for c, r := range resp[i*k : i*k+k] {
			if r > moveShare {
				q.N++
				q.X, q.W, labels = append(q.X, p.At(i)...), append(q.W, r*p.W[i]), append(labels, int32(c))
			}
		}
	}
	if mix, g, ok := f.startMixture(); ok {
		return f.restrict(seed.FromLabels(mix, g, q, labels))
	}
	return seed.FromFirm(f.mix, q, labels, firm)
}
