package mixture

import "github.com/latent-go/latent/internal/family"

// Chart writes the parameters of a mixture in other coordinates: logits and means as they are, covariances by their
// factors. For a family that is not family.Factored it changes nothing. It implements ascent.Chart.
type Chart struct {
	mixture *Mixture
	family  family.Factored // nil where nothing changes
}

// Chart returns the coordinates in which BFGS and conjugate gradients are run.
func (m *Mixture) Chart() Chart {
	f, _ := m.Family.(family.Factored)
	return Chart{m, f}
}

// To sets l to the coordinates of theta.
func (c Chart) To(l, theta []float64) {
	copy(l, theta)
	if c.family != nil {
		c.family.Factor(c.mixture.Components(l), c.mixture.Components(theta), c.mixture.K, c.mixture.D)
	}
}

// From sets theta to the parameters with coordinates l. Any l is valid.
func (c Chart) From(theta, l []float64) {
	copy(theta, l)
	if c.family != nil {
		c.family.Unfactor(c.mixture.Components(theta), c.mixture.Components(l), c.mixture.K, c.mixture.D)
	}
}

// Grad sets gl to the gradient in the coordinates from g, the gradient at theta.
func (c Chart) Grad(gl, g, theta []float64) {
	copy(gl, g)
	if c.family != nil {
		c.family.FactorGrad(c.mixture.Components(gl), c.mixture.Components(g), c.mixture.Components(theta), c.mixture.K, c.mixture.D)
	}
}
