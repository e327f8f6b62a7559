package latent

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

func TestGeneratorsOfTheTests(t *testing.T) {
	t.Parallel()
	u, z := rng.Uniforms(1, 2), rng.Normals(1, 1)
	if u[0] != 0.42320917087271326 || u[1] != 0.5094074428837206 || math.Abs(z[0]+1.0472394723915035) > 1e-15 {
		t.Errorf("%v and %v", u, z)
	}
}

func TestInertiaKeepsItsDigitsFarFromZero(t *testing.T) {
	t.Parallel()
	far := fixtures.Table(1, 1e8, 1e8+1, 1e8+3, 1e8+4)
	narrow := &data.Table{N: 4, D: 1, F32: []float32{-2048.5, -2047.5, 2047.5, 2048.5}}
	for _, init := range []string{"auto", "k-means++", "random"} {
		for threads := 1; threads <= 3; threads++ {
			for _, c := range []struct {
				src  *data.Table
				want []float64
			}{{far, []float64{1e8 + 0.5, 1e8 + 3.5}}, {narrow, []float64{-2048, 2048}}} {
				r := mustFit(t, c.src, Spec{Model: "kmeans", K: 2, Init: init, Threads: threads})
				if *r.Inertia != 1 || !slices.Equal(sortedMeans(r), c.want) {
					t.Errorf("%s: inertia %v at %v, want 1 at %v", init, *r.Inertia, sortedMeans(r), c.want)
				}
			}
		}
	}
}

func TestMoreGroupsThanDistinctRowsAreRefused(t *testing.T) {
	t.Parallel()
	equal := slices.Repeat([]float64{-3}, 12)
	single := make([]float32, 4)
	for i, v := range []float64{0, 1, 3, 4} {
		single[i] = float32(1e8 + v) // all 1e8
	}
	for _, init := range []string{"", "k-means++", "random"} {
		for _, c := range []struct {
			src  *data.Table
			spec Spec
			want string
		}{
			{fixtures.Table(1, equal...), Spec{Model: "kmeans", K: 5, Init: init}, "distinct rows is 1"},
			{fixtures.Table(1, equal...), Spec{K: 5, Init: init}, `column "1" is constant (-3 in every row)`},
			{fixtures.Table(1, 0, 0, 0, 0, 1, 1, 1), Spec{Model: "kmeans", K: 3, Init: init}, "distinct rows is 2"},
			{fixtures.Table(1, 0, 0, 0, 0, 1, 1, 1), Spec{K: 3, Init: init}, "distinct rows is 2"},
			{fixtures.Table(1, 0, math.Copysign(0, -1), 0), Spec{Model: "kmeans", K: 2, Init: init}, "distinct rows is 1"},
			{&data.Table{N: 4, D: 1, F32: single}, Spec{Model: "kmeans", K: 2, Init: init}, "distinct rows is 1"},
			{fixtures.Table(1, 1, 2, 3), Spec{Model: "kmeans", K: 4, Init: init}, "number of rows is 3"},
		} {
			if _, err := Fit(context.Background(), c.src, c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
			}
		}
	}
}

func TestStartFarFromTheRowsStillFillsEveryCluster(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, 10, 20, 30, 31)
	r := mustFit(t, src, Spec{Model: "kmeans", K: 3, Init: "centers", Centers: [][]float64{{1000}, {-1000}, {25}}})
	if got := *r.Inertia; !r.Converged || math.Abs(got-0.5) > 1e-12 && math.Abs(got-50) > 1e-12 {
		t.Errorf("inertia %v, converged %v", got, r.Converged)
	}
	for _, c := range r.Components {
		if c.Rows == 0 {
			t.Errorf("components %+v", r.Components)
		}
	}
}

// A step of Lloyd's algorithm from 0 and 1 on 0, 1, 10, 11 leads to 0 and 22/3, whatever its length.
func TestTolShiftMakesTheMoveItStopsBy(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, 0, 1, 10, 11)
	for _, tol := range []float64{100, 1e300} {
		r := mustFit(t, src, Spec{Model: "kmeans", K: 2, Algorithm: "lloyd", Init: "centers", Centers: [][]float64{{0}, {1}}, TolShift: tol})
		if want := []float64{0, 22.0 / 3}; r.Iterations != 1 || !r.Converged || !slices.Equal(sortedMeans(r), want) {
			t.Errorf("tolerance %v: %v after %d steps, want %v after 1", tol, sortedMeans(r), r.Iterations, want)
		}
	}
	if r := mustFit(t, src, Spec{Model: "kmeans", K: 2, Algorithm: "lloyd", Init: "centers", Centers: [][]float64{{0}, {1}}, TolShift: 1e-9}); *r.Inertia != 1 {
		t.Errorf("a small tolerance: inertia %v, want 1", *r.Inertia)
	}
}

func TestLloydOnHeavyTails(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, rng.Uniforms(7, 600)...)
	for i, u := range src.F64 {
		src.F64[i] = math.Tan(math.Pi * (u - 0.5))
	}
	start := make([][]float64, 12)
	for i := range start {
		start[i] = src.F64[2*i : 2*i+2]
	}
	r := mustFit(t, src, Spec{Model: "kmeans", K: 12, Init: "centers", Centers: start})
	fixtures.Within(t, "inertia", *r.Inertia, 7676.059107117577, 1e-9*7676)
	if r.Iterations != 21 || !r.Converged { // 22 assignments, the last of which changes nothing
		t.Errorf("%d steps, converged %v", r.Iterations, r.Converged)
	}
	var sizes []int64
	for _, c := range slices.Backward(r.Components) {
		sizes = append(sizes, c.Rows)
	}
	if !slices.Equal(sizes, []int64{1, 2, 2, 2, 3, 4, 7, 13, 14, 15, 51, 186}) {
		t.Errorf("sizes %v", sizes)
	}
	// Two centres far away are empty at once and must not stay so.
	start[4], start[6] = []float64{1e7, 1e7}, []float64{1e7, 1e7}
	r = mustFit(t, src, Spec{Model: "kmeans", K: 12, Init: "centers", Centers: start})
	if r.Components[11].Rows == 0 || !r.Converged {
		t.Errorf("components %+v", r.Components)
	}
}

func TestLabelsAndInertiaBelongToTheCentresReturned(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
	for _, c := range []struct {
		limit     int
		centres   []float64
		inertia   float64
		first     int64
		converged bool
	}{
		{0, []float64{0, 1}, 204, 1, false},
		{1, []float64{0, 5}, 40, 3, false},
		{100, []float64{2, 7}, 20, 5, true},
	} {
		r := mustFit(t, src, Spec{Model: "kmeans", K: 2, MaxIter: new(c.limit), Init: "centers", Centers: [][]float64{{0}, {1}}})
		if !slices.Equal(sortedMeans(r), c.centres) || *r.Inertia != c.inertia || r.Converged != c.converged || r.Iterations > c.limit {
			t.Errorf("limit %d: centres %v, inertia %v, converged %v", c.limit, sortedMeans(r), *r.Inertia, r.Converged)
		}
		if unfinished := len(texts(r.Warnings)) == 1 && strings.Contains(r.Warnings[0].Text, "not finished"); unfinished == c.converged {
			t.Errorf("limit %d: warnings %q", c.limit, r.Warnings)
		}
		count := map[bool]int64{}
		for i, label := range labelsOf(t, src, r.Model) {
			low := r.Components[label].Mean[0] == c.centres[0]
			if low != (int64(i) < c.first) {
				t.Errorf("limit %d: row %d is with %v", c.limit, i, r.Components[label].Mean)
			}
			count[low]++
		}
	}
}

func TestRowsWithoutWeightAreLabelledButCountNothing(t *testing.T) {
	t.Parallel()
	src := &data.Table{N: 5, D: 1, F64: []float64{0, 2, 10, 12, 1000}, W: []float64{1, 1, 1, 1, 0}}
	for seed := range uint64(100) {
		r := mustFit(t, src, Spec{Model: "kmeans", K: 2, Init: "k-means++", NInit: 1, Seed: &seed})
		if !slices.Equal(sortedMeans(r), []float64{1, 11}) || *r.Inertia != 4 || r.Rows != 4 || r.TotalWeight != 4 {
			t.Fatalf("seed %d: centres %v, inertia %v, n %d", seed, sortedMeans(r), *r.Inertia, r.Rows)
		}
		if l := labelsOf(t, src, r.Model); l[4] != l[3] {
			t.Errorf("seed %d: labels %v", seed, l)
		}
	}
	double := &data.Table{N: 5, D: 1, F64: src.F64, W: []float64{2, 2, 2, 2, 0}}
	if r := mustFit(t, double, Spec{Model: "kmeans", K: 2}); *r.Inertia != 8 || !slices.Equal(sortedMeans(r), []float64{1, 11}) {
		t.Errorf("doubled weights: centres %v, inertia %v", sortedMeans(r), *r.Inertia)
	}
	start := Spec{Model: "kmeans", K: 2, Init: "centers", Centers: [][]float64{{0}, {12}}}
	weighted := mustFit(t, &data.Table{N: 4, D: 1, F64: []float64{0, 2, 10, 12}, W: []float64{2, 1, 1, 1}}, start)
	repeated := mustFit(t, fixtures.Table(1, 0, 0, 2, 10, 12), start)
	if a, b := sortedMeans(weighted), sortedMeans(repeated); a[0] != 2./3 || !slices.Equal(a, b) || *weighted.Inertia != *repeated.Inertia {
		t.Errorf("weighted %v, repeated %v", a, b)
	}
	// A row of weight 0 may hold numbers whose squares overflow.
	for _, model := range []string{"kmeans", "gmm"} {
		huge := &data.Table{N: 9, D: 1, F64: []float64{0, 1, 2, 3, 10, 11, 12, 13, 1e200}, W: []float64{1, 1, 1, 1, 1, 1, 1, 1, 0}}
		for _, shape := range fixtures.ShapeNames {
			spec := Spec{Model: model, K: 2, Covariance: shape}
			if model == "kmeans" {
				spec.Covariance = ""
			}
			if r := mustFit(t, huge, spec); math.Abs(sortedMeans(r)[0]-1.5) > 1e-3 || math.Abs(sortedMeans(r)[1]-11.5) > 1e-3 {
				t.Errorf("%s %s: means %v", model, shape, sortedMeans(r))
			}
		}
	}
}

func TestWeightsThatCannotBeUsedAreNamed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		w    []float64
		want string
	}{
		{[]float64{1, -1, 1}, "row 2: the weight is -1"},
		{[]float64{1, 1, math.NaN()}, "row 3: the weight is NaN"},
		{[]float64{math.Inf(1), 1, 1}, "row 1: the weight is +Inf"},
		{[]float64{0, 0, 0}, "all row weights are zero"},
		{[]float64{1, 1}, "2 row weights for 3 rows"},
		{[]float64{math.MaxFloat64, math.MaxFloat64, 1}, "more than a float64 can hold"},
	} {
		for _, model := range []string{"kmeans", "gmm"} {
			if _, err := Fit(context.Background(), &data.Table{N: 3, D: 1, F64: []float64{1, 2, 4}, W: c.w}, Spec{Model: model, K: 2}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s, weights %v: %v, want %s", model, c.w, err, c.want)
			}
		}
	}
}

func TestOneGroupOneRowOneColumn(t *testing.T) {
	t.Parallel()
	three := fixtures.Table(2, 1, 2, 3, 4, 5, 9)
	if r := mustFit(t, three, Spec{Model: "kmeans", K: 1}); !slices.Equal(r.Components[0].Mean, []float64{3, 5}) || *r.Inertia != 34 {
		t.Errorf("centre %v, inertia %v", r.Components[0].Mean, *r.Inertia)
	}
	for _, shape := range fixtures.ShapeNames {
		r := mustFit(t, three, Spec{K: 1, Covariance: shape})
		if m := r.Components[0].Mean; math.Abs(m[0]-3) > 1e-14 || math.Abs(m[1]-5) > 1e-14 || r.Components[0].Weight != 1 || !r.Converged {
			t.Errorf("%s: mean %v, weight %v", shape, m, r.Components[0].Weight)
		}
	}
	if r := mustFit(t, fixtures.Table(2, 7, 7), Spec{Model: "kmeans", K: 1}); !slices.Equal(r.Components[0].Mean, []float64{7, 7}) || *r.Inertia != 0 {
		t.Errorf("centre %v, inertia %v", r.Components[0].Mean, *r.Inertia)
	}
	if _, err := Fit(context.Background(), fixtures.Table(2, 7, 7), Spec{K: 1}); err == nil || !strings.Contains(err.Error(), "constant") {
		t.Errorf("one row as a mixture: %v", err)
	}
	long, wide := rng.Normals(1, 1000), fixtures.Table(1000, rng.Normals(2, 1000)...)
	for _, spec := range []Spec{{Model: "kmeans", K: 3}, {K: 3}} {
		if r := mustFit(t, fixtures.Table(1, long...), spec); len(labelsOf(t, fixtures.Table(1, long...), r.Model)) != 1000 {
			t.Errorf("%+v: not a label a row", spec)
		}
	}
	if r := mustFit(t, wide, Spec{Model: "kmeans", K: 1}); r.Components[0].Rows != 1 || *r.Inertia != 0 {
		t.Errorf("one row of 1000 columns: %+v", r.Components[0].Rows)
	}
	if _, err := Fit(context.Background(), wide, Spec{Model: "kmeans", K: 2}); err == nil || !strings.Contains(err.Error(), "number of rows is 1") {
		t.Errorf("two groups of one row: %v", err)
	}
}

// saved returns the model file.
func saved(t *testing.T, m *model.Model) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThreadsChangeNothing(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(8, rng.Normals(5, 160_000)...)
	for _, spec := range []Spec{
		{Model: "kmeans", K: 16, Seed: new(uint64(42)), NInit: 2, MaxIter: new(5)},
		{Model: "kmeans", K: 16, Seed: new(uint64(42)), NInit: 2, Algorithm: "breathing", MaxIter: new(200)},
		{K: 4, Covariance: "diag", Init: "k-means++", Seed: new(uint64(42)), NInit: 2, MaxIter: new(4)},
		{K: 2, Seed: new(uint64(0)), NInit: 1, MaxIter: new(2), Scale: "standard"},
	} {
		want := ""
		counts := []int{1, 2, 3, 7, 8, 2}
		if testing.Short() {
			counts = []int{1, 7}
		}
		for _, threads := range counts {
			spec.Threads = threads
			r, err := Fit(context.Background(), src, spec)
			if err != nil {
				t.Fatal(err)
			}
			got := saved(t, r.Model) + fmt.Sprint(r.Iterations, r.Starts, r.Sweeps, r.SweepsTotal)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%s with %d threads is another model than with 1", r.Kind, threads)
			}
			if r.Seed != *spec.Seed {
				t.Errorf("seed %d, want %d", r.Seed, *spec.Seed)
			}
		}
	}
}
