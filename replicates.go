package latent

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/model"
)

// replicates runs do for the replicates 0 to b-1 of a fit of so many rows, until ctx ends: side by side with one thread
// each where candidates of a choice would be, else one after another with all threads. What a replicate comes to must
// depend on its number alone. note, where set, is told how many are done.
func replicates(ctx context.Context, threads int, rows int64, b int, note func(done, of int), do func(i, threads int)) {
	workers, each := 1, threads
	if rows <= sideBySide {
		workers, each = threads, 1
	}
	var mu sync.Mutex
	done := 0
	par.Do(ctx, workers, b, func(_, i int) { // its error is that of ctx, whose end leaves the rest of the replicates out
		do(i, each)
		mu.Lock()
		defer mu.Unlock()
		if done++; note != nil {
			note(done, b)
		}
	})
}

// minimal returns the part of a result that is needed of a replicate: the model, and which components are at the
// floor of variances.
func (f *fit) minimal(e *outcome) *Result {
	at := e.win().last.Point
	m, order := f.model(at)
	r := &Result{Kind: m.Kind, K: m.K(), Interrupted: e.interrupted, Model: m, Components: make([]model.Component, m.K())}
	if kind.Of(m.Kind).Shaped {
		r.Covariance, r.Mclust = m.Shape.String(), m.Shape.Mclust()
		floor := f.atFloor(at)
		for c, from := range order {
			r.Components[c].AtFloor = from >= 0 && floor[from]
		}
	}
	return r
}

// onFloor reports whether a component of the result is at the floor of variances.
func (r *Result) onFloor() bool {
	return slices.ContainsFunc(r.Components, func(c model.Component) bool { return c.AtFloor })
}

// repeated is Fit with the stability and the test that the spec asks for.
func repeated(ctx context.Context, src data.Source, spec Spec) (*Result, error) {
	if err := spec.Validate(); err != nil {
		return nil, err
	}
	plain := spec
	plain.Bootstrap, plain.LRT, plain.Repeated = 0, 0, nil
	r, err := Fit(ctx, src, plain)
	if err != nil {
		return nil, err
	}
	began := time.Now()
	if spec.Bootstrap > 0 {
		if r.Stability, err = stability(ctx, src, spec, r); err != nil {
			return nil, err
		}
	}
	if spec.LRT > 0 {
		if r.LRT, err = likelihoodRatio(ctx, src, spec, r); err != nil {
			return nil, err
		}
	}
	r.Model.Provenance.Stability, r.Model.Provenance.LRT = r.Stability, r.LRT
	r.Timing.Repeat = time.Since(began).Seconds()
	r.Seconds += r.Timing.Repeat
	return r, nil
}

// validateRepeats checks what is repeated on other rows.
func (s *Spec) validateRepeats() error {
	switch {
	case s.Bootstrap < 0:
		return bad("bootstrap", "is %d; it must be at least 1", s.Bootstrap)
	case s.LRT < 0:
		return bad("lrt", "is %d; it must be at least 1", s.LRT)
	case s.LRT == 0:
		return nil
	case !s.mixture():
		return bad("lrt", "compares log-likelihoods, which %s does not have; use --criterion gap with -k LO:HI, or --bootstrap", s.kind().Name)
	case s.RegCovar > 0:
		return bad("lrt", "compares the largest log-likelihoods, which --reg-covar does not climb to")
	case s.Algorithm == "hard-em":
		return bad("lrt", "compares the largest log-likelihoods, which hard-em does not climb to")
	case s.given():
		return bad("lrt", "fits one more group too, but --init %s gives one start for -k", s.Init)
	}
	return nil
}

// bareSpec returns the spec of a replicate. It keeps the choice, if there is one.
func (s Spec) bareSpec(threads int) Spec {
	s.Bootstrap, s.LRT, s.Repeated, s.Watch, s.Tried = 0, 0, nil, nil, nil
	s.Threads, s.replicate = threads, true
	return s
}

// rowDrawnTimes is how often a row of a bootstrap sample may be drawn before it is rare: a degenerate component on a few rows may weigh so
// many times what it would weigh without repeats. One row in ten thousand is drawn seven times or more.
const rowDrawnTimes = 7
