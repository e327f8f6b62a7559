package kern

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

// secondRows is how many rows of the sum SecondMoments has in registers at a time.
const secondRows = 6

// SecondScratch is the length of tmp in SecondMoments.
func SecondScratch(d int) int { return (Rows + secondRows) * Pad(d) }

// SecondMoments is Second for many variables, in another order of sums except in plain Go. x has memory for Pad(d) of them; what the surplus ones hold does not matter.
func SecondMoments(s, x, r, tmp []float64, d int) {
	dp := Pad(d)
	s, x, r, tmp = s[:d*(d+1)/2], x[:dp*Rows], r[:Rows], tmp[:SecondScratch(d)]
	if level == Go {
		Second(s, x, r, tmp, d)
		return
	}
	weighted, sum := tmp[:Rows*dp], tmp[Rows*dp:]
	Share(weighted, x, r, d)
	for j := 0; j < d; j += secondRows {
		q := min(secondRows, d-j)
		clear(sum)
		fastBand(sum, x[j*Rows:], weighted, q, Pad(j+q), dp)
		for b := range q {
			row := s[(j+b)*(j+b+1)/2 : (j+b)*(j+b+1)/2+j+b+1]
			addTo(row, sum[b*dp:b*dp+len(row)])
		}
	}
}

// addTo adds src to dst, without a check of bounds for every number.
func addTo(dst, src []float64) {
	dst = dst[:len(src)]
	for i, v := range src {
		dst[i] += v
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

// Share sets r[i*Pad(k)+c] = s[c*Rows+i] f[i]: scores by components become shares by rows. s has Pad(k) rows, those
// from k on 0.
func Share(r, s, f []float64, k int) {
	kp := Pad(k)
	r, s, f = r[:Rows*kp], s[:kp*Rows], f[:Rows]
	if k > 0 && fastShare(r, s, f, kp) {
		return
	}
	for c := range k {
		for i, v := range s[c*Rows : c*Rows+Rows] {
			r[i*kp+c] = v * f[i]
		}
	}
}

// Accumulate adds sum_i t[j*Rows+i] r[i*Pad(k)+c] to sum[j*Pad(k)+c] for f features j and k components c; what it does
// to the columns from k on is not defined.
func Accumulate(sum, t, r []float64, f, k int) {
	kp := Pad(k)
	sum, t, r = sum[:f*kp], t[:f*Rows], r[:Rows*kp]
	if f > 0 && k > 0 && fastAccumulate(sum, t, r, f, kp) {
		return
	}
	for j := 0; j < f; j += 2 {
		j1 := min(j+1, f-1) // the last of an odd number is taken twice, and added once
		t0, t1 := (*[Rows]float64)(t[j*Rows:]), (*[Rows]float64)(t[j1*Rows:])
		for c := 0; c < k; c += 4 {
			var a0, a1, a2, a3, b0, b1, b2, b3 float64
			for i, at := 0, c; i < Rows; i, at = i+1, at+kp {
				p := (*[4]float64)(r[at:])
				u, v := t0[i], t1[i]
				a0 += u * p[0]
				a1 += u * p[1]
				a2 += u * p[2]
				a3 += u * p[3]
				b0 += v * p[0]
				b1 += v * p[1]
				b2 += v * p[2]
				b3 += v * p[3]
			}
			p := (*[4]float64)(sum[j*kp+c:])
			p[0], p[1], p[2], p[3] = p[0]+a0, p[1]+a1, p[2]+a2, p[3]+a3
			if j1 > j {
				p = (*[4]float64)(sum[j1*kp+c:])
				p[0], p[1], p[2], p[3] = p[0]+b0, p[1]+b1, p[2]+b2, p[3]+b3
			}
		}
	}
}

// Lower adds second moments: sum_i t[j*Rows+i] r[i*Pad(d)+l] to sum[j*Pad(d)+l] for l <= j < d, and for j = d, a row of
// ones, the first moments for all l < d. With r what Share makes of the same t and weights that is sum_i w_i x_j x_l and
// sum_i w_i x_l. What it does to the other places is not defined.
func Lower(sum, t, r []float64, d int) {
	dp := Pad(d)
	sum, t, r = sum[:(d+1)*dp], t[:(d+1)*Rows], r[:Rows*dp]
	if d == 0 || fastLower(sum, t, r, d, dp) {
		return
	}
	for j := range d + 1 {
		tj, dst := t[j*Rows:j*Rows+Rows], sum[j*dp:j*dp+dp]
		for l := 0; l < min(j+1, d); l += 4 {
			var a0, a1, a2, a3 float64
			for i, v := range tj {
				p := r[i*dp+l : i*dp+l+4 : i*dp+l+4]
				a0 += v * p[0]
				a1 += v * p[1]
				a2 += v * p[2]
				a3 += v * p[3]
			}
			dst[l] += a0
			dst[l+1] += a1
			dst[l+2] += a2
			dst[l+3] += a3
		}
	}
}

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
