package latent

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/family"
)

// Sampler draws rows from a mixture.
type Sampler struct {
	m     *Model
	rng   *rand.Rand
	sum   []float64   // cumulative weights
	scale [][]float64 // gmm: factor of each covariance
	z, y  []float64   // gmm: standard normal numbers, and the row they make before the transform is undone
}

// Sampler returns a sampler whose rows depend on the seed alone. A kmeans or kmedians model has no density to draw from.
func (m *Model) Sampler(seed uint64) (*Sampler, error) {
	if !m.HasDensity() {
		return nil, fmt.Errorf("a %s model has no density to draw rows from; fit a mixture", m.Kind)
	}
	s := &Sampler{m: m, rng: rand.New(rand.NewPCG(seed, 0)), z: make([]float64, m.dims()), y: make([]float64, m.dims())}
	g, sum := family.Gaussian{Shape: m.Shape}, 0.0
	for _, w := range m.Weights {
		sum += w
		s.sum = append(s.sum, sum)
	}
	for _, cov := range m.Covariance {
		u := make([]float64, m.Shape.Size(m.dims()))
		g.Scale(u, pack(m.Shape, cov, m.dims()), m.dims())
		s.scale = append(s.scale, u)
	}
	return s, nil
}

// Draw sets x, of length d, to a row and returns its component, from 0. The row is in the user's units; for a
// categorical model it holds the numbers of levels, from 0, and after --binarize bits. After principal components it lies
// in their plane.
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
	g.Colour(s.y, s.z, s.scale[min(c, len(s.scale)-1)])
	for j, mean := range s.m.Means[c] {
		s.y[j] += mean
	}
	y := s.y
	for _, t := range slices.Backward(s.m.Transform) {
		y = t.undo(y)
	}
	copy(x, y)
	return c
}
