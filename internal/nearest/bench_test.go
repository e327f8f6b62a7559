package nearest

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

// blobs returns overlapping blobs, two centres typically 4 standard deviations apart, and k rows to start from.
func blobs(n, d, k int) (*data.Table, []float64) {
	rng := rand.New(rand.NewPCG(uint64(d), uint64(k)))
	centres, theta := make([]float64, k*d), make([]float64, 0, k*d)
	for i := range centres {
		centres[i] = rng.NormFloat64() * 4 / math.Sqrt(2*float64(d))
	}
	t := &data.Table{N: n, D: d, F32: make([]float32, n*d)}
	for i := range n {
		c := rng.IntN(k)
		for j := range d {
			t.F32[i*d+j] = float32(centres[c*d+j] + rng.NormFloat64())
		}
	}
	for _, i := range rng.Perm(n)[:k] {
		for j := range d {
			theta = append(theta, t.At(i, j))
		}
	}
	return t, theta
}

// Sweeps 4 to 13 of Lloyd's algorithm; the least time of a sweep is that of the fastest ten.
func BenchmarkLloyd(b *testing.B) {
	for _, c := range []struct{ n, d, k int }{{1e6, 16, 64}, {2e5, 128, 256}, {1e5, 784, 10}, {1e6, 2, 10}, {1e5, 32, 1000}, {2e4, 8, 8}} {
		var table *data.Table
		var start []float64
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("n=%d,d=%d,k=%d,threads=%d", c.n, c.d, c.k, threads), func(b *testing.B) {
				if table == nil {
					table, start = blobs(c.n, c.d, c.k)
				}
				e := New(table, make([]float64, c.d), threads)
				b.ResetTimer()
				least := time.Duration(math.MaxInt64)
				for range b.N {
					b.StopTimer()
					st, at := new(State), append([]float64(nil), start...)
					s := family.NewStats(c.k, c.d, c.k*c.d, 16)
					var begun time.Time
					for sweep := range 13 {
						if sweep == 3 {
							b.StartTimer()
							begun = time.Now()
						}
						s.Reset()
						sweep1(e, st, at, c.k, s)
						family.KMeans{}.MStep(at, at, s)
					}
					least = min(least, time.Since(begun))
				}
				b.ReportMetric(float64(least.Nanoseconds())/1e7, "least-ms/sweep")
			})
		}
	}
}
