package kern

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestL1Distances(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
			x, _ := random(rng, d*Rows)
			c, _ := random(rng, d)
			got, intact := guarded(Rows)
			L1All(got, x, c, 1, d)
			intact(t)
			for i := range Rows {
				want := 0.0
				for j := range d {
					if e := x[j*Rows+i] - c[j]; e > 0 {
						want += e
					} else {
						want -= e
					}
				}
				near(t, "distance", got[i], want, want)
			}
			if n := testing.AllocsPerRun(10, func() { L1All(got, x, c, 1, d) }); n != 0 {
				t.Errorf("%v allocations", n)
			}
		})
	})
}

// Terms are added in the order of columns, so the bits are those of this loop.
func absolute(row, c []float64) (sum float64) {
	for j, v := range row {
		sum += math.Abs(v - c[j])
	}
	return sum
}

func TestL1OfManyCentresIsTheLoopToTheBit(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
			for _, k := range []int{1, 2, 3, 5, 8, 13} {
				x, _ := random(rng, d*Rows)
				c, _ := random(rng, k*d)
				copy(c[(k-1)*d:], c[:d]) // a tie with the first
				all, intactAll := guarded(k * Rows)
				least, intactLeast := guarded(Rows)
				label := make([]int64, Rows+1)
				label[Rows] = -7
				L1All(all, x, c, k, d)
				L1Nearest(least, label, x, c, k, d)
				intactAll(t)
				intactLeast(t)
				row := make([]float64, d)
				for i := range Rows {
					for j := range row {
						row[j] = x[j*Rows+i]
					}
					best, at := math.Inf(1), 0
					for q := range k {
						want := absolute(row, c[q*d:q*d+d])
						if all[q*Rows+i] != want {
							t.Fatalf("k %d: row %d, centre %d: %v, want %v", k, i, q, all[q*Rows+i], want)
						}
						if want < best {
							best, at = want, q
						}
					}
					if least[i] != best || label[i] != int64(at) {
						t.Fatalf("k %d: row %d is at %v from centre %d, want %v from %d", k, i, least[i], label[i], best, at)
					}
				}
				if label[Rows] != -7 {
					t.Fatal("a label too many")
				}
			}
		})
	})
}

func TestL1OverflowsToTheFirstCentre(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		x, c := make([]float64, 2*Rows), []float64{-math.MaxFloat64, -math.MaxFloat64, -math.MaxFloat64, 0}
		for i := range x {
			x[i] = math.MaxFloat64
		}
		least, label := make([]float64, Rows), make([]int64, Rows)
		L1Nearest(least, label, x, c, 2, 2)
		for i, v := range least {
			if !math.IsInf(v, 1) || label[i] != 0 {
				t.Fatalf("row %d: %v from centre %d", i, v, label[i])
			}
		}
	})
}

func TestL1IsTheSameInSeveralCalls(t *testing.T) {
	const d, k = 2048, 40 // more cells than one call of assembly takes
	rng := rand.New(rand.NewPCG(5, 5))
	x, _ := random(rng, d*Rows)
	c, _ := random(rng, k*d)
	want, wantLeast, wantLabel, wantSums := make([]float64, k*Rows), make([]float64, Rows), make([]int64, Rows), make([]float64, k)
	restore := Use(Go)
	L1All(want, x, c, k, d)
	L1Nearest(wantLeast, wantLabel, x, c, k, d)
	DistanceSums(wantSums, x, x, c, k, d)
	restore()
	everyLevel(t, func(t *testing.T) {
		all, least, label, sums := make([]float64, k*Rows), make([]float64, Rows), make([]int64, Rows), make([]float64, k)
		L1All(all, x, c, k, d)
		L1Nearest(least, label, x, c, k, d)
		DistanceSums(sums, x, x, c, k, d)
		if !slices.Equal(all, want) || !slices.Equal(least, wantLeast) || !slices.Equal(label, wantLabel) || !slices.Equal(sums, wantSums) {
			t.Error("differs from plain Go")
		}
	})
}

func TestL1RowsAreTheSameBitsAtEveryLevel(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for d := 1; d <= 40; d++ {
			rng := rand.New(rand.NewPCG(6, uint64(d)))
			const n, k = 37, 4
			x, _ := random(rng, n*d)
			c, _ := random(rng, k*d)
			label := make([]int32, n)
			for i := range label {
				label[i] = int32(rng.IntN(k))
			}
			got, intact := guarded(n)
			L1Rows(got, x, c, label, d)
			intact(t)
			for i, l := range label {
				var s [8]float64
				for j := range d {
					s[j%8] += math.Abs(x[i*d+j] - c[int(l)*d+j])
				}
				if want := ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7])); got[i] != want {
					t.Fatalf("d %d, row %d: %v, want %v", d, i, got[i], want)
				}
			}
		}
	})
}

// Small integers, so that many values are at the ends of an interval.
func TestBracketTalliesEveryValueOnce(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for d := 1; d <= 34; d++ {
			rng := rand.New(rand.NewPCG(7, uint64(d)))
			const n, k = 90, 3
			x, w, label := make([]float64, n*d), make([]float64, n), make([]int32, n)
			for i := range x {
				x[i] = float64(rng.IntN(12))
			}
			p := Pad(d)
			table, intact := guarded(k * Planes * p)
			for i := range table {
				table[i] = 0
				if plane := i / p % Planes; plane < 2 && i%p >= d {
					table[i] = math.Inf(1)
				}
			}
			for i := range n {
				w[i], label[i] = float64(1+rng.IntN(3))/4, int32(rng.IntN(k))
			}
			for c := range k {
				for j := range d {
					lo := float64(rng.IntN(8))
					table[c*Planes*p+j], table[c*Planes*p+p+j] = lo, lo+float64(rng.IntN(5))
				}
			}
			table[0], table[p] = math.Inf(-1), math.Inf(1)
			want := clone(table)
			var hits, weights []float64
			var slots []int32
			for i, l := range label {
				for j := range d {
					at, v := int(l)*Planes*p+j, x[i*d+j]
					if v < want[at] {
						want[at+2*p] += w[i]
					}
					if v <= want[at] {
						want[at+3*p] += w[i]
					}
					if v <= want[at+p] {
						want[at+4*p] += w[i]
					}
					if v > want[at] && v < want[at+p] {
						hits, weights, slots = append(hits, v), append(weights, w[i]), append(slots, l*int32(d)+int32(j))
					}
				}
			}
			hit, intactHit := guarded(n*d + BracketRoom)
			weight, intactWeight := guarded(n*d + BracketRoom)
			slot := make([]int32, n*d+BracketRoom+1)
			slot[n*d+BracketRoom] = -7
			got := Bracket(hit, weight, slot, table, x, w, label, d)
			intact(t)
			intactHit(t)
			intactWeight(t)
			if slot[n*d+BracketRoom] != -7 {
				t.Fatal("a slot too many")
			}
			if !slices.Equal(hit[:got], hits) || !slices.Equal(weight[:got], weights) || !slices.Equal(slot[:got], slots) {
				t.Fatalf("d %d: %d values inside, want %d", d, got, len(hits))
			}
			for i := range table {
				if table[i] != want[i] && i%p < d {
					t.Fatalf("d %d: cluster %d, plane %d, column %d: %v, want %v", d, i/p/Planes, i/p%Planes, i%p, table[i], want[i])
				}
			}
		}
	})
}

func TestDistanceSumsAreTheSameBitsAtEveryLevel(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
			const k = 7
			x, _ := random(rng, d*Rows)
			w, _ := random(rng, Rows)
			c, _ := random(rng, k*d)
			got, intact := guarded(k)
			for q := range got {
				got[q] = float64(q)
			}
			DistanceSums(got, x, w, c, k, d)
			intact(t)
			for q := range k {
				var s [8]float64
				for i := range Rows {
					sq := 0.0
					for j := range d {
						e := x[j*Rows+i] - c[q*d+j]
						sq += float64(e * e)
					}
					s[i%8] += float64(w[i] * math.Sqrt(sq))
				}
				if want := float64(q) + (((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))); got[q] != want {
					t.Fatalf("centre %d: %v, want %v", q, got[q], want)
				}
			}
		})
	})
}

func TestL1KernelsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const k, d = 3, 9
		x, c, out, least := make([]float64, d*Rows), make([]float64, k*d), make([]float64, k*Rows), make([]float64, Rows)
		label, own, table := make([]int64, Rows), make([]int32, Rows), make([]float64, k*Planes*Pad(d))
		hit, weight, slot := make([]float64, d*Rows+BracketRoom), make([]float64, d*Rows+BracketRoom), make([]int32, d*Rows+BracketRoom)
		if n := testing.AllocsPerRun(10, func() {
			L1All(out, x, c, k, d)
			L1Nearest(least, label, x, c, k, d)
			L1Rows(least, x, c, own, d)
			Bracket(hit, weight, slot, table, x, least, own, d)
			DistanceSums(out, x, least, c, k, d)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func BenchmarkL1(b *testing.B) {
	rng := rand.New(rand.NewPCG(41, 0))
	for _, size := range []struct {
		name string
		d, k int
	}{{"d=2,k=10", 2, 10}, {"d=16,k=16", 16, 16}, {"d=64,k=8", 64, 8}} {
		d, k := size.d, size.k
		x, _ := random(rng, d*Rows)
		c, _ := random(rng, k*d)
		out, least, label, w := make([]float64, k*Rows), make([]float64, Rows), make([]int64, Rows), make([]float64, Rows)
		own, table := make([]int32, Rows), make([]float64, k*Planes*Pad(d))
		for i := range own {
			own[i] = int32(i % k)
		}
		hit, weight, slot := make([]float64, d*Rows+BracketRoom), make([]float64, d*Rows+BracketRoom), make([]int32, d*Rows+BracketRoom)
		cells := func(b *testing.B, n int) {
			b.ReportMetric(float64(n)*float64(b.N)/b.Elapsed().Seconds()/1e9, "Gcells/s")
		}
		benchLevels(b, "all/"+size.name, func(b *testing.B) {
			for b.Loop() {
				L1All(out, x, c, k, d)
			}
			cells(b, k*d*Rows)
		})
		benchLevels(b, "nearest/"+size.name, func(b *testing.B) {
			for b.Loop() {
				L1Nearest(least, label, x, c, k, d)
			}
			cells(b, k*d*Rows)
		})
		benchLevels(b, "rows/"+size.name, func(b *testing.B) {
			for b.Loop() {
				L1Rows(least, x, c, own, d)
			}
			cells(b, d*Rows)
		})
		benchLevels(b, "bracket/"+size.name, func(b *testing.B) {
			for b.Loop() {
				Bracket(hit, weight, slot, table, x, w, own, d)
			}
			cells(b, d*Rows)
		})
		benchLevels(b, "distances/"+size.name, func(b *testing.B) {
			for b.Loop() {
				DistanceSums(out, x, w, c, k, d)
			}
			cells(b, k*d*Rows)
		})
	}
}
