package kern

// The kernels of this file are for rows that differ from one another in what is done to them, as rows with missing cells
// do: their vectors are not of rows, but of components. Value v of component c is at [v*kp+c], where kp, a multiple of
// Lanes, is the number of components with padding, Pad(k). All lanes are alike: what stands in those beyond k is computed
// with as the others are, and stays there.

// LaneDeviations sets y[j*kp+c] = x[j] - mean[j*kp+c] for d variables, and 0 where x[j] is NaN, a missing cell.
func LaneDeviations(y, x, mean []float64, d, kp int) {
	y, x, mean = y[:d*kp], x[:d], mean[:d*kp]
	if d > 0 && kp > 0 && fastLaneDeviations(y, x, mean, d, kp) {
		return
	}
	for _, v := range x {
		to, m := y[:kp], mean[:kp]
		y, mean = y[kp:], mean[kp:]
		if v != v {
			clear(to)
			continue
		}
		for ; len(to) >= Lanes && len(m) >= Lanes; to, m = to[Lanes:], m[Lanes:] {
			a, b := (*[Lanes]float64)(to), (*[Lanes]float64)(m)
			a[0], a[1], a[2], a[3] = v-b[0], v-b[1], v-b[2], v-b[3]
			a[4], a[5], a[6], a[7] = v-b[4], v-b[5], v-b[6], v-b[7]
		}
	}
}

// LaneProduct sets dst[a*kp+c] = sum_l m[(rows[a]*d+l)*kp+c] y[l*kp+c]: some rows of a matrix of d columns, one matrix a
// component, times the vector of the component. dst must not overlap y.
func LaneProduct(dst, m, y []float64, rows []int32, d, kp int) {
	size := d * kp
	dst, y = dst[:len(rows)*kp], y[:size]
	for _, r := range rows {
		_ = m[int(r)*size : int(r)*size+size]
	}
	if size > 0 && len(rows) > 0 && fastLaneProduct(dst, m, y, rows, d, kp) {
		return
	}
	for _, r := range rows {
		to, row := dst[:kp], m[int(r)*size:int(r)*size+size]
		dst = dst[kp:]
		for c := 0; c < kp; c += 4 {
			var a0, a1, a2, a3 float64
			for i := c; i < size; i += kp {
				p, q := (*[4]float64)(row[i:]), (*[4]float64)(y[i:])
				a0 += p[0] * q[0]
				a1 += p[1] * q[1]
				a2 += p[2] * q[2]
				a3 += p[3] * q[3]
			}
			t := (*[4]float64)(to[c:])
			t[0], t[1], t[2], t[3] = a0, a1, a2, a3
		}
	}
}

// LaneNorms sets dst[r*kp+c] = sum_j (sum_{l<=j} w[(j(j+1)/2+l)*kp+c] y[(r*d+l)*kp+c])^2, the squared length of W_c y, for
// n rows of d variables, at most Rows. Each W_c is lower triangular and packed by rows. dst must not overlap y.
func LaneNorms(dst, y, w []float64, n, d, kp int) {
	size := d * kp
	dst, y, w = dst[:n*kp], y[:n*size], w[:d*(d+1)/2*kp]
	if size > 0 && n > 0 && fastLaneNorms(dst, y, w, n, d, kp) {
		return
	}
	for r := range n {
		row, to := y[r*size:r*size+size], dst[r*kp:r*kp+kp]
		for c := 0; c < kp; c += 4 {
			var n0, n1, n2, n3 float64
			at := c
			for end := kp; end <= size; end += kp {
				var a0, a1, a2, a3 float64
				for i := c; i < end; i += kp {
					p, q := (*[4]float64)(w[at:]), (*[4]float64)(row[i:])
					a0 += p[0] * q[0]
					a1 += p[1] * q[1]
					a2 += p[2] * q[2]
					a3 += p[3] * q[3]
					at += kp
				}
				n0, n1, n2, n3 = n0+a0*a0, n1+a1*a1, n2+a2*a2, n3+a3*a3
			}
			t := (*[4]float64)(to[c:])
			t[0], t[1], t[2], t[3] = n0, n1, n2, n3
		}
	}
}

// LaneMoments adds to sum, for n rows of d variables, at most Rows, with weights q[r*kp+c]: the weights at [0, kp), the
// moments sum_r q y_j at [(1+j)*kp+c] and sum_r (q y_j) y_l, l <= j, at [(1+d+j(j+1)/2+l)*kp+c]. A row of weight 0 counts as
// any other: where its y is no finite number it leaves NaN, so that callers keep such rows out.
func LaneMoments(sum, y, q []float64, n, d, kp int) {
	size := d * kp
	sum, y, q = sum[:(1+d+d*(d+1)/2)*kp], y[:n*size], q[:n*kp]
	if size > 0 && n > 0 && fastLaneMoments(sum, y, q, n, d, kp) {
		return
	}
	first, second := sum[kp:kp+size], sum[kp+size:]
	for r := range n {
		row, weight := y[r*size:r*size+size], q[r*kp:r*kp+kp]
		addTo(sum[:kp], weight)
		for c := 0; c < kp; c += 4 {
			u := (*[4]float64)(weight[c:])
			at := c
			for j := c; j < size; j += kp {
				v, s := (*[4]float64)(row[j:]), (*[4]float64)(first[j:])
				t0, t1, t2, t3 := u[0]*v[0], u[1]*v[1], u[2]*v[2], u[3]*v[3]
				s[0], s[1], s[2], s[3] = s[0]+t0, s[1]+t1, s[2]+t2, s[3]+t3
				for i := c; i <= j; i += kp {
					v, s := (*[4]float64)(row[i:]), (*[4]float64)(second[at:])
					s[0], s[1], s[2], s[3] = s[0]+t0*v[0], s[1]+t1*v[1], s[2]+t2*v[2], s[3]+t3*v[3]
					at += kp
				}
			}
		}
	}
}

// LaneScatter adds q[c] v[i*kp+c] to sum[at[i]*kp+c] for every i; places may repeat. A weight of 0 times what is no finite
// number is NaN, here as in LaneMoments.
func LaneScatter(sum, v, q []float64, at []int32, kp int) {
	v, q = v[:len(at)*kp], q[:kp]
	for _, p := range at {
		_ = sum[int(p)*kp : int(p)*kp+kp]
	}
	if kp > 0 && len(at) > 0 && fastLaneScatter(sum, v, q, at, kp) {
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
