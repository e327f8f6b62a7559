package model

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
)

// changed returns a model whose file holds these keys.
func changed(t *testing.T, keys string) *Model {
	t.Helper()
	m := new(Model)
	if err := json.Unmarshal([]byte(`{"format":"latent-model","version":1,`+keys+`}`), m); err != nil {
		t.Fatal(err)
	}
	return m
}

// densities returns the log densities of rows.
func densities(t *testing.T, m *Model, rows *data.Table) []float64 {
	t.Helper()
	var list []float64
	err := m.Rows(context.Background(), rows, 1, func(s *Scored) error {
		list = append(list, s.LogDensity...)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// The density of a column on another scale is one in the user's units: over all numbers that the column may hold it integrates to 1. The integral is taken by
// Simpson's rule over the normal quantile, from where both ends have less than 1e-14.
func TestDensitiesOnOtherScalesIntegrateToOne(t *testing.T) {
	t.Parallel()
	for kind, back := range map[string]func(y float64) float64{
		"log": math.Exp, "log1p": math.Expm1, "logit": func(y float64) float64 { return 1 / (1 + math.Exp(-y)) },
		"sqrt": func(y float64) float64 { return y * y },
	} {
		mean := 0.3
		if kind == "sqrt" {
			mean = 9 // so that no root is below 0
		}
		for _, scale := range []string{"", `,{"kind":"standard","center":[2],"scale":[3]}`} {
			m := changed(t, `"model":"gmm","columns":["x"],"transform":[{"kind":"`+kind+`","columns":["x"]}`+scale+`],"covariance":"full","weights":[0.5,0.5],"means":[[0],[0.2]],"covariances":[[[0.04]],[[0.01]]]`)
			m.Means[0][0] += mean
			m.Means[1][0] += mean
			unit, center := 1.0, 0.0
			if scale != "" {
				unit, center = 3, 2
			}
			const n = 4000
			lo, hi := unit*(mean-1.6)+center, unit*(mean+1.8)+center
			h := (hi - lo) / n
			sum := 0.0
			for i := range n + 1 {
				y := lo + h*float64(i)
				x := back(y)
				slope := (back(y+1e-5) - back(y-1e-5)) / 2e-5 // dx/dy
				w := 2.0 + 2*float64(i%2)
				if i == 0 || i == n {
					w = 1
				}
				sum += w * h / 3 * math.Exp(densities(t, m, &data.Table{N: 1, D: 1, F64: []float64{x}})[0]) * slope
			}
			if math.Abs(sum-1) > 1e-7 {
				t.Errorf("%s%s: the density integrates to %v", kind, scale, sum)
			}
		}
	}
}

// Rows, Scorer and the log-normal density agree; a row with gaps has the density of what is there.
func TestDensitiesOnOtherScalesAreThoseOfFormulas(t *testing.T) {
	t.Parallel()
	m := changed(t, `"model":"gmm","columns":["a","b"],"transform":[{"kind":"log","columns":["b"]}],"covariance":"diag","weights":[1],"means":[[1,2]],"covariances":[[4,0.25]]`)
	normal := func(x, mean, sd float64) float64 {
		return -math.Log(sd) - math.Log(2*math.Pi)/2 - (x-mean)*(x-mean)/(2*sd*sd)
	}
	nan := math.NaN()
	rows := &data.Table{N: 3, D: 2, F64: []float64{0.5, 3, nan, 7, 2, nan}}
	want := []float64{normal(0.5, 1, 2) + normal(math.Log(3), 2, 0.5) - math.Log(3), normal(math.Log(7), 2, 0.5) - math.Log(7), normal(2, 1, 2)}
	scorer, err := m.Scorer()
	if err != nil {
		t.Fatal(err)
	}
	for i, got := range densities(t, m, rows) {
		if math.Abs(got-want[i]) > 1e-12 {
			t.Errorf("row %d has log density %v, want %v", i+1, got, want[i])
		}
		s, err := scorer.Score(rows.F64[2*i : 2*i+2])
		if err != nil {
			t.Fatal(err)
		}
		if s.LogDensity[0] != got {
			t.Errorf("row %d alone has log density %v, in a table %v", i+1, s.LogDensity[0], got)
		}
	}
	if mean := m.UserMean(0); mean[0] != 1 || math.Abs(mean[1]-math.Exp(2)) > 1e-12 {
		t.Errorf("the mean is told as %v", mean)
	}
}

// P-values are those of the rows on the other scale, under the model of such rows: no scale changes which rows are rare there.
func TestPValuesOnOtherScales(t *testing.T) {
	t.Parallel()
	keys := `,"covariance":"diag","weights":[0.5,0.5],"means":[[1,2],[3,3]],"covariances":[[4,0.25],[1,1]]`
	m := changed(t, `"model":"gmm","columns":["a","b"],"transform":[{"kind":"log","columns":["b"]},{"kind":"standard","center":[0.5,1],"scale":[2,3]}]`+keys)
	bare := changed(t, `"model":"gmm","columns":["a","b"]`+keys)
	nan := math.NaN()
	x := []float64{1, 2, 3, math.Exp(20), nan, math.Exp(7), 9, nan}
	y := slices.Clone(x)
	for i := range 4 {
		y[2*i], y[2*i+1] = (x[2*i]-0.5)/2, (math.Log(x[2*i+1])-1)/3
	}
	var p [2][]float64
	for k, of := range []*Model{m, bare} {
		tail, err := of.Tail(2000, 7, 1)
		if err != nil {
			t.Fatal(err)
		}
		err = of.Rows(context.Background(), &data.Table{N: 4, D: 2, F64: [][]float64{x, y}[k]}, 1, func(s *Scored) error {
			for i := range s.N {
				v, err := tail.P(context.Background(), s, i)
				if err != nil {
					return err
				}
				p[k] = append(p[k], v)
			}
			odd, ok, err := tail.Oddest(context.Background(), s, 1)
			if k == 0 && (!ok || odd.Name != "b" || !strings.HasPrefix(odd.Value, "485,165,195")) {
				t.Errorf("the oddest cell of row 2 is %v, want b of exp(20) = 485,165,195", odd)
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if !slices.Equal(p[0], p[1]) {
		t.Errorf("p-values %v, of rows on the other scale %v", p[0], p[1])
	}
}

// A place tells where a column is told, and arranged columns keep their scales, latitude and longitude too.
func TestColumnsOnOtherScalesInAnotherOrder(t *testing.T) {
	t.Parallel()
	m := changed(t, `"model":"mixed","columns":["c","lat","n","lon","p"],"types":["category","number","count","number","number"],"levels":[["f","m"]],
		"transform":[{"kind":"geo","columns":["lat","lon"]},{"kind":"log","columns":["p"]}],"covariance":"diag","weights":[0.5,0.5],"means":[[1,0,0,2],[0,1,0,3]],
		"covariances":[[1,2,3,4],[4,3,2,1]],"probabilities":[[[0.5,0.5]],[[0.1,0.9]]],"rates":[[1],[2]]`)
	for j, want := range []Place{{Kind: "categorical", Part: 1, At: 0, Variable: 0}, {Kind: "gmm", At: 0, Variable: 0, Scale: "geo"}, {Kind: "poisson", Part: 2}, {Kind: "gmm", At: 1, Variable: 0, Scale: "geo"}, {Kind: "gmm", At: 2, Variable: 3, Scale: "log"}} {
		got := m.Places()[j]
		if got.Levels = nil; got.Kind != want.Kind || got.Part != want.Part || got.At != want.At || got.Variable != want.Variable || got.Scale != want.Scale {
			t.Errorf("column %d is at %+v, want %+v", j, got, want)
		}
	}
	other, err := m.Arranged([]string{"p", "lon", "lat", "c", "n"}, [][]string{nil, nil, nil, {"f", "m"}, nil})
	if err != nil {
		t.Fatal(err)
	}
	a := densities(t, m, &data.Table{N: 2, D: 5, F64: []float64{0, 10, 3, 20, 5, 1, -80, 0, 170, 0.5}})
	b := densities(t, other, &data.Table{N: 2, D: 5, F64: []float64{5, 20, 10, 0, 3, 0.5, 170, -80, 1, 0}})
	for i := range a {
		if math.Abs(a[i]-b[i]) > 1e-12 {
			t.Errorf("row %d has log density %v, and %v with the columns in another order", i+1, a[i], b[i])
		}
	}
	if mean := m.Component(1).Mean; math.Abs(mean[0]) > 1e-12 || math.Abs(mean[1]-90) > 1e-12 || math.Abs(mean[2]-math.Exp(3)) > 1e-12 {
		t.Errorf("group 2 is told at %v, want 0 and 90 degrees and exp(3)", mean)
	}
}

// What a file says of scales is read strictly, and written as it was.
func TestFilesWithScales(t *testing.T) {
	t.Parallel()
	file := func(transform string) []byte {
		return []byte(`{"format":"latent-model","version":1,"model":"gmm","columns":["a","b"],"transform":` + transform + `,"covariance":"spherical","weights":[1],"means":[[1,2]],"covariances":[1]}`)
	}
	whole := `[{"kind":"log","columns":["a"]},{"kind":"date","columns":["b"],"origin":"2024-01-31T12:00:00Z"},{"kind":"standard","center":[1,2],"scale":[1,2]}]`
	m := new(Model)
	if err := json.Unmarshal(file(whole), m); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if _, err := m.WriteTo(&b); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(b.String(), whole) {
		t.Errorf("the transform is not written as it was read:\n%s", b.String())
	}
	for transform, says := range map[string]string{
		`[{"kind":"log","columns":["prize"]}]`:                                                   `"prize", which is not among those of the model; the nearest names are`,
		`[{"kind":"log","columns":["a"]},{"kind":"sqrt","columns":["a"]}]`:                       `"a" twice`,
		`[{"kind":"log","columns":["a","a"]}]`:                                                   `"a" twice`,
		`[{"kind":"log"}]`:                                                                       "log names no column",
		`[{"kind":"log","columns":["a"],"scale":[1]}]`:                                           "can have no numbers",
		`[{"kind":"log","columns":["a"],"origin":"2024-01-31"}]`:                                 "an origin belongs to date",
		`[{"kind":"date","columns":["a"]}]`:                                                      "an origin belongs to date",
		`[{"kind":"date","columns":["a"],"origin":"31.1.2024"}]`:                                 "is not a date such as",
		`[{"kind":"date","columns":["a"],"origin":"2024-02-30"}]`:                                "is not a date such as",
		`[{"kind":"standard","center":[1,2],"scale":[1,2]},{"kind":"log","columns":["a"]}]`:      "must come before",
		`[{"kind":"standard","center":[1,2],"scale":[1,2],"columns":["a"]}]`:                     "columns or an origin",
		`[{"kind":"geo","columns":["a"]}]`:                                                       "geo takes two columns",
		`[{"kind":"ln","columns":["a"]}]`:                                                        `"ln" of number 1 is not known`,
		`[{"kind":"log","columns":["a"],"base":2}]`:                                              "base",
		`[{"kind":"geo","columns":["a","b"]}]`:                                                   "means",
		`[{"kind":"log","columns":["a"]},{"kind":"standard","center":[800,1],"scale":[1e-9,1]}]`: "beyond what a float64 holds",
	} {
		if err := json.Unmarshal(file(transform), new(Model)); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%s: the error is %v, want one that says %q", transform, err, says)
		}
	}
	bits := `{"format":"latent-model","version":1,"model":"bernoulli","columns":["a"],"transform":[{"kind":"log","columns":["a"]}],"weights":[1],"probabilities":[[0.5]]}`
	if err := json.Unmarshal([]byte(bits), new(Model)); err == nil || !strings.Contains(err.Error(), "none that a bernoulli model can have") {
		t.Errorf("bits on a scale: the error is %v", err)
	}
}
