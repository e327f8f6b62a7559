package hard

import (
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// among returns a search among the points.
func among(t *testing.T, p *seed.Points) *search {
	return &search{Breathing: breathing(p, 1), threads: 1, ctx: t.Context(), rng: rng.Starts.At(1, 0)}
}

func TestExhaleTakesTheCentreWhoseRowsLoseLeast(t *testing.T) {
	for s := range uint64(20) {
		p := cloud(s, 80, 2)
		k := 3 + int(s)%5
		theta := drawn(p, k, s)
		least, want := math.Inf(1), []float64(nil)
		for c := range k {
			without := slices.Clone(theta[:2*k-2]) // the last takes the place of the one that goes
			if c < k-1 {
				copy(without[2*c:], theta[2*k-2:])
			}
			if after := inertia(p, without); after < least {
				least, want = after, without
			}
		}
		if got, ok := among(t, p).exhale(theta, 1); !ok || !slices.Equal(got, want) {
			t.Errorf("seed %d: %v are left, inertia %v; want %v", s, got, inertia(p, got), least)
		}
	}
}

// Of two centres in one place only one goes: then the other is of use.
func TestExhaleLeavesTheNeighboursOfACentreThatGoes(t *testing.T) {
	var rows [][]float64
	for _, x := range []float64{0, 10, 20, 30} {
		for i := range 10 {
			rows = append(rows, []float64{x + 0.1*float64(i), 0})
		}
	}
	theta := []float64{0.2, 0, 10.45, 0, 0.7, 0, 20.45, 0, 30.45, 0}
	for m := 1; m < 4; m++ {
		got, ok := among(t, points(rows, nil)).exhale(theta, m)
		if !ok || len(got) != len(theta)-2*m || slices.Contains(got, 0.2) == slices.Contains(got, 0.7) {
			t.Errorf("%d go: %v are left", m, got)
		}
	}
	for m := 1; m < 5; m++ { // where all are neighbours, as many go all the same
		if got, ok := among(t, points(rows, nil)).exhale(slices.Repeat([]float64{5, 5}, 5), m); !ok || len(got) != 10-2*m {
			t.Errorf("%d go: %v are left", m, got)
		}
	}
}

func TestInhaleAddsCentresWhereTheCostIs(t *testing.T) {
	p := points([][]float64{{0, 0}, {1, 0}, {10, 0}, {10, 8}, {20, 0}, {20, 0}}, []float64{100, 100, 1, 1, 5, 5})
	theta := []float64{0.5, 0, 10, 4, 20, 0} // costs 50, 32 and 0
	s := among(t, p)
	for range 20 {
		wide, ok := s.inhale(theta, 2, true)
		if !ok || !slices.Equal(wide[:6], theta) || len(wide) != 10 {
			t.Fatalf("%v", wide)
		}
		for i, v := range []float64{0.5, 0, 10, 4} { // the dearest first, within 0.01 of the root mean squared distance
			if d := math.Abs(wide[6+i] - v); d == 0 || d > 0.01*math.Sqrt(82./212) {
				t.Errorf("new centres %v", wide[6:])
			}
		}
	}
	count := map[float64]int{} // by the second coordinate of the row that was drawn
	const draws = 4000
	for range draws {
		wide, ok := s.inhale(theta, 1, false)
		if x := wide[6:]; !ok || x[0] == 20 {
			t.Fatalf("a row without cost was drawn: %v", wide)
		}
		count[wide[7]+wide[6]/1000]++
	}
	for row, want := range map[float64]float64{0: 25. / 82, 0.001: 25. / 82, 0.01: 16. / 82, 8.01: 16. / 82} {
		got := float64(count[row]) / draws
		within(t, "the share of a row", got, want, 5*math.Sqrt(want*(1-want)/draws)) // five standard errors
	}
}
