package model

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/kind"
)

// predictive is the density of a row to come under a posterior: parameters are integrated out. It is a mixture of Student's t distributions
// (Bishop 2006, eq. 10.81), one for each component of the posterior, in use or not. With whole matrices on d variables a component has dof - d + 1 degrees of
// freedom. With diagonal covariances it is a product of one t for each column, with dof each; with spherical ones one t with dof.
type predictive struct {
	parts   []student
	apart   bool // columns are independent within a component
	x       []float64
	of      []float64 // log density of each component
	weights []float64 // expected, of the components
}

// student is one component.
type student struct {
	logShare float64
	mean     []float64
	dof      float64
	scale    *scale
	square   []float64 // with a whole matrix: scale scale', for rows that lack cells
	constant float64   // log density at the mean; with columns apart of nothing
}

// predictive returns the density of a row to come; nil for a model without a posterior. What fails is a posterior whose numbers are those of no
// distribution.
func (m *Model) predictive() (*predictive, error) {
	p := m.Posterior
	if p == nil {
		return nil, nil
	}
	d := m.dims()
	if err := p.check(d); err != nil {
		return nil, &ModelError{"posterior: " + err.Error()}
	}
	t := &predictive{apart: p.Shape.Size(d) == d && !p.Shape.Matrix() && d > 1, x: make([]float64, d), of: make([]float64, p.K()), weights: p.Shares()}
	for c, share := range t.weights {
		dof, matrix := p.dof(c), p.Shape.Matrix()
		if matrix {
			dof -= float64(d - 1)
		}
		s := student{logShare: math.Log(share), mean: p.Means[c], dof: dof, scale: &scale{}}
		square := make([]float64, len(p.scale(c)))
		for i, v := range p.scale(c) {
			square[i] = v * (1 + 1/p.MeanPrecision[c]) / dof
		}
		if matrix {
			if s.scale.l = lower(mat.NewSymDense(d, slices.Clone(square))); s.scale.l == nil {
				return nil, &ModelError{fmt.Sprintf("posterior: scale: number %d is not positive definite", c+1)}
			}
			s.square = square
		} else {
			for _, v := range square {
				s.scale.sd = append(s.scale.sd, math.Sqrt(v))
			}
		}
		s.constant = logStudent(dof, d) - s.scale.logDet(d)
		t.parts = append(t.parts, s)
	}
	return t, nil
}

// logDet returns the logarithm of the determinant of L, or of the product of d standard deviations.
func (s *scale) logDet(d int) (sum float64) {
	if s.l != nil {
		for j := range d {
			sum += math.Log(s.l.At(j, j))
		}
		return sum
	}
	for j := range d {
		sum += math.Log(s.sd[min(j, len(s.sd)-1)])
	}
	return sum
}

// logStudent returns the log density of a standard t distribution of d columns at 0.
func logStudent(dof float64, d int) float64 {
	half := float64(d) / 2
	a, _ := math.Lgamma(dof/2 + half)
	b, _ := math.Lgamma(dof / 2)
	return a - b - half*math.Log(dof*math.Pi)
}

// score sets the log densities of s, and the part of the label in it.
func (t *predictive) score(s *Scored) {
	for i := range s.N {
		top := math.Inf(-1)
		for c := range t.parts {
			for j := range t.x {
				t.x[j] = s.At(i, j)
			}
			t.of[c] = t.parts[c].logShare + t.logDensity(&t.parts[c])
			top = max(top, t.of[c])
		}
		sum := 0.0
		for _, v := range t.of {
			sum += math.Exp(v - top)
		}
		s.LogDensity[i], s.Best[i] = top+math.Log(sum), t.of[s.Label[i]]
	}
}

// logDensity returns the log density of a component at t.x, over the cells that are there. It overwrites t.x.
func (t *predictive) logDensity(s *student) float64 {
	whole := true
	for j, m := range s.mean {
		t.x[j] -= m
		whole = whole && t.x[j] == t.x[j]
	}
	switch d := len(t.x); {
	case t.apart:
		sum, one := 0.0, logStudent(s.dof, 1)
		for j, x := range t.x {
			if x == x {
				z := x / s.scale.sd[j]
				sum += one - math.Log(s.scale.sd[j]) - (s.dof+1)/2*math.Log1p(z*z/s.dof)
			}
		}
		return sum
	case whole:
		s.scale.whiten(t.x)
		square := 0.0
		for _, z := range t.x {
			square += z * z
		}
		return s.constant - (s.dof+float64(d))/2*math.Log1p(square/s.dof)
	}
	return s.partial(t.x)
}

// partial is logDensity of the differences x where some are NaN: columns of a t distribution have one too, with as many degrees of freedom.
func (s *student) partial(x []float64) float64 {
	var at []int
	for j, v := range x {
		if v == v {
			at = append(at, j)
		}
	}
	n := len(at)
	if n == 0 {
		return 0
	}
	own := &scale{sd: s.scale.sd}
	if s.scale.l != nil {
		square, d := mat.NewSymDense(n, nil), len(x)
		for a, j := range at {
			for b := range a + 1 {
				square.SetSym(a, b, s.square[j*d+at[b]])
			}
		}
		own.l = lower(square)
	}
	some := make([]float64, n)
	for a, j := range at {
		some[a] = x[j]
	}
	own.whiten(some)
	sum := 0.0
	for _, z := range some {
		sum += z * z
	}
	return logStudent(s.dof, n) - own.logDet(n) - (s.dof+float64(n))/2*math.Log1p(sum/s.dof)
}

// pick draws a component of the posterior.
func (t *predictive) pick(rng *rand.Rand) int { return kind.Pick(t.weights, rng) }

// draw sets y to a row of component c.
func (t *predictive) draw(c int, y, z []float64, rng *rand.Rand) {
	s := &t.parts[c]
	f := stretchOf(s.dof, rng)
	for j := range z {
		if t.apart && j > 0 {
			f = stretchOf(s.dof, rng)
		}
		z[j] = rng.NormFloat64() * f
	}
	for j := range y {
		if y[j] = s.mean[j]; s.scale.l == nil {
			y[j] += s.scale.sd[min(j, len(s.scale.sd)-1)] * z[j]
			continue
		}
		for l := range j + 1 {
			y[j] += s.scale.l.At(j, l) * z[l]
		}
	}
}
