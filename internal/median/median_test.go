package median_test

import (
	"math"
	"testing"

	"github.com/latent-go/latent/internal/median"
)

func TestMiddleIsBetween(t *testing.T) {
	for _, c := range [][3]float64{{1, 2, 1.5}, {0.1, 0.1, 0.1}, {5e-324, 5e-324, 5e-324}, {-math.MaxFloat64, math.MaxFloat64, 0}, {math.MaxFloat64, math.MaxFloat64, math.MaxFloat64}} {
		if got := median.Middle(c[0], c[1]); got != c[2] {
			t.Errorf("middle of %v and %v: %v, want %v", c[0], c[1], got, c[2])
		}
	}
}
