package model

import (
	"encoding/json"
	"reflect"
	"slices"
	"testing"
)

// A model whose components are in another order has them whole, standard errors included, and what they share once; the model that it was made of is
// as it was.
func TestReordered(t *testing.T) {
	t.Parallel()
	for name, file := range map[string]string{
		"full": `"model": "gmm", "covariance": "full", "columns": ["x", "y"], "weights": [0.5, 0.3, 0.2], "means": [[1, 2], [3, 4], [5, 6]], "covariances": [[[4, 1], [1, 9]], [[5, 1], [1, 9]], [[6, 1], [1, 9]]],
			"standard_errors": {"weights": [1, 2, 3], "means": [[1, 2], [3, 4], [5, 6]], "covariance": [[[4, 1], [1, 9]], [[5, 1], [1, 9]], [[6, 1], [1, 9]]], "rows": 10, "method": "outer products"}`,
		"tied": `"model": "gmm", "covariance": "tied", "columns": ["x", "y"], "weights": [0.5, 0.3, 0.2], "means": [[1, 2], [3, 4], [5, 6]], "covariances": [[4, 1], [1, 9]],
			"standard_errors": {"weights": [1, 2, 3], "means": [[1, 2], [3, 4], [5, 6]], "covariance": [[4, 1], [1, 9]], "rows": 10, "method": "outer products"}`,
		"centres": `"model": "kmeans", "columns": ["x", "y"], "centers": [[1, 2], [3, 4], [5, 6]], "sizes": [7, 5, 3]`,
		"mixed": `"model": "mixed", "covariance": "full", "columns": ["x", "l", "n"], "types": ["number", "category", "count"], "levels": [["a", "b"]], "weights": [0.5, 0.3, 0.2],
			"means": [[1], [2], [3]], "covariances": [[[4]], [[5]], [[6]]], "probabilities": [[[0.5, 0.5]], [[0.25, 0.75]], [[0.125, 0.875]]], "rates": [[7], [8], [9]]`,
	} {
		m, before := new(Model), new(Model)
		for _, to := range []*Model{m, before} {
			if err := json.Unmarshal([]byte(`{"format": "latent-model", "version": 1, `+file+`}`), to); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
		order := []int{2, 0, 1}
		got := m.Reordered(order)
		if err := got.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		for c, at := range order {
			a, b := got.Component(c), m.Component(at)
			if b.Label = c + 1; !reflect.DeepEqual(a, b) {
				t.Errorf("%s: in place %d is %+v, should be %+v", name, c, a, b)
			}
			if m.Sizes != nil && got.Sizes[c] != m.Sizes[at] {
				t.Errorf("%s: sizes %v of %v", name, got.Sizes, m.Sizes)
			}
		}
		if len(got.Covariance) != len(m.Covariance) {
			t.Errorf("%s: %d covariances of %d", name, len(got.Covariance), len(m.Covariance))
		}
		if e, own := m.StandardErrors, got.StandardErrors; e != nil {
			for c, at := range order {
				same := own.Weights[c] == e.Weights[at] && slices.Equal(own.Means[c], e.Means[at])
				if len(e.Covariance) > 1 {
					same = same && slices.Equal(own.Covariance[c], e.Covariance[at])
				}
				if !same {
					t.Errorf("%s: in place %d are the standard errors %+v of %+v", name, c, own, e)
				}
			}
			if len(own.Covariance) != len(e.Covariance) || own.Rows != e.Rows {
				t.Errorf("%s: standard errors %+v of %+v", name, own, e)
			}
		}
		if again := got.Reordered([]int{1, 2, 0}); !same(t, again, m) || !same(t, m, before) || same(t, got, m) {
			t.Errorf("%s: the other way it is not what it was", name)
		}
	}
}

// same reports whether two models are the same file.
func same(t *testing.T, a, b *Model) bool {
	t.Helper()
	x, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	y, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	return string(x) == string(y)
}
