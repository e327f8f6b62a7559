package chain_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/chain"
)

// A sequence decoded block by block says what it says as a whole, be rows such that float64 holds their densities or not.
func TestBlocksAreTheWholeSequence(t *testing.T) {
	random := rand.New(rand.NewPCG(5, 1))
	for _, spread := range []float64{2, 400, 3000} {
		m := chain.New([]float64{0.5, 0.5, 0}, []float64{0.9, 0.1, 0, 0, 0.7, 0.3, 0.2, 0, 0.8})
		scores := make([]float64, 500*m.Stride)
		for i := range scores {
			scores[i] = -spread * random.Float64()
		}
		var whole, part chain.Sequence
		want := make([]int32, 500)
		if err := m.Smooth(&whole, scores); err != nil {
			t.Fatal(err)
		}
		if _, err := m.Viterbi(want, scores); err != nil {
			t.Fatal(err)
		}
		for _, size := range []int{1, 7, 250, 499, 500, 600} {
			rows := slices.Collect(slices.Chunk(scores, size*m.Stride))
			b, rounds := m.NewBlocks(), 1
			for i := 0; i < len(rows); i++ {
				again, err := b.Forward(&part, rows[i])
				if err != nil {
					t.Fatal(err)
				}
				if again {
					i, rounds = -1, rounds+1
				}
			}
			if rounds > 2 {
				t.Errorf("spread %v: %d rounds", spread, rounds)
			}
			b.Turn()
			for i := len(rows) - 1; i >= 0; i-- {
				b.Backward(&part, i, rows[i])
			}
			at := 0
			for i, scores := range rows {
				path := make([]int32, len(scores)/m.Stride)
				b.Decode(&part, path, i, scores)
				for r, state := range path {
					if state != want[at] || math.Abs(part.LogDensity[r]-whole.LogDensity[at]) > 1e-9*(1+math.Abs(whole.LogDensity[at])) {
						t.Fatalf("spread %v, blocks of %d, row %d: state %d, log density %v; want %d, %v", spread, size, at, state, part.LogDensity[r], want[at], whole.LogDensity[at])
					}
					for a := range m.K {
						if got, want := part.Smoothed[r*m.Stride+a], whole.Smoothed[at*m.Stride+a]; math.Abs(got-want) > 1e-9 {
							t.Fatalf("spread %v, blocks of %d, row %d, state %d: %v, want %v", spread, size, at, a, got, want)
						}
					}
					at++
				}
			}
		}
	}
}
