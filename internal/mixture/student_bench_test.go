package mixture_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// A sweep of a t mixture against one of a Gaussian mixture on the same rows: nanoseconds a row.
func BenchmarkStudent(b *testing.B) {
	for _, size := range [][2]int{{2, 3}, {4, 4}, {8, 8}, {16, 8}, {16, 32}} {
		d, k := size[0], size[1]
		v := make([]float64, d)
		for j := range v {
			v[j] = 1
		}
		for _, shape := range []family.Shape{family.Full, family.Diag, family.Tied} {
			for _, f := range []family.Family{family.Gaussian{Shape: shape, Var: v}, family.Student{Shape: shape, Var: v}} {
				rng := rand.New(rand.NewPCG(1, 0))
				m := &mixture.Mixture{Family: f, K: k, D: d}
				theta := make([]float64, m.Params())
				for c := range k * d {
					m.Components(theta)[c] = rng.NormFloat64()
				}
				if t, ok := f.(family.Student); ok {
					t.SetDofs(m.Components(theta), nil, k)
				}
				p := &family.Panel{N: kern.Rows, D: d, X: make([]float64, d*kern.Rows), W: make([]float64, kern.Rows)}
				for i := range p.X {
					p.X[i] = rng.NormFloat64()
				}
				for i := range p.W {
					p.W[i] = 1
				}
				bound, s, sc := m.Bind(theta, 1), m.NewStats(0), mixture.NewScratch(k, d)
				b.Run(fmt.Sprintf("d=%d/k=%d/%s/%T", d, k, shape, f), func(b *testing.B) {
					b.ReportAllocs()
					for b.Loop() {
						for range 64 {
							bound.Gather(s, p, sc)
						}
						bound.Flush(s, sc)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*64*kern.Rows), "ns/row")
				})
			}
		}
	}
}
