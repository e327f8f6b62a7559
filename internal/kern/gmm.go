package kern

import (
	"math"
	"time"
)

//go:generate go -C _asm run ./gmm -out ../gmm_amd64.s -stubs ../gmm_amd64.go -pkg kern

// Lanes is the multiple to which Share and Accumulate pad the number of components.
const Lanes = 8

// Pad returns k rounded up to a multiple of Lanes.
func Pad(k int) int { return (k + Lanes - 1) / Lanes * Lanes }

// PackRows is Pack, faster where the panel is full.
func PackRows[F float32 | float64](x []float64, src []F, origin []float64, n, d int) {
	x, src, origin = x[:d*Rows], src[:n*d], origin[:d]
	if n == Rows && d > 0 {
		switch s := any(src).(type) {
		case []float64:
			if fastPack64(x, s, origin, d) {
				return
			}
		case []float32:
			if fastPack32(x, s, origin, d) {
				return
			}
		}
	}
	Pack(x, src, origin, n, d)
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

// SumSquares is Norms.
func SumSquares(dst, y []float64, d int) {
	dst, y = dst[:Rows], y[:d*Rows]
	if d > 0 && fastNorms(dst, y, d) {
		return
	}
	Norms(dst, y, d)
}

// Soften turns the k scores s[c*Rows+i] of each row into exp(beta (s_c - max s)) and sets inv[i] to one over their sum,
// lse[i] to (1/beta) log sum_c exp(beta s_c), and ent[i] to the entropy of their shares, in nats. A row with a score that
// is NaN or +Inf, or with none above -Inf, gets a NaN in lse.
//
// Assembly flushes exp to 0 from -708 down, Go below -745.
func Soften(s, lse, ent, inv []float64, k int, beta float64) {
	s, lse, ent, inv = s[:k*Rows], lse[:Rows], ent[:Rows], inv[:Rows]
	if k > 0 && fastSoften(s, lse, ent, inv, k, beta) {
		return
	}
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

// LogSums is LogSumExp, but a row without a finite score gets a NaN.
func LogSums(dst, s []float64, k int) {
	dst, s = dst[:Rows], s[:k*Rows]
	if k > 0 && fastLogSums(dst, s, k) {
		return
	}
	LogSumExp(dst, s, k)
}

// Labels is Argmax.
func Labels(best []float64, label []int32, s []float64, k int) {
	best, label, s = best[:Rows], label[:Rows], s[:k*Rows]
	if k > 0 && fastLabels(best, label, s, k) {
		return
	}
	Argmax(best, label, s, k)
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
