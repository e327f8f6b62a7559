package latent

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// golden are the models that the files of testdata/model, written by hand, must be read as.
var golden = map[string]*model.Model{
	"gmm-full-v1": {Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y"}, Weights: []float64{0.625, 0.375},
		Means: [][]float64{{0, -1.5}, {3.0000000000000004, 1e-300}}, Covariance: [][]float64{{1, 0.25, 0.25, 2}, {2, 1, 1, 2}},
		Transform: []model.Transform{{Kind: "standard", Center: []float64{10, -0.1}, Scale: []float64{2, 0.5}}},
		N:         new(int64(300)), LogLik: new(-1234.5),
		Certificate: json.RawMessage(`{"distance_se":0.003,"remaining_log_likelihood":4.5e-6,"method":"gain-ratio","smallest_curvature":null,"on_edge":[]}`),
		Spec:        json.RawMessage(`{"k":2}`)},
	"gmm-pca-v1": {Kind: "gmm", Shape: family.Full, Columns: []string{"x", "y", "z"}, Weights: []float64{0.625, 0.375},
		Means: [][]float64{{0, -1.5}, {3.0000000000000004, 1e-300}}, Covariance: [][]float64{{1, 0.25, 0.25, 2}, {2, 1, 1, 2}},
		Transform: []model.Transform{{Kind: "standard", Center: []float64{10, -0.1, 0}, Scale: []float64{2, 0.5, 1}},
			{Kind: "pca", Mean: []float64{0, 1e-17, -0.5}, Components: [][]float64{{0.6, 0.8, 0}, {0, 0, 1}}, Explained: []float64{0.75, 0.125}}},
		N: new(int64(300))},
	"gmm-tied-v1":           twoComponents(family.Tied, []float64{2, 1, 1, 2}),
	"gmm-diag-v1":           twoComponents(family.Diag, []float64{1, 2}, []float64{0.1, 1e-9}),
	"gmm-spherical-v1":      twoComponents(family.Spherical, []float64{0.5}, []float64{7}),
	"gmm-tied-diag-v1":      twoComponents(family.TiedDiag, []float64{0.5, 7}),
	"gmm-tied-spherical-v1": twoComponents(family.TiedSpherical, []float64{0.5}),
	"kmeans-v1": {Kind: "kmeans", Columns: []string{"x", "y"}, Means: [][]float64{{0, 0}, {3, 1}}, Sizes: []float64{20, 10.5},
		Transform: []model.Transform{}, N: new(int64(31))},
}

func twoComponents(shape family.Shape, covariance ...[]float64) *model.Model {
	return &model.Model{Kind: "gmm", Shape: shape, Columns: []string{"x", "y"}, Weights: []float64{0.5, 0.5},
		Means: [][]float64{{0, 0}, {3, 1}}, Covariance: covariance, Transform: []model.Transform{}}
}

func TestModelFilesOfVersionOne(t *testing.T) {
	t.Parallel()
	names, err := filepath.Glob("testdata/model/*.json")
	if err != nil || len(names) != len(golden) {
		t.Fatalf("%d files (%v), want %d", len(names), err, len(golden))
	}
	for _, name := range names {
		want := golden[strings.TrimSuffix(filepath.Base(name), ".json")]
		got, err := model.Load(name)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is read as %+v, want %+v", name, got, want)
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if again := saved(t, got); again != string(text) {
			t.Errorf("%s is written as\n%s", name, again)
		}
	}
}

// bits returns a number from the whole range of float64, with all its digits.
func bits(rng *rand.Rand, low, high int) float64 {
	return math.Ldexp(1+rng.Float64(), low+rng.IntN(high-low)) * float64(1-2*rng.IntN(2))
}

func TestModelsSurviveARoundTripToTheBit(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 0))
	for range 50 {
		for shape := family.Full; shape <= family.TiedSpherical+1; shape++ {
			k, d := 1+rng.IntN(4), 1+rng.IntN(4)
			m := &model.Model{Kind: "gmm", Shape: shape, Transform: []model.Transform{}, N: new(rng.Int64()), LogLik: new(bits(rng, -50, 50))}
			for range d {
				m.Columns = append(m.Columns, string(rune('a'+len(m.Columns)))+"\"<ü, \\")
			}
			weights, scaled := 0.0, rng.IntN(2) == 0
			reach, spread := 1000, 500
			if scaled { // float64 must hold the numbers in the columns' units too
				reach, spread = 600, 400
			}
			for range k {
				mean := make([]float64, d)
				for j := range mean {
					mean[j] = bits(rng, -reach, reach)
				}
				m.Means = append(m.Means, mean)
				m.Weights = append(m.Weights, rng.Float64())
				weights += m.Weights[len(m.Weights)-1]
			}
			for c := range m.Weights {
				m.Weights[c] /= weights
			}
			if scaled {
				tr := model.Transform{Kind: "robust", Center: make([]float64, d), Scale: make([]float64, d)}
				for j := range d {
					tr.Center[j], tr.Scale[j] = bits(rng, -300, 300), math.Abs(bits(rng, -300, 300))
				}
				m.Transform = append(m.Transform, tr)
			}
			if shape > family.TiedSpherical {
				m.Kind, m.Shape, m.Weights, m.Sizes = "kmeans", 0, nil, m.Weights
			} else {
				for range shape.Count(k) {
					cov := make([]float64, shape.Size(d))
					for i := range cov {
						cov[i] = math.Abs(bits(rng, -spread, spread))
					}
					if shape.Matrix() { // A A^T + I
						a := make([]float64, d*d)
						for i := range a {
							a[i] = rng.NormFloat64()
						}
						cov = make([]float64, d*d)
						for j := range d {
							for l := range j + 1 {
								v := 0.0
								if j == l {
									v = 1
								}
								for i := range d {
									v += a[j*d+i] * a[l*d+i]
								}
								cov[j*d+l], cov[l*d+j] = v, v
							}
						}
					}
					m.Covariance = append(m.Covariance, cov)
				}
			}
			text := saved(t, m)
			got := new(model.Model)
			if err := json.Unmarshal([]byte(text), got); err != nil {
				t.Fatalf("%v in\n%s", err, text)
			}
			if !reflect.DeepEqual(got, m) {
				t.Fatalf("%+v came back as %+v", m, got)
			}
			if again := saved(t, got); again != text {
				t.Fatalf("the second writing differs:\n%s\nfrom\n%s", again, text)
			}
			squeezed, err := json.Marshal(m)
			if err != nil {
				t.Fatal(err)
			}
			var indented bytes.Buffer
			if err := json.Compact(&indented, []byte(text)); err != nil || indented.String() != string(squeezed) {
				t.Fatalf("json.Marshal writes %s (%v)", squeezed, err)
			}
		}
	}
}

func TestFittedModelsSurviveTheFile(t *testing.T) {
	t.Parallel()
	src := fixtures.Table(2, rng.Normals(6, 400)...)
	for _, spec := range []Spec{{K: 2}, {K: 2, Covariance: "tied-diag", Scale: "standard"}, {Model: "kmeans", K: 3, Scale: "robust"}} {
		r := mustFit(t, src, spec)
		path := filepath.Join(t.TempDir(), "model.json")
		if err := os.WriteFile(path, []byte(saved(t, r.Model)), 0o600); err != nil {
			t.Fatal(err)
		}
		m, err := model.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		want, got := 0.0, 0.0
		for sum, m := range map[*float64]*model.Model{&want: r.Model, &got: m} {
			if err := m.Rows(context.Background(), src, 1, func(s *model.Scored) error {
				for _, v := range s.LogDensity {
					*sum += v
				}
				return nil
			}); err != nil {
				t.Fatal(err)
			}
		}
		if got != want {
			t.Errorf("%+v: scores add to %v, to %v after the file", spec, want, got)
		}
	}
}

func TestModelWithoutSizesIsComplete(t *testing.T) {
	t.Parallel()
	m := &model.Model{Kind: "kmeans", Columns: []string{"x"}, Means: [][]float64{{0}, {1}}}
	got := new(model.Model)
	if err := json.Unmarshal([]byte(saved(t, m)), got); err != nil || got.Sizes != nil || len(got.Means) != 2 {
		t.Errorf("%+v (%v) of\n%s", got, err, saved(t, m))
	}
}

// Every file refused differs from a good one in one place, and the message begins with the key that is to blame.
func TestRefusedModelFilesNameTheKey(t *testing.T) {
	t.Parallel()
	const gmm = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x", "y"],
"weights": [0.5, 0.5], "means": [[0, 0], [3, 1]], "covariances": [[[1, 0], [0, 1]], [[2, 1], [1, 2]]],
"transform": [{"kind": "standard", "center": [1, 2], "scale": [3, 4]}], "n": 300, "log_likelihood": -1.5}`
	const kmeans = `{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["x"], "centers": [[0], [1]], "sizes": [2, 3]}`
	const bernoulli = `{"format": "latent-model", "version": 1, "model": "bernoulli", "columns": ["x"], "weights": [1], "probabilities": [[0.5]],
"transform": [{"kind": "binarize", "threshold": 2}]}`
	const categorical = `{"format": "latent-model", "version": 1, "model": "categorical", "columns": ["x", "y"], "levels": [["a", "b"], ["c"]],
"weights": [1], "probabilities": [[[0.5, 0.5], [1]]], "transform": []}`
	shaped := func(shape, covariances string) [3]string {
		return [3]string{`"full"`, `"` + shape + `"`, covariances}
	}
	for _, good := range []string{gmm, kmeans, bernoulli, categorical} {
		if err := json.Unmarshal([]byte(good), new(model.Model)); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct{ file, old, new, want string }{
		{gmm, `"latent-model"`, `"pickle"`, `format: "pickle" is not`},
		{gmm, `"format": "latent-model", `, ``, "format: this key is missing"},
		{gmm, `"version": 1`, `"version": 2`, "version: 2 is not known here (the newest is 1)"},
		{gmm, `"version": 1`, `"version": 0`, "version: 0"},
		{gmm, `"version": 1`, `"version": 1.5`, "version: "},
		{gmm, `"version": 1`, `"version": null`, "version: this key is missing"},
		{gmm, `"gmm"`, `"hmn"`, `model: "hmn" is not known`},
		{gmm, `"full"`, `"round"`, "covariance: "},
		{gmm, `"covariance": "full", `, ``, "covariance: this key is missing"},
		{gmm, `"columns": ["x", "y"],`, ``, "columns: this key is missing"},
		{gmm, `["x", "y"]`, `[]`, "columns: "},
		{gmm, `["x", "y"]`, `["x", 2]`, "columns: "},
		{gmm, `["x", "y"]`, `["x", "y", "z"]`, "covariances: "},
		{gmm, `"weights": [0.5, 0.5], `, ``, "weights: this key is missing"},
		{gmm, `[0.5, 0.5]`, `[0.5, null]`, "weights: a number is missing (null)"},
		{gmm, `[0.5, 0.5]`, `[0.5, "half"]`, `weights: "half" is not a finite number`},
		{gmm, `[0.5, 0.5]`, `[0.5, 1e999]`, "weights: 1e999 is not a finite number"},
		{gmm, `[0.5, 0.5]`, `[0.5, 0.49]`, "weights: they sum to 0.99, not to 1"},
		{gmm, `[0.5, 0.5]`, `[0.5, 0.500002]`, "weights: they sum to"},
		{gmm, `[0.5, 0.5]`, `[1.5, -0.5]`, "weights: number 2 is -0.5"},
		{gmm, `[0.5, 0.5]`, `[1]`, "weights: there is 1 for 2 means"},
		{gmm, `[[0, 0], [3, 1]]`, `[]`, "means: "},
		{gmm, `[[0, 0], [3, 1]]`, `[[0, 0], [3]]`, "means: row 2 has 1 numbers"},
		{gmm, `[[0, 0], [3, 1]]`, `[[0, 0], [3, null]]`, "means: a number is missing"},
		{gmm, `[[0, 0], [3, 1]]`, `[[0, 0], null]`, "means: row 2 has 0 numbers"},
		{gmm, `[[0, 0], [3, 1]]`, `[[0, 0], [3, -1e999]]`, "means: -1e999 is not a finite number"},
		{gmm, `"means": [[0, 0], [3, 1]], `, ``, "means: this key is missing"},
		{gmm, `[[2, 1], [1, 2]]`, `[[2, 1], [0.5, 2]]`, "covariances: number 2 is not symmetric"},
		{gmm, `[[2, 1], [1, 2]]`, `[[1, 2], [2, 1]]`, "covariances: number 2 is not positive definite"},
		{gmm, `[[2, 1], [1, 2]]`, `[[0, 0], [0, 0]]`, "covariances: number 2 is not positive definite"},
		{gmm, `[[2, 1], [1, 2]]`, `[[2, 1], [1, null]]`, "covariances: a number is missing"},
		{gmm, `[[2, 1], [1, 2]]`, `[2, 2]`, "covariances: "},
		{gmm, `[[2, 1], [1, 2]]`, `[[2, 1, 0], [1, 2, 0], [0, 0, 1]]`, "covariances: "},
		{gmm, `[[2, 1], [1, 2]]`, `null`, "covariances: "},
		{gmm, `, [[2, 1], [1, 2]]]`, `]`, "covariances: there is 1, but full covariances of 2 components are 2"},
		{gmm, `"scale": [3, 4]`, `"scale": [3, 0]`, "transform: scale 2 of number 1 is 0"},
		{gmm, `"scale": [3, 4]`, `"scale": [3, -4]`, "transform: "},
		{gmm, `"scale": [3, 4]`, `"scale": [3]`, "transform: "},
		{gmm, `"center": [1, 2]`, `"center": [1, null]`, "transform: a number is missing"},
		{gmm, `"center": [1, 2]`, `"center": [1, 2e999]`, "transform: "},
		{gmm, `"standard"`, `"whiten"`, `transform: kind "whiten"`},
		{gmm, `"n": 300`, `"n": 1.5`, "n: "},
		{gmm, `"n": 300`, `"n": 300, "colour": "red"`, "colour: this key is not known"},
		{gmm, `"n": 300`, `"n": 300, "centers": [[1, 2]]`, "centers: this key is not known in a gmm model"},
		{kmeans, `"sizes": [2, 3]`, `"weights": [0.5, 0.5]`, "weights: this key is not known in a kmeans model"},
		{kmeans, `[2, 3]`, `[2]`, "sizes: there is 1 for 2 centers"},
		{kmeans, `[2, 3]`, `[2, null]`, "sizes: a number is missing"},
		{kmeans, `[[0], [1]]`, `[[0], [1, 2]]`, "centers: row 2 has 2 numbers"},
		{kmeans, `[[0], [1]]`, `[[0], [null]]`, "centers: a number is missing"},
		{kmeans, `"centers": [[0], [1]], `, ``, "centers: this key is missing"},
		{gmm, `"standard", "center": [1, 2], "scale": [3, 4]`, `"binarize", "threshold": 2`, `transform: kind "binarize" of number 1 is none that a gmm model can have`},
		{gmm, `"scale": [3, 4]`, `"scale": [3, 4], "threshold": 0.5`, "transform: number 1 has a threshold"},
		{kmeans, `"sizes"`, `"transform": [{"kind": "binarize", "threshold": 2}], "sizes"`, `transform: kind "binarize"`},
		{kmeans, `"sizes"`, `"transform": [{"kind": "robust", "center": [1], "scale": [2], "threshold": 2}], "sizes"`, "transform: number 1 has a threshold"},
		{bernoulli, `"binarize", "threshold": 2`, `"standard", "center": [1], "scale": [2]`, `transform: kind "standard" of number 1 is none that a bernoulli model can have`},
		{bernoulli, `"threshold": 2`, `"threshold": 2, "center": [1]`, "transform: number 1 binarizes by its threshold"},
		{bernoulli, `"threshold": 2`, `"threshold": 2, "scale": []`, "transform: number 1 binarizes by its threshold"},
		{bernoulli, `, "threshold": 2`, ``, "transform: number 1 has no threshold"},
		{bernoulli, `"threshold": 2`, `"threshold": null`, "transform: "},
		{categorical, `[]}`, `[{"kind": "robust", "center": [0, 0], "scale": [1, 1]}]}`, `transform: kind "robust" of number 1 is none that a categorical model can have`},
		{categorical, `[]}`, `[{"kind": "binarize", "threshold": 0}]}`, `transform: kind "binarize"`},
		{gmm, `"scale": [3, 4]`, `"scale": [3, 1e308]`, `transform: in the units of column "y" the variance of group 1 is too large or too small`},
		{gmm, `"scale": [3, 4]`, `"scale": [3e-170, 4]`, `transform: in the units of column "x" the variance of group 1 is too large or too small`},
		{kmeans, `"sizes"`, `"transform": [{"kind": "robust", "center": [1e308], "scale": [1.7e308]}], "sizes"`, `transform: in the units of column "x" group 2 lies beyond`},
		{kmeans, `"sizes"`, `"transform": [{"kind": "standard", "center": [0], "scale": [1e308]}, {"kind": "pca", "mean": [1e308], "components": [[1]]}], "sizes"`, `transform: in the units of column "x" group 1 lies beyond`},
		{gmm, `[0.5, 0.5]`, `{"a": 1}`, "weights: an object stands where a list belongs"},
		{gmm, `"columns": ["x", "y"]`, `"columns": true`, "columns: true or false stands where a list belongs"},
		{gmm, `"columns": ["x", "y"]`, `"columns": ["x", ["y"]]`, "columns: a list stands where a text belongs"},
		{gmm, `"n": 300`, `"n": 2e2`, "n: the number 2e2 stands where a whole number belongs"},
		{gmm, `"n": 300`, `"n": 300, "provenance": {"starts": {"n": 2, "agree_with_best": 3}}`, "provenance: starts.agree_with_best: it is 3, but there were 2 starts"},
		{gmm, `"n": 300`, `"n": 300, "provenance": {"column_sd": [1, 2, 3]}`, "provenance: column_sd: there are 3 for 2 columns"},
		{gmm, `"n": 300`, `"n": 300, "provenance": {"column_sd": [1, -2]}`, "provenance: column_sd: it is -2; a standard deviation is not negative"},
		{gmm, gmm, `[1]`, "a list stands where the object of a model belongs"},
		{gmm, gmm, `"gmm"`, "a text stands where the object of a model belongs"},
		{kmeans, `{"format"`, `[{"format"`, "line 1: this is not JSON"},
		{gmm, `"means": [[0, 0]`, `"means": [[NaN, 0]`, "line 2: this is not JSON"},
	} {
		if !strings.Contains(c.file, c.old) {
			t.Fatalf("%s is not in the file", c.old)
		}
		refuse(t, strings.Replace(c.file, c.old, c.new, 1), c.want)
	}
	for _, c := range []struct {
		change [3]string
		want   string
	}{
		{shaped("tied", `[[1, 0], [0, 1]], [[2, 1], [1, 2]]`), "covariances: "},
		{shaped("tied", `[1, 0], [0.5, 1]`), "covariances: number 1 is not symmetric"},
		{shaped("diag", `[1, 2], [1, 0]`), "covariances: number 2 is not positive definite"},
		{shaped("diag", `[1, 2], [1]`), "covariances: number 2 has 1 numbers"},
		{shaped("diag", `[1, 2]`), "covariances: there is 1"},
		{shaped("spherical", `1, -2`), "covariances: number 2 is not positive definite"},
		{shaped("spherical", `1, 2, 3`), "covariances: there are 3"},
		{shaped("tied-diag", `1, 2, 3`), "covariances: number 1 has 3 numbers"},
		{shaped("tied-diag", `1, null`), "covariances: a number is missing"},
		{shaped("tied-spherical", `1`), "covariances: "}, // a list where one number belongs
	} {
		file := strings.Replace(gmm, c.change[0], c.change[1], 1)
		refuse(t, strings.Replace(file, `[[1, 0], [0, 1]], [[2, 1], [1, 2]]`, c.change[2], 1), c.want)
	}
}

func refuse(t *testing.T, file, want string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "m.json")
	if err := os.WriteFile(path, []byte(file), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := model.Load(path)
	if err == nil {
		t.Errorf("accepted, want %q:\n%s", want, file)
		return
	}
	message, ok := strings.CutPrefix(err.Error(), path+": ")
	if !ok || !strings.HasPrefix(message, want) || strings.Contains(message, "\n") {
		t.Errorf("%q, want %q", message, want)
	}
}
