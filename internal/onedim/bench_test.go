package onedim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
)

func BenchmarkCluster(b *testing.B) {
	for _, cost := range []Cost{Squared, Absolute} {
		for _, weighted := range []bool{false, true} {
			b.Run(fmt.Sprintf("cost=%d/weighted=%v/n=1e6/k=16", cost, weighted), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 0))
				x := make([]float64, 1_000_000)
				var w []float64
				for i := range x {
					x[i] = rng.NormFloat64() + 4*float64(rng.IntN(5))
					if weighted {
						w = append(w, rng.ExpFloat64())
					}
				}
				b.ReportAllocs()
				for b.Loop() {
					if _, err := Cluster(context.Background(), x, w, 16, cost); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
