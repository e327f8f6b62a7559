package search

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/plan"
)

// Constants of the search for higher bounds.
const (
	boundGain  = 0.01   // nats of the bound that a move must gain
	boundFails = 3      // rounds in a row without a gain that end the search: splits are drawn at random
	boundKept  = 30     // moves kept at most
	boundSplit = 4      // rows of a component that 2-means splits, at least
	boundTries = 40     // moves tried in a round at most
	leastTries = 12     // and at least, however many rows there are
	boundWork  = 60_000 // rows of all moves of a round together, about
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

// boundMoves makes starts of the moves from one point.
type boundMoves struct {
	*MoveSearch
	resp   []float64
	used   []int    // components that count about a row or more
	pairs  [][2]int // of those, the most alike first
	empty  int      // the component that counts least
	spare  bool     // it is not in use
	starts [][]float64
}

// boundStarts returns the parameters after each move from responsibilities, n x k numbers, of components of such weights: all mergers of the pairs most alike, every
// component emptied, and as long as there are fewer than most, splits, mergers with a split, and new starts, in turn.
func (m *MoveSearch) boundStarts(ctx context.Context, resp, weights []float64) ([][]float64, error) {
	b := &boundMoves{MoveSearch: m, resp: resp}
	for c, w := range weights {
		if w >= leastInUse/2. {
			b.used = append(b.used, c)
		}
		if w < weights[b.empty] {
			b.empty = c
		}
	}
	b.spare = weights[b.empty] < leastInUse/2.
	b.pairs = slices.DeleteFunc(SimilarPairs(m.Points.W, resp, m.Fit.Mix.K), func(q [2]int) bool {
		return !slices.Contains(b.used, q[0]) || !slices.Contains(b.used, q[1])
	})
	most := max(min(boundTries, boundWork/m.Points.N), leastTries)
	for _, q := range b.pairs[:min(len(b.pairs), most/4)] {
		b.add(b.merged(q))
	}
	if len(b.used) > 1 {
		for _, c := range b.used[:min(len(b.used), most/4)] {
			b.add(b.emptied(c))
		}
	}
	for i := 0; len(b.starts) < most && i < 3*most; i++ {
		if err := b.drawn(ctx, i); err != nil {
			return nil, err
		}
	}
	return b.starts, nil
}

// add adds the start that one M-step makes of responsibilities.
func (b *boundMoves) add(r []float64) {
	theta, _ := b.Fit.sortedSticks(b.Fit.FromResponsibilities(b.Points, r, 1))
	b.starts = append(b.starts, theta)
}

// drawn adds move i of those that are drawn at random: of five in turn two split a component into one that is not in use, two merge a pair and
// split a third, and one is a new start.
func (b *boundMoves) drawn(ctx context.Context, i int) error {
	r, into := slices.Clone(b.resp), b.empty
	switch c := b.used[i/5%len(b.used)]; {
	case i%5 == 4: // a new start
		method := []plan.Start{plan.PlusPlus, plan.Random}[i/5%2]
		theta, err := b.Fit.drawn(ctx, b.Points, b.near, method, 1, b.rng)
		if err == nil {
			theta, _ = b.Fit.sortedSticks(theta)
			b.starts = append(b.starts, theta)
		}
		return err
	case i%5 >= 2: // two merge, and a third is split
		if len(b.pairs) == 0 {
			return nil
		}
		q := b.pairs[i/5%min(len(b.pairs), MovePairs)]
		if c == q[1] {
			c = q[0]
		}
		r, into = b.merged(q), q[1]
		return b.part(ctx, r, c, into, i%2 == 0)
	case !b.spare:
		return nil
	default:
		return b.part(ctx, r, c, into, i%2 == 0)
	}
}

// part adds the start in which component into gets a part of the rows of component c: by 2-means, or those on one side of a random plane through
// their mean.
func (b *boundMoves) part(ctx context.Context, r []float64, c, into int, means bool) error {
	ok := true
	if means {
		var err error
		if ok, err = b.Split(ctx, r, c, into); err != nil {
			return err
		}
	} else {
		b.cut(r, c, into)
	}
	if ok {
		b.add(r)
	}
	return nil
}

// cut gives component into the rows of component c that lie on one side of a random plane through their mean.
func (b *boundMoves) cut(r []float64, c, into int) {
	k, d := b.Fit.Mix.K, b.near.D
	normal, total, middle := make([]float64, d), 0.0, 0.0
	for j := range normal {
		normal[j] = b.rng.NormFloat64()
	}
	along := make([]float64, b.Points.N)
	for i := range along {
		for j, x := range b.near.At(i) {
			along[i] += normal[j] * x
		}
		w := b.Points.W[i] * r[i*k+c]
		total += w
		middle += w * along[i]
	}
	for i, v := range along {
		if v*total > middle {
			r[i*k+into] += r[i*k+c]
			r[i*k+c] = 0
		}
	}
}

// merged returns the responsibilities with the second component of a pair in the first.
func (b *boundMoves) merged(q [2]int) []float64 {
	k, r := b.Fit.Mix.K, slices.Clone(b.resp)
	for i := range b.Points.N {
		r[i*k+q[0]] += r[i*k+q[1]]
		r[i*k+q[1]] = 0
	}
	return r
}

// emptied returns the responsibilities without component c: the others share its part of each row as they share the rest of it.
func (b *boundMoves) emptied(c int) []float64 {
	k, r := b.Fit.Mix.K, slices.Clone(b.resp)
	for i := range b.Points.N {
		row := r[i*k : i*k+k]
		row[c] = 0
		sum := 0.0
		for _, v := range row {
			sum += v
		}
		for j := range row {
			switch {
			case j == c:
			case sum > 0x1p-1000:
				row[j] /= sum
			default: // the row tells nothing of where it would go
				row[j] = 1 / float64(k-1)
			}
		}
	}
	return r
}
