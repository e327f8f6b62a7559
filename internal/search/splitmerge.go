package search

import (
	"cmp"
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// Constants of splitting and merging.
const (
	moveRows   = 5000   // rows that moves are tried on: all, or a sample
	MovePairs  = 4      // pairs that may merge, those whose responsibilities are most alike
	moveTries  = 30     // moves tried in a round at most
	moveWork   = 60_000 // rows of all moves of a round together, at most
	moveSteps  = 10     // EM steps of a try
	moveClimbs = 3      // tries that climb on
	moveRounds = 5      // moves kept
	MoveGain   = 0.1    // nats that a move must gain
	moveNear   = 0.1    // estimated standard errors from its maximum at which the climb of a move ends
	moveShare  = 0.01   // responsibilities below this do not move
	// movePerParameter is the least number of rows a free parameter of a sample that moves are tried on. Of fewer, what gains there fits the sample: of
	// eight components in 64 columns, 17,000 parameters, 5,000 rows gave a climb of 410 passes to a maximum 850 nats lower.
	movePerParameter = 4

	// Of kinds whose starts are of several kinds (kind.Kind.Soft). Their components need no rows for a covariance, and their likelihoods
	// have many local maxima: more moves are tried, with less label confidence, and new starts beside them.
	discreteSplit  = 4    // rows of a component that is split, at least
	moveConfidence = 0.2  // label confidence of the starts that moves make; with 0.7 twice as many searches ended too low
	discreteGain   = 0.02 // nats that a move must gain
	discreteRounds = 3    // rounds in a row without a gain that end the search; two where most starts agree
	discreteFails  = 3000 // rows of those rounds together, at most, but for the first
)

// moveRules says how moves are tried.
type moveRules struct {
	pairs int     // that may merge, those whose responsibilities are most alike
	rows  int     // of a component that is split, at least
	gain  float64 // nats that a move must gain
	fails int     // rounds in a row without a gain that end the search
	fresh bool    // whether rounds are filled up with starts that are drawn anew
}

// rules returns how moves of the fit are tried on n rows.
func (f *Fit) rules(n int) moveRules {
	k := f.Plan.K
	if f.Plan.Kind.Soft {
		rows := discreteSplit
		if numbers, ok := f.Mix.Numbers(); ok {
			rows = 2 * (numbers.D + 2)
		}
		return moveRules{k * (k - 1) / 2, rows, discreteGain, min(max(discreteFails/n, 1), discreteRounds), true}
	}
	switch {
	case f.Mix.Bayes != nil:
		return moveRules{pairs: k * (k - 1) / 2, rows: boundSplit, gain: boundGain, fails: boundFails}
	case f.Mix.Prior != nil: // its components need no rows for a covariance either
		return moveRules{k * (k - 1) / 2, discreteSplit, MoveGain, 1, true}
	}
	return moveRules{min(MovePairs, k*(k-1)/2), 2 * (f.Mix.D + 2), MoveGain, 1, false}
}

// MoveSearch looks for higher local maxima on a sample of the rows, or all, by moves: it merges two components and splits a third.
type MoveSearch struct {
	Fit            *Fit                     // of the same mixture to Points alone
	Rejects        func(*ascent.Point) bool // reports whether a point may not win, such as a degenerate one
	Points         *seed.Points             // the rows that moves are tried on
	near           *seed.Points             // the same where k-means measures distances
	rng            *rand.Rand
	sweeps         int
	rules          moveRules
	skip           int       // moves from the present point that earlier rounds have tried
	LastObjectives []float64 // the objectives at the ends of the last ClimbAll, without those rejected
	model.Moves
}

// splitAndMerge goes on from the best outcome by merging two components and splitting a third, as long as that finds a higher maximum
// (Ueda, Nakano, Ghahramani and Hinton 2000). Where rows are many, moves are tried on a sample; what has gained there climbs on all rows
// at the end, and becomes e.Moved if it ends higher.
func (f *Fit) splitAndMerge(ctx context.Context, e *Outcome) error {
	if f.Mix.Bayes != nil {
		return f.searchBound(ctx, e)
	}
	m, err := f.NewMoveSearch(ctx)
	if err != nil {
		return err
	}
	best := e.Runs[e.best].Last.Point
	at, all := best, int64(m.Points.N) == f.Survey.Used
	if !all && m.Points.N < movePerParameter*f.Mix.Free() {
		return nil
	}
	if !all {
		at, _, err = m.ClimbAll(ctx, [][]float64{at.Theta})
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
	if e.moves = &m.Moves; all { // on a sample they are no passes over the rows
		f.MoveSweeps = m.sweeps
	}
	if err != nil || m.Kept == 0 {
		return err
	}
	r, err := f.ClimbExtra(ctx, e, at.Theta)
	if err != nil || r.Last.Point == nil || f.Degenerate(r.Last.Point) || ObjectiveOf(r.Last.Point) <= ObjectiveOf(best) {
		m.Kept = 0
		return err
	}
	e.Moved, m.Gain = r, ObjectiveOf(r.Last.Point)-ObjectiveOf(best)
	return nil
}

// ClimbExtra climbs from theta, as one more start after those of e. Its passes count as MoveSweeps.
func (f *Fit) ClimbExtra(ctx context.Context, e *Outcome, theta []float64) (*Run, error) {
	var watch func(Progress)
	if f.Watch != nil {
		watch = func(p Progress) {
			p.Start, p.Of = len(e.Runs)+1, len(e.Runs)+1
			f.Watch(p)
		}
	}
	own, thetas := *f, [][]float64{theta}
	own.reached = e.Winner().Last.Point
	if err := own.begin(ctx, thetas); err != nil {
		return nil, err
	}
	if own.begun != nil && own.begun[0].known == nil && f.begun != nil && f.begun[e.best].known != nil {
		own.begun[0].beaten = true // its maximum is one of a sample, where that of the best is one of more rows too
	}
	runs, err := own.Climb(ctx, thetas, watch, true)
	if err != nil {
		return nil, err
	}
	r := &runs[0]
	r.start = len(e.Runs)
	f.MoveSweeps += r.Sweeps
	return r, r.Err
}

// NewMoveSearch returns a search on a sample of the rows, or all where they are few. It rejects degenerate points.
func (f *Fit) NewMoveSearch(ctx context.Context) (*MoveSearch, error) {
	p, err := f.shared.sample(moveRows, func() (*seed.Points, error) {
		return seed.Sample(ctx, f.Source, f.Survey.Used, f.Origin, moveRows, rng.StartSample.New(f.Plan.Seed))
	})
	if err != nil {
		return nil, err
	}
	return f.moveSearch(f.onPoints(p), p), nil
}

// moveSearch returns a search on the points p, of which s is the fit.
func (f *Fit) moveSearch(s *Fit, p *seed.Points) *MoveSearch {
	return &MoveSearch{Fit: s, Rejects: s.Degenerate, Points: p, near: f.near(p, plan.KMeans), rng: rng.Moves.New(f.Plan.Seed), rules: f.rules(p.N)}
}

// onPoints returns the fit of the same mixture to the points alone.
func (f *Fit) onPoints(p *seed.Points) *Fit {
	s, look := *f, *f.Survey
	look.Rows, look.Used, look.W = int64(p.N), int64(p.N), 0
	for _, w := range p.W {
		look.W += w
	}
	s.Mix = onRows(f.Mix, look.W)
	s.Survey, s.SharedSweeper, s.RequiredObjective, s.Source, s.Origin = &look, nil, nil, p.Table(), make([]float64, p.D)
	s.UserRows = s.Source
	s.Local = sweep.NewLocal(s.Source, look.Rows, s.Origin, f.Plan.Threads)
	s.alone = s.newAlone()
	return &s
}

// step returns the best local maximum that one move from the point leads to, nil if none is higher by the gain that a move must have.
func (m *MoveSearch) step(ctx context.Context, at *ascent.Point) (*ascent.Point, error) {
	resp, err := m.Responsibilities(ctx, at.Theta)
	if err != nil {
		return nil, err
	}
	starts, err := m.starts(ctx, resp)
	if err != nil {
		return nil, err
	}
	top, _, err := m.ClimbBest(ctx, starts)
	if err != nil || top == nil || ObjectiveOf(top) < ObjectiveOf(at)+m.rules.gain {
		return nil, err
	}
	return top, nil
}

// Responsibilities returns the responsibilities of the components at theta for m.Points: n x k numbers, row by row.
func (m *MoveSearch) Responsibilities(ctx context.Context, theta []float64) ([]float64, error) {
	var resp []float64
	err := m.Fit.Local.Rows(ctx, m.Fit.Mix, theta, func(s *sweep.Scored) error {
		resp = append(resp, s.Responsibilities...)
		return nil
	})
	m.sweeps++
	return resp, err
}

// ClimbBest takes a few EM steps from each start, climbs on from the best few, and returns the best point reached and the index of its
// start; nil where all are rejected.
func (m *MoveSearch) ClimbBest(ctx context.Context, starts [][]float64) (top *ascent.Point, start int, err error) {
	runs, err := m.try(ctx, starts, ascent.EM{Beta: 1, MaxIter: moveSteps}, moveClimbs)
	if err != nil || len(runs) == 0 {
		return nil, 0, err
	}
	var thetas [][]float64
	for _, r := range runs {
		thetas = append(thetas, r.Last.Point.Theta)
	}
	top, at, err := m.ClimbAll(ctx, thetas)
	return top, runs[at].start, err
}

// try climbs from each start by the driver, a few steps of EM, and returns the best few runs, the best first, of those whose end is not rejected.
func (m *MoveSearch) try(ctx context.Context, starts [][]float64, driver ascent.Driver, few int) ([]Run, error) {
	m.Tried += len(starts)
	l := &lockstep{sweeper: m.Fit.Local, threads: m.Fit.Plan.Threads, mix: m.Fit.Mix}
	runs := l.climb(ctx, func(int) ascent.Driver { return driver }, starts, nil)
	if err := m.count(runs); err != nil {
		return nil, err
	}
	runs = slices.DeleteFunc(runs, func(r Run) bool { return m.Rejects(r.Last.Point) })
	slices.SortStableFunc(runs, func(a, b Run) int { return cmp.Compare(ObjectiveOf(b.Last.Point), ObjectiveOf(a.Last.Point)) })
	return runs[:min(len(runs), few)], nil
}

// ClimbAll climbs from each of thetas and returns the best point reached and the index of its start; nil where all are rejected.
func (m *MoveSearch) ClimbAll(ctx context.Context, thetas [][]float64) (top *ascent.Point, start int, err error) {
	l := m.Fit.lockstep(nil)
	l.degenerate = m.Rejects
	near := moveNear
	if m.Fit.Mix.Prior != nil { // short of a maximum of the log posterior the log-likelihood changes to first order
		near /= 10
	}
	driver := until{ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: m.Fit.Plan.MaxIter}, near, ascent.EstimateAfter}
	runs := l.climb(ctx, func(int) ascent.Driver { return driver }, thetas, nil)
	if err := m.count(runs); err != nil {
		return nil, 0, err
	}
	m.LastObjectives = nil
	for i, r := range runs {
		p := r.Last.Point
		if p == nil || m.Rejects(p) {
			continue
		}
		m.LastObjectives = append(m.LastObjectives, ObjectiveOf(p))
		if top == nil || ObjectiveOf(p) > ObjectiveOf(top) {
			top, start = p, i
		}
	}
	return top, start, nil
}

// CountAt returns how many climbs of the last ClimbAll ended within MoveGain of an objective: climbs of moves come only near their maxima.
func (m *MoveSearch) CountAt(objective float64) (n int) {
	for _, f := range m.LastObjectives {
		if math.Abs(f-objective) < MoveGain {
			n++
		}
	}
	return n
}

// count adds the sweeps of the runs, and returns the error of any.
func (m *MoveSearch) count(runs []Run) error {
	for _, r := range runs {
		m.sweeps += r.Sweeps
		if r.Err != nil {
			return r.Err
		}
	}
	return nil
}

// until is a driver that stops at an estimated distance from its optimum.
type until struct {
	ascent.Driver
	distance float64 // standard errors
	least    int     // steps that it takes before
}

// Steps implements ascent.Driver.
func (u until) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		for s, err := range u.Driver.Steps(ctx, o, theta) {
			if !yield(s, err) || s.Iteration > u.least && s.Distance < u.distance {
				return
			}
		}
	}
}

// starts returns the parameters after each move from the responsibilities. The pairs most alike merge first, and with each pair every
// other component is split in turn. A round goes on with the move after the last of the round before, and begins again after the last
// of all.
func (m *MoveSearch) starts(ctx context.Context, resp []float64) ([][]float64, error) {
	k := m.Fit.Mix.K
	var starts [][]float64
	most := min(moveTries, moveWork/m.Points.N)
	number := 0
	for _, pair := range SimilarPairs(m.Points.W, resp, k)[:m.rules.pairs] {
		for c := range k {
			if c == pair[1] || c == pair[0] && k > 2 { // of two components the third is the one that both have become
				continue
			}
			if number++; number <= m.skip {
				continue
			}
			r := slices.Clone(resp)
			for i := range m.Points.N {
				r[i*k+pair[0]] += r[i*k+pair[1]]
				r[i*k+pair[1]] = 0
			}
			ok, err := m.Split(ctx, r, c, pair[1])
			if err != nil {
				return nil, err
			}
			if ok {
				starts = append(starts, m.Fit.FromResponsibilities(m.Points, r, moveConfidence))
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

// fill adds new starts until there are most of them, drawn by turns from random rows and by k-means++, where the rules ask for new ones.
func (m *MoveSearch) fill(ctx context.Context, starts [][]float64, most int) ([][]float64, error) {
	for i := 0; m.rules.fresh && len(starts) < most; i++ {
		method := []plan.Start{plan.Random, plan.PlusPlus}[i/2%2]
		theta, err := m.Fit.drawn(ctx, m.Points, m.near, method, startConfidence(plan.Mixed, i+1), m.rng)
		if err != nil {
			return nil, err
		}
		starts = append(starts, theta)
	}
	return starts, nil
}

// Split changes responsibilities, n x k numbers, so that component into gets a part of the rows of component c, by 2-means from a start drawn
// at random. It reports whether c has rows enough for two; if not, resp stays as it is.
func (m *MoveSearch) Split(ctx context.Context, resp []float64, c, into int) (bool, error) {
	k := m.Fit.Mix.K
	part := &seed.Points{D: m.near.D, Levels: m.near.Levels}
	var rows []int
	for i := range m.Points.N {
		if resp[i*k+c] > 0.5 {
			rows = append(rows, i)
			part.N++
			part.X, part.W = append(part.X, m.near.At(i)...), append(part.W, m.near.W[i])
		}
	}
	if m.Fit.Plan.Kind.Tails && part.N > 0 { // rows far out would be one of the two
		keep := part.Central()
		part, rows = part.Some(keep), kind.Picked(rows, keep)
	}
	if len(rows) < m.rules.rows {
		return false, nil
	}
	two := seed.PlusPlus(part, 2, 1, m.Fit.Plan.Threads, m.rng.Float64)
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

// SimilarPairs returns all pairs of the k components, those first whose responsibilities are most alike by the cosine of the angle between
// them (Ueda et al. 2000, eq. 22, over their lengths). w are the weights of the rows, resp is n x k. The lower index of a pair comes first.
func SimilarPairs(w, resp []float64, k int) [][2]int {
	both := make([]float64, k*k) // weighted products of responsibilities, lower triangle
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

// FromResponsibilities returns the parameters that one M-step makes of responsibilities, n x k numbers for the points p. confidence is the label
// confidence of a kind without covariances; Gaussian components take the responsibilities as they are. What these leave of the rows stays with
// the noise: a move turns no noise into a component.
func (f *Fit) FromResponsibilities(p *seed.Points, resp []float64, confidence float64) []float64 {
	k := f.Mix.K
	// Each row once for every component, with that share of its weight.
	q := &seed.Points{D: p.D, Levels: p.Levels, X: make([]float64, 0, 2*p.N*p.D), W: make([]float64, 0, 2*p.N)}
	labels := make([]int32, 0, 2*p.N)
	taken, total := 0.0, 0.0
	for i := range p.N {
		total += p.W[i]
		for c, r := range resp[i*k : i*k+k] {
			if taken += r * p.W[i]; r > moveShare {
				q.N++
				q.X, q.W, labels = append(q.X, p.At(i)...), append(q.W, r*p.W[i]), append(labels, int32(c))
			}
		}
	}
	theta := f.labelled(q, labels, confidence, nil)
	f.Mix.SetNoise(theta, max(1-taken/total, leastNoise))
	return theta
}
