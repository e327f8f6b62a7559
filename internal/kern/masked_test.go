package kern

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Over the cells that count a score is a plain sum; a row that is far away in a cell that counts has the least score.
func TestMaskedEllipses(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(41, 0))
		for _, d := range append(upTo40, 65) {
			for _, k := range []int{1, 2, 3, 4, 5, 7, 40} {
				x, _ := random(rng, d*Rows)
				mask := make([]float64, d*Rows)
				for i := range mask {
					mask[i] = float64(rng.IntN(2))
				}
				for i := 3; i < Rows; i += 10 {
					x[i], mask[i] = 1e200, 1
				}
				mean, _ := random(rng, k*d)
				scale, _ := random(rng, k*d)
				extra, _ := random(rng, k*d)
				shift, _ := random(rng, k)
				got, intact := guarded(k * Rows)
				MaskedEllipses(got, x, mask, mean, scale, extra, shift, d, k)
				intact(t)
				for c := range k {
					for i := range Rows {
						want, size := 0.0, 0.0
						for j := range d {
							if mask[j*Rows+i] == 1 {
								u := (x[j*Rows+i] - mean[c*d+j]) * scale[c*d+j]
								want += u*u + extra[c*d+j]
								size += u*u + math.Abs(extra[c*d+j])
							}
						}
						want = shift[c] - 0.5*min(want, math.MaxFloat64)
						if at := c*Rows + i; !(math.Abs(got[at]-want) <= 1e-14*(size+math.Abs(shift[c]))) {
							t.Fatalf("d = %d, k = %d: score %d of component %d is %v, want %v", d, k, i, c, got[at], want)
						}
					}
				}
			}
		}
	})
}

func TestPresent(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(42, 0))
		for _, d := range upTo40 {
			for _, share := range []float64{0, 0.01, 0.5, 1} {
				x, _ := random(rng, d*Rows)
				for i := range x {
					if rng.Float64() < share {
						x[i] = math.NaN()
					}
				}
				x[0] = math.Inf(-1)
				there, intact := guarded(d * Rows)
				filled, intactToo := guarded(d * Rows)
				if got := Present(there, filled, x, d); got != slices.ContainsFunc(x, math.IsNaN) {
					t.Fatalf("d = %d: missing %v", d, got)
				}
				intact(t)
				intactToo(t)
				for i, v := range x {
					want, cell := 1.0, v
					if v != v {
						want, cell = 0, 0
					}
					if there[i] != want || filled[i] != cell {
						t.Fatalf("d = %d: cell %d, %v, is %v and %v", d, i, v, there[i], filled[i])
					}
				}
			}
		}
	})
}
