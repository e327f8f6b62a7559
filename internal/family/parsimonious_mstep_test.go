package family_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
	"gonum.org/v1/gonum/optimize"

	"github.com/latent-go/latent/internal/family"
)

// scatter is the moments of k components: weights and scatter matrices W_c about the means.
type scatter struct {
	k, d int
	n    []float64
	w    []*mat.SymDense
}

// randomScatter draws scatter matrices of few rows, so that they are far from each other.
func randomScatter(rng *rand.Rand, k, d int) *scatter {
	s := &scatter{k: k, d: d}
	for range k {
		n := float64(5+rng.IntN(60)) / 2
		w := mat.NewSymDense(d, nil)
		size := math.Exp(2 * rng.NormFloat64())
		for range d + 2 {
			x := mat.NewVecDense(d, nil)
			for j := range d {
				x.SetVec(j, rng.NormFloat64()*math.Exp(float64(j)/2))
			}
			w.SymRankOne(w, size*n/float64(d+2), x)
		}
		s.n, s.w = append(s.n, n), append(s.w, w)
	}
	return s
}

// stats returns the sums of rows with these moments about means of 0.
func (s *scatter) stats(g family.Parsimonious) *family.Stats {
	st := family.NewStats(s.k, s.d, g.Sums(s.k, s.d), 0)
	copy(st.N, s.n)
	size := g.Shape.Size(s.d)
	for c, w := range s.w {
		q := st.Sum[s.k*s.d+c*size : s.k*s.d+(c+1)*size]
		for j := range s.d {
			for l := range j + 1 {
				if g.Shape.Matrix() {
					q[j*(j+1)/2+l] = w.At(j, l)
				} else if j == l {
					q[j] = w.At(j, j)
				}
			}
		}
	}
	return st
}

// expected returns sum_c of -(n log det 2 pi S_c + tr(S_c^-1 W_c)) / 2.
func (s *scatter) expected(sigma []*mat.SymDense) (q float64) {
	for c, n := range s.n {
		var chol mat.Cholesky
		if !chol.Factorize(sigma[c]) {
			return math.Inf(-1)
		}
		var m mat.Dense
		if err := chol.SolveTo(&m, s.w[c]); err != nil {
			return math.Inf(-1)
		}
		q -= 0.5 * (n*(chol.LogDet()+float64(s.d)*math.Log(2*math.Pi)) + mat.Trace(&m))
	}
	return q
}

// celeuxGovaert returns covariances v_c D_c A_c D_c' of the shape, D_c a product of plane rotations by angles: the
// definition. x holds logarithms of volumes, of the diagonal of A less the first, and angles.
func celeuxGovaert(x []float64, shape family.Shape, k, d int) []*mat.SymDense {
	code := shape.Mclust()
	take := func(n int) []float64 { v := x[:n]; x = x[n:]; return v }
	part := func(letter byte, n int) [][]float64 {
		all := make([][]float64, k)
		for c := range all {
			switch {
			case letter == 'I':
			case letter == 'V' || c == 0:
				all[c] = take(n)
			default:
				all[c] = all[0]
			}
		}
		return all
	}
	volume, shapes, angles := part(code[0], 1), part(code[1], d-1), part(code[2], d*(d-1)/2)
	all := make([]*mat.SymDense, k)
	for c := range all {
		axes := mat.NewDense(d, d, nil)
		first := 0.0
		for a, v := range shapes[c] {
			axes.Set(a+1, a+1, math.Exp((volume[c][0]+v)/2))
			first -= v
		}
		axes.Set(0, 0, math.Exp((volume[c][0]+first)/2))
		for i, phi := range angles[c] {
			a, b := 0, i // the pairs (0,1), (0,2), ..., (1,2), ...
			for b >= d-1-a {
				a, b = a+1, b-(d-1-a)
			}
			b += a + 1
			turn := mat.NewDense(d, d, nil)
			for j := range d {
				turn.Set(j, j, 1)
			}
			sin, cos := math.Sincos(phi)
			turn.Set(a, a, cos)
			turn.Set(b, b, cos)
			turn.Set(a, b, -sin)
			turn.Set(b, a, sin)
			axes.Mul(turn, mat.DenseCopyOf(axes))
		}
		var s mat.SymDense
		s.SymOuterK(1, axes)
		all[c] = &s
	}
	return all
}

// coordinates is how many numbers celeuxGovaert takes.
func coordinates(shape family.Shape, k, d int) (n int) {
	for i, size := range []int{1, d - 1, d * (d - 1) / 2} {
		switch shape.Mclust()[i] {
		case 'V':
			n += k * size
		case 'E':
			n += size
		}
	}
	return n
}

// covariancesOf returns the covariances of theta.
func covariancesOf(g family.Parsimonious, theta []float64, k, d int) []*mat.SymDense {
	p := g.Plain()
	plain, all := make([]float64, p.Params(k, d)), make([]*mat.SymDense, k)
	g.Expand(plain, theta, k, d)
	for c := range all {
		all[c] = matrix(p, plain, c, k, d)
	}
	return all
}

// smallestEigenvalue returns that of s with its columns measured by unit.
func smallestEigenvalue(s *mat.SymDense, unit []float64) float64 {
	d := len(unit)
	scaled := mat.NewSymDense(d, nil)
	for j := range d {
		for l := range j + 1 {
			scaled.SetSym(j, l, s.At(j, l)/(unit[j]*unit[l]))
		}
	}
	var e mat.EigenSym
	e.Factorize(scaled, false)
	return e.Values(nil)[0]
}

// The step must be the global maximum over all covariances of the shape: no search from anywhere may end higher, and the
// best of the searches ends where the step does.
func TestParsimoniousMStepIsTheMaximum(t *testing.T) {
	rng := rand.New(rand.NewPCG(61, 0))
	for _, shape := range parsimonious {
		for _, size := range [][2]int{{1, 2}, {2, 1}, {2, 2}, {4, 2}, {2, 3}} {
			k, d := size[0], size[1]
			s := randomScatter(rng, k, d)
			g := family.Parsimonious{Shape: shape, Var: make([]float64, d)}
			for j := range g.Var {
				g.Var[j] = 1
			}
			theta := make([]float64, g.Params(k, d))
			g.MStep(theta, theta, s.stats(g))
			ours := s.expected(covariancesOf(g, theta, k, d))
			best := math.Inf(-1)
			f := func(x []float64) float64 { return -s.expected(celeuxGovaert(x, shape, k, d)) }
			problem := optimize.Problem{Func: f, Grad: func(grad, x []float64) { fd.Gradient(grad, f, x, &fd.Settings{Formula: fd.Central}) }}
			for range 6 {
				x := make([]float64, coordinates(shape, k, d))
				for i := range x {
					x[i] = 2 * rng.NormFloat64()
				}
				if r, _ := optimize.Minimize(problem, x, nil, &optimize.BFGS{}); r != nil {
					best = max(best, -r.F)
				}
			}
			if best > ours+1e-8*math.Abs(ours) {
				t.Errorf("%s, k %d, d %d: a search ends at %v, %v above the step", shape.Mclust(), k, d, best, best-ours)
			}
			if best < ours-1e-8*math.Abs(ours) {
				t.Errorf("%s, k %d, d %d: no search gets nearer than %v to %v", shape.Mclust(), k, d, ours-best, ours)
			}
		}
	}
}
