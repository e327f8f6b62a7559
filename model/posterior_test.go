package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// posteriors are models of two columns with two components, of which one is in use.
var posteriors = map[string]string{
	"full": `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x", "y"], "weights": [1], "means": [[1, 2]], "covariances": [[[1, 0.25], [0.25, 2]]],
		"posterior": {"weights": "dirichlet", "concentration": [3, 1], "mean_precision": [4, 0.5], "means": [[1, 2], [-1, 0]], "dof": [8, 5], "scale": [[[8, 2], [2, 16]], [[5, -1], [-1, 3]]]}}`,
	"tied": `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "tied", "columns": ["x", "y"], "weights": [1], "means": [[1, 2]], "covariances": [[1, 0.25], [0.25, 2]],
		"posterior": {"weights": "process", "concentration": [[3, 2], [1, 4]], "mean_precision": [4, 0.5], "means": [[1, 2], [-1, 0]], "dof": 8, "scale": [[8, 2], [2, 16]]}}`,
	"diag": `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "diag", "columns": ["x", "y"], "weights": [1], "means": [[1, 2]], "covariances": [[1, 2]],
		"posterior": {"weights": "dirichlet", "concentration": [3, 1], "mean_precision": [4, 0.5], "means": [[1, 2], [-1, 0]], "dof": [8, 5], "scale": [[8, 16], [5, 3]]}}`,
	"spherical": `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x", "y"], "weights": [1], "means": [[1, 2]], "covariances": [1.5],
		"posterior": {"weights": "dirichlet", "concentration": [3, 1], "mean_precision": [4, 0.5], "means": [[1, 2], [-1, 0]], "dof": [8, 5], "scale": [12, 5]}}`,
	"tied-diag": `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "tied-diag", "columns": ["x", "y"], "weights": [1], "means": [[1, 2]], "covariances": [1, 2],
		"posterior": {"weights": "dirichlet", "concentration": [3, 1], "mean_precision": [4, 0.5], "means": [[1, 2], [-1, 0]], "dof": 8, "scale": [8, 16]}}`,
	"tied-spherical": `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "tied-spherical", "columns": ["x", "y"], "weights": [1], "means": [[1, 2]], "covariances": 1.5,
		"posterior": {"weights": "dirichlet", "concentration": [3, 1], "mean_precision": [4, 0.5], "means": [[1, 2], [-1, 0]], "dof": 8, "scale": 12}}`,
}

// at returns an entry of the scale of component c as the file holds it, and its degrees of freedom.
func at(q map[string]any, shape string, c, i, j int) (entry, dof float64) {
	scale, of := q["scale"], q["dof"]
	if !strings.HasPrefix(shape, "tied") {
		scale, of = scale.([]any)[c], of.([]any)[c]
	}
	switch v := scale.(type) {
	case float64:
		if i == j {
			entry = v
		}
	case []any:
		if row, matrix := v[i].([]any); matrix {
			entry = row[j].(float64)
		} else if i == j {
			entry = v[i].(float64)
		}
	}
	return entry, of.(float64)
}

// logT is the log density of Student's t with a scale matrix on the columns that are there (Bishop 2006, eq. B.68).
func logT(x, m []float64, s [][]float64, dof float64) float64 {
	var keep []int
	for j, v := range x {
		if v == v {
			keep = append(keep, j)
		}
	}
	d := float64(len(keep))
	if d == 0 {
		return 0
	}
	j := keep[0]
	det, square := s[j][j], (x[j]-m[j])*(x[j]-m[j])/s[j][j]
	if len(keep) == 2 {
		a, b := x[0]-m[0], x[1]-m[1]
		det = s[0][0]*s[1][1] - s[0][1]*s[1][0]
		square = (a*a*s[1][1] - 2*a*b*s[0][1] + b*b*s[0][0]) / det
	}
	u, _ := math.Lgamma((dof + d) / 2)
	v, _ := math.Lgamma(dof / 2)
	return u - v - d/2*math.Log(dof*math.Pi) - math.Log(det)/2 - (dof+d)/2*math.Log1p(square/dof)
}

// naivePredictive returns the log density of a row to come, straight from the numbers of the file.
func naivePredictive(t *testing.T, shape string) func(x []float64) float64 {
	t.Helper()
	var file map[string]any
	if err := json.Unmarshal([]byte(posteriors[shape]), &file); err != nil {
		t.Fatal(err)
	}
	q := file["posterior"].(map[string]any)
	weights := []float64{0.75, 0.25}
	if q["weights"] == "process" { // 3/4 and 1/4 x 2/6, over their sum
		weights = []float64{0.9, 0.1}
	}
	var means [2][]float64
	var scales [2][][]float64
	var dofs [2]float64
	for c := range weights {
		b := q["mean_precision"].([]any)[c].(float64)
		for _, v := range q["means"].([]any)[c].([]any) {
			means[c] = append(means[c], v.(float64))
		}
		scales[c] = [][]float64{{0, 0}, {0, 0}}
		for i := range 2 {
			for j := range 2 {
				scales[c][i][j], dofs[c] = at(q, shape, c, i, j)
				free := dofs[c]
				if shape == "full" || shape == "tied" {
					free--
				}
				scales[c][i][j] *= (1 + 1/b) / free
			}
		}
	}
	return func(x []float64) float64 {
		sum := 0.0
		for c, w := range weights {
			m, s, dof := means[c], scales[c], dofs[c]
			switch shape {
			case "full", "tied":
				sum += w * math.Exp(logT(x, m, s, dof-1))
			case "diag", "tied-diag":
				one := func(j int) float64 {
					return logT([]float64{x[j]}, []float64{m[j]}, [][]float64{{s[j][j]}}, dof)
				}
				sum += w * math.Exp(one(0)+one(1))
			default:
				sum += w * math.Exp(logT(x, m, s, dof))
			}
		}
		return math.Log(sum)
	}
}

func readModel(t *testing.T, text string) *model.Model {
	t.Helper()
	m := new(model.Model)
	if err := m.UnmarshalJSON([]byte(text)); err != nil {
		t.Fatal(err)
	}
	return m
}

func TestDensityOfAPosteriorIsThatOfRowsToCome(t *testing.T) {
	t.Parallel()
	rows := []float64{0, 0, 1, 2, -3, 5, 40, -60, 1, math.NaN(), math.NaN(), -2, math.NaN(), math.NaN()}
	src := &data.Table{N: len(rows) / 2, D: 2, F64: rows}
	for shape, text := range posteriors {
		got, err := readModel(t, text).LogDensity(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		naive := naivePredictive(t, shape)
		for i, v := range got {
			if want := naive(rows[2*i : 2*i+2]); !(math.Abs(v-want) <= 1e-12*max(math.Abs(want), 1)) {
				t.Errorf("%s: the log density of row %d is %v, want %v", shape, i+1, v, want)
			}
		}
	}
}

// The density adds up to 1 over the plane, by the trapezoidal rule in the polar angle and a radius that grows like a tangent.
func TestDensityOfAPosteriorAddsUpToOne(t *testing.T) {
	t.Parallel()
	const n = 200
	for shape, text := range posteriors {
		m := readModel(t, text)
		src := &data.Table{N: n * n, D: 2}
		var volume []float64
		for i := range n {
			for j := range n {
				u, v := (float64(i)+0.5)/n-0.5, (float64(j)+0.5)/n-0.5
				src.F64 = append(src.F64, 3*math.Tan(math.Pi*u), 3*math.Tan(math.Pi*v))
				a, b := math.Cos(math.Pi*u), math.Cos(math.Pi*v)
				volume = append(volume, 9*math.Pi*math.Pi/(a*a*b*b)/n/n)
			}
		}
		density, err := m.LogDensity(context.Background(), src)
		if err != nil {
			t.Fatal(err)
		}
		sum := 0.0
		for i, v := range density {
			sum += math.Exp(v) * volume[i]
		}
		if !(math.Abs(sum-1) <= 1e-6) {
			t.Errorf("%s: the density adds up to %v", shape, sum)
		}
	}
}

// Rows that are drawn have the distribution of the density: their share in a quadrant is its integral there, and their component is in use as
// often as it weighs.
func TestDrawsFromAPosteriorHaveItsDensity(t *testing.T) {
	t.Parallel()
	const draws, n = 40_000, 150
	for shape, text := range posteriors {
		m := readModel(t, text)
		rows, labels, err := m.Sample(draws, 7)
		if err != nil {
			t.Fatal(err)
		}
		in, used := 0.0, 0.0
		for i, label := range labels {
			if rows.F64[2*i] > 1 && rows.F64[2*i+1] < 1 {
				in++
			}
			if label == 0 {
				used++
			} else if label != -1 {
				t.Fatalf("%s: a row is of component %d", shape, label)
			}
		}
		integral, naive := 0.0, naivePredictive(t, shape)
		for i := range n {
			for j := range n { // x from 1 up, y from 1 down
				u, v := (float64(i)+0.5)/n/2, (float64(j)+0.5)/n/2
				x := []float64{1 + 2*math.Tan(math.Pi*u), 1 - 2*math.Tan(math.Pi*v)}
				a, b := math.Cos(math.Pi*u), math.Cos(math.Pi*v)
				integral += math.Exp(naive(x)) * math.Pi * math.Pi / (a * a * b * b) / n / n
			}
		}
		within := func(got, p float64) bool { return math.Abs(got/draws-p) <= 5*math.Sqrt(p*(1-p)/draws) }
		share := map[bool]float64{true: 0.9, false: 0.75}[shape == "tied"]
		if !within(in, integral) || !within(used, share) {
			t.Errorf("%s: %v of %v draws in the quadrant, want %v; %v of the component in use, want %v", shape, in, draws, integral*draws, used, share*draws)
		}
	}
}

// Columns in another order are the same model, and so is the file that it writes.
func TestPosteriorGoesWithItsColumns(t *testing.T) {
	t.Parallel()
	for shape, text := range posteriors {
		m := readModel(t, text)
		turned, err := m.Arranged([]string{"y", "x"}, nil)
		if err != nil {
			t.Fatal(err)
		}
		if err := turned.Validate(); err != nil {
			t.Errorf("%s: %v", shape, err)
		}
		a, err := m.LogDensity(context.Background(), &data.Table{N: 1, D: 2, F64: []float64{3, -1}})
		if err != nil {
			t.Fatal(err)
		}
		b, err := turned.LogDensity(context.Background(), &data.Table{N: 1, D: 2, F64: []float64{-1, 3}})
		if err != nil || !(math.Abs(a[0]-b[0]) <= 1e-13) {
			t.Errorf("%s: log densities %v and %v (%v)", shape, a[0], b, err)
		}
		out, err := m.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		again, err := readModel(t, string(out)).MarshalJSON()
		if err != nil || string(again) != string(out) {
			t.Errorf("%s: written %s, read and written again %s (%v)", shape, out, again, err)
		}
	}
}

func TestPosteriorThatDoesNotFitIsRefused(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ shape, from, to, says string }{
		{"full", `"weights": "dirichlet"`, `"weights": "beta"`, "posterior: weights"},
		{"full", `"concentration": [3, 1]`, `"concentration": [3, 0]`, "concentration: number 2"},
		{"full", `"concentration": [3, 1]`, `"concentration": [3, 1, 1]`, "concentration: there are 3"},
		{"full", `"mean_precision": [4, 0.5]`, `"mean_precision": [4, -1]`, "mean_precision: number 2"},
		{"full", `"mean_precision": [4, 0.5], `, ``, "mean_precision: this key is missing"},
		{"full", `"dof": [8, 5]`, `"dof": [8, 1]`, "dof: number 2 is 1; it must be above 1"},
		{"full", `"dof": [8, 5]`, `"dof": 8`, "dof"},
		{"full", `[[5, -1], [-1, 3]]`, `[[5, -4], [-4, 3]]`, "scale: number 2 is not positive definite"},
		{"full", `"dof": [8, 5]`, `"dof": [8, 5], "extra": 1`, `the key "extra" is not known`},
		{"full", `[[1, 2], [-1, 0]]`, `[[1, 2.1], [-1, 0]]`, "mean 1 of the model"},
		{"full", `[[8, 2], [2, 16]]`, `[[8, 2], [2, 17]]`, "covariance 1 of the model"},
		{"full", `"weights": [1], "means": [[1, 2]], "covariances": [[[1, 0.25], [0.25, 2]]]`, `"weights": [0.5, 0.5], "means": [[1, 2], [-1, 0]], "covariances": [[[1, 0.25], [0.25, 2]], [[1, -0.2], [-0.2, 0.6]]]`, "weight 1 is 0.5, but it expects 0.75"},
		{"tied", `[[3, 2], [1, 4]]`, `[[3, 2], [1]]`, "concentration"},
		{"tied", `[[3, 2], [1, 4]]`, `[[3, 2], [1, -4]]`, "both must be above 0"},
		{"tied", `"dof": 8`, `"dof": [8]`, "dof"},
		{"diag", `"dof": [8, 5]`, `"dof": [8, 0]`, "dof: number 2 is 0; it must be above 0"},
		{"diag", `[[8, 16], [5, 3]]`, `[[8, 16], [5]]`, "scale: number 2 has 1 number"},
		{"spherical", `"scale": [12, 5]`, `"scale": [12]`, "scale: there is 1"},
	} {
		text := strings.Replace(posteriors[c.shape], c.from, c.to, 1)
		if text == posteriors[c.shape] {
			t.Fatalf("%q is not in the file", c.from)
		}
		if err := new(model.Model).UnmarshalJSON([]byte(text)); err == nil || !strings.Contains(err.Error(), c.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s for %s: %v, want one line with %q", c.to, c.from, err, c.says)
		}
	}
	for name, spoil := range map[string]func(*model.Posterior){ // of a program
		"scale":          func(p *model.Posterior) { p.Scale[1] = []float64{5, -4, -4, 3} },
		"dof":            func(p *model.Posterior) { p.Dof[0] = -1 },
		"mean precision": func(p *model.Posterior) { p.MeanPrecision[0] = math.NaN() },
	} {
		m := new(model.Model)
		if err := m.UnmarshalJSON([]byte(posteriors["full"])); err != nil {
			t.Fatal(err)
		}
		spoil(m.Posterior)
		var wrong *model.ModelError
		if _, err := m.Scorer(); !errors.As(err, &wrong) {
			t.Errorf("%s: Scorer: %v", name, err)
		}
		if _, err := m.Sampler(1); !errors.As(err, &wrong) {
			t.Errorf("%s: Sampler: %v", name, err)
		}
	}
	other := strings.Replace(posteriors["full"], `"covariance": "full"`, `"covariance": "VVE"`, 1)
	if err := new(model.Model).UnmarshalJSON([]byte(other)); err == nil {
		t.Error("a posterior of covariances with common axes was read")
	}
	km := fmt.Sprintf(`{"format": "latent-model", "version": 1, "model": "kmeans", "columns": ["x"], "centers": [[0]], "posterior": %s}`, `{}`)
	if err := new(model.Model).UnmarshalJSON([]byte(km)); err == nil {
		t.Error("k-means with a posterior was read")
	}
}
