package kind

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestNamesAreFoundAgain(t *testing.T) {
	for i, name := range Names() {
		k := Of(name)
		if k == nil || k.Name != name || (i == 0) != (k == Of("")) {
			t.Errorf("%s: %+v", name, k)
		}
	}
	if Of("gaussian") != nil {
		t.Error("a kind that is none")
	}
}

// Every kind has its words, and centres have a cost where mixtures have slopes or rows that are normal.
func TestEveryKindIsWhole(t *testing.T) {
	for _, k := range all {
		if k.Title == "" || k.Phrase == "" || k.Family == nil || len(k.Drivers) < 2 || k.Drivers[0] != "auto" || len(k.Criteria) == 0 || k.MaxIter == 0 {
			t.Errorf("%s lacks something: %+v", k.Name, k)
		}
		if k.Parted { // its parts have locations
			continue
		}
		if l := k.Location; l.Key == "" || l.Array == "" || l.Plural == "" || k.Mixture && !k.Shaped && l.Draw == nil {
			t.Errorf("%s: location %+v", k.Name, l)
		}
		if k.Mixture != (k.Cost == Cost{}) || k.Cells.Is == "" || k.Cells.Are == "" || k.Cells.Units != (k.Cells.Wrong == nil) {
			t.Errorf("%s: cost %+v, cells %+v", k.Name, k.Cost, k.Cells)
		}
	}
}

func TestWrongCells(t *testing.T) {
	for _, c := range []struct {
		kind  *Kind
		x     float64
		wrong bool
	}{
		{Bernoulli, 0, false}, {Bernoulli, 1, false}, {Bernoulli, 0.5, true}, {Bernoulli, -1, true}, {Bernoulli, math.NaN(), true},
		{Categorical, 0, false}, {Categorical, 2, false}, {Categorical, 3, true}, {Categorical, 0.5, true}, {Categorical, -1, true},
		{Categorical, math.NaN(), true}, {Categorical, math.Copysign(0, -1), false},
	} {
		if got := c.kind.Cells.Wrong(c.x, 3); got != c.wrong {
			t.Errorf("%s: %v is wrong: %v", c.kind.Name, c.x, got)
		}
	}
}

// Slopes are the derivatives of the numbers that a family makes of its parameters.
func TestSlopesAreDerivatives(t *testing.T) {
	const h = 1e-6
	for _, k := range all {
		if k.Location.Slope == nil {
			continue
		}
		f := k.Family(Variables{}).(interface {
			Natural(dst, theta []float64, k int) []float64
		})
		for _, t0 := range []float64{-3, -0.4, 0, 1.7} {
			v := f.Natural(nil, []float64{t0 - h, t0, t0 + h}, 3)
			if want, got := (v[2]-v[0])/(2*h), k.Location.Slope(v[1]); math.Abs(got-want) > 1e-8*(1+math.Abs(want)) {
				t.Errorf("%s at %v: slope %v, want %v", k.Name, t0, got, want)
			}
		}
	}
}

// A level of probability 0 is never drawn, whatever rounding has left of the last.
func TestPick(t *testing.T) {
	rng, counts := rand.New(rand.NewPCG(1, 2)), make([]int, 4)
	for range 100_000 {
		counts[Pick([]float64{0, 0.25, 0.75, 0}, rng)]++
	}
	if counts[0]+counts[3] != 0 || math.Abs(float64(counts[1])-25_000) > 700 {
		t.Errorf("drawn %v", counts)
	}
}
