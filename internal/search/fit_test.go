package search

import (
	"context"
	"math"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
)

// A degenerate component on a few rows has a likelihood as high as the floor allows. A start with one does not win against a start without.
func TestADegenerateComponentDoesNotWin(t *testing.T) {
	t.Parallel()
	g := family.Gaussian{Shape: family.Spherical, Var: []float64{1}}
	f := &Fit{Mix: &mixture.Mixture{Family: g, K: 2, D: 1}}
	f.Plan.Kind, f.Plan.Shape = kind.Of(kind.Gaussian.Name), family.TiedSpherical // shared: no component has too few rows for its own
	floor := math.Log(family.MinEigenvalue) / 2
	start := func(logL, logSD, weight float64) Run {
		return Run{Last: ascent.Step{Point: &ascent.Point{Beta: 1, Theta: []float64{0, 0, 0, 5, 0, logSD}, F: logL, Weights: []float64{50, weight}}}}
	}
	for _, c := range []struct {
		name string
		runs []Run
		want int
	}{
		{"the higher", []Run{start(1, 0, 2), start(3, 0, 2), start(2, 0, 2)}, 1},
		{"the first of equals", []Run{start(1, 0, 2), start(1, 0, 2)}, 0},
		{"a degenerate component against none", []Run{start(100, floor, 2), start(1, 0, 2)}, 1},
		{"none against a degenerate component", []Run{start(1, 0, 2), start(100, floor, 2)}, 0},
		{"two degenerate components", []Run{start(100, floor, 2), start(200, floor, 2)}, 1},
		{"many equal rows are a cluster", []Run{start(1, 0, 2), start(100, floor, 15)}, 1},
		{"a start that failed", []Run{{Err: context.Canceled}, start(1, 0, 2)}, 1},
	} {
		if got, err := f.Best(c.runs); err != nil || got != c.want {
			t.Errorf("%s: start %d (%v), want %d", c.name, got, err, c.want)
		}
	}
}

// Ten starts of eight components of one shape on the measures of penguins and the year, which has three values: from one of
// them, as the year's variance shrinks, a component loses its rows. EM-metric L-BFGS alone then follows its covariance out to 1e71 for a thousand steps; EM gives its weight
// back in one.
func TestComponentsThatLoseTheirRowsDoNotWander(t *testing.T) {
	t.Parallel()
	columns := []string{"bill_length_mm", "bill_depth_mm", "flipper_length_mm", "body_mass_g", "year"}
	src, _, err := data.Load(context.Background(), "@penguins", data.Options{Columns: columns, Missing: "drop"})
	if err != nil {
		t.Fatal(err)
	}
	f, err := New(context.Background(), src, fixtures.Plan(plan.Spec{K: 8, Covariance: "VEI", Init: "kmeans", NInit: 10, Columns: columns}))
	if err != nil {
		t.Fatal(err)
	}
	thetas, err := f.Starts(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	runs, err := f.Climb(context.Background(), thetas, nil, false)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range runs {
		if !r.Last.Done.Converged() || r.Last.Iteration > 300 {
			t.Errorf("start %d: finished: %v after %d steps, at %v", i+1, r.Last.Done, r.Last.Iteration, r.Last.Point.F)
		}
		m, _ := f.Model(r.Last.Point)
		for c, mean := range m.Means {
			if mean[3] < 2700 || mean[3] > 6300 { // the lightest and the heaviest
				t.Errorf("start %d: a component of weight %v has a mean of %v g", i+1, m.Weights[c], mean[3])
			}
		}
	}
}
