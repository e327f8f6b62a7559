package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

func TestAbsoluteScoresAreL1Distances(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	const k, d, n = 3, 5, 20
	x, theta := make([]float64, n*d), make([]float64, k*d)
	for i := range x {
		x[i] = rng.NormFloat64()
	}
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	dst := make([]float64, k*kern.Rows)
	family.KMedians{}.Bind(theta, k, d).Score(dst, panelOf(d, x), family.NewWorkspace(d))
	for i := range n {
		for c := range k {
			want := 0.0
			for j := range d {
				want -= math.Abs(x[i*d+j] - theta[c*d+j])
			}
			if got := dst[c*kern.Rows+i]; math.Abs(got-want) > 1e-14 {
				t.Errorf("row %d, centre %d: %v, want %v", i, c, got, want)
			}
		}
	}
	family.KMedians{}.Bind([]float64{-1e308, -1e308}, 1, 2).Score(dst, panelOf(2, []float64{1e308, 1e308}), family.NewWorkspace(2))
	if dst[0] != -math.MaxFloat64 {
		t.Errorf("a distance beyond float64 scores %v", dst[0])
	}
}

// (5,0) is 5 from (0,0) and 6 from (3,4) by L1; the straight line would say otherwise.
func TestNearestByL1IsNotNearestByStraightLine(t *testing.T) {
	for _, c := range []struct {
		f    family.Family
		want []float64
	}{{family.KMedians{}, []float64{2, 0}}, {family.KMeans{}, []float64{0, 2}}} {
		m := &mixture.Mixture{Family: c.f, K: 2, D: 2}
		b := m.Bind([]float64{0, 0, 3, 4}, math.Inf(1))
		s := m.NewStats(b.FarMax())
		p := panelOf(2, []float64{5, 0})
		p.W[0] = 2
		b.Add(s, p, mixture.NewScratch(2, 2))
		if !slices.Equal(s.N, c.want) {
			t.Errorf("%s: weights %v, want %v", c.f.Name(), s.N, c.want)
		}
	}
}

func TestSumsOfAbsoluteDoNotMoveCentres(t *testing.T) {
	m := &mixture.Mixture{Family: family.KMedians{}, K: 2, D: 1}
	theta := []float64{0, 10}
	for _, beta := range []float64{1, math.Inf(1)} {
		b := m.Bind(theta, beta)
		s := m.NewStats(b.FarMax())
		b.Add(s, panelOf(1, []float64{-1, 2, 9, 14}), mixture.NewScratch(2, 1))
		next := []float64{7, 7}
		m.MStep(next, theta, s)
		if !slices.Equal(next, theta) {
			t.Errorf("beta %v: centres %v", beta, next)
		}
		if got := m.FreeEnergy(next, theta, beta, s); got != s.F {
			t.Errorf("beta %v: F %v, want that of the sweep, %v", beta, got, s.F)
		}
		if got := m.FreeEnergy([]float64{0, 11}, theta, beta, s); !math.IsNaN(got) {
			t.Errorf("beta %v: F of other centres is %v, though sums cannot tell it", beta, got)
		}
		if math.Abs(s.N[0]+s.N[1]-4) > 1e-12 || math.IsInf(beta, 1) && (s.F != -8 || s.Far[0].Score != -4 || s.Far[0].Row != 3) {
			t.Errorf("beta %v: sums %+v", beta, s)
		}
	}
	if (family.KMedians{}).Free(4, 3) != 12 || m.Params() != 2 || slices.Contains(m.Family.AtFloor(theta, 2, 1), true) {
		t.Error("parameters of 4 centres in 3 columns are 12, and none has a floor")
	}
}
