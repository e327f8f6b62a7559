package family

import "math"

// canonical is what families of independent columns have in common where a component has one natural parameter t a column: a cell has
// density h(x) exp(x t - A(t)), of which mean is the first derivative of A and variance the second. theta is k x d. cells returns, for
// each parameter, the sum of the cells and the weight of the rows that have one.
type canonical struct{ mean, variance func(t float64) float64 }

// cells are the sums of the cells of each of k x d parameters, and the weights of the rows that have one.
type cells struct{ sum, weight []float64 }

// completeCells returns the cells of sums s in which no row lacks one.
func completeCells(s *Stats) cells {
	weight := make([]float64, s.K*s.D)
	for i := range weight {
		weight[i] = s.N[i/s.D]
	}
	return cells{s.Sum[:s.K*s.D], weight}
}

// grad sets g to the sums of the cells less what is expected.
func (f canonical) grad(g, theta []float64, x cells) {
	for i, t := range theta {
		g[i] = x.sum[i] - x.weight[i]*f.mean(t)
	}
}

// precondition implements Smooth: the information of t is the variance of a cell for each row.
func (f canonical) precondition(z, q, theta []float64, x cells, s *Stats) {
	for i, t := range theta {
		z[i] = q[i] / (s.support(x.weight[i]) * f.variance(t))
	}
}

// multiply implements Smooth.
func (f canonical) multiply(q, z, theta []float64, x cells, s *Stats) {
	for i, t := range theta {
		q[i] = s.support(x.weight[i]) * f.variance(t) * z[i]
	}
}

// squaredLength implements Smooth.
func (f canonical) squaredLength(z, theta []float64, x cells, s *Stats) float64 {
	sum := 0.0
	for i, t := range theta {
		sum += s.support(x.weight[i]) * f.variance(t) * z[i] * z[i]
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
