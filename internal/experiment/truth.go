package experiment

import (
	"math"
	"math/bits"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
)

// Truth is the mixture that rows were drawn from, or the moments of known groups. A model is measured against it.
type Truth struct {
	Weights     []float64   // k
	Means       [][]float64 // k x d
	Covariances [][]float64 // k of d x d, row-major
	inverse     [][]float64 // k packed inverse Cholesky factors: whitening
}

// newTruth prepares a truth for measuring; the covariances must be positive definite.
func newTruth(weights []float64, means, covariances [][]float64) *Truth {
	t := &Truth{Weights: weights, Means: means, Covariances: covariances}
	for _, cov := range covariances {
		t.inverse = append(t.inverse, whitening(cov, len(means[0])))
	}
	return t
}

// moments returns the truth of labelled rows: the share, mean and covariance (divisor: the number of rows) of each group.
func moments(rows *data.Table, label []int, k int) *Truth {
	d := rows.D
	n := make([]float64, k)
	mean, cov := make([][]float64, k), make([][]float64, k)
	for c := range k {
		mean[c], cov[c] = make([]float64, d), make([]float64, d*d)
	}
	for i, c := range label {
		n[c]++
		for j := range d {
			mean[c][j] += rows.At(i, j)
		}
	}
	for c := range k {
		for j := range d {
			mean[c][j] /= n[c]
		}
	}
	for i, c := range label {
		for j := range d {
			for l := range d {
				cov[c][j*d+l] += (rows.At(i, j) - mean[c][j]) * (rows.At(i, l) - mean[c][l]) / n[c]
			}
		}
	}
	for c := range k {
		n[c] /= float64(len(label))
	}
	return newTruth(n, mean, cov)
}

// whitening returns L^-1 of the covariance L L^T, lower triangular, d x d.
func whitening(cov []float64, d int) []float64 {
	l, inv := make([]float64, d*d), make([]float64, d*d)
	for i := range d {
		for j := range i + 1 {
			v := cov[i*d+j]
			for m := range j {
				v -= l[i*d+m] * l[j*d+m]
			}
			if i == j {
				l[i*d+i] = math.Sqrt(v)
			} else {
				l[i*d+j] = v / l[j*d+j]
			}
		}
	}
	for j := range d {
		inv[j*d+j] = 1 / l[j*d+j]
		for i := j + 1; i < d; i++ {
			v := 0.0
			for m := j; m < i; m++ {
				v -= l[i*d+m] * inv[m*d+j]
			}
			inv[i*d+j] = v / l[i*d+i]
		}
	}
	return inv
}

// away returns how far x is from the mean of true component c, in its standard deviations (Mahalanobis' distance).
func (t *Truth) away(c int, x []float64) float64 {
	d, sum := len(x), 0.0
	for i := range d {
		v := 0.0
		for j := range i + 1 {
			v += t.inverse[c][i*d+j] * (x[j] - t.Means[c][j])
		}
		sum += v * v
	}
	return math.Sqrt(sum)
}

// apart measures component e of a model against true component c: the mean of the relative error of the weight, the
// distance of the means in standard deviations of c, and the relative error of the covariance (Frobenius' norm).
func (t *Truth) apart(c int, m *model.Model, e int) float64 {
	diff, norm := 0.0, 0.0
	for i, v := range t.Covariances[c] {
		diff += (covariance(m, e)[i] - v) * (covariance(m, e)[i] - v)
		norm += v * v
	}
	return (math.Abs(m.Weights[e]-t.Weights[c])/t.Weights[c] + t.away(c, m.Means[e]) + math.Sqrt(diff/norm)) / 3
}

// covariance returns the covariance of a component with full or shared full covariances, d x d.
func covariance(m *model.Model, e int) []float64 {
	if m.Shape == family.Tied {
		e = 0
	}
	return m.Covariance[e]
}

// ErrorFormula says in words what Error returns.
const ErrorFormula = "(1/3k) Σ over the k true components of |w − w*| / w* + √((m − m*)ᵀ S*⁻¹ (m − m*)) + ‖S − S*‖ / ‖S*‖, w weight, m mean, S covariance, * the truth, ‖·‖ Frobenius' norm, " +
	"components matched so that the sum is least. Every component counts the same, however small. 0 is the truth itself"

// Error returns the parameter error of a model with as many components, and which of them stands for each true one. The
// matching is the best of all, found by dynamic programming over sets of components: 2^k k steps, for small k.
func (t *Truth) Error(m *model.Model) (err float64, match []int) {
	k := len(t.Weights)
	best := make([]float64, 1<<k) // best[s]: the least sum that matches the first |s| true components with the set s
	from := make([]int, 1<<k)
	for s := 1; s < 1<<k; s++ {
		c := bits.OnesCount(uint(s)) - 1
		best[s] = math.Inf(1)
		for e := range k {
			if s>>e&1 == 0 {
				continue
			}
			if v := best[s&^(1<<e)] + t.apart(c, m, e); v < best[s] || e == bits.TrailingZeros(uint(s)) {
				best[s], from[s] = v, e
			}
		}
	}
	match = make([]int, k)
	for s, c := 1<<k-1, k-1; c >= 0; c-- {
		match[c] = from[s]
		s &^= 1 << from[s]
	}
	return best[1<<k-1] / float64(k), match
}

// Smallest returns the true component of the least weight.
func (t *Truth) Smallest() int {
	at := 0
	for c, w := range t.Weights {
		if w < t.Weights[at] {
			at = c
		}
	}
	return at
}

// FoundRule says in words what Found reports.
const FoundRule = "some component has its mean within one standard deviation of the true mean of the smallest cluster (Mahalanobis' distance by the true covariance), and between half and twice its true weight"

// Found reports whether a model has found the smallest true component: some component has its mean within one standard
// deviation of the true one's, and between half and twice its weight.
func (t *Truth) Found(m *model.Model) bool {
	c := t.Smallest()
	for e, w := range m.Weights {
		if t.away(c, m.Means[e]) <= 1 && w >= t.Weights[c]/2 && w <= 2*t.Weights[c] {
			return true
		}
	}
	return false
}
