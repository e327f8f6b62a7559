package model

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
)

// Filling 100,000 rows of 8 columns, a fifth of the cells missing in random places, by 4 components.
func BenchmarkFill(b *testing.B) {
	const n, d, k = 100_000, 8, 4
	random := rand.New(rand.NewPCG(1, 2))
	m := &Model{Kind: "gmm", Shape: family.Full}
	for j := range d {
		m.Columns = append(m.Columns, fmt.Sprint("x", j))
	}
	for range k {
		factor := mat.NewDense(d, d+2, nil)
		factor.Apply(func(_, _ int, _ float64) float64 { return random.NormFloat64() }, factor)
		var cov mat.Dense
		cov.Mul(factor, factor.T())
		mean := make([]float64, d)
		for j := range mean {
			mean[j] = 4 * random.NormFloat64()
		}
		m.Weights, m.Means, m.Covariance = append(m.Weights, 1.0/k), append(m.Means, mean), append(m.Covariance, cov.RawMatrix().Data)
	}
	src := holed(m, n, 2)
	for _, how := range []string{"score", "fill", "draw"} {
		b.Run(how, func(b *testing.B) {
			b.ReportAllocs()
			for range b.N {
				f, err := m.Filler()
				if err != nil {
					b.Fatal(err)
				}
				switch how {
				case "score":
					err = m.Rows(context.Background(), src, 1, func(*Scored) error { return nil })
				case "fill":
					err = f.Fill(context.Background(), src, 1, func(*Filled) error { return nil })
				default:
					err = f.Draw(context.Background(), src, 1, 1, 0, func(*Filled) error { return nil })
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/row")
		})
	}
}
