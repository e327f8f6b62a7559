package mixture_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
)

func mixtures() (all []*mixture.Mixture) {
	unit := []float64{1, 1, 1}
	var families []family.Family
	for _, name := range kind.Names() {
		if k := kind.Of(name); k.Mixture && !k.Shaped {
			families = append(families, k.Family(kind.Variables{Levels: []int{3, 2, 4}}))
		}
	}
	for s := family.Full; s <= family.TiedSpherical; s++ {
		families = append(families, family.Gaussian{Shape: s, Var: unit})
	}
	for _, f := range families {
		for _, uniform := range []bool{false, true} {
			all = append(all, &mixture.Mixture{Family: f, K: 3, D: 3, Uniform: uniform})
		}
	}
	return all
}

// rows returns a panel of n rows that suit any family: 0 and 1, and for Gaussians something off them.
func rows(m *mixture.Mixture, n int, rng *rand.Rand) *family.Panel {
	p := &family.Panel{N: n, D: m.D, X: make([]float64, m.D*kern.Rows), W: make([]float64, kern.Rows)}
	_, gaussian := m.Family.(family.Gaussian)
	for i := range n {
		p.W[i] = 1 + float64(i%3)
		for j := range m.D {
			v := float64(rng.IntN(2))
			if gaussian {
				v += rng.NormFloat64()
			}
			p.X[j*kern.Rows+i] = v
		}
	}
	return p
}

func TestRowGradientsAreDifferencesOfTheLogDensity(t *testing.T) {
	const h = 1e-3
	rng := rand.New(rand.NewPCG(21, 0))
	for _, m := range mixtures() {
		theta, sc := make([]float64, m.Params()), mixture.NewScratch(m.K, m.D)
		for i := range theta {
			theta[i] = rng.NormFloat64() / 2
		}
		p := rows(m, 29, rng)
		bound := m.Bind(theta, 1)
		if !bound.HasRowGrad() {
			t.Fatalf("%s has no gradients of rows", m.Family.Name())
		}
		got := make([]float64, len(theta)*kern.Rows)
		m.RowGrad(got, bound, p, sc)
		at := func(j int, h float64) []float64 {
			other := slices.Clone(theta)
			other[j] += h
			return slices.Clone(m.Bind(other, 1).Posterior(p, sc).Score)
		}
		for j := range theta {
			near, nearer, far, farther := at(j, h), at(j, -h), at(j, 2*h), at(j, -2*h)
			for i := range p.N {
				want := (8*(near[i]-nearer[i]) - (far[i] - farther[i])) / (12 * h)
				if g := got[j*kern.Rows+i]; !(math.Abs(g-want) <= 1e-7*(1+math.Abs(want))) {
					t.Fatalf("%s, uniform %v: derivative %d of row %d is %v, differences say %v", m.Family.Name(), m.Uniform, j, i, g, want)
				}
			}
		}
	}
}

func TestCostsHaveNoRowGradients(t *testing.T) {
	m := &mixture.Mixture{Family: family.KMeans{}, K: 2, D: 1}
	if m.Bind([]float64{0, 1}, 1).HasRowGrad() {
		t.Error("k-means has gradients of a log density")
	}
}

func TestIdentifiedParametersHaveNoGauge(t *testing.T) {
	gmm := &mixture.Mixture{Family: family.Gaussian{Shape: family.Spherical, Var: []float64{1}}, K: 2, D: 1}
	uniform := &mixture.Mixture{Family: gmm.Family, K: 2, D: 1, Uniform: true}
	codes := &mixture.Mixture{Family: family.Categorical{Levels: []int{2, 1, 3}}, K: 2, D: 3}
	none := []bool(nil)
	for _, c := range []struct {
		name  string
		m     *mixture.Mixture
		theta []float64
		held  []bool
		want  []int
	}{
		{"the largest logit of the weights", gmm, []float64{0, 1, 5, 6, 0, 0}, none, []int{0, 2, 3, 4, 5}},
		{"and what is held", gmm, []float64{2, 1, 5, 6, 0, 0}, []bool{false, false, false, false, true, false}, []int{1, 2, 3, 5}},
		{"no logits", uniform, []float64{5, 6, 0, 0}, none, []int{0, 1, 2, 3}},
		{"one of each column", codes, []float64{1, 0, 5, 6, 0, 1, 3, 2, 4, 4, 0, 0, 0, 0}, none, []int{1, 2, 5, 7, 9, 12, 13}},
		{
			"the largest of those not held", codes, []float64{1, 0, 5, 6, 0, 1, 3, 2, 4, 4, 0, 0, 9, 0},
			[]bool{12: true, 5: true, 6: true, 7: true, 13: false}, []int{1, 2, 9, 13},
		},
	} {
		if got := c.m.Identified(c.theta, c.held); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func symmetric(n int, v ...float64) *mat.SymDense { return mat.NewSymDense(n, v) }

func TestStandardErrorsOfTwoParametersByHand(t *testing.T) {
	// The inverse of (4 2; 2 3) is (3 -2; -2 4) / 8.
	u, err := mixture.Invert(symmetric(2, 4, 2, 2, 3), []int{3, 5})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		from int
		grad []float64
		want float64
	}{
		{3, []float64{1}, 3. / 8},
		{5, []float64{-2}, 4 * 4. / 8},
		{3, []float64{1, 7, 1}, (3 - 2*2 + 4) / 8.}, // parameter 4 was left out
		{2, []float64{9, 2, 0, 1}, (4*3 - 2*2*2 + 4) / 8.},
	} {
		if got := u.StandardError(c.from, c.grad); !(math.Abs(got-math.Sqrt(c.want)) <= 1e-14) {
			t.Errorf("from %d, gradient %v: %v, want %v", c.from, c.grad, got, math.Sqrt(c.want))
		}
	}
	if got := u.StandardError(4, []float64{1}); got == got {
		t.Errorf("a parameter that was left out has standard error %v", got)
	}
}

func TestUnitsOfParametersDoNotMatterToTheInverse(t *testing.T) {
	const tiny, huge = 1e-120, 1e120
	u, err := mixture.Invert(symmetric(2, 4*tiny*tiny, 2, 2, 3*huge*huge), []int{0, 1})
	if err != nil {
		t.Fatal(err)
	}
	for j, want := range []float64{math.Sqrt(3./8) / tiny, math.Sqrt(4./8) / huge} {
		if got := u.StandardError(j, []float64{1}); !(math.Abs(got-want) <= 1e-12*want) {
			t.Errorf("parameter %d: %v, want %v", j, got, want)
		}
	}
}

func TestInformationThatIsSingularIsAnError(t *testing.T) {
	for name, info := range map[string]*mat.SymDense{
		"a parameter no row speaks of": symmetric(2, 1, 0, 0, 0),
		"rank 1":                       symmetric(2, 1, 2, 2, 4),
		"rank 1 but for rounding":      symmetric(2, 1, 1, 1, 1+4e-16),
		"indefinite":                   symmetric(2, 1, 2, 2, 1),
		"overflow":                     symmetric(1, math.Inf(1)),
		"not a number":                 symmetric(2, 1, math.NaN(), math.NaN(), 1),
	} {
		if _, err := mixture.Invert(info, []int{0, 1}[:info.SymmetricDim()]); !errors.Is(err, mixture.ErrSingular) {
			t.Errorf("%s: error %v", name, err)
		}
	}
}

// The information of n draws from k classes is n (diag pi - pi pi') in the logits. Whatever logit is held, the standard
// error of a share is sqrt(pi (1 - pi) / n), of the class of the held one too.
func TestSharesOfClassesHaveBinomialErrors(t *testing.T) {
	const n = 250
	pi := []float64{0.2, 0.5, 0.3}
	m := &mixture.Mixture{Family: family.Bernoulli{}, K: 3, D: 1}
	for _, top := range []int{0, 1, 2} {
		theta, held := make([]float64, 6), []bool{3: true, 4: true, 5: true}
		theta[top] = 1 // only decides which logit is held
		keep := m.Identified(theta, held)
		info := mat.NewSymDense(2, nil)
		for a, c := range keep {
			for b, e := range keep[:a+1] {
				v := -n * pi[c] * pi[e]
				if a == b {
					v += n * pi[c]
				}
				info.SetSym(a, b, v)
			}
		}
		u, err := mixture.Invert(info, keep)
		if err != nil {
			t.Fatal(err)
		}
		for c, p := range pi {
			grad := []float64{-p * pi[0], -p * pi[1], -p * pi[2]}
			grad[c] += p
			if got, want := u.StandardError(0, grad), math.Sqrt(p*(1-p)/n); !(math.Abs(got-want) <= 1e-13) {
				t.Errorf("logit %d held: class %d has standard error %v, want %v", top, c, got, want)
			}
		}
	}
}
