package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// denseTiles lays centres out as Dense wants them: w a tile, the last tile filled up with centres that never win.
func denseTiles(centres [][]float32, norm []float32, w int) (c []float32, tiles int) {
	d := len(centres[0])
	for lo := 0; lo < len(centres); lo += w {
		tile := make([]float32, (d+2)*w)
		for q := range w {
			tile[d*w+q] = 3e38
			if lo+q >= len(centres) {
				continue
			}
			for j, v := range centres[lo+q] {
				tile[j*w+q] = v
			}
			tile[d*w+q] = norm[lo+q]
			tile[(d+1)*w+q] = math.Float32frombits(uint32(lo + q))
		}
		c, tiles = append(c, tile...), tiles+1
	}
	return c, tiles
}

// Small integers, so that float32 is exact in any order, and equal scores are many.
func TestDenseFindsTheLeastScoreAndTheNearTies(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for _, d := range []int{1, 2, 3, 4, 7, 16, 33} {
			for w := 1; w <= TileWidth(); w++ {
				for _, k := range []int{1, w, 2*w + 1, 3 * w} {
					rng := rand.New(rand.NewPCG(uint64(d), uint64(16*w+k)))
					const panels = 3
					x := make([]float32, panels*d*Rows)
					for i := range x {
						x[i] = float32(rng.IntN(9) - 4)
					}
					centres, norm := make([][]float32, k), make([]float32, k)
					for c := range centres {
						for range d {
							centres[c] = append(centres[c], float32(rng.IntN(9)-4))
						}
						norm[c] = float32(rng.IntN(50))
					}
					n, label, got, flags := make([]float32, panels*Rows), make([]int32, panels*Rows), make([]int32, panels*Rows+1), make([]uint32, 2*panels+1)
					for i := range n {
						n[i], label[i] = float32(rng.IntN(3)), int32(rng.IntN(k))
					}
					got[panels*Rows], flags[2*panels] = -7, 77
					coef := [3]float32{1, 2, 1}
					c, tiles := denseTiles(centres, norm, w)
					state := make([]DenseState, 1)
					Dense(x, c, n, &coef, state, label, got, flags, d, w, tiles, panels, false)
					if tiles > 1 { // the same in two steps
						first, flags2, got2 := c[:(d+2)*w], make([]uint32, 2), make([]int32, Rows)
						Dense(x, first, n, &coef, state, label, got2, flags2, d, w, 1, 1, false)
						Dense(x, c[len(first):], n, &coef, state, label, got2, flags2, d, w, tiles-1, 1, true)
						if !slices.Equal(got2, got[:Rows]) || !slices.Equal(flags2, flags[:2]) {
							t.Fatalf("in two steps %v (%x), at once %v (%x)", got2, flags2, got[:Rows], flags[:2])
						}
					}
					if got[panels*Rows] != -7 || flags[2*panels] != 77 {
						t.Fatal("memory outside was written")
					}
					for i := range panels * Rows {
						p, r := i/Rows, i%Rows
						best, second := float32(math.MaxFloat32), float32(math.MaxFloat32)
						var at []int32
						for c := range k {
							s := norm[c]
							for j := range d {
								s += x[(p*d+j)*Rows+r] * centres[c][j]
							}
							if s < best {
								best, second, at = s, best, nil
							} else {
								second = min(second, s)
							}
							if s == best {
								at = append(at, int32(c))
							}
						}
						near, moved := second-best <= n[i]*n[i]+2*n[i]+1, got[i] != label[i]
						if !slices.Contains(at, got[i]) || flags[2*p]>>r&1 == 1 != near || flags[2*p+1]>>r&1 == 1 != moved {
							t.Fatalf("d %d, width %d, k %d, row %d: %d (flags %x %x), want one of %v, near %v, moved %v", d, w, k, i, got[i], flags[2*p]>>r&1, flags[2*p+1]>>r&1, at, near, moved)
						}
					}
				}
			}
		}
	})
}

func TestIntegersKeepWhatMayBeNearest(t *testing.T) {
	for _, words := range []bool{false, true} {
		t.Run(fmt.Sprintf("words=%v", words), func(t *testing.T) { integersKeep(t, words) })
	}
}

// centreBytes draws the bytes of a centre, group by group, that Integers takes where most is MostByte: the positive of those whose products are
// added up in 16 bits have a sum of at most 1<<15 - 1 over most, often just that, and so have the negative.
func centreBytes(rng *rand.Rand, groups, most int) [][4]int8 {
	c := make([][4]int8, groups+1)
	for g := range c {
		for b := range 4 {
			c[g][b] = int8(rng.Uint32())
		}
	}
	for g := 0; g < groups && most < 255; g += 2 {
		for b := 0; b < 4; b += 2 {
			room := [2]int{(1<<15 - 1) / most, (1<<15 - 1) / most}
			for _, at := range rng.Perm(4) {
				sign := rng.IntN(2)
				v := min(room[sign], rng.IntN(128)+rng.IntN(2)*127, 127+sign)
				room[sign] -= v
				c[g+at/2][b+at%2] = int8(v * (1 - 2*sign))
			}
		}
	}
	return c[:groups]
}

// integersKeep compares with a loop. All numbers are integers below 2^24, so that float32 is exact.
func integersKeep(t *testing.T, words bool) {
	everyLevel(t, func(t *testing.T) {
		for _, d4 := range []int{1, 2, 5, 9} {
			for w := 1; w <= 12; w++ {
				for _, tiles := range []int{1, 3} {
					rng := rand.New(rand.NewPCG(uint64(d4), uint64(16*w+tiles)))
					k := w * tiles
					x, c := make([]uint8, d4*4*Rows), make([]int8, k*4*(d4+2))
					for i := range x {
						x[i] = uint8(min(rng.IntN(300), MostByte()))
						if words {
							x[i] = uint8(rng.IntN(256))
						}
						if words && i%2 == 1 {
							x[i] = uint8(rng.IntN(3) - 1)
						}
					}
					row, meta := make([]float32, 4*Rows), make([]float32, 4*tiles)
					for i := range row {
						row[i] = float32(1 + rng.IntN(3))
					}
					for i := range meta {
						meta[i] = float32(1 + rng.IntN(2))
					}
					scores := make([][]int, k)
					for s := range k {
						tile, q := c[s/w*w*4*(d4+2):][:w*4*(d4+2)], s%w
						put := func(g int, v uint32) {
							for b := range 4 {
								tile[(g*w+q)*4+b] = int8(v >> (8 * b))
							}
						}
						norm, start := float32(rng.IntN(1000)-500), rng.IntN(2000)-1000
						put(0, uint32(int32(start)))
						put(d4+1, math.Float32bits(norm))
						for g, v := range centreBytes(rng, d4, MostByte()) {
							if words {
								put(g+1, uint32(uint16(rng.IntN(256)-128))<<16|uint32(uint16(rng.IntN(256)-128)))
								continue
							}
							put(g+1, uint32(uint8(v[0]))|uint32(uint8(v[1]))<<8|uint32(uint8(v[2]))<<16|uint32(uint8(v[3]))<<24)
						}
						for i := range Rows {
							sum := start
							for g := range d4 {
								for b := 0; words && b < 4; b += 2 {
									at, to := (g*Rows+i)*4+b, ((g+1)*w+q)*4+b
									sum += (int(int8(x[at+1]))*256 + int(x[at])) * (int(tile[to+1])*256 + int(uint8(tile[to])))
								}
								for b := 0; !words && b < 4; b++ {
									sum += int(x[(g*Rows+i)*4+b]) * int(tile[((g+1)*w+q)*4+b])
								}
							}
							scores[s] = append(scores[s], int(norm)-int(row[i])*int(meta[s/w*4])*sum)
						}
					}
					radius := func(s, i int) int {
						m := meta[s/w*4:]
						return int(row[Rows+i]) + int(m[3]) + int(row[2*Rows+i])*int(m[1]) + int(row[3*Rows+i])*int(m[2])
					}
					list := make([]Survivor, k+2)
					list[k+1] = Survivor{7, 7}
					var least [Rows]float32
					for i := range least {
						least[i] = math.MaxFloat32
					}
					all := make([]float32, k*Rows)
					Integers(x, row, c, meta, all, &least, words, d4, w, 1)
					Integers(x, row, c[w*4*(d4+2):], meta[4:], all[w*Rows:], &least, words, d4, w, tiles-1)
					n, multi := Survivors(list, row, meta, all, &least, w, tiles)
					if list[k+1] != (Survivor{7, 7}) {
						t.Fatal("memory outside was written")
					}
					got := make([]uint32, k)
					for i, s := range list[:n] {
						if s.Mask == 0 || i > 0 && list[i-1].Slot >= s.Slot {
							t.Fatalf("survivors %v", list[:n])
						}
						got[s.Slot] = s.Mask
					}
					for i := range Rows {
						upper, count := math.MaxInt, 0
						for s := range k {
							upper = min(upper, scores[s][i]+radius(s, i))
						}
						for s := range k {
							survives := scores[s][i]-radius(s, i) <= upper
							if survives {
								count++
							}
							if got[s]>>i&1 == 1 != survives {
								t.Fatalf("d4 %d, width %d, tiles %d, row %d, centre %d: survives %v", d4, w, tiles, i, s, survives)
							}
						}
						if multi>>i&1 == 1 != (count > 1) {
							t.Fatalf("row %d has %d survivors, multi %x", i, count, multi)
						}
					}
				}
			}
		}
	})
}

func TestFusedDistancesHaveTheBitsOfALoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
			for _, k := range []int{1, 3, 40} {
				x, _ := random(rng, d*Rows)
				c, _ := random(rng, k*d)
				dst, intact := guarded(k * Rows)
				SqdistFused(dst, x, c, k, d)
				intact(t)
				for q := range k {
					for i := range Rows {
						want := 0.0
						for j := range d {
							e := x[j*Rows+i] - c[q*d+j]
							want = math.FMA(e, e, want)
						}
						if dst[q*Rows+i] != want {
							t.Fatalf("k %d, centre %d, row %d: %v, want %v", k, q, i, dst[q*Rows+i], want)
						}
					}
				}
			}
		})
	})
}

func TestPlainDistancesHaveTheBitsOfALoop(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyD(t, func(t *testing.T, rng *rand.Rand, d int) {
			for _, k := range []int{1, 3, 32, 96} {
				x, _ := random(rng, d*Rows)
				c, _ := random(rng, k*d)
				dst, intact := guarded(k * Rows)
				SqdistAll(dst, x, c, k, d)
				intact(t)
				y, by := make([]float64, d), make([]float64, k*d)
				for j := range d {
					y[j] = x[j*Rows+5]
					for q := range k {
						by[j*k+q] = c[q*d+j]
					}
				}
				row, intactRow := guarded(k)
				if k%32 == 0 {
					SqdistRow(row, y, by, k)
					intactRow(t)
				}
				for q := range k {
					for i := range Rows {
						want := 0.0
						for j := range d {
							e := x[j*Rows+i] - c[q*d+j]
							want += float64(e * e)
						}
						if dst[q*Rows+i] != want || i == 5 && k%32 == 0 && row[q] != want {
							t.Fatalf("k %d, centre %d, row %d: %v and %v, want %v", k, q, i, dst[q*Rows+i], row[q], want)
						}
					}
				}
			}
		})
	})
}

func TestTwoLeastAreTheFirstOfAllInOrder(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyK(t, func(t *testing.T, rng *rand.Rand, k int) {
			dist, _ := guarded(k * Rows)
			for i := range dist {
				dist[i] = []float64{0, 1, 2, 3, 4, 5, 6, math.Inf(1)}[rng.IntN(8)]
			}
			least, leastIntact := guarded(Rows)
			second, secondIntact := guarded(Rows)
			label := make([]int64, Rows+2)
			label[0], label[Rows+1] = -7, -7
			TwoLeast(least, second, label[1:Rows+1], dist, k)
			leastIntact(t)
			secondIntact(t)
			if label[0] != -7 || label[Rows+1] != -7 {
				t.Fatal("a label outside the panel was written")
			}
			for i := range Rows {
				var all []float64
				for c := range k {
					all = append(all, dist[c*Rows+i])
				}
				at := slices.Index(all, slices.Min(all))
				slices.Sort(all)
				all = append(all, math.Inf(1))
				if least[i] != all[0] || second[i] != all[1] || int(label[i+1]) != at {
					t.Fatalf("row %d: centre %d at %v, then %v; want %d at %v, then %v", i, label[i+1], least[i], second[i], at, all[0], all[1])
				}
			}
		})
	})
}

func TestArgminTakesTheLowestOfEquals(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		everyK(t, func(t *testing.T, rng *rand.Rand, k int) {
			dist, _ := guarded(k * Rows)
			for i := range dist {
				dist[i] = []float64{0, 1, 2, 3, math.Inf(1)}[rng.IntN(5)]
			}
			least, intact := guarded(Rows)
			label := make([]int64, Rows+2)
			label[0], label[Rows+1] = -7, -7
			Argmin(least, label[1:Rows+1], dist, k)
			intact(t)
			if label[0] != -7 || label[Rows+1] != -7 {
				t.Fatal("a label outside the panel was written")
			}
			for i := range Rows {
				at := 0
				for c := range k {
					if dist[c*Rows+i] < dist[at*Rows+i] {
						at = c
					}
				}
				if least[i] != dist[at*Rows+i] || int(label[i+1]) != at {
					t.Fatalf("row %d: centre %d at %v, want %d at %v", i, label[i+1], least[i], at, dist[at*Rows+i])
				}
			}
		})
	})
}

// More than one call takes.
func TestPlainDistancesOfManyCentres(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const k, d = 128, 1200
		rng := rand.New(rand.NewPCG(9, 9))
		x, _ := random(rng, d*Rows)
		c, _ := random(rng, k*d)
		y, by := make([]float64, d), make([]float64, k*d)
		for j := range d {
			y[j] = x[j*Rows+7]
			for q := range k {
				by[j*k+q] = c[q*d+j]
			}
		}
		all, row := make([]float64, k*Rows), make([]float64, k)
		SqdistAll(all, x, c, k, d)
		SqdistRow(row, y, by, k)
		for q := range k {
			want := 0.0
			for j, v := range y {
				want += float64((v - c[q*d+j]) * (v - c[q*d+j]))
			}
			if row[q] != want || all[q*Rows+7] != want {
				t.Fatalf("centre %d: %v and %v, want %v", q, row[q], all[q*Rows+7], want)
			}
		}
	})
}

func TestPairsAndScatterAgreeWithLoops(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for d := 1; d <= 40; d++ {
			rng := rand.New(rand.NewPCG(3, uint64(d)))
			const n, k = 5, 3
			x, _ := random(rng, n*d)
			c, _ := random(rng, k*d)
			narrow := make([]float32, n*d)
			for i, v := range x {
				narrow[i] = float32(v)
			}
			var pairs []Pair
			var moves []Move
			for range 7 {
				pairs = append(pairs, Pair{uint32(rng.IntN(n)), uint32(rng.IntN(k))})
				moves = append(moves, Move{uint32(rng.IntN(n)), uint32(rng.IntN(k)), rng.NormFloat64()})
			}
			origin, _ := random(rng, d)
			few, short := make([]float32, len(pairs)+1), make([]float32, k*d)
			few[len(pairs)] = -7
			for i := range short {
				short[i] = float32(c[i])
			}
			Dots(few, narrow, short, pairs, d)
			for p, at := range pairs {
				sum, size := 0.0, 0.0
				for j := range d {
					v := float64(narrow[int(at.Row)*d+j]) * float64(short[int(at.Centre)*d+j])
					sum, size = sum+v, size+math.Abs(v)
				}
				if math.Abs(float64(few[p])-sum) > float64(d)*0x1p-23*size || few[len(pairs)] != -7 {
					t.Fatalf("d %d: dot product %v, want %v", d, few[p], sum)
				}
			}
			agree(t, fmt.Sprintf("float64, d %d", d), x, c, origin, pairs, moves, d)
			agree(t, fmt.Sprintf("float32, d %d", d), narrow, c, origin, pairs, moves, d)
		}
	})
}

func agree[F float32 | float64](t *testing.T, what string, x []F, c, origin []float64, pairs []Pair, moves []Move, d int) {
	t.Helper()
	dst, intact := guarded(len(pairs))
	Pairs(dst, x, origin, c, pairs, d)
	intact(t)
	for p, at := range pairs {
		want := 0.0
		for j := range d {
			e := float64(x[int(at.Row)*d+j]) - origin[j] - c[int(at.Centre)*d+j]
			want += e * e
		}
		near(t, what, dst[p], want, want)
	}
	hi, intactHi := guarded(len(c))
	lo, intactLo := guarded(len(c))
	clear(hi)
	clear(lo)
	wantHi, wantLo := make([]float64, len(c)), make([]float64, len(c))
	for _, m := range moves {
		for j := range d {
			at, p := int(m.Cluster)*d+j, float64(m.W*(float64(x[int(m.Row)*d+j])-origin[j]))
			s := wantHi[at] + p
			b := s - wantHi[at]
			wantLo[at] += (wantHi[at] - (s - b)) + (p - b)
			wantHi[at] = s
		}
	}
	Scatter(hi, lo, x, origin, moves, d)
	intactHi(t)
	intactLo(t)
	if !slices.Equal(hi, wantHi) || !slices.Equal(lo, wantLo) {
		t.Fatalf("%s: sums %v %v, want %v %v", what, hi, lo, wantHi, wantLo)
	}
	// Taking every row out again leaves nothing, however far apart the rows are in size.
	for i := range moves {
		moves[i].W = -moves[i].W
	}
	Scatter(hi, lo, x, origin, moves, d)
	for i := range moves {
		moves[i].W = -moves[i].W
	}
	for i := range hi {
		near(t, what+": emptied sum", hi[i]+lo[i], 0, 1e-10)
	}
}

func TestNearestKernelsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		const d, k = 8, 4
		rng := rand.New(rand.NewPCG(5, 5))
		x, _ := random(rng, d*Rows)
		c, _ := random(rng, k*d)
		y, dst := make([]float64, k*d), make([]float64, 32*Rows)
		wide := make([]float64, 32*d)
		narrow, norm := make([]float32, d*Rows), make([]float32, 4*Rows)
		tiles := make([]float32, (d+2)*k)
		label, flags, coef := make([]int32, Rows), make([]uint32, 2), new([3]float32)
		pairs, moves := []Pair{{1, 2}}, []Move{{1, 2, 1}}
		bytes, small, meta, list := make([]uint8, d*Rows), make([]int8, k*4*4), make([]float32, 4), make([]Survivor, k+1)
		scores, state, upper := make([]float32, k*Rows), make([]DenseState, 1), new([Rows]float32)
		picked, ids, near := make([]int8, k*(PickedHead+d)), make([]uint32, k+2*PickedRoom), make([]uint16, 1)
		room, five := make([]float32, (k+PickedRoom)*Rows), [5]float32{}
		if n := testing.AllocsPerRun(20, func() {
			Dense(narrow, tiles, norm, coef, state, label, label, flags, d, k, 1, 1, false)
			Integers(bytes, norm, small, meta, scores, upper, false, d/4, k, 1)
			Integers(bytes, norm, small, meta, scores, upper, true, d/4, k, 1)
			Dots(scores, narrow, tiles, pairs, d)
			Survivors(list, norm, meta, scores, upper, k, 1)
			Picked(bytes, norm, picked, ids, room, d/4, k)
			Uppers(upper, norm, room, room, k)
			Margins(room, near, room, upper, room, room, k)
			Candidates(ids, room, room, room[:CandidateBlock], room, &five)
			SqdistAll(dst, x, c, k, d)
			SqdistFused(dst, x, c, k, d)
			SqdistRow(dst, x[:d], wide, 32)
			Pairs(dst, x, x[:d], c, pairs, d)
			Pairs(dst, narrow, x[:d], c, pairs, d)
			Scatter(y, y, narrow, x, moves, d)
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}
