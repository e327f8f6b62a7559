package latent

import (
	"context"
	"math"
	"testing"

	"github.com/latent-go/latent/internal/fixtures"
)

// Whatever mclust found, over its fourteen shapes and up to nine components, is found or passed without an option. From ten
// starts of k-means alone, VEE with five components on faithful and VEV with three on diabetes stay about 4 nats lower.
func TestDefaultFitsAreNotBelowMclust(t *testing.T) {
	t.Parallel()
	names := []string{"faithful", "iris", "diabetes"}
	if testing.Short() {
		names = names[:1]
	}
	for _, name := range names {
		src, _ := builtIn(t, "@"+name)
		tried := 0
		for _, fit := range mclust(t, name) {
			tried++
			r, err := Fit(context.Background(), src, Spec{K: fit.K, Covariance: fit.Model})
			if err != nil {
				t.Fatal(err)
			}
			if gain := *r.LogLik - *fit.LogLik; gain < -1e-4-1e-6*math.Abs(*fit.LogLik) {
				t.Errorf("%s, %s, k %d: log-likelihood %v, mclust's %v", name, fit.Model, fit.K, *r.LogLik, *fit.LogLik)
			}
		}
		if tried < 40 {
			t.Errorf("%s: only %d fits", name, tried)
		}
	}
}

// Who says how to search gets that search.
func TestMovesAreForWhatIsLeftToTheFit(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, 0, 1, 2, 10, 11, 12, 20, 21, 22, 40, 41, 42)
	for _, c := range []struct {
		spec Spec
		want bool
	}{
		{Spec{K: 2}, true}, {Spec{K: 1}, false}, {Spec{K: 2, NInit: 3}, true}, {Spec{K: 2, NInit: 1}, false}, {Spec{K: 2, Init: "kmeans"}, false}, {Spec{K: 2, Algorithm: "em"}, false},
		{Spec{K: 2, RegCovar: 1}, false}, {Spec{K: 2, MaxIter: new(1), Tol: new(0.)}, false}, {Spec{K: 2, Model: "kmeans"}, false},
	} {
		if r := mustFit(t, src, c.spec); (r.Starts.Moves != nil) != c.want {
			t.Errorf("%+v: moves %+v", c.spec, r.Starts.Moves)
		}
	}
}
