package pca

import (
	"context"
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/rng"
)

// Constants of the iteration.
const (
	// Tolerance is the relative residual |S a - v a| / v that ends it: every variance is then right to a millionth, and far
	// better where it stands apart from the next, since its error is the residual's square over the gap.
	Tolerance = 1e-6
	// MaxPasses is how many passes it may take.
	MaxPasses = 200
	// spare is how many vectors are iterated beside those asked for: nearly equal variances at the end then do no harm.
	spare = 8
	// mostBasis is how many vectors the basis holds before it restarts, unless three blocks are more.
	mostBasis = 400
)

// iterate finds the components without forming S.
//
// EM for principal components (Roweis 1998, "EM algorithms for PCA and SPCA", eq. 4 and 5) alternates coordinates of the
// rows in a plane, X = (C'C)^-1 C'Y, and the plane that explains them best, C = Y X'(X X')^-1. Both together multiply the
// plane by S. Here all planes so far are kept: the best plane in the span of q, Sq, S²q, ... is never behind EM's after as
// many passes, and mostly far ahead (block Lanczos; Golub and Van Loan, Matrix Computations, section 10.3). A full basis
// shrinks to its best vectors, and goes on with the same next block (thick restart; Wu and Simon 2000).
func (c *Components) iterate(ctx context.Context, r *rows, n, passes int) error {
	d := len(c.Mean)
	b := &basis{d: d}
	m := min(d, n+spare)
	most := max(3*m, mostBasis)
	block := b.orthonormal(random(m, d))
	for {
		image, err := r.product(ctx, block)
		if err != nil {
			return err
		}
		c.Passes++
		b.extend(block, image)
		if err := b.solve(); err != nil {
			return err
		}
		if c.Residual = b.residual(min(n, len(b.value))); c.Residual <= Tolerance && len(b.value) >= n || c.Passes == passes {
			break
		}
		if block = b.orthonormal(image); block.Rows == 0 { // the basis holds its own image: it is exact
			c.Residual = 0
			break
		}
		if b.v.Rows+block.Rows > most {
			b.shrink(m)
		}
	}
	keep := min(m, len(b.value))
	axes := make([][]float64, keep)
	for j := range axes {
		axes[j] = b.combine(b.v, j)
	}
	return c.take(axes, b.value[:keep], n)
}

// random returns m vectors of normal numbers, the same always.
func random(m, d int) blas64.General {
	rng, q := rng.Components.New(), general(m, d)
	for i := range q.Data {
		q.Data[i] = rng.NormFloat64()
	}
	return q
}

// basis is an orthonormal basis v, one vector a row, its image S v, and the best vectors in its span.
type basis struct {
	d        int
	v, image blas64.General
	value    []float64   // shares of the variance of the best vectors, largest first
	weight   [][]float64 // what each is made of
}

func (b *basis) extend(block, image blas64.General) {
	for _, p := range []struct {
		to *blas64.General
		by blas64.General
	}{{&b.v, block}, {&b.image, image}} {
		p.to.Data = append(p.to.Data, p.by.Data...)
		p.to.Rows, p.to.Cols, p.to.Stride = p.to.Rows+p.by.Rows, b.d, b.d
	}
}

// solve finds the best vectors in the span (Rayleigh and Ritz).
func (b *basis) solve() (err error) {
	t := general(b.v.Rows, b.v.Rows)
	blas64.Gemm(blas.NoTrans, blas.Trans, 1, b.v, b.image, 0, t)
	s := mat.NewSymDense(t.Rows, nil)
	for j := range t.Rows {
		for l := range j + 1 {
			s.SetSym(j, l, (t.Data[j*t.Cols+l]+t.Data[l*t.Cols+j])/2)
		}
	}
	b.weight, b.value, err = eigen(s)
	return err
}

// combine returns the combination of the rows of g that makes the best vector j.
func (b *basis) combine(g blas64.General, j int) []float64 {
	out := make([]float64, b.d)
	blas64.Gemv(blas.Trans, 1, g, blas64.Vector{N: g.Rows, Inc: 1, Data: b.weight[j]}, 0, blas64.Vector{N: b.d, Inc: 1, Data: out})
	return out
}

// residual returns the largest relative residual of the first n best vectors, beyond what rounding leaves.
func (b *basis) residual(n int) float64 {
	worst := 0.0
	for j := range n {
		x, y := b.combine(b.v, j), b.combine(b.image, j)
		sum := 0.0
		for i, v := range y {
			t := v - b.value[j]*x[i]
			sum += t * t
		}
		if left := math.Sqrt(sum); left > rounding(b.d, b.value[0]) {
			worst = max(worst, left/b.value[j])
		}
	}
	return worst
}

// shrink keeps the n best vectors.
func (b *basis) shrink(n int) {
	v, image := general(n, b.d), general(n, b.d)
	for j := range n {
		copy(v.Data[j*b.d:], b.combine(b.v, j))
		copy(image.Data[j*b.d:], b.combine(b.image, j))
	}
	b.v, b.image = v, image
}

// lost is the share of its length below which what is left of a vector, the basis taken out, is rounding.
const lost = 1e-12

// orthonormal returns an orthonormal basis of what q adds to the span: none where it adds nothing. q is not changed. Twice
// is enough (Giraud, Langou and Rozloznik 2005).
func (b *basis) orthonormal(q blas64.General) blas64.General {
	out := blas64.General{Cols: b.d, Stride: b.d}
	largest := 0.0
	for i := range q.Rows {
		largest = max(largest, blas64.Nrm2(row(q, i)))
	}
	for i := range q.Rows {
		x := blas64.Vector{N: b.d, Inc: 1, Data: append([]float64(nil), row(q, i).Data...)}
		for range 2 {
			for _, g := range []blas64.General{b.v, out} {
				if g.Rows == 0 {
					continue
				}
				t := blas64.Vector{N: g.Rows, Inc: 1, Data: make([]float64, g.Rows)}
				blas64.Gemv(blas.NoTrans, 1, g, x, 0, t)
				blas64.Gemv(blas.Trans, -1, g, t, 1, x)
			}
		}
		norm := blas64.Nrm2(x)
		if norm <= lost*largest {
			continue
		}
		blas64.Scal(1/norm, x)
		out.Data = append(out.Data, x.Data...)
		out.Rows++
	}
	return out
}

func row(g blas64.General, i int) blas64.Vector {
	return blas64.Vector{N: g.Cols, Inc: 1, Data: g.Data[i*g.Stride : i*g.Stride+g.Cols]}
}
