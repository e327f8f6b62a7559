package latent_test

import (
	"context"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
)

// Climbed is called once, after the last step of every start, also of a choice and of k-means.
func TestClimbedIsCalledWhenTheClimbsHaveEnded(t *testing.T) {
	t.Parallel()
	src, info, err := data.Load(context.Background(), "@faithful", data.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for name, spec := range map[string]latent.Spec{
		"one":     {K: 2, Algorithm: "em", NInit: 1},
		"default": {K: 2},
		"choice":  {KRange: [2]int{1, 3}, Covariance: "full"},
		"k-means": {K: 2, Model: "kmeans"},
	} {
		spec.Columns = info.Features
		steps, before, calls := 0, 0, 0
		if _, err := latent.Fit(t.Context(), src, spec, latent.Observer{Step: func(latent.Progress) { steps++ }, Climbed: func() { before = steps; calls++ }}); err != nil {
			t.Fatal(err)
		}
		if calls != 1 || before != steps || steps == 0 {
			t.Errorf("%s: called %d times, the last after %d of %d steps", name, calls, before, steps)
		}
	}
}
