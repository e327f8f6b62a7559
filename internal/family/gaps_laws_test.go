package family_test

import (
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
)

// The laws hold for rows with missing cells as for complete ones.
func TestLawsWithGaps(t *testing.T) {
	// Of those that share a part one of each kind: variances, a triangle, a turn.
	for _, shape := range append(slices.Clone(shapes), family.TiedVolumeDiag, family.TiedShapeAxes, family.TiedShape) {
		t.Run(shape.String(), func(t *testing.T) {
			rows := familytest.Holes(familytest.Blobs)
			if shape.Parsimonious() {
				newFamily := familytest.Gapped(func(v []float64) family.Family { return family.Parsimonious{Shape: shape, Var: v} })
				familytest.LawsOn(t, newFamily, rows)
				familytest.CurvedLawsOn(t, newFamily, rows)
				return
			}
			newFamily := familytest.Gapped(func(v []float64) family.Family { return family.Gaussian{Shape: shape, Var: v} })
			familytest.LawsOn(t, newFamily, rows)
			familytest.SmoothLawsOn(t, newFamily, rows)
		})
	}
	t.Run("kmeans", func(t *testing.T) {
		familytest.LawsOn(t, familytest.Gapped(func([]float64) family.Family { return family.KMeans{} }), familytest.Holes(familytest.Blobs))
	})
}

func TestLawsOfCodesWithGaps(t *testing.T) {
	for _, c := range []struct {
		name      string
		newFamily familytest.Maker
		rows      familytest.Rows
	}{
		{"bernoulli", familytest.Gapped(newBernoulli), draw(two)},
		{"categorical", newCategorical, draw(some)}, // a cell that is no level says nothing
		{"poisson", familytest.Gapped(func([]float64) family.Family { return family.Poisson{Weight: 1000} }), counts},
	} {
		t.Run(c.name, func(t *testing.T) {
			rows := familytest.Holes(c.rows)
			familytest.LawsOn(t, c.newFamily, rows)
			familytest.SmoothLawsOn(t, c.newFamily, rows)
		})
	}
}
