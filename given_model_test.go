package latent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// modelOf reads a model file.
func modelOf(t *testing.T, text string) *model.Model {
	t.Helper()
	m := new(model.Model)
	if err := json.Unmarshal([]byte(text), m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	return m
}

// A component of weight 0 wins no row and adds nothing to a density, however far all others are; what the model says is what it
// says without the component, in every kind and shape, wherever the component stands.
func TestWeightlessComponentsTakeNoPart(t *testing.T) {
	t.Parallel()
	const far = 200.0 // standard deviations from the other components: 20,000 nats
	head := `{"format": "latent-model", "version": 1, `
	for name, c := range map[string]struct{ with, without string }{
		"full first": {`"model": "gmm", "covariance": "full", "columns": ["x"], "weights": [0, 0.25, 0.75], "means": [[200], [0], [1]], "covariances": [[[1]], [[1]], [[2]]]}`,
			`"model": "gmm", "covariance": "full", "columns": ["x"], "weights": [0.25, 0.75], "means": [[0], [1]], "covariances": [[[1]], [[2]]]}`},
		"tied last": {`"model": "gmm", "covariance": "tied", "columns": ["x"], "weights": [0.25, 0.75, 0], "means": [[0], [1], [200]], "covariances": [[1]]}`,
			`"model": "gmm", "covariance": "tied", "columns": ["x"], "weights": [0.25, 0.75], "means": [[0], [1]], "covariances": [[1]]}`},
		"spherical middle": {`"model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.25, 0, 0.75], "means": [[0], [200], [1]], "covariances": [1, 4, 2]}`,
			`"model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.25, 0.75], "means": [[0], [1]], "covariances": [1, 2]}`},
		"proportional": {`"model": "gmm", "covariance": "VEI", "columns": ["x"], "weights": [1, 0], "means": [[0], [200]], "covariances": [[1], [2]]}`,
			`"model": "gmm", "covariance": "VEI", "columns": ["x"], "weights": [1], "means": [[0]], "covariances": [[1]]}`},
		"bits": {`"model": "bernoulli", "columns": ["x"], "transform": [{"kind": "binarize", "threshold": 100}], "weights": [1, 0], "probabilities": [[0], [1]]}`,
			`"model": "bernoulli", "columns": ["x"], "transform": [{"kind": "binarize", "threshold": 100}], "weights": [1], "probabilities": [[0]]}`},
	} {
		with, without := modelOf(t, head+c.with), modelOf(t, head+c.without)
		var place []int // of the components that have a weight
		for i, w := range with.Weights {
			if w > 0 {
				place = append(place, i)
			}
		}
		for _, single := range []bool{false, true} {
			values := []float64{-3, 0, 0.4, 1, 7, far, far + 1, 1e6}
			rows := &data.Table{N: len(values), D: 1, F64: values}
			if single {
				rows.F64 = nil
				for _, v := range values {
					rows.F32 = append(rows.F32, float32(v))
				}
			}
			got, want := scoredBy(t, with, rows), scoredBy(t, without, rows)
			for i := range values {
				if g, w := got.label[i], place[want.label[i]]; g != w || got.score[i] != want.score[i] || math.IsNaN(got.score[i]) {
					t.Errorf("%s: x = %v: label %d and log density %v, want %d and %v", name, values[i], g, got.score[i], w, want.score[i])
				}
				at := 0
				for c, p := range got.p[i] {
					w := 0.0
					if with.Weights[c] > 0 {
						w = want.p[i][at]
						at++
					}
					if p != w {
						t.Errorf("%s: x = %v: responsibility of component %d is %v, want %v", name, values[i], c, p, w)
					}
				}
			}
		}
		s, err := with.Sampler(3)
		if err != nil {
			t.Fatal(err)
		}
		for range 2000 {
			if c := s.Draw(make([]float64, 1)); with.Weights[c] == 0 {
				t.Fatalf("%s: a row was drawn from component %d, of weight 0", name, c)
			}
		}
	}
}

type scoredRows struct {
	label []int
	score []float64
	p     [][]float64
}

func scoredBy(t *testing.T, m *model.Model, src data.Source) (r scoredRows) {
	t.Helper()
	err := m.Rows(context.Background(), src, 2, func(s *model.Scored) error {
		for i := range s.N {
			r.label, r.score = append(r.label, int(s.Label[i])), append(r.score, s.LogDensity[i])
			r.p = append(r.p, slices.Clone(s.Responsibilities[i*s.K:(i+1)*s.K]))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A level of probability 0 is never drawn, also where the others add to a little less than 1.
func TestALevelOfProbabilityZeroIsNeverDrawn(t *testing.T) {
	t.Parallel()
	m := modelOf(t, `{"format": "latent-model", "version": 1, "model": "categorical", "columns": ["x"], "levels": [["a", "b", "c"]], "weights": [1], "probabilities": [[[0, 0.9999991, 0]]]}`)
	s, err := m.Sampler(1)
	if err != nil {
		t.Fatal(err)
	}
	x := make([]float64, 1)
	for i := range 5_000_000 {
		if s.Draw(x); x[0] != 1 {
			t.Fatalf("draw %d is level %v, of probability 0", i, x[0])
		}
	}
}

// From a start with a component of weight 0 EM can give it nothing: the fit is that of the other components, by any algorithm,
// and the component comes back as it was.
func TestAStartWithAWeightlessComponent(t *testing.T) {
	t.Parallel()
	var x []float64
	for i := range 60 {
		x = append(x, math.Sin(float64(i))+6*float64(i%2), math.Cos(3*float64(i))+float64(i%2))
	}
	x = append(x, 400, 400) // as far from the others as rows can be: the weightless component stands on it
	rows := &data.Table{N: len(x) / 2, D: 2, F64: x}
	for _, shape := range []string{"full", "tied", "VEE", "EVE", "VVE", "EEV", "diag", "VEI", "EVI", "tied-spherical"} {
		for _, algorithm := range []string{"em", "em-lbfgs", "squarem", "bfgs", "hard-em", "anti-annealing"} {
			pair, err := Fit(context.Background(), rows, Spec{K: 2, Covariance: shape, Init: "random", NInit: 1, Algorithm: algorithm, MaxIter: new(3)})
			if err != nil {
				t.Fatalf("%s, %s: %v", shape, algorithm, err)
			}
			two := *pair.Model
			three := two
			three.Weights, three.Means = slices.Insert(slices.Clone(two.Weights), 1, 0), slices.Insert(slices.Clone(two.Means), 1, []float64{400, 400})
			if !two.Shape.Shared() {
				three.Covariance = slices.Insert(slices.Clone(two.Covariance), 1, two.Covariance[0])
			}
			spec := Spec{Covariance: shape, Init: "model", Algorithm: algorithm}
			spec.K, spec.Given = 2, &two
			want, err := Fit(context.Background(), rows, spec)
			if err != nil {
				t.Fatalf("%s, %s: %v", shape, algorithm, err)
			}
			spec.K, spec.Given = 3, &three
			got, err := Fit(context.Background(), rows, spec)
			if err != nil {
				t.Fatalf("%s, %s: %v", shape, algorithm, err)
			}
			if *got.LogLik != *want.LogLik || got.K != 3 || got.Components[2].Weight != 0 || got.Components[2].Rows != 0 || !slices.Equal(got.Components[2].Mean, []float64{400, 400}) {
				t.Errorf("%s, %s: log-likelihood %v, want %v; the last component has weight %v, %d rows and mean %v", shape, algorithm, *got.LogLik, *want.LogLik, got.Components[2].Weight, got.Components[2].Rows, got.Components[2].Mean)
			}
			if !slices.ContainsFunc(texts(got.Warnings), func(w string) bool { return strings.Contains(w, "weight 0") }) {
				t.Errorf("%s, %s: no warning of the weightless component: %q", shape, algorithm, got.Warnings)
			}
			var b bytes.Buffer
			if _, err := got.Model.WriteTo(&b); err != nil {
				t.Fatal(err)
			}
			if err := json.Unmarshal(b.Bytes(), new(model.Model)); err != nil {
				t.Errorf("%s, %s: its file is refused: %v", shape, algorithm, err)
			}
		}
	}
}

// A fit's own file is never refused: a covariance of two columns that are all but one is written to float64, which leaves its
// determinant, shared by all, four digits.
func TestAFlatFitsFileIsRead(t *testing.T) {
	t.Parallel()
	for _, shape := range []string{"EVE", "EEV", "EVV", "VVE"} {
		head := `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "` + shape + `", "columns": ["x", "y"], "weights": [0.5, 0.5], "means": [[0, 0], [9, 9]], "covariances": `
		// Eigenvalues 4 and 4 in the first, 16e6 and 1e-6 in the second, about axes of 45 degrees: both have the determinant 16.
		covariances := `[[[4, 0], [0, 4]], [[8000000.0000005, 7999999.9999995], [7999999.9999995, 8000000.0000005]]]`
		if shape == "EEV" {
			covariances = `[[[8000000.0000005, 7999999.9999995], [7999999.9999995, 8000000.0000005]], [[8000000.0000005, -7999999.9999995], [-7999999.9999995, 8000000.0000005]]]`
		}
		if err := json.Unmarshal([]byte(head+covariances+`}`), new(model.Model)); err != nil {
			t.Errorf("%s: %v", shape, err)
		}
	}
	other := `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "EVE", "columns": ["x", "y"], "weights": [0.5, 0.5], "means": [[0, 0], [9, 9]], "covariances": [[[4, 0], [0, 4]], [[5, 3], [3, 5.001]]]}`
	if err := json.Unmarshal([]byte(other), new(model.Model)); err == nil {
		t.Error("covariances of other determinants pass for ones that share it")
	}
}

// startedFrom fits zero steps from a model.
func startedFrom(t *testing.T, src data.Source, m *model.Model, spec Spec) *Result {
	t.Helper()
	spec.K, spec.Init, spec.Given, spec.MaxIter, spec.NInit = m.K(), "model", m, new(0), 0
	r, err := Fit(context.Background(), src, spec)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// parametersOf returns what a model file holds of parameters: the keys from "model" to "log_likelihood".
func parametersOf(t *testing.T, m *model.Model) string {
	t.Helper()
	b, err := m.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	text, _, _ := strings.Cut(string(b), `"certificate"`)
	return text
}

// A fit of no steps from a model gives the model back: the same bytes of all parameters, of the number of rows and of the
// log-likelihood.
func TestNoStepsGiveTheModelBack(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	var x []float64
	for i := range 90 {
		g := float64(i % 3)
		x = append(x, math.Sin(float64(i))+4*g, 1e3+math.Cos(3*float64(i))*(1+g), math.Sin(5*float64(i))*0.01+math.Cos(float64(i))*0.02)
	}
	rows := &data.Table{N: 90, D: 3, F64: x}
	bits := &data.Table{N: 90, D: 3}
	for i, v := range x {
		bits.F64 = append(bits.F64, map[bool]float64{true: 1}[math.Sin(7*float64(i))+0.01*v > float64(i%5)-2])
	}
	names := []string{"a", "b", "c"}
	type trial struct {
		src  data.Source
		spec Spec
	}
	var trials []trial
	for _, shape := range []string{"VVV", "EEE", "VVI", "VII", "EEI", "EII", "VEI", "EVI", "VEE", "EVE", "VVE", "EEV", "VEV", "EVV"} {
		trials = append(trials, trial{rows, Spec{K: 3, Covariance: shape}}, trial{rows, Spec{K: 3, Covariance: shape, Scale: "standard"}})
	}
	trials = append(trials, trial{rows, Spec{K: 2, PCA: 2, Scale: "robust"}}, trial{rows, Spec{K: 3, Model: "kmeans"}}, trial{rows, Spec{K: 3, Model: "kmedians", Scale: "standard"}},
		trial{bits, Spec{K: 2, Model: "bernoulli"}}, trial{bits, Spec{K: 2, Model: "categorical", Levels: [][]string{{"n", "y"}, {"n", "y"}, {"n", "y"}}}},
		trial{rows, Spec{K: 2, Model: "bernoulli", Binarize: new(0.5)}}, trial{rows, Spec{K: 3, Weights: "uniform"}})
	for _, c := range trials {
		c.spec.Columns = names
		what := fmt.Sprintf("%s %s scale %q pca %d", c.spec.Model, c.spec.Covariance, c.spec.Scale, c.spec.PCA)
		first, err := Fit(ctx, c.src, c.spec)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		read := modelOf(t, parametersOf(t, first.Model)+`"provenance": null}`)
		again := startedFrom(t, c.src, read, c.spec)
		if a, b := parametersOf(t, first.Model), parametersOf(t, again.Model); a != b {
			t.Errorf("%s: the model was\n%s\nand came back as\n%s", what, a, b)
		}
		if again.Iterations != 0 {
			t.Errorf("%s: %d steps", what, again.Iterations)
		}
	}
}

// Without a step the components of a model written by hand keep their order too, whatever their weights, and its numbers stay
// as they are: those near an edge also.
func TestNoStepsKeepAModelWrittenByHand(t *testing.T) {
	t.Parallel()
	rows := &data.Table{N: 6, D: 1, F64: []float64{0, 1, 2, 10, 11, 13}}
	m := modelOf(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.1, 0, 0.9], "means": [[0.1], [5], [9.3]], "covariances": [0.7, 1, 3.1]}`)
	r := startedFrom(t, rows, m, Spec{Covariance: "spherical", Columns: []string{"x"}})
	if f := r.Model; !slices.Equal(f.Weights, m.Weights) || !slices.EqualFunc(f.Means, m.Means, slices.Equal) || !slices.EqualFunc(f.Covariance, m.Covariance, slices.Equal) {
		t.Errorf("weights %v, means %v, covariances %v", f.Weights, f.Means, f.Covariance)
	}
	if got := []int64{r.Components[0].Rows, r.Components[1].Rows, r.Components[2].Rows}; !slices.Equal(got, []int64{3, 0, 3}) {
		t.Errorf("rows %v, want 3, 0 and 3", got)
	}
	bits := &data.Table{N: 4, D: 2, F64: []float64{1, 0, 1, 0, 1, 1, 0, 1}}
	b := modelOf(t, `{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["x", "y"], "weights": [0.25, 0.75], "probabilities": [[0, 1], [1, 0.3]]}`)
	if r := startedFrom(t, bits, b, Spec{Model: "bernoulli", Columns: []string{"x", "y"}}); !slices.EqualFunc(r.Model.Probabilities, b.Probabilities, slices.Equal) {
		t.Errorf("probabilities %v", r.Model.Probabilities)
	}
	flat := modelOf(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [1], "means": [[3]], "covariances": [1e-30]}`)
	if r := startedFrom(t, rows, flat, Spec{Covariance: "spherical", Columns: []string{"x"}}); r.Model.Covariance[0][0] <= 1e-30 || !slices.ContainsFunc(texts(r.Warnings), func(w string) bool { return strings.Contains(w, "raised") }) {
		t.Errorf("a variance below the floor is %v, and the warnings are %q", r.Model.Covariance[0][0], r.Warnings)
	}
}

// reordered returns the table with its columns in another order.
func reordered(t *data.Table, at []int) *data.Table {
	out := &data.Table{N: t.N, D: t.D}
	for i := range t.N {
		for _, j := range at {
			out.F64 = append(out.F64, t.At(i, j))
		}
	}
	return out
}

// A model to start from meets the columns by name: from rows whose columns stand in another order, a fit of no steps has the
// log-likelihood that the model has of the rows it knows, in every kind, shape and transform.
func TestAGivenModelMeetsColumnsByName(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	names, at := []string{"a", "b", "c"}, []int{2, 0, 1}
	swapped := []string{"c", "a", "b"}
	table, bits, words := &data.Table{N: 80, D: 3}, &data.Table{N: 80, D: 3}, &data.Table{N: 80, D: 3}
	for i := range 80 {
		g := float64(i % 2)
		table.F64 = append(table.F64, 5*g+math.Sin(float64(i)), 100+math.Cos(3*float64(i)), 0.1*math.Sin(5*float64(i))-g)
		bits.F64 = append(bits.F64, float64((i*7+i%2*3)%10/6), float64((i*3+i%2*5)%11/7), g)
		words.F64 = append(words.F64, float64(i%3), float64(i*5%7%2), float64((i*3+i%2)%4))
	}
	levels := [][]string{{"u", "v", "w"}, {"no", "yes"}, {"1", "2", "3", "4"}}
	for _, c := range []struct {
		src  *data.Table
		spec Spec
	}{
		{table, Spec{Covariance: "full"}}, {table, Spec{Covariance: "tied"}}, {table, Spec{Covariance: "diag"}}, {table, Spec{Covariance: "spherical"}}, {table, Spec{Covariance: "EEI"}},
		{table, Spec{Covariance: "VVE"}}, {table, Spec{Covariance: "full", Scale: "standard"}}, {table, Spec{Covariance: "diag", Scale: "robust"}},
		{table, Spec{Model: "kmeans", Scale: "standard"}}, {table, Spec{Model: "kmedians"}}, {bits, Spec{Model: "bernoulli"}}, {table, Spec{Model: "bernoulli", Binarize: new(0.5)}},
		{words, Spec{Model: "categorical", Levels: levels}},
	} {
		what := fmt.Sprintf("%s %s %s", c.spec.Model, c.spec.Covariance, c.spec.Scale)
		spec := c.spec
		spec.K, spec.Columns, spec.MaxIter, spec.NInit = 2, names, new(2), 1
		spec.Init = "random"
		first, err := Fit(ctx, c.src, spec)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		spec = c.spec
		spec.Columns = swapped
		if spec.Levels != nil {
			spec.Levels = [][]string{levels[2], levels[0], levels[1]}
		}
		got := startedFrom(t, reordered(c.src, at), first.Model, spec)
		value := func(r *Result) float64 {
			if r.LogLik == nil {
				return *r.Inertia
			}
			return *r.LogLik
		}
		if v, w := value(got), value(first); !(math.Abs(v-w) <= 1e-9*math.Abs(w)) {
			t.Errorf("%s: %v from rows in another order, %v before", what, v, w)
		}
	}
}

// Levels are met by name as well; what either side lacks is an error that names it, as are columns.
func TestAGivenModelNamesWhatDoesNotMatch(t *testing.T) {
	t.Parallel()
	words := &data.Table{N: 4, D: 1, F64: []float64{0, 0, 1, 0}} // clear, clear, rain, clear
	ofLevels := func(levels, p string) *model.Model {
		return modelOf(t, `{"format": "latent-model", "version": 1, "model": "categorical", "columns": ["sky"], "levels": [`+levels+`], "weights": [1], "probabilities": [[`+p+`]]}`)
	}
	spec := Spec{Model: "categorical", Columns: []string{"sky"}, Levels: [][]string{{"clear", "rain"}}}
	r := startedFrom(t, words, ofLevels(`["rain", "clear"]`, `[0.2, 0.8]`), spec)
	if want := 3*math.Log(0.8) + math.Log(0.2); !(math.Abs(*r.LogLik-want) < 1e-12) {
		t.Errorf("log-likelihood %v, want %v", *r.LogLik, want)
	}
	gmm := modelOf(t, `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["a", "b"], "weights": [1], "means": [[1, 2]], "covariances": [1]}`)
	rows := &data.Table{N: 4, D: 2, F64: []float64{1, 2, 3, 4, 1, 5, 9, 2}}
	three := &data.Table{N: 4, D: 3, F64: []float64{1, 2, 3, 4, 1, 5, 9, 2, 1, 1, 0, 7}}
	for _, c := range []struct {
		src   data.Source
		m     *model.Model
		spec  Spec
		wants []string
	}{
		{words, ofLevels(`["clear", "rain", "snow"]`, `[0.5, 0.4, 0.1]`), spec, []string{`the level "snow"`, `"sky"`}},
		{words, ofLevels(`["clear"]`, `[1]`), spec, []string{`does not have the level "rain"`, `"sky"`}},
		{rows, gmm, Spec{Covariance: "spherical", Columns: []string{"a", "z"}}, []string{`the column "z"`, `the column "b"`, "--columns a,b"}},
		{three, gmm, Spec{Covariance: "spherical", Columns: []string{"c", "b", "a"}}, []string{`the column "c"`, "--columns a,b"}},
		{three, gmm, Spec{Covariance: "spherical"}, []string{"2 columns", "3 are fitted"}},
		{rows, gmm, Spec{Covariance: "full", Columns: []string{"a", "b"}}, []string{"spherical", "full"}},
		{rows, gmm, Spec{Model: "kmeans", Columns: []string{"a", "b"}}, []string{"gmm", "kmeans"}},
		{rows, gmm, Spec{Covariance: "spherical", Columns: []string{"a", "b"}, Scale: "standard"}, []string{"as they are", "standard"}},
	} {
		c.spec.K, c.spec.Init, c.spec.Given = c.m.K(), "model", c.m
		_, err := Fit(context.Background(), c.src, c.spec)
		if err == nil {
			t.Errorf("no error of %q", c.wants)
			continue
		}
		for _, want := range c.wants {
			if !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
				t.Errorf("%v; want %q in it", err, want)
			}
		}
	}
	if r := startedFrom(t, rows, gmm, Spec{Covariance: "spherical"}); r.Model.Means[0][0] != 1 { // rows without names: by position
		t.Errorf("mean %v", r.Model.Means[0])
	}
}
