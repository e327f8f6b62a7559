package latent

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/ascent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/score"
)

// uniforms returns n numbers of a linear congruential generator that any language can repeat.
func uniforms(seed uint64, n int) []float64 {
	u := make([]float64, n)
	for i := range u {
		seed = seed*6364136223846793005 + 1442695040888963407
		u[i] = float64(seed>>11) / (1 << 53)
	}
	return u
}

// normals returns n normal numbers made of pairs of uniforms.
func normals(seed uint64, n int) []float64 {
	u, z := uniforms(seed, 2*n), make([]float64, n)
	for i := range z {
		z[i] = math.Sqrt(-2*math.Log(1-u[2*i])) * math.Cos(2*math.Pi*u[2*i+1])
	}
	return z
}

func matrixOf(d int, x ...float64) *data.Table { return &data.Table{N: len(x) / d, D: d, F64: x} }

func mustFit(t *testing.T, src data.Source, spec Spec) *Result {
	t.Helper()
	r, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	consistent(t, src, r)
	return r
}

// labelsOf returns the label, from 0, that the model gives to every row.
func labelsOf(t *testing.T, src data.Source, m *Model) (labels []int32) {
	t.Helper()
	if err := m.Rows(context.Background(), src, 2, func(s *Scored) error {
		labels = append(labels, s.Label...)
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	return labels
}

// consistent fails unless what the result reports follows from its own model: labels are the nearest or likeliest,
// the objective is theirs, every row is counted once and nothing is NaN.
func consistent(t *testing.T, src data.Source, r *Result) {
	t.Helper()
	rows := make([]int64, r.K)
	total := 0.0
	var seen int64
	if err := r.Fitted.Rows(context.Background(), src, 1, func(s *Scored) error {
		for i, label := range s.Label {
			rows[label]++
			w := 1.0
			if s.W != nil {
				w = s.W[i]
			}
			total += w * s.Score[i]
			if v := s.Score[i]; v != v || math.IsInf(v, 0) {
				t.Errorf("row %d scores %v", s.First+int64(i), v)
			}
			if r.Model == "gmm" && s.P[i*s.K+int(label)] < slices.Max(s.P[i*s.K:(i+1)*s.K]) {
				t.Errorf("row %d has label %d with responsibilities %v", s.First+int64(i), label, s.P[i*s.K:(i+1)*s.K])
			}
			seen++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	objective := r.LogLik
	if r.Model == "kmeans" {
		objective, total = r.Inertia, -total
	}
	if objective == nil || !(math.Abs(*objective-total) <= 1e-10*max(math.Abs(total), 1e-300)) {
		t.Errorf("objective %v, its own rows give %v", objective, total)
	}
	share := 0.0
	for c, x := range r.Components {
		if x.Rows != rows[c] {
			t.Errorf("component %d counts %d rows, %d carry its label", c, x.Rows, rows[c])
		}
		share += x.Weight
		for _, v := range x.Mean {
			if v-v != 0 {
				t.Errorf("component %d has mean %v", c, x.Mean)
			}
		}
		if c > 0 && x.Weight > r.Components[c-1].Weight {
			t.Errorf("component %d is heavier than the one before", c)
		}
	}
	if math.Abs(share-1) > 1e-12 {
		t.Errorf("weights add to %v", share)
	}
}

// sortedMeans returns the first coordinates of the means in ascending order.
func sortedMeans(r *Result) (m []float64) {
	for _, c := range r.Components {
		m = append(m, c.Mean[0])
	}
	slices.Sort(m)
	return m
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

var shapeNames = []string{"full", "tied", "diag", "spherical", "tied-diag", "tied-spherical"}

func TestGeneratorsOfTheTests(t *testing.T) {
	u, z := uniforms(1, 2), normals(1, 1)
	if u[0] != 0.42320917087271326 || u[1] != 0.5094074428837206 || math.Abs(z[0]+1.0472394723915035) > 1e-15 {
		t.Errorf("%v and %v", u, z)
	}
}

func TestInertiaKeepsItsDigitsFarFromZero(t *testing.T) {
	far := matrixOf(1, 1e8, 1e8+1, 1e8+3, 1e8+4)
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
			{matrixOf(1, equal...), Spec{Model: "kmeans", K: 5, Init: init}, "distinct rows is 1"},
			{matrixOf(1, equal...), Spec{K: 5, Init: init}, `column "1" is constant (-3 in every row)`},
			{matrixOf(1, 0, 0, 0, 0, 1, 1, 1), Spec{Model: "kmeans", K: 3, Init: init}, "distinct rows is 2"},
			{matrixOf(1, 0, 0, 0, 0, 1, 1, 1), Spec{K: 3, Init: init}, "distinct rows is 2"},
			{matrixOf(1, 0, math.Copysign(0, -1), 0), Spec{Model: "kmeans", K: 2, Init: init}, "distinct rows is 1"},
			{&data.Table{N: 4, D: 1, F32: single}, Spec{Model: "kmeans", K: 2, Init: init}, "distinct rows is 1"},
			{matrixOf(1, 1, 2, 3), Spec{Model: "kmeans", K: 4, Init: init}, "number of rows is 3"},
		} {
			if _, err := Fit(context.Background(), c.src, c.spec); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%+v: %v, want %s", c.spec, err, c.want)
			}
		}
	}
}

func TestStartFarFromTheRowsStillFillsEveryCluster(t *testing.T) {
	src := matrixOf(1, 10, 20, 30, 31)
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

func TestLloydOnHeavyTails(t *testing.T) {
	src := matrixOf(2, uniforms(7, 600)...)
	for i, u := range src.F64 {
		src.F64[i] = math.Tan(math.Pi * (u - 0.5))
	}
	start := make([][]float64, 12)
	for i := range start {
		start[i] = src.F64[2*i : 2*i+2]
	}
	r := mustFit(t, src, Spec{Model: "kmeans", K: 12, Init: "centers", Centers: start})
	within(t, "inertia", *r.Inertia, 7676.059107117577, 1e-9*7676)
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
	src := matrixOf(1, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9)
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
		if unfinished := len(r.Warnings) == 1 && strings.Contains(r.Warnings[0], "not finished"); unfinished == c.converged {
			t.Errorf("limit %d: warnings %q", c.limit, r.Warnings)
		}
		count := map[bool]int64{}
		for i, label := range labelsOf(t, src, r.Fitted) {
			low := r.Components[label].Mean[0] == c.centres[0]
			if low != (int64(i) < c.first) {
				t.Errorf("limit %d: row %d is with %v", c.limit, i, r.Components[label].Mean)
			}
			count[low]++
		}
	}
}

func TestRowsWithoutWeightAreLabelledButCountNothing(t *testing.T) {
	src := &data.Table{N: 5, D: 1, F64: []float64{0, 2, 10, 12, 1000}, W: []float64{1, 1, 1, 1, 0}}
	for seed := range uint64(100) {
		r := mustFit(t, src, Spec{Model: "kmeans", K: 2, Init: "k-means++", NInit: 1, Seed: &seed})
		if !slices.Equal(sortedMeans(r), []float64{1, 11}) || *r.Inertia != 4 || r.N != 4 || r.Weight != 4 {
			t.Fatalf("seed %d: centres %v, inertia %v, n %d", seed, sortedMeans(r), *r.Inertia, r.N)
		}
		if l := labelsOf(t, src, r.Fitted); l[4] != l[3] {
			t.Errorf("seed %d: labels %v", seed, l)
		}
	}
	double := &data.Table{N: 5, D: 1, F64: src.F64, W: []float64{2, 2, 2, 2, 0}}
	if r := mustFit(t, double, Spec{Model: "kmeans", K: 2}); *r.Inertia != 8 || !slices.Equal(sortedMeans(r), []float64{1, 11}) {
		t.Errorf("doubled weights: centres %v, inertia %v", sortedMeans(r), *r.Inertia)
	}
	start := Spec{Model: "kmeans", K: 2, Init: "centers", Centers: [][]float64{{0}, {12}}}
	weighted := mustFit(t, &data.Table{N: 4, D: 1, F64: []float64{0, 2, 10, 12}, W: []float64{2, 1, 1, 1}}, start)
	repeated := mustFit(t, matrixOf(1, 0, 0, 2, 10, 12), start)
	if a, b := sortedMeans(weighted), sortedMeans(repeated); a[0] != 2./3 || !slices.Equal(a, b) || *weighted.Inertia != *repeated.Inertia {
		t.Errorf("weighted %v, repeated %v", a, b)
	}
	// A row of weight 0 may hold numbers whose squares overflow.
	for _, model := range []string{"kmeans", "gmm"} {
		huge := &data.Table{N: 9, D: 1, F64: []float64{0, 1, 2, 3, 10, 11, 12, 13, 1e200}, W: []float64{1, 1, 1, 1, 1, 1, 1, 1, 0}}
		for _, shape := range shapeNames {
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
	three := matrixOf(2, 1, 2, 3, 4, 5, 9)
	if r := mustFit(t, three, Spec{Model: "kmeans", K: 1}); !slices.Equal(r.Components[0].Mean, []float64{3, 5}) || *r.Inertia != 34 {
		t.Errorf("centre %v, inertia %v", r.Components[0].Mean, *r.Inertia)
	}
	for _, shape := range shapeNames {
		r := mustFit(t, three, Spec{K: 1, Covariance: shape})
		if m := r.Components[0].Mean; math.Abs(m[0]-3) > 1e-14 || math.Abs(m[1]-5) > 1e-14 || r.Components[0].Weight != 1 || !r.Converged {
			t.Errorf("%s: mean %v, weight %v", shape, m, r.Components[0].Weight)
		}
	}
	if r := mustFit(t, matrixOf(2, 7, 7), Spec{Model: "kmeans", K: 1}); !slices.Equal(r.Components[0].Mean, []float64{7, 7}) || *r.Inertia != 0 {
		t.Errorf("centre %v, inertia %v", r.Components[0].Mean, *r.Inertia)
	}
	if _, err := Fit(context.Background(), matrixOf(2, 7, 7), Spec{K: 1}); err == nil || !strings.Contains(err.Error(), "constant") {
		t.Errorf("one row as a mixture: %v", err)
	}
	long, wide := normals(1, 1000), matrixOf(1000, normals(2, 1000)...)
	for _, spec := range []Spec{{Model: "kmeans", K: 3}, {K: 3}} {
		if r := mustFit(t, matrixOf(1, long...), spec); len(labelsOf(t, matrixOf(1, long...), r.Fitted)) != 1000 {
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
func saved(t *testing.T, m *Model) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestThreadsChangeNothing(t *testing.T) {
	src := matrixOf(8, normals(5, 160_000)...)
	for _, spec := range []Spec{
		{Model: "kmeans", K: 16, Seed: new(uint64(42)), NInit: 2, MaxIter: new(5)},
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
			got := saved(t, r.Fitted) + fmt.Sprint(r.Iterations, r.Starts, r.Sweeps, r.SweepsTotal)
			if want == "" {
				want = got
			}
			if got != want {
				t.Fatalf("%s with %d threads is another model than with 1", r.Model, threads)
			}
			if r.Seed != *spec.Seed {
				t.Errorf("seed %d, want %d", r.Seed, *spec.Seed)
			}
		}
	}
}

func TestVarianceKeepsItsDigitsFarFromZero(t *testing.T) {
	var x []float64
	for i := range 200 {
		x = append(x, 1e8+float64(2*(i%2)-1)+float64(i/100)*1000)
	}
	for _, shape := range shapeNames {
		r := mustFit(t, matrixOf(1, x...), Spec{K: 2, Covariance: shape})
		m := sortedMeans(r)
		within(t, shape+": first mean", m[0], 1e8, 1e-6)
		within(t, shape+": second mean", m[1], 1e8+1000, 1e-6)
		within(t, shape+": mean log-likelihood", *r.MeanLogLik, -2.112085713764618, 1e-9)
		for _, cov := range r.Fitted.Covariance {
			within(t, shape+": variance", cov[0], 1, 1e-6)
		}
		within(t, shape+": weight", r.Components[0].Weight, 0.5, 1e-9)
	}
}

func TestConstantColumnIsNamed(t *testing.T) {
	var x []float64
	for _, v := range []float64{0, 1, 2, 3, 10, 11, 12, 13} {
		x = append(x, v, 7)
	}
	for _, shape := range shapeNames {
		for k := 1; k <= 2; k++ {
			_, err := Fit(context.Background(), matrixOf(2, x...), Spec{K: k, Covariance: shape, Columns: []string{"speed", "gear"}})
			if err == nil || !strings.Contains(err.Error(), `column "gear" is constant (7 in every row)`) {
				t.Errorf("%s, k %d: %v", shape, k, err)
			}
		}
	}
	if r := mustFit(t, matrixOf(2, x...), Spec{Model: "kmeans", K: 2}); *r.Inertia != 10 {
		t.Errorf("k-means does not mind it: inertia %v, want 10", *r.Inertia)
	}
}

func TestCollapsedComponentRestsOnTheFloorAndIsNamed(t *testing.T) {
	z := normals(3, 90)
	mean, variance := 0.0, 0.0
	for _, v := range z {
		mean += v / 90
	}
	for _, v := range z {
		variance += (v - mean) * (v - mean) / 90
	}
	src := matrixOf(1, append(z, slices.Repeat([]float64{7.5}, 15)...)...)
	for _, algorithm := range []string{"em", "hard-em"} {
		for _, shape := range []string{"full", "diag", "spherical"} {
			r := mustFit(t, src, Spec{K: 2, Covariance: shape, Algorithm: algorithm})
			a, b := r.Components[0], r.Components[1]
			within(t, "heavier weight", a.Weight, 6./7, 1e-9)
			within(t, "first mean", a.Mean[0], mean, 1e-9)
			within(t, "repeated value", b.Mean[0], 7.5, 1e-9)
			within(t, "first variance", r.Fitted.Covariance[0][0], variance, 1e-9)
			if v := r.Fitted.Covariance[1][0]; !(v > 0 && v < 1e-6) {
				t.Errorf("%s: second variance %v", shape, v)
			}
			if a.AtFloor || !b.AtFloor || !r.Converged || len(r.Certificate.OnEdge) != 1 || !strings.Contains(strings.Join(r.Warnings, "\n"), "component 2 is at the floor") {
				t.Errorf("%s %s: at the floor %v and %v, converged %v, edge %v, warnings %q", algorithm, shape, a.AtFloor, b.AtFloor, r.Converged, r.Certificate.OnEdge, r.Warnings)
			}
		}
	}
	r := mustFit(t, src, Spec{K: 2, Covariance: "tied"})
	within(t, "tied variance", r.Fitted.Covariance[0][0], variance*6/7, 1e-6)
	if r.Components[0].AtFloor {
		t.Error("the tied variance is not at the floor")
	}
}

func TestRowsFarFromEveryComponentHaveADensity(t *testing.T) {
	score := func(m *Model, x ...float64) (density float64, p []float64) {
		t.Helper()
		if err := m.check(); err != nil {
			t.Fatal(err)
		}
		if err := m.Rows(context.Background(), matrixOf(len(x), x...), 1, func(s *Scored) error {
			density, p = s.Score[0], slices.Clone(s.P)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return density, p
	}
	two := &Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0}, {10}}, Covariance: [][]float64{{1}, {1}}}
	if v, p := score(two, 1e6); math.Abs(v+499990000051.6121) > 1e-3 || !slices.Equal(p, []float64{0, 1}) {
		t.Errorf("far away: %v, %v", v, p)
	}
	if v, p := score(two, 5); math.Abs(v+13.418938533204673) > 1e-13 || !slices.Equal(p, []float64{0.5, 0.5}) {
		t.Errorf("between: %v, %v", v, p)
	}
	if v, p := score(two, -1e200); v-v != 0 || p[0]+p[1] != 1 {
		t.Errorf("beyond squares: %v, %v", v, p)
	}
	one := &Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y"}, Weights: []float64{1}, Means: [][]float64{{0, 0}}, Covariance: [][]float64{{2, 1, 1, 2}}}
	if v, _ := score(one, 1, -1); math.Abs(v+3.3871832107434) > 1e-13 {
		t.Errorf("correlated: %v", v)
	}
	if v, _ := score(one, 1e300, -1e300); v-v != 0 {
		t.Errorf("correlated, beyond squares: %v", v)
	}
	if err := one.Rows(context.Background(), matrixOf(3, 1, 2, 3), 1, func(*Scored) error { return nil }); err == nil || !strings.Contains(err.Error(), "3 columns, but the model has 2") {
		t.Errorf("rows of another width: %v", err)
	}
}

func TestCriteriaCountFreeParametersAndWeight(t *testing.T) {
	for shape, want := range map[string]int{"full": 39, "tied": 21, "diag": 27, "spherical": 19} {
		r := mustFit(t, matrixOf(3, normals(9, 240)...), Spec{K: 4, Covariance: shape, NInit: 1, MaxIter: new(3)})
		if r.Free != want {
			t.Errorf("%s: %d free parameters, want %d", shape, r.Free, want)
		}
	}
	if r := mustFit(t, matrixOf(3, normals(9, 240)...), Spec{K: 4, Weights: "uniform", NInit: 1, MaxIter: new(3)}); r.Free != 36 {
		t.Errorf("uniform weights: %d free parameters, want 36", r.Free)
	}
	for _, shape := range shapeNames {
		r := mustFit(t, matrixOf(1, 1, 2, 3, 4, 5), Spec{K: 1, Covariance: shape})
		within(t, shape+": log-likelihood", *r.LogLik, -8.82756061742323, 1e-12)
		within(t, shape+": AIC", *r.AIC, 21.6551212348465, 1e-12)
		within(t, shape+": BIC", *r.BIC, 20.8739970597147, 1e-12)
		within(t, shape+": ICL of one component", *r.ICL, 20.8739970597147, 1e-12)
		if r.Free != 2 {
			t.Errorf("%s: %d free parameters, want 2", shape, r.Free)
		}
		twice := mustFit(t, &data.Table{N: 5, D: 1, F64: []float64{1, 2, 3, 4, 5}, W: []float64{2, 2, 2, 2, 2}}, Spec{K: 1, Covariance: shape})
		within(t, shape+": doubled log-likelihood", *twice.LogLik, 2*-8.82756061742323, 1e-11)
		within(t, shape+": doubled BIC", *twice.BIC, 2*math.Log(10)+4*8.82756061742323, 1e-11)
		if twice.N != 5 || twice.Weight != 10 {
			t.Errorf("%s: n %d, weight %v", shape, twice.N, twice.Weight)
		}
	}
}

func TestTenStartsAreNeverWorseThanTheFirst(t *testing.T) {
	src := matrixOf(3, normals(21, 900)...)
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		last := map[int]float64{}
		spec := Spec{K: 4, Seed: &seed, Tol: new(0.0), MaxIter: new(300), NInit: 10, Watch: func(p Progress) {
			if f, ok := last[p.Start]; ok && p.Point.F < f-1e-9*math.Abs(f) {
				t.Errorf("seed %d, start %d, step %d: F falls from %v to %v", seed, p.Start, p.Iteration, f, p.Point.F)
			}
			if p.Point.Lifted < p.Point.F-1e-9*math.Abs(p.Point.F) {
				t.Errorf("seed %d, start %d, step %d: the M-step takes F from %v to %v", seed, p.Start, p.Iteration, p.Point.F, p.Point.Lifted)
			}
			last[p.Start] = p.Point.F
		}}
		ten := mustFit(t, src, spec)
		if len(last) != 10 || ten.Starts.N != 10 || len(ten.Starts.Objectives) != 10 {
			t.Fatalf("%d starts seen, %d counted", len(last), ten.Starts.N)
		}
		if best := slices.Max(ten.Starts.Objectives); math.Abs(*ten.LogLik-best) > 1e-10*math.Abs(best) {
			t.Errorf("seed %d: %v reported, the best start reached %v", seed, *ten.LogLik, best)
		}
		for i, v := range ten.Starts.Objectives {
			if v != last[i+1] {
				t.Errorf("seed %d, start %d: objective %v, its last step had %v", seed, i+1, v, last[i+1])
			}
		}
		spec.NInit, spec.Watch = 1, nil
		one := mustFit(t, src, spec)
		if one.Starts.Objectives[0] != ten.Starts.Objectives[0] || *one.LogLik > *ten.LogLik+1e-10*math.Abs(*ten.LogLik) {
			t.Errorf("seed %d: one start reaches %v, ten %v, the first of them %v", seed, *one.LogLik, *ten.LogLik, ten.Starts.Objectives[0])
		}
	}
}

func TestGivenModelIsWhereTheClimbBegins(t *testing.T) {
	src := matrixOf(1, -2, -1, 1, 2)
	for _, shape := range []family.Shape{family.Full, family.Diag, family.Spherical} {
		given := &Model{Kind: "gmm", Shape: shape, Columns: []string{"1"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{-1}, {1}}, Covariance: [][]float64{{4}, {4}}}
		spec := Spec{K: 2, Covariance: shape.String(), Init: "model", Given: given, MaxIter: new(0)}
		within(t, "log-likelihood before", *mustFit(t, src, spec).LogLik, -7.89625423390159, 1e-12)
		spec.MaxIter = new(1)
		r := mustFit(t, src, spec)
		within(t, "log-likelihood after", *r.LogLik, -7.49509848450894, 1e-12)
		m := sortedMeans(r)
		within(t, "first mean", m[0], -0.584576488461864, 1e-12)
		within(t, "second mean", m[1], 0.584576488461864, 1e-12)
		for _, cov := range r.Fitted.Covariance {
			within(t, "variance", cov[0], 2.1582703291376, 1e-12)
		}
		if r.Iterations != 1 || r.Converged {
			t.Errorf("%d steps, converged %v", r.Iterations, r.Converged)
		}
	}
}

// A variance below the floor would be raised by the first step, and the climb would begin with a fall.
func TestStartBelowTheFloorBeginsOnIt(t *testing.T) {
	src := matrixOf(1, -2, -1, 0, 0, 0, 0, 0, 1, 2)
	for _, shape := range []family.Shape{family.Full, family.Diag, family.Spherical} {
		given := &Model{Kind: "gmm", Shape: shape, Columns: []string{"1"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0}, {0}}, Covariance: [][]float64{{1e-30}, {2}}}
		last := math.Inf(-1)
		mustFit(t, src, Spec{K: 2, Covariance: shape.String(), Init: "model", Given: given, Watch: func(p Progress) {
			if p.Point.F < last-1e-9*math.Abs(last) {
				t.Errorf("%s, step %d: F falls from %v to %v", shape, p.Iteration, last, p.Point.F)
			}
			last = p.Point.F
		}})
	}
}

func TestStartThatDoesNotFitIsRefused(t *testing.T) {
	gmm := func(change func(m *Model)) *Model {
		m := &Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{-1, 0}, {1, 0}}, Covariance: [][]float64{{1, 0, 0, 1}, {1, 0, 0, 1}}}
		change(m)
		return m
	}
	src := matrixOf(2, normals(4, 40)...)
	for _, c := range []struct {
		name string
		spec Spec
		want string
	}{
		{"width of a mean", Spec{K: 2, Init: "model", Given: gmm(func(m *Model) { m.Means[1] = []float64{1} })}, "means: row 2 has 1 numbers"},
		{"weights", Spec{K: 2, Init: "model", Given: gmm(func(m *Model) { m.Weights[0] = 0.4 })}, "weights: they sum to 0.9"},
		{"symmetry", Spec{K: 2, Init: "model", Given: gmm(func(m *Model) { m.Covariance[0][1] = 0.5 })}, "covariances: number 1 is not symmetric"},
		{"definiteness", Spec{K: 2, Init: "model", Given: gmm(func(m *Model) { m.Covariance[1] = []float64{1, 2, 2, 1} })}, "covariances: number 2 is not positive definite"},
		{"number of components", Spec{K: 3, Init: "model", Given: gmm(func(*Model) {})}, "it has 2 components, but -k is 3"},
		{"shape", Spec{K: 2, Covariance: "diag", Init: "model", Given: gmm(func(*Model) {})}, "full"},
		{"number of columns", Spec{K: 2, Init: "model", Given: &Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0}, {1}}, Covariance: [][]float64{{1}, {1}}}}, "it has 1 columns, but 2 are fitted"},
		{"number of centres", Spec{Model: "kmeans", K: 3, Init: "centers", Centers: [][]float64{{0, 0}, {1, 1}}}, "there are 2 rows, but -k is 3"},
		{"width of a centre", Spec{Model: "kmeans", K: 2, Init: "centers", Centers: [][]float64{{0, 0}, {1}}}, "row 2 has 1 numbers"},
		{"centre that is no number", Spec{Model: "kmeans", K: 2, Init: "centers", Centers: [][]float64{{0, 0}, {1, math.NaN()}}}, "row 2, column 2 is NaN"},
		{"number of labels", Spec{K: 2, Init: "labels", Labels: []int32{0, 1}}, "there are 2 for 20 rows"},
		{"label out of range", Spec{K: 2, Init: "labels", Labels: append(make([]int32, 19), 2)}, "row 20 has label 2"},
		{"unused label", Spec{K: 2, Init: "labels", Labels: make([]int32, 20)}, "none of the rows has label 1"},
	} {
		if _, err := Fit(context.Background(), src, c.spec); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "--init") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestUnitOfAColumnDecidesNothing(t *testing.T) {
	z := normals(11, 1200)
	half := make([]int32, 600)
	for i := range half {
		half[i] = int32(i / 300)
	}
	for _, unit := range [][2]float64{{1000, 1}, {math.Ldexp(1000, -20), 1}, {1000, 1024}, {1000, 1 << 30}, {math.Ldexp(1000, 30), math.Ldexp(1, -20)}} {
		src := &data.Table{N: 600, D: 2}
		for i := range 600 {
			src.F64 = append(src.F64, unit[0]*z[i], unit[1]*(z[600+i]+10*float64(i/300)-5))
		}
		for _, init := range []string{"auto", "k-means++"} {
			r := mustFit(t, src, Spec{K: 2, Init: init})
			if got := agreement(labelsOf(t, src, r.Fitted), half); got != 1 {
				t.Errorf("units %v, %s: adjusted Rand index %v with the two halves", unit, init, got)
			}
			within(t, "log-likelihood", *r.LogLik+600*math.Log(unit[0]/1000*unit[1]), -6248.587, 0.01)
		}
	}
}

// agreement returns the adjusted Rand index of two labellings.
func agreement(a, b []int32) float64 {
	g := new(score.Agreement[int32, int32])
	for i := range a {
		if err := g.Add(a[i], b[i], 1); err != nil {
			panic(err)
		}
	}
	return g.ARI()
}

func TestScaledFitReportsTheUsersUnits(t *testing.T) {
	x := dataset(t, "faithful.csv", []string{"eruptions", "waiting"})
	src := matrixOf(2, x...)
	plain := mustFit(t, src, Spec{K: 2, Tol: new(1e-4)})
	for _, kind := range []string{"standard", "robust"} {
		r := mustFit(t, src, Spec{K: 2, Scale: kind, Tol: new(1e-4)})
		within(t, kind+": log-likelihood", *r.LogLik, *plain.LogLik, 1e-6)
		for c, want := range plain.Components {
			for j, v := range want.Mean {
				within(t, kind+": mean", r.Components[c].Mean[j], v, 1e-4*v)
			}
			a, b := r.Components[c].Covariance.([][]float64), want.Covariance.([][]float64)
			for j := range 2 {
				for l := range 2 {
					within(t, kind+": covariance", a[j][l], b[j][l], 1e-4*math.Sqrt(b[j][j]*b[l][l]))
				}
			}
		}
	}
	constant := matrixOf(2, 1, 5, 2, 5, 3, 5)
	for _, kind := range []string{"standard", "robust"} {
		if _, err := Fit(context.Background(), constant, Spec{Model: "kmeans", K: 2, Scale: kind}); err == nil || !strings.Contains(err.Error(), `column "2" cannot be scaled`) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Weighted rows and repeated rows are the same problem, in every number reported but the count of rows.
func TestWeightedRowsFitAsRepeatedRows(t *testing.T) {
	z := normals(8, 160)
	weighted, repeated := &data.Table{N: 80, D: 2}, &data.Table{D: 2}
	var labels, more []int32
	for i := range 80 {
		row := []float64{z[2*i] + 6*float64(i%2), z[2*i+1]}
		weighted.F64 = append(weighted.F64, row...)
		weighted.W = append(weighted.W, float64(i%4))
		labels = append(labels, int32(i%2))
		for range i % 4 {
			repeated.F64 = append(repeated.F64, row...)
			repeated.N++
			more = append(more, int32(i%2))
		}
	}
	for _, shape := range shapeNames {
		for _, algorithm := range []string{"em", "hard-em"} {
			a := mustFit(t, weighted, Spec{K: 2, Covariance: shape, Algorithm: algorithm, Init: "labels", Labels: labels, Tol: new(1e-6)})
			b := mustFit(t, repeated, Spec{K: 2, Covariance: shape, Algorithm: algorithm, Init: "labels", Labels: more, Tol: new(1e-6)})
			within(t, shape+": log-likelihood", *a.LogLik, *b.LogLik, 1e-8)
			within(t, shape+": BIC", *a.BIC, *b.BIC, 1e-8)
			for c := range 2 {
				within(t, shape+": mean", a.Components[c].Mean[0], b.Components[c].Mean[0], 1e-6)
			}
		}
	}
}

func TestHardEMEndsWhereNoLabelMoves(t *testing.T) {
	iris := matrixOf(4, dataset(t, "iris.csv", []string{"sepal_length", "sepal_width", "petal_length", "petal_width"})...)
	for _, src := range []*data.Table{iris, matrixOf(3, normals(21, 3000)...)} {
		for _, shape := range shapeNames {
			for seed := uint64(1); seed <= 5; seed++ {
				r := mustFit(t, src, Spec{K: 4, Covariance: shape, Algorithm: "hard-em", NInit: 1, Seed: &seed})
				if r.Reason != ascent.FixedPoint || !r.Converged {
					t.Errorf("%s, seed %d: ended after %d steps with %v", shape, seed, r.Iterations, r.Reason)
				}
				again := mustFit(t, src, Spec{K: 4, Covariance: shape, Algorithm: "hard-em", Init: "model", Given: named(r.Fitted), MaxIter: new(1)})
				if got := agreement(labelsOf(t, src, again.Fitted), labelsOf(t, src, r.Fitted)); got != 1 {
					t.Errorf("%s, seed %d: one more step moves labels, adjusted Rand index %v", shape, seed, got)
				}
				if r.Certificate.DistanceSE != nil {
					t.Errorf("%s: hard labels have no distance, got %v", shape, *r.Certificate.DistanceSE)
				}
			}
		}
	}
}

// named returns the model as a start: the parameters alone.
func named(m *Model) *Model {
	return &Model{Kind: m.Kind, Shape: m.Shape, Columns: m.Columns, Weights: m.Weights, Means: m.Means, Covariance: m.Covariance}
}

func TestRidgeCarriesNoCertificateAndSaysWhy(t *testing.T) {
	r := mustFit(t, matrixOf(1, normals(3, 90)...), Spec{K: 2, RegCovar: 1e-3, TolLogLik: 1e-6})
	if r.Certificate.DistanceSE != nil || r.Certificate.Method != nil || !strings.Contains(strings.Join(r.Warnings, "\n"), "--reg-covar") {
		t.Errorf("certificate %+v, warnings %q", r.Certificate, r.Warnings)
	}
	sure := mustFit(t, matrixOf(1, normals(3, 90)...), Spec{K: 1})
	if sure.Certificate.DistanceSE == nil || *sure.Certificate.DistanceSE > 0.01 {
		t.Errorf("certificate %+v", sure.Certificate)
	}
}

// rowsThat is a source whose passes are counted and can be made to fail.
type rowsThat struct {
	*data.Table
	passes int
	open   func(pass int) error
	read   func(pass int) error
}

func (s *rowsThat) Open(ctx context.Context) (data.Reader, error) {
	if s.passes++; s.open != nil {
		if err := s.open(s.passes); err != nil {
			return nil, err
		}
	}
	if s.read != nil {
		if err := s.read(s.passes); err != nil {
			return unreadable{err}, nil
		}
	}
	return s.Table.Open(ctx)
}

// unreadable is a reader that opens and then fails.
type unreadable struct{ err error }

func (u unreadable) Read(*data.Block, int) error { return u.err }
func (u unreadable) Close() error                { return nil }

func TestRowsThatCannotBeReadAnyMoreAreAnError(t *testing.T) {
	gone := errors.New("the file is gone")
	for at := 1; at <= 12; at++ {
		fails := func(pass int) error {
			if pass == at {
				return gone
			}
			return nil
		}
		for name, src := range map[string]*rowsThat{"opening": {open: fails}, "reading": {read: fails}} {
			src.Table = matrixOf(2, normals(6, 400)...)
			_, err := Fit(context.Background(), src, Spec{K: 3, Tol: new(0.0), MaxIter: new(30), NInit: 3})
			if !errors.Is(err, gone) {
				t.Errorf("%s fails in pass %d: %v", name, at, err)
			}
		}
	}
}

func TestInterruptedFitReturnsTheBestSoFar(t *testing.T) {
	for _, at := range []int{0, 1, 5} {
		ctx, cancel := context.WithCancel(context.Background())
		src := matrixOf(2, normals(6, 2000)...)
		top := map[int]float64{}
		r, err := Fit(ctx, src, Spec{K: 3, NInit: 4, Tol: new(0.0), Watch: func(p Progress) {
			top[p.Start] = p.Point.F
			if p.Iteration == at {
				cancel()
			}
		}})
		if err != nil {
			t.Fatal(err)
		}
		best := math.Inf(-1)
		for _, f := range top {
			best = max(best, f)
		}
		if !r.Interrupted || r.Converged || math.Abs(*r.LogLik-best) > 1e-9*math.Abs(best) || !strings.Contains(strings.Join(r.Warnings, "\n"), "interrupted") {
			t.Errorf("at %d: interrupted %v, converged %v, %v, best seen %v, warnings %q", at, r.Interrupted, r.Converged, *r.LogLik, best, r.Warnings)
		}
		cancel()
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Fit(ctx, matrixOf(1, 1, 2, 3), Spec{K: 1}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled before the first pass: %v", err)
	}
}

func TestStepsOfEveryStartAreSeenInOrder(t *testing.T) {
	next, ended := map[int]int{}, map[int]bool{}
	r := mustFit(t, matrixOf(2, normals(6, 400)...), Spec{K: 2, NInit: 5, Watch: func(p Progress) {
		if p.Iteration != next[p.Start] || ended[p.Start] || p.Of != 5 || p.Start < 1 || p.Start > 5 {
			t.Errorf("start %d of %d: step %d after %d", p.Start, p.Of, p.Iteration, next[p.Start]-1)
		}
		next[p.Start]++
		ended[p.Start] = p.Done != ascent.Going
	}})
	passes := 2 // the first, and the one that judges
	for start, n := range next {
		if !ended[start] {
			t.Errorf("start %d has no end", start)
		}
		passes += n
	}
	if len(next) != 5 || r.SweepsTotal != passes {
		t.Errorf("%d starts, %d passes counted, %d made", len(next), r.SweepsTotal, passes)
	}
}

func TestValuesThatCannotBeFittedAreNamed(t *testing.T) {
	for _, c := range []struct {
		src  *data.Table
		want string
	}{
		{matrixOf(2, 1, 2, 3, math.NaN()), "row 2, column 2: the value is NaN"},
		{matrixOf(1, 1, math.Inf(1)), "row 2, column 1: the value is +Inf"},
		{matrixOf(1, 1e200, -1e200, 0), `column "1": the values are so large that their variance overflows`},
		{matrixOf(1), "there are no rows"},
	} {
		for _, model := range []string{"kmeans", "gmm"} {
			if _, err := Fit(context.Background(), c.src, Spec{Model: model, K: 1}); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v, want %s", model, err, c.want)
			}
		}
	}
}

func TestResultIsJSONWithTheKeysPromised(t *testing.T) {
	for name, spec := range map[string]Spec{"gmm": {K: 2}, "kmeans": {Model: "kmeans", K: 2}} {
		r := mustFit(t, matrixOf(1, normals(3, 90)...), spec)
		b, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(b, &m); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"model", "k", "n", "weight_total", "d", "columns", "dropped_rows", "algorithm", "seed", "converged", "iterations", "sweeps",
			"sweeps_total", "seconds", "timing", "threads", "log_likelihood", "mean_log_likelihood", "free_parameters", "bic", "aic", "icl", "inertia",
			"certificate", "starts", "components", "warnings", "version"} {
			if _, ok := m[key]; !ok {
				t.Errorf("%s: no key %q", name, key)
			}
		}
		if (m["log_likelihood"] == nil) != (name == "kmeans") || (m["inertia"] == nil) != (name == "gmm") {
			t.Errorf("%s: log_likelihood %v, inertia %v", name, m["log_likelihood"], m["inertia"])
		}
	}
}
