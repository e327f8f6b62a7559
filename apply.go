package latent

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/sweep"
)

// Scored is a run of consecutive rows with what a model says of them: labels, log densities, responsibilities.
type Scored = sweep.Scored

// Rows labels and scores all rows of src, whose columns are the model's in order and in the user's units. each sees
// the rows in order, a run at a time, from one goroutine at a time, and must not keep what it is given. Log densities
// are in nats and in the user's units; for kmeans Score is minus the squared distance to the nearest centre, after the
// model's transform.
func (m *Model) Rows(ctx context.Context, src data.Source, threads int, each func(*Scored) error) error {
	if _, d := src.Shape(); d != m.D() {
		return fmt.Errorf("the rows have %d columns, but the model has %d", d, m.D())
	}
	mix, theta, origin, err := m.mixture()
	if err != nil {
		return err
	}
	// The density of a row is that of the transformed row over the product of the scales.
	jacobian := 0.0
	for _, t := range m.Transform {
		src = data.Scaled(src, t.Center, t.Scale)
		for _, s := range t.Scale {
			jacobian += math.Log(s)
		}
	}
	if jacobian != 0 && m.Kind == "gmm" {
		raw := each
		each = func(s *Scored) error {
			for i := range s.Score {
				s.Score[i] -= jacobian
				s.Best[i] -= jacobian
			}
			return raw(s)
		}
	}
	rows, _ := src.Shape()
	return sweep.NewLocal(src, rows, origin, threads).Rows(ctx, mix, theta, each)
}

// Sampler draws rows from a mixture.
type Sampler struct {
	m     *Model
	rng   *rand.Rand
	sum   []float64   // cumulative weights
	scale [][]float64 // factor of each covariance
	z     []float64
}

// Sampler returns a sampler whose rows depend on the seed alone. A kmeans model has no density to draw from.
func (m *Model) Sampler(seed uint64) (*Sampler, error) {
	if m.Kind != "gmm" {
		return nil, fmt.Errorf("a %s model has no density to draw rows from; fit a gmm", m.Kind)
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

// Draw sets x, of length d, to a row in the user's units and returns its component, from 0.
func (s *Sampler) Draw(x []float64) int {
	u, c := s.rng.Float64()*s.sum[len(s.sum)-1], 0
	for c < len(s.sum)-1 && s.sum[c] <= u {
		c++
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
