package kern

import (
	"math"
	"math/rand/v2"
	"testing"
)

// within reports whether got is want to n rounding errors of terms that add up to size in absolute value.
func within(got, want, size float64, n int) bool {
	return math.Abs(got-want) <= float64(n)*0x1p-52*size
}

func TestAccumulateFewAddsUpShares(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(41, 0))
		for k := 1; k <= Few; k++ {
			for _, f := range []int{1, 2, 5, 80} {
				x, _ := random(rng, f*Rows)
				q, _ := random(rng, k*Rows)
				w, _ := random(rng, Rows)
				sum, intact := guarded(k * f * Lanes)
				for i := range sum {
					sum[i] = float64(i)
				}
				AccumulateFew(sum, x, q, w, f, k)
				intact(t)
				for c := range k {
					for j := range f {
						for l := range Lanes {
							at := (c*f+j)*Lanes + l
							want, size := float64(at), float64(at)
							for i := l; i < Rows; i += Lanes {
								v := x[j*Rows+i] * q[c*Rows+i] * w[i]
								want += v
								size += math.Abs(v)
							}
							if !within(sum[at], want, size, 8) {
								t.Fatalf("k %d, f %d: sum of feature %d, component %d, lane %d is %v, want %v", k, f, j, c, l, sum[at], want)
							}
						}
					}
				}
			}
		}
	})
}

func TestTallyWeighsEveryRow(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(42, 0))
		factor, _ := random(rng, Rows)
		w, _ := random(rng, Rows)
		lse, _ := random(rng, Rows)
		ent, _ := random(rng, Rows)
		var want, size [4]float64
		for i := range w {
			w[i] = math.Abs(w[i])
			if i%5 == 0 {
				w[i] = 0
			} else {
				want[3] += 2
			}
			for j, v := range []float64{1, lse[i], ent[i]} {
				want[j] += 2 * w[i] * v
				size[j] += 2 * math.Abs(w[i]*v)
			}
		}
		size[3] = want[3]
		first, second := append([]float64(nil), factor...), append([]float64(nil), factor...)
		var sum [4 * Lanes]float64
		Tally(&sum, first, w, lse, ent)
		Tally(&sum, second, w, lse, ent)
		for j := range want {
			if got := Sum(sum[j*Lanes:]); !within(got, want[j], size[j], 40) {
				t.Errorf("sum %d is %v, want %v", j, got, want[j])
			}
		}
		for i := range w {
			if first[i] != factor[i]*w[i] || second[i] != factor[i]*w[i] {
				t.Errorf("factor %d is %v, want %v", i, first[i], factor[i]*w[i])
			}
		}
	})
}

func TestLargestIsTheLargestAbsoluteValue(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(43, 0))
		for _, n := range []int{1, 3, 10} {
			x, _ := random(rng, n*Rows)
			for at := range x {
				for _, v := range []float64{1e150, -1e150, math.Inf(-1)} {
					kept := x[at]
					x[at] = v
					if got := Largest(x, n); got != math.Abs(v) {
						t.Fatalf("n %d: the largest is %v, want %v at %d", n, got, math.Abs(v), at)
					}
					x[at] = kept
				}
			}
			if got := Largest(make([]float64, n*Rows), n); got != 0 {
				t.Errorf("n %d: the largest of zeros is %v", n, got)
			}
		}
	})
}
