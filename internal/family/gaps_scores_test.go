package family_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/kern"
)

// With gaps too a row's gradient, responsibilities fixed, is that of sum_c r_ic log p_c of the cells that are there.
func TestRowGradientsWithGaps(t *testing.T) {
	const h, n, d, k = 1e-3, 20, 5, 2
	variance := []float64{1, 1, 1, 1, 1}
	type sample struct {
		name string
		make familytest.Maker
		rows familytest.Rows
	}
	all := []sample{
		{"bernoulli", familytest.Gapped(newBernoulli), draw(two)}, {"categorical", newCategorical, draw(some)},
		{"poisson", familytest.Gapped(func([]float64) family.Family { return family.Poisson{} }), counts},
		{"mixed full", familytest.Gapped(newMixed(family.Full)), mixedRows}, {"mixed tied-volume-shape", familytest.Gapped(newMixed(family.TiedVolumeShape)), mixedRows},
	}
	for _, shape := range family.Shapes() {
		plain := func(v []float64) family.Family { return family.Gaussian{Shape: shape, Var: v} }
		if shape.Parsimonious() {
			plain = func(v []float64) family.Family { return family.Parsimonious{Shape: shape, Var: v} }
		}
		all = append(all, sample{shape.String(), familytest.Gapped(plain), familytest.Blobs})
	}
	for _, s := range all {
		rng := rand.New(rand.NewPCG(31, 0))
		f := s.make(variance).(family.Smooth)
		x := familytest.Holes(s.rows)(rng, n, d, k)
		p := panelOf(d, x)
		p.Mark()
		theta, ws := make([]float64, f.Params(k, d)), family.NewWorkspace(d)
		for i := range theta {
			theta[i] = rng.NormFloat64() / 4
		}
		r := make([]float64, k*kern.Rows)
		for i := range r {
			if i%kern.Rows < n {
				r[i] = rng.Float64()
			}
		}
		got := make([]float64, len(theta)*kern.Rows)
		f.Bind(theta, k, d).(family.GradKernel).RowGrad(got, p, r, ws)
		dst := make([]float64, k*kern.Rows)
		at := func(j int, h float64) (v [kern.Rows]float64) {
			other := append([]float64(nil), theta...)
			other[j] += h
			f.Bind(other, k, d).Score(dst, p, ws)
			for i, score := range dst {
				if i%kern.Rows < n {
					v[i%kern.Rows] += r[i] * score
				}
			}
			return v
		}
		for j := range theta {
			near, nearer, far, farther := at(j, h), at(j, -h), at(j, 2*h), at(j, -2*h)
			for i := range n {
				want := (8*(near[i]-nearer[i]) - (far[i] - farther[i])) / (12 * h)
				if g := got[j*kern.Rows+i]; !(math.Abs(g-want) <= 1e-6*(1+math.Abs(want))) {
					t.Fatalf("%s: derivative %d of row %d is %v, differences say %v", s.name, j, i, g, want)
				}
			}
		}
	}
}
