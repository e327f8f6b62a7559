package latent

import (
	"fmt"
	"math/rand/v2"

	"github.com/latent-go/latent/family"
)

// Sampler draws rows from a mixture.
type Sampler struct {
	m     *Model
	rng   *rand.Rand
	sum   []float64   // cumulative weights
	scale [][]float64 // gmm: factor of each covariance
	z     []float64
}

// Sampler returns a sampler whose rows depend on the seed alone. A kmeans or kmedians model has no density to draw from.
func (m *Model) Sampler(seed uint64) (*Sampler, error) {
	if !m.HasDensity() {
		return nil, fmt.Errorf("a %s model has no density to draw rows from; fit a mixture", m.Kind)
	}
	s := &Sampler{m: m, rng: rand.New(rand.NewPCG(seed, 0)), z: make([]float64, m.D())}
	g, sum := family.Gaussian{Shape: m.Shape}, 0.0
	for _, w := range m.Weights {
		sum += w
		s.sum = append(s.sum, sum)
	}
	for _, cov := range m.Covariance {
		u := make([]float64, m.Shape.Size(m.D()))
		g.Scale(u, pack(m.Shape, cov, m.D()), m.D())
		s.scale = append(s.scale, u)
	}
	return s, nil
}

// Draw sets x, of length d, to a row and returns its component, from 0. The row is in the user's units; for a
// categorical model it holds the numbers of levels, from 0, and after --binarize bits.
func (s *Sampler) Draw(x []float64) int {
	u, c := s.rng.Float64()*s.sum[len(s.sum)-1], 0
	for c < len(s.sum)-1 && s.sum[c] <= u {
		c++
	}
	switch s.m.Kind {
	case "bernoulli":
		for j, p := range s.m.Probabilities[c] {
			x[j] = 0
			if s.rng.Float64() < p {
				x[j] = 1
			}
		}
		return c
	case "categorical":
		for j, p := range s.m.byLevel(c) {
			u, l := s.rng.Float64(), 0
			for ; l < len(p)-1 && u >= p[l]; l++ {
				u -= p[l]
			}
			x[j] = float64(l)
		}
		return c
	}
	for j := range s.z {
		s.z[j] = s.rng.NormFloat64()
	}
	g := family.Gaussian{Shape: s.m.Shape}
	g.Colour(x, s.z, s.scale[min(c, len(s.scale)-1)])
	for j, mean := range s.m.Means[c] {
		x[j] += mean
		for i := len(s.m.Transform) - 1; i >= 0; i-- {
			x[j] = x[j]*s.m.Transform[i].Scale[j] + s.m.Transform[i].Center[j]
		}
	}
	return c
}
