package search

import (
	"context"
	"math/rand/v2"
	"runtime"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/fixtures"
	"github.com/latent-go/latent/internal/plan"
)

// A matrix with an axis for every level would take 32 MB for each of five starts.
func TestManyLevelsTakeNoMemoryToStartFrom(t *testing.T) {
	const n, d, levels = 1000, 4, 1000
	rng := rand.New(rand.NewPCG(5, 0))
	src := &data.Table{N: n, D: d}
	for range n * d {
		src.F64 = append(src.F64, float64(rng.IntN(levels)))
	}
	names := make([][]string, d)
	for j := range names {
		names[j] = fixtures.LevelNames(levels)
	}
	for _, init := range []string{"kmeans", "k-means++", "random", "centers"} {
		spec := plan.Spec{Model: "categorical", K: 2, Levels: names, Init: init, Threads: 1, NInit: 5}
		if init == "centers" {
			spec.NInit, spec.Centers = 0, [][]float64{src.F64[:d], src.F64[d : 2*d]}
		}
		f, err := New(context.Background(), src, fixtures.Plan(spec))
		if err != nil {
			t.Fatal(err)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := f.Starts(context.Background()); err != nil {
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got := after.TotalAlloc - before.TotalAlloc; got > 16<<20 {
			t.Errorf("%s: starts took %d MB", init, got>>20)
		}
	}
}
