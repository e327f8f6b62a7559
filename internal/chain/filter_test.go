package chain_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/chain"
)

// A sequence filtered run by run says what it says as a whole, be rows such that float64 holds their densities or not.
func TestFilteringRunByRunIsFilteringAtOnce(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 1))
	for _, spread := range []float64{2, 400, 3000} {
		m := chain.New([]float64{0.5, 0.5, 0}, []float64{0.9, 0.1, 0, 0, 0.7, 0.3, 0.2, 0, 0.8})
		scores := make([]float64, 300*m.Stride)
		for i := range scores {
			scores[i] = -spread * random.Float64()
		}
		var whole, run chain.Sequence
		if err := m.Filter(&whole, scores); err != nil {
			t.Fatal(err)
		}
		var past chain.Past
		for from := 0; from < 300; {
			to := min(from+1+random.IntN(60), 300)
			if err := m.FilterOn(&run, scores[from*m.Stride:to*m.Stride], &past); err != nil {
				t.Fatal(err)
			}
			for i := from; i < to; i++ {
				if want := whole.LogDensity[i]; math.Abs(run.LogDensity[i-from]-want) > 1e-9*(1+math.Abs(want)) {
					t.Fatalf("spread %v, row %d: %v, want %v", spread, i, run.LogDensity[i-from], want)
				}
				for a := range m.K {
					if got, want := run.Filtered[(i-from)*m.Stride+a], whole.Filtered[i*m.Stride+a]; math.Abs(got-want) > 1e-9 {
						t.Fatalf("spread %v, row %d, state %d: %v, want %v", spread, i, a, got, want)
					}
				}
			}
			from = to
		}
	}
}
