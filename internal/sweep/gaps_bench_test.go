package sweep_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// holed returns n rows of d columns, of which cells are missing: a fifth at random places, or whole blocks in two rows of five.
func holed(n, d int, how string) *data.Table {
	rng := rand.New(rand.NewPCG(1, 2))
	t := &data.Table{N: n, D: d}
	for i := range n {
		for j := range d {
			x, gone := rng.NormFloat64(), rng.Float64() < 0.2 && j != i%d
			if how == "blocks" {
				gone = i%5 == 0 && j/4 == i/5%4 || i%5 == 1 && j >= 8
			}
			if how != "complete" && gone {
				x = math.NaN()
			}
			t.F64 = append(t.F64, x)
		}
	}
	return t
}

// A sweep of full covariances over 100,000 rows of 16 columns, with cells missing and without.
func BenchmarkGaps(b *testing.B) {
	const n, d, k = 100_000, 16, 8
	for _, how := range []string{"complete", "blocks", "random"} {
		src := holed(n, d, how)
		look, err := sweep.LookThrough(context.Background(), src, 1)
		if err != nil {
			b.Fatal(err)
		}
		var fam family.Family = family.Gaussian{Shape: family.Full, Var: look.Var, Gaps: look.Gaps}
		m := &mixture.Mixture{Family: fam, K: k, D: d}
		theta, rng := make([]float64, m.Params()), rand.New(rand.NewPCG(3, 4))
		for i := range m.Components(theta)[:k*d] {
			m.Components(theta)[i] = 0.5 * rng.NormFloat64()
		}
		for _, threads := range []int{1, 2} {
			local := sweep.NewLocal(src, n, make([]float64, d), threads)
			b.Run(fmt.Sprintf("%s/threads=%d", how, threads), func(b *testing.B) {
				for b.Loop() {
					if _, err := local.Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}}); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
