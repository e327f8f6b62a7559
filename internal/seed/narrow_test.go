package seed_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/seed"
)

// A narrow sample has the rows, weights and places of a wide one, and so have panels, parts and tables of it.
func TestNarrowSampleIsThatOfWideCells(t *testing.T) {
	const n, d, most = 1000, 3, 100
	rng := rand.New(rand.NewPCG(9, 1))
	for _, weighted := range []bool{false, true} {
		table := &data.Table{N: n, D: d, First: 7}
		used := int64(n)
		for i := range n {
			for range d {
				table.F32 = append(table.F32, float32(rng.NormFloat64()))
			}
			if weighted {
				if table.W = append(table.W, float64(i%3)); i%3 == 0 {
					used--
				}
			}
		}
		origin := []float64{1, -2, 0.5}
		want, err := seed.Sample(t.Context(), table, used, origin, most, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		got, err := seed.NarrowSample(t.Context(), table, used, origin, most, 2, rand.New(rand.NewPCG(1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		if got.N != most || got.X != nil || !slices.Equal(got.W, want.W) || !slices.Equal(got.Row, want.Row) {
			t.Fatalf("weighted %v: %d rows %v of weights %v, want %v of %v", weighted, got.N, got.Row, got.W, want.Row, want.W)
		}
		for i := range got.N {
			if !slices.Equal(got.At(i), want.At(i)) {
				t.Fatalf("row %d is %v, want %v", i, got.At(i), want.At(i))
			}
		}
		if every := got.Every(1); every.Narrow != nil || !slices.Equal(every.X, want.X) {
			t.Error("all rows of a narrow sample are not those of a wide one")
		}
		if some := got.Every(4); !slices.Equal(some.X, want.Every(4).X) || !slices.Equal(some.W, want.Every(4).W) {
			t.Error("every fourth row differs")
		}
		if !slices.Equal(got.Panels(), want.Panels()) {
			t.Error("panels differ")
		}
		if of := got.Table(); (of.W != nil) != weighted || of.At(5, 1) != table.At(int(got.Row[5]-7), 1) {
			t.Errorf("the table has weights %v, and %v in row 5", of.W, of.At(5, 1))
		}
	}
}
