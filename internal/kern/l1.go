package kern

import "math"

// The kernels of K-medians, and the distances that a silhouette sums. Absolute differences are added one after the other
// and nothing is fused, so that bits are those of the Go loops at every level.

// l1dist sets dst[i] = sum_j |x[j*Rows+i] - c[j]|.
func l1dist(dst, x, c []float64) {
	dst = dst[:Rows]
	x = x[:len(c)*Rows]
	for i := 0; i < Rows; i += 4 {
		var a0, a1, a2, a3 float64
		for j, m := range c {
			p := x[j*Rows+i : j*Rows+i+4 : j*Rows+i+4]
			a0 += math.Abs(p[0] - m)
			a1 += math.Abs(p[1] - m)
			a2 += math.Abs(p[2] - m)
			a3 += math.Abs(p[3] - m)
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = a0, a1, a2, a3
	}
}

// L1All sets dst[c*Rows+i] = sum_j |x[j*Rows+i] - centres[c*d+j]| for the k centres.
func L1All(dst, x, centres []float64, k, d int) {
	dst, x, centres = dst[:k*Rows], x[:d*Rows], centres[:k*d]
	if k > 0 && d > 0 && fastL1All(dst, x, centres, k, d) {
		return
	}
	for c := range k {
		l1dist(dst[c*Rows:c*Rows+Rows], x, centres[c*d:c*d+d])
	}
}

// L1Nearest sets least[i] to the smallest of the k distances of L1All and label[i] to its c, the lowest of equals: 0
// where all overflow to +Inf.
func L1Nearest(least []float64, label []int64, x, centres []float64, k, d int) {
	least, label, x, centres = least[:Rows], label[:Rows], x[:d*Rows], centres[:k*d]
	for i := range least {
		least[i] = math.Inf(1)
	}
	clear(label)
	if k > 0 && d > 0 && fastL1Nearest(least, label, x, centres, k, d) {
		return
	}
	var dist [Rows]float64
	for c := range k {
		l1dist(dist[:], x, centres[c*d:c*d+d])
		for i, v := range dist {
			if v < least[i] {
				least[i], label[i] = v, int64(c)
			}
		}
	}
}

// L1Rows sets dst[i] = sum_j |x[i*d+j] - centres[label[i]*d+j]|, x being len(dst) x d, row by row. Column j goes to sum
// j mod 8; eightfold adds the sums.
func L1Rows(dst, x, centres []float64, label []int32, d int) {
	x, label = x[:len(dst)*d], label[:len(dst)]
	if len(dst) > 0 && d > 0 && fastL1Rows(dst, x, centres, label, d) {
		return
	}
	for i, l := range label {
		var s [8]float64
		row, c := x[i*d:i*d+d], centres[int(l)*d:int(l)*d+d]
		for j, v := range row {
			s[j&7] += math.Abs(v - c[j])
		}
		dst[i] = eightfold(&s)
	}
}

func eightfold(s *[8]float64) float64 {
	return ((s[0] + s[4]) + (s[2] + s[6])) + ((s[1] + s[5]) + (s[3] + s[7]))
}

// Planes is how many numbers Bracket keeps for a cluster and a column.
const Planes = 5

// BracketRoom is how much longer than the hits the slices must be that Bracket writes them to.
const BracketRoom = 8

// Bracket tallies rows of x, len(label) x d, against an open interval for every cluster and column, and returns n, the
// number of values inside. table holds five planes for each cluster, each of d numbers and padded to Pad(d):
//
//	lo, hi            the ends of the interval; read; +Inf where they are padded
//	below             grows by the weight of the values x < lo
//	upLo, upHi        grow by the weight of the values x <= lo and x <= hi
//
// Value t of those inside, row by row, is in hit[t], its weight in weight[t], and cluster*d + column in slot[t]. There
// must be room for len(label)*d + BracketRoom; what follows the first n is undefined, and so are padded sums.
// No value may be NaN.
func Bracket(hit, weight []float64, slot []int32, table, x, w []float64, label []int32, d int) (n int) {
	rows := len(label)
	x, w = x[:rows*d], w[:rows]
	hit, weight, slot = hit[:rows*d+BracketRoom], weight[:rows*d+BracketRoom], slot[:rows*d+BracketRoom]
	if rows > 0 && d > 0 {
		if n, ok := fastBracket(hit, weight, slot, table, x, w, label, d); ok {
			return n
		}
	}
	p := Pad(d)
	for i, l := range label {
		t := table[int(l)*Planes*p : (int(l)+1)*Planes*p]
		lo, hi, below, upLo, upHi := t[:d], t[p:p+d], t[2*p:2*p+d], t[3*p:3*p+d], t[4*p:4*p+d]
		for j, v := range x[i*d : i*d+d] {
			if v > hi[j] {
				continue
			}
			upHi[j] += w[i]
			switch {
			case v < lo[j]:
				below[j] += w[i]
				upLo[j] += w[i]
			case v == lo[j]:
				upLo[j] += w[i]
			case v < hi[j]:
				hit[n], weight[n], slot[n] = v, w[i], l*int32(d)+int32(j)
				n++
			}
		}
	}
	return n
}

// DistanceSums adds sum_i w[i] sqrt(sum_j (x[j*Rows+i] - centres[c*d+j])^2) over the rows of a panel to dst[c], for k
// centres. Row i goes to sum i mod 8; eightfold adds the sums.
func DistanceSums(dst, x, w, centres []float64, k, d int) {
	dst, x, w, centres = dst[:k], x[:d*Rows], w[:Rows], centres[:k*d]
	if k > 0 && d > 0 && fastDistanceSums(dst, x, w, centres, k, d) {
		return
	}
	var sq [Rows]float64
	for c := range k {
		SqdistAll(sq[:], x, centres[c*d:c*d+d], 1, d)
		var s [8]float64
		for i, v := range sq {
			s[i&7] += float64(w[i] * math.Sqrt(v))
		}
		dst[c] += eightfold(&s)
	}
}
