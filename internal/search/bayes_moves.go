package search

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
)

// Constants of the search for higher bounds.
const (
	boundGain  = 0.01 // nats of the bound that a move must gain
	boundFails = 3    // rounds in a row without a gain that end the search: splits are drawn at random
	boundKept  = 30   // moves kept at most
	boundTries = 40   // moves tried in a round at most
)

// searchBound goes on from the best outcome of variational Bayes by moves, as long as that finds a higher bound: it merges two components, empties
// one, splits one into an empty one, and merges two while it splits a third. Where rows are many, moves are tried on a sample; what has
// gained there climbs on all rows at the end, and becomes e.Moved if it ends higher.
func (f *Fit) searchBound(ctx context.Context, e *Outcome) error {
	m, err := f.NewMoveSearch(ctx)
	if err != nil {
		return err
	}
	start := e.Winner().Last.Point
	at, all := start, int64(m.Points.N) == f.Survey.Used
	if !all {
		if at, _, err = m.ClimbAll(ctx, [][]float64{at.Theta}); err != nil {
			return err
		}
	}
	for fails := 0; at != nil && fails < boundFails && m.Kept < boundKept; {
		next, err := m.stepBound(ctx, at)
		if err != nil {
			return err
		}
		if next == nil {
			fails++
			continue
		}
		at, fails = next, 0
		m.Kept++
	}
	if e.moves = &m.Moves; all {
		f.MoveSweeps = m.sweeps
	}
	if m.Kept == 0 {
		return nil
	}
	r, err := f.ClimbExtra(ctx, e, at.Theta)
	if err != nil || r.Last.Point == nil || r.Last.Point.F <= start.F {
		m.Kept = 0
		return err
	}
	e.Moved, m.Gain = r, r.Last.Point.F-start.F
	return nil
}

// mostSorted is how often components are put in order at most.
const mostSorted = 20

// inOrder puts the components of the winner in the order of the rows they count where their weights are sticks, and climbs on from there: that
// order has the higher bound. Where steps are used up, or the fit was interrupted, it stands there.
func (f *Fit) inOrder(ctx context.Context, e *Outcome) error {
	for range mostSorted {
		win := e.Winner()
		theta, moved := f.sortedSticks(win.Last.Point.Theta)
		if !moved {
			return nil
		}
		if e.Interrupted || ctx.Err() != nil || win.Last.Done == ascent.Limit {
			r := f.ClimbWith(context.WithoutCancel(ctx), ascent.EM{Beta: 1}, theta, nil)
			if r.Last.Point == nil {
				return r.Err
			}
			win.Last.Point, win.Last.Certificate, win.Last.Distance, win.Last.Remaining = r.Last.Point, nil, math.NaN(), math.NaN()
			f.MoveSweeps += r.Sweeps
			return nil
		}
		r, err := f.ClimbExtra(ctx, e, theta)
		switch {
		case r != nil && r.Last.Point != nil:
			e.Moved = r
		case err != nil && ctx.Err() == nil:
			return err
		}
		e.Interrupted = e.Interrupted || ctx.Err() != nil
	}
	return nil
}

// stepBound returns the best local maximum that one move from the point leads to, nil if none is higher by boundGain.
func (m *MoveSearch) stepBound(ctx context.Context, at *ascent.Point) (*ascent.Point, error) {
	resp, err := m.Responsibilities(ctx, at.Theta)
	if err != nil {
		return nil, err
	}
	starts, err := m.boundStarts(ctx, resp, at.Weights)
	if err != nil || len(starts) == 0 {
		return nil, err
	}
	top, _, err := m.ClimbBest(ctx, starts)
	if err != nil || top == nil {
		return nil, err
	}
	if theta, moved := m.Fit.sortedSticks(top.Theta); moved {
		if top, _, err = m.ClimbAll(ctx, [][]float64{theta}); err != nil || top == nil {
			return nil, err
		}
	}
	if top.F < at.F+boundGain {
		return nil, nil
	}
	return top, nil
}

// boundStarts returns the parameters after each move from responsibilities, n x k numbers, of components of such weights.
func (m *MoveSearch) boundStarts(ctx context.Context, resp, weights []float64) (starts [][]float64, err error) {
	k, p := m.Fit.Mix.K, m.Points
	var used []int
	empty := 0
	for c, w := range weights {
		if w >= leastInUse/2. {
			used = append(used, c)
		}
		if w < weights[empty] {
			empty = c
		}
	}
	spare := weights[empty] < leastInUse/2.
	add := func(r []float64) {
		theta, _ := m.Fit.sortedSticks(m.Fit.FromResponsibilities(p, r, 1))
		starts = append(starts, theta)
	}
	pairs := slices.DeleteFunc(SimilarPairs(p.W, resp, k), func(q [2]int) bool { return !slices.Contains(used, q[0]) || !slices.Contains(used, q[1]) })
	merged := func(q [2]int) []float64 {
		r := slices.Clone(resp)
		for i := range p.N {
			r[i*k+q[0]] += r[i*k+q[1]]
			r[i*k+q[1]] = 0
		}
		return r
	}
	for _, q := range pairs[:min(len(pairs), boundTries/4)] {
		add(merged(q))
	}
	for _, c := range used {
		if len(used) > 1 {
			add(m.emptied(resp, c))
		}
		for range 2 {
			if !spare {
				break
			}
			r := slices.Clone(resp)
			ok, err := m.Split(ctx, r, c, empty)
			if err != nil {
				return nil, err
			}
			if ok {
				add(r)
			}
		}
	}
	for _, q := range pairs[:min(len(pairs), MovePairs)] {
		for _, c := range used {
			if c == q[1] || c == q[0] && len(used) > 2 || len(starts) >= boundTries {
				continue
			}
			r := merged(q)
			ok, err := m.Split(ctx, r, c, q[1])
			if err != nil {
				return nil, err
			}
			if ok {
				add(r)
			}
		}
	}
	return starts, nil
}

// emptied returns the responsibilities without component c: the others share its part of each row as they share the rest of it.
func (m *MoveSearch) emptied(resp []float64, c int) []float64 {
	k, r := m.Fit.Mix.K, slices.Clone(resp)
	for i := range m.Points.N {
		row := r[i*k : i*k+k]
		rest, sum := 1-row[c], 0.0
		row[c] = 0
		for _, v := range row {
			sum += v
		}
		switch {
		case sum > math.SmallestNonzeroFloat64*0x1p60:
			for j := range row {
				row[j] /= sum
			}
		case rest <= 0 || sum == 0: // the row tells nothing of where it would go: all others share it
			for j := range row {
				if j != c {
					row[j] = 1 / float64(k-1)
				}
			}
		}
	}
	return r
}
