package studio

import (
	"slices"
	"testing"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/model"
)

// Of a merged model the table is of clusters: their weights are sums, their moments those of both components.
func TestTheTableOfGroupsIsOfClusters(t *testing.T) {
	m := new(model.Model)
	if err := m.UnmarshalJSON([]byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "full", "columns": ["x"], "weights": [0.25, 0.5, 0.25], "means": [[0], [30], [4]],
		"covariances": [[[1]], [[1]], [[1]]], "clusters": [1, 2, 1]}`)); err != nil {
		t.Fatal(err)
	}
	got := groupsOf(latent.Told(m))
	if !slices.Equal(got.Weights, []float64{0.5, 0.5}) || !slices.Equal(got.Shares, []string{"50.0 %", "50.0 %"}) || len(got.Lines) != 1 {
		t.Fatalf("%+v", got)
	}
	if want := []string{"16 (14.11)", "2 (2.24)", "30 (1.00)"}; !slices.Equal(got.Lines[0].Cells, want) { // 5 = 1 + 2^2, 199 = (5 + 1)/2 + 14^2
		t.Errorf("%q, want %q", got.Lines[0].Cells, want)
	}
}

// The table of groups has the columns of every type in their own places: means of 0 and 10 with a variance of 1, and levels that the groups have for certain.
func TestTheTableOfGroupsHasColumnsOfEveryType(t *testing.T) {
	m := new(model.Model)
	if err := m.UnmarshalJSON([]byte(`{"format": "latent-model", "version": 1, "model": "mixed", "covariance": "full", "columns": ["c", "x"], "types": ["category", "number"],
		"levels": [["u", "v", "w"]], "weights": [0.5, 0.5], "means": [[0], [10]], "covariances": [[[1]], [[1]]], "probabilities": [[[1, 0, 0]], [[0, 0.5, 0.5]]]}`)); err != nil {
		t.Fatal(err)
	}
	got := map[string][]string{}
	for _, l := range groupsOf(latent.Told(m)).Lines {
		got[l.Name] = l.Cells
	}
	for name, want := range map[string][]string{"x": {"5 (5.10)", "0 (1.00)", "10 (1.00)"}, "u": {"50 %", "100 %", "0 %"}, "w": {"25 %", "0 %", "50 %"}} { // 26 = 1 + 5^2
		if !slices.Equal(got[name], want) {
			t.Errorf("%s: %q, want %q", name, got[name], want)
		}
	}
}
