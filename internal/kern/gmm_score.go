package kern

import "math"

// The scores below are shift[c] - v/2 for the squared length v of a difference from mean c; a v that is not finite, as of
// a row so far away that its square overflows, counts as math.MaxFloat64. Differences come before squares, so nothing
// cancels.

// score sets dst to shift - v/2 for the squares v in dst.
func score(dst []float64, shift float64) {
	for i, v := range dst {
		if !(v <= math.MaxFloat64) {
			v = math.MaxFloat64
		}
		dst[i] = shift - 0.5*v
	}
}

// Whitened sets dst[c*Rows+i] to the score of v = |W_c (x_i - m_c)|^2 for k components of d variables, mean k x d and each
// W_c lower triangular and packed by TileLower. In plain Go, Centre, Whiten and Norms one after the other are faster.
func Whitened(dst, x, mean, w, shift []float64, d, k int) {
	dst, x, mean, w, shift = dst[:k*Rows], x[:d*Rows], mean[:k*d], w[:k*LowerTiles(d)], shift[:k]
	if d > 0 && k > 0 && fastWhitened(dst, x, mean, w, shift, d, k) {
		return
	}
	for c := range k {
		out, m := dst[c*Rows:c*Rows+Rows], mean[c*d:c*d+d]
		clear(out)
		for j := 0; j < d; j += lowerRows {
			q := min(lowerRows, d-j)
			for b := range q {
				for i := range out {
					v := 0.0
					for l, u := range m[:j+q] {
						v += w[l*q+b] * (x[l*Rows+i] - u)
					}
					out[i] += v * v
				}
			}
			w = w[(j+q)*q:]
		}
		score(out, shift[c])
	}
}

// Ellipses is Whitened for diagonal W_c, given by rows in scale, k x d.
func Ellipses(dst, x, mean, scale, shift []float64, d, k int) {
	dst, x, mean, scale, shift = dst[:k*Rows], x[:d*Rows], mean[:k*d], scale[:k*d], shift[:k]
	if d > 0 && k > 0 && fastEllipses(dst, x, mean, scale, shift, d, k) {
		return
	}
	for c := range k {
		out := dst[c*Rows : c*Rows+Rows]
		SqdistScaled(out, x, mean[c*d:c*d+d], scale[c*d:c*d+d])
		score(out, shift[c])
	}
}

// Spheres sets dst[c*Rows+i] to the score of v = f_c |x_i - m_c|^2.
func Spheres(dst, x, mean, f, shift []float64, d, k int) {
	dst, x, mean, f, shift = dst[:k*Rows], x[:d*Rows], mean[:k*d], f[:k], shift[:k]
	if d > 0 && k > 0 && fastSpheres(dst, x, mean, f, shift, d, k) {
		return
	}
	for c := range k {
		out := dst[c*Rows : c*Rows+Rows]
		Sqdist(out, x, mean[c*d:c*d+d])
		for i := range out {
			out[i] *= f[c]
		}
		score(out, shift[c])
	}
}
