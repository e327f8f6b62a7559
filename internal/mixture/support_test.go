package mixture

import (
	"math"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
)

// A component that no row supports must not have moves without bounds: a move of one standard error would lead out of the
// range of float64, where there are no densities.
func TestMetricIsBoundedWithoutSupport(t *testing.T) {
	families := []family.Family{family.Gaussian{Shape: family.Diag, Var: []float64{1, 1}}, family.Gaussian{Shape: family.Spherical, Var: []float64{1, 1}}}
	for _, name := range kind.Names() {
		if k := kind.Of(name); k.Mixture {
			families = append(families, k.Family(kind.Variables{Types: []data.Type{data.Number, data.Category}, Levels: []int{2, 3}, Var: []float64{1, 1}}))
		}
	}
	for _, fam := range families {
		m := &Mixture{Family: fam, K: 2, D: 2}
		theta := make([]float64, m.Params())
		for i := range theta {
			theta[i] = 0.1 * float64(i%3)
		}
		s := m.NewStats(0)
		s.N[0], s.N[1], s.W = 100, 1e-240, 100
		for i := range s.Sum {
			s.Sum[i] = 1e-240
		}
		g := Geometry{Mixture: m, Theta: theta, Stats: s}
		q, z := make([]float64, len(theta)), make([]float64, len(theta))
		for i := range q {
			q[i] = math.Sin(float64(i))
		}
		q[1] = -q[0] // the gradient of the logits adds to 0
		g.Precondition(z, q)
		length := g.Length(z)
		if !(length > 0) || math.IsInf(length, 1) {
			t.Errorf("%s: the preconditioned gradient has length %v", fam.Name(), length)
		}
		for i, v := range z {
			if !(math.Abs(v/length) < 1e5) {
				t.Errorf("%s: a move of one standard error moves parameter %d by %v", fam.Name(), i, v/length)
			}
		}
		square := 0.0
		for i := range z { // z = I^-1 q, so z'Iz = z'q
			square += z[i] * q[i]
		}
		if math.Abs(square-length*length) > 1e-6*length*length {
			t.Errorf("%s: z'q is %v, the squared length %v", fam.Name(), square, length*length)
		}
	}
}
