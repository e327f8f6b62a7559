package search

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/inference"
)

// Limits of the look at the end of a fit in every direction, so that it takes no longer than a few starts.
const (
	// confirmParams is the largest number of parameters whose whole information matrix is looked at.
	confirmParams = 300
	// confirmWork is the largest rows x parameters^2: two sweeps a parameter, each of which takes rows x parameters operations. That is
	// some hundredths of a second.
	confirmWork = 1e7
	// CandidateWork is the same for each candidate of a choice, of which there may be a hundred.
	CandidateWork = 3e5
)

// confirms reports whether every direction is looked at where a climb has ended, if rows x parameters^2 may be as large as work.
func (f *Fit) confirms(s *ascent.Step, work float64) bool {
	p := float64(f.Mix.Params())
	return f.inference().CanCertify() && s.Done > ascent.Limit && p <= confirmParams && p*p*float64(f.Survey.Rows) <= work
}

// Confirm looks at the final point of the winner in every direction, if rows x parameters^2 is at most work: a climb itself looks only
// along its gradient and along random moves. Where there is a way up, the winner climbs it, in place.
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

// confirmed looks in every direction from s, the last step of the climb from the given start of so many, and returns the last step after
// that.
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
			if p.Iteration > 0 { // the first is the final point of the climb, which was seen before
				p.Start, p.Of, p.Iteration, p.Sweeps = start+1, of, p.Iteration+s.Iteration, p.Sweeps+s.Sweeps
				f.Watch(p)
			}
		}
	}
	watch = f.userProgress(watch)
	driver := func(int) ascent.Driver { return ascent.Confirm{Climb: finish, Done: s.Done} }
	r := l.climb(ctx, driver, [][]float64{s.Point.Theta}, watch)[0]
	f.ConfirmSweeps += r.Sweeps
	if r.Err != nil || r.Last.Point == nil {
		if ctx.Err() != nil { // the final point of the climb stands
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

// inside looks beside a final point with probabilities at 0 or 1 where the likelihood is no better than beside them. A flat ridge may
// end there: the rows determine the parameters as little as anywhere along it, but parameters that are held at an edge show no curvature.
// inside climbs from a point off the edge. Where that ends higher, or as high with a flat direction, *s becomes the end of that climb.
func (f *Fit) inside(ctx context.Context, s *ascent.Step, finish ascent.Finish) error {
	p, theta := s.Point, slices.Clone(s.Point.Theta)
	if !s.Done.Converged() || s.Certificate == nil || inference.IsFlat(s) || !f.Mix.Inside(theta, p.Held, p.Whole, p.Weights) {
		return nil
	}
	finish.Driver = ascent.EMLBFGS{Warm: 10, Memory: 15, MaxIter: finish.MaxIter} // other drivers leap back to the edge
	l := f.lockstep(nil)
	for _, look := range []func(done ascent.Reason) ascent.Driver{
		func(ascent.Reason) ascent.Driver { return finish },
		func(done ascent.Reason) ascent.Driver { return ascent.Confirm{Climb: finish, Done: done} },
	} {
		r := l.climb(ctx, func(int) ascent.Driver { return look(s.Done) }, [][]float64{theta}, nil)[0]
		f.ConfirmSweeps += r.Sweeps
		switch {
		case ctx.Err() != nil: // the final point of the climb stands
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

// sameObjective is the share of a log-likelihood by which two values at one maximum may differ by rounding.
const sameObjective = 1e-11

// CertifyBest returns the last step of the best of runs after a look in every direction, where that is affordable. Its certificate is of
// the point where the run ended: where the look has found a way up from there, it is nil, since the distance is not known.
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
