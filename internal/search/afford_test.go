package search

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
)

// What would take long is refused where parameters are many for the table, unless that is allowed; with rows in plenty, or
// steps that are few, it is not.
func TestLongFitsOfManyParametersAreRefusedUnlessAllowed(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	wide := fixtures.Noise(60, 90, 2)
	for _, c := range []struct {
		name string
		src  data.Source
		spec plan.Spec
		word string // of the error; "" for none
	}{
		{"common axes", wide, plan.Spec{K: 2, Covariance: "VVE"}, "AllowLong"},
		{"common axes, allowed", wide, plan.Spec{K: 2, Covariance: "VVE", AllowLong: true}, ""},
		{"common axes, one start of few steps", wide, plan.Spec{K: 2, Covariance: "VVE", NInit: 1, MaxIter: new(5)}, ""},
		{"matrices of their own", wide, plan.Spec{K: 2}, ""},
		{"thousands of components", fixtures.Noise(20000, 10, 3), plan.Spec{K: 9000, Covariance: "full"}, "fewer groups"},
		{"thousands of bits", &data.Table{N: 3, D: 1, F64: []float64{0, 1, 1}}, plan.Spec{K: 2, Model: "bernoulli"}, ""},
		{"a few hundred columns and few more rows", fixtures.Noise(400, 300, 4), plan.Spec{K: 2}, ""},
	} {
		_, err := New(ctx, c.src, fixtures.Plan(c.spec))
		if c.word == "" && err != nil || c.word != "" && (err == nil || !strings.Contains(err.Error(), c.word)) {
			t.Errorf("%s: %v, wanted %q", c.name, err, c.word)
		}
	}
}

// The estimate counts what the formulas of the families count: numbers of a vector, and cells.
func TestEstimatesCountParametersAndGrowWithTheWork(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	of := func(n, d int, spec plan.Spec) Estimate {
		f, err := New(ctx, fixtures.Noise(n, d, 5), fixtures.Plan(spec))
		if err != nil {
			t.Fatal(err)
		}
		return f.Estimate()
	}
	e := of(200, 10, plan.Spec{K: 3})
	if want := float64(3 + 3*10 + 3*55); e.Parameters != want || e.Cells != 2000 {
		t.Errorf("%v parameters and %v cells, wanted %v and 2000", e.Parameters, e.Cells, want)
	}
	if one, ten := of(200, 10, plan.Spec{K: 3, NInit: 1}), of(200, 10, plan.Spec{K: 3, NInit: 10, Init: "kmeans"}); !(ten.Seconds > 5*one.Seconds && ten.bytes > 5*one.bytes) {
		t.Errorf("one start %+v, ten %+v", one, ten)
	}
	for _, s := range family.Shapes() {
		few, many := of(40, 8, plan.Spec{K: 2, Covariance: s.Mclust()}), of(40, 16, plan.Spec{K: 2, Covariance: s.Mclust()})
		if !(many.Seconds > few.Seconds && many.bytes > few.bytes) {
			t.Errorf("%s: %+v for 8 columns, %+v for 16", s.Mclust(), few, many)
		}
	}
}

// Seeds of many centres take as long as many steps, and moves of breathing k-means as long as further starts.
func TestEstimatesOfKMeansCountSeedsAndMoves(t *testing.T) {
	t.Parallel()
	ctx, src := context.Background(), fixtures.Noise(1000, 8, 12)
	of := func(spec plan.Spec) float64 {
		spec.Model, spec.K, spec.NInit = "kmeans", 400, 1
		f, err := New(ctx, src, fixtures.Plan(spec))
		if err != nil {
			t.Fatal(err)
		}
		return f.Estimate().Seconds
	}
	// Seven candidates a centre (2 + ln 400), 1000 rows, 400 centres, 8 columns.
	random, drawn := of(plan.Spec{Algorithm: "lloyd", Init: "random"}), of(plan.Spec{Algorithm: "lloyd", Init: "k-means++"})
	if want := perSeeded * 7 * 1000 * 400 * 8 / 1e9; math.Abs(drawn-random-want) > 1e-9*want {
		t.Errorf("seeds take %v s, wanted %v", drawn-random, want)
	}
	// All rows are points: as many rows again as a climb, and as two more.
	if got := of(plan.Spec{Algorithm: "breathing", Init: "random"}); math.Abs(got-4*random) > 1e-9*got {
		t.Errorf("breathing takes %v s, Lloyd's algorithm alone %v", got, random)
	}
}
