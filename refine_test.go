package latent

import (
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/seed"
)

// With many rows the starts climb on a sample first. The end is that of a climb on all rows from the plain start, in a
// few passes, and the same bits for any number of threads.
func TestManyRowsAreClimbedOnASampleFirst(t *testing.T) {
	t.Parallel()
	src := fixtures.Overlapping(4 * seed.SampleRows)
	plain := mustFit(t, src, Spec{K: 3, NInit: 1, Algorithm: "em-lbfgs"})
	first := mustFit(t, src, Spec{K: 3, Threads: 1})
	again := mustFit(t, src, Spec{K: 3, Threads: 3})
	if math.Abs(*first.LogLik-*plain.LogLik) > 0.01 || !first.Converged {
		t.Errorf("log-likelihood %v (finished: %v), want %v", *first.LogLik, first.Converged, *plain.LogLik)
	}
	if first.Sweeps*2 > plain.Sweeps {
		t.Errorf("%d sweeps of all rows, %d without a sample", first.Sweeps, plain.Sweeps)
	}
	if *first.LogLik != *again.LogLik || !slices.Equal(first.Starts.Objectives, again.Starts.Objectives) || !slices.Equal(first.Components[0].Mean, again.Components[0].Mean) {
		t.Error("another number of threads gives another result")
	}
}
