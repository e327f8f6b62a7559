package kern

import "math"

// The kernels of exact nearest centres. Dense, Integers and Dots are fast and approximate, and say for which rows their error may
// decide; SqdistAll, SqdistFused and SqdistRow are float64, to the bit those of a loop over the columns at every level; Pairs
// is float64 in any order of summation.

// Dense finds the nearest of the centres for the rows of float32 panels and compares with the labels so far.
//
// x holds panels of d variables. c holds tiles of w centres; of each tile first c_j[q] at [j*w+q], then w norms, then w
// indices as bits of an int32. The score of a row and a centre is norm + sum_j x_j c_j, the norm added last. got[i] is the
// index of the least score. Bit i of flags[2p] says that in row i of panel p the two least scores are within
// (coef[0] n + coef[1]) n + coef[2], n = norm[i]; bit i of flags[2p+1] that got[i] differs from label[i].
//
// state is scratch: one for all panels, or one each, where the scores of each are left. With resume, for a single panel, the
// tiles follow those of the call before.
func Dense(x, c, norm []float32, coef *[3]float32, state []DenseState, label, got []int32, flags []uint32, d, w, tiles, panels int, resume bool) {
	x, c, norm = x[:panels*d*Rows], c[:tiles*(d+2)*w], norm[:panels*Rows]
	label, got, flags = label[:panels*Rows], got[:panels*Rows], flags[:2*panels]
	if panels == 0 {
		return
	}
	if fastDense(x, c, norm, coef, state, label, got, flags, d, w, tiles, panels, resume) {
		return
	}
	for p := range panels {
		lo, hi, state := p*Rows, p*Rows+Rows, &state[min(p, len(state)-1)]
		if !resume {
			for i := range Rows {
				state[i], state[Rows+i], state[2*Rows+i] = math.MaxFloat32, math.MaxFloat32, 0
			}
		}
		densePanel(x[lo*d:hi*d], c, norm[lo:hi], coef, state, label[lo:hi], got[lo:hi], flags[2*p:2*p+2], d, w, tiles)
	}
}

// DenseState is the scratch memory of Dense for a panel: the least score of each row, then the second, then the index of
// the least.
type DenseState [3 * Rows]float32

func densePanel(x, c, norm []float32, coef *[3]float32, state *DenseState, label, got []int32, flags []uint32, d, w, tiles int) {
	best, second, index := state[:Rows], state[Rows:2*Rows], state[2*Rows:]
	var score [4]float32
	for t := range tiles {
		tile := c[t*(d+2)*w : (t+1)*(d+2)*w]
		for q := range w {
			n, id := tile[d*w+q], tile[(d+1)*w+q]
			for i := 0; i < Rows; i += 4 {
				var a0, a1, a2, a3 float32
				for j := range d {
					p, f := x[j*Rows+i:j*Rows+i+4:j*Rows+i+4], tile[j*w+q]
					a0 += p[0] * f
					a1 += p[1] * f
					a2 += p[2] * f
					a3 += p[3] * f
				}
				score = [4]float32{a0 + n, a1 + n, a2 + n, a3 + n}
				for r, s := range score {
					if !(s < second[i+r]) {
						continue
					}
					if second[i+r] = s; s < best[i+r] {
						best[i+r], second[i+r], index[i+r] = s, best[i+r], id
					}
				}
			}
		}
	}
	flags[0], flags[1] = 0, 0
	for i, n := range norm {
		got[i] = int32(math.Float32bits(index[i]))
		if second[i]-best[i] <= (coef[0]*n+coef[1])*n+coef[2] {
			flags[0] |= 1 << i
		}
		if got[i] != label[i] {
			flags[1] |= 1 << i
		}
	}
}

// Integers scores centres from dot products of integers for the rows of one panel: bytes, four variables to a group of four
// bytes, or words, two.
//
// x holds groups of the panel: group g of row i at [(g*Rows+i)*4], bytes offset by 128, words least byte first. row holds
// four numbers a row, Rows of each: scale s, then g, a, b of its radius. c holds tiles of w centres: w int32 initial
// values, then group g of centre q at [(g*w+q)*4], then w float32 norms. meta holds four numbers a tile: scale t, then A, B,
// G of its radius. The score of a row and a centre is norm - s t (initial value + sum x c), Rows numbers a centre in scores,
// and may be wrong by g + G + a A + b B. upper[i] falls to the least of score plus radius.
func Integers(x []uint8, row []float32, c []int8, meta, scores []float32, upper *[Rows]float32, words bool, groups, w, tiles int) {
	x, row, c, meta, scores = x[:groups*4*Rows], row[:4*Rows], c[:tiles*w*4*(groups+2)], meta[:4*tiles], scores[:tiles*w*Rows]
	if fastIntegers(x, row, c, meta, scores, upper, words, groups, w, tiles) {
		return
	}
	for t := range tiles {
		tile := c[t*w*4*(groups+2) : (t+1)*w*4*(groups+2)]
		for q := range w {
			norm := math.Float32frombits(uint32(word(tile, groups+1, w, q)))
			for i := range Rows {
				sum := word(tile, 0, w, q)
				for g := range groups {
					a, b := x[(g*Rows+i)*4:(g*Rows+i)*4+4], tile[((g+1)*w+q)*4:((g+1)*w+q)*4+4]
					if words {
						sum += int32(half(a[0], a[1]))*int32(half(uint8(b[0]), uint8(b[1]))) + int32(half(a[2], a[3]))*int32(half(uint8(b[2]), uint8(b[3])))
						continue
					}
					for i, v := range a {
						sum += int32(v) * int32(b[i])
					}
				}
				s := norm - row[i]*meta[4*t]*float32(sum)
				scores[(t*w+q)*Rows+i] = s
				upper[i] = min(upper[i], s+radius(row, meta[4*t:], i))
			}
		}
	}
}

func half(lo, hi uint8) int16 { return int16(uint16(lo) | uint16(hi)<<8) }

func radius(row, meta []float32, i int) float32 {
	return row[Rows+i] + meta[3] + row[2*Rows+i]*meta[1] + row[3*Rows+i]*meta[2]
}

// A Survivor is a centre that may be the nearest of the rows whose bits are set.
type Survivor struct{ Slot, Mask uint32 }

// Survivors lists the centres whose score less its radius is at most upper, the least of score plus radius, from what Integers
// left. list has room for all centres and one more. n is their number; bit i of multi says that row i has more than one.
func Survivors(list []Survivor, row, meta, scores []float32, upper *[Rows]float32, w, tiles int) (n int, multi uint32) {
	row, meta, scores, list = row[:4*Rows], meta[:4*tiles], scores[:tiles*w*Rows], list[:tiles*w+1]
	if n, multi, ok := fastSurvivors(list, row, meta, scores, upper, w, tiles); ok {
		return n, multi
	}
	var seen uint32
	for slot := range tiles * w {
		var mask uint32
		for i := range Rows {
			if scores[slot*Rows+i] <= upper[i]+radius(row, meta[slot/w*4:], i) {
				mask |= 1 << i
			}
		}
		if mask != 0 {
			list[n] = Survivor{uint32(slot), mask}
			n++
		}
		multi |= seen & mask
		seen |= mask
	}
	return n, multi
}

// word returns the 32-bit number at place q of group g of a tile, least byte first.
func word(tile []int8, g, w, q int) int32 {
	b := tile[(g*w+q)*4 : (g*w+q)*4+4]
	return int32(uint32(uint8(b[0])) | uint32(uint8(b[1]))<<8 | uint32(uint8(b[2]))<<16 | uint32(uint8(b[3]))<<24)
}

// SqdistAll sets dst[c*Rows+i] = sum_j (x[j*Rows+i] - centres[c*d+j])^2 for the k centres, one term after the other.
func SqdistAll(dst, x, centres []float64, k, d int) {
	dst, x, centres = dst[:k*Rows], x[:d*Rows], centres[:k*d]
	if k == 0 || d == 0 || fastSqdistAll(dst, x, centres, k, d, false) {
		return
	}
	for c := range k {
		out, centre := dst[c*Rows:c*Rows+Rows], centres[c*d:c*d+d]
		for i := 0; i < Rows; i += 4 {
			var a0, a1, a2, a3 float64
			for j, m := range centre {
				p := x[j*Rows+i : j*Rows+i+4 : j*Rows+i+4]
				t0, t1, t2, t3 := p[0]-m, p[1]-m, p[2]-m, p[3]-m
				a0 += float64(t0 * t0) // never fused: the bits are the same on every processor
				a1 += float64(t1 * t1)
				a2 += float64(t2 * t2)
				a3 += float64(t3 * t3)
			}
			out[i], out[i+1], out[i+2], out[i+3] = a0, a1, a2, a3
		}
	}
}

// SqdistFused is SqdistAll with every product and sum rounded once (math.FMA): a third less work, and the same bits at every
// level, if other ones.
func SqdistFused(dst, x, centres []float64, k, d int) {
	dst, x, centres = dst[:k*Rows], x[:d*Rows], centres[:k*d]
	if k == 0 || d == 0 || fastSqdistAll(dst, x, centres, k, d, true) {
		return
	}
	for c := range k {
		out, centre := dst[c*Rows:c*Rows+Rows], centres[c*d:c*d+d]
		for i := 0; i < Rows; i += 4 {
			var a0, a1, a2, a3 float64
			for j, m := range centre {
				p := x[j*Rows+i : j*Rows+i+4 : j*Rows+i+4]
				t0, t1, t2, t3 := p[0]-m, p[1]-m, p[2]-m, p[3]-m
				a0, a1, a2, a3 = math.FMA(t0, t0, a0), math.FMA(t1, t1, a1), math.FMA(t2, t2, a2), math.FMA(t3, t3, a3)
			}
			out[i], out[i+1], out[i+2], out[i+3] = a0, a1, a2, a3
		}
	}
}

// Argmin sets least[i] to the smallest of the k distances dist[c*Rows+i] and label[i] to its c, the lowest of equals. No
// distance may be NaN.
func Argmin(least []float64, label []int64, dist []float64, k int) {
	least, label, dist = least[:Rows], label[:Rows], dist[:k*Rows]
	if k > 0 && fastArgmin(least, label, dist, k) {
		return
	}
	copy(least, dist)
	clear(label)
	for c := 1; c < k; c++ {
		for i, v := range dist[c*Rows : c*Rows+Rows] {
			if v < least[i] {
				least[i], label[i] = v, int64(c)
			}
		}
	}
}

// TwoLeast is Argmin that also sets second[i] to the smallest distance of the others, +Inf where there are none.
func TwoLeast(least, second []float64, label []int64, dist []float64, k int) {
	least, second, label, dist = least[:Rows], second[:Rows], label[:Rows], dist[:k*Rows]
	if k > 0 && fastTwoLeast(least, second, label, dist, k) {
		return
	}
	for i := range Rows {
		least[i], second[i], label[i] = math.Inf(1), math.Inf(1), 0
	}
	for c := range k {
		for i, v := range dist[c*Rows : c*Rows+Rows] {
			if v < least[i] {
				least[i], second[i], label[i] = v, least[i], int64(c)
			} else {
				second[i] = min(second[i], v)
			}
		}
	}
}

// SqdistRow sets dst[c] = sum_j (y[j] - centres[j*k+c])^2, one term after the other. k is a multiple of 32.
func SqdistRow(dst, y, centres []float64, k int) {
	d := len(y)
	dst, centres = dst[:k], centres[:k*d]
	if k == 0 || d == 0 || fastSqdistRow(dst, y, centres, k, d) {
		return
	}
	clear(dst)
	for j, v := range y {
		for c, m := range centres[j*k : j*k+k] {
			t := v - m
			dst[c] += float64(t * t)
		}
	}
}

// Pair names a row and a centre.
type Pair struct{ Row, Centre uint32 }

// Pairs sets dst[p] = sum_j (x[row*d+j] - origin[j] - c[centre*d+j])^2 for every pair, the terms in any order.
func Pairs[F float32 | float64](dst []float64, x []F, origin, c []float64, pairs []Pair, d int) {
	dst, origin = dst[:len(pairs)], origin[:d]
	if len(pairs) == 0 || d == 0 || fastPairs(dst, x, origin, c, pairs, d) {
		return
	}
	for p, at := range pairs {
		row, centre := x[int(at.Row)*d:int(at.Row)*d+d], c[int(at.Centre)*d:int(at.Centre)*d+d]
		sum := 0.0
		for j, v := range row {
			t := float64(v) - origin[j] - centre[j]
			sum += t * t
		}
		dst[p] = sum
	}
}

// Dots sets dst[p] = sum_j x[row*d+j] c[centre*d+j] for every pair, in float32 and the terms in any order.
func Dots(dst, x, c []float32, pairs []Pair, d int) {
	dst = dst[:len(pairs)]
	if len(pairs) == 0 || d == 0 || fastDots(dst, x, c, pairs, d) {
		return
	}
	for p, at := range pairs {
		row, centre := x[int(at.Row)*d:int(at.Row)*d+d], c[int(at.Centre)*d:int(at.Centre)*d+d]
		var sum float32
		for j, v := range row {
			sum += v * centre[j]
		}
		dst[p] = sum
	}
}

// Move adds W times a row to the sums of a cluster.
type Move struct {
	Row, Cluster uint32
	W            float64
}

// Scatter adds W (x[row*d+j] - origin[j]) to the sum hi + lo of [cluster*d+j] for every move and column, in order. A sum is
// kept as two numbers: hi its value and lo what rounding took away (Knuth, vol. 2, theorem 4.2.2 B), so that taking a row out
// again leaves what was there before it came.
func Scatter[F float32 | float64](hi, lo []float64, x []F, origin []float64, moves []Move, d int) {
	origin = origin[:d]
	if len(moves) == 0 || d == 0 || fastScatter(hi, lo, x, origin, moves, d) {
		return
	}
	for i := range moves {
		m := &moves[i]
		row := x[int(m.Row)*d : int(m.Row)*d+d]
		h, l := hi[int(m.Cluster)*d:int(m.Cluster)*d+d], lo[int(m.Cluster)*d:int(m.Cluster)*d+d]
		for j, v := range row {
			h[j], l[j] = TwoSum(h[j], l[j], float64(m.W*(float64(v)-origin[j])))
		}
	}
}

// TwoSum returns hi + lo + p as a number and what rounding took away from it.
func TwoSum(hi, lo, p float64) (float64, float64) {
	sum := hi + p
	b := sum - hi
	return sum, lo + ((hi - (sum - b)) + (p - b))
}
