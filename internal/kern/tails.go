package kern

import "math"

// The kernels of this file are for t distributions: Gaussian scores and moments with heavier tails.

// Tails turns the k scores s[c*Rows+i] = -delta/2, delta >= 0 a squared distance, into shift_c - half_c log e, e = 1 + inverse_c delta,
// and sets u to ratio_c / e and log to log e. An e beyond float64 is taken for its largest number.
func Tails(s, u, log, shift, half, inverse, ratio []float64, k int) {
	s, u, log = s[:k*Rows], u[:k*Rows], log[:k*Rows]
	shift, half, inverse, ratio = shift[:k], half[:k], inverse[:k], ratio[:k]
	if k > 0 && fastTails(s, u, log, shift, half, inverse, ratio, k) {
		return
	}
	for c := range k {
		to, weight, l := s[c*Rows:c*Rows+Rows], u[c*Rows:c*Rows+Rows], log[c*Rows:c*Rows+Rows]
		a, h, f, r := shift[c], half[c], -2*inverse[c], ratio[c]
		for i, v := range to {
			e := min(1+f*v, math.MaxFloat64)
			l[i] = math.Log(e)
			weight[i] = r / e
			to[i] = a - h*l[i]
		}
	}
}

// Weigh adds the weights q[c*Rows+i] w[i] and their products with log to sums, Lanes partial sums of each at sum[2*c*Lanes], rows
// modulo Lanes, multiplies q by u, and adds q u w to row[i], for k components.
func Weigh(sum, row, q, w, u, log []float64, k int) {
	sum, row, q, w, u, log = sum[:2*k*Lanes], row[:Rows], q[:k*Rows], w[:Rows], u[:k*Rows], log[:k*Rows]
	if k > 0 && fastWeigh(sum, row, q, w, u, log, k) {
		return
	}
	for c := range k {
		n, t := sum[2*c*Lanes:(2*c+1)*Lanes], sum[(2*c+1)*Lanes:(2*c+2)*Lanes]
		for i := range Rows {
			at := c*Rows + i
			r := q[at] * w[i]
			n[i%Lanes] += r
			t[i%Lanes] += r * log[at]
			q[at] *= u[at]
			row[i] += q[at] * w[i]
		}
	}
}
