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
		for _, shape := range []family.Shape{family.Full, family.Diag} {
			m := &mixture.Mixture{Family: family.Gaussian{Shape: shape, Var: look.Var, Gaps: look.Gaps}, K: k, D: d}
			theta, rng := make([]float64, m.Params()), rand.New(rand.NewPCG(3, 4))
			for i := range m.Components(theta)[:k*d] {
				m.Components(theta)[i] = 0.5 * rng.NormFloat64()
			}
			for _, threads := range []int{1, 2} {
				local := sweep.NewLocal(src, n, make([]float64, d), threads)
				b.Run(fmt.Sprintf("%s/%s/threads=%d", shape, how, threads), func(b *testing.B) {
					for b.Loop() {
						if _, err := local.Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}}); err != nil {
							b.Fatal(err)
						}
					}
				})
			}
		}
	}
}

// A sweep over numbers, categories and counts side by side, and over each kind alone.
func BenchmarkMixed(b *testing.B) {
	const n, k = 100_000, 5
	rng := rand.New(rand.NewPCG(1, 2))
	parts := []family.Part{
		{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1, 1, 1, 1, 1, 1}}, Columns: []int{0, 1, 2, 3, 4, 5, 6, 7}},
		{Family: family.Categorical{Levels: []int{2, 3, 4, 5}}, Columns: []int{8, 9, 10, 11}},
		{Family: family.Poisson{}, Columns: []int{12, 13, 14, 15}},
	}
	t := &data.Table{N: n, D: 16}
	for range n {
		for j := range 16 {
			switch {
			case j < 8:
				t.F64 = append(t.F64, rng.NormFloat64())
			case j < 12:
				t.F64 = append(t.F64, float64(rng.IntN(j-6)))
			default:
				t.F64 = append(t.F64, float64(rng.IntN(9)))
			}
		}
	}
	run := func(name string, src *data.Table, fam family.Family) {
		m := &mixture.Mixture{Family: fam, K: k, D: src.D}
		theta := make([]float64, m.Params())
		for i := range theta {
			theta[i] = 0.1 * math.Sin(float64(i))
		}
		local := sweep.NewLocal(src, n, make([]float64, src.D), 1)
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := local.Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	run("all", t, family.Mixed{Parts: parts})
	for _, p := range parts {
		own := &data.Table{N: n, D: len(p.Columns)}
		for i := range n {
			for _, j := range p.Columns {
				own.F64 = append(own.F64, t.F64[i*16+j])
			}
		}
		run(p.Family.Name(), own, p.Family)
	}
}
