package model

import (
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/rng"
)

// Sampler draws rows from a mixture.
type Sampler struct {
	m          *Model
	rng        *rand.Rand
	levels     []int           // numbers of levels of the columns
	scale      [][]float64     // gmm: factor of each covariance
	unique     [][]float64     // gmm with factors: uniquenesses of each component
	z, y       []float64       // gmm: standard normal numbers, and the row they make before the transform is undone
	noise      *noiseSampler   // nil where there is none
	parts      []partSampler   // of a model of columns of several types
	predictive *predictive     // of a model with a posterior
	inner      *changedSampler // where columns are on other scales; then nothing else is set but the model and the random numbers
	chain      *Model          // the hidden Markov model whose states the rows are drawn from; nil elsewhere
	state      int             // of the last row; -1 before the first of a sequence
}

// partSampler draws the columns of a part.
type partSampler struct {
	*Sampler
	columns []int
	x       []float64
}

// Sampler returns a sampler whose rows depend on the seed alone. A kmeans or kmedians model has no density to draw from.
func (m *Model) Sampler(seed uint64) (*Sampler, error) {
	return m.SamplerFrom(rng.Draws.New(seed))
}

// SamplerFrom is Sampler with random numbers of the caller's, who must not draw from them meanwhile.
func (m *Model) SamplerFrom(rng *rand.Rand) (*Sampler, error) {
	if err := m.needsDensity("to draw rows from"); err != nil {
		return nil, err
	}
	if m.IsChain() {
		s, err := m.emissions().SamplerFrom(rng)
		if err == nil {
			s.chain, s.state = m, -1
		}
		return s, err
	}
	if changes := m.Changes(); changes != nil {
		own, err := m.Changed().SamplerFrom(rng)
		if err != nil {
			return nil, err
		}
		return &Sampler{m: m, rng: rng, inner: &changedSampler{own, changes, make([]float64, len(changes.Names()))}}, nil
	}
	if m.kind().Parted {
		s := &Sampler{m: m, rng: rng}
		for _, p := range m.Parts() {
			own, err := p.SamplerFrom(rng)
			if err != nil {
				return nil, err
			}
			s.parts = append(s.parts, partSampler{own, p.Columns, make([]float64, p.D())})
		}
		return s, nil
	}
	s := &Sampler{m: m, levels: kind.Counts(m.Levels), rng: rng, z: make([]float64, m.dims()), y: make([]float64, m.dims())}
	var err error
	if s.predictive, err = m.predictive(); err != nil || s.predictive != nil {
		return s, err
	}
	g := family.Gaussian{Shape: m.Shape}
	for c := range m.Loadings {
		s.unique = append(s.unique, m.parameters().Unique(c))
	}
	for _, cov := range m.Covariance {
		u := make([]float64, m.Shape.Size(m.dims()))
		g.Scale(u, kind.Pack(m.Shape, cov, m.dims()), m.dims())
		s.scale = append(s.scale, u)
	}
	if m.Noise != nil {
		inverse, err := m.Noise.inverse()
		if err != nil {
			return nil, err
		}
		s.noise = &noiseSampler{m.Noise, inverse, make([]float64, m.dims())}
	}
	return s, nil
}

// Draw sets x, of length d, to a row and returns its component, from 0; -1 for noise, and for a component of a posterior that is not in use. The
// row is in the user's units; for a model of levels it holds their numbers, from 0, and after --binarize bits. After principal components it
// lies in their plane. Of a hidden Markov model it is the next row of a sequence, and its state.
func (s *Sampler) Draw(x []float64) int {
	if s.chain != nil {
		from := s.chain.Initial
		if s.state >= 0 {
			from = s.chain.Transitions[s.state]
		}
		s.state = kind.Pick(from, s.rng)
		s.of(s.state, x)
		return s.state
	}
	if s.predictive != nil || s.inner != nil && s.inner.predictive != nil {
		return s.drawPredictive(x)
	}
	c := -1
	if n := s.m.Noise; n == nil || s.rng.Float64() >= n.Weight {
		c = kind.Pick(s.m.Weights, s.rng)
	}
	s.of(c, x)
	return c
}

// Restart has the next row of a hidden Markov model begin another sequence. Elsewhere it changes nothing.
func (s *Sampler) Restart() { s.state = -1 }

// drawPredictive is Draw where there is a posterior.
func (s *Sampler) drawPredictive(x []float64) int {
	t := s.predictive
	if s.inner != nil {
		t = s.inner.predictive
	}
	c := t.pick(s.rng)
	if s.of(c, x); c >= s.m.K() {
		return -1
	}
	return c
}

// of sets x to a row of component c, of a posterior where there is one, or of the noise where c is -1.
func (s *Sampler) of(c int, x []float64) {
	if s.inner != nil {
		s.inner.of(c, x)
		return
	}
	for _, p := range s.parts {
		p.of(c, p.x)
		for i, j := range p.columns {
			x[j] = p.x[i]
		}
	}
	if s.parts != nil {
		return
	}
	if draw := s.m.kind().Location.Draw; draw != nil {
		draw(x, s.m.locations()[c], s.levels, s.rng)
		return
	}
	switch {
	case s.predictive != nil:
		s.predictive.draw(c, s.y, s.z, s.rng)
	case c < 0:
		s.noise.draw(s.y, s.rng.Float64)
	default:
		s.normal(c)
	}
	y := s.y
	for _, t := range slices.Backward(s.m.Transform) {
		y = t.undo(y)
	}
	copy(x, y)
}

// normal sets y to a row of component c before the transform is undone.
func (s *Sampler) normal(c int) {
	for j := range s.z {
		s.z[j] = s.rng.NormFloat64()
	}
	if s.m.Dof != nil {
		f := stretchOf(s.m.Dof[c], s.rng)
		for j := range s.z {
			s.z[j] *= f
		}
	}
	if s.unique != nil {
		s.factored(c)
	} else {
		g := family.Gaussian{Shape: s.m.Shape}
		g.Colour(s.y, s.z, s.scale[min(c, len(s.scale)-1)])
	}
	for j, mean := range s.m.Means[c] {
		s.y[j] += mean
	}
}

// factored sets y to the deviation of a row from the mean of component c: the loadings times factors, and what is unique, of which z is drawn.
func (s *Sampler) factored(c int) {
	q := s.m.Shape.Factors()
	for j, u := range s.unique[c] {
		s.y[j] = math.Sqrt(u) * s.z[j]
	}
	for f := range q {
		v := s.rng.NormFloat64()
		for j := range s.y {
			s.y[j] += s.m.Loadings[c][j*q+f] * v
		}
	}
}
