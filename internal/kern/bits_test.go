package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// cells draws a panel of bits, packed with guards around the words.
func cells(t *testing.T, rng *rand.Rand, d int) (x []float64, words []uint32) {
	t.Helper()
	x = make([]float64, d*Rows)
	for i := range x {
		x[i] = float64(rng.IntN(2))
		if x[i] == 0 && rng.IntN(8) == 0 {
			x[i] = math.Copysign(0, -1)
		}
	}
	const canary = 0x5aa5c33c
	all := make([]uint32, BitWords(d)+8)
	for i := range all {
		all[i] = canary
	}
	words = all[4 : 4+BitWords(d) : 4+BitWords(d)]
	if !PackBits(words, x, d) {
		t.Fatalf("d %d: not bits", d)
	}
	for i := range 4 {
		if all[i] != canary || all[len(all)-1-i] != canary {
			t.Fatalf("d %d: written beyond the words", d)
		}
	}
	return x, words
}

var bitColumns = []int{1, 2, 3, 4, 5, 6, 7, 8, 9, 15, 16, 17, 31, 32, 33, 34, 63, 64, 65, 97}

func TestPackBitsKeepsEveryCell(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(61, 0))
		for _, d := range bitColumns {
			x, words := cells(t, rng, d)
			for i := range Rows {
				for j := range d {
					row := words[j/Rows*Rows+i] >> (j % Rows) & 1
					column := BitColumns(words, d)[j] >> i & 1
					if v := x[j*Rows+i]; float64(row) != v || float64(column) != v {
						t.Fatalf("d %d: cell (%d, %d) is %v, by rows %d and by columns %d", d, i, j, v, row, column)
					}
				}
				for j := d; j < (d+Rows-1)/Rows*Rows; j++ {
					if words[j/Rows*Rows+i]>>(j%Rows)&1 != 0 {
						t.Fatalf("d %d: row %d has a bit beyond its end", d, i)
					}
				}
			}
		}
	})
}

func TestPackBitsRefusesWhatIsNoBit(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(62, 0))
		for _, v := range []float64{0.5, -1, 2, 3, math.Inf(1), math.Inf(-1), math.NaN(), 5e-324, -5e-324, 1e-200, 1e200, math.Nextafter(1, 2), math.Nextafter(1, 0)} {
			for _, d := range []int{1, 2, 33} {
				for i := range Rows {
					x, words := cells(t, rng, d)
					x[rng.IntN(d)*Rows+i] = v
					if PackBits(words, x, d) {
						t.Fatalf("d %d: %v in row %d went for a bit", d, v, i)
					}
				}
			}
		}
	})
}

var bitShapes = func() (s [][2]int) {
	for _, d := range bitColumns {
		for _, k := range []int{1, 2, 3, 4, 7, 8, 17, 33} {
			s = append(s, [2]int{d, k})
		}
	}
	return s
}()

func TestBitScoresAreSumsOfWeights(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(63, 0))
		for _, s := range bitShapes {
			d, k := s[0], s[1]
			x, words := cells(t, rng, d)
			w, intactWeights := random(rng, k*d)
			base, intactBase := random(rng, k)
			dst, intact := guarded(k * Rows)
			b := NewBits(w, base, k, d)
			tmp, intactTmp := guarded(b.Scratch())
			b.Score(dst, words, tmp)
			for _, ok := range []func(*testing.T){intact, intactWeights, intactBase, intactTmp} {
				ok(t)
			}
			for c := range k {
				for i := range Rows {
					want, size := base[c], math.Abs(base[c])
					for j := range d {
						if x[j*Rows+i] == 1 {
							want += w[c*d+j]
							size += math.Abs(w[c*d+j])
						}
					}
					near(t, "score", dst[c*Rows+i], want, size)
				}
			}
		}
	})
}

// Two panels are gathered, so that the sums of one are added to those of the other; Flush adds to what is there.
func TestBitMomentsAreSumsOfShares(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(64, 0))
		for _, s := range bitShapes {
			d, k := s[0], s[1]
			b := NewBits(make([]float64, k*d), make([]float64, k), k, d)
			sum, intactSum := guarded(b.Size())
			clear(sum)
			tmp, intactTmp := guarded(b.Scratch())
			n, intactN := guarded(k)
			moments, intactMoments := guarded(k * d)
			want, size := make([]float64, k*d), make([]float64, k*d)
			wantN := make([]float64, k)
			clear(n)
			for i := range moments {
				moments[i], want[i], size[i] = 1, 1, 1
			}
			for range 2 {
				x, words := cells(t, rng, d)
				q, intact := guarded(Pad(k) * Rows)
				f, _ := random(rng, Rows)
				for i := range q {
					q[i] = rng.Float64()
				}
				f[3] = 0
				b.Add(sum, words, q, f, tmp)
				intact(t)
				for c := range k {
					for i := range Rows {
						r := q[c*Rows+i] * f[i]
						wantN[c] += r
						for j := range d {
							want[c*d+j] += r * x[j*Rows+i]
							size[c*d+j] += math.Abs(r)
						}
					}
				}
			}
			b.Flush(n, moments, sum)
			for _, ok := range []func(*testing.T){intactSum, intactTmp, intactN, intactMoments} {
				ok(t)
			}
			for i, v := range moments {
				near(t, "moment", v, want[i], size[i])
			}
			for c, v := range n {
				near(t, "weight", v, wantN[c], 10+math.Abs(v))
			}
			for i, v := range sum {
				if v != 0 {
					t.Fatalf("d %d, k %d: sum %d is %v after Flush", d, k, i, v)
				}
			}
		}
	})
}

// A weight that no number can hold must not reach rows without its bit, as a product with 0 would.
func TestBitScoresLeaveOutWhatIsNotSet(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for j := range 9 {
			x := make([]float64, 9*Rows)
			w := make([]float64, 9)
			w[j] = math.Inf(-1)
			x[j*Rows+7] = 1
			words := make([]uint32, BitWords(9))
			PackBits(words, x, 9)
			b, dst := NewBits(w, []float64{2}, 1, 9), make([]float64, Rows)
			b.Score(dst, words, make([]float64, b.Scratch()))
			for i, v := range dst {
				if want := map[bool]float64{false: 2, true: math.Inf(-1)}[i == 7]; v != want {
					t.Fatalf("column %d, row %d: %v, want %v", j, i, v, want)
				}
			}
		}
	})
}

func TestBitsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const d, k = 70, 21
		x, words := cells(t, rand.New(rand.NewPCG(65, 0)), d)
		b := NewBits(make([]float64, k*d), make([]float64, k), k, d)
		dst, sum, tmp, f := make([]float64, Pad(k)*Rows), make([]float64, b.Size()), make([]float64, b.Scratch()), make([]float64, Rows)
		n, s := make([]float64, k), make([]float64, k*d)
		if a := testing.AllocsPerRun(10, func() {
			PackBits(words, x, d)
			b.Score(dst, words, tmp)
			b.Add(sum, words, dst, f, tmp)
			b.Flush(n, s, sum)
		}); a != 0 {
			t.Errorf("%v allocations a panel", a)
		}
	})
}

// Multiply-adds are counted, one for a bit and a component, beside the panels of float64 that mixtures of Gaussians use.
func BenchmarkBits(b *testing.B) {
	for _, l := range Levels() {
		for _, s := range [][2]int{{784, 20}, {64, 32}, {7, 3}} {
			d, k := s[0], s[1]
			run := func(name string, f func()) {
				b.Run(fmt.Sprintf("%v/d=%d,k=%d/%s", l, d, k, name), func(b *testing.B) {
					defer Use(l)()
					for b.Loop() {
						f()
					}
					b.ReportMetric(float64(d*k*Rows*b.N)/b.Elapsed().Seconds()/1e9, "Gmadd/s")
				})
			}
			restore := Use(l)
			rng := rand.New(rand.NewPCG(66, 0))
			x, words := make([]float64, d*Rows), make([]uint32, BitWords(d))
			for i := range x {
				x[i] = float64(rng.IntN(2))
			}
			PackBits(words, x, d)
			w := make([]float64, k*d)
			bits := NewBits(w, make([]float64, k), k, d)
			q, f, sum, tmp := make([]float64, Pad(k)*Rows), make([]float64, Rows), make([]float64, bits.Size()), make([]float64, bits.Scratch())
			restore()
			run("pack", func() { PackBits(words, x, d) })
			run("bind", func() { NewBits(w, make([]float64, k), k, d) })
			run("score", func() { bits.Score(q, words, tmp) })
			run("moments", func() { bits.Add(sum, words, q, f, tmp) })
			run("moments by floats", func() { Share(tmp, q, f, k); Accumulate(sum, x, tmp, d, k) })
		}
	}
}
