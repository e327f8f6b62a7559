package sweep

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// BenchmarkSweep runs one E-step with its sums over rows of overlapping clusters, in one and two threads, and reports the fastest. flops is what
// the formulas ask for, 4 n k F with F features for small d; share is its part of the measured peak of that many cores.
func BenchmarkSweep(b *testing.B) {
	for _, c := range []struct {
		shape   family.Shape
		n, d, k int
	}{
		{family.Full, 100_000, 16, 16}, {family.Full, 100_000, 64, 8}, {family.Full, 1_000_000, 3, 40}, {family.Diag, 1_000_000, 16, 32},
		{family.Tied, 100_000, 16, 16}, {family.TiedDiag, 100_000, 16, 16}, {family.Spherical, 100_000, 16, 16}, {family.Full, 100_000, 8, 3},
		{family.Full, 1000, 2, 3},
	} {
		rng := rand.New(rand.NewPCG(41, 0))
		mean, v := make([]float64, c.k*c.d), make([]float64, c.d)
		for i := range mean {
			mean[i] = 2 * rng.NormFloat64()
		}
		for j := range v {
			v[j] = 5
		}
		draw := sync.OnceValue(func() *data.Table {
			src := &data.Table{N: c.n, D: c.d, F64: make([]float64, c.n*c.d)}
			for i := range c.n {
				at := rng.IntN(c.k) * c.d
				for j := range c.d {
					src.F64[i*c.d+j] = mean[at+j] + rng.NormFloat64()
				}
			}
			return src
		})
		m := &mixture.Mixture{Family: family.Gaussian{Shape: c.shape, Var: v}, K: c.k, D: c.d}
		theta := make([]float64, m.Params())
		copy(m.Components(theta), mean)
		f := 1 + c.d
		switch c.shape {
		case family.Full:
			f += c.d * (c.d + 1) / 2
		case family.Diag:
			f += c.d
		}
		for _, threads := range []int{1, 2} {
			b.Run(fmt.Sprintf("%v/n=%d,d=%d,k=%d/%d", c.shape, c.n, c.d, c.k, threads), func(b *testing.B) {
				peak := kern.PeakFlops(false) * float64(threads)
				l := NewLocal(draw(), int64(c.n), make([]float64, c.d), threads)
				s, err := l.Sweep(context.Background(), []Task{{Mixture: m, Theta: theta, Beta: 1}})
				if err != nil || math.Abs(s[0].W-float64(c.n)) > 1 {
					b.Fatal(err)
				}
				least := time.Hour // the machine may have other work
				for b.Loop() {
					start := time.Now()
					if _, err := l.Sweep(context.Background(), []Task{{Mixture: m, Theta: theta, Beta: 1}}); err != nil {
						b.Fatal(err)
					}
					least = min(least, time.Since(start))
				}
				seconds := least.Seconds()
				flops := 4 * float64(c.n) * float64(c.k) * float64(f)
				b.ReportMetric(seconds*1e3, "ms")
				b.ReportMetric(flops/seconds/1e9, "GFLOP/s")
				b.ReportMetric(100*flops/seconds/peak, "%peak")
			})
		}
	}
}
