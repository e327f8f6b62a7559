package mixture

import "github.com/latent-go/latent/internal/family"

// Curved is the Geometry of a mixture whose family is family.Curved. It implements ascent.Curved: logits are as they are.
type Curved struct{ Geometry }

// Framed implements ascent.Curved.
func (g Curved) Framed(f, q []float64) {
	m := g.Mixture
	copy(f[:m.logits()], q)
	m.Family.(family.Curved).Framed(m.Components(f), m.Components(q), m.Components(g.Theta), m.K, m.D)
}

// PreconditionFramed implements ascent.Curved.
func (g Curved) PreconditionFramed(z, q []float64) { g.precondition(z, q, true) }

// Unframed implements ascent.Curved.
func (g Curved) Unframed(z, w []float64) {
	m := g.Mixture
	copy(z[:m.logits()], w)
	m.Family.(family.Curved).Unframed(m.Components(z), m.Components(w), m.Components(g.Theta), m.K, m.D)
}

// Along implements ascent.Curved.
func (g Curved) Along(theta, w []float64) {
	m := g.Mixture
	for c := range m.logits() {
		theta[c] = g.Theta[c] + w[c]
	}
	m.Family.(family.Curved).Along(m.Components(theta), m.Components(w), m.Components(g.Theta), m.K, m.D)
}

// Between implements ascent.Curved.
func (g Curved) Between(w, theta []float64) bool {
	m := g.Mixture
	for c := range m.logits() {
		w[c] = theta[c] - g.Theta[c]
	}
	return m.Family.(family.Curved).Between(m.Components(w), m.Components(theta), m.Components(g.Theta), m.K, m.D)
}
