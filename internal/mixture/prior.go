package mixture

import (
	"math"

	"github.com/latent-go/latent/internal/family"
)

// Prior is a conjugate prior of a mixture: pseudo-rows in the sums of its M-step. What is climbed with it is the log posterior, the free
// energy plus LogPrior.
type Prior struct {
	// Weights are the pseudo-rows that each component counts more for its mixing weight, alpha - 1 of a symmetric Dirichlet prior: 0 or more.
	// With Chain they are those of the states of first rows.
	Weights float64
	// Transitions are the pseudo-moves that each transition counts more, as Weights are pseudo-rows; with Chain only.
	Transitions float64
	// Components is the prior of the family's parameters; nil where that is flat.
	Components family.Prior
}

// part returns the prior of one part of the columns, without mixing weights; nil where it has none.
func (p *Prior) part(i int) *Prior {
	if p == nil || p.Components == nil {
		return nil
	}
	own := p.Components
	if all, ok := own.(family.PartPriors); ok {
		own = all[i]
	}
	if own == nil {
		return nil
	}
	return &Prior{Components: own}
}

// LogPrior returns the log prior density of theta in nats, without constants; 0 where there is no prior.
func (m *Mixture) LogPrior(theta []float64) float64 {
	if m.Prior == nil {
		return 0
	}
	sum := 0.0
	if m.Chain {
		sum += m.chain().Expected(theta[:m.logits()], nil, m.pseudoMoves())
	} else if m.Prior.Weights > 0 && m.logits() > 0 {
		for _, lw := range m.LogWeights(nil, theta) {
			sum += m.Prior.Weights * lw
		}
	}
	if m.Prior.Components != nil {
		sum += m.Prior.Components.LogDensity(m.Family.(family.Smooth), m.Components(theta), m.K, m.D)
	}
	return sum
}

// priorMStep is MStep under the prior.
func (m *Mixture) priorMStep(next, theta []float64, s *family.Stats) {
	if m.Prior.Components != nil {
		m.Prior.Components.MStep(m.Family.(family.Smooth), m.Components(next), m.Components(theta), s)
	} else {
		m.Family.MStep(m.Components(next), m.Components(theta), s)
	}
	m.shareOut(next, theta, s, m.Prior.Weights)
}

// AddPriorGrad adds to g the gradient of LogPrior at theta. The family must be smooth.
func (m *Mixture) AddPriorGrad(g, theta []float64) {
	if m.Chain {
		own := make([]float64, m.logits())
		m.chain().Grad(own, theta[:m.logits()], m.pseudoMoves())
		for i, v := range own {
			g[i] += v
		}
	} else if more := m.Prior.Weights; more > 0 && m.logits() > 0 {
		for c, lw := range m.LogWeights(nil, theta) {
			g[c] += more * (1 - float64(m.K)*math.Exp(lw))
		}
		if m.Noise != nil { // it has no pseudo-rows
			g[m.K] -= more * float64(m.K) * math.Exp(m.LogNoise(theta))
		}
	}
	if m.Prior.Components != nil {
		m.Prior.Components.AddGrad(m.Family.(family.Smooth), m.Components(g), m.Components(theta), m.K, m.D)
	}
}

// support returns what share c, a component's or the noise's, counts for in the information of the mixing weights.
func (g Geometry) support(c int) float64 {
	n := g.Mixture.support(g.Stats, c)
	if p := g.Mixture.Prior; p != nil && c < g.Mixture.K {
		n += p.Weights
	}
	return n
}

// preconditionComponents is Precondition of the components' part of z and q, with the information of the pseudo-rows, in the frame of the
// family where framed is set.
func (g Geometry) preconditionComponents(z, q []float64, framed bool) {
	m, f := g.Mixture, g.Mixture.Family.(family.Smooth)
	z, q, theta := m.Components(z), m.Components(q), m.Components(g.Theta)
	switch {
	case m.Prior != nil && m.Prior.Components != nil:
		m.Prior.Components.Precondition(f, z, q, theta, g.Stats, framed)
	case framed:
		f.(family.Curved).PreconditionFramed(z, q, theta, g.Stats)
	default:
		f.Precondition(z, q, theta, g.Stats)
	}
}

// multiplyComponents is Multiply of the components' part of q and z.
func (g Geometry) multiplyComponents(q, z []float64) {
	m, f := g.Mixture, g.Mixture.Family.(family.Smooth)
	q, z, theta := m.Components(q), m.Components(z), m.Components(g.Theta)
	if m.Prior != nil && m.Prior.Components != nil {
		m.Prior.Components.Multiply(f, q, z, theta, g.Stats)
		return
	}
	f.Multiply(q, z, theta, g.Stats)
}

// squaredLength returns the square of Length of the components' part of z.
func (g Geometry) squaredLength(z []float64) float64 {
	m, f := g.Mixture, g.Mixture.Family.(family.Smooth)
	if m.Prior != nil && m.Prior.Components != nil {
		return m.Prior.Components.SquaredLength(f, m.Components(z), m.Components(g.Theta), g.Stats)
	}
	return f.SquaredLength(m.Components(z), m.Components(g.Theta), g.Stats)
}
