package search

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/inference"
)

// Limits of the closer look at the end of a fit, so that it takes no longer than a few starts.
const (
	// confirmParams is how many parameters the whole information is looked at of.
	confirmParams = 300
	// confirmWork is how much rows x parameters^2 may be: two sweeps a parameter, the work of each in proportion to rows x
	// parameters. That is some hundredths of a second.
	confirmWork = 1e7
	// candidateWork is the same for each candidate of a choice, of which there may be a hundred.
	CandidateWork = 3e5
)

// confirms reports whether every direction is looked at where a climb of the fit has ended, if rows x parameters^2 may be work.
func (f *Fit) confirms(s *ascent.Step, work float64) bool {
	p := float64(f.Mix.Params())
	return f.inference().CanCertify() && s.Done > ascent.Limit && p <= confirmParams && p*p*float64(f.Survey.Rows) <= work
}

// Confirm looks at the winning end in every direction, where that is affordable: the looks of a climb see only what the
// gradient or a move at random touches. Where there is a way up it is climbed.
func (f *Fit) Confirm(ctx context.Context, e *Outcome, work float64) error {
	win := e.Winner()
	if c := win.Last.Certificate; e.Interrupted || c != nil && c.Whole || !f.confirms(&win.Last, work) {
		return nil
	}
	last, err := f.confirmed(ctx, win.Last, win.start, len(e.Runs))
	if err == nil {
		win.Last = last
	}
	return err
}

// confirmed returns where a climb ends that has come to s, after a look in every direction.
func (f *Fit) confirmed(ctx context.Context, s ascent.Step, start, of int) (ascent.Step, error) {
	finish, ok := f.Driver(start).(ascent.Finish)
	if !ok {
		return s, nil
	}
	if a, ok := finish.Driver.(ascent.Anneal); ok { // its search is over
		finish.Driver = a.Last
	}
	finish.MaxIter = max(f.Plan.MaxIter-s.Iteration, 0)
	l := f.lockstep(f.Watch)
	l.rival = nil
	var watch func(Progress)
	if f.Watch != nil {
		watch = func(p Progress) {
			if p.Iteration > 0 { // the first is the end as it was seen before
				p.Start, p.Of, p.Iteration, p.Sweeps = start+1, of, p.Iteration+s.Iteration, p.Sweeps+s.Sweeps
				f.Watch(p)
			}
		}
	}
	driver := func(int) ascent.Driver { return ascent.Confirm{Climb: finish, Done: s.Done} }
	r := l.climb(ctx, driver, [][]float64{s.Point.Theta}, watch)[0]
	f.ConfirmSweeps += r.Sweeps
	if r.Err != nil || r.Last.Point == nil {
		if ctx.Err() != nil { // the end stands as the climb has left it
			return s, nil
		}
		return s, r.Err
	}
	if err := f.inside(ctx, &r.Last, finish); err != nil {
		return s, err
	}
	if c := s.Certificate; c != nil {
		r.Last.Certificate.Saddles += c.Saddles
	}
	r.Last.Iteration += s.Iteration
	r.Last.Sweeps = s.Sweeps
	return r.Last, nil
}

// inside looks beside an end with probabilities at 0 or 1 whose edge is no better than what lies beside it. There may be a ridge
// that ends at that edge: the parameters are as little determined as anywhere along it, but what is held there has no curvature.
// It climbs from within the edge. Where that ends as high, with a flat direction, or higher, the end is that one.
func (f *Fit) inside(ctx context.Context, s *ascent.Step, finish ascent.Finish) error {
	p, theta := s.Point, slices.Clone(s.Point.Theta)
	if !s.Done.Converged() || s.Certificate == nil || inference.IsFlat(s) || !f.Mix.Inside(theta, p.Held, p.Whole, p.Weights) {
		return nil
	}
	finish.Driver = ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: finish.MaxIter} // others leap back to the edge
	l := f.lockstep(nil)
	for _, look := range []func(done ascent.Reason) ascent.Driver{
		func(ascent.Reason) ascent.Driver { return finish },
		func(done ascent.Reason) ascent.Driver { return ascent.Confirm{Climb: finish, Done: done} },
	} {
		r := l.climb(ctx, func(int) ascent.Driver { return look(s.Done) }, [][]float64{theta}, nil)[0]
		f.ConfirmSweeps += r.Sweeps
		switch {
		case ctx.Err() != nil: // the end stands
			return nil
		case r.Err != nil:
			return r.Err
		case !r.Last.Done.Converged():
			return nil
		}
		theta = r.Last.Point.Theta
		if c := r.Last.Certificate; c != nil && c.Whole {
			gain, unsure := r.Last.Point.F-p.F, c.Remaining+s.Certificate.Remaining+sameObjective*math.Abs(p.F)
			if gain > unsure || gain >= -unsure && inference.IsFlat(&r.Last) {
				r.Last.Iteration += s.Iteration
				*s = r.Last
			}
		}
	}
	return nil
}

// sameHeight is the share of a log-likelihood by which two of one maximum may differ by rounding.
const sameObjective = 1e-11

// LookAtBest looks at the best end in every direction where that is affordable. Its certificate is of that end: where a look
// leads away from it, the distance is not known.
func (f *Fit) CertifyBest(ctx context.Context, runs []Run) (*ascent.Step, error) {
	at, err := f.Best(runs)
	if err != nil {
		return nil, err
	}
	best := runs[at].Last
	if !f.confirms(&best, confirmWork) {
		return &best, nil
	}
	on := *f
	on.Watch = nil
	look, err := on.confirmed(ctx, best, at, len(runs))
	if err == nil && look.Point.F > best.Point.F+SameOptimum {
		look.Certificate = nil
	}
	return &look, err
}
