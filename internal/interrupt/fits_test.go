package interrupt_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
)

// soon is how long after its context has ended a fit may go on here: a second, and what a busy machine adds. None of the
// fits below ends by itself in less than several times that.
const soon = 20 * time.Second

// Whatever a fit is doing when its context ends, it comes back soon: with the best so far, which says that it was
// interrupted, or with the error of the context where there is nothing yet.
func TestWhateverAFitIsDoingItEndsWithItsContext(t *testing.T) {
	for name, c := range map[string]struct {
		src  data.Source
		spec latent.Spec
		wait time.Duration // at which the context ends
	}{
		"eigenvalues of large matrices":  {fixtures.Noise(900, 700, 4), latent.Spec{K: 2, AllowLong: true}, 600 * time.Millisecond},
		"common axes":                    {fixtures.Noise(60, 80, 5), latent.Spec{K: 2, Covariance: "VVE", AllowLong: true}, 600 * time.Millisecond},
		"a volume for all":               {fixtures.Noise(60, 200, 6), latent.Spec{K: 2, Covariance: "EVV", AllowLong: true}, 600 * time.Millisecond},
		"a whitened start":               {fixtures.Noise(20_000, 600, 7), latent.Spec{K: 2, Init: "whitened", AllowLong: true}, 600 * time.Millisecond},
		"many components":                {fixtures.Lumps(20_000, 10, 900), latent.Spec{K: 900, AllowLong: true}, 600 * time.Millisecond},
		"many centres":                   {fixtures.Lumps(60_000, 10, 4000), latent.Spec{K: 4000, Model: "kmeans"}, time.Second},
		"Lloyd's algorithm":              {fixtures.Lumps(60_000, 20, 4000), latent.Spec{K: 4000, Model: "kmeans", Algorithm: "lloyd"}, time.Second},
		"mini-batches":                   {fixtures.Lumps(60_000, 20, 2000), latent.Spec{K: 2000, Model: "kmeans", Algorithm: "minibatch", MaxIter: new(1_000_000)}, time.Second},
		"medians":                        {fixtures.Lumps(60_000, 10, 3000), latent.Spec{K: 3000, Model: "kmedians"}, time.Second},
		"bits":                           {fixtures.Coins(20_000, 60), latent.Spec{K: 300, Model: "bernoulli", AllowLong: true}, 600 * time.Millisecond},
		"the optimum of one column":      {fixtures.Noise(1_000_000, 1, 8), latent.Spec{K: 2000, Model: "kmeans"}, 1500 * time.Millisecond},
		"many principal components":      {fixtures.Noise(900, 1900, 9), latent.Spec{K: 2, PCA: 800}, time.Second},
		"principal components by passes": {fixtures.Noise(2000, 2500, 10), latent.Spec{K: 2, PCA: 1000, AllowLong: true}, 600 * time.Millisecond},
		"a choice":                       {fixtures.Lumps(2000, 25, 5), latent.Spec{}, time.Second},
		"a choice by silhouettes":        {fixtures.Lumps(4000, 2000, 5), latent.Spec{KRange: [2]int{2, 30}, Model: "kmeans"}, 1500 * time.Millisecond},
		"a choice by gaps":               {fixtures.Lumps(4000, 300, 5), latent.Spec{KRange: [2]int{2, 30}, Model: "kmeans", Criterion: "gap"}, time.Second},
		"a bootstrap":                    {fixtures.Lumps(2000, 8, 5), latent.Spec{K: 5, Bootstrap: 10_000}, time.Second},
		"a likelihood-ratio test":        {fixtures.Lumps(2000, 8, 5), latent.Spec{K: 5, LRT: 10_000}, time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			var ended time.Time
			time.AfterFunc(c.wait, func() { ended = time.Now(); cancel() })
			r, err := latent.Fit(ctx, c.src, c.spec)
			switch {
			case ctx.Err() == nil:
				t.Fatalf("it was over before it was interrupted: %v", err)
			case err != nil && !errors.Is(err, context.Canceled):
				t.Errorf("error %v", err)
			case err == nil && !r.Interrupted && (r.Stability == nil || !r.Stability.Interrupted) && (r.LRT == nil || !r.LRT.Interrupted):
				t.Error("the result does not say that it was interrupted")
			}
			if took := time.Since(ended); took > soon {
				t.Errorf("it went on for %v", took)
			} else {
				t.Logf("it went on for %v; error %v", took.Round(time.Millisecond), err)
			}
		})
	}
}

// Compare and Trials end with their context too.
func TestComparisonsEndWithTheirContext(t *testing.T) {
	src := fixtures.Noise(60, 80, 5)
	spec := latent.Spec{K: 2, Covariance: "VVE", AllowLong: true, NInit: 3, Init: "random"}
	for name, run := range map[string]func(context.Context) error{
		"compare": func(ctx context.Context) error {
			_, err := latent.Compare(ctx, src, spec, []string{"em", "em-lbfgs"})
			return err
		},
		"trials": func(ctx context.Context) error {
			_, err := latent.Trials(ctx, src, spec, []string{"em", "em-lbfgs"}, 100, nil)
			return err
		},
	} {
		ctx, cancel := context.WithCancel(context.Background())
		time.AfterFunc(time.Second, cancel)
		began := time.Now()
		if err := run(ctx); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: error %v", name, err)
		}
		if took := time.Since(began) - time.Second; took > soon {
			t.Errorf("%s: it went on for %v", name, took)
		}
		cancel()
	}
}
