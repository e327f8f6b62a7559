package seed_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/seed"
)

// Medians and deviations of ten numbers by hand, with weights, a missing cell and a column of which most cells are equal.
func TestRobustMoments(t *testing.T) {
	nan := math.NaN()
	p := &seed.Points{N: 5, D: 3, W: []float64{1, 1, 1, 1, 3}, X: []float64{
		1, 0, 7,
		2, 0, nan,
		3, 0, 8,
		1e9, 0, 9,
		4, 5, 9,
	}}
	centre, deviation := p.Robust()
	// Column 1 by weight: 1 2 3 4 4 4 1e9, of which half lies at 4; deviations 0 0 0 1 2 3 1e9, half at 1.
	// Column 2: 0 0 0 0 5 5 5: half at 0; deviations 0 0 0 0 5 5 5: half at 0, three quarters at 5.
	// Column 3: 7 8 9 9 9 9: half at 9; deviations 0 0 0 0 1 2: half at 0, three quarters at 1.
	want := []float64{1 / 0.6744897501960817, 5 / 1.1503493803760083, 1 / 1.1503493803760083}
	if !slices.Equal(centre, []float64{4, 0, 9}) {
		t.Errorf("medians %v", centre)
	}
	for j, v := range want {
		if math.Abs(deviation[j]-v) > 1e-12 {
			t.Errorf("deviation %d is %v, want %v", j, deviation[j], v)
		}
	}
	if mean, variance := p.Some([]int{0, 2}).Moments(); !slices.Equal(mean, []float64{2, 0, 7.5}) || !slices.Equal(variance, []float64{1, 0, 0.25}) {
		t.Errorf("moments %v and %v", mean, variance)
	}
}

// Rows of a normal distribution are all central; three at a million are not.
func TestCentralRows(t *testing.T) {
	rng, p := rand.New(rand.NewPCG(1, 0)), &seed.Points{N: 1003, D: 2}
	for i := range p.N {
		x := []float64{rng.NormFloat64(), 1000 * rng.NormFloat64()}
		if i%500 == 1 {
			x[i/500%2] = 1e6
		}
		p.X, p.W = append(p.X, x...), append(p.W, 1)
	}
	keep := p.Central()
	if len(keep) != 1000 || slices.Contains(keep, 1) || slices.Contains(keep, 501) || slices.Contains(keep, 1001) {
		t.Errorf("%d rows are central", len(keep))
	}
}
