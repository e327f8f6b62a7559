package latent

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

func TestVarianceKeepsItsDigitsFarFromZero(t *testing.T) {
	t.Parallel()
	var x []float64
	for i := range 200 {
		x = append(x, 1e8+float64(2*(i%2)-1)+float64(i/100)*1000)
	}
	for _, shape := range fixtures.ShapeNames {
		r := mustFit(t, fixtures.Table(1, x...), Spec{K: 2, Covariance: shape})
		m := sortedMeans(r)
		fixtures.Within(t, shape+": first mean", m[0], 1e8, 1e-6)
		fixtures.Within(t, shape+": second mean", m[1], 1e8+1000, 1e-6)
		fixtures.Within(t, shape+": mean log-likelihood", *r.MeanLogLik, -2.112085713764618, 1e-9)
		for _, cov := range r.Model.Covariance {
			fixtures.Within(t, shape+": variance", cov[0], 1, 1e-6)
		}
		fixtures.Within(t, shape+": weight", r.Components[0].Weight, 0.5, 1e-9)
	}
}

func TestConstantColumnIsNamed(t *testing.T) {
	t.Parallel()
	var x []float64
	for _, v := range []float64{0, 1, 2, 3, 10, 11, 12, 13} {
		x = append(x, v, 7)
	}
	for _, shape := range fixtures.ShapeNames {
		for k := 1; k <= 2; k++ {
			_, err := Fit(context.Background(), fixtures.Table(2, x...), Spec{K: k, Covariance: shape, Columns: []string{"speed", "gear"}})
			if err == nil || !strings.Contains(err.Error(), `column "gear" is constant (7 in every row)`) {
				t.Errorf("%s, k %d: %v", shape, k, err)
			}
		}
	}
	if r := mustFit(t, fixtures.Table(2, x...), Spec{Model: "kmeans", K: 2}); *r.Inertia != 10 {
		t.Errorf("k-means does not mind it: inertia %v, want 10", *r.Inertia)
	}
}

func TestCollapsedComponentRestsOnTheFloorAndIsNamed(t *testing.T) {
	t.Parallel()
	z := rng.Normals(3, 90)
	mean, variance := 0.0, 0.0
	for _, v := range z {
		mean += v / 90
	}
	for _, v := range z {
		variance += (v - mean) * (v - mean) / 90
	}
	src := fixtures.Table(1, append(z, slices.Repeat([]float64{7.5}, 15)...)...)
	for _, algorithm := range []string{"em", "hard-em"} {
		for _, shape := range []string{"full", "diag", "spherical"} {
			r := mustFit(t, src, Spec{K: 2, Covariance: shape, Algorithm: algorithm})
			a, b := r.Components[0], r.Components[1]
			fixtures.Within(t, "heavier weight", a.Weight, 6./7, 1e-9)
			fixtures.Within(t, "first mean", a.Mean[0], mean, 1e-9)
			fixtures.Within(t, "repeated value", b.Mean[0], 7.5, 1e-9)
			fixtures.Within(t, "first variance", r.Model.Covariance[0][0], variance, 1e-9)
			if v := r.Model.Covariance[1][0]; !(v > 0 && v < 1e-6) {
				t.Errorf("%s: second variance %v", shape, v)
			}
			if a.AtFloor || !b.AtFloor || !r.Converged || len(r.Certificate.OnEdge) != 1 || !strings.Contains(strings.Join(texts(r.Warnings), "\n"), "group 2 has collapsed to the variance floor") {
				t.Errorf("%s %s: at the floor %v and %v, converged %v, edge %v, warnings %q", algorithm, shape, a.AtFloor, b.AtFloor, r.Converged, r.Certificate.OnEdge, r.Warnings)
			}
		}
	}
	r := mustFit(t, src, Spec{K: 2, Covariance: "tied"})
	fixtures.Within(t, "tied variance", r.Model.Covariance[0][0], variance*6/7, 1e-6)
	if r.Components[0].AtFloor {
		t.Error("the tied variance is not at the floor")
	}
}

func TestRowsFarFromEveryComponentHaveADensity(t *testing.T) {
	t.Parallel()
	score := func(m *model.Model, x ...float64) (density float64, p []float64) {
		t.Helper()
		if err := m.Validate(); err != nil {
			t.Fatal(err)
		}
		if err := m.Rows(context.Background(), fixtures.Table(len(x), x...), 1, func(s *model.Scored) error {
			density, p = s.LogDensity[0], slices.Clone(s.Responsibilities)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		return density, p
	}
	two := &model.Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0}, {10}}, Covariance: [][]float64{{1}, {1}}}
	if v, p := score(two, 1e6); math.Abs(v+499990000051.6121) > 1e-3 || !slices.Equal(p, []float64{0, 1}) {
		t.Errorf("far away: %v, %v", v, p)
	}
	if v, p := score(two, 5); math.Abs(v+13.418938533204673) > 1e-13 || !slices.Equal(p, []float64{0.5, 0.5}) {
		t.Errorf("between: %v, %v", v, p)
	}
	refused := func(m *model.Model, x ...float64) { // no float64 holds its log density: -5e399, -3e599
		t.Helper()
		err := m.Rows(context.Background(), fixtures.Table(len(x), x...), 1, func(*model.Scored) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `row 1, column "x"`) {
			t.Errorf("beyond squares: %v", err)
		}
	}
	refused(two, -1e200)
	one := &model.Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y"}, Weights: []float64{1}, Means: [][]float64{{0, 0}}, Covariance: [][]float64{{2, 1, 1, 2}}}
	if v, _ := score(one, 1, -1); math.Abs(v+3.3871832107434) > 1e-13 {
		t.Errorf("correlated: %v", v)
	}
	refused(one, 1e300, -1e300)
	if err := one.Rows(context.Background(), fixtures.Table(3, 1, 2, 3), 1, func(*model.Scored) error { return nil }); err == nil || !strings.Contains(err.Error(), "3 columns, but the model has 2") {
		t.Errorf("rows of another width: %v", err)
	}
}

func TestCriteriaCountFreeParametersAndWeight(t *testing.T) {
	t.Parallel()
	for shape, want := range map[string]int{"full": 39, "tied": 21, "diag": 27, "spherical": 19} {
		r := mustFit(t, fixtures.Table(3, rng.Normals(9, 240)...), Spec{K: 4, Covariance: shape, NInit: 1, MaxIter: new(3)})
		if r.FreeParameters != want {
			t.Errorf("%s: %d free parameters, want %d", shape, r.FreeParameters, want)
		}
	}
	if r := mustFit(t, fixtures.Table(3, rng.Normals(9, 240)...), Spec{K: 4, Weights: "uniform", NInit: 1, MaxIter: new(3)}); r.FreeParameters != 36 {
		t.Errorf("uniform weights: %d free parameters, want 36", r.FreeParameters)
	}
	for _, shape := range fixtures.ShapeNames {
		r := mustFit(t, fixtures.Table(1, 1, 2, 3, 4, 5), Spec{K: 1, Covariance: shape})
		fixtures.Within(t, shape+": log-likelihood", *r.LogLik, -8.82756061742323, 1e-12)
		fixtures.Within(t, shape+": AIC", *r.AIC, 21.6551212348465, 1e-12)
		fixtures.Within(t, shape+": BIC", *r.BIC, 20.8739970597147, 1e-12)
		fixtures.Within(t, shape+": ICL of one component", *r.ICL, 20.8739970597147, 1e-12)
		if r.FreeParameters != 2 {
			t.Errorf("%s: %d free parameters, want 2", shape, r.FreeParameters)
		}
		twice := mustFit(t, &data.Table{N: 5, D: 1, F64: []float64{1, 2, 3, 4, 5}, W: []float64{2, 2, 2, 2, 2}}, Spec{K: 1, Covariance: shape})
		fixtures.Within(t, shape+": doubled log-likelihood", *twice.LogLik, 2*-8.82756061742323, 1e-11)
		fixtures.Within(t, shape+": doubled BIC", *twice.BIC, 2*math.Log(10)+4*8.82756061742323, 1e-11)
		if twice.Rows != 5 || twice.TotalWeight != 10 {
			t.Errorf("%s: n %d, weight %v", shape, twice.Rows, twice.TotalWeight)
		}
	}
}

func TestTenStartsAreNeverWorseThanTheFirst(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(3, rng.Normals(21, 900)...)
	seeds := uint64(6)
	if testing.Short() {
		seeds = 1
	}
	for seed := uint64(1); seed <= seeds; seed++ {
		last := map[int]float64{}
		spec, see := Spec{K: 4, Seed: &seed, Tol: new(0.0), MaxIter: new(300), Init: "kmeans", NInit: 10}, Observer{Step: func(p Progress) {
			if f, ok := last[p.Start]; ok && p.Point.F < f-1e-9*math.Abs(f) {
				t.Errorf("seed %d, start %d, step %d: F falls from %v to %v", seed, p.Start, p.Iteration, f, p.Point.F)
			}
			if p.Point.Lifted < p.Point.F-1e-9*math.Abs(p.Point.F) {
				t.Errorf("seed %d, start %d, step %d: the M-step takes F from %v to %v", seed, p.Start, p.Iteration, p.Point.F, p.Point.Lifted)
			}
			last[p.Start] = p.Point.F
		}}
		ten := mustFit(t, src, spec, see)
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
		spec.NInit = 1
		one := mustFit(t, src, spec)
		if one.Starts.Objectives[0] != ten.Starts.Objectives[0] || *one.LogLik > *ten.LogLik+1e-10*math.Abs(*ten.LogLik) {
			t.Errorf("seed %d: one start reaches %v, ten %v, the first of them %v", seed, *one.LogLik, *ten.LogLik, ten.Starts.Objectives[0])
		}
	}
}

func TestGivenModelIsWhereTheClimbBegins(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, -2, -1, 1, 2)
	for _, shape := range []family.Shape{family.Full, family.Diag, family.Spherical} {
		given := &model.Model{Kind: "gmm", Shape: shape, Columns: []string{"1"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{-1}, {1}}, Covariance: [][]float64{{4}, {4}}}
		spec := Spec{K: 2, Covariance: shape.String(), Init: "model", Given: given, MaxIter: new(0)}
		fixtures.Within(t, "log-likelihood before", *mustFit(t, src, spec).LogLik, -7.89625423390159, 1e-12)
		spec.MaxIter = new(1)
		r := mustFit(t, src, spec)
		fixtures.Within(t, "log-likelihood after", *r.LogLik, -7.49509848450894, 1e-12)
		m := sortedMeans(r)
		fixtures.Within(t, "first mean", m[0], -0.584576488461864, 1e-12)
		fixtures.Within(t, "second mean", m[1], 0.584576488461864, 1e-12)
		for _, cov := range r.Model.Covariance {
			fixtures.Within(t, "variance", cov[0], 2.1582703291376, 1e-12)
		}
		if r.Iterations != 1 || r.Converged {
			t.Errorf("%d steps, converged %v", r.Iterations, r.Converged)
		}
	}
}

// A variance below the floor would be raised by the first step, and the climb would begin with a fall.
func TestStartBelowTheFloorBeginsOnIt(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(1, -2, -1, 0, 0, 0, 0, 0, 1, 2)
	for _, shape := range []family.Shape{family.Full, family.Diag, family.Spherical} {
		given := &model.Model{Kind: "gmm", Shape: shape, Columns: []string{"1"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0}, {0}}, Covariance: [][]float64{{1e-30}, {2}}}
		last := math.Inf(-1)
		mustFit(t, src, Spec{K: 2, Covariance: shape.String(), Init: "model", Given: given}, Observer{Step: func(p Progress) {
			if p.Point.F < last-1e-9*math.Abs(last) {
				t.Errorf("%s, step %d: F falls from %v to %v", shape, p.Iteration, last, p.Point.F)
			}
			last = p.Point.F
		}})
	}
}

func TestStartThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	gmm := func(change func(m *model.Model)) *model.Model {
		m := &model.Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{-1, 0}, {1, 0}}, Covariance: [][]float64{{1, 0, 0, 1}, {1, 0, 0, 1}}}
		change(m)
		return m
	}
	src := fixtures.Table(2, rng.Normals(4, 40)...)
	for _, c := range []struct {
		name string
		spec Spec
		want string
	}{
		{"width of a mean", Spec{K: 2, Init: "model", Given: gmm(func(m *model.Model) { m.Means[1] = []float64{1} })}, "means: row 2 has 1 numbers"},
		{"Weights", Spec{K: 2, Init: "model", Given: gmm(func(m *model.Model) { m.Weights[0] = 0.4 })}, "weights: they sum to 0.9"},
		{"Symmetry", Spec{K: 2, Init: "model", Given: gmm(func(m *model.Model) { m.Covariance[0][1] = 0.5 })}, "covariances: number 1 is not symmetric"},
		{"Definiteness", Spec{K: 2, Init: "model", Given: gmm(func(m *model.Model) { m.Covariance[1] = []float64{1, 2, 2, 1} })}, "covariances: number 2 is not positive definite"},
		{"number of components", Spec{K: 3, Init: "model", Given: gmm(func(*model.Model) {})}, "it has 2 components, but K is 3"},
		{"Shape", Spec{K: 2, Covariance: "diag", Init: "model", Given: gmm(func(*model.Model) {})}, "full"},
		{"number of columns", Spec{K: 2, Init: "model", Given: &model.Model{Kind: "gmm", Shape: family.Full, Columns: []string{"x"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0}, {1}}, Covariance: [][]float64{{1}, {1}}}}, "it has 1 columns, but 2 are fitted"},
		{"number of centres", Spec{Model: "kmeans", K: 3, Init: "centers", Centers: [][]float64{{0, 0}, {1, 1}}}, "there are 2 rows, but K is 3"},
		{"width of a centre", Spec{Model: "kmeans", K: 2, Init: "centers", Centers: [][]float64{{0, 0}, {1}}}, "row 2 has 1 numbers"},
		{"centre that is no number", Spec{Model: "kmeans", K: 2, Init: "centers", Centers: [][]float64{{0, 0}, {1, math.NaN()}}}, "row 2, column 2 is NaN"},
		{"number of labels", Spec{K: 2, Init: "labels", Labels: []int32{0, 1}}, "there are 2 for 20 rows"},
		{"label out of range", Spec{K: 2, Init: "labels", Labels: append(make([]int32, 19), 2)}, "row 20 has label 2"},
		{"unused label", Spec{K: 2, Init: "labels", Labels: make([]int32, 20)}, "none of the rows has label 1"},
	} {
		if _, err := Fit(context.Background(), src, c.spec); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), "Init") {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
	}
}

func TestUnitOfAColumnDecidesNothing(t *testing.T) {
	t.Parallel()
	z := rng.Normals(11, 1200)
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
			if got := agreement(labelsOf(t, src, r.Model), half); got != 1 {
				t.Errorf("units %v, %s: adjusted Rand index %v with the two halves", unit, init, got)
			}
			fixtures.Within(t, "log-likelihood", *r.LogLik+600*math.Log(unit[0]/1000*unit[1]), -6248.587, 0.01)
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

// In other units, powers of two, every start takes the same way: also a single one, which luck cannot save.
func TestEveryStartIsTheSameInOtherUnits(t *testing.T) {
	t.Parallel()
	z := rng.Normals(11, 1200)
	for seed := uint64(1); seed <= 5; seed++ {
		for _, init := range []string{"auto", "k-means++", "random"} {
			var want []int32
			for _, e := range [][2]int{{0, 0}, {-20, 0}, {10, 30}, {30, -20}} {
				src := &data.Table{N: 600, D: 2}
				for i := range 600 {
					src.F64 = append(src.F64, math.Ldexp(z[i], e[0]), math.Ldexp(z[600+i]+4*float64(i/300)-2, e[1]))
				}
				r := mustFit(t, src, Spec{K: 3, Init: init, NInit: 1, Seed: &seed, MaxIter: new(3)})
				got := labelsOf(t, src, r.Model)
				if want == nil {
					want = got
				}
				if !slices.Equal(got, want) {
					t.Errorf("seed %d, %s, units 2^%v: other labels", seed, init, e)
				}
			}
		}
	}
}

func TestEqualGroupsAreOrderedByMean(t *testing.T) {
	t.Parallel()
	for _, centers := range [][][]float64{{{0, 5}, {0, 1}, {-1, 9}}, {{-1, 9}, {0, 1}, {0, 5}}} {
		r := mustFit(t, fixtures.Table(2, 0, 5, 0, 1, -1, 9), Spec{Model: "kmeans", K: 3, Init: "centers", Centers: centers})
		for c, want := range [][]float64{{-1, 9}, {0, 1}, {0, 5}} {
			if got := r.Components[c].Mean; !slices.Equal(got, want) {
				t.Errorf("component %d is at %v, want %v", c+1, got, want)
			}
		}
	}
}

func TestScaledFitReportsTheUsersUnits(t *testing.T) {
	t.Parallel()
	x := dataset(t, "faithful.csv", []string{"eruptions", "waiting"})
	src := fixtures.Table(2, x...)
	plain := mustFit(t, src, Spec{K: 2, Tol: new(1e-4)})
	for _, kind := range []string{"standard", "robust"} {
		r := mustFit(t, src, Spec{K: 2, Scale: kind, Tol: new(1e-4)})
		fixtures.Within(t, kind+": log-likelihood", *r.LogLik, *plain.LogLik, 1e-6)
		for c, want := range plain.Components {
			for j, v := range want.Mean {
				fixtures.Within(t, kind+": mean", r.Components[c].Mean[j], v, 1e-4*v)
			}
			a, b := r.Components[c].Covariance.Full(), want.Covariance.Full()
			for j := range 2 {
				for l := range 2 {
					fixtures.Within(t, kind+": covariance", a[j][l], b[j][l], 1e-4*math.Sqrt(b[j][j]*b[l][l]))
				}
			}
		}
	}
	constant := fixtures.Table(2, 1, 5, 2, 5, 3, 5)
	for _, kind := range []string{"standard", "robust"} {
		if _, err := Fit(context.Background(), constant, Spec{Model: "kmeans", K: 2, Scale: kind}); err == nil || !strings.Contains(err.Error(), `column "2" cannot be scaled`) {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

// Weighted rows and repeated rows are the same problem, in every number reported but the count of rows.
func TestWeightedRowsFitAsRepeatedRows(t *testing.T) {
	t.Parallel()
	z := rng.Normals(8, 160)
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
	for _, shape := range fixtures.ShapeNames {
		for _, algorithm := range []string{"em", "hard-em"} {
			a := mustFit(t, weighted, Spec{K: 2, Covariance: shape, Algorithm: algorithm, Init: "labels", Labels: labels, Tol: new(1e-6)})
			b := mustFit(t, repeated, Spec{K: 2, Covariance: shape, Algorithm: algorithm, Init: "labels", Labels: more, Tol: new(1e-6)})
			fixtures.Within(t, shape+": log-likelihood", *a.LogLik, *b.LogLik, 1e-8)
			fixtures.Within(t, shape+": BIC", *a.BIC, *b.BIC, 1e-8)
			for c := range 2 {
				fixtures.Within(t, shape+": mean", a.Components[c].Mean[0], b.Components[c].Mean[0], 1e-6)
			}
		}
	}
}

func TestHardEMEndsWhereNoLabelMoves(t *testing.T) {
	t.Parallel()
	iris := fixtures.Table(4, dataset(t, "iris.csv", []string{"sepal_length", "sepal_width", "petal_length", "petal_width"})...)
	for _, src := range []*data.Table{iris, fixtures.Table(3, rng.Normals(21, 3000)...)} {
		for _, shape := range fixtures.ShapeNames {
			for seed := uint64(1); seed <= 5; seed++ {
				r := mustFit(t, src, Spec{K: 4, Covariance: shape, Algorithm: "hard-em", NInit: 1, Seed: &seed})
				if r.Reason != ascent.FixedPoint || !r.Converged {
					t.Errorf("%s, seed %d: ended after %d steps with %v", shape, seed, r.Iterations, r.Reason)
				}
				again := mustFit(t, src, Spec{K: 4, Covariance: shape, Algorithm: "hard-em", Init: "model", Given: named(r.Model), MaxIter: new(1)})
				if got := agreement(labelsOf(t, src, again.Model), labelsOf(t, src, r.Model)); got != 1 {
					t.Errorf("%s, seed %d: one more step moves labels, adjusted Rand index %v", shape, seed, got)
				}
				if r.Certificate.DistanceSE != nil {
					t.Errorf("%s: hard labels have no distance, got %v", shape, *r.Certificate.DistanceSE)
				}
			}
		}
	}
}
