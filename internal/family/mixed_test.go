package family_test

import (
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
)

// mixedRows draws rows of numbers, levels and counts by turns.
func mixedRows(rng *rand.Rand, n, d, k int) []float64 {
	parts := [][]float64{familytest.Blobs(rng, n, d, k), draw(some)(rng, n, d, k), counts(rng, n, d, k)}
	x := make([]float64, n*d)
	for i := range x {
		x[i] = parts[i%d%3][i]
	}
	return x
}

// newMixed makes the family of such rows, with numbers of a shape.
func newMixed(shape family.Shape) familytest.Maker {
	return func(v []float64) family.Family {
		var columns [3][]int
		var number []float64
		var levels []int
		for j := range v {
			columns[j%3] = append(columns[j%3], j)
			switch j % 3 {
			case 0:
				number = append(number, v[j])
			case 1:
				levels = append(levels, some(j))
			}
		}
		var numbers family.Family = family.Gaussian{Shape: shape, Var: number}
		if shape.Parsimonious() {
			numbers = family.Parsimonious{Shape: shape, Var: number}
		}
		m := family.Mixed{}
		for i, f := range []family.Family{numbers, family.Categorical{Levels: levels}, family.Poisson{Weight: 1000}} {
			if columns[i] != nil {
				m.Parts = append(m.Parts, family.Part{Family: f, Columns: columns[i]})
			}
		}
		return m
	}
}

func TestMixedLaws(t *testing.T) {
	for _, shape := range []family.Shape{family.Full, family.Tied, family.Diag, family.TiedSpherical} {
		t.Run(shape.String(), func(t *testing.T) {
			familytest.LawsOn(t, newMixed(shape), mixedRows)
			familytest.SmoothLawsOn(t, newMixed(shape), mixedRows)
		})
	}
	t.Run("tied-volume-shape", func(t *testing.T) {
		familytest.LawsOn(t, newMixed(family.TiedVolumeShape), mixedRows)
		familytest.CurvedLawsOn(t, newMixed(family.TiedVolumeShape), mixedRows)
	})
}

func TestMixedLawsWithGaps(t *testing.T) {
	for _, shape := range []family.Shape{family.Full, family.Diag} {
		t.Run(shape.String(), func(t *testing.T) {
			familytest.LawsOn(t, familytest.Gapped(newMixed(shape)), familytest.Holes(mixedRows))
			familytest.SmoothLawsOn(t, familytest.Gapped(newMixed(shape)), familytest.Holes(mixedRows))
		})
	}
	t.Run("tied-shape-diag", func(t *testing.T) {
		familytest.LawsOn(t, familytest.Gapped(newMixed(family.TiedShapeDiag)), familytest.Holes(mixedRows))
	})
}
