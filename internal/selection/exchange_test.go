package selection

import (
	"math"
	"slices"
	"testing"
)

// A split adds a component without rows, a merger gives the first of two the rows of the second; rows keep their sum of 1.
func TestResponsibilitiesOfNeighbours(t *testing.T) {
	t.Parallel()
	resp := []float64{0.5, 0.25, 0.25, 0, 1, 0}
	if got := widened(resp, 3); !slices.Equal(got, []float64{0.5, 0.25, 0.25, 0, 0, 1, 0, 0}) {
		t.Errorf("widened: %v", got)
	}
	for pair, want := range map[[2]int][]float64{{0, 1}: {0.75, 0.25, 1, 0}, {0, 2}: {0.75, 0.25, 0, 1}, {1, 2}: {0.5, 0.5, 0, 1}} {
		if got := merged(resp, 3, pair); !slices.Equal(got, want) {
			t.Errorf("merged %v: %v, want %v", pair, got, want)
		}
	}
	if math.Abs(resp[0]-0.5) > 0 {
		t.Error("the responsibilities themselves were changed")
	}
}
