package hard

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/ascent"
)

// One evaluation of K-medians after three steps, on clusters that overlap.
func BenchmarkMedians(b *testing.B) {
	for _, size := range []struct{ n, d, k int }{{1_000_000, 16, 16}, {100_000, 64, 8}, {1_000_000, 2, 10}, {10_000, 8, 8}} {
		rng := rand.New(rand.NewPCG(1, 1))
		p := normal(2, size.k, size.d, size.k)
		centres := p.X
		p.X, p.W, p.Row, p.N = make([]float64, size.n*size.d), make([]float64, size.n), nil, size.n
		for i := range size.n {
			p.W[i] = 1
			c := rng.IntN(size.k)
			for j := range size.d {
				p.X[i*size.d+j] = centres[c*size.d+j]/3 + 2*rng.NormFloat64()
			}
		}
		m := &Medians{Points: p, Threads: 2}
		theta := append([]float64(nil), p.X[:size.k*size.d]...)
		var point *ascent.Point
		eval := func() {
			var err error
			if point, err = m.Eval(context.Background(), theta, hardBeta); err != nil {
				b.Fatal(err)
			}
		}
		for range 3 {
			eval()
			theta = point.Next
		}
		b.Run(fmt.Sprintf("n=%d,d=%d,k=%d", size.n, size.d, size.k), func(b *testing.B) {
			for b.Loop() {
				eval()
			}
		})
	}
}
