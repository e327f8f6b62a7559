package latent

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// nestingOf returns a JSON value with a dot in the place of each number, and of each one that is not known.
func nestingOf(t *testing.T, v any) string {
	t.Helper()
	switch v := v.(type) {
	case nil, float64:
		return "."
	case []any:
		s := "["
		for _, x := range v {
			s += nestingOf(t, x)
		}
		return s + "]"
	}
	t.Fatalf("%v is neither a number nor a list", v)
	return ""
}

// In JSON a standard error stands where its parameter does: with the same nesting, order and length as in the components of
// a result, and as in the parameters of a model file that no transform gives other units. The entries of a covariance are
// where the covariance has them: the standard error of a variance of normal rows is s^2 sqrt(2/n).
func TestStandardErrorsAreNestedLikeTheirParameters(t *testing.T) {
	t.Parallel()
	ctx := context.Background()
	table, bits, words := &data.Table{N: 400, D: 2}, &data.Table{N: 400, D: 4}, &data.Table{N: 400, D: 4}
	rng := rand.New(rand.NewPCG(4, 4))
	for i := range 400 {
		g := float64(i % 2)
		table.F64 = append(table.F64, 30*g+rng.NormFloat64(), 5*rng.NormFloat64())
		for range 4 { // enough columns to tell two groups
			bits.F64 = append(bits.F64, map[bool]float64{true: 1}[rng.Float64() < 0.1+0.7*g])
		}
		words.F64 = append(words.F64, float64(rng.IntN(2)+int(g)), map[bool]float64{true: 1}[rng.Float64() < 0.2+0.6*g], map[bool]float64{true: 1}[rng.Float64() < 0.9-0.7*g], map[bool]float64{true: 1}[rng.Float64() < 0.1+0.7*g])
	}
	levels := [][]string{{"a", "b", "c"}, {"no", "yes"}, {"no", "yes"}, {"no", "yes"}}
	type trial struct {
		src  data.Source
		spec Spec
	}
	trials := []trial{{bits, Spec{Model: "bernoulli"}}, {words, Spec{Model: "categorical", Levels: levels}}, {table, Spec{PCA: 1}}, {table, Spec{PCA: 2, Scale: "standard", Covariance: "spherical"}}}
	for _, shape := range []string{"VVV", "EEE", "VVI", "VII", "EEI", "EII", "VEI", "VEE", "EVV"} {
		for _, scale := range []string{"", "standard"} {
			trials = append(trials, trial{table, Spec{Covariance: shape, Scale: scale}})
		}
	}
	for _, c := range trials {
		c.spec.K, c.spec.NInit = 2, 1
		what := fmt.Sprintf("%s %s scale %q pca %d", c.spec.Model, c.spec.Covariance, c.spec.Scale, c.spec.PCA)
		r, err := Fit(ctx, c.src, c.spec)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		var told struct {
			Errors     map[string]any   `json:"standard_errors"`
			Components []map[string]any `json:"components"`
		}
		b, err := json.Marshal(r)
		if err != nil || json.Unmarshal(b, &told) != nil {
			t.Fatalf("%s: %v", what, err)
		}
		for key, one := range map[string]string{"weights": "weight", "means": "mean", "covariance": "covariance", "probabilities": "probability"} {
			for i, x := range told.Components {
				if x[one] == nil {
					continue
				}
				list, _ := told.Errors[key].([]any)
				if len(list) != 2 || nestingOf(t, list[i]) != nestingOf(t, x[one]) {
					t.Errorf("%s: the standard errors of %s are %v, the parameter is %v", what, one, told.Errors[key], x[one])
				}
			}
		}
		var file map[string]any
		if b, err = r.Model.MarshalJSON(); err != nil || json.Unmarshal(b, &file) != nil {
			t.Fatalf("%s: %v", what, err)
		}
		in := file["standard_errors"].(map[string]any)
		for key, one := range map[string]string{"weights": "weights", "means": "means", "covariance": "covariances", "probabilities": "probabilities"} {
			if of := file[one]; of != nil && len(r.Model.Transform) == 0 && nestingOf(t, in[key]) != nestingOf(t, of) {
				t.Errorf("%s: in the file the standard errors of %s are %v, the parameters %v", what, one, in[key], of)
			}
		}
		again := new(model.Model)
		if err := json.Unmarshal(b, again); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		if second, err := again.MarshalJSON(); err != nil || !bytes.Equal(b, second) {
			t.Errorf("%s: read and written again the file is another (%v)\n%s\n%s", what, err, b, second)
		}
		if shown, err := json.Marshal(Told(again).StandardErrors); err != nil || !bytes.Contains(mustJSON(t, r), shown) {
			t.Errorf("%s: the file tells other standard errors than the fit: %s", what, shown)
		}
		if c.spec.Covariance == "VVV" {
			for i, list := range told.Errors["covariance"].([]any) {
				for j := range 2 {
					v := told.Components[i]["covariance"].([]any)[j].([]any)[j].(float64)
					se := list.([]any)[j].([]any)[j].(float64)
					if want := v * math.Sqrt(2/200.); !(math.Abs(se/want-1) < 0.35) { // two groups of 200 rows
						t.Errorf("%s: the standard error of variance %v is %v, want about %v", what, v, se, want)
					}
				}
			}
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// Standard errors of earlier files, one list for each covariance and for all levels of a component, are read as well.
func TestStandardErrorsOfEarlierFilesAreRead(t *testing.T) {
	t.Parallel()
	head := `{"format": "latent-model", "version": 1, "columns": ["x", "y"], "weights": [0.5, 0.5], `
	for _, c := range []struct{ rest, earlier, now string }{
		{`"model": "gmm", "covariance": "full", "means": [[0, 0], [3, 1]], "covariances": [[[1, 0], [0, 1]], [[2, 1], [1, 2]]]`,
			`"means":[[1,2],[3,4]],"covariance":[[1,2,2,3],[4,null,null,6]]`, `"means":[[1,2],[3,4]],"covariance":[[[1,2],[2,3]],[[4,null],[null,6]]]`},
		{`"model": "gmm", "covariance": "tied", "means": [[0, 0], [3, 1]], "covariances": [[1, 0], [0, 1]]`,
			`"means":[[1,2],[3,4]],"covariance":[[1,2,2,3]]`, `"means":[[1,2],[3,4]],"covariance":[[1,2],[2,3]]`},
		{`"model": "gmm", "covariance": "spherical", "means": [[0, 0], [3, 1]], "covariances": [1, 2]`,
			`"means":[[1,2],[3,4]],"covariance":[[7],[8]]`, `"means":[[1,2],[3,4]],"covariance":[7,8]`},
		{`"model": "gmm", "covariance": "tied-spherical", "means": [[0, 0], [3, 1]], "covariances": 1`,
			`"means":[[1,2],[3,4]],"covariance":[[7]]`, `"means":[[1,2],[3,4]],"covariance":7`},
		{`"model": "categorical", "levels": [["a", "b"], ["c"]], "probabilities": [[[0.5, 0.5], [1]], [[0.1, 0.9], [1]]]`,
			`"probabilities":[[0.1,0.1,null],[0.2,0.2,null]]`, `"probabilities":[[[0.1,0.1],[null]],[[0.2,0.2],[null]]]`},
	} {
		for _, text := range []string{c.earlier, c.now} {
			m := new(model.Model)
			if err := json.Unmarshal([]byte(head+c.rest+`, "standard_errors": {`+text+`,"rows":9,"method":"outer products"}}`), m); err != nil {
				t.Errorf("%s: %v", text, err)
				continue
			}
			if b := mustJSON(t, m); !bytes.Contains(b, []byte(`"standard_errors":{`+c.now+`,"rows":9,"method":"outer products"}`)) {
				t.Errorf("%s is written as %s", text, b)
			}
		}
	}
}
