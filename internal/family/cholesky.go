package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// tri is the place of (j, l), l <= j, in a packed lower triangle.
func tri(j, l int) int { return j*(j+1)/2 + l }

// choleskyAbove sets u to the packed log-Cholesky factor of the packed symmetric matrix q after its eigenvalues, in
// units of the columns' variances, are raised to MinEigenvalue. q is overwritten.
func (g Gaussian) choleskyAbove(u, q []float64, d int) {
	sd := make([]float64, d)
	for j := range sd {
		sd[j] = math.Sqrt(g.Var[j])
	}
	for j := range d {
		for l := range j + 1 {
			q[tri(j, l)] /= sd[j] * sd[l]
		}
	}
	settle(q, d)
	// A Cholesky factor of S - floor I exists exactly if every eigenvalue is above the floor.
	if !cholesky(u, q, d, MinEigenvalue) {
		clip(q, d)
		if !cholesky(u, q, d, 0) { // rounding; every pivot is then at the floor or above it
			for j := range d {
				q[tri(j, j)] += 4 * float64(d) * 1e-16 * q[tri(j, j)]
			}
			cholesky(u, q, d, 0)
		}
	} else {
		cholesky(u, q, d, 0)
	}
	for j := range d {
		for l := range j {
			u[tri(j, l)] *= sd[j]
		}
		u[tri(j, j)] = math.Log(max(u[tri(j, j)], math.Sqrt(MinEigenvalue)/2) * sd[j])
	}
}

// cholesky sets l to the lower factor of the packed q - floor I and reports whether it is positive definite. On
// failure the pivots that are not positive are set to 0.
func cholesky(l, q []float64, d int, floor float64) bool {
	ok := true
	for j := range d {
		above, pivot := l[tri(j, 0):][:j], tri(j, j)
		v := q[pivot]
		for _, x := range above {
			v -= x * x
		}
		if l[pivot] = 0; v-floor > 0 {
			l[pivot] = math.Sqrt(v - floor)
		} else {
			ok = false
		}
		i := j + 1
		for ; i+3 < d; i += 4 { // four rows, whose sums do not wait for each other
			r0, r1, r2, r3 := l[tri(i, 0):][:j+1], l[tri(i+1, 0):][:j+1], l[tri(i+2, 0):][:j+1], l[tri(i+3, 0):][:j+1]
			v0, v1, v2, v3 := q[tri(i, j)], q[tri(i+1, j)], q[tri(i+2, j)], q[tri(i+3, j)]
			for m, x := range above {
				v0 -= r0[m] * x
				v1 -= r1[m] * x
				v2 -= r2[m] * x
				v3 -= r3[m] * x
			}
			r0[j], r1[j], r2[j], r3[j] = over(v0, l[pivot]), over(v1, l[pivot]), over(v2, l[pivot]), over(v3, l[pivot])
		}
		for ; i < d; i++ {
			row, v := l[tri(i, 0):][:j+1], q[tri(i, j)]
			for m, x := range above {
				v -= row[m] * x
			}
			row[j] = over(v, l[pivot])
		}
	}
	return ok
}

// over returns v / pivot, or 0 of a pivot of 0.
func over(v, pivot float64) float64 {
	if pivot > 0 {
		return v / pivot
	}
	return 0
}

// settle makes q the unit matrix where it is not finite: a trial step out of the range of float64, which no driver accepts.
func settle(q []float64, d int) {
	off := 0.0
	for _, v := range q {
		off += v - v
	}
	if off == 0 {
		return
	}
	clear(q)
	for j := range d {
		q[tri(j, j)] = 1
	}
}

// clip raises the eigenvalues of the packed symmetric q to MinEigenvalue.
func clip(q []float64, d int) {
	values, axes := eigen(q, d)
	for j := range d {
		for l := range j + 1 {
			t := 0.0
			for a, x := range values {
				t += axes[j*d+a] * max(x, MinEigenvalue) * axes[l*d+a]
			}
			q[tri(j, l)] = t
		}
	}
}

// eigen returns the eigenvalues of the packed symmetric q, largest first, and their vectors in the columns of a d x d
// matrix.
func eigen(q []float64, d int) (values, axes []float64) {
	s := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			s.SetSym(j, l, q[tri(j, l)])
		}
	}
	var e mat.EigenSym
	e.Factorize(s, true)
	var v mat.Dense
	e.VectorsTo(&v)
	values, axes = e.Values(nil), make([]float64, d*d)
	slices.Reverse(values)
	for j := range d {
		for a := range d {
			axes[j*d+a] = v.At(j, d-1-a)
		}
	}
	return values, axes
}
