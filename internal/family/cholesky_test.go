package family

import (
	"math"
	"testing"
)

// A trial step may leave the range of float64: it must come back as some covariance, not as a panic.
func TestFloorOfAMatrixThatIsNotFinite(t *testing.T) {
	for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1)} {
		for at := range 3 {
			q := []float64{1, 0.5, 2}
			q[at] = bad
			u := make([]float64, 3)
			Gaussian{Shape: Full, Var: []float64{1, 4}}.choleskyAbove(u, q, 2)
			for i, v := range u {
				if math.IsNaN(v) || math.IsInf(v, 0) {
					t.Errorf("%v at %d: element %d of the factor is %v", bad, at, i, v)
				}
			}
		}
	}
}
