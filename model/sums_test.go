package model

import (
	"strings"
	"testing"
)

// kept is a model of two groups in one column, with the sums of the rows -1, 1, 9 and 11.
const kept = `{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.5, 0.5], "means": [[0], [10]],
 "covariances": [1, 1], "sums": {"rows": 4, "weight": 4, "log_density": {"mean": -2.1, "variance": 0}, "entropy": 0, "seen": [4], "origin": [0], "groups": [2, 2],
 "values": [0, 0, 2, 2, 2, 2]}}`

// Sums are read back as they were, and what cannot be sums of the model is refused.
func TestSumsAreReadAndChecked(t *testing.T) {
	m := new(Model)
	if err := m.UnmarshalJSON([]byte(kept)); err != nil {
		t.Fatal(err)
	}
	if s := m.Sums; s.Rows != 4 || s.Weight != 4 || s.LogDensity.Mean != -2.1 || s.Entropy == nil || s.Cost != nil || len(s.Values) != 6 {
		t.Errorf("%+v", s)
	}
	b, err := m.MarshalJSON()
	if err != nil || !strings.Contains(string(b), `"sums": {"rows":4,"weight":4,"log_density":{"mean":-2.1,"variance":0},"entropy":0,"seen":[4],"origin":[0],"groups":[2,2],"values":[0,0,2,2,2,2]}`) {
		t.Errorf("%s %v", b, err)
	}
	for _, try := range []struct{ from, to, says string }{
		{`"rows": 4`, `"rows": 0`, "of 0 rows"},
		{`"rows": 4, "weight"`, `"weight"`, "rows or weight is missing"},
		{`"weight": 4`, `"weight": -4`, "weight -4"},
		{`"weight": 4`, `"weight": 5`, "they sum to 4"},
		{`"mean": -2.1, `, ``, "log_density must have mean and variance"},
		{`"variance": 0`, `"variance": -1`, "the variance is -1"},
		{`"variance": 0`, `"variance": null`, "log_density must have mean and variance"},
		{`"entropy": 0`, `"cost": 0`, "a mixture has entropy"},
		{`"seen": [4]`, `"seen": [5]`, "seen: number 1 is 5"},
		{`"seen": [4]`, `"seen": []`, "seen: it has 0 numbers for 1 variable"},
		{`"origin": [0]`, `"origin": [0, 0]`, "origin: it has 2 numbers for 1 variable"},
		{`"groups": [2, 2]`, `"groups": [4]`, "groups: there is 1 for 2 components"},
		{`"groups": [2, 2]`, `"groups": [5, -1]`, "groups: number 2 is -1"},
		{`"values": [0, 0, 2, 2, 2, 2]`, `"values": [0, 0, 2, 2]`, "values: there are 4, but a model of this kind and size has 6"},
		{`"values": [0, 0, 2, 2, 2, 2]`, `"values": [0, 0, 2, 2, 2, "x"]`, "is not a finite number"},
		{`"groups"`, `"more": 1, "groups"`, "more"},
		{`{"rows"`, `[{"rows"`, "line"},
	} {
		err := new(Model).UnmarshalJSON([]byte(strings.Replace(kept, try.from, try.to, 1)))
		if err == nil || !strings.Contains(err.Error(), try.says) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v, want %q", try.to, err, try.says)
		}
	}
	medians := `{"format": "latent-model", "version": 1, "model": "kmedians", "columns": ["x"], "centers": [[0]], "sums": {"rows": 1, "weight": 1, "log_density": {"mean": 0, "variance": 0}, "cost": 0, "seen": [1], "origin": [0], "groups": [1], "values": []}}`
	if err := new(Model).UnmarshalJSON([]byte(medians)); err == nil || !strings.Contains(err.Error(), "sums: a kmedians model has none") {
		t.Error(err)
	}
}

// What an update remembers must be possible.
func TestUpdateIsChecked(t *testing.T) {
	for _, try := range []struct{ update, says string }{
		{`{"forget": 0}`, "forget: it is 0"},
		{`{"forget": 1, "weight": -1}`, "weight, old_weight"},
		{`{"forget": 1, "rows": -1}`, "rows: it is -1"},
		{`{"forget": 1, "when": 1}`, "when"},
	} {
		file := strings.TrimSuffix(kept, "}") + `, "provenance": {"rows": 4, "update": ` + try.update + `}}`
		if err := new(Model).UnmarshalJSON([]byte(file)); err == nil || !strings.Contains(err.Error(), try.says) {
			t.Errorf("%s: %v", try.update, err)
		}
	}
}
