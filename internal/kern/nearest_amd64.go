//go:build !purego

package kern

import (
	"unsafe"

	"golang.org/x/sys/cpu"
)

// TileWidth is the largest number of centres in a tile of Dense that registers hold at the level in use.
func TileWidth() int {
	switch level {
	case AVX512:
		return 12
	case AVX2:
		return 6
	}
	return 4
}

// HasIntegers reports whether Integers is fast at the level in use, in words or in bytes.
func HasIntegers(_ bool) bool {
	return level == AVX2 || level == AVX512 && cpu.X86.HasAVX512VNNI
}

// MostByte is the largest byte of a row for Integers at the level in use. Below 255 products are added up in 16 bits: MostByte times
// the sum of the positive, or of the negative, bytes of a centre in columns 0 and 1, or 2 and 3, of groups 2g and 2g+1 must be at most
// 1<<15 - 1.
func MostByte() int {
	if current == AVX2 {
		return 184
	}
	return 255
}

var dense512 = [...]func(x, c, norm, coef, state *float32, label, got *int32, flags *uint32, d, tiles, panels, resume, next int){
	nil, dense512x1, dense512x2, dense512x3, dense512x4, dense512x5, dense512x6, dense512x7, dense512x8, dense512x9, dense512x10, dense512x11, dense512x12,
}

var dense256 = [...]func(x, c, norm, coef, state *float32, label, got *int32, flags *uint32, d, tiles, panels, resume, next int){
	nil, dense256x1, dense256x2, dense256x3, dense256x4, dense256x5, dense256x6,
}

type integersFunc = func(x *uint8, row *float32, c *int8, meta, a, upper *float32, groups, tiles int)

var bytes512 = [...]integersFunc{
	nil, bytes512x1, bytes512x2, bytes512x3, bytes512x4, bytes512x5, bytes512x6, bytes512x7, bytes512x8, bytes512x9, bytes512x10, bytes512x11, bytes512x12,
}

var words512 = [...]integersFunc{
	nil, words512x1, words512x2, words512x3, words512x4, words512x5, words512x6, words512x7, words512x8, words512x9, words512x10, words512x11, words512x12,
}

var bytes256VNNI = [...]integersFunc{
	nil, bytes256VNNIx1, bytes256VNNIx2, bytes256VNNIx3, bytes256VNNIx4, bytes256VNNIx5, bytes256VNNIx6, bytes256VNNIx7, bytes256VNNIx8, bytes256VNNIx9, bytes256VNNIx10, bytes256VNNIx11, bytes256VNNIx12,
}

var words256VNNI = [...]integersFunc{
	nil, words256VNNIx1, words256VNNIx2, words256VNNIx3, words256VNNIx4, words256VNNIx5, words256VNNIx6, words256VNNIx7, words256VNNIx8, words256VNNIx9, words256VNNIx10, words256VNNIx11, words256VNNIx12,
}

var bytes256 = [...]integersFunc{
	nil, bytes256x1, bytes256x2, bytes256x3, bytes256x4, bytes256x5, bytes256x6, bytes256x7, bytes256x8, bytes256x9, bytes256x10, bytes256x11, bytes256x12,
}

var words256 = [...]integersFunc{
	nil, words256x1, words256x2, words256x3, words256x4, words256x5, words256x6, words256x7, words256x8, words256x9, words256x10, words256x11, words256x12,
}

func fastDense(x, c, norm []float32, coef *[3]float32, state []DenseState, label, got []int32, flags []uint32, d, w, tiles, panels int, resume bool) bool {
	f := dense512[:]
	if level == AVX2 {
		f = dense256[:]
	}
	if level == Go || w >= len(f) || d == 0 || tiles == 0 {
		return false
	}
	on, next := 0, 0
	if resume {
		on = 1
	}
	if len(state) > 1 {
		next = len(state[0]) * 4
	}
	f[w](&x[0], &c[0], &norm[0], &coef[0], &state[0][0], &label[0], &got[0], &flags[0], d, tiles, panels, on, next)
	return true
}

func fastIntegers(x []uint8, row []float32, c []int8, meta, scores []float32, upper *[Rows]float32, words bool, groups, w, tiles int) bool {
	if !HasIntegers(words) || groups == 0 || tiles == 0 {
		return false
	}
	bytesOf, wordsOf := bytes512[:], words512[:]
	switch current {
	case AVX2:
		bytesOf, wordsOf = bytes256[:], words256[:]
	case AVX2VNNI:
		bytesOf, wordsOf = bytes256VNNI[:], words256VNNI[:]
	}
	f := bytesOf
	if words {
		f = wordsOf
	}
	if w >= len(f) {
		return false
	}
	f[w](&x[0], &row[0], &c[0], &meta[0], &scores[0], &upper[0], groups, tiles)
	return true
}

func fastSurvivors(list []Survivor, row, meta, scores []float32, upper *[Rows]float32, w, tiles int) (n int, multi uint32, ok bool) {
	if level == Go || w == 0 || tiles == 0 {
		return 0, 0, false
	}
	out := &list[tiles*w] // the two results come in the entry after the last
	f := survivors256
	if level == AVX512 {
		f = survivors512
	}
	f(&row[0], &meta[0], &scores[0], &upper[0], &list[0].Slot, &out.Slot, w, tiles)
	return int(out.Slot), out.Mask, true
}

// callCells is how many variables of 32 distances one call takes in, about 4 cycles each: assembly cannot be preempted.
const callCells = 30_000

func fastSqdistAll(dst, x, centres []float64, k, d int, fused bool) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		to, from, n := &dst[c*Rows], &centres[c*d], min(step, k-c)
		switch {
		case level == AVX512 && fused:
			sqdistFused512(to, &x[0], from, n, d)
		case level == AVX512:
			sqdist512(to, &x[0], from, n, d)
		case fused:
			sqdistFused256(to, &x[0], from, n, d)
		default:
			sqdist256(to, &x[0], from, n, d)
		}
	}
	return true
}

func fastArgmin(least []float64, label []int64, dist []float64, k int) bool {
	switch level {
	case AVX512:
		argmin512(&least[0], &label[0], &dist[0], k)
	case AVX2:
		argmin256(&least[0], &label[0], &dist[0], k)
	default:
		return false
	}
	return true
}

func fastTwoLeast(least, second []float64, label []int64, dist []float64, k int) bool {
	switch level {
	case AVX512:
		twoLeast512(&least[0], &second[0], &label[0], &dist[0], k)
	case AVX2:
		twoLeast256(&least[0], &second[0], &label[0], &dist[0], k)
	default:
		return false
	}
	return true
}

func fastSqdistRow(dst, y, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1) * 32
	for lo := 0; lo < k; lo += step {
		if n := min(step, k-lo); level == AVX512 {
			sqdistRow512(&dst[lo], &y[0], &centres[lo], n, k, d)
		} else {
			sqdistRow256(&dst[lo], &y[0], &centres[lo], n, k, d)
		}
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
		if level == AVX512 {
			pairs512f32(&dst[0], x, &origin[0], &c[0], p, len(pairs), d)
		} else {
			pairs256f32(&dst[0], x, &origin[0], &c[0], p, len(pairs), d)
		}
	case *float64:
		if level == AVX512 {
			pairs512f64(&dst[0], x, &origin[0], &c[0], p, len(pairs), d)
		} else {
			pairs256f64(&dst[0], x, &origin[0], &c[0], p, len(pairs), d)
		}
	}
	return true
}

func fastDots(dst, x, c []float32, pairs []Pair, d int) bool {
	switch level {
	case AVX512:
		dots512(&dst[0], &x[0], &c[0], &pairs[0].Row, len(pairs), d)
	case AVX2:
		dots256(&dst[0], &x[0], &c[0], &pairs[0].Row, len(pairs), d)
	default:
		return false
	}
	return true
}

func fastScatter[F float32 | float64](hi, lo []float64, x []F, origin []float64, moves []Move, d int) bool {
	if level == Go {
		return false
	}
	m := (*uint64)(unsafe.Pointer(&moves[0]))
	switch x := any(&x[0]).(type) {
	case *float32:
		if level == AVX512 {
			scatter512f32(&hi[0], &lo[0], x, &origin[0], m, len(moves), d)
		} else {
			scatter256f32(&hi[0], &lo[0], x, &origin[0], m, len(moves), d)
		}
	case *float64:
		if level == AVX512 {
			scatter512f64(&hi[0], &lo[0], x, &origin[0], m, len(moves), d)
		} else {
			scatter256f64(&hi[0], &lo[0], x, &origin[0], m, len(moves), d)
		}
	}
	return true
}

// DueInRegisters is the largest number of clusters whose clocks Due holds in registers: without gathering it is several times as fast.
func DueInRegisters() int {
	switch level {
	case AVX512:
		return 31
	case AVX2:
		return 15
	}
	return 0
}

func fastDue(flags []uint32, due []float32, label []int32, at []float32, panels int) bool {
	var table [32]float32
	few := len(at) <= DueInRegisters()+1
	if few {
		copy(table[:], at)
	}
	switch {
	case level == AVX512 && few:
		dueFew512(&flags[0], &due[0], &label[0], &table[0], panels)
	case level == AVX512:
		due512(&flags[0], &due[0], &label[0], &at[0], panels)
	case level == AVX2 && few:
		dueFew256(&flags[0], &due[0], &label[0], &table[0], panels)
	case level == AVX2:
		due256(&flags[0], &due[0], &label[0], &at[0], panels)
	default:
		return false
	}
	return true
}

func fastSlack(due []float32, state []DenseState, norm []float32, label []int32, low []float32, coef *[7]float32, panels int) bool {
	switch level {
	case AVX512:
		slack512(&due[0], &state[0][0], &norm[0], &label[0], &low[0], &coef[0], panels)
	case AVX2:
		slack256(&due[0], &state[0][0], &norm[0], &label[0], &low[0], &coef[0], panels)
	default:
		return false
	}
	return true
}

func fastRunnerUp(second *[Rows]float32, row, meta, scores []float32, w, tiles int) bool {
	if level == Go || w == 0 || tiles == 0 {
		return false
	}
	f := runnerUp256
	if level == AVX512 {
		f = runnerUp512
	}
	f(&row[0], &meta[0], &scores[0], &second[0], w, tiles)
	return true
}

// shiftColumns is how many columns Shift adds up at a time: the sums of a dozen clusters stay in the first-level cache.
const shiftColumns = 256

func fastShift(hi, lo []float64, x []float32, origin []float64, grain float64, changes []Change, d int) bool {
	f := shift512
	switch level {
	case Go:
		return false
	case AVX2:
		f = shift256
	}
	for j := 0; j < d; j += shiftColumns {
		f(&hi[j], &lo[j], &x[j], &origin[j], grain, &changes[0].Row, len(changes), min(shiftColumns, d-j), d)
	}
	return true
}

func fastCompress(dst, src []float32, rows uint32, columns int) bool {
	if level != AVX512 {
		return false
	}
	compress512(&dst[0], &src[0], rows, columns)
	return true
}
