//go:build !purego

package kern

import "unsafe"

// TileWidth is the largest number of centres in a tile of Dense that registers hold at the level in use.
func TileWidth() int {
	if level == Go {
		return 4
	}
	return 12
}

// HasIntegers reports whether Integers is fast at the level in use, in words or in bytes. Words would take as many multiplications as
// float32.
func HasIntegers(words bool) bool { return level == NEONDotProd && !words }

// MostByte is the largest byte of a row for Integers: all are added up in 32 bits.
func MostByte() int { return 255 }

var bytesNEON = [...]func(x *uint8, row *float32, c *int8, meta, scores, upper *float32, groups, tiles int){
	nil, bytesNEONx1, bytesNEONx2, bytesNEONx3, bytesNEONx4, bytesNEONx5, bytesNEONx6, bytesNEONx7, bytesNEONx8, bytesNEONx9, bytesNEONx10, bytesNEONx11, bytesNEONx12,
}

var denseNEON = [...]func(x, c, norm, coef, state *float32, label, got *int32, flags *uint32, d, tiles, panels, resume, next int){
	nil, denseNEONx1, denseNEONx2, denseNEONx3, denseNEONx4, denseNEONx5, denseNEONx6, denseNEONx7, denseNEONx8, denseNEONx9, denseNEONx10, denseNEONx11, denseNEONx12,
}

func fastDense(x, c, norm []float32, coef *[3]float32, state []DenseState, label, got []int32, flags []uint32, d, w, tiles, panels int, resume bool) bool {
	if level == Go || w >= len(denseNEON) || d == 0 || tiles == 0 {
		return false
	}
	on, next := 0, 0
	if resume {
		on = 1
	}
	if len(state) > 1 {
		next = len(state[0]) * 4
	}
	denseNEON[w](&x[0], &c[0], &norm[0], &coef[0], &state[0][0], &label[0], &got[0], &flags[0], d, tiles, panels, on, next)
	return true
}

func fastIntegers(x []uint8, row []float32, c []int8, meta, scores []float32, upper *[Rows]float32, words bool, groups, w, tiles int) bool {
	if !HasIntegers(words) || w >= len(bytesNEON) || groups == 0 || tiles == 0 {
		return false
	}
	bytesNEON[w](&x[0], &row[0], &c[0], &meta[0], &scores[0], &upper[0], groups, tiles)
	return true
}

func fastSurvivors(list []Survivor, row, meta, scores []float32, upper *[Rows]float32, w, tiles int) (n int, multi uint32, ok bool) {
	if level == Go || w == 0 || tiles == 0 {
		return 0, 0, false
	}
	out := &list[tiles*w] // the two results come in the entry after the last
	survivorsNEON(&row[0], &meta[0], &scores[0], &upper[0], &list[0].Slot, &out.Slot, w, tiles)
	return int(out.Slot), out.Mask, true
}

// callCells is how many variables of 32 distances one call takes in, about 16 cycles each: assembly cannot be preempted.
const callCells = 10_000

func fastSqdistAll(dst, x, centres []float64, k, d int, fused bool) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		to, from, n := &dst[c*Rows], &centres[c*d], min(step, k-c)
		if fused {
			sqdistFusedNEON(to, &x[0], from, n, d)
		} else {
			sqdistNEON(to, &x[0], from, n, d)
		}
	}
	return true
}

func fastArgmin(least []float64, label []int64, dist []float64, k int) bool {
	if level == Go {
		return false
	}
	argminNEON(&least[0], &label[0], &dist[0], k)
	return true
}

func fastTwoLeast(least, second []float64, label []int64, dist []float64, k int) bool {
	if level == Go {
		return false
	}
	twoLeastNEON(&least[0], &second[0], &label[0], &dist[0], k)
	return true
}

func fastSqdistRow(dst, y, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1) * 32
	for lo := 0; lo < k; lo += step {
		sqdistRowNEON(&dst[lo], &y[0], &centres[lo], min(step, k-lo), k, d)
	}
	return true
}

func fastPairs[F float32 | float64](dst []float64, x []F, origin, c []float64, pairs []Pair, d int) bool {
	if level == Go {
		return false
	}
	p := &pairs[0].Row
	switch x := any(&x[0]).(type) {
	case *float32:
		pairsNEONf32(&dst[0], x, &origin[0], &c[0], p, len(pairs), d)
	case *float64:
		pairsNEONf64(&dst[0], x, &origin[0], &c[0], p, len(pairs), d)
	}
	return true
}

func fastDots(dst, x, c []float32, pairs []Pair, d int) bool {
	if level == Go {
		return false
	}
	dotsNEON(&dst[0], &x[0], &c[0], &pairs[0].Row, len(pairs), d)
	return true
}

func fastScatter[F float32 | float64](hi, lo []float64, x []F, origin []float64, moves []Move, d int) bool {
	if level == Go {
		return false
	}
	m := (*uint64)(unsafe.Pointer(&moves[0]))
	switch x := any(&x[0]).(type) {
	case *float32:
		scatterNEONf32(&hi[0], &lo[0], x, &origin[0], m, len(moves), d)
	case *float64:
		scatterNEONf64(&hi[0], &lo[0], x, &origin[0], m, len(moves), d)
	}
	return true
}

// DueInRegisters is the largest number of clusters whose clocks Due holds in registers.
func DueInRegisters() int { return 0 }

func fastDue(flags []uint32, due []float32, label []int32, at []float32, panels int) bool {
	if level == Go {
		return false
	}
	dueNEON(&flags[0], &due[0], &label[0], &at[0], panels)
	return true
}

func fastSlack(due []float32, state []DenseState, norm []float32, label []int32, low []float32, coef *[7]float32, panels int) bool {
	if level == Go {
		return false
	}
	slackNEON(&due[0], &state[0][0], &norm[0], &label[0], &low[0], &coef[0], panels)
	return true
}

func fastRunnerUp(second *[Rows]float32, row, meta, scores []float32, w, tiles int) bool {
	if level == Go || w == 0 || tiles == 0 {
		return false
	}
	runnerUpNEON(&row[0], &meta[0], &scores[0], &second[0], w, tiles)
	return true
}

// shiftColumns is how many columns Shift adds up at a time: the sums of a dozen clusters stay in the first-level cache.
const shiftColumns = 256

func fastShift(hi, lo []float64, x []float32, origin []float64, grain float64, changes []Change, d int) bool {
	if level == Go {
		return false
	}
	for j := 0; j < d; j += shiftColumns {
		shiftNEON(&hi[j], &lo[j], &x[j], &origin[j], grain, &changes[0].Row, len(changes), min(shiftColumns, d-j), d)
	}
	return true
}

// fastCompress reports false: no instruction moves the lanes of a mask together.
func fastCompress(_, _ []float32, _ uint32, _ int) bool { return false }
