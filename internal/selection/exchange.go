package selection

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/model"
)

// exchange lets the candidates of queue start from their neighbours: from as many components of another shape, from one component fewer
// with one split, and from one more with two merged. A candidate that reaches a higher objective so takes that outcome. All see the
// outcomes of the first round, so that their order changes nothing.
func (c *choice) exchange(ctx context.Context, queue []*contender) {
	better := make([]*contender, len(queue))
	workers, threads := c.plan.Threads, 1
	if c.base.Survey.Used > SideBySideRows {
		workers, threads = 1, workers
	}
	largestFirst(ctx, workers, queue, func(i int, x *contender) {
		var err error
		if better[i], err = c.startFromOthers(ctx, x, threads); err != nil && ctx.Err() == nil && x.Why == "" {
			x.Why = plan.FlagText(err) // rows that cannot be read any more
		}
		c.note(cmp.Or(better[i], x))
	})
	for i, y := range better {
		if y != nil {
			*queue[i] = *y
		}
		queue[i].second = true
	}
}

// secondRound returns the candidates of queue that start from their neighbours too: those of several components, where the plan leaves the
// search to the fit.
func (c *choice) secondRound(queue []*contender) (second []*contender) {
	for _, x := range queue {
		if p := c.plan.Candidate(x.K, x.shape); x.sameAs == nil && !x.second && x.K > 1 && p.Thorough() {
			second = append(second, x)
		}
	}
	return second
}

// offer is a start that another candidate gives.
type offer struct {
	from  string
	theta []float64
}

// startFromOthers returns the candidate with the outcome of a climb from its neighbours, nil if that is no better. In x it notes only how many
// climbs ended where x did.
func (c *choice) startFromOthers(ctx context.Context, x *contender, threads int) (*contender, error) {
	if x.fit == nil || ctx.Err() != nil {
		return nil, nil
	}
	f := *x.fit
	f.Plan.Threads, f.SharedSweeper = threads, nil
	if c.bar < math.Inf(1) {
		f.RequiredObjective = func() float64 { return c.objectiveFor(&f, c.bar) }
	}
	if err := f.Size(); err != nil {
		return nil, err
	}
	m, err := f.NewMoveSearch(ctx)
	if err != nil {
		return nil, err
	}
	m.Rejects = func(p *ascent.Point) bool {
		how, _ := m.Fit.Collapsed(p)
		return how != search.Sound
	}
	offers, err := c.offers(ctx, m, x)
	if err != nil || len(offers) == 0 {
		return nil, err
	}
	var starts [][]float64
	for _, o := range offers {
		starts = append(starts, o.theta)
	}
	top, which, err := m.ClimbBest(ctx, starts)
	if err != nil || top == nil {
		return nil, err
	}
	met := m.CountAt(search.ObjectiveOf(top))
	able, old := c.usable(&x.Candidate), x.outcome.Winner().Last.Point
	if able { // a candidate that cannot win is worse than any outcome that can
		at, ends := old, m.LastObjectives
		if int64(m.Points.N) < f.Survey.Used {
			if at, _, err = m.ClimbAll(ctx, [][]float64{at.Theta}); err != nil {
				return nil, err
			}
			m.LastObjectives = ends
		}
		if at != nil && search.ObjectiveOf(top) < search.ObjectiveOf(at)+search.MoveGain {
			x.agreeing = m.CountAt(search.ObjectiveOf(at))
			return nil, nil
		}
		if share := f.Survey.W / m.Fit.Survey.W; at != nil && x.Pruned && search.ObjectiveOf(old)+otherMaximum*share*(search.ObjectiveOf(top)-search.ObjectiveOf(at)) < f.RequiredObjective() {
			return nil, nil
		}
	}
	r, err := f.ClimbExtra(ctx, x.outcome, top.Theta)
	if err != nil || r.Last.Point == nil || able && search.ObjectiveOf(r.Last.Point) <= search.ObjectiveOf(old)+search.SameOptimum {
		return nil, err
	}
	y, e := *x, *x.outcome
	y.Candidate = model.Candidate{K: x.K, Covariance: x.Covariance, Mclust: x.Mclust, From: offers[which].from}
	e.Moved = r
	if err := y.measure(ctx, &f, &e, c.judges); err != nil || !c.usable(&y.Candidate) {
		return nil, err
	}
	y.outcome, y.extraStart, y.agreeing = e.Compact(), top.Theta, met
	return &y, nil
}

// offers returns the starts that the neighbours of a candidate give it.
func (c *choice) offers(ctx context.Context, m *search.MoveSearch, x *contender) (offers []offer, err error) {
	add := func(from string, resp []float64) {
		offers = append(offers, offer{from, m.Fit.FromResponsibilities(m.Points, resp, search.DrawnConfidence)})
	}
	for _, y := range c.alternatives(x) {
		resp, err := y.responsibilities(ctx, m)
		if err != nil {
			return nil, err
		}
		add(y.name(), resp)
	}
	if y := c.find(x.K-1, x.shape); y != nil {
		resp, err := y.responsibilities(ctx, m)
		if err != nil {
			return nil, err
		}
		for part := range y.K {
			r := widened(resp, y.K)
			ok, err := m.Split(ctx, r, part, x.K-1)
			if err != nil {
				return nil, err
			}
			if ok {
				add(y.name()+" with one group split", r)
			}
		}
	}
	if y := c.find(x.K+1, x.shape); y != nil {
		resp, err := y.responsibilities(ctx, m)
		if err != nil {
			return nil, err
		}
		for _, pair := range search.SimilarPairs(m.Points.W, resp, y.K)[:min(search.MovePairs, y.K*(y.K-1)/2)] {
			add(y.name()+" with two groups merged", merged(resp, y.K, pair))
		}
	}
	return offers, nil
}

// alternatives returns candidates of as many components that x starts from: the best by the criterion, and of those whose shape is a special
// case of that of x, and which should not have a higher log-likelihood than x but do, the one with the highest.
func (c *choice) alternatives(x *contender) (list []*contender) {
	var best, nested *contender
	for _, y := range c.all {
		if y.K != x.K || y == x || y.sameAs != nil || y.outcome == nil || !c.usable(&y.Candidate) {
			continue
		}
		if best == nil || c.before(y, best) {
			best = y
		}
		if *y.LogLik > *x.LogLik && family.Nested(x.shape, y.shape) && (nested == nil || *y.LogLik > *nested.LogLik) {
			nested = y
		}
	}
	if best != nil {
		list = append(list, best)
	}
	if nested != nil && nested != best {
		list = append(list, nested)
	}
	return list
}

// find returns the candidate of a number of components and a shape that has been fitted and can win, nil if there is none.
func (c *choice) find(k int, shape family.Shape) *contender {
	for _, y := range c.all {
		if y.K == k && y.shape == shape {
			if y.sameAs != nil {
				y = y.sameAs
			}
			if y.outcome != nil && c.usable(&y.Candidate) {
				return y
			}
		}
	}
	return nil
}

// name returns what a candidate is called where another has started from it.
func (x *contender) name() string {
	if x.Mclust == "" {
		return fmt.Sprintf("the %d-group fit", x.K)
	}
	return fmt.Sprintf("the %d-group %s fit", x.K, x.Mclust)
}

// responsibilities returns those of the candidate's components for the rows of a search: n x K numbers, row by row.
func (x *contender) responsibilities(ctx context.Context, m *search.MoveSearch) ([]float64, error) {
	own := *m
	f := *m.Fit
	f.Mix = x.fit.Mix
	own.Fit = &f
	return own.Responsibilities(ctx, x.outcome.Winner().Last.Point.Theta)
}

// widened returns responsibilities of k components with a last one added whose responsibilities are 0.
func widened(resp []float64, k int) []float64 {
	wide := make([]float64, 0, len(resp)/k*(k+1))
	for row := range slices.Chunk(resp, k) {
		wide = append(append(wide, row...), 0)
	}
	return wide
}

// merged returns responsibilities of k components with the second of a pair added to the first.
func merged(resp []float64, k int, pair [2]int) []float64 {
	narrow := make([]float64, 0, len(resp)/k*(k-1))
	for row := range slices.Chunk(resp, k) {
		at := len(narrow)
		narrow = append(append(narrow, row[:pair[1]]...), row[pair[1]+1:]...)
		narrow[at+pair[0]] += row[pair[1]]
	}
	return narrow
}
