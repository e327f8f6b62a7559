package model

import (
	"context"
	"math"
	"testing"
)

// The pooled moments of clusters are those of rows drawn from their components, in every kind of column and on other scales; the weights add up.
func TestPooledMomentsAreThoseOfTheMixture(t *testing.T) {
	t.Parallel()
	const head = `{"format": "latent-model", "version": 1, `
	for name, file := range map[string]string{
		"full": head + `"model": "gmm", "covariance": "full", "columns": ["x", "y"], "weights": [0.5, 0.3, 0.2], "means": [[0, 0], [3, 1], [8, 9]],
		 "covariances": [[[1, 0.5], [0.5, 2]], [[2, -1], [-1, 1]], [[1, 0], [0, 1]]], "clusters": [1, 1, 2]}`,
		"tied": head + `"model": "gmm", "covariance": "tied", "columns": ["x", "y"], "weights": [0.5, 0.3, 0.2], "means": [[0, 0], [3, 1], [8, 9]],
		 "covariances": [[1, 0.5], [0.5, 2]], "clusters": [1, 1, 2]}`,
		"spherical": head + `"model": "gmm", "covariance": "tied-spherical", "columns": ["x", "y"], "weights": [0.5, 0.3, 0.2], "means": [[0, 0], [3, 1], [8, 9]],
		 "covariances": 2, "clusters": [1, 1, 2]}`,
		"scaled": head + `"model": "gmm", "covariance": "diag", "columns": ["x", "y"], "weights": [0.5, 0.3, 0.2], "means": [[0, 0], [3, 1], [8, 9]],
		 "covariances": [[1, 2], [2, 1], [1, 1]], "clusters": [1, 1, 2], "transform": [{"kind": "standard", "center": [10, 20], "scale": [2, 3]}]}`,
		"mixed": head + `"model": "mixed", "covariance": "diag", "columns": ["x", "sex", "visits"], "types": ["number", "category", "count"], "levels": [["f", "m"]],
		 "weights": [0.5, 0.3, 0.2], "means": [[0], [3], [9]], "covariances": [[1], [2], [1]], "probabilities": [[[0.5, 0.5]], [[0.2, 0.8]], [[0.1, 0.9]]], "rates": [[2], [5], [9]], "clusters": [1, 1, 2]}`,
		"bits": head + `"model": "bernoulli", "columns": ["a", "b"], "weights": [0.5, 0.3, 0.2], "probabilities": [[0.9, 0.8], [0.4, 0.6], [0.1, 0.1]], "clusters": [1, 1, 2]}`,
	} {
		m := parsed(t, []byte(file))
		pooled := m.Pooled()
		if err := pooled.Validate(); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if pooled.K() != 2 || math.Abs(pooled.Weights[0]-0.8) > 1e-15 || m.Clusters == nil || pooled.Clusters != nil {
			t.Errorf("%s: weights %v", name, pooled.Weights)
		}
		const n = 200_000
		s, err := m.Sampler(3)
		if err != nil {
			t.Fatal(err)
		}
		d := m.D()
		x, mean, square, rows := make([]float64, d), make([]float64, d), make([]float64, d*d), 0.0
		for range n {
			if m.LabelOf(s.Draw(x)) != 0 {
				continue
			}
			rows++
			for j, v := range x {
				mean[j] += v
				for l, u := range x {
					square[j*d+l] += v * u
				}
			}
		}
		one := pooled.Component(0)
		for j := range d {
			mean[j] /= rows
			want, at := mean[j], 0.0
			place := m.Places()[j]
			switch {
			case one.Rate != nil && j == 2:
				at = one.Rate[place.At]
			case one.Probability != nil && name == "bits":
				at = one.Probability.([]float64)[j]
			case one.Probability != nil && j == 1:
				at = one.Probability.([][]float64)[place.At][1]
			default:
				at = one.Mean[place.At]
			}
			sd := math.Sqrt(square[j*d+j]/rows - mean[j]*mean[j])
			if math.Abs(at-want) > 5*sd/math.Sqrt(rows) {
				t.Errorf("%s, column %d: mean %v, of draws %v", name, j, at, want)
			}
			if one.Covariance == nil || place.Variable < 0 || name == "mixed" && j > 0 {
				continue
			}
			for l := range d {
				if name == "mixed" && l > 0 || !one.Covariance.IsMatrix() && l != j {
					continue
				}
				drawn := square[j*d+l]/rows - mean[j]*mean[l]
				if got := one.Covariance.At(j, l); math.Abs(got-drawn) > 0.03*sd*math.Sqrt(square[l*d+l]/rows-mean[l]*mean[l]) {
					t.Errorf("%s: covariance %d, %d is %v, of draws %v", name, j, l, got, drawn)
				}
			}
		}
	}
	plain := parsed(t, []byte(head+`"model": "bernoulli", "columns": ["a"], "weights": [1], "probabilities": [[0.9]]}`))
	if plain.Pooled() != plain || plain.Unmerged() != plain || plain.NumLabels() != 1 || plain.LabelOf(0) != 0 {
		t.Error("a model whose components are not merged")
	}
}

// Sample labels rows as Predict does: by clusters.
func TestSamplesAreLabelledByCluster(t *testing.T) {
	t.Parallel()
	m := parsed(t, []byte(`{"format": "latent-model", "version": 1, "model": "gmm", "covariance": "spherical", "columns": ["x"], "weights": [0.4, 0.4, 0.2], "means": [[0], [100], [1]], "covariances": [1, 1, 1], "clusters": [2, 1, 2]}`))
	rows, labels, err := m.Sample(500, 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Predict(context.Background(), rows)
	if err != nil {
		t.Fatal(err)
	}
	for i, x := range rows.F64 {
		want := int32(1)
		if x > 50 {
			want = 0
		}
		if labels[i] != want || got[i] != want {
			t.Fatalf("row %v is drawn from %d and labelled %d, want %d", x, labels[i], got[i], want)
		}
	}
}
