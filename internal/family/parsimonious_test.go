package family_test

import (
	"flag"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
)

var parsimonious = []family.Shape{family.TiedShapeDiag, family.TiedVolumeDiag, family.TiedShapeAxes, family.TiedVolumeAxes,
	family.TiedAxes, family.TiedVolumeShape, family.TiedShape, family.TiedVolume}

// perColumn reports whether a model of the shape stays one if columns are measured in other units.
func perColumn(s family.Shape) bool {
	return s == family.TiedShapeDiag || s == family.TiedVolumeDiag || s == family.TiedShapeAxes || s == family.TiedVolume
}

// fewerSamples lets each law try so many samples: there are eight shapes.
func fewerSamples(t *testing.T, n string) {
	checks := flag.Lookup("rapid.checks").Value
	was := checks.String()
	if err := checks.Set(n); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { checks.Set(was) })
}

func TestParsimoniousLaws(t *testing.T) {
	fewerSamples(t, "30")
	for _, shape := range parsimonious {
		t.Run(shape.Mclust(), func(t *testing.T) {
			newFamily := func(v []float64) family.Family { return family.Parsimonious{Shape: shape, Var: v} }
			familytest.Laws(t, newFamily)
			familytest.LocationScale(t, newFamily, perColumn(shape))
			familytest.CurvedLaws(t, newFamily)
		})
	}
}

// Names and mclust's codes, and mclust's nMclustParams less the mixing weights, for 4 components on 3 columns: 12 means,
// and alpha + beta + gamma parameters of volumes, shapes and directions (Celeux and Govaert 1995, table 1).
func TestParsimoniousShapesAreThoseOfMclust(t *testing.T) {
	for i, want := range []struct {
		name, mclust string
		free         int
	}{
		{"tied-shape-diag", "VEI", 4 + 2}, {"tied-volume-diag", "EVI", 1 + 8}, {"tied-shape-axes", "VEE", 4 + 2 + 3}, {"tied-volume-axes", "EVE", 1 + 8 + 3},
		{"tied-axes", "VVE", 4 + 8 + 3}, {"tied-volume-shape", "EEV", 1 + 2 + 12}, {"tied-shape", "VEV", 4 + 2 + 12}, {"tied-volume", "EVV", 1 + 8 + 12},
	} {
		g := family.Parsimonious{Shape: parsimonious[i]}
		for _, name := range []string{want.name, want.mclust} {
			if s, err := family.ParseShape(name); err != nil || s != parsimonious[i] {
				t.Errorf("%s is read as %v (%v)", name, s, err)
			}
		}
		if g.Name() != want.name || g.Free(4, 3) != 12+want.free || g.Params(4, 3) != g.Free(4, 3) {
			t.Errorf("%s: %s with %d of %d free parameters, want %d", want.name, g.Name(), g.Free(4, 3), g.Params(4, 3), 12+want.free)
		}
	}
}

// somewhere returns a family with random parameters well inside its floors.
func somewhere(rng *rand.Rand, shape family.Shape, k, d int) (g family.Parsimonious, theta []float64) {
	g = family.Parsimonious{Shape: shape, Var: slices.Repeat([]float64{1}, d)}
	theta = make([]float64, g.Params(k, d))
	for i := range theta {
		theta[i] = rng.NormFloat64()
	}
	return g, theta
}

// momentsOf returns the sums of a sweep with the means of at over rows that have the weights n and the moments of the
// components of theta.
func momentsOf(g family.Parsimonious, theta, at, n []float64, k, d int) *family.Stats {
	s, size := family.NewStats(k, d, g.Sums(k, d), 0), g.Shape.Size(d)
	copy(s.N, n)
	for c, sigma := range covariancesOf(g, theta, k, d) {
		q := s.Sum[k*d+c*size : k*d+(c+1)*size]
		for j := range d {
			e := theta[c*d+j] - at[c*d+j]
			s.Sum[c*d+j] = n[c] * e
			for l := range j + 1 {
				v := n[c] * (sigma.At(j, l) + e*(theta[c*d+l]-at[c*d+l]))
				if g.Shape.Matrix() {
					q[j*(j+1)/2+l] = v
				} else if j == l {
					q[j] = v
				}
			}
		}
	}
	return s
}

// The metric is the curvature of the expected log-likelihood where the rows have the moments of the components.
func TestParsimoniousMetricIsTheCurvature(t *testing.T) {
	rng := rand.New(rand.NewPCG(62, 0))
	for _, shape := range parsimonious {
		for d := 1; d <= 5; d++ {
			const k, h = 3, 1e-3
			g, theta := somewhere(rng, shape, k, d)
			s := momentsOf(g, theta, theta, []float64{20, 35, 50}, k, d)
			z := make([]float64, len(theta))
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			g.Precondition(z, z, theta, s)
			length := math.Sqrt(g.SquaredLength(z, theta, s))
			f := func(h float64) float64 {
				other := slices.Clone(theta)
				for i, v := range z {
					other[i] += h * v / length
				}
				return g.Expected(other, theta, s)
			}
			step := h * math.Sqrt(105)
			curvature := (16*(f(step)+f(-step)) - (f(2*step) + f(-2*step)) - 30*f(0)) / (12 * step * step)
			if !(curvature >= -1-1e-5 && curvature <= -0.99) { // for axes of all but one length the metric is longer than that
				t.Errorf("%s, d %d: curvature %v along a move of length 1", shape.Mclust(), d, curvature)
			}
		}
	}
}

// Near the parameters whose moments the rows have, the step of EM is the gradient in the metric, and leads to them.
func TestParsimoniousStepIsTheGradientInTheMetric(t *testing.T) {
	rng := rand.New(rand.NewPCG(63, 0))
	for _, shape := range parsimonious {
		for d := 1; d <= 5; d++ {
			const k, size = 3, 1e-5
			g, theta := somewhere(rng, shape, k, d)
			n := []float64{20, 35, 50}
			at, want := slices.Clone(theta), make([]float64, len(theta))
			for i := range at {
				want[i] = size * rng.NormFloat64()
				at[i] -= want[i]
			}
			s := momentsOf(g, theta, at, n, k, d)
			next, z := make([]float64, len(theta)), make([]float64, len(theta))
			g.MStep(next, at, s)
			for i, v := range next {
				if !(math.Abs(v-theta[i]) <= 1e-8*(1+math.Abs(theta[i]))) {
					t.Errorf("%s, d %d: the step leads to %v, want %v", shape.Mclust(), d, next, theta)
					break
				}
			}
			g.Grad(z, at, s)
			g.Precondition(z, z, at, s)
			length := g.SquaredLength(want, at, s)
			for i := range z {
				z[i] -= want[i]
			}
			if off := g.SquaredLength(z, at, s); !(off <= 1e-5*length) {
				t.Errorf("%s, d %d: I^-1 g is %v off a step of length %v", shape.Mclust(), d, math.Sqrt(off), math.Sqrt(length))
			}
		}
	}
}

// On one column there are two models only, E and V: those of the shared and of the own variances.
func TestParsimoniousOnOneColumnIsGaussian(t *testing.T) {
	rng := rand.New(rand.NewPCG(64, 0))
	const k, d = 3, 1
	for _, shape := range parsimonious {
		g := family.Parsimonious{Shape: shape, Var: []float64{1}}
		one := family.Gaussian{Shape: family.TiedSpherical, Var: g.Var}
		if shape.Mclust()[0] == 'V' {
			one.Shape = family.Spherical
		}
		s := family.NewStats(k, d, g.Sums(k, d), 0)
		for c := range k {
			s.N[c], s.Sum[c], s.Sum[k+c] = 5+rng.Float64(), rng.NormFloat64(), 9+rng.Float64()
		}
		theta, want := make([]float64, g.Params(k, d)), make([]float64, one.Params(k, d))
		if len(theta) != len(want) {
			t.Fatalf("%s: %d parameters, want %d", shape.Mclust(), len(theta), len(want))
		}
		g.MStep(theta, theta, s)
		sums := s
		if one.Shape.Shared() {
			sums = family.NewStats(k, d, one.Sums(k, d), 0)
			copy(sums.N, s.N)
			copy(sums.Sum, s.Sum[:k])
			for _, v := range s.Sum[k:] {
				sums.Sum[k] += v
			}
		}
		one.MStep(want, want, sums)
		for i := range want {
			if !(math.Abs(theta[i]-want[i]) <= 1e-12) {
				t.Errorf("%s: %v, want %v", shape.Mclust(), theta, want)
			}
		}
	}
}

func TestParsimoniousComponentWithoutRowsKeepsWhatIsItsOwn(t *testing.T) {
	rng := rand.New(rand.NewPCG(66, 0))
	const d, k = 3, 2
	for _, shape := range parsimonious {
		g, theta := somewhere(rng, shape, k, d)
		other := slices.Clone(theta)
		for i := range other {
			other[i] += 0.1 * rng.NormFloat64()
		}
		next := make([]float64, len(theta))
		g.MStep(next, theta, momentsOf(g, other, theta, []float64{30, 0}, k, d))
		if !slices.Equal(next[d:2*d], theta[d:2*d]) || slices.Equal(next[:d], theta[:d]) {
			t.Errorf("%s: means %v became %v", shape.Mclust(), theta[:2*d], next[:2*d])
		}
		at := k * d
		for i, n := range []int{1, d - 1, d * (d - 1) / 2} {
			switch shape.Mclust()[i] {
			case 'V':
				if !slices.Equal(next[at+n:at+2*n], theta[at+n:at+2*n]) || slices.Equal(next[at:at+n], theta[at:at+n]) {
					t.Errorf("%s: part %d of both components, %v, became %v", shape.Mclust(), i, theta[at:at+2*n], next[at:at+2*n])
				}
				at += k * n
			case 'E':
				at += n
			}
		}
		g.MStep(next, theta, family.NewStats(k, d, g.Sums(k, d), 0))
		if !slices.Equal(next, theta) {
			t.Errorf("%s: without any rows %v became %v", shape.Mclust(), theta, next)
		}
	}
}

func TestParsimoniousCovarianceGradients(t *testing.T) {
	const h = 1e-4
	rng := rand.New(rand.NewPCG(68, 0))
	for _, shape := range parsimonious {
		for d := 1; d <= 4; d++ {
			const k, c = 2, 1
			g, theta := somewhere(rng, shape, k, d)
			grad := make([]float64, len(theta))
			for j := range d {
				for l := range d {
					if j != l && !g.Shape.Matrix() {
						continue
					}
					g.CovarianceGrad(grad, theta, c, j, l, k, d)
					for i, was := range theta {
						at := func(v float64) float64 {
							theta[i] = v
							return covariancesOf(g, theta, k, d)[c].At(j, l)
						}
						want := (at(was+h) - at(was-h)) / (2 * h)
						theta[i] = was
						if !(math.Abs(grad[i]-want) <= 1e-6*(1+math.Abs(want))) {
							t.Fatalf("%s, d %d: entry (%d, %d) moves with coordinate %d by %v, differences say %v", shape.Mclust(), d, j, l, i, grad[i], want)
						}
					}
				}
			}
		}
	}
}

// Restrict finds the parameters of covariances that are of the shape.
func TestRestrictUndoesExpand(t *testing.T) {
	rng := rand.New(rand.NewPCG(69, 0))
	for _, shape := range parsimonious {
		for d := 1; d <= 5; d++ {
			const k = 3
			g, theta := somewhere(rng, shape, k, d)
			p := g.Plain()
			plain, again := make([]float64, p.Params(k, d)), make([]float64, p.Params(k, d))
			g.Expand(plain, theta, k, d)
			g.Restrict(theta, plain, []float64{0.2, 30, 7}, k, d)
			g.Expand(again, theta, k, d)
			for i, v := range plain {
				if !(math.Abs(again[i]-v) <= 1e-8*(1+math.Abs(v))) {
					t.Errorf("%s, d %d: %v became %v", shape.Mclust(), d, plain, again)
					break
				}
			}
		}
	}
}

// The paper's coordinates turn back into the parameters, do not depend on the units of the columns where the shape does
// not, and their gradient is that of the chain rule.
func TestParsimoniousFactors(t *testing.T) {
	rng := rand.New(rand.NewPCG(70, 0))
	const k, d = 2, 4
	for _, shape := range parsimonious {
		g, theta := somewhere(rng, shape, k, d)
		s := momentsOf(g, theta, theta, []float64{20, 30}, k, d)
		l, back := make([]float64, len(theta)), make([]float64, len(theta))
		if g.Factor(l, theta, k, d); !slices.Equal(l, theta) { // all units are 1
			t.Errorf("%s: %v has factors %v", shape.Mclust(), theta, l)
		}
		if perColumn(shape) {
			unit := []float64{4, 0.25, 1, 64}
			big, sums := g, family.NewStats(k, d, g.Sums(k, d), 0)
			big.Var = nil
			for _, u := range unit {
				big.Var = append(big.Var, u*u)
			}
			copy(sums.N, s.N)
			size := g.Shape.Size(d)
			for c := range k {
				for j := range d {
					for m := range j + 1 {
						if i := k*d + c*size + j*(j+1)/2 + m; g.Shape.Matrix() {
							sums.Sum[i] = s.Sum[i] * unit[j] * unit[m]
						} else if i = k*d + c*size + j; m == j {
							sums.Sum[i] = s.Sum[i] * unit[j] * unit[j]
						}
					}
				}
			}
			next, far := make([]float64, len(theta)), make([]float64, len(theta))
			g.MStep(next, theta, s)
			big.MStep(far, theta, sums)
			big.Factor(back, far, k, d)
			for i := k*d + 2; i < len(theta); i++ { // triangles; volumes and shapes are logarithms, which shift
				if g.Shape.Matrix() && i >= len(theta)-d*(d-1)/2 && !(math.Abs(back[i]-next[i]) <= 1e-9*(1+math.Abs(next[i]))) {
					t.Errorf("%s: factor %d is %v, in other units %v", shape.Mclust(), i, next[i], back[i])
				}
			}
			g = big
		}
		g.Factor(l, theta, k, d)
		g.Unfactor(back, l, k, d)
		grad := make([]float64, len(theta))
		for i := range grad {
			grad[i] = 1
		}
		g.FactorGrad(grad, grad, theta, k, d)
		for i, v := range theta {
			if !(math.Abs(back[i]-v) <= 1e-15*math.Abs(v)) {
				t.Errorf("%s: parameter %d is %v, was %v", shape.Mclust(), i, back[i], v)
			}
			l[i]++
			if g.Unfactor(back, l, k, d); !(math.Abs(back[i]-v-grad[i]) <= 1e-12*(1+grad[i]+math.Abs(v))) {
				t.Errorf("%s: factor %d moves its parameter by %v, want %v", shape.Mclust(), i, back[i]-v, grad[i])
			}
			l[i]--
		}
	}
}
