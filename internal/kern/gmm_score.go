package kern

import "math"

// sqdist sets dst[i] = sum_j (x[j*Rows+i] - c[j])^2.
func sqdist(dst, x, c []float64) {
	dst = dst[:Rows]
	x = x[:len(c)*Rows]
	for i := 0; i < Rows; i += 4 {
		var a0, a1, a2, a3 float64
		for j, m := range c {
			p := x[j*Rows+i : j*Rows+i+4 : j*Rows+i+4]
			t0, t1, t2, t3 := p[0]-m, p[1]-m, p[2]-m, p[3]-m
			a0 += t0 * t0
			a1 += t1 * t1
			a2 += t2 * t2
			a3 += t3 * t3
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = a0, a1, a2, a3
	}
}

// SqdistScaled sets dst[i] = sum_j ((x[j*Rows+i] - c[j]) * s[j])^2.
func SqdistScaled(dst, x, c, s []float64) {
	dst = dst[:Rows]
	x = x[:len(c)*Rows]
	s = s[:len(c)]
	for i := 0; i < Rows; i += 4 {
		var a0, a1, a2, a3 float64
		for j, m := range c {
			p, f := x[j*Rows+i:j*Rows+i+4:j*Rows+i+4], s[j]
			t0, t1, t2, t3 := (p[0]-m)*f, (p[1]-m)*f, (p[2]-m)*f, (p[3]-m)*f
			a0 += t0 * t0
			a1 += t1 * t1
			a2 += t2 * t2
			a3 += t3 * t3
		}
		dst[i], dst[i+1], dst[i+2], dst[i+3] = a0, a1, a2, a3
	}
}

// Whiten sets y = W x for each row: y[j*Rows+i] = sum_{l<=j} w[j(j+1)/2+l] x[l*Rows+i], W being d x d lower triangular
// and packed by rows. y must not overlap x.
func Whiten(y, x, w []float64, d int) {
	for j := range d {
		row := w[j*(j+1)/2 : j*(j+1)/2+j+1]
		out := y[j*Rows : j*Rows+Rows]
		for i := 0; i < Rows; i += 4 {
			var a0, a1, a2, a3 float64
			for l, f := range row {
				p := x[l*Rows+i : l*Rows+i+4 : l*Rows+i+4]
				a0 += f * p[0]
				a1 += f * p[1]
				a2 += f * p[2]
				a3 += f * p[3]
			}
			out[i], out[i+1], out[i+2], out[i+3] = a0, a1, a2, a3
		}
	}
}

// lowerRows is how many rows of a triangular factor Whitened takes at a time: as many as the registers hold.
const lowerRows = 5

// LowerTiles is how many numbers TileLower packs for d variables.
func LowerTiles(d int) (n int) {
	for j := 0; j < d; j += lowerRows {
		q := min(lowerRows, d-j)
		n += (j + q) * q
	}
	return n
}

// TileLower packs w, lower triangular and packed by rows, as WhitenTiles and Whitened read it.
func TileLower(dst, w []float64, d int) {
	for j := 0; j < d; j += lowerRows {
		q := min(lowerRows, d-j)
		for l := range j + q {
			for b := range q {
				dst[0] = 0
				if l <= j+b {
					dst[0] = w[(j+b)*(j+b+1)/2+l]
				}
				dst = dst[1:]
			}
		}
	}
}

// WhitenTiles is Whiten with w packed by TileLower.
func WhitenTiles(y, x, w []float64, d int) {
	y, x, w = y[:d*Rows], x[:d*Rows], w[:LowerTiles(d)]
	for j := 0; j < d; j += lowerRows {
		q := min(lowerRows, d-j)
		n := (j + q) * q
		if !fastMultiply(y[j*Rows:], x, w[:n], j+q, q) {
			for b := range q {
				combine(y[(j+b)*Rows:], x, w[:n], q, b)
			}
		}
		w = w[n:]
	}
}

// TileColumns packs w, k columns of f numbers each, as Multiply reads it.
func TileColumns(dst, w []float64, f, k int) {
	dst, w = dst[:f*k], w[:f*k]
	for c, q := 0, 0; c < k; c += q {
		q = tileColumns(k - c)
		for j := range f {
			for b := range q {
				dst[b] = w[(c+b)*f+j]
			}
			dst = dst[q:]
		}
	}
}

// tileColumns is how many of the left columns the next tile takes: tiles are as even as can be.
func tileColumns(left int) int {
	tiles := (left + lowerRows - 1) / lowerRows
	return (left + tiles - 1) / tiles
}

// Multiply sets y[c*Rows+i] = sum_j w[c*f+j] x[j*Rows+i] for f features and k columns of w, which TileColumns has packed.
// y must not overlap x.
func Multiply(y, x, w []float64, f, k int) {
	y, x, w = y[:k*Rows], x[:f*Rows], w[:f*k]
	if f == 0 {
		clear(y)
		return
	}
	for c, q := 0, 0; c < k; c += q {
		q = tileColumns(k - c)
		if !fastMultiply(y[c*Rows:], x, w[:f*q], f, q) {
			for b := range q {
				combine(y[(c+b)*Rows:], x, w[:f*q], q, b)
			}
		}
		w = w[f*q:]
	}
}

// combine sets the first row of y to the rows of x times column b of w, which has q.
func combine(y, x, w []float64, q, b int) {
	for i := 0; i < Rows; i += 4 {
		var a0, a1, a2, a3 float64
		for at := 0; at < len(w); at += q {
			p, f := (*[4]float64)(x[at/q*Rows+i:]), w[at+b]
			a0 += f * p[0]
			a1 += f * p[1]
			a2 += f * p[2]
			a3 += f * p[3]
		}
		y[i], y[i+1], y[i+2], y[i+3] = a0, a1, a2, a3
	}
}

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

// MaskedEllipses is Ellipses over the cells that mask has, 1 for a cell that counts and 0 for one that does not, each of which costs add
// beside its square: the score is of v_i = sum_j mask_ij (((x_ij - m_cj) w_cj)^2 + a_cj) for mean, scale and add, k x d. Squares of
// cells that do not count must be finite.
func MaskedEllipses(dst, x, mask, mean, scale, add, shift []float64, d, k int) {
	dst, x, mask, shift = dst[:k*Rows], x[:d*Rows], mask[:d*Rows], shift[:k]
	mean, scale, add = mean[:k*d], scale[:k*d], add[:k*d]
	if d > 0 && k > 0 && fastMasked(dst, x, mask, mean, scale, add, shift, d, k) {
		return
	}
	for c := range k {
		out := dst[c*Rows : c*Rows+Rows]
		clear(out)
		for at := c * d; at < c*d+d; at++ {
			j, m, w, a := at-c*d, mean[at], scale[at], add[at]
			there := mask[j*Rows : j*Rows+Rows]
			for i, v := range x[j*Rows : j*Rows+Rows] {
				t := (v - m) * w
				out[i] += there[i] * (t*t + a)
			}
		}
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
		sqdist(out, x, mean[c*d:c*d+d])
		for i := range out {
			out[i] *= f[c]
		}
		score(out, shift[c])
	}
}
