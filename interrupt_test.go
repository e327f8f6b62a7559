package latent

import (
	"context"
	"errors"
	"math"
	"sync/atomic"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
)

// endsAfter is a source whose passes end a context: the pass of that number still runs.
type endsAfter struct {
	*data.Table
	passes atomic.Int64
	last   int64
	cancel context.CancelFunc
}

func (s *endsAfter) Open(ctx context.Context) (data.Reader, error) {
	if s.passes.Add(1) == s.last {
		defer s.cancel()
	}
	return s.Table.Open(ctx)
}

// A fit that is stopped after any of its passes, in the middle of a climb or between starts and moves, either says so or is
// the whole fit.
func TestStoppedAfterAnyPassIsMarked(t *testing.T) {
	t.Parallel()
	stops := int64(40) // of each fit
	if testing.Short() {
		stops = 6
	}
	const k, n = 5, 240
	z := rng.Normals(77, 2*n)
	for i := range n {
		z[2*i] += 4 * float64(i%3)
		z[2*i+1] += 4 * float64(i%2)
	}
	for name, spec := range map[string]Spec{
		"starts and moves": {K: k},
		"a choice":         {KRange: [2]int{1, 3}, Covariance: "full,diag"},
		"k-means":          {Model: "kmeans", K: k},
		"annealing":        {K: 3, Algorithm: "anti-annealing", NInit: 2},
	} {
		all := &endsAfter{Table: fixtures.Table(2, z...), last: -1}
		whole, err := Fit(context.Background(), all, spec)
		if err != nil {
			t.Fatal(name, err)
		}
		marked, none := 0, 0
		passes := all.passes.Load()
		for at := int64(1); at <= passes; at += 1 + passes/stops {
			ctx, cancel := context.WithCancel(context.Background())
			src := &endsAfter{Table: all.Table, last: at, cancel: cancel}
			r, err := Fit(ctx, src, spec)
			cancel()
			switch {
			case errors.Is(err, context.Canceled):
				none++
				continue
			case err != nil:
				t.Fatalf("%s, pass %d: %v", name, at, err)
			case r.Interrupted:
				marked++
				if r.Converged || r.Choice != nil && r.Choice.Verdict == "clear" {
					t.Errorf("%s, pass %d: interrupted, yet converged %v, choice %+v", name, at, r.Converged, r.Choice)
				}
			case reached(r) != reached(whole):
				t.Errorf("%s, pass %d of %d: %v without a word, %v if let alone", name, at, passes, reached(r), reached(whole))
			}
		}
		t.Logf("%s: %d passes; stopped with nothing %d times, marked %d times", name, passes, none, marked)
		if marked == 0 {
			t.Errorf("%s: no fit was marked as interrupted", name)
		}
	}
}

// reached is the log-likelihood of a result, or minus its inertia.
func reached(r *Result) float64 {
	switch {
	case r.LogLik != nil:
		return *r.LogLik
	case r.Inertia != nil:
		return -*r.Inertia
	}
	return math.NaN()
}
