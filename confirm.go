package latent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
)

// Limits of the closer look at the end of a fit, so that it takes no longer than a few starts.
const (
	// confirmParams is how many parameters the whole information is looked at of.
	confirmParams = 300
	// confirmWork is how much rows x parameters^2 may be: two sweeps a parameter, the work of each in proportion to rows x
	// parameters. That is some hundredths of a second.
	confirmWork = 1e7
	// candidateWork is the same for each candidate of a choice, of which there may be a hundred.
	candidateWork = 3e5
)

// confirms reports whether every direction is looked at where a climb of the fit has ended, if rows x parameters^2 may be work.
func (f *fit) confirms(s *ascent.Step, work float64) bool {
	p := float64(f.mix.Params())
	return f.certified() && s.Done > ascent.Limit && p <= confirmParams && p*p*float64(f.look.Rows) <= work
}

// certified reports whether the fit climbs the log-likelihood until its optimum is certified to be near.
func (f *fit) certified() bool {
	return f.mix.Smooth() && !f.plan.Hard() && f.plan.RegCovar == 0 && f.plan.TolLogLik == 0
}

// confirm looks at the winning end in every direction, where that is affordable: the looks of a climb see only what the
// gradient or a move at random touches. Where there is a way up it is climbed.
func (f *fit) confirm(ctx context.Context, e *outcome, work float64) error {
	win := e.win()
	if c := win.last.Certificate; e.interrupted || c != nil && c.Whole || !f.confirms(&win.last, work) {
		return nil
	}
	last, err := f.confirmed(ctx, win.last, win.start, len(e.runs))
	if err == nil {
		win.last = last
	}
	return err
}

// confirmed returns where a climb ends that has come to s, after a look in every direction.
func (f *fit) confirmed(ctx context.Context, s ascent.Step, start, of int) (ascent.Step, error) {
	finish, ok := f.driver(start).(ascent.Finish)
	if !ok {
		return s, nil
	}
	if a, ok := finish.Driver.(ascent.Anneal); ok { // its search is over
		finish.Driver = a.Last
	}
	finish.MaxIter = max(f.plan.MaxIter-s.Iteration, 0)
	l := f.lockstep(f.watch)
	l.rival = nil
	var watch func(Progress)
	if f.watch != nil {
		watch = func(p Progress) {
			if p.Iteration > 0 { // the first is the end as it was seen before
				p.Start, p.Of, p.Iteration, p.Sweeps = start+1, of, p.Iteration+s.Iteration, p.Sweeps+s.Sweeps
				f.watch(p)
			}
		}
	}
	driver := func(int) ascent.Driver { return ascent.Confirm{Climb: finish, Done: s.Done} }
	r := l.climb(ctx, driver, [][]float64{s.Point.Theta}, watch)[0]
	f.confirmSweeps += r.sweeps
	if r.err != nil || r.last.Point == nil {
		if ctx.Err() != nil { // the end stands as the climb has left it
			return s, nil
		}
		return s, r.err
	}
	if err := f.inside(ctx, &r.last, finish); err != nil {
		return s, err
	}
	if c := s.Certificate; c != nil {
		r.last.Certificate.Saddles += c.Saddles
	}
	r.last.Iteration += s.Iteration
	r.last.Sweeps = s.Sweeps
	return r.last, nil
}

// inside looks beside an end with probabilities at 0 or 1 whose edge is no better than what lies beside it. There may be a ridge
// that ends at that edge: the parameters are as little determined as anywhere along it, but what is held there has no curvature.
// It climbs from within the edge. Where that ends as high, with a flat direction, or higher, the end is that one.
func (f *fit) inside(ctx context.Context, s *ascent.Step, finish ascent.Finish) error {
	p, theta := s.Point, slices.Clone(s.Point.Theta)
	if !s.Done.Converged() || s.Certificate == nil || isFlat(s) || !f.mix.Inside(theta, p.Held, p.Whole, p.Weights) {
		return nil
	}
	finish.Driver = ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: finish.MaxIter} // others leap back to the edge
	l := f.lockstep(nil)
	for _, look := range []func(done ascent.Reason) ascent.Driver{
		func(ascent.Reason) ascent.Driver { return finish },
		func(done ascent.Reason) ascent.Driver { return ascent.Confirm{Climb: finish, Done: done} },
	} {
		r := l.climb(ctx, func(int) ascent.Driver { return look(s.Done) }, [][]float64{theta}, nil)[0]
		f.confirmSweeps += r.sweeps
		switch {
		case ctx.Err() != nil: // the end stands
			return nil
		case r.err != nil:
			return r.err
		case !r.last.Done.Converged():
			return nil
		}
		theta = r.last.Point.Theta
		if c := r.last.Certificate; c != nil && c.Whole {
			gain, unsure := r.last.Point.F-p.F, c.Remaining+s.Certificate.Remaining+sameHeight*math.Abs(p.F)
			if gain > unsure || gain >= -unsure && isFlat(&r.last) {
				r.last.Iteration += s.Iteration
				*s = r.last
			}
		}
	}
	return nil
}

// sameHeight is the share of a log-likelihood by which two of one maximum may differ by rounding.
const sameHeight = 1e-11

// flatDirection looks for a direction in which no row's density changes, by the sum of the outer products of the rows'
// scores, info of the parameters keep, held left out: what rows do not determine is in its null space. That is a pass which standard errors
// take anyway; two more, along the direction alone, tell whether the log-likelihood is flat there. It is for ends that were not
// looked at in every direction, and returns what is to be told of one.
func (f *fit) flatDirection(ctx context.Context, s *ascent.Step, keep []int, held []bool, info *mat.SymDense, rows int64) (*ascent.Certificate, error) {
	if s.Certificate == nil || s.Certificate.Whole || !f.certified() || int64(len(keep)) >= rows {
		return s.Certificate, nil
	}
	var least float64
	look := ascent.FlatAlong{Seed: f.plan.Seed, Known: s.Point, Least: &least, Held: held, Estimate: f.outerProducts(keep, held, info)}
	r := f.lockstep(nil).climb(ctx, func(int) ascent.Driver { return look }, [][]float64{s.Point.Theta}, nil)[0]
	f.confirmSweeps += r.sweeps
	if r.err != nil {
		return nil, r.err
	}
	c := *s.Certificate
	if least < c.Curvature { // what was told by the curvature that the climb had met
		grow := math.Sqrt(c.Curvature / max(least, flatBelow))
		c.Distance, c.Remaining = c.Distance*grow, c.Remaining*grow*grow
	}
	if along := r.last.Certificate.Curvature; along < c.Curvature {
		c.Curvature = along
	}
	return &c, nil
}

// outerProducts returns the product of the sum of outer products info with a move. info is of the parameters keep, which lack
// one of each group of logits: the scores of a group add to 0, and that one has what is missing.
func (f *fit) outerProducts(keep []int, held []bool, info *mat.SymDense) func(v []float64) ([]float64, error) {
	n := f.mix.Params()
	kept, anchor := make([]bool, n), slices.Repeat([]int{-1}, n) // of each parameter that of its group
	for _, at := range keep {
		kept[at] = true
	}
	f.mix.Groups(func(from, to int) {
		for i := from; i < to; i++ {
			if !kept[i] && !held[i] {
				for j := from; j < to; j++ {
					anchor[j] = i
				}
			}
		}
	})
	return func(v []float64) ([]float64, error) {
		x, y := make([]float64, len(keep)), make([]float64, n)
		for j, at := range keep {
			if x[j] = v[at]; anchor[at] >= 0 {
				x[j] -= v[anchor[at]]
			}
		}
		for i, at := range keep {
			for j, w := range x {
				y[at] += info.At(i, j) * w
			}
			if anchor[at] >= 0 {
				y[anchor[at]] -= y[at]
			}
		}
		return y, nil
	}
}

// undetermined is why there are no standard errors, and what is remarked, where the log-likelihood is flat.
const undetermined = "the log-likelihood is flat in some direction: these rows do not determine all parameters"

// flatBelow is the smallest curvature, in units of the complete-data information, below which a direction is called flat: what
// a difference of gradients is right to.
const flatBelow = 1e-4

// isFlat reports whether an end was found to be flat in some direction.
func isFlat(s *ascent.Step) bool {
	return s.Certificate != nil && math.Abs(s.Certificate.Curvature) < flatBelow
}
