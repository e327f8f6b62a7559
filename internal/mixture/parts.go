package mixture

import (
	"math"

	"github.com/latent-go/latent/internal/family"
)

// A Part is the mixture of some of the columns, without weights of its own.
type Part struct {
	*Mixture
	Columns  []int
	From, To int // its parameters among those of the components
}

// Parts returns the parts of a mixture of columns of several kinds; of another one part, which is all of it but for the weights.
func (m *Mixture) Parts() (parts []Part) {
	own := func(f family.Family, columns []int) *Mixture {
		return &Mixture{Family: f, K: m.K, D: len(columns), Uniform: true, Prior: m.Prior.part(len(parts))}
	}
	if mixed, ok := m.Family.(family.Mixed); ok {
		mixed.Each(m.K, func(p *family.Part, from, to int) {
			parts = append(parts, Part{own(p.Family, p.Columns), p.Columns, from, to})
		})
		return parts
	}
	all := make([]int, m.D)
	for j := range all {
		all[j] = j
	}
	return []Part{{own(m.Family, all), all, 0, m.Family.Params(m.K, m.D)}}
}

// Numbers returns the part whose components have covariances; ok is false where there is none.
func (m *Mixture) Numbers() (p Part, ok bool) {
	for _, p := range m.Parts() {
		if _, _, gaussian := p.Start(); gaussian {
			return p, true
		}
	}
	return p, false
}

// Join returns the parameters of a mixture of parts with the parameters of, in their order, and mixing weights in proportion to weight.
func (m *Mixture) Join(weight []float64, of [][]float64) []float64 {
	theta, total := make([]float64, m.logits(), m.Params()), 0.0
	for _, w := range weight {
		total += w
	}
	for c := range min(len(theta), m.K) { // the noise has no rows yet: see SetNoise
		theta[c] = max(math.Log(weight[c]/total), MinLogWeight)
	}
	for _, own := range of {
		theta = append(theta, own...)
	}
	return theta
}
