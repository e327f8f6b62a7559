package hard

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// However the centres move, a border knows every label, calls no point settled that may gain, and has distances right where it
// looks; where they move little it compares few points.
func TestBorderIsThatOfAllDistances(t *testing.T) {
	turns := 0
	for _, c := range []struct{ n, d, k int }{{500, 3, 40}, {900, 30, 5}, {1000, 16, 10}, {333, 40, 3}, {64, 2, 4}} {
		p := normal(uint64(c.n), c.n, c.d, c.k)
		rng := rand.New(rand.NewPCG(3, uint64(c.d)))
		for i := range p.W {
			p.W[i] = 0.5 + rng.Float64()
		}
		b := hartiganBounds{points: p}
		theta := drawn(p, c.k, 1)
		compared, settled, quiet := 0, 0, 0
		for turn := range 60 {
			step := []float64{0, 1e-6, 1e-2, 0.1, 1}[turn/3%5]
			theta = append([]float64(nil), theta...) // a border keeps what it is given
			for i := range theta {
				if i/c.d%2 == turn%2 { // some stay
					theta[i] += step * rng.NormFloat64()
				}
			}
			if err := b.follow(t.Context(), theta, 1); err != nil {
				t.Fatal(err)
			}
			var want pairs
			if err := want.find(t.Context(), theta, p, 1); err != nil {
				t.Fatal(err)
			}
			weight := make([]float64, c.k)
			for i, l := range want.label[:c.n] {
				weight[l] += p.W[i]
			}
			still := step <= 1e-6 && slices.Min(weight) > 20 // a smaller cluster is worth a move to many a row
			if still {
				quiet++
			}
			for i := range c.n {
				if b.label[i] != want.label[i] {
					t.Fatalf("%+v, turn %d: row %d has label %d, want %d", c, turn, i, b.label[i], want.label[i])
				}
				if still && b.seen[i] == b.turn {
					compared++
				}
				gain, loss := 1+0.1*rng.Float64(), 1-0.1*rng.Float64()
				if b.settled(i, gain, loss) {
					settled++
					if want.second[i]*loss < want.first[i]*gain {
						t.Fatalf("%+v, turn %d: row %d is not settled: %v and %v by %v and %v", c, turn, i, want.first[i], want.second[i], gain, loss)
					}
					continue
				}
				if b.look(i); b.first[i] != want.first[i] || b.second[i] != want.second[i] {
					t.Fatalf("%+v, turn %d: row %d is %v and %v away, want %v and %v", c, turn, i, b.first[i], b.second[i], want.first[i], want.second[i])
				}
			}
			for l, w := range weight {
				within(t, "a weight", b.weight[l], w, 1e-14)
			}
		}
		if settled < c.n {
			t.Errorf("%+v: hardly any row was ever settled", c)
		}
		if compared > quiet*c.n/2 {
			t.Errorf("%+v: %d comparisons in %d turns of %d rows", c, compared, quiet, c.n)
		}
		turns += quiet
	}
	if turns == 0 {
		t.Error("no turn was quiet: bounds are no test")
	}
}
