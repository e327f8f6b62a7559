package search

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
	"github.com/latent-go/latent/internal/text"
)

// Steps are the smallest differences of columns with equal values; a column without equal values has none.
func TestStepsOfColumns(t *testing.T) {
	t.Parallel()
	p := &seed.Points{N: 4, D: 3, X: []float64{
		1, 0.5, 7,
		3, 0.75, 7.25,
		3, 0.5, 7.1,
		9, 2, 9,
	}}
	if got := grids(p); !slices.Equal(got, []float64{2, 0.25, 0}) {
		t.Errorf("steps %v, want 2, 0.25 and 0", got)
	}
}

// A component of few rows whose standard deviation in a column is below step / sqrt(12) is narrow, of any shape; one of many
// rows, one that is wider, and one at the floor are not.
func TestNarrowComponents(t *testing.T) {
	t.Parallel()
	const n = 90
	x := make([]float64, 0, 2*n)
	for i := range n { // whole numbers
		x = append(x, float64(i%10), float64(i%7))
	}
	for _, shape := range []string{"full", "diag", "spherical", "tied-shape", "tied-shape-diag"} {
		f, err := New(context.Background(), fixtures.Table(2, x...), fixtures.Plan(plan.Spec{K: 2, Covariance: shape}))
		if err != nil {
			t.Fatal(err)
		}
		f.grid = []float64{1, 1}
		mix, g, _ := f.Mix.Start()
		at := func(sd, few float64) *ascent.Point {
			theta := seed.Around(mix, g, []float64{0, 0, 3, 3}, []float64{1, 1}, []float64{4, 4})
			g.FromVariances(g.ScaleOf(mix.Components(theta), 1, 2, 2), []float64{sd * sd, sd * sd})
			return &ascent.Point{Theta: f.restrict(theta), Weights: []float64{n - few, few}}
		}
		step := 1 / math.Sqrt(12)
		for _, c := range []struct {
			sd, few float64
			want    int
		}{{0.99 * step, 8, 1}, {1.01 * step, 8, -1}, {0.99 * step, narrowRows * 3, -1}, {1e-9, 8, -1}} {
			p := at(c.sd, c.few)
			if got, column := f.narrow(p); got != c.want || got >= 0 && column != 0 {
				t.Errorf("%s, sd %v, %v rows: component %d, column %d", shape, c.sd, c.few, got, column)
			}
		}
		if !f.Degenerate(at(0.5*step, 8)) || f.Degenerate(at(2*step, 8)) {
			t.Errorf("%s: a narrow component does not count as degenerate", shape)
		}
	}
}

// Two columns of whole numbers leave the direction (1, -1)/sqrt(2) the variance 1/12 by rounding, as every direction. A component of few
// rows may be wide in both columns and yet narrower than that on the diagonal.
func TestNarrowAlongNoColumn(t *testing.T) {
	t.Parallel()
	const n = 90
	x := make([]float64, 0, 2*n)
	for i := range n {
		x = append(x, float64(i%10), float64(i%7))
	}
	f, err := New(context.Background(), fixtures.Table(2, x...), fixtures.Plan(plan.Spec{K: 2, Covariance: "full"}))
	if err != nil {
		t.Fatal(err)
	}
	_, g, _ := f.Mix.Start()
	at := func(thin, few float64) *ascent.Point { // the second component has variances 2 along (1, 1) and thin along (1, -1)
		v, c := (2+thin)/2, (2-thin)/2
		theta := seed.FromLabels(f.Mix, g, &seed.Points{N: 8, D: 2, W: []float64{1, 1, 1, 1, 1, 1, 1, 1}, X: twoBlobs(v, c)}, []int32{0, 0, 0, 0, 1, 1, 1, 1})
		return &ascent.Point{Theta: theta, Weights: []float64{n - few, few}}
	}
	for _, c := range []struct {
		thin, few float64
		grid      []float64
		want      int
	}{
		{0.99 / 12, 8, []float64{1, 1}, 1}, {1.01 / 12, 8, []float64{1, 1}, -1}, {0.99 / 12, narrowRows * 3, []float64{1, 1}, -1},
		// With steps 1 and 0 some direction is too narrow if (v - 1/12) v < c^2, where v^2 - c^2 = 2 thin: if thin is below 0.511/12.
		{0.45 / 12, 8, []float64{1, 0}, 1}, {0.55 / 12, 8, []float64{1, 0}, -1}, {1e-3, 8, []float64{0, 0}, -1},
	} {
		f.grid = c.grid
		if got, column := f.narrow(at(c.thin, c.few)); got != c.want || column != oblique {
			t.Errorf("variance %v along the diagonal, %v rows, steps %v: component %d, column %d; want component %d", c.thin, c.few, c.grid, got, column, c.want)
		}
	}
}

// twoBlobs returns eight rows: four with variances 4, and four with variances v and covariance c.
func twoBlobs(v, c float64) []float64 {
	a, b := math.Sqrt(v+c), math.Sqrt(v-c) // standard deviations along (1, 1) and (1, -1)
	return []float64{2, 2, 2, -2, -2, 2, -2, -2, a, a, -a, -a, b, -b, -b, b}
}

// A covariance of d columns takes d + 2 rows where its shape or its axes are its own, 3 where only variances or a volume are, and none
// of its own where all share one.
func TestRowsThatACovarianceTakes(t *testing.T) {
	t.Parallel()
	x := rng.Normals(12, 5*60)
	for shape, need := range map[string]int{"VVV": 7, "EEV": 7, "VVE": 7, "EVE": 7, "VEE": 3, "VVI": 3, "VEI": 3, "VII": 3, "EEE": 0, "EII": 0} {
		f, err := New(context.Background(), fixtures.Table(5, x...), fixtures.Plan(plan.Spec{K: 2, Covariance: shape}))
		if err != nil {
			t.Fatal(err)
		}
		for _, few := range []float64{2.9, 3, 6.9, 7} {
			c, got := f.scant(&ascent.Point{Weights: []float64{60 - few, few}})
			if want := few < float64(need); (c == 1) != want || need > 0 && got != need {
				t.Errorf("%s, %v rows: component %d, needs %d; want %d", shape, few, c, got, need)
			}
		}
	}
}

// A number of rows that is less than what is needed reads as less.
func TestFewRowsReadAsFewer(t *testing.T) {
	t.Parallel()
	for rows, want := range map[float64]string{2: "2.0", 2.9: "2.9", 2.99: "just under 3"} {
		if got := below(rows, 3, text.Decimals, 1); got != want {
			t.Errorf("%v: %q, want %q", rows, got, want)
		}
	}
}
