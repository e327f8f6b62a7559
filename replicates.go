package latent

import (
	"context"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/plan"
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

// minimal returns the part of a fit that is needed of a replicate: the model, and which components are at the
// floor of variances.
func (f *fit) minimal(e *outcome) *Fitted {
	at := e.win().last.Point
	m, order := f.model(at)
	p := &model.Provenance{Course: model.Course{Interrupted: e.interrupted}, AtFloor: make([]bool, m.K())}
	m.Provenance = p
	if f.plan.Kind.Shaped {
		floor := f.atFloor(at)
		for c, from := range order {
			p.AtFloor[c] = from >= 0 && floor[from]
		}
	}
	return &Fitted{Model: m}
}

// repeated is Fit with the stability and the test that the spec asks for.
func repeated(ctx context.Context, src data.Source, p plan.Plan, see Observer) (*Fitted, error) {
	r, err := fitPlan(ctx, src, p.Once(), see)
	if err != nil {
		return nil, err
	}
	found := &r.Model.Provenance.Findings
	if p.Bootstrap > 0 {
		if found.Stability, err = stability(ctx, src, p, r, see.Replicate); err != nil {
			return nil, err
		}
	}
	if p.LRT > 0 {
		if found.LRT, err = likelihoodRatio(ctx, src, p, r, see.Replicate); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// rowDrawnTimes is how often a row of a bootstrap sample may be drawn before it is rare: a degenerate component on a few rows may weigh so
// many times what it would weigh without repeats. One row in ten thousand is drawn seven times or more.
const rowDrawnTimes = 7
