package kern

import (
	"math"
	"time"
)

// The kernels of this file make features of the rows of a panel.

// Pack sets x[j*Rows+i] = src[i*d+j] - origin[j] for the n rows of src, and 0 for the rows beyond n.
func Pack[F float32 | float64](x []float64, src []F, origin []float64, n, d int) {
	x, src, origin = x[:d*Rows], src[:n*d], origin[:d]
	if n == Rows && d > 0 && fastPack(x, src, origin, d) {
		return
	}
	for j, o := range origin {
		dst := x[j*Rows : j*Rows+Rows]
		for i := range n {
			dst[i] = float64(src[i*d+j]) - o
		}
		clear(dst[n:])
	}
}

// Present sets there to 1 for each cell of the d variables of a panel and to 0 for each NaN, and filled to the cells with 0 in place of
// NaN. It reports whether there is any NaN.
func Present(there, filled, x []float64, d int) (missing bool) {
	there, filled, x = there[:d*Rows], filled[:d*Rows], x[:d*Rows]
	if d > 0 {
		if missing, ok := fastPresent(there, filled, x, d); ok {
			return missing
		}
	}
	for i, v := range x {
		there[i], filled[i] = 1, v
		if v != v {
			there[i], filled[i], missing = 0, 0, true
		}
	}
	return missing
}

// Centre sets y[j*Rows+i] = x[j*Rows+i] - m[j].
func Centre(y, x, m []float64) {
	y, x = y[:len(m)*Rows], x[:len(m)*Rows]
	if len(m) > 0 && fastCentre(y, x, m, len(m)) {
		return
	}
	for j, c := range m {
		src, dst := x[j*Rows:j*Rows+Rows], y[j*Rows:j*Rows+Rows]
		for i := range dst {
			dst[i] = src[i] - c
		}
	}
}

// Norms sets dst[i] = sum_j y[j*Rows+i]^2 over d variables.
func Norms(dst, y []float64, d int) {
	dst, y = dst[:Rows], y[:d*Rows]
	if d > 0 && fastNorms(dst, y, d) {
		return
	}
	clear(dst)
	for j := range d {
		p := y[j*Rows : j*Rows+Rows]
		for i, v := range p {
			dst[i] += v * v
		}
	}
}

// SquareRows sets t[j*Rows+i] = x[j*Rows+i]^2 for d variables.
func SquareRows(t, x []float64, d int) {
	t, x = t[:d*Rows], x[:d*Rows]
	if d == 0 || fastSquares(t, x, d) {
		return
	}
	for i, v := range x {
		t[i] = v * v
	}
}

// Products sets t to the products x_j x_l, l <= j, for the variables j in [from, to): Rows values each, packed by rows.
func Products(t, x []float64, from, to int) {
	t, x = t[:(to*(to+1)-from*(from+1))/2*Rows], x[:to*Rows]
	if from >= to || fastProducts(t, x, from, to) {
		return
	}
	for j := from; j < to; j++ {
		xj := x[j*Rows : j*Rows+Rows]
		for l := range j + 1 {
			xl := x[l*Rows : l*Rows+Rows]
			out := t[:Rows]
			for i := range out {
				out[i] = xj[i] * xl[i]
			}
			t = t[Rows:]
		}
	}
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

// PeakFlops measures how many operations a second on float64, or on float32, one core makes of fused multiply-adds that
// wait for nothing, two for each lane, at the level in use; 0 for portable Go. It takes about 20 ms.
func PeakFlops(float32s bool) float64 {
	best := 0.0
	for range 8 {
		const n = 50_000 // under 100 us
		start, flops := time.Now(), 0.0
		for range 32 {
			flops += fastPeak(n, float32s)
		}
		best = max(best, flops/time.Since(start).Seconds())
	}
	return best
}
