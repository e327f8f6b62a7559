package model

import (
	"encoding/json"
	"math"
	"slices"
	"testing"
)

// Varimax turns the factors of a model and nothing else: covariances and uniquenesses stay, and errors of loadings in another position are none of these.
// Each variable loads on one factor before the factors are turned by 30 degrees, so that varimax gives those loadings back.
func TestVarimaxTurnsLoadingsAlone(t *testing.T) {
	t.Parallel()
	plain := [][2]float64{{3, 0}, {2, 0}, {1.5, 0}, {0, 2}, {0, 1.5}}
	sin, cos := math.Sincos(math.Pi / 6)
	turned, errors := make([][]float64, len(plain)), make([][]float64, len(plain))
	for j, l := range plain {
		turned[j], errors[j] = []float64{cos*l[0] - sin*l[1], sin*l[0] + cos*l[1]}, []float64{0.1, 0.2}
	}
	file, err := json.Marshal(map[string]any{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "factors", "columns": []string{"a", "b", "c", "d", "e"},
		"weights": []float64{1}, "means": [][]float64{{0, 0, 0, 0, 0}}, "loadings": [][][]float64{turned}, "uniquenesses": [][]float64{{1, 2, 1, 0.5, 1}},
		"standard_errors": map[string]any{"rows": 50, "method": "observed information", "means": [][]float64{{1, 1, 1, 1, 1}}, "loadings": [][][]float64{errors}, "uniquenesses": [][]float64{{0.1, 0.1, 0.1, 0.1, 0.1}}}})
	if err != nil {
		t.Fatal(err)
	}
	m := parsed(t, file)
	own, err := m.Varimax()
	if err != nil {
		t.Fatal(err)
	}
	for j, l := range plain {
		for f, want := range l {
			if got := own.Loadings[0][j*2+f]; math.Abs(got-want) > 1e-9 {
				t.Errorf("loading %d of variable %d is %v, want %v", f+1, j+1, got, want)
			}
		}
		for i := range plain {
			want := l[0]*plain[i][0] + l[1]*plain[i][1]
			if i == j {
				want += m.Uniquenesses[0][j]
			}
			for _, x := range []*Model{m, own} {
				if got := x.Component(0).Covariance.At(i, j); math.Abs(got-want) > 1e-9 {
					t.Errorf("covariance of variables %d and %d is %v, want %v", i+1, j+1, got, want)
				}
			}
		}
	}
	if e := own.StandardErrors; slices.ContainsFunc(e.Loadings[0], func(v float64) bool { return v == v }) || e.Uniquenesses[0][0] != 0.1 {
		t.Errorf("standard errors %v, %v", e.Loadings, e.Uniquenesses)
	}
	if m.StandardErrors.Loadings[0][1] != 0.2 || m.Loadings[0][0] != turned[0][0] {
		t.Error("the model itself was changed")
	}
	again, err := json.Marshal(own)
	if err != nil {
		t.Fatal(err)
	}
	parsed(t, again)
}

// Standard errors of some parameters alone are refused, not left out.
func TestErrorsOfFactorsNeedThoseOfMeans(t *testing.T) {
	t.Parallel()
	err := new(Model).UnmarshalJSON([]byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "ppca", "columns": ["a", "b", "c"], "weights": [1], "means": [[0, 0, 0]],
		"loadings": [[[1], [2], [1]]], "uniquenesses": [1], "standard_errors": {"loadings": [[[0.1], [0.2], [0.1]]], "uniquenesses": [[0.1]], "rows": 9, "method": "observed information"}}`))
	if want := "standard_errors: means, loadings and uniquenesses are needed"; err == nil || err.Error() != want {
		t.Errorf("%v, want %s", err, want)
	}
}
