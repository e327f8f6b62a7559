package kern

// The kernels of this file are for rows that differ from one another in what is done to them, as rows with missing cells
// do: their vectors are not of rows, but of components. Value v of component c is at [v*kp+c], where kp, a multiple of
// Lanes, is the number of components with padding, Pad(k). All lanes are alike: what stands in those beyond k is computed
// with as the others are, and stays there.

// checkLanes panics unless kp is a multiple of Lanes: with another, assembly would write beyond the slices.
func checkLanes(kp int) {
	if kp%Lanes != 0 {
		panic("kern: the components are not padded")
	}
}

// LaneDeviations sets y[j*kp+c] = x[j] - mean[j*kp+c] for d variables, and 0 where x[j] is NaN, a missing cell.
func LaneDeviations(y, x, mean []float64, d, kp int) {
	checkLanes(kp)
	y, x, mean = y[:d*kp], x[:d], mean[:d*kp]
	if d > 0 && kp > 0 && fastLaneDeviations(&y[0], &x[0], &mean[0], d, kp) {
		return
	}
	for j, v := range x {
		to, m := y[j*kp:j*kp+kp], mean[j*kp:j*kp+kp]
		if v != v {
			clear(to)
			continue
		}
		for c := 0; c < kp; c += Lanes {
			a, b := (*[Lanes]float64)(to[c:c+Lanes]), (*[Lanes]float64)(m[c:c+Lanes])
			a[0], a[1], a[2], a[3] = v-b[0], v-b[1], v-b[2], v-b[3]
			a[4], a[5], a[6], a[7] = v-b[4], v-b[5], v-b[6], v-b[7]
		}
	}
}

// LaneProduct sets dst[a*kp+c] = sum_l m[(rows[a]*d+l)*kp+c] y[l*kp+c]: some rows of a matrix of d columns, one matrix a
// component, times the vector of the component. Rows may repeat. dst must not overlap y.
func LaneProduct(dst, m, y []float64, rows []int32, d, kp int) {
	checkLanes(kp)
	size := d * kp
	dst, m, y = dst[:len(rows)*kp], m[:above(rows)*size], y[:size]
	if size == 0 || len(rows) == 0 {
		clear(dst)
		return
	}
	if fastLaneProduct(&dst[0], &m[0], &y[0], rows, d, kp) {
		return
	}
	for a, r := range rows {
		to, row := dst[a*kp:a*kp+kp], m[int(r)*size:int(r)*size+size]
		for c := 0; c < kp; c += Lanes {
			t := (*[Lanes]float64)(to[c:])
			t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7] = laneDot(row[c:], y[c:], kp)
		}
	}
}

// laneDot returns the products of two vectors for eight components, the first at 0 of every kp numbers. Eight sums are
// what fills the registers; in a loop of its own they are not pushed out of them.
func laneDot(v, w []float64, kp int) (a0, a1, a2, a3, a4, a5, a6, a7 float64) {
	for i := 0; i < len(v); i += kp {
		p, q := (*[Lanes]float64)(v[i:i+Lanes]), (*[Lanes]float64)(w[i:i+Lanes])
		a0 += p[0] * q[0]
		a1 += p[1] * q[1]
		a2 += p[2] * q[2]
		a3 += p[3] * q[3]
		a4 += p[4] * q[4]
		a5 += p[5] * q[5]
		a6 += p[6] * q[6]
		a7 += p[7] * q[7]
	}
	return a0, a1, a2, a3, a4, a5, a6, a7
}

// LaneNorms sets dst[r*kp+c] = sum_j (sum_{l<=j} w[(j(j+1)/2+l)*kp+c] y[(r*d+l)*kp+c])^2, the squared length of W_c y, for
// n rows of d variables, at most Rows. Each W_c is lower triangular and packed by rows. dst must not overlap y.
func LaneNorms(dst, y, w []float64, n, d, kp int) {
	checkLanes(kp)
	size := d * kp
	dst, y, w = dst[:n*kp], y[:n*size], w[:d*(d+1)/2*kp]
	if size > 0 && n > 0 && fastLaneNorms(dst, y, w, n, d, kp) {
		return
	}
	for r := range n {
		row, to := y[r*size:r*size+size], dst[r*kp:r*kp+kp]
		clear(to)
		for c := 0; c < kp; c += Lanes {
			t := (*[Lanes]float64)(to[c:])
			at := c
			for j := 0; j < size; j += kp {
				a0, a1, a2, a3, a4, a5, a6, a7 := laneDot(w[at:at+j+Lanes], row[c:], kp)
				t[0], t[1], t[2], t[3] = t[0]+a0*a0, t[1]+a1*a1, t[2]+a2*a2, t[3]+a3*a3
				t[4], t[5], t[6], t[7] = t[4]+a4*a4, t[5]+a5*a5, t[6]+a6*a6, t[7]+a7*a7
				at += j + kp
			}
		}
	}
}

// LaneMoments adds to sum, for n rows of d variables, at most Rows, with weights q[r*kp+c]: the weights at [0, kp), the
// moments sum_r q y_j at [(1+j)*kp+c] and sum_r (q y_j) y_l, l <= j, at [(1+d+j(j+1)/2+l)*kp+c]. A row of weight 0 counts as
// any other does, and 0 times Inf is NaN: callers keep rows out whose y is not finite.
func LaneMoments(sum, y, q []float64, n, d, kp int) {
	checkLanes(kp)
	size := d * kp
	sum, y, q = sum[:(1+d+d*(d+1)/2)*kp], y[:n*size], q[:n*kp]
	if size > 0 && n > 0 && fastLaneMoments(sum, y, q, n, d, kp) {
		return
	}
	for r := range n {
		addTo(sum[:kp], q[r*kp:r*kp+kp])
	}
	first, second := sum[kp:kp+size], sum[kp+size:]
	r := 0
	for ; r+2 <= n; r += 2 {
		u, v := y[r*size:r*size+size], y[(r+1)*size:(r+1)*size+size]
		for c := 0; c < kp; c += 4 {
			f, g, at := (*[4]float64)(q[r*kp+c:]), (*[4]float64)(q[(r+1)*kp+c:]), c
			for j := 0; j < size; j += kp {
				p, o, s := (*[4]float64)(u[j+c:]), (*[4]float64)(v[j+c:]), (*[4]float64)(first[j+c:])
				a0, a1, a2, a3 := f[0]*p[0], f[1]*p[1], f[2]*p[2], f[3]*p[3]
				b0, b1, b2, b3 := g[0]*o[0], g[1]*o[1], g[2]*o[2], g[3]*o[3]
				s[0], s[1], s[2], s[3] = s[0]+(a0+b0), s[1]+(a1+b1), s[2]+(a2+b2), s[3]+(a3+b3)
				laneAddTwo(second[at:at+j+4], u[c:], v[c:], kp, a0, a1, a2, a3, b0, b1, b2, b3)
				at += j + kp
			}
		}
	}
	if r == n {
		return
	}
	u := y[r*size : r*size+size]
	for c := 0; c < kp; c += Lanes {
		f, at := (*[Lanes]float64)(q[r*kp+c:]), c
		for j := 0; j < size; j += kp {
			p, s := (*[Lanes]float64)(u[j+c:]), (*[Lanes]float64)(first[j+c:])
			a0, a1, a2, a3, a4, a5, a6, a7 := f[0]*p[0], f[1]*p[1], f[2]*p[2], f[3]*p[3], f[4]*p[4], f[5]*p[5], f[6]*p[6], f[7]*p[7]
			s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7] = s[0]+a0, s[1]+a1, s[2]+a2, s[3]+a3, s[4]+a4, s[5]+a5, s[6]+a6, s[7]+a7
			laneAdd(second[at:at+j+Lanes], u[c:], kp, a0, a1, a2, a3, a4, a5, a6, a7)
			at += j + kp
		}
	}
}

// laneAddTwo adds a times u and b times v to sum, for four components, the first at 0 of every kp numbers.
func laneAddTwo(sum, u, v []float64, kp int, a0, a1, a2, a3, b0, b1, b2, b3 float64) {
	for i := 0; i < len(sum); i += kp {
		s, p, q := (*[4]float64)(sum[i:i+4]), (*[4]float64)(u[i:i+4]), (*[4]float64)(v[i:i+4])
		s[0] += a0*p[0] + b0*q[0]
		s[1] += a1*p[1] + b1*q[1]
		s[2] += a2*p[2] + b2*q[2]
		s[3] += a3*p[3] + b3*q[3]
	}
}

// laneAdd is laneAddTwo for one vector and eight components.
func laneAdd(sum, u []float64, kp int, a0, a1, a2, a3, a4, a5, a6, a7 float64) {
	for i := 0; i < len(sum); i += kp {
		s, p := (*[Lanes]float64)(sum[i:i+Lanes]), (*[Lanes]float64)(u[i:i+Lanes])
		s[0] += a0 * p[0]
		s[1] += a1 * p[1]
		s[2] += a2 * p[2]
		s[3] += a3 * p[3]
		s[4] += a4 * p[4]
		s[5] += a5 * p[5]
		s[6] += a6 * p[6]
		s[7] += a7 * p[7]
	}
}

// LaneScatter adds q[c] v[i*kp+c] to sum[at[i]*kp+c] for every i; places may repeat. 0 times Inf is NaN here as in
// LaneMoments.
func LaneScatter(sum, v, q []float64, at []int32, kp int) {
	checkLanes(kp)
	sum, v, q = sum[:above(at)*kp], v[:len(at)*kp], q[:kp]
	if kp > 0 && len(at) > 0 && fastLaneScatter(&sum[0], &v[0], &q[0], at, kp) {
		return
	}
	for _, p := range at {
		to, from := sum[int(p)*kp:int(p)*kp+kp], v[:kp]
		v = v[kp:]
		for c := 0; c < kp; c += Lanes {
			s, x, f := (*[Lanes]float64)(to[c:]), (*[Lanes]float64)(from[c:]), (*[Lanes]float64)(q[c:])
			s[0], s[1], s[2], s[3] = s[0]+f[0]*x[0], s[1]+f[1]*x[1], s[2]+f[2]*x[2], s[3]+f[3]*x[3]
			s[4], s[5], s[6], s[7] = s[4]+f[4]*x[4], s[5]+f[5]*x[5], s[6]+f[6]*x[6], s[7]+f[7]*x[7]
		}
	}
}

// LaneInverse sets the n x n symmetric matrices v, one a lane, to their inverses. Entry (a, b) is at [(a*n+b)*kp+c]; the lower
// triangles are read, and both are written. pivot[a*kp+c] becomes the square of element a of the diagonal of the Cholesky factor: the
// product of the pivots is the determinant. A pivot below least times its diagonal element is taken for that: rounding leaves no less of
// a matrix as ill-conditioned as float64 holds. Elements of the diagonal must be positive.
func LaneInverse(v, pivot []float64, n, kp int, least float64) {
	checkLanes(kp)
	v, pivot = v[:n*n*kp], pivot[:n*kp]
	if n*kp == 0 || fastLaneInverse(v, pivot, n, kp, least) {
		return
	}
	for c := 0; c < kp; c += Lanes {
		laneInverse(v[c:], pivot[c:], n, kp, least)
	}
}

// laneInverse inverts the matrices of eight components. With A = L D L', L of diagonal 1, and M = L^-1 the inverse is the sum over a of
// M_a' M_a / D_a, M_a being row a. Pivot a takes row a, which has M_a, 1 and what is left of A, off every row i below, L_ia times, and
// what was A_ia becomes M_ia, -L_ia. Rows above gather the sum. Nothing that is added to a diagonal element of the inverse is negative.
func laneInverse(v, pivot []float64, n, kp int, least float64) {
	size := n * kp
	for a := range n { // the least that a pivot may be
		p, diagonal := (*[Lanes]float64)(pivot[a*kp:]), (*[Lanes]float64)(v[a*(size+kp):])
		for c, x := range diagonal {
			p[c] = least * x
		}
	}
	for a := range n {
		row := v[a*size : a*size+(n-1)*kp+Lanes]
		p, diagonal := (*[Lanes]float64)(pivot[a*kp:]), (*[Lanes]float64)(row[a*kp:])
		var inv [Lanes]float64
		for c, x := range diagonal {
			if x < p[c] {
				x = p[c]
			}
			p[c], inv[c], diagonal[c] = x, 1/x, 1
		}
		for i := range a {
			f := (*[Lanes]float64)(row[i*kp:])
			laneAdd(v[i*size:i*(size+kp)+Lanes], row, kp, f[0]*inv[0], f[1]*inv[1], f[2]*inv[2], f[3]*inv[3],
				f[4]*inv[4], f[5]*inv[5], f[6]*inv[6], f[7]*inv[7])
		}
		for i := a + 1; i < n; i++ {
			to := v[i*size : i*(size+kp)+Lanes]
			f, left := (*[Lanes]float64)(row[i*kp:]), (*[Lanes]float64)(to[a*kp:])
			*f, *left = *left, [Lanes]float64{} // the upper triangle is free: all of row a is in a row
			laneAdd(to, row, kp, -f[0]*inv[0], -f[1]*inv[1], -f[2]*inv[2], -f[3]*inv[3],
				-f[4]*inv[4], -f[5]*inv[5], -f[6]*inv[6], -f[7]*inv[7])
		}
		for i := range a + 1 {
			to := (*[Lanes]float64)(row[i*kp:])
			for c, x := range inv {
				to[c] *= x
			}
		}
	}
	for a := range n {
		for b := range a {
			*(*[Lanes]float64)(v[b*size+a*kp:]) = *(*[Lanes]float64)(v[a*size+b*kp:])
		}
	}
}

// above returns the least number above all of at, which is beyond all memory if one is negative.
func above(at []int32) int {
	n := 0
	for _, p := range at {
		n = max(n, int(uint32(p))+1)
	}
	return n
}
