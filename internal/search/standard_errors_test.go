package search

import (
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// fitted is a fit that has climbed, with the standard errors at its end.
type fitted struct {
	*Fit
	point  *ascent.Point
	order  []int
	model  *model.Model
	errors *model.StandardErrors
}

func errorsOf(t *testing.T, src data.Source, spec plan.Spec) fitted {
	t.Helper()
	ctx := context.Background()
	f, err := New(ctx, src, fixtures.Plan(spec))
	if err != nil {
		t.Fatal(err)
	}
	thetas, err := f.Starts(ctx)
	if err != nil {
		t.Fatal(err)
	}
	runs, err := f.Climb(ctx, thetas, nil, true)
	if err != nil {
		t.Fatal(err)
	}
	best, err := f.Best(runs)
	if err != nil {
		t.Fatal(err)
	}
	p := runs[best].Last.Point
	m, order := f.Model(p)
	e, err := f.inference().StandardErrors(ctx, &ascent.Step{Point: p}, order)
	if err != nil {
		t.Fatal(err)
	}
	return fitted{f, p, order, m, e}
}

// For one normal column the information in (mean, log sd) is n (1/v, g/sd; g/sd, q - 1), g the skewness and q the
// kurtosis. Rows -1, -1, -1, 0, 3 have moments v = 12/5, 24/5 and 84/5, so g = 2 / v^0.5 and q = 35/12. The errors of mean
// and variance are those of its inverse, whose determinant is v / (n^2 (q - 1 - g^2)).
func TestErrorsOfOneColumnByHand(t *testing.T) {
	t.Parallel()
	const n, v, q = 5, 12. / 5, 35. / 12
	const det = (q - 1) - 4/v
	got := errorsOf(t, fixtures.Table(1, -1, -1, -1, 0, 3), plan.Spec{K: 1}).errors
	if got.Why != "" {
		t.Fatal(got.Why)
	}
	fixtures.Within(t, "the error of the mean", got.Means[0][0], math.Sqrt(v/(n*det)*(q-1)), 1e-9)
	fixtures.Within(t, "the error of the variance", got.Covariance[0][0], 2*v*math.Sqrt(1/(n*det)), 1e-9)
	if got.Weights != nil || got.Rows != 5 || got.Method != "outer products" {
		t.Errorf("%+v", got)
	}
}

// A normal sample has the textbook's errors: sd / sqrt n of a mean, and of a covariance the root of
// (S_jj S_ll + S_jl^2) / n.
func TestErrorsOfALargeNormalSample(t *testing.T) {
	t.Parallel()
	const n, d = 20_000, 2
	z := rng.Normals(3, n*d)
	src := &data.Table{N: n, D: d}
	for i := range n {
		src.F64 = append(src.F64, 50+3*z[2*i], 1.5*z[2*i]+0.5*z[2*i+1])
	}
	cov := []float64{9, 4.5, 4.5, 2.5}
	for _, scale := range []string{"none", "standard"} {
		got := errorsOf(t, src, plan.Spec{K: 1, Scale: scale}).errors
		for j := range d {
			near5(t, "mean", got.Means[0][j], math.Sqrt(cov[j*d+j]/n))
			for l := range d {
				near5(t, "covariance", got.Covariance[0][j*d+l], math.Sqrt((cov[j*d+j]*cov[l*d+l]+cov[j*d+l]*cov[j*d+l])/n))
			}
		}
	}
}

// near5 fails unless got is want within 5 %.
func near5(t *testing.T, what string, got, want float64) {
	t.Helper()
	fixtures.Within(t, "the error of a "+what, got, want, 0.05*want)
}

// naturals returns what the model says at theta, in the user's units: weights, then means, then covariances, then
// probabilities.
func (f fitted) naturals(theta []float64) (v []float64) {
	m, order := f.Fit.Model(&ascent.Point{Theta: theta})
	if !slices.Equal(order, f.order) {
		panic("a small move changes the order")
	}
	if f.errors.Weights != nil {
		v = append(v, m.Weights...)
	}
	for c := range m.Means {
		v = append(v, m.UserMean(c)...)
	}
	for c := range m.Covariance {
		switch x := m.Component(c).Covariance; {
		case x.IsRound():
			v = append(v, x.At(0, 0))
		case x.IsMatrix():
			v = append(v, slices.Concat(x.Full()...)...)
		default:
			v = append(v, x.Diag()...)
		}
	}
	for _, p := range m.Probabilities {
		v = append(v, p...)
	}
	return v
}

// all returns the errors in the order of naturals.
func allErrors(e *model.StandardErrors) (v []float64) {
	v = append(v, e.Weights...)
	for _, rows := range [][]model.Errors{e.Means, e.Covariance, e.Probabilities} {
		for _, r := range rows {
			v = append(v, r...)
		}
	}
	return v
}

// The delta method with derivatives from differences of what the model file says.
func TestErrorsAreTheDeltaMethodOfTheModel(t *testing.T) {
	t.Parallel()
	const h = 1e-5
	specs := []plan.Spec{{K: 2, Weights: "uniform"}, {K: 2, Scale: "standard", Covariance: "spherical"}, {K: 2, Scale: "robust"}}
	for _, shape := range fixtures.ShapeNames {
		specs = append(specs, plan.Spec{K: 2, Covariance: shape})
	}
	threshold := 1.0
	specs = append(specs, plan.Spec{K: 2, Model: "bernoulli", Binarize: &threshold},
		plan.Spec{K: 2, Model: "categorical", Levels: [][]string{{"a", "b", "c"}, {"d", "e"}, {"f", "g", "h", "i"}}})
	for _, spec := range specs {
		src := fixtures.TwoGroups(7, 500, 3, 0.65, map[bool]float64{true: 2, false: 3}[spec.Model == "bernoulli"])
		switch spec.Model {
		case "bernoulli":
			for i := range src.F64 {
				src.F64[i] /= math.Pow(10, float64(i%3))
			}
		case "categorical":
			for i, v := range src.F64 {
				src.F64[i] = min(max(math.Round(v/math.Pow(10, float64(i%3))), 0), float64(len(spec.Levels[i%3])-1))
			}
		}
		f := errorsOf(t, src, spec)
		if f.errors.Why != "" {
			t.Fatalf("%+v: %s", spec, f.errors.Why)
		}
		theta := f.point.Theta
		keep := f.Mix.Identified(theta, f.inference().NearEdge(f.point))
		info, err := f.Local.Information(context.Background(), f.Mix, theta, keep, 1, 1)
		if err != nil {
			t.Fatal(err)
		}
		u, err := mixture.Invert(info.Matrix, keep)
		if err != nil {
			t.Fatal(err)
		}
		got := allErrors(f.errors)
		slope := make([][]float64, len(got)) // in theta; those not kept stay 0
		for i := range slope {
			slope[i] = make([]float64, len(theta))
		}
		for _, at := range keep {
			up, down := slices.Clone(theta), slices.Clone(theta)
			up[at] += h
			down[at] -= h
			a, b := f.naturals(up), f.naturals(down)
			if len(a) != len(got) {
				t.Fatalf("%+v: %d errors of %d parameters", spec, len(got), len(a))
			}
			for i := range a {
				slope[i][at] = (a[i] - b[i]) / (2 * h)
			}
		}
		for i, e := range got {
			if want := u.StandardError(0, slope[i]); !(math.Abs(e-want) <= 1e-5*want) {
				t.Errorf("%s %s %s: error %d is %v, differences say %v", spec.Model, spec.Covariance, spec.Scale, i, e, want)
			}
		}
	}
}

// The same components in another order in theta have the same errors.
func TestErrorsFollowTheOrderOfTheModel(t *testing.T) {
	t.Parallel()
	const k, d = 2, 2
	for _, shape := range fixtures.ShapeNames {
		f := errorsOf(t, fixtures.TwoGroups(7, 300, d, 0.65, 3), plan.Spec{K: k, Covariance: shape})
		theta := slices.Clone(f.point.Theta)
		swap := func(from, size int) {
			copy(theta[from:from+size], f.point.Theta[from+size:from+2*size])
			copy(theta[from+size:from+2*size], f.point.Theta[from:from+size])
		}
		swap(0, 1)
		swap(k, d)
		if !strings.HasPrefix(shape, "tied") {
			swap(k+k*d, (len(theta)-k-k*d)/k)
		}
		e, err := f.inference().StandardErrors(context.Background(), &ascent.Step{Point: &ascent.Point{Theta: theta}}, []int{f.order[1], f.order[0]})
		if err != nil || e.Why != "" {
			t.Fatal(err, e.Why)
		}
		want := allErrors(f.errors)
		if len(allErrors(e)) != len(want) {
			t.Fatalf("%s: %d errors, want %d", shape, len(allErrors(e)), len(want))
		}
		for i, v := range allErrors(e) {
			fixtures.Within(t, shape+": an error", v, want[i], 1e-9*want[i])
		}
	}
}

// The errors must be how far fits to new samples of the same kind are spread.
func TestErrorsAreTheSpreadOfRepeatedFits(t *testing.T) {
	t.Parallel()
	const fits, n, share = 400, 120, 0.7
	var weights, means []float64
	weight, mean := 0.0, 0.0
	for i := range fits {
		f := errorsOf(t, fixtures.TwoGroups(uint64(1000+2*i), n, 1, share, 12), plan.Spec{K: 2, NInit: 1, Threads: 1})
		weights, means = append(weights, f.model.Weights[0]), append(means, f.model.Means[0][0])
		weight += f.errors.Weights[0] / fits
		mean += f.errors.Means[0][0] / fits
	}
	near5(t, "weight", weight, math.Sqrt(share*(1-share)/n))
	fixtures.Within(t, "the error of a weight", weight, spread(weights), 0.1*weight) // a spread of 400 is good to 3.5 %
	fixtures.Within(t, "the error of a mean", mean, spread(means), 0.1*mean)
}

func spread(v []float64) float64 {
	mean, square := 0.0, 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	for _, x := range v {
		square += (x - mean) * (x - mean)
	}
	return math.Sqrt(square / float64(len(v)-1))
}

// The first column is 1 in every row of the first group: that probability is on its edge, all others have errors. It
// approaches 1 ever more slowly, so the edge begins where 0.1 rows are expected to differ.
func TestProbabilitiesOnAnEdgeHaveNoError(t *testing.T) {
	t.Parallel()
	u := rng.Uniforms(9, 400*4)
	src := &data.Table{N: 400, D: 4}
	for i := range src.N {
		p := 0.8
		if i%3 == 0 {
			p = 0.2
		}
		for j := range src.D {
			bit := 0.0
			if u[i*4+j] < p || j == 0 && p == 0.8 {
				bit = 1
			}
			src.F64 = append(src.F64, bit)
		}
	}
	levels := slices.Repeat([][]string{{"no", "yes", "neither"}}, 4) // the last never occurs
	var bits []model.Errors
	for _, spec := range []plan.Spec{{K: 2, Model: "bernoulli"}, {K: 2, Model: "categorical", Levels: levels}} {
		f := errorsOf(t, src, spec)
		if bits == nil {
			bits = f.errors.Probabilities
		}
		nan, edge := 0, 0
		for c, row := range f.errors.Probabilities {
			for j, v := range row {
				p := f.model.Probabilities[c][j]
				if v != v {
					nan++
				}
				if f.model.Weights[c]*400*min(p, 1-p) < 0.1 {
					edge++
					if v == v {
						t.Errorf("%s: probability %v has error %v", spec.Model, p, v)
					}
				} else if spec.Levels != nil { // a level that never occurs changes nothing
					fixtures.Within(t, "the error of a level", v, bits[c][j/3], 1e-3*bits[c][j/3])
				}
			}
		}
		if nan != edge || edge == 0 || f.errors.Weights[0] != f.errors.Weights[0] {
			t.Errorf("%s: %d errors are missing, %d probabilities are on an edge: %+v", spec.Model, nan, edge, f.errors)
		}
		text, err := json.Marshal(f.errors)
		if err != nil || strings.Count(string(text), "null") != edge {
			t.Errorf("%s (%v)", text, err)
		}
		var back model.StandardErrors
		if err := json.Unmarshal(text, &back); err != nil {
			t.Fatal(err)
		}
		for i, v := range allErrors(&back) {
			if w := allErrors(f.errors)[i]; v != w && (v == v || w == w) {
				t.Errorf("error %d is %v, in the file %v", i, w, v)
			}
		}
	}
}

// Rows that are all equal are a component at the floor. It has a weight, but no errors of mean and variance: they say
// nothing of the one and the floor decides the other.
func TestComponentAtTheFloorHasNoErrors(t *testing.T) {
	t.Parallel()
	z := rng.Normals(5, 160)
	src := &data.Table{N: 160, D: 1}
	for i, v := range z {
		if i%4 == 0 {
			v = 7
		}
		src.F64 = append(src.F64, v)
	}
	f := errorsOf(t, src, plan.Spec{K: 2})
	if f.errors.Why != "" {
		t.Fatal(f.errors.Why)
	}
	for c, v := range f.errors.Covariance {
		if none, floor := v[0] != v[0], f.model.Covariance[c][0] < 1e-6; none != floor {
			t.Errorf("variance %v has error %v", f.model.Covariance[c][0], v[0])
		} else if m := f.errors.Means[c][0]; (m != m) != floor {
			t.Errorf("the mean of a component with variance %v has error %v", f.model.Covariance[c][0], m)
		}
	}
	near5(t, "weight", f.errors.Weights[0], math.Sqrt(0.75*0.25/160))
}

func TestWhereThereAreNoErrorsTheReasonIsSaid(t *testing.T) {
	t.Parallel()
	src := fixtures.TwoGroups(11, 60, 2, 0.5, 4)
	wide := fixtures.TwoGroups(12, 70, 62, 0.5, 4)
	for _, c := range []struct {
		src  data.Source
		spec plan.Spec
		why  string
	}{
		{src, plan.Spec{K: 2, RegCovar: 1e-6}, "--reg-covar"},
		{src, plan.Spec{K: 2, Algorithm: "hard-em"}, "hard labels"},
		{fixtures.Table(1, 1, 2), plan.Spec{K: 1}, "2 rows are too few for the standard errors of 2 parameters"},
		{wide, plan.Spec{K: 1}, "2015 free parameters"},
	} {
		e := errorsOf(t, c.src, c.spec).errors
		if !strings.Contains(e.Why, c.why) || e.Means != nil || e.Weights != nil || e.Method != "" {
			t.Errorf("%+v: %+v, want the reason %q", c.spec, e, c.why)
		}
	}
	if e := errorsOf(t, src, plan.Spec{Model: "kmeans", K: 2}).errors; e != nil {
		t.Errorf("k-means has standard errors %+v", e)
	}
	// The same fit at a point where both components are one: nothing tells them apart.
	f := errorsOf(t, src, plan.Spec{K: 2})
	theta := slices.Clone(f.point.Theta)
	g := f.Mix.Family.(family.Gaussian)
	comp := f.Mix.Components(theta)
	copy(comp[2:4], comp[:2])
	copy(g.ScaleOf(comp, 1, 2, 2), g.ScaleOf(comp, 0, 2, 2))
	e, err := f.inference().StandardErrors(context.Background(), &ascent.Step{Point: &ascent.Point{Theta: theta}}, f.order)
	if err != nil || !strings.Contains(e.Why, "singular") || e.Means != nil {
		t.Errorf("%+v (%v), want a singular information", e, err)
	}
}
