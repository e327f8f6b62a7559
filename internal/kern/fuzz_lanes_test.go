package kern

import (
	"math"
	"testing"
)

// FuzzLanes holds the kernels whose vectors are of components against portable Go.
func FuzzLanes(f *testing.F) {
	seeds(f)
	f.Fuzz(func(t *testing.T, seed uint64, db, kb uint8, special []byte) {
		r := newDraws(t, seed, special)
		d, k := sizes(db, kb)
		kp, n := Pad(k), 1+r.rng.IntN(Rows)
		tri := d * (d + 1) / 2

		x, mean, dev := r.any(d), r.any(d*kp), r.ordinary(d*kp)
		against(r, func() []float64 { LaneDeviations(dev, x, mean, d, kp); return clone(dev) }, func(l Level, got, want []float64) {
			r.same(l, "LaneDeviations", got, want)
		})

		height := 1 + r.rng.IntN(6)
		m, y, rows := r.any(height*d*kp), r.any(d*kp), r.labels(r.rng.IntN(11), height)
		dst, size := r.ordinary(len(rows)*kp), make([]float64, len(rows)*kp)
		for i := range size {
			for l := range d {
				size[i] = add(size[i], product(m[(int(rows[i/kp])*d+l)*kp+i%kp], y[l*kp+i%kp]))
			}
		}
		against(r, func() []float64 { LaneProduct(dst, m, y, rows, d, kp); return clone(dst) }, func(l Level, got, want []float64) {
			r.close(l, "LaneProduct", got, want, size, 1e-14)
		})

		panel, w, norm := r.any(n*d*kp), r.any(tri*kp), r.ordinary(n*kp)
		size = make([]float64, n*kp)
		for i := range size {
			for j := range d {
				sum := 0.0
				for l := range j + 1 {
					sum = add(sum, product(w[(j*(j+1)/2+l)*kp+i%kp], panel[(i/kp*d+l)*kp+i%kp]))
				}
				size[i] = add(size[i], product(sum, sum))
			}
		}
		against(r, func() []float64 { LaneNorms(norm, panel, w, n, d, kp); return clone(norm) }, func(l Level, got, want []float64) {
			r.close(l, "LaneNorms", got, want, size, 1e-14)
		})

		q, begin := r.any(n*kp), r.any((1+d+tri)*kp)
		sum, size := r.ordinary(len(begin)), clone(begin)
		for c := range kp {
			at := c
			next := func(of func(i int) float64) {
				size[at] = product(size[at], 1)
				for i := range n {
					size[at] = add(size[at], of(i))
				}
				at += kp
			}
			next(func(i int) float64 { return product(q[i*kp+c], 1) })
			for j := range d {
				next(func(i int) float64 { return product(q[i*kp+c], panel[(i*d+j)*kp+c]) })
			}
			for j := range d {
				for l := range j + 1 {
					next(func(i int) float64 { return weighted(panel[(i*d+l)*kp+c], panel[(i*d+j)*kp+c], q[i*kp+c]) })
				}
			}
		}
		against(r, func() []float64 { copy(sum, begin); LaneMoments(sum, panel, q, n, d, kp); return clone(sum) }, func(l Level, got, want []float64) {
			r.close(l, "LaneMoments", got, want, size, 1e-14)
		})

		places := 1 + r.rng.IntN(6)
		v, at, begin := r.any(d*kp), r.labels(d, places), r.any(places*kp)
		scattered, size := r.ordinary(len(begin)), clone(begin)
		for i, s := range size {
			size[i] = product(s, 1)
		}
		for i, p := range at {
			for c := range kp {
				size[int(p)*kp+c] = add(size[int(p)*kp+c], product(q[c], v[i*kp+c]))
			}
		}
		against(r, func() []float64 {
			copy(scattered, begin)
			LaneScatter(scattered, v, q, at, kp)
			return clone(scattered)
		}, func(l Level, got, want []float64) {
			r.close(l, "LaneScatter", got, want, size, 1e-14)
		})
		fuzzInverse(r, 1+d%24, kp)
		if math.IsNaN(x[0]) && dev[0] != 0 {
			t.Fatalf("the deviation of a missing cell is %v", dev[0])
		}
	})
}

// fuzzInverse inverts matrices of inner products, one of them of any numbers instead; that one, and what float64 can hardly invert, is left
// out of account.
func fuzzInverse(r *draws, n, kp int) {
	length, least, other := n+3, []float64{0, 0x1p-52, 0.25}[r.rng.IntN(3)], r.rng.IntN(2*kp)
	begin, x := r.any(n*n*kp), r.ordinary(n*length*kp)
	for c := range kp {
		if c == other {
			continue
		}
		for a := range n {
			for b := range a + 1 {
				sum := 0.0
				for l := range length {
					sum += x[(a*length+l)*kp+c] * x[(b*length+l)*kp+c]
				}
				begin[(a*n+b)*kp+c] = sum
			}
		}
	}
	v, pivot := r.ordinary(n*n*kp), r.ordinary(n*kp)
	against(r, func() []float64 {
		copy(v, begin)
		LaneInverse(v, pivot, n, kp, least)
		return append(clone(v), pivot...)
	}, func(l Level, got, want []float64) {
		size := make([]float64, len(want))
		for c := range kp {
			condition := 0.0
			for i := c; i < n*n*kp; i += (n + 1) * kp {
				condition += begin[i] * want[i]
			}
			if c == other || !(condition < 1e12) {
				for i := c; i < len(got); i += kp {
					got[i], want[i] = 0, 0
				}
				continue
			}
			for a := range n {
				for b := range n {
					size[(a*n+b)*kp+c] = condition * math.Sqrt(want[a*(n+1)*kp+c]*want[b*(n+1)*kp+c])
				}
				size[(n*n+a)*kp+c] = condition * want[(n*n+a)*kp+c]
			}
		}
		r.close(l, "LaneInverse", got, want, size, 1e-14)
	})
}
