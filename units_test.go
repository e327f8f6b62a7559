package latent

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// groupsOfThree are 90 rows of three columns in three groups that overlap a little.
func groupsOfThree() []float64 {
	x := rng.Normals(41, 270)
	for i := range 90 {
		x[3*i] += 5 * float64(i%3)
		x[3*i+1] -= 4 * float64(i%2)
		x[3*i+2] = x[3*i+2]/2 + 3
	}
	return x
}

func resultOf(t *testing.T, src data.Source, spec Spec) *Result {
	t.Helper()
	r, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// inPowers multiplies column j of d by 2^powers[j].
func inPowers(x []float64, powers ...int) []float64 {
	y := make([]float64, len(x))
	for i, v := range x {
		y[i] = math.Ldexp(v, powers[i%len(powers)])
	}
	return y
}

func closeTo(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol*(1+math.Abs(want))) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Numbers multiplied by powers of two are the same numbers: groups, means and shares are those of the plain rows, and what is
// measured in squares, or in the logarithm of a density, follows by rule.
func TestColumnsOfAnyMagnitudeGiveTheSameFit(t *testing.T) {
	t.Parallel()
	plain := groupsOfThree()
	for _, c := range []struct {
		spec   Spec
		powers [][]int
	}{
		{Spec{K: 3}, [][]int{{-470, -470, -470}, {500, 500, 500}, {-400, 0, 300}, {0, 470, -470}}},
		{Spec{K: 3, Covariance: "tied"}, [][]int{{300, -300, 470}}},
		{Spec{K: 3, Covariance: "EVI"}, [][]int{{300, -300, 470}}},
		{Spec{K: 3, Covariance: "spherical"}, [][]int{{-470, -470, -470}, {500, 500, 500}}},
		{Spec{K: 3, Covariance: "VEV"}, [][]int{{-470, -470, -470}, {500, 500, 500}}},
		{Spec{K: 3, Covariance: "factors-tied:1"}, [][]int{{300, -300, 470}}},
		{Spec{K: 3, Covariance: "ppca:1"}, [][]int{{-470, -470, -470}, {500, 500, 500}}},
		{Spec{K: 3, Algorithm: "hard-em"}, [][]int{{-470, 0, 470}}},
		{Spec{K: 3, Scale: "standard"}, [][]int{{-470, 0, 470}}},
		{Spec{K: 2, PCA: 3}, [][]int{{-470, -470, -470}, {400, 400, 400}}},
		{Spec{K: 3, Model: "kmeans"}, [][]int{{-480, -480, -480}, {505, 505, 505}}},
		{Spec{K: 3, Model: "kmeans", Algorithm: "minibatch"}, [][]int{{-480, -480, -480}, {505, 505, 505}}},
		{Spec{K: 3, Model: "kmeans", Scale: "robust"}, [][]int{{-1000, -1000, -1000}, {-900, 0, 1010}}},
		{Spec{K: 3, Model: "kmedians"}, [][]int{{-1000, -1000, -1000}, {1010, 1010, 1010}}},
		{Spec{Model: "kmeans", KRange: [2]int{2, 4}, Criterion: "gap"}, [][]int{{-480, -480, -480}, {500, 500, 500}}},
	} {
		want := resultOf(t, fixtures.Table(3, plain...), c.spec)
		for _, powers := range c.powers {
			t.Run(fmt.Sprintf("%s %s %s %v", c.spec.Model, c.spec.Covariance, c.spec.Scale, powers), func(t *testing.T) {
				src := fixtures.Table(3, inPowers(plain, powers...)...)
				for _, src := range []data.Source{src, hidden{src}} {
					got, err := Fit(context.Background(), src, c.spec)
					if err != nil {
						t.Fatal(err)
					}
					sum := 0
					for _, p := range powers {
						sum += p
					}
					sameGroups(t, got, want, powers)
					switch {
					case want.LogLik != nil:
						closeTo(t, "log-likelihood", *got.LogLik, *want.LogLik-90*float64(sum)*math.Ln2, 1e-9)
						closeTo(t, "BIC", *got.BIC, *want.BIC+2*90*float64(sum)*math.Ln2, 1e-9)
						closeTo(t, "an objective", got.Starts.Objectives[0], want.Starts.Objectives[0]-90*float64(sum)*math.Ln2, 1e-9)
					case c.spec.Scale != "":
						closeTo(t, "inertia", *got.Inertia, *want.Inertia, 1e-12)
					case c.spec.Model == "kmedians":
						closeTo(t, "cost", math.Ldexp(*got.Inertia, -powers[0]), *want.Inertia, 1e-12)
					default:
						closeTo(t, "inertia", math.Ldexp(*got.Inertia, -2*powers[0]), *want.Inertia, 1e-12)
					}
				}
			})
		}
	}
}

// sameGroups compares the components of two fits of the same rows, the columns of the first multiplied by powers of two.
func sameGroups(t *testing.T, got, want *Result, powers []int) {
	t.Helper()
	if got.K != want.K || got.Converged != want.Converged || len(got.Warnings) != len(want.Warnings) {
		t.Fatalf("k %d, converged %v, %v; want %d, %v, %v", got.K, got.Converged, got.Warnings, want.K, want.Converged, want.Warnings)
	}
	for c, w := range want.Components {
		g := got.Components[c]
		if g.Rows != w.Rows {
			t.Errorf("group %d: %d rows, want %d", c+1, g.Rows, w.Rows)
		}
		closeTo(t, "weight", g.Weight, w.Weight, 1e-6)
		for j, v := range append(slices.Clone(w.Mean), w.Median...) {
			closeTo(t, "mean", math.Ldexp(append(slices.Clone(g.Mean), g.Median...)[j], -powers[j]), v, 1e-6)
		}
		if cov := w.Covariance; cov != nil && cov.IsMatrix() && want.PCA == nil {
			for j, row := range cov.Full() {
				for l, v := range row {
					closeTo(t, "covariance", math.Ldexp(g.Covariance.At(j, l), -powers[j]-powers[l]), v, 1e-6)
				}
			}
		}
	}
	if w := want.StandardErrors; w != nil && w.Means != nil {
		for j, v := range w.Means[0] {
			closeTo(t, "standard error of a mean", math.Ldexp(got.StandardErrors.Means[0][j], -powers[j]), v, 1e-6)
		}
	}
}

// A start, a ridge, a penalty and a tolerance are in the user's units.
func TestWhatIsGivenIsInTheUnitsOfTheRows(t *testing.T) {
	t.Parallel()
	plain := groupsOfThree()
	for _, power := range []int{-300, 400} {
		at := func(v float64) float64 { return math.Ldexp(v, power) }
		src := fixtures.Table(3, inPowers(plain, power, power, power)...)
		square := math.Ldexp(1, 2*power)
		centers := [][]float64{{0, 0, 3}, {5, -4, 3}, {10, 0, 3}}
		moved := [][]float64{}
		for _, row := range centers {
			moved = append(moved, inPowers(row, power))
		}
		for _, c := range []struct{ got, want Spec }{
			{Spec{Model: "kmeans", K: 3, Init: "centers", Centers: moved, TolShift: 0.5 * square}, Spec{Model: "kmeans", K: 3, Init: "centers", Centers: centers, TolShift: 0.5}},
			{Spec{Model: "kmeans", Penalty: new(12 * square)}, Spec{Model: "kmeans", Penalty: new(12.0)}},
			{Spec{K: 3, RegCovar: 0.1 * square, Init: "centers", Centers: moved}, Spec{K: 3, RegCovar: 0.1, Init: "centers", Centers: centers}},
		} {
			got, want := mustFit(t, src, c.got), mustFit(t, fixtures.Table(3, plain...), c.want)
			sameGroups(t, got, want, []int{power, power, power})
			if c.got.RegCovar == 0 && got.Iterations != want.Iterations {
				t.Errorf("power %d: %d iterations, want %d", power, got.Iterations, want.Iterations)
			}
		}
		r := mustFit(t, fixtures.Table(3, plain...), Spec{Model: "kmeans", K: 3})
		given := *r.Model
		given.Means = [][]float64{}
		for _, m := range r.Model.Means {
			given.Means = append(given.Means, []float64{at(m[0]), at(m[1]), at(m[2])})
		}
		again := mustFit(t, src, Spec{Model: "kmeans", K: 3, Init: "model", Given: &given})
		if math.Ldexp(*again.Inertia, -2*power) != *r.Inertia || again.Iterations > 1 {
			t.Errorf("power %d: inertia %v after %d iterations from its own end, want %v", power, *again.Inertia, again.Iterations, *r.Inertia)
		}
		p, err := SuggestPenalty(context.Background(), src, Spec{Model: "kmeans"}, 3)
		q, _ := SuggestPenalty(context.Background(), fixtures.Table(3, plain...), Spec{Model: "kmeans"}, 3)
		if err != nil || p != q*square {
			t.Errorf("power %d: penalty %v (%v), want %v", power, p, err, q*square)
		}
	}
}

// Weights times a power of two lead to the same groups, and all that is in proportion to them follows.
func TestRowWeightsOfAnyMagnitudeGiveTheSameFit(t *testing.T) {
	t.Parallel()
	x := groupsOfThree()
	bits := make([]float64, len(x))
	for i, v := range x {
		if v > 1 {
			bits[i] = 1
		}
	}
	weights := rng.Uniforms(5, 90)
	for i := range weights { // with a mean of about 1.3
		weights[i] = 1 + weights[i]*2/3
	}
	for _, spec := range []Spec{
		{K: 3}, {K: 3, Covariance: "VEI"}, {K: 3, Covariance: "EVE"}, {K: 2, Algorithm: "em"}, {K: 2, Algorithm: "squarem"}, {K: 3, Algorithm: "hard-em"}, {K: 2, Algorithm: "anti-annealing"},
		{K: 3, Model: "kmeans"}, {K: 3, Model: "kmedians"}, {K: 3, Model: "kmeans", Algorithm: "minibatch"}, {K: 2, Model: "bernoulli"}, {K: 3, Scale: "robust"},
		{KRange: [2]int{2, 4}, Model: "kmeans"},
	} {
		rows := x
		if spec.Model == "bernoulli" {
			rows = bits
		}
		src := fixtures.Table(3, rows...)
		src.W = weights
		want := resultOf(t, src, spec)
		for _, power := range []int{-990, -300, -20, 60, 980} {
			t.Run(fmt.Sprintf("%s %s %s %d", spec.Model, spec.Covariance, spec.Algorithm, power), func(t *testing.T) {
				src := fixtures.Table(3, rows...)
				src.W = inPowers(weights, power)
				got, err := Fit(context.Background(), src, spec)
				if err != nil {
					t.Fatal(err)
				}
				if got.K != want.K || got.Converged != want.Converged || math.Ldexp(got.TotalWeight, -power) != want.TotalWeight {
					t.Fatalf("k %d, converged %v, weight %v", got.K, got.Converged, got.TotalWeight)
				}
				for c, w := range want.Components {
					if got.Components[c].Rows != w.Rows || !slices.Equal(got.Components[c].Mean, w.Mean) {
						t.Errorf("group %d: %+v, want %+v", c+1, got.Components[c], w)
					}
				}
				if want.LogLik == nil {
					closeTo(t, "inertia", math.Ldexp(*got.Inertia, -power), *want.Inertia, 1e-15)
					return
				}
				closeTo(t, "log-likelihood", math.Ldexp(*got.LogLik, -power), *want.LogLik, 1e-12)
				closeTo(t, "BIC", *got.BIC, float64(want.FreeParameters)*math.Log(got.TotalWeight)-2**got.LogLik, 1e-12)
				if e := want.StandardErrors; e.Weights != nil {
					closeTo(t, "standard error", got.StandardErrors.Weights[0]*math.Exp2(float64(power)/2), e.Weights[0], 1e-9)
				}
			})
		}
	}
}

// One row in four hardly counts: it keeps its label, and the others decide.
func TestRowWeightsOfVeryDifferentMagnitude(t *testing.T) {
	t.Parallel()
	x, weights := groupsOfThree(), make([]float64, 90)
	var heavy []float64
	for i := range weights {
		if weights[i] = 1e300; i%4 == 0 {
			weights[i] = 1e-300
		} else {
			heavy = append(heavy, x[3*i:3*i+3]...)
		}
	}
	for _, spec := range []Spec{{K: 3}, {K: 3, Covariance: "VEV"}, {K: 3, Algorithm: "hard-em"}, {K: 3, Model: "kmeans"}, {K: 3, Model: "kmedians"}} {
		src := fixtures.Table(3, x...)
		src.W = weights
		got, want := resultOf(t, src, spec), resultOf(t, fixtures.Table(3, heavy...), spec)
		of := func(r *Result) float64 {
			if r.LogLik != nil {
				return *r.MeanLogLik
			}
			return *r.Inertia / r.TotalWeight
		}
		closeTo(t, spec.Model+spec.Covariance, of(got), of(want), 1e-6)
	}
}

func TestNumbersThatNoResultCanHoldAreRefused(t *testing.T) {
	t.Parallel()
	tiny := math.Ldexp(1, -600)
	base := []float64{0, 1, 10, 11, 0.5, 10.5}
	two := func(y float64) []float64 { return []float64{0, 0, 0, y, 0, 10 * y, 1, 0} }
	for _, c := range []struct {
		d    int
		x, w []float64
		spec Spec
		want string // "" where it fits
	}{
		{1, inPowers(base, -600), nil, Spec{K: 2}, "underflows; multiply the column"},
		{1, inPowers(base, -530), nil, Spec{K: 2, Covariance: "spherical"}, `column "1": the values are so small`},
		{1, inPowers(base, 520), nil, Spec{K: 2}, "overflows; divide the column"},
		{1, inPowers(base, -600), nil, Spec{K: 2, Model: "kmeans"}, "underflows; multiply the column"},
		{1, inPowers(base, -600), nil, Spec{K: 2, Model: "kmeans", Algorithm: "lloyd"}, "underflows; multiply the column"},
		{1, inPowers(base, 520), nil, Spec{K: 2, Model: "kmeans"}, "overflows; divide the column"},
		{1, []float64{0, tiny, 10 * tiny, 1}, nil, Spec{K: 3, Model: "kmeans"}, "differ by so little"},
		{2, two(tiny), nil, Spec{K: 3, Model: "kmeans"}, `column "2": `},
		{2, two(tiny), nil, Spec{K: 3, Model: "kmeans", Scale: "standard"}, ""},
		{2, two(tiny), nil, Spec{K: 2, Model: "kmedians"}, ""},
		{1, base, slices.Repeat([]float64{5e-324}, 6), Spec{K: 2, Model: "kmeans"}, "the row weights add up to 3e-323"},
		{1, base, slices.Repeat([]float64{1e308}, 6), Spec{K: 2}, "more than a float64 can hold"},
		{1, base, slices.Repeat([]float64{1e-300}, 6), Spec{KRange: [2]int{1, 3}}, "takes what the row weights add up to"},
		{2, inPowers(groupsOfThree(), 0, -300), nil, Spec{K: 2, Covariance: "EEV"}, `column "2": its values are so small beside`},
	} {
		src := fixtures.Table(c.d, c.x...)
		src.W = c.w
		r, err := Fit(context.Background(), src, c.spec)
		switch {
		case c.want == "" && err != nil, c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)):
			t.Errorf("%v under %+v: %v, want %q", c.x[:4], c.spec, err, c.want)
		case err == nil && *r.Inertia == 0 && c.spec.K < 4:
			t.Errorf("%v under %+v: inertia 0", c.x, c.spec)
		}
	}
}

func TestRowsOfWhichAModelCannotTellAreNamed(t *testing.T) {
	t.Parallel()
	each := func(*model.Scored) error { return nil }
	mix := &model.Model{Kind: "gmm", Columns: []string{"x", "y"}, Weights: []float64{0.5, 0.5}, Means: [][]float64{{0, 0}, {10, 0}}, Covariance: [][]float64{{1, 0, 0, 1}, {1, 0, 0, 1}}}
	centres := &model.Model{Kind: "kmeans", Columns: []string{"x", "y"}, Means: [][]float64{{0, 0}, {10, 0}}}
	close := &model.Model{Kind: "kmeans", Columns: []string{"x", "y"}, Means: [][]float64{{0, 0}, {1e-200, 0}}}
	for _, c := range []struct {
		m    *model.Model
		x    []float64
		want string
	}{
		{mix, []float64{1, 1, 3, 1e200}, `row 2, column "y": 1e+200 is so far from all groups that no float64 can hold its log density`},
		{centres, []float64{1, 1, 3, 1e200}, `row 2, column "y": 1e+200 is so far from all groups that no float64 can hold the distance`},
		{close, []float64{1, 1, 2e-200, 0}, `row 2, column "x": the centres next to it differ by so little`},
		{centres, []float64{0, 0, 10, 1e-200, 1e150, 0}, ""},
	} {
		err := c.m.Rows(context.Background(), fixtures.Table(2, c.x...), 1, each)
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
			t.Errorf("%s of %v: %v, want %q", c.m.Kind, c.x, err, c.want)
		}
	}
}

// A stream that ends in an error ends the making of the rows in other units.
func TestErrorsOfRowsInOtherUnitsAreTold(t *testing.T) {
	t.Parallel()
	src := &broken{*fixtures.Table(1, inPowers([]float64{0, 1, 10, 11}, 300)...)}
	if _, err := Fit(context.Background(), src, Spec{Model: "kmeans", K: 2}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Errorf("error %v", err)
	}
}

// broken is a table whose rows cannot be read twice.
type broken struct{ data.Table }

func (b *broken) Open(ctx context.Context) (data.Reader, error) {
	if b.F64 == nil {
		return nil, io.ErrUnexpectedEOF
	}
	t := b.Table
	b.Table = data.Table{D: t.D}
	return t.Open(ctx)
}

// Columns that have one unit in common may be too far apart for it: that is not to be constant.
func TestAColumnThatVanishesInTheUnitOfAllIsNotCalledConstant(t *testing.T) {
	t.Parallel()
	x := make([]float64, 0, 80)
	for i, z := range rng.Normals(4, 80) {
		x = append(x, math.Ldexp(z, map[bool]int{true: -660, false: 660}[i%2 == 0]))
	}
	_, err := Fit(context.Background(), fixtures.Table(2, x...), Spec{K: 2, Covariance: "VVE"})
	if err == nil || !strings.Contains(err.Error(), `column "1": its values are so small beside those of the others`) {
		t.Errorf("error %v", err)
	}
}

// Where groups overlap, a fit takes as many steps in any units of the columns, also where these are far apart and the fit is made in them.
func TestUnitsOfColumnsTakeNoMoreSteps(t *testing.T) {
	t.Parallel()
	x := rng.Uniforms(7, 3*300)
	for i := range x {
		x[i] = math.Sin(9*x[i]) + x[i]*x[i] + float64(i/3%3)
	}
	for _, spec := range []Spec{{K: 2, Covariance: "diag"}, {K: 2, Covariance: "factors-tied:1"}} {
		want, got := mustFit(t, fixtures.Table(3, x...), spec), mustFit(t, fixtures.Table(3, inPowers(x, -20, 40, 0)...), spec)
		closeTo(t, "log-likelihood", *got.LogLik, *want.LogLik-300*20*math.Ln2, 1e-9)
		if got.Iterations > want.Iterations+2 {
			t.Errorf("%s: %d steps, and %d in units that are alike", spec.Covariance, got.Iterations, want.Iterations)
		}
	}
}
