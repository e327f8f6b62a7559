package family_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/mixture"
)

func TestGaussianSmoothLaws(t *testing.T) {
	for _, shape := range shapes {
		t.Run(shape.String(), func(t *testing.T) {
			familytest.SmoothLaws(t, func(v []float64) family.Family { return family.Gaussian{Shape: shape, Var: v} })
		})
	}
}

// draw returns a generator of rows of codes from k groups, each with probabilities of its own. The first rows hold every
// level, so that none is without rows.
func draw(levels func(j int) int) familytest.Rows {
	return func(rng *rand.Rand, n, d, k int) (x []float64) {
		weights := make([][]float64, k*d)
		for i := range weights {
			for range levels(i % d) {
				weights[i] = append(weights[i], 0.05+rng.Float64())
			}
		}
		for i := range n {
			c := rng.IntN(k)
			for j := range d {
				code := pick(rng, weights[c*d+j])
				if i < levels(j) {
					code = i
				}
				x = append(x, float64(code))
			}
		}
		return x
	}
}

func pick(rng *rand.Rand, weights []float64) int {
	sum := 0.0
	for _, w := range weights {
		sum += w
	}
	u := sum * rng.Float64()
	for l, w := range weights {
		if u -= w; u < 0 {
			return l
		}
	}
	return len(weights) - 1
}

func two(int) int { return 2 }

// some is 3, 2, 4, 3, ... levels.
func some(j int) int { return []int{3, 2, 4}[j%3] }

func newBernoulli([]float64) family.Family { return family.Bernoulli{} }

func newCategorical(v []float64) family.Family {
	f := family.Categorical{}
	for j := range v {
		f.Levels = append(f.Levels, some(j))
	}
	return f
}

func TestBernoulliLaws(t *testing.T) {
	familytest.LawsOn(t, newBernoulli, draw(two))
	familytest.SmoothLawsOn(t, newBernoulli, draw(two))
}

func TestCategoricalLaws(t *testing.T) {
	familytest.LawsOn(t, newCategorical, draw(some))
	familytest.SmoothLawsOn(t, newCategorical, draw(some))
}

// The gradient of the log-likelihood, from central differences in 60 digits.
func TestGradientAgreesWithExactArithmetic(t *testing.T) {
	var ref struct {
		K, D, N int
		Data    struct{ Rows [][]float64 }
		Points  []struct {
			Name          string
			RowWeights    []float64 `json:"row_weights"`
			Lambda        []float64
			Means         [][]float64
			L             [][][]float64
			LogLikelihood float64 `json:"log_likelihood"`
			Gradient      struct {
				Lambda      []float64
				Means       [][]float64
				LogCholesky [][]float64 `json:"log_cholesky_entries"`
			}
		}
	}
	load(t, "../../testdata/oracle/gradients/gmm-full.json", &ref)
	if len(ref.Points) != 3 || len(ref.Data.Rows) != ref.N {
		t.Fatalf("%d points and %d rows, want 3 and %d", len(ref.Points), len(ref.Data.Rows), ref.N)
	}
	g := family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1}}
	m := &mixture.Mixture{Family: g, K: ref.K, D: ref.D}
	for _, p := range ref.Points {
		theta, want := append([]float64(nil), p.Lambda...), append([]float64(nil), p.Gradient.Lambda...)
		for c := range ref.K {
			theta, want = append(theta, p.Means[c]...), append(want, p.Gradient.Means[c]...)
		}
		for c := range ref.K {
			for j := range ref.D {
				theta = append(append(theta, p.L[c][j][:j]...), math.Log(p.L[c][j][j]))
			}
			want = append(want, p.Gradient.LogCholesky[c]...)
		}
		s := familytest.Sweep(m, theta, 1, flatten(ref.Data.Rows), p.RowWeights)
		if !(math.Abs(s.LogLik-p.LogLikelihood) <= 1e-12*math.Abs(p.LogLikelihood)) {
			t.Errorf("%s: log-likelihood %v, want %v", p.Name, s.LogLik, p.LogLikelihood)
		}
		got, largest := make([]float64, m.Params()), 0.0
		m.Grad(got, theta, s)
		for _, v := range want {
			largest = max(largest, math.Abs(v))
		}
		for i, v := range want {
			if !(math.Abs(got[i]-v) <= 1e-10*largest) {
				t.Errorf("%s: entry %d of the gradient is %v, want %v", p.Name, i, got[i], v)
			}
		}
	}
}
