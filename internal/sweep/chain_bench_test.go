package sweep

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
)

// BenchmarkChain runs sweeps of hidden Markov models with full covariances over sequences of one length, by one thread and by two, and reports the fastest.
func BenchmarkChain(b *testing.B) {
	for _, c := range []struct{ sequences, rows, d, k int }{{100, 500, 4, 5}, {100, 500, 2, 20}, {1, 50_000, 4, 5}} {
		rng := rand.New(rand.NewPCG(43, 0))
		v, mean := make([]float64, c.d), make([]float64, c.k*c.d)
		for j := range v {
			v[j] = 1
		}
		for i := range mean {
			mean[i] = 2 * rng.NormFloat64()
		}
		n := c.sequences * c.rows
		src := &data.Table{N: n, D: c.d}
		at := 0
		for i := range n {
			if rng.IntN(10) == 0 {
				at = rng.IntN(c.k)
			}
			for j := range c.d {
				src.F64 = append(src.F64, mean[at*c.d+j]+rng.NormFloat64())
			}
			src.Sequence = append(src.Sequence, int32(i/c.rows))
		}
		m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: v}, K: c.k, D: c.d, Chain: true}
		theta := make([]float64, m.Params())
		copy(m.Components(theta), mean)
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%dx%d,d=%d,k=%d/%d", c.sequences, c.rows, c.d, c.k, threads), func(b *testing.B) {
				l := NewLocal(src, int64(n), make([]float64, c.d), threads)
				least := time.Hour // the machine may have other work
				for b.Loop() {
					began := time.Now()
					if _, err := l.Sweep(context.Background(), []Task{{Mixture: m, Theta: theta, Beta: 1}}); err != nil {
						b.Fatal(err)
					}
					least = min(least, time.Since(began))
				}
				b.ReportMetric(least.Seconds()*1e9/float64(n), "ns/row")
			})
		}
	}
}
