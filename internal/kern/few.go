package kern

import "math"

// Few is the number of components up to which AccumulateFew beats Share and Accumulate, which are the same for up to
// Lanes of them.
const Few = 6

// AccumulateFew adds sum_i t[j*Rows+i] q[c*Rows+i] w[i] to the sums of feature j and component c, f features and k
// components: Lanes partial sums at sum[(c*f+j)*Lanes], rows modulo Lanes.
func AccumulateFew(sum, t, q, w []float64, f, k int) {
	sum, t, q, w = sum[:k*f*Lanes], t[:f*Rows], q[:k*Rows], w[:Rows]
	if f == 0 || k == 0 || fastFew(sum, t, q, w, f, k) {
		return
	}
	for c := range k {
		for j := range f {
			x, acc := t[j*Rows:j*Rows+Rows], (*[Lanes]float64)(sum[(c*f+j)*Lanes:])
			for i, v := range q[c*Rows : c*Rows+Rows] {
				acc[i%Lanes] += x[i] * (v * w[i])
			}
		}
	}
}

// Tally multiplies factor[i] by the row weight w[i] and adds w, w lse, w ent and the number of rows with w > 0 to four
// sums, each of Lanes partial sums, rows modulo Lanes.
func Tally(sum *[4 * Lanes]float64, factor, w, lse, ent []float64) {
	factor, w, lse, ent = factor[:Rows], w[:Rows], lse[:Rows], ent[:Rows]
	if fastTally(sum, factor, w, lse, ent) {
		return
	}
	for i, u := range w {
		l := i % Lanes
		sum[l] += u
		sum[Lanes+l] += u * lse[i]
		sum[2*Lanes+l] += u * ent[i]
		if u > 0 {
			sum[3*Lanes+l]++
		}
		factor[i] *= u
	}
}

// Sum returns the sum of the lanes.
func Sum(lane []float64) (sum float64) {
	for _, v := range lane[:Lanes] {
		sum += v
	}
	return sum
}

// Largest returns the largest absolute value of n variables of a panel without NaN.
func Largest(x []float64, n int) (top float64) {
	x = x[:n*Rows]
	if n > 0 {
		if top, ok := fastLargest(x, n); ok {
			return top
		}
	}
	for _, v := range x {
		top = max(top, math.Abs(v))
	}
	return top
}
