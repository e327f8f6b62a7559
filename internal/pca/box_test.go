package pca

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// The box of a rectangle of 30 by 4 that lies askew, with rows of weight 0 far outside, has these sides, for any number of threads
// and whichever way the rows come.
func TestBoxHoldsAllRowsOfWeight(t *testing.T) {
	src := &data.Table{D: 2}
	add := func(u, v, w float64) {
		src.N++
		src.F64, src.W = append(src.F64, 1e6+0.8*u-0.6*v, 0.6*u+0.8*v), append(src.W, w)
	}
	for i := range 3100 {
		add(float64(i%31)-15, float64(i/31%5)-2, 1)
	}
	add(15, 2, 3)
	add(500, -400, 0)
	ctx := context.Background()
	look, err := sweep.Look(ctx, src, 1)
	if err != nil {
		t.Fatal(err)
	}
	lo, hi, err := Box(ctx, src, look, 1)
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{4, 30} { // the short side has the smallest variance
		if math.Abs(hi[j]-lo[j]-want) > 0.02 || lo[j] > 0 || hi[j] < 0 { // the row of weight 3 turns the axes by as much
			t.Errorf("side %d from %v to %v, want a length of %v", j, lo[j], hi[j], want)
		}
	}
	for _, threads := range []int{2, 5} {
		l, h, err := Box(ctx, once{src}, look, threads)
		if err != nil || !slices.Equal(l, lo) || !slices.Equal(h, hi) {
			t.Errorf("%d threads: %v to %v (%v)", threads, l, h, err)
		}
	}
}

// Rows that are all equal have a box without sides, and a constant column beside one that varies a side of 0.
func TestBoxOfRowsThatDoNotVary(t *testing.T) {
	ctx := context.Background()
	for _, c := range []struct {
		x    []float64
		want float64 // of the longer side
	}{{[]float64{5, 7, 5, 7, 5, 7}, 0}, {[]float64{5, 7, 9, 7, 6, 7}, 4}} {
		src := &data.Table{N: 3, D: 2, F64: c.x}
		look, err := sweep.Look(ctx, src, 1)
		if err != nil {
			t.Fatal(err)
		}
		lo, hi, err := Box(ctx, src, look, 1)
		if err != nil || math.Abs(hi[0]-lo[0]) > 1e-12 || math.Abs(hi[1]-lo[1]-c.want) > 1e-12 {
			t.Errorf("%v: %v to %v (%v)", c.x, lo, hi, err)
		}
	}
}
