package latent

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/data"
)

// Levels and counts that hardly ever come stay possible, whatever the rows drawn in place of the old ones tell of them.
func TestUpdatesOfRareLevels(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 8))
	batch := func(n int) *data.Table {
		rows := &data.Table{N: n, D: 3}
		for range n {
			c := rng.IntN(2)
			level := float64(c)
			if rng.IntN(300) == 0 {
				level = 2
			}
			rows.F64 = append(rows.F64, level, float64(min(rng.IntN(200)/199, 1)), float64(5*c)+rng.NormFloat64())
		}
		return rows
	}
	spec := Spec{Model: "mixed", K: 2, KeepSums: true, Types: []data.Type{data.Category, data.Count, data.Number}, Levels: [][]string{{"a", "b", "rare"}, nil, nil}}
	r, err := Fit(context.Background(), batch(300), spec)
	if err != nil {
		t.Fatal(err)
	}
	m := r.Model
	for i := range 20 {
		u, err := Update(context.Background(), batch(30), m, UpdateSpec{Forget: 0.8})
		if err != nil {
			t.Fatal(i, err)
		}
		if m = u.Model; !u.Converged {
			t.Errorf("update %d has not converged", i+1)
		}
	}
}

// Row weights that add up to 1 weigh rows among each other: the update is that by whole rows.
func TestUpdatesByRowsOfTinyWeight(t *testing.T) {
	rows := lumps(rand.New(rand.NewPCG(7, 8)), 2000, 2, 5)
	var plain *Updated
	for _, weight := range []float64{1, 0x1p-40} {
		rows.W = make([]float64, rows.N)
		for i := range rows.W {
			rows.W[i] = weight
		}
		r, err := Fit(context.Background(), between(rows, 0, 1000), Spec{K: 3, KeepSums: true})
		if err != nil {
			t.Fatal(err)
		}
		u, err := Update(context.Background(), between(rows, 1000, 2000), r.Model, UpdateSpec{})
		if err != nil {
			t.Fatal(err)
		}
		if math.Abs(u.TotalWeight-2000*weight) > 1e-9*u.TotalWeight {
			t.Errorf("the rows weigh %v", u.TotalWeight)
		}
		if plain == nil {
			plain = u
			continue
		}
		for c := range 3 {
			if a, b := u.Model.Means[c][0], plain.Model.Means[c][0]; math.Abs(a-b) > 1e-3 {
				t.Errorf("mean %d is %v, with weights of 1 %v", c+1, a, b)
			}
		}
		if math.Abs(u.LogDensity.Apart-plain.LogDensity.Apart) > 0.01 {
			t.Errorf("%v standard errors apart, with weights of 1 %v", u.LogDensity.Apart, plain.LogDensity.Apart)
		}
	}
}
