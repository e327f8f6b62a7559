package family

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/lapack/lapack64"
)

// strict is the place of (j, l), l < j, in a packed strictly lower triangle.
func strict(j, l int) int { return j*(j-1)/2 + l }

// rotation is an orthogonal matrix written in free coordinates by Cayley's transform: with K skew,
//
//	D = (I - K/2)^-1 (I + K/2) = 2 M - I,   M = (I - K/2)^-1.
//
// Every K gives a rotation, and small coordinates are angles in radians. A move dK turns the axes by W = D' dD = M' dK M,
// which is skew.
type rotation struct {
	d    int
	axes []float64 // d x d: column a is axis a
	m    []float64 // d x d
	a    []float64 // d x d: I - K/2
}

// newRotation returns the rotation with coordinates k, the strictly lower triangle of K.
func newRotation(k []float64, d int) *rotation {
	r := &rotation{d: d, a: make([]float64, d*d), m: make([]float64, d*d), axes: make([]float64, d*d)}
	for j := range d {
		r.a[j*d+j] = 1
		for l := range j {
			r.a[j*d+l], r.a[l*d+j] = -k[strict(j, l)]/2, k[strict(j, l)]/2
		}
	}
	copy(r.m, r.a)
	// The condition of I - K/2 is at most its largest entry or so: K is skew. mat.Dense.Inverse would spend most of its time on
	// an estimate of it.
	at, m := make([]int, d), blas64.General{Rows: d, Cols: d, Stride: d, Data: r.m}
	lapack64.Getrf(m, at)
	lapack64.Getri(m, at, make([]float64, d), d)
	for i, v := range r.m {
		r.axes[i] = 2 * v
	}
	for j := range d {
		r.axes[j*d+j]--
	}
	return r
}

// transposed returns the transpose of the d x d matrix a.
func transposed(a []float64, d int) []float64 {
	t := make([]float64, d*d)
	for j := range d {
		for l := range d {
			t[l*d+j] = a[j*d+l]
		}
	}
	return t
}

// sandwich returns the strictly lower triangle of A G A' for the skew G, A' G A if turned.
func sandwich(a, g []float64, d int, turned bool) []float64 {
	if turned {
		a = transposed(a, d)
	}
	half, out := make([]float64, d), make([]float64, d*(d-1)/2) // half: a row of A G
	for j := range d {
		clear(half)
		for m, v := range a[j*d : j*d+d] {
			for l, x := range g[m*d : m*d+d] {
				half[l] += v * x
			}
		}
		for l := range j {
			sum := 0.0
			for m, x := range a[l*d : l*d+d] {
				sum += half[m] * x
			}
			out[strict(j, l)] = sum
		}
	}
	return out
}

// skew returns the skew matrix with the strictly lower triangle k.
func skew(k []float64, d int) []float64 {
	g := make([]float64, d*d)
	for j := range d {
		for l := range j {
			g[j*d+l], g[l*d+j] = k[strict(j, l)], -k[strict(j, l)]
		}
	}
	return g
}

// turn returns the lower triangle of the turn W of the axes that the move z of the coordinates makes.
func (r *rotation) turn(z []float64) []float64 { return sandwich(r.m, skew(z, r.d), r.d, true) }

// move returns the move of the coordinates that turns the axes by w: the inverse of turn.
func (r *rotation) move(w []float64) []float64 { return sandwich(r.a, skew(w, r.d), r.d, true) }

// pull returns the gradient in the coordinates from that in the turn: the transpose of turn.
func (r *rotation) pull(g []float64) []float64 { return sandwich(r.m, skew(g, r.d), r.d, false) }

// push returns the gradient in the turn from that in the coordinates: the transpose of move.
func (r *rotation) push(q []float64) []float64 { return sandwich(r.a, skew(q, r.d), r.d, false) }

// Sizes of coordinates.
const (
	// smallCayley is the largest that some signs of the axes make possible, 2, and a little: any turn is at most 93 degrees.
	smallCayley = 2.1
	// maxCayley, a turn of 127 degrees, is where an M-step looks for other signs, and farCayley, 152 degrees, where a driver's
	// move is rewritten with them: beyond, half a turn lies at infinity. Between the two a move and a probe have room.
	maxCayley, farCayley = 4, 8
	halfTurn             = 1e6 // as good as half a turn; beyond, the other turns are lost to rounding
)

// cayley sets k to coordinates of the axes, whose signs are free: those nearest to the axes near, so that coordinates go
// on from where they were, or, where that leads far out, signs with small coordinates. axes may change signs.
func cayley(k, axes, near []float64, d int) {
	least, at := math.Inf(1), 0
	for a := range d {
		dot := 0.0
		for j := range d {
			dot += axes[j*d+a] * near[j*d+a]
		}
		if dot < 0 {
			flip(axes, a, d)
		}
		if math.Abs(dot) < least {
			least, at = math.Abs(dot), a
		}
	}
	if d > 1 && reflects(axes, d) {
		flip(axes, at, d)
	}
	coordinatesOf(k, axes, d)
	if _, _, size := largest(k, d); !(size <= maxCayley) {
		smallest(k, axes, d)
	}
}

// reflects reports whether the determinant of the orthogonal matrix a is -1. mat.Det would spend most of its time on an estimate of the condition.
func reflects(a []float64, d int) bool {
	at, lu := make([]int, d), slices.Clone(a)
	lapack64.Getrf(blas64.General{Rows: d, Cols: d, Stride: d, Data: lu}, at)
	odd := false
	for j, swapped := range at {
		odd = odd != (swapped != j) != (lu[j*d+j] < 0)
	}
	return odd
}

// flip turns axis a round.
func flip(axes []float64, a, d int) {
	for j := range d {
		axes[j*d+a] = -axes[j*d+a]
	}
}

// largest returns the place and the size of the largest coordinate; NaN if there is one.
func largest(k []float64, d int) (j, l int, size float64) {
	for r := range d {
		for c := range r {
			switch v := math.Abs(k[strict(r, c)]); {
			case v != v:
				return r, c, v
			case v > size:
				j, l, size = r, c, v
			}
		}
	}
	return j, l, size
}

// smallest sets k to small coordinates of the axes, whose signs it chooses. To turn axes j and l round multiplies the
// determinant of I + D by (K_jl / 2)^2, so that it grows until no coordinate is above 2 (Kahan 2006; O'Dorney 2014).
func smallest(k, axes []float64, d int) {
	for a, s := range signature(axes, d) {
		if s < 0 {
			flip(axes, a, d)
		}
	}
	for range 100 * d {
		coordinatesOf(k, axes, d)
		j, l, size := largest(k, d)
		if size <= smallCayley {
			return
		}
		flip(axes, j, d)
		flip(axes, l, d)
	}
}

// rewrap rewrites coordinates that are far out as those of the same axes with other signs.
func rewrap(k []float64, d int) {
	if _, _, size := largest(k, d); !(size <= farCayley) {
		if size > halfTurn {
			for i := range k {
				k[i] *= halfTurn / size
			}
		}
		smallest(k, newRotation(k, d).axes, d)
	}
}

// coordinatesOf sets k to the coordinates of the axes, K/2 = (D - I)(D + I)^-1; not finite where D has an eigenvalue
// of -1.
func coordinatesOf(k, axes []float64, d int) {
	// No estimate of the condition, which mat.Dense.Solve would make at several times the price: coordinates far out are
	// looked at by the callers.
	plus, half := slices.Clone(axes), slices.Clone(axes)
	for j := range d {
		plus[j*d+j]++
		half[j*d+j]--
	}
	at, lu := make([]int, d), blas64.General{Rows: d, Cols: d, Stride: d, Data: plus}
	lapack64.Getrf(lu, at)
	lapack64.Getrs(blas.NoTrans, lu, blas64.General{Rows: d, Cols: d, Stride: d, Data: half}, at) // the factors commute
	for j := range d {
		for l := range j {
			k[strict(j, l)] = half[j*d+l] - half[l*d+j]
		}
	}
}

// signature returns signs for the columns of the orthogonal matrix D that keep I + D S far from singular: elimination
// with each sign chosen so that its pivot is at least 1 has a determinant of at least 1 (Liebeck and Osborne 1991). D S is
// a rotation then, since -1 is an eigenvalue of any reflection.
func signature(axes []float64, d int) []float64 {
	u, s := slices.Clone(axes), make([]float64, d)
	for j := range d { // u holds the columns of D and what elimination makes of those of I
		s[j] = 1
		if u[j*d+j] < 0 {
			s[j] = -1
		}
		pivot := 1 + math.Abs(u[j*d+j])
		// Schur complement of the pivot in I + D S; entries right of column j are those of D before their signs are known.
		for i := j + 1; i < d; i++ {
			f := s[j] * u[i*d+j] / pivot
			for l := j + 1; l < d; l++ {
				u[i*d+l] -= f * u[j*d+l]
			}
		}
	}
	return s
}
