package latent

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/family"
)

// Sampler draws rows from a mixture.
type Sampler struct {
	m     *Model
	rng   *rand.Rand
	scale [][]float64 // gmm: factor of each covariance
	z, y  []float64   // gmm: standard normal numbers, and the row they make before the transform is undone
}

// Sampler returns a sampler whose rows depend on the seed alone. A kmeans or kmedians model has no density to draw from.
func (m *Model) Sampler(seed uint64) (*Sampler, error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	if !m.HasDensity() {
		return nil, fmt.Errorf("a %s model has no density to draw rows from; fit a mixture", m.Kind)
	}
	s := &Sampler{m: m, rng: rand.New(rand.NewPCG(seed, 0)), z: make([]float64, m.dims()), y: make([]float64, m.dims())}
	g := family.Gaussian{Shape: m.Shape}
	for _, cov := range m.Covariance {
		u := make([]float64, m.Shape.Size(m.dims()))
		g.Scale(u, pack(m.Shape, cov, m.dims()), m.dims())
		s.scale = append(s.scale, u)
	}
	return s, nil
}

// pick draws the index of one of the probabilities p, which add to 1 but for rounding: never one of 0.
func (s *Sampler) pick(p []float64) int {
	total := 0.0
	for _, v := range p {
		total += v
	}
	u, at := s.rng.Float64()*total, 0
	for i, v := range p {
		if v == 0 {
			continue
		}
		if at = i; u < v {
			break
		}
		u -= v
	}
	return at
}

// Draw sets x, of length d, to a row and returns its component, from 0. The row is in the user's units; for a
// categorical model it holds the numbers of levels, from 0, and after --binarize bits. After principal components it lies
// in their plane.
func (s *Sampler) Draw(x []float64) int {
	c := s.pick(s.m.Weights)
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
			x[j] = float64(s.pick(p))
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
