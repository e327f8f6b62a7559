package kern

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestDueTellsWhoseClockHasCome(t *testing.T) {
	for _, k := range []int{1, 7, 15, 16, 31, 32, 50} {
		t.Run(fmt.Sprintf("k=%d", k), func(t *testing.T) { dueTells(t, k) })
	}
}

func dueTells(t *testing.T, k int) {
	everyLevel(t, func(t *testing.T) {
		const panels = 3
		rng := rand.New(rand.NewPCG(1, 1))
		due, label, at := make([]float32, panels*Rows), make([]int32, panels*Rows), make([]float32, k+1)
		for i := range due {
			due[i], label[i] = float32(rng.IntN(5)-1), int32(rng.IntN(k+1)-1)
		}
		for c := range at {
			at[c] = float32(rng.IntN(4))
		}
		due[3], due[40], due[41] = float32(math.NaN()), float32(math.Inf(1)), float32(math.Inf(-1))
		flags := []uint32{9, 9, 9, 77}
		Due(flags, due, label, at, panels)
		for i, v := range due {
			if got, want := flags[i/Rows]>>(i%Rows)&1 == 1, !(v > at[label[i]+1]); got != want {
				t.Errorf("row %d: due %v at %v: %v", i, v, at[label[i]+1], got)
			}
		}
		if flags[panels] != 77 {
			t.Error("memory outside was written")
		}
	})
}

// Distances of rows to two centres in exact numbers: what Slack says is at most their difference and, but for a
// thousandth, all of it.
func TestSlackIsTheDifferenceOfTwoDistances(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const panels, k = 2, 5
		rng := rand.New(rand.NewPCG(2, 2))
		state, norm, label, low := make([]DenseState, panels), make([]float32, panels*Rows), make([]int32, panels*Rows), make([]float32, k+1)
		due, want := make([]float32, panels*Rows+1), make([]float64, panels*Rows)
		coef := [7]float32{0, 0, 0, 2, 1, 1e-30, 1 - 0x1p-10}
		for c := range low {
			low[c] = float32(c)
		}
		for i := range norm {
			n, u := float64(1+rng.IntN(8)), float64(rng.IntN(20))
			l := u + float64(rng.IntN(5))
			norm[i], label[i] = float32(n), int32(rng.IntN(k))
			state[i/Rows][i%Rows], state[i/Rows][Rows+i%Rows] = float32(u*u-(n+2)*(n+2)), float32(l*l-(n+2)*(n+2))
			want[i] = l - u
		}
		due[panels*Rows] = 77
		Slack(due, state, norm, label, low, &coef, panels)
		for i, w := range want {
			if got := float64(due[i] - low[label[i]+1]); got > w || got < w*(1-0.0011)-1e-6 {
				t.Errorf("row %d: %v, want %v", i, got, w)
			}
		}
		coef[0], coef[1], coef[2] = 1, 2, 3 // what scores may be wrong by
		Slack(due, state, norm, label, low, &coef, panels)
		for i, n := range norm {
			best, second := float64(state[i/Rows][i%Rows]), float64(state[i/Rows][Rows+i%Rows])
			g := float64((n+2)*n + 3)
			b := float64((n+2)*(n+2)) + g
			want := max(second-best-g, 0) / (math.Sqrt(b+best) + math.Sqrt(b+second)) * (1 - 0x1p-10)
			if got := float64(due[i] - low[label[i]+1]); math.Abs(got-want) > 2e-6 {
				t.Errorf("row %d: %v, want %v", i, got, want)
			}
		}
		if due[panels*Rows] != 77 {
			t.Error("memory outside was written")
		}
	})
}

func TestRunnerUpIsTheSecondOfASort(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, w := range []int{1, 2, 5, 12} {
			const tiles = 3
			rng := rand.New(rand.NewPCG(3, uint64(w)))
			row, meta, scores := make([]float32, 4*Rows), make([]float32, 4*tiles), make([]float32, tiles*w*Rows)
			for _, s := range [][]float32{row, meta, scores} {
				for i := range s {
					s[i] = float32(rng.IntN(9))
				}
			}
			var second [Rows]float32
			RunnerUp(&second, row, meta, scores, w, tiles)
			for i := range Rows {
				var all []float32
				for s := range tiles * w {
					m := meta[s/w*4:]
					all = append(all, scores[s*Rows+i]-(row[Rows+i]+m[3]+row[2*Rows+i]*m[1]+row[3*Rows+i]*m[2]))
				}
				if slices.Sort(all); second[i] != all[1] {
					t.Errorf("width %d, row %d: %v, want %v", w, i, second[i], all[1])
				}
			}
		}
	})
}

func TestCompressKeepsTheRowsOfTheBits(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, columns := range []int{1, 2, 7} {
			src := make([]float32, columns*Rows)
			for i := range src {
				src[i] = float32(i + 1)
			}
			rng := rand.New(rand.NewPCG(4, uint64(columns)))
			for _, rows := range []uint32{0, 1, 1 << 31, 0xffff, 0xffff0000, math.MaxUint32, rng.Uint32(), rng.Uint32() & rng.Uint32(), rng.Uint32() & rng.Uint32() & rng.Uint32()} {
				dst := make([]float32, columns*Rows+1)
				Compress(dst, src, rows, columns)
				for c := range columns {
					n := 0
					for r := range Rows {
						if rows>>r&1 == 1 {
							if dst[c*Rows+n] != src[c*Rows+r] {
								t.Errorf("rows %x, column %d, place %d: %v", rows, c, n, dst[c*Rows+n])
							}
							n++
						}
					}
					for ; n < Rows; n++ {
						if dst[c*Rows+n] != 0 {
							t.Errorf("rows %x, column %d: place %d was written", rows, c, n)
						}
					}
				}
				if dst[columns*Rows] != 0 {
					t.Error("memory outside was written")
				}
			}
		}
	})
}

// Sums of float32 of many sizes by rational arithmetic. Rows come and go; what stays is exact, to the bit of hi + lo.
func TestShiftKeepsExactSums(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, d := range []int{1, 3, 4, 8, 17, 33} {
			const n, k = 40, 3
			rng := rand.New(rand.NewPCG(5, uint64(d)))
			x, origin := make([]float32, n*d), make([]float64, d)
			for i := range x {
				x[i] = float32(math.Ldexp(rng.NormFloat64(), rng.IntN(12)-12))
			}
			for j := range origin {
				origin[j] = float64(rng.IntN(3))
			}
			hi, lo, label := make([]float64, (k+1)*d), make([]float64, (k+1)*d), slices.Repeat([]uint32{k}, n)
			for range 20 {
				var changes []Change
				for range 1 + rng.IntN(5) {
					r := uint32(rng.IntN(n))
					to := (label[r] + 1 + uint32(rng.IntN(k-1))) % k
					changes = append(changes, Change{r, label[r], to})
					label[r] = to
				}
				Shift(hi, lo, x, origin, 1<<10, changes, d)
			}
			for c := range k {
				for j := range d {
					want := new(big.Rat)
					for i, l := range label {
						if int(l) == c {
							want.Add(want, new(big.Rat).SetFloat64(float64(x[i*d+j])))
							want.Sub(want, new(big.Rat).SetFloat64(origin[j]))
						}
					}
					got := new(big.Rat).SetFloat64(hi[c*d+j])
					if got.Add(got, new(big.Rat).SetFloat64(lo[c*d+j])); got.Cmp(want) != 0 {
						t.Errorf("d %d, cluster %d, column %d: %v, want %v", d, c, j, got, want)
					}
				}
			}
		}
	})
}

func TestBoundsKernelsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const d, k = 8, 4
		x, sums, origin := make([]float32, d*Rows), make([]float64, k*d), make([]float64, d)
		flags, due, label, at, state := make([]uint32, 1), make([]float32, Rows), make([]int32, Rows), make([]float32, k+1), make([]DenseState, 1)
		coef, row, meta, scores, second := new([7]float32), make([]float32, 4*Rows), make([]float32, 4), make([]float32, k*Rows), new([Rows]float32)
		changes := []Change{{1, 2, 3}}
		if n := testing.AllocsPerRun(20, func() {
			Due(flags, due, label, at, 1)
			Slack(due, state, due, label, at, coef, 1)
			RunnerUp(second, row, meta, scores, k, 1)
			Compress(x, x, 5, d)
			Shift(sums, sums, x, origin, 1, changes, d)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
