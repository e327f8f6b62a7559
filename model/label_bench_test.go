package model_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// Labels of k-means alone, and with all that Rows tells.
func BenchmarkLabels(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, k := range []int{2, 8, 64, 1000} {
		const n, d = 200_000, 16
		means := make([][]float64, k)
		for c := range means {
			means[c] = make([]float64, d)
			for j := range means[c] {
				means[c][j] = rng.NormFloat64()
			}
		}
		src := &data.Table{N: n, D: d, F64: make([]float64, n*d)}
		for i := range src.F64 {
			src.F64[i] = means[i/d%k][i%d] + rng.NormFloat64()
		}
		m := &model.Model{Kind: "kmeans", Means: means}
		for j := range d {
			m.Columns = append(m.Columns, fmt.Sprint(j+1))
		}
		b.Run(fmt.Sprintf("k=%d/labels", k), func(b *testing.B) {
			for b.Loop() {
				if err := m.Labels(b.Context(), src, 1, func(*data.Block, []int32) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("k=%d/scores", k), func(b *testing.B) {
			for b.Loop() {
				if err := m.Scores(b.Context(), src, 1, func(*model.Scored) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("k=%d/rows", k), func(b *testing.B) {
			for b.Loop() {
				if err := m.Rows(b.Context(), src, 1, func(*model.Scored) error { return nil }); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
