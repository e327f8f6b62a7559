package kern

import "math"

// Argmax sets best[i] to the largest of the k scores s[c*Rows+i] and label[i] to its c, the lowest of equals.
func Argmax(best []float64, label []int32, s []float64, k int) {
	best, label, s = best[:Rows], label[:Rows], s[:k*Rows]
	if k > 0 && fastArgmax(best, label, s, k) {
		return
	}
	copy(best, s)
	clear(label)
	for c := 1; c < k; c++ {
		p := s[c*Rows : c*Rows+Rows]
		for i, v := range p {
			if v > best[i] {
				best[i], label[i] = v, int32(c)
			}
		}
	}
}

// Soften turns the k scores s[c*Rows+i] of each row into exp(beta (s_c - max s)) and sets inv[i] to one over their sum,
// lse[i] to (1/beta) log sum_c exp(beta s_c), and ent[i] to the entropy of their shares, in nats. A row with a score that
// is NaN or +Inf, or with none above -Inf, gets a NaN in lse.
//
// Assembly may flush exp to 0 from -708 down, Go does below -745. On amd64 exp(t) is within 2 + 3|t| units in the last place: t is a
// difference of scores, and their rounding is no less.
func Soften(s, lse, ent, inv []float64, k int, beta float64) {
	s, lse, ent, inv = s[:k*Rows], lse[:Rows], ent[:Rows], inv[:Rows]
	if k > 0 && fastSoften(s, lse, ent, inv, k, beta) {
		return
	}
	soften(s, lse, ent, inv, k, beta)
}

// soften is Soften in plain Go.
func soften(s, lse, ent, inv []float64, k int, beta float64) {
	copy(lse, s)
	for c := 1; c < k; c++ {
		for i, v := range s[c*Rows : c*Rows+Rows] {
			lse[i] = max(lse[i], v)
		}
	}
	clear(inv)
	clear(ent)
	for c := range k {
		p := s[c*Rows : c*Rows+Rows]
		for i, v := range p {
			t := beta * (v - lse[i])
			if t < -745 { // exp underflows to 0
				p[i] = 0
				continue
			}
			e := math.Exp(t)
			p[i] = e
			inv[i] += e
			ent[i] += e * t
		}
	}
	for i, z := range inv {
		l := math.Log(z)
		ent[i] = max(l-ent[i]/z, 0) // rounding may leave -1e-17 where one component takes the row
		lse[i] += l / beta
		inv[i] = 1 / z
	}
}

// Softmax turns the k scores s[c*Rows+i] of each row into q_c proportional to exp(beta s_c) and sets lse[i] to
// (1/beta) log sum_c exp(beta s_c) and ent[i] to the entropy of q, in nats. tmp holds Rows numbers. It takes the
// exponentials of package math at every level, so that its bits are the same at each; Soften is faster.
func Softmax(s, lse, ent, tmp []float64, k int, beta float64) {
	s, lse, ent, tmp = s[:k*Rows], lse[:Rows], ent[:Rows], tmp[:Rows]
	soften(s, lse, ent, tmp, k, beta)
	for c := range k {
		for i, f := range tmp {
			s[c*Rows+i] *= f
		}
	}
}

// LogSumExp sets dst[i] = log sum_c exp(s[c*Rows+i]). A row without a finite score gets a NaN.
func LogSumExp(dst, s []float64, k int) {
	dst, s = dst[:Rows], s[:k*Rows]
	if k > 0 && fastLogSumExp(dst, s, k) {
		return
	}
	for i := range dst {
		top := s[i]
		for c := 1; c < k; c++ {
			top = max(top, s[c*Rows+i])
		}
		sum := 0.0
		for c := range k {
			sum += math.Exp(s[c*Rows+i] - top)
		}
		dst[i] = top + math.Log(sum)
	}
}
