package family

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/diff/fd"
	"gonum.org/v1/gonum/mat"
)

// manyAxes draws packed covariances whose axes are not the same, with variances spread over e^spread.
func manyAxes(rng *rand.Rand, k, d int, spread float64) (s [][]float64, n []float64) {
	for range k {
		w := mat.NewSymDense(d, nil)
		for range d + 3 {
			x := mat.NewVecDense(d, nil)
			for j := range d {
				x.SetVec(j, rng.NormFloat64()*math.Exp(spread/2*float64(j)/float64(d)))
			}
			w.SymRankOne(w, 1/float64(d+3), x)
		}
		q := make([]float64, d*(d+1)/2)
		for j := range d {
			for l := range j + 1 {
				q[tri(j, l)] = w.At(j, l)
			}
		}
		s, n = append(s, q), append(n, 1+9*rng.Float64())
	}
	return s, n
}

// diagonalCost is the cost by its definition.
func diagonalCost(axes []float64, s [][]float64, n []float64, d int, equal bool) (f float64) {
	total := 0.0
	for c, q := range s {
		logs := 0.0
		for a := range d {
			v := 0.0
			for j := range d {
				for l := range d {
					v += axes[j*d+a] * q[tri(max(j, l), min(j, l))] * axes[l*d+a]
				}
			}
			logs += math.Log(v)
		}
		total += n[c]
		if equal {
			logs = math.Exp(logs / float64(d))
		}
		f += n[c] * logs
	}
	return f / total
}

func TestQuadraticModelHasTheDerivativesOfTheCost(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 0))
	for _, equal := range []bool{false, true} {
		for _, d := range []int{2, 3, 5} {
			s, n := manyAxes(rng, 3, d, 3)
			axes := newRotation([]float64{0.3, -0.7, 0.2, 0.5, -0.1, 0.4, 1.1, -0.6, 0.8, 0.05}[:d*(d-1)/2], d)
			cost := func(w []float64) float64 {
				turned := axes.by(w)
				if turned == nil {
					turned = axes.axes
				}
				return diagonalCost(turned, s, n, d, equal)
			}
			zero := make([]float64, d*(d-1)/2)
			scale := 1.0
			if equal {
				scale = cost(zero) // the model is of the volume over itself
			}
			slope := fd.Gradient(nil, cost, zero, &fd.Settings{Formula: fd.Central})
			var curve mat.SymDense
			fd.Hessian(&curve, cost, zero, &fd.Settings{Formula: fd.Central, Step: 1e-3})
			h := newCommonAxes(axes.axes, s, n, d, equal).quadratic()
			y := make([]float64, len(zero))
			for i, want := range slope {
				if got := h.slope[i] * scale; math.Abs(got-want) > 1e-7*(1+math.Abs(want)) {
					t.Errorf("d = %d, one volume %v: slope %d is %v, want %v", d, equal, i, got, want)
				}
				e := make([]float64, len(zero))
				e[i] = 1
				h.times(y, e)
				for j := range y {
					if got, want := 2*y[j]*scale, curve.At(i, j); math.Abs(got-want) > 1e-4*(1+math.Abs(want)) {
						t.Errorf("d = %d, one volume %v: second derivative %d, %d is %v, want %v", d, equal, i, j, got, want)
					}
				}
			}
		}
	}
}

// At the best axes sum_c f_c b_jl (1/b_ll - 1/b_jj) = 0 for every pair (Flury 1984), f_c the weight or, with one volume for
// all, the weight times the volume.
func TestCommonAxesAreCarriedToTheirEnd(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 0))
	for _, d := range []int{2, 4, 13, 25} {
		for _, equal := range []bool{false, true} {
			for _, spread := range []float64{2, 12} {
				t.Run(fmt.Sprintf("%d columns, spread %v, one volume %v", d, spread, equal), func(t *testing.T) {
					s, n := manyAxes(rng, 4, d, spread)
					start := newRotation(make([]float64, d*(d-1)/2), d).axes
					axes, settled := findAxes(start, s, n, d, equal)
					if !settled {
						t.Error("the axes have not settled")
					}
					if before, after := diagonalCost(start, s, n, d, equal), diagonalCost(axes, s, n, d, equal); !(after < before) {
						t.Errorf("the cost went from %v to %v", before, after)
					}
					sums, size := make([]float64, d*d), 0.0
					for c, q := range s {
						b, f, logs := within(axes, q, d), n[c], 0.0
						for a := range d {
							logs += math.Log(b[a*d+a])
						}
						if equal {
							f *= math.Exp(logs / float64(d))
						}
						for j := range d {
							for l := range j {
								v := f * b[j*d+l] * (1/b[l*d+l] - 1/b[j*d+j])
								sums[j*d+l] += v
								size = max(size, math.Abs(v))
							}
						}
					}
					for i, v := range sums {
						if !(math.Abs(v) <= 1e-8*size) {
							t.Fatalf("axes %d and %d would still turn: %v beside %v", i/d, i%d, v, size)
						}
					}
				})
			}
		}
	}
}

// A search may try a place far from all rows, where the moments of a component are anything. Axes come back all the same.
func TestCommonAxesOfMomentsThatOverflow(t *testing.T) {
	const d = 4
	far := []float64{1e-9, 0.3, 2e119, 0, 0, 1e-9, 500, 3e122, 0, 5e125}
	for _, c := range []struct {
		near []float64 // a turn
		s    [][]float64
	}{
		{[]float64{1, 1, 1, 1, 1, 1}, [][]float64{{0.2, 0.01, 0.004, 0.04, 0.005, 0.06, 10, 0.9, 6, 1000}, far}},
		{[]float64{0.1, -0.05, 0.2, 0.01, 0.02, 0.1}, [][]float64{{1, 0, 1, 0, 0, 1, 10, 1, 6, 1000}, far}},
		{make([]float64, 6), [][]float64{{1, 0, 1, 0, 0, 1, 10, 1, 6, 1000}, {1e300, 1e299, 1e301, 1e300, 1e301, 1e303, 0, 0, 0, 1e-9}}},
		{make([]float64, 6), [][]float64{{1, 0, 1, 0, 0, 1, 10, 1, 6, 1000}, {math.NaN(), 0, 1, 0, 0, 1, 0, 0, 0, 1}}},
	} {
		for _, equal := range []bool{false, true} {
			axes, settled := findAxes(newRotation(c.near, d).axes, c.s, []float64{7, 4}, d, equal)
			if settled && math.IsNaN(c.s[1][0]) {
				t.Errorf("%v: settled", c.s)
			}
			for a := range d {
				for e := range d {
					dot, want := 0.0, 0.0
					for j := range d {
						dot += axes[j*d+a] * axes[j*d+e]
					}
					if a == e {
						want = 1
					}
					if !(math.Abs(dot-want) < 1e-12) {
						t.Errorf("%v: axes %d and %d have the product %v", c.s, a, e, dot)
					}
				}
			}
		}
	}
}
