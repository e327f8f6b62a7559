package ascent

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// direction is a move and the curvature along it, in units of the complete-data information; NaN where there is none.
type direction struct {
	move      []float64
	curvature float64
}

// none is no direction.
var none = direction{curvature: unknown}

// repeated is the size, of 1, below which what a direction of conjugate gradients adds to those before is rounding: directions that
// converged come again.
const repeated = 0.1

// harmonics is how many directions of conjugate gradients' span are compared for the least curvature.
const harmonics = 4

// ritz returns the direction in which I is smallest, in units of I_c, in the span of directions that conjugate gradients have multiplied
// with I, whatever they were preconditioned by. Lengths of all would take longer than a sweep, so that the few are found first for which
// (I v)' I_c^-1 (I v) / v' I v is least: harmonic Ritz vectors, which are the same where one is an eigenvector.
func (b *observed) ritz(pairs *Memory) direction {
	n := len(pairs.s)
	if n == 0 {
		return none
	}
	units, low := make([]float64, n), make([][]float64, n)
	products, harmonic := mat.NewSymDense(n, nil), mat.NewSymDense(n, nil)
	for i, y := range pairs.y {
		units[i], low[i] = 1/math.Sqrt(pairs.sy[i]), (&Memory{}).apply(b.at, y)
		for j := range i + 1 {
			unit := units[i] * units[j]
			products.SetSym(i, j, (dot(pairs.s[i], pairs.y[j])+dot(pairs.s[j], y))/2*unit)
			harmonic.SetSym(i, j, dot(low[i], pairs.y[j])*unit)
		}
	}
	basis := whitened(products)
	if basis == nil {
		return none
	}
	shares := eigenOn(harmonic, basis)
	if shares == nil {
		return none
	}
	_, m := shares.Dims()
	m = min(m, harmonics)
	moves, metric := make([][]float64, m), mat.NewSymDense(m, nil)
	for i := range moves {
		w := make([]float64, len(pairs.s[0]))
		for j, v := range pairs.s {
			axpy(w, shares.At(j, i)*units[j], v)
		}
		moves[i] = unframed(b.at, w)
		for j := range i + 1 {
			metric.SetSym(i, j, b.inner(moves[i], moves[j]))
		}
	}
	var e mat.EigenSym
	if !e.Factorize(metric, true) {
		return none
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	d := direction{make([]float64, len(moves[0])), 1 / e.Values(nil)[m-1]} // I is the identity on moves
	for i, v := range moves {
		axpy(d.move, vectors.At(i, m-1), v)
	}
	scale(d.move, math.Sqrt(d.curvature))
	return d
}

// inner returns the product of two moves in the metric.
func (b *observed) inner(u, v []float64) float64 {
	sum, difference := slices.Clone(u), slices.Clone(u)
	axpy(sum, 1, v)
	axpy(difference, -1, v)
	long, short := b.at.Near.Length(sum), b.at.Near.Length(difference)
	return (long - short) * (long + short) / 4
}

// eigenOn returns the eigenvectors of the symmetric matrix a on a basis, a column each, that of the smallest eigenvalue first; nil where
// there are none.
func eigenOn(a *mat.SymDense, basis *mat.Dense) *mat.Dense {
	var both, own mat.Dense
	both.Mul(a, basis)
	own.Mul(basis.T(), &both)
	m, _ := own.Dims()
	sums := mat.NewSymDense(m, nil)
	for i := range m {
		for j := range i + 1 {
			sums.SetSym(i, j, (own.At(i, j)+own.At(j, i))/2)
		}
	}
	var e mat.EigenSym
	if !e.Factorize(sums, true) {
		return nil
	}
	var vectors, shares mat.Dense
	e.VectorsTo(&shares)
	vectors.Mul(basis, &shares)
	return &vectors
}

// whitened returns a basis, a column each, in which the symmetric matrix a is the identity, without directions in which it is smaller than
// repeated; nil where it has no eigenvalues.
func whitened(a *mat.SymDense) *mat.Dense {
	var e mat.EigenSym
	if !e.Factorize(a, true) {
		return nil
	}
	values := e.Values(nil)
	first, n := 0, len(values)
	for first < n-1 && values[first] < repeated {
		first++
	}
	var vectors mat.Dense
	e.VectorsTo(&vectors)
	basis := mat.DenseCopyOf(vectors.Slice(0, n, first, n))
	for j := range n - first {
		for i := range n {
			basis.Set(i, j, basis.At(i, j)/math.Sqrt(values[first+j]))
		}
	}
	return basis
}
