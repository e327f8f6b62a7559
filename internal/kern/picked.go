package kern

import "math"

// The kernels of bounds by panel: which centres may be the nearest of a row of a panel, and only those are scored. A list names centres by
// number; what is said of its centres stands in its order.

// PickedHead is what stands before the integers of a centre of Picked, in bytes.
const PickedHead = 16

// PickedRoom is how many entries beyond the last a list, and what is said of its centres, must have room for.
const PickedRoom = 16

// Picked scores the centres of a list from dot products of bytes for the rows of one panel. x and row are as in Integers. c holds for each
// centre PickedHead + 4 groups bytes: an int32 initial value, float32 scale t and norm, four bytes that do not matter, and its integers. The
// score of a row and a centre is norm - (s t) (initial value + sum x c), Rows numbers a centre in scores. Up to PickedRoom entries of
// the list after the last are written over, and scores has room for theirs.
func Picked(x []uint8, row []float32, c []int8, list []uint32, scores []float32, groups, n int) {
	x, row, scores, list = x[:groups*4*Rows], row[:4*Rows], scores[:(n+PickedRoom)*Rows], list[:n+PickedRoom]
	size := PickedHead + 4*groups
	if n == 0 || fastPicked(x, row, c, list, scores, groups, n) {
		return
	}
	for at, id := range list[:n] {
		centre := c[int(id)*size : (int(id)+1)*size]
		scale, norm := math.Float32frombits(uint32(word(centre, 1, 1, 0))), math.Float32frombits(uint32(word(centre, 2, 1, 0)))
		for i := range Rows {
			sum := word(centre, 0, 1, 0)
			for g := range groups {
				for q, v := range x[(g*Rows+i)*4 : (g*Rows+i)*4+4] {
					sum += int32(v) * int32(centre[PickedHead+4*g+q])
				}
			}
			scores[at*Rows+i] = norm - row[i]*scale*float32(sum)
		}
	}
}

// Uppers lowers upper[i] to the least of score plus radius over n centres. row and meta are as in Integers, with tiles of one centre.
func Uppers(upper *[Rows]float32, row, meta, scores []float32, n int) {
	row, meta, scores = row[:4*Rows], meta[:4*n], scores[:n*Rows]
	if n == 0 || fastUppers(upper, row, meta, scores, n) {
		return
	}
	for q := range n {
		for i := range Rows {
			upper[i] = min(upper[i], scores[q*Rows+i]+radius(row, meta[4*q:], i))
		}
	}
}

// Margins sets t[q] to lift[q] + m, where m is the least over the rows of score less upper, for n centres. Bit q%16 of near[q/16] says that m
// is at most radius[q]. Of all there is room for PickedRoom more centres, of which nothing is said.
func Margins(t []float32, near []uint16, scores []float32, upper *[Rows]float32, lift, radius []float32, n int) {
	room := n + PickedRoom
	t, near, scores, lift, radius = t[:room], near[:(n+15)/16], scores[:room*Rows], lift[:room], radius[:room]
	if n == 0 || fastMargins(t, near, scores, upper, lift, radius, n) {
		return
	}
	clear(near)
	for q := range n {
		m := float32(math.Inf(1))
		for i, u := range upper {
			m = min(m, scores[q*Rows+i]-u)
		}
		t[q] = m + lift[q]
		if !(radius[q] < m) {
			near[q/16] |= 1 << (q % 16)
		}
	}
}

// CandidateBlock is how many centres stand side by side in the table of Candidates.
const CandidateBlock = 16

// Candidates lists the centres of which not t > l + level, with l = z drift - norm, and sets radius to r = (own + g) + a wide + z far and lift
// to l - r + rise for each. It returns their number. c holds blocks of CandidateBlock centres, one for each as many numbers t: of each
// block the drifts, then norm, wide, far and own. coef is z, a, g, level, rise. The list has room for PickedRoom more than there are centres.
func Candidates(list []uint32, lift, radius, t, c []float32, coef *[5]float32) int {
	blocks := len(t) / CandidateBlock
	room := len(t) + PickedRoom
	list, lift, radius, c = list[:room], lift[:room], radius[:room], c[:5*len(t)]
	if blocks == 0 {
		return 0
	}
	if n, ok := fastCandidates(list, lift, radius, t, c, coef, blocks); ok {
		return n
	}
	z, a, g, level, rise, n := coef[0], coef[1], coef[2], coef[3], coef[4], 0
	for id, v := range t {
		l, r := CandidateTerms(c, id, z, a, g)
		if !(v > l+level) {
			list[n], lift[n], radius[n] = uint32(id), l-r+rise, r
			n++
		}
	}
	return n
}

// CandidateTerms returns l and r of a centre, as Candidates says.
func CandidateTerms(c []float32, id int, z, a, g float32) (l, r float32) {
	block := c[id/CandidateBlock*5*CandidateBlock+id%CandidateBlock:]
	l = z*block[0] - block[CandidateBlock]
	return l, block[4*CandidateBlock] + g + a*block[2*CandidateBlock] + z*block[3*CandidateBlock]
}
