package family_test

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/mathext"

	"github.com/latent-go/latent/internal/family"
)

func TestTrigamma(t *testing.T) {
	for x, want := range map[float64]float64{1: math.Pi * math.Pi / 6, 0.5: math.Pi * math.Pi / 2, 2: math.Pi*math.Pi/6 - 1, 1.5: math.Pi*math.Pi/2 - 4} {
		if got := family.Trigamma(x); !(math.Abs(got-want) <= 4e-16*want) {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
	for x := 1e-3; x < 1e9; x *= 1.37 { // the Hurwitz zeta function of 2
		if got, want := family.Trigamma(x), mathext.Zeta(2, x); !(math.Abs(got-want) <= 2e-15*want) {
			t.Errorf("%v: %v, want %v", x, got, want)
		}
	}
}
