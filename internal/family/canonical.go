package family

import "math"

// canonical is what families of independent columns have in common where a component has one natural parameter t a column: a cell has
// density h(x) exp(x t - A(t)), of which mean is the first derivative of A and variance the second. theta is k x d, and sums are those of the cells.
type canonical struct{ mean, variance func(t float64) float64 }

// grad sets g to the sums of the cells less what is expected.
func (f canonical) grad(g, theta []float64, s *Stats) {
	for i, t := range theta {
		g[i] = s.Sum[i] - s.N[i/s.D]*f.mean(t)
	}
}

// precondition implements Smooth: the information of t is the variance of a cell for each row.
func (f canonical) precondition(z, q, theta []float64, s *Stats) {
	for i, t := range theta {
		z[i] = q[i] / (s.Support(i/s.D) * f.variance(t))
	}
}

// squaredLength implements Smooth.
func (f canonical) squaredLength(z, theta []float64, s *Stats) float64 {
	sum := 0.0
	for i, t := range theta {
		sum += s.Support(i/s.D) * f.variance(t) * z[i] * z[i]
	}
	return sum
}

// apart implements Smooth.
func (f canonical) apart(theta []float64, a, b, d int) float64 {
	sum := 0.0
	for j := range d {
		t := theta[b*d+j] - theta[a*d+j]
		sum += f.variance(theta[a*d+j]) * t * t
	}
	return math.Sqrt(sum)
}
