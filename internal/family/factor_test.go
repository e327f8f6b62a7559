package family_test

import (
	"context"
	"encoding/json"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// factored is a family with factors on k components of d columns, and random parameters.
type factored struct {
	family.Factored
	k, d  int
	theta []float64
}

func randomFactored(shape family.Shape, r *rand.Rand) factored {
	f := factored{family.Gaussian{Shape: shape, Var: []float64{4, 0.25, 1e4}}, 2, 3, nil}
	f.theta = make([]float64, f.Params(f.k, f.d))
	for i := range f.theta {
		f.theta[i] = r.NormFloat64()
	}
	return f
}

func (f factored) factors(theta []float64) []float64 {
	l := make([]float64, len(theta))
	f.Factor(l, theta, f.k, f.d)
	return l
}

func (f factored) free(l []float64) []float64 {
	theta := make([]float64, len(l))
	f.Unfactor(theta, l, f.k, f.d)
	return theta
}

func TestFactorsTurnBackIntoParameters(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 0))
	for _, shape := range shapes {
		f := randomFactored(shape, r)
		got := f.free(f.factors(f.theta))
		for i, v := range got {
			if math.Abs(v-f.theta[i]) > 1e-13 {
				t.Errorf("%s: parameter %d is %v, was %v", shape, i, v, f.theta[i])
			}
		}
		same := slices.Clone(f.theta)
		f.Factor(same, same, f.k, f.d)
		f.Unfactor(same, same, f.k, f.d)
		if !slices.Equal(same, got) {
			t.Errorf("%s: other numbers in place", shape)
		}
	}
}

// Sigma_ij = sd_i (L L^T)_ij sd_j for the L found in l, and the means are in units of the columns.
func TestFactorsAreThoseOfTheCovariance(t *testing.T) {
	const d = 3
	g := family.Gaussian{Shape: family.Full, Var: []float64{4, 0.25, 1e4}}
	sigma := []float64{5, 0.3, 0.2, -40, 3, 9000} // packed
	theta := make([]float64, g.Params(1, d))
	copy(theta, []float64{3, 1, -50})
	g.ToScale(theta[d:], slices.Clone(sigma), 1, d)
	l := make([]float64, len(theta))
	g.Factor(l, theta, 1, d)
	for j, want := range []float64{1.5, 2, -0.5} {
		if math.Abs(l[j]-want) > 1e-15 {
			t.Errorf("mean %d is %v, want %v", j, l[j], want)
		}
	}
	at := func(i, j int) float64 {
		if j > i {
			return 0
		}
		return l[d+i*(i+1)/2+j]
	}
	for i := range d {
		for j := range i + 1 {
			got := 0.0
			for m := range d {
				got += at(i, m) * at(j, m) * math.Sqrt(g.Var[i]*g.Var[j])
			}
			if want := sigma[i*(i+1)/2+j]; math.Abs(got-want) > 1e-12*math.Abs(want) {
				t.Errorf("covariance %d %d is %v, want %v", i, j, got, want)
			}
		}
	}
}

func TestSignOfAColumnDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 0))
	for _, shape := range shapes {
		f := randomFactored(shape, r)
		l := f.factors(f.theta)
		scales := l[f.k*f.d:]
		if shape == family.Full || shape == family.Tied { // the second column: entries (2,2) and (3,2)
			scales[2], scales[4] = -scales[2], -scales[4]
		} else {
			scales[0] = -scales[0]
		}
		for i, v := range f.free(l) {
			if math.Abs(v-f.theta[i]) > 1e-13 {
				t.Errorf("%s: parameter %d is %v, was %v", shape, i, v, f.theta[i])
			}
		}
	}
}

func TestZeroOnTheDiagonalEndsAtTheFloor(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 0))
	for _, shape := range shapes {
		f := randomFactored(shape, r)
		l := f.factors(f.theta)
		l[f.k*f.d] = 0
		theta := f.free(l)
		f.Project(theta, f.k, f.d)
		for i, v := range theta {
			if v != v || math.IsInf(v, 0) {
				t.Errorf("%s: parameter %d is %v", shape, i, v)
			}
		}
		if !f.AtFloor(theta, f.k, f.d)[0] {
			t.Errorf("%s: the first component is not at the floor", shape)
		}
	}
}

// The gradient in l of any function: here of a sum of squares, by central differences.
func TestFactorGradIsTheChainRule(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 0))
	for _, shape := range shapes {
		f := randomFactored(shape, r)
		height := func(l []float64) (sum float64) {
			for i, v := range f.free(l) {
				sum += float64(i+1) * v * v / 2
			}
			return sum
		}
		g := make([]float64, len(f.theta))
		for i, v := range f.theta {
			g[i] = float64(i+1) * v
		}
		gl, l := make([]float64, len(g)), f.factors(f.theta)
		f.FactorGrad(gl, g, f.theta, f.k, f.d)
		for i := range l {
			h, at := 1e-5*math.Abs(l[i]), l[i]
			l[i] = at + h
			up := height(l)
			l[i] = at - h
			down := height(l)
			l[i] = at
			if want := (up - down) / (2 * h); math.Abs(gl[i]-want) > 1e-6*(1+math.Abs(want)) {
				t.Errorf("%s: derivative %d is %v, by differences %v", shape, i, gl[i], want)
			}
		}
	}
}

// The paper's gradients: softmax weights, means and L, to 60 digits.
func TestGradientInFactorsMatchesTheOracle(t *testing.T) {
	const name = "../../testdata/oracle/gradients/gmm-full.json"
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	type entries struct {
		Lambda []float64   `json:"lambda"`
		Means  [][]float64 `json:"means"`
		L      [][]float64 `json:"L_lower_entries"`
	}
	var file struct {
		K, D, N int
		Data    struct{ Rows [][]float64 }
		Points  []struct {
			Name string
			W    []float64 `json:"row_weights"`
			entries
			LogLik   float64 `json:"log_likelihood"`
			Gradient entries
		}
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	flat := func(e entries) []float64 {
		return slices.Concat(e.Lambda, slices.Concat(e.Means...), slices.Concat(e.L...))
	}
	m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1}}, K: file.K, D: file.D}
	chart := m.Chart()
	for _, p := range file.Points {
		src := &data.Table{N: file.N, D: file.D, F64: slices.Concat(file.Data.Rows...), W: p.W}
		theta := make([]float64, m.Params())
		chart.From(theta, flat(p.entries))
		stats, err := sweep.NewLocal(src, int64(file.N), make([]float64, file.D), 1).Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}})
		if err != nil {
			t.Fatal(err)
		}
		if got := stats[0].LogLik; math.Abs(got-p.LogLik) > 1e-12*math.Abs(p.LogLik) {
			t.Errorf("%s: log-likelihood %v, want %v", p.Name, got, p.LogLik)
		}
		g := make([]float64, len(theta))
		m.Grad(g, theta, stats[0])
		chart.Grad(g, g, theta)
		want := flat(p.Gradient)
		top := 0.0
		for _, v := range want {
			top = max(top, math.Abs(v))
		}
		for i, v := range g {
			if math.Abs(v-want[i]) > 1e-10*top {
				t.Errorf("%s: derivative %d is %v, want %v", p.Name, i, v, want[i])
			}
		}
	}
}
