// Package kern holds the inner loops of a sweep, each written once in plain Go. The Go loop is the definition; an
// assembly version may replace it without a change to any caller.
//
// Kernels work on a panel: Rows rows stored variable by variable, so that the Rows values of one variable, or of one
// component's scores, are contiguous and fill vector registers. A panel is always full; rows beyond the data have
// weight 0. Lengths are the caller's duty: a wrong one panics.
package kern

import "math"

// Rows is the number of rows in a panel.
// 32 rows of 16 columns and their scores for 64 components stay within a 48 KB first-level cache.
const Rows = 32

// Pack sets x[j*Rows+i] = src[i*d+j] - origin[j] for the n rows of src, and 0 for the rows beyond n.
func Pack[F float32 | float64](x []float64, src []F, origin []float64, n, d int) {
	for j := range d {
		o, dst := origin[j], x[j*Rows:j*Rows+Rows]
		for i := range n {
			dst[i] = float64(src[i*d+j]) - o
		}
		clear(dst[n:])
	}
}

// Sqdist sets dst[i] = sum_j (x[j*Rows+i] - c[j])^2.
func Sqdist(dst, x, c []float64) {
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

// Centre sets y[j*Rows+i] = x[j*Rows+i] - m[j].
func Centre(y, x, m []float64) {
	for j, c := range m {
		src, dst := x[j*Rows:j*Rows+Rows], y[j*Rows:j*Rows+Rows]
		for i := range dst {
			dst[i] = src[i] - c
		}
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

// Norms sets dst[i] = sum_j y[j*Rows+i]^2 over d variables.
func Norms(dst, y []float64, d int) {
	dst = dst[:Rows]
	clear(dst)
	for j := range d {
		p := y[j*Rows : j*Rows+Rows]
		for i, v := range p {
			dst[i] += v * v
		}
	}
}

// First adds sum_i r[i] x[j*Rows+i] to s[j] for every j, and returns sum_i r[i].
func First(s, x, r []float64) float64 {
	r = r[:Rows]
	n := 0.0
	for _, v := range r {
		n += v
	}
	for j := range s {
		s[j] += dot(r, x[j*Rows:j*Rows+Rows])
	}
	return n
}

// Second adds sum_i r[i] x_j x_l to s[j(j+1)/2+l] for every l <= j < d. tmp holds Rows numbers.
func Second(s, x, r, tmp []float64, d int) {
	tmp, r = tmp[:Rows], r[:Rows]
	for j := range d {
		xj := x[j*Rows : j*Rows+Rows]
		for i, v := range xj {
			tmp[i] = v * r[i]
		}
		row := s[j*(j+1)/2 : j*(j+1)/2+j+1]
		for l := range row {
			row[l] += dot(tmp, x[l*Rows:l*Rows+Rows])
		}
	}
}

// Squares adds sum_i (r[i] x_j) x_j to s[j] for every j, in that order: a row of weight 0 whose square overflows adds 0.
func Squares(s, x, r []float64) {
	r = r[:Rows]
	for j := range s {
		p := x[j*Rows : j*Rows+Rows]
		var a0, a1, a2, a3 float64
		for i := 0; i < Rows; i += 4 {
			a0 += (r[i] * p[i]) * p[i]
			a1 += (r[i+1] * p[i+1]) * p[i+1]
			a2 += (r[i+2] * p[i+2]) * p[i+2]
			a3 += (r[i+3] * p[i+3]) * p[i+3]
		}
		s[j] += (a0 + a1) + (a2 + a3)
	}
}

// dot returns sum_i a[i] b[i] over Rows values, in four interleaved sums.
func dot(a, b []float64) float64 {
	a, b = a[:Rows], b[:Rows]
	var a0, a1, a2, a3 float64
	for i := 0; i < Rows; i += 4 {
		a0 += a[i] * b[i]
		a1 += a[i+1] * b[i+1]
		a2 += a[i+2] * b[i+2]
		a3 += a[i+3] * b[i+3]
	}
	return (a0 + a1) + (a2 + a3)
}

// Argmax sets best[i] to the largest of the k scores s[c*Rows+i] and label[i] to its c, the lowest of equals.
func Argmax(best []float64, label []int32, s []float64, k int) {
	best, label = best[:Rows], label[:Rows]
	copy(best, s[:Rows])
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

// Softmax turns the k scores s[c*Rows+i] of each row into q_c proportional to exp(beta s_c) and sets lse[i] to
// (1/beta) log sum_c exp(beta s_c) and ent[i] to the entropy of q, in nats. tmp holds Rows numbers.
func Softmax(s, lse, ent, tmp []float64, k int, beta float64) {
	top, sum := lse[:Rows], tmp[:Rows]
	ent = ent[:Rows]
	copy(top, s[:Rows])
	for c := 1; c < k; c++ {
		for i, v := range s[c*Rows : c*Rows+Rows] {
			top[i] = max(top[i], v)
		}
	}
	clear(sum)
	clear(ent)
	for c := range k {
		p := s[c*Rows : c*Rows+Rows]
		for i, v := range p {
			t := beta * (v - top[i])
			if t < -745 { // exp underflows to 0
				p[i] = 0
				continue
			}
			e := math.Exp(t)
			p[i] = e
			sum[i] += e
			ent[i] += e * t
		}
	}
	for i, z := range sum {
		l := math.Log(z)
		ent[i] = max(l-ent[i]/z, 0) // rounding may leave -1e-17 where one component takes the row
		lse[i] = top[i] + l/beta
		sum[i] = 1 / z
	}
	for c := range k {
		for i, f := range sum {
			s[c*Rows+i] *= f
		}
	}
}

// LogSumExp sets dst[i] = log sum_c exp(s[c*Rows+i]).
func LogSumExp(dst, s []float64, k int) {
	dst = dst[:Rows]
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
