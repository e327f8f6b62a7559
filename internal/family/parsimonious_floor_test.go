package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
)

// Whatever collapses, covariances stay finite and above the floor, and the free energy does not fall.
func TestParsimoniousCovariancesStayAboveTheFloor(t *testing.T) {
	const d, k = 3, 2
	rng := rand.New(rand.NewPCG(65, 0))
	for _, shape := range parsimonious {
		for _, flat := range []int{1, 2, 3} { // directions that the first component lacks
			g := family.Parsimonious{Shape: shape, Var: []float64{1, 4, 2}}
			theta := make([]float64, g.Params(k, d))
			s, size := family.NewStats(k, d, g.Sums(k, d), 0), g.Shape.Size(d)
			s.N[0], s.N[1] = 4, 50
			for c, rows := range []int{d - flat, 50} {
				for range rows {
					x := []float64{rng.NormFloat64(), rng.NormFloat64(), rng.NormFloat64()}
					q := s.Sum[k*d+c*size : k*d+(c+1)*size]
					for j := range d {
						for l := range j + 1 {
							if g.Shape.Matrix() {
								q[j*(j+1)/2+l] += x[j] * x[l]
							} else if j == l {
								q[j] += x[j] * x[j]
							}
						}
					}
				}
			}
			before := g.Expected(theta, theta, s)
			for range 3 {
				g.MStep(theta, theta, s)
				after := g.Expected(theta, theta, s)
				if !(after >= before-1e-9*math.Abs(before)) {
					t.Errorf("%s, %d flat: the step lowers %v to %v", shape.Mclust(), flat, before, after)
				}
				before = after
			}
			for c, sigma := range covariancesOf(g, theta, k, d) {
				// Axes of their own are held up by the smallest variance of a column, 1; the others by each column's.
				unit := []float64{1, 1, 1}
				if perColumn(shape) {
					unit = []float64{1, 2, math.Sqrt2}
				}
				low := smallestEigenvalue(sigma, unit)
				if !(low >= family.MinEigenvalue*(1-1e-3)) {
					t.Errorf("%s, %d flat: component %d has an eigenvalue of %v", shape.Mclust(), flat, c, low)
				}
				if at := g.AtFloor(theta, k, d)[c]; at != (low <= family.MinEigenvalue*1.001) {
					t.Errorf("%s, %d flat: component %d, with an eigenvalue of %v, at the floor: %v", shape.Mclust(), flat, c, low, at)
				}
			}
		}
	}
}

// A component that no row supports must not have moves without bounds, and no step out of the range of float64 may panic.
func TestParsimoniousMetricIsBoundedWithoutSupport(t *testing.T) {
	rng := rand.New(rand.NewPCG(71, 0))
	const k, d = 2, 3
	for _, shape := range parsimonious {
		g, theta := somewhere(rng, shape, k, d)
		s := momentsOf(g, theta, theta, []float64{100, 1e-240}, k, d)
		s.W = 100
		q, z := make([]float64, len(theta)), make([]float64, len(theta))
		for i := range q {
			q[i] = math.Sin(float64(i))
		}
		g.Precondition(z, q, theta, s)
		square, length := 0.0, math.Sqrt(g.SquaredLength(z, theta, s))
		for i, v := range z {
			square += v * q[i]
			if !(math.Abs(v/length) < 1e6) {
				t.Errorf("%s: a move of one standard error moves parameter %d by %v", shape.Mclust(), i, v/length)
			}
		}
		if !(math.Abs(square-length*length) <= 1e-9*square) {
			t.Errorf("%s: z'q is %v, the squared length %v", shape.Mclust(), square, length*length)
		}
		for _, bad := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e300, -1e200, 1e9} {
			for i := k * d; i < len(theta); i++ {
				far := slices.Clone(theta)
				far[i] = bad
				g.Project(far, k, d)
				once := slices.Clone(far)
				g.Project(far, k, d)
				plain := make([]float64, g.Plain().Params(k, d))
				g.Expand(plain, far, k, d)
				for _, v := range plain {
					if v-v != 0 || !slices.Equal(once, far) {
						t.Fatalf("%s: %v at %d becomes %v, then %v", shape.Mclust(), bad, i, once, far)
					}
				}
			}
		}
		for i := range s.Sum {
			s.Sum[i] = math.NaN()
		}
		g.MStep(z, theta, s)
	}
}

// Directions far out are the same axes with other signs.
func TestDirectionsAreRewrittenNotChanged(t *testing.T) {
	rng := rand.New(rand.NewPCG(67, 0))
	for _, shape := range []family.Shape{family.TiedVolumeAxes, family.TiedAxes, family.TiedVolumeShape, family.TiedShape} {
		for d := 2; d <= 6; d++ {
			const k = 2
			g, theta := somewhere(rng, shape, k, d)
			from := len(theta) - d*(d-1)/2
			for i := from; i < len(theta); i++ {
				theta[i] *= 50
			}
			want := covariancesOf(g, theta, k, d)
			was := slices.Clone(theta)
			g.Project(theta, k, d)
			largest, before := 0.0, 0.0
			for i := from; i < len(theta); i++ {
				largest, before = max(largest, math.Abs(theta[i])), max(before, math.Abs(was[i]))
			}
			if largest > 8 || before > 8 && largest > 2.1 || !slices.Equal(theta[:k*d], was[:k*d]) {
				t.Errorf("%s, d %d: %v became %v", shape.Mclust(), d, was[from:], theta[from:])
			}
			for c, got := range covariancesOf(g, theta, k, d) {
				for j := range d {
					for l := range d {
						if unit := math.Sqrt(want[c].At(j, j) * want[c].At(l, l)); !(math.Abs(got.At(j, l)-want[c].At(j, l)) <= 1e-9*unit) {
							t.Fatalf("%s, d %d: entry (%d, %d) was %v and is %v", shape.Mclust(), d, j, l, want[c].At(j, l), got.At(j, l))
						}
					}
				}
			}
		}
	}
}
