package familytest

import "testing"

// CurvedLaws runs the laws of a family.Smooth that is no exponential family, on Blobs. Its complete-data information in
// expectation and that observed differ even at an M-step, unless the rows have the moments of the components. What Smooth
// says of the metric and of the steps of EM holds at such rows only, which are for the family's own tests to make.
func CurvedLaws(t *testing.T, newFamily Maker) { CurvedLawsOn(t, newFamily, Blobs) }

// CurvedLawsOn is CurvedLaws on the rows that suit the family.
func CurvedLawsOn(t *testing.T, newFamily Maker, rows Rows) {
	Case{New: newFamily, Rows: rows}.suite().hold(t, []law{
		{"the gradient is that of the free energy", differentiates},
		{"the inverse of the metric undoes it", inverts},
		{"what is inside the floors stays", staysInside},
		{"what is outside the floors moves inside at once", movesInside},
		{"twice a move reaches twice as far", reaches},
		{"a nudge parts components that are the same", nudges},
		{"no floor holds what is well inside", holdsNothing},
		{"the rows' gradients add up to the gradient", rowGradientsAddUp},
	})
}
