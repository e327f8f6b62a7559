package family

// Constrained is a normal family of K components on D variables whose covariances are tied to each other, or to few factors: Parsimonious and Factors.
// Each covariance by itself is one of Plain.
type Constrained interface {
	Incomplete
	// Plain returns the family of the same covariances without the constraint.
	Plain() Gaussian
	// Expand sets plain, of Plain().Params(k, d) numbers, to the parameters of Plain that are the same mixture as theta.
	Expand(plain, theta []float64, k, d int)
	// Restrict sets theta to the parameters that are nearest to those of Plain, plain, with each component counted by its weight. It keeps none of
	// the slices.
	Restrict(theta, plain, weight []float64, k, d int)
}

// expanded returns what Expand sets.
func expanded(g Constrained, theta []float64, k, d int) []float64 {
	plain := make([]float64, g.Plain().Params(k, d))
	g.Expand(plain, theta, k, d)
	return plain
}
