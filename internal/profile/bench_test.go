package profile_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/profile"
)

// A profile of 100,000 rows of 9 columns, read from CSV.
func BenchmarkProfile(b *testing.B) {
	rng := rand.New(rand.NewPCG(72, 0))
	var text strings.Builder
	text.WriteString("x,a,b,c,d,e,f,g,level\n")
	for range 100_000 {
		for range 8 {
			fmt.Fprintf(&text, "%.4f,", 3*rng.NormFloat64())
		}
		fmt.Fprintf(&text, "%c\n", 'a'+rune(rng.IntN(5)))
	}
	for _, by := range []profile.Options{{}, {Quartiles: true}} {
		b.Run(fmt.Sprintf("quartiles=%v", by.Quartiles), func(b *testing.B) {
			for b.Loop() {
				profiled(b, text.String(), data.Options{}, 2, by)
			}
		})
	}
}
