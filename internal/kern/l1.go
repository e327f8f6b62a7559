package kern

import "math"

// L1dist sets dst[i] = sum_j |x[j*Rows+i] - c[j]|.
func L1dist(dst, x, c []float64) {
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
