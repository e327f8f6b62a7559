package pca

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

func relations(t *testing.T, n int, row func(rng *rand.Rand) []float64) string {
	t.Helper()
	rng := rand.New(rand.NewPCG(7, 8))
	var rows [][]float64
	for range n {
		rows = append(rows, row(rng))
	}
	src, err := data.FromRows(rows)
	if err != nil {
		t.Fatal(err)
	}
	look, err := sweep.Look(context.Background(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Relations(context.Background(), src, look, 1)
	if err != nil {
		t.Fatal(err)
	}
	return fmt.Sprint(found)
}

func TestRelationsAreThoseThatWereMade(t *testing.T) {
	for _, c := range []struct {
		what string
		row  func(rng *rand.Rand) []float64
		want string
	}{
		{"none", func(r *rand.Rand) []float64 { return []float64{r.NormFloat64(), r.NormFloat64(), r.NormFloat64()} }, "[]"},
		{"a copy in other units", func(r *rand.Rand) []float64 {
			x, y := r.NormFloat64(), r.NormFloat64()
			return []float64{x, y, 2.54*x + 100}
		}, "[{2 [0]}]"},
		{"a total", func(r *rand.Rand) []float64 {
			x, y := r.NormFloat64(), 3*r.NormFloat64()
			return []float64{x, y, r.NormFloat64(), x + y}
		}, "[{3 [0 1]}]"},
		{"shares that add up to 1", func(r *rand.Rand) []float64 {
			x, y, z := r.Float64(), r.Float64(), r.Float64()
			return []float64{x / (x + y + z), y / (x + y + z), r.NormFloat64(), z / (x + y + z)}
		}, "[{3 [0 1]}]"},
		{"a total and a copy", func(r *rand.Rand) []float64 {
			x, y := r.NormFloat64(), r.NormFloat64()
			return []float64{x, y, x + y, -7 * x, r.NormFloat64()}
		}, "[{2 [0 1]} {3 [0]}]"},
		{"two pairs and a constant", func(r *rand.Rand) []float64 {
			x, y := r.NormFloat64(), r.NormFloat64()
			return []float64{x, 5, y, 2 * y, 1e6 + 1e-3*x}
		}, "[{3 [2]} {4 [0]}]"},
		{"far from 0", func(r *rand.Rand) []float64 {
			x := float64(r.IntN(1000))
			return []float64{1600000000 + x, r.NormFloat64(), x / 8}
		}, "[{2 [0]}]"},
		{"all but a copy", func(r *rand.Rand) []float64 {
			x := r.NormFloat64()
			return []float64{x, x + 1e-3*r.NormFloat64()}
		}, "[]"},
	} {
		if got := relations(t, 400, c.row); got != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
}
