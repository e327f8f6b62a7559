package family

import (
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/mat"
)

// Whether axes are reflected is the sign of their determinant.
func TestReflectionsAreSeen(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for d := 2; d < 9; d++ {
		for range 20 {
			x := mat.NewDense(d, d, nil)
			for i := range d {
				for j := range d {
					x.Set(i, j, random.NormFloat64())
				}
			}
			var qr mat.QR
			qr.Factorize(x)
			var q mat.Dense
			qr.QTo(&q)
			if want := mat.Det(&q) < 0; reflects(q.RawMatrix().Data, d) != want {
				t.Errorf("d = %d: reflected %v, want %v", d, !want, want)
			}
		}
	}
}
