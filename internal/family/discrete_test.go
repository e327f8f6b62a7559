package family_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

func load(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func flatten(rows [][]float64) (x []float64) {
	for _, row := range rows {
		x = append(x, row...)
	}
	return x
}

// latentClasses are the parameters of a mixture of bits.
type latentClasses struct {
	Weights       []float64
	Probabilities [][]float64
}

// bitReference is a file of testdata/oracle/bernoulli; its README says what the keys mean.
type bitReference struct {
	Data struct {
		Columns []string
		Rows    [][]float64
	}
	RowWeights []float64 `json:"row_weights"`
	Cases      []struct {
		Name    string
		K       int
		Weights string
		Free    int `json:"free_parameters"`
		Start   latentClasses
		LogLik  []float64 `json:"log_likelihood"`
		After   []struct {
			Steps int
			latentClasses
		}
	}
	Fits []struct {
		K       int
		Weights string
		LogLik  float64 `json:"log_likelihood"`
		Free    int     `json:"free_parameters"`
	}
}

// carcinoma returns the patterns of the file with their counts: the 118 rows of carcinoma.json, in another order.
func carcinoma(t *testing.T) (rows [][]float64, counts []float64) {
	var patterns bitReference
	load(t, "../../testdata/oracle/bernoulli/carcinoma-patterns.json", &patterns)
	return patterns.Data.Rows, patterns.RowWeights
}

// bits returns the mixture and its parameters for weights "learned" or "uniform".
func bits(weights string, from latentClasses) (*mixture.Mixture, []float64) {
	m := &mixture.Mixture{Family: family.Bernoulli{}, K: len(from.Weights), D: len(from.Probabilities[0]), Uniform: weights == "uniform"}
	theta := make([]float64, m.Params())
	if !m.Uniform {
		for c, w := range from.Weights {
			theta[c] = math.Log(w)
		}
	}
	family.Bernoulli{}.FromNatural(m.Components(theta), flatten(from.Probabilities), 0)
	return m, theta
}

func TestStepsOfBernoulliMixturesAgreeWithExactArithmetic(t *testing.T) {
	const tol = 1e-9
	cases := 0
	for _, name := range []string{"carcinoma", "carcinoma-patterns", "generated"} {
		var ref bitReference
		load(t, "../../testdata/oracle/bernoulli/"+name+".json", &ref)
		if len(ref.Data.Rows) == 0 {
			rows, counts := carcinoma(t)
			for i, n := range counts {
				ref.Data.Rows = append(ref.Data.Rows, slices.Repeat(rows[i:i+1], int(n))...)
			}
		}
		x := flatten(ref.Data.Rows)
		for _, c := range ref.Cases {
			m, theta := bits(c.Weights, c.Start)
			if m.Free() != c.Free {
				t.Errorf("%s, %s: %d free parameters, want %d", name, c.Name, m.Free(), c.Free)
			}
			compared := 0
			for step, want := range c.LogLik {
				s := familytest.Sweep(m, theta, 1, x, ref.RowWeights)
				if !(math.Abs(s.LogLik-want) <= tol*math.Abs(want)) {
					t.Errorf("%s, %s: log-likelihood %v after %d steps, want %v", name, c.Name, s.LogLik, step, want)
				}
				for _, a := range c.After {
					if a.Steps == step {
						compared++
						near(t, fmt.Sprintf("%s, %s, step %d", name, c.Name, step), m, theta, a.latentClasses, tol)
					}
				}
				m.MStep(theta, theta, s)
			}
			if compared != 4 || len(c.LogLik) != 26 {
				t.Errorf("%s, %s: parameters compared after %d steps, log-likelihoods after %d", name, c.Name, compared, len(c.LogLik))
			}
			cases++
		}
	}
	if cases != 14 {
		t.Errorf("%d cases, want 14", cases)
	}
}

func near(t *testing.T, what string, m *mixture.Mixture, theta []float64, want latentClasses, tol float64) {
	t.Helper()
	p := family.Bernoulli{}.Natural(nil, m.Components(theta), 0)
	for i, v := range flatten(want.Probabilities) {
		if !(math.Abs(p[i]-v) <= tol) {
			t.Errorf("%s: probability %d is %v, want %v", what, i, p[i], v)
		}
	}
	for c, lw := range m.LogWeights(nil, theta) {
		if !(math.Abs(math.Exp(lw)-want.Weights[c]) <= tol) {
			t.Errorf("%s: weight %d is %v, want %v", what, c, math.Exp(lw), want.Weights[c])
		}
	}
}

// The best optima that poLCA and StepMix agree on, many of whose probabilities are 0 or 1: EM reaches each of them from
// some start, and no start ends above.
func TestEMReachesTheBestKnownLatentClasses(t *testing.T) {
	rows, counts := carcinoma(t)
	x := flatten(rows)
	var ref bitReference
	load(t, "../../testdata/oracle/bernoulli/carcinoma-optimum.json", &ref)
	if len(ref.Fits) != 7 {
		t.Fatalf("%d fits, want 7", len(ref.Fits))
	}
	for _, fit := range ref.Fits {
		best := math.Inf(-1)
		for start := uint64(0); start < 60 && best < fit.LogLik-1e-6; start++ {
			rng := rand.New(rand.NewPCG(start, 1))
			from := latentClasses{Weights: slices.Repeat([]float64{1 / float64(fit.K)}, fit.K)}
			for range fit.K {
				p := make([]float64, len(rows[0]))
				for j := range p {
					p[j] = 0.1 + 0.8*rng.Float64()
				}
				from.Probabilities = append(from.Probabilities, p)
			}
			m, theta := bits(fit.Weights, from)
			if m.Free() != fit.Free {
				t.Fatalf("k %d: %d free parameters, want %d", fit.K, m.Free(), fit.Free)
			}
			last := math.Inf(-1)
			for range 5000 {
				s := familytest.Sweep(m, theta, 1, x, counts)
				if s.LogLik-last < 1e-11 {
					break
				}
				last = s.LogLik
				m.MStep(theta, theta, s)
			}
			best = max(best, last)
		}
		if !(math.Abs(best-fit.LogLik) <= 1e-6) {
			t.Errorf("k %d, weights %s: the best log-likelihood is %v, want %v", fit.K, fit.Weights, best, fit.LogLik)
		}
	}
}

// Thousands of columns, whose probabilities as such would underflow.
func TestLogProbabilitiesOfManyBits(t *testing.T) {
	var ref struct {
		Cases []struct {
			Name             string
			LogDensity       []float64   `json:"log_density"`
			LogResp          [][]float64 `json:"log_responsibilities"`
			Responsibilities [][]float64
		}
	}
	load(t, "../../testdata/oracle/bernoulli/density.json", &ref)
	p := map[string][]float64{"d-2000": {0.3, 0.31}, "d-20000": {0.5, 0.501}} // the formula of the file
	size := map[string]int{"d-2000": 2000, "d-20000": 20000}
	if len(ref.Cases) != len(p) {
		t.Fatalf("%d cases, want %d", len(ref.Cases), len(p))
	}
	for _, c := range ref.Cases {
		d := size[c.Name]
		m, theta := bits("uniform", latentClasses{Weights: []float64{0.5, 0.5},
			Probabilities: [][]float64{slices.Repeat(p[c.Name][:1], d), slices.Repeat(p[c.Name][1:], d)}})
		x := make([]float64, 4*d)
		for j := range d {
			if j%10 < 3 {
				x[j] = 1
			}
			if j%2 == 0 {
				x[d+j] = 1
			}
			x[2*d+j] = 1
		}
		e := m.Bind(theta, 1)
		sc := mixture.NewScratch(2, d)
		logits := slices.Clone(e.Logits(panelOf(d, x), sc))
		post := e.Posterior(panelOf(d, x), sc)
		for i, want := range c.LogDensity {
			if !(math.Abs(post.Score[i]-want) <= 1e-12*math.Abs(want)) {
				t.Errorf("%s, row %d: log density %v, want %v", c.Name, i, post.Score[i], want)
			}
			for l := range 2 {
				// The difference of two numbers of size |log density| keeps 1e-12 of that.
				if got := logits[l*kern.Rows+i] - post.Score[i]; !(math.Abs(got-c.LogResp[i][l]) <= 1e-12*math.Abs(want)) {
					t.Errorf("%s, row %d: log responsibility %v, want %v", c.Name, i, got, c.LogResp[i][l])
				}
				if got := post.P[l*kern.Rows+i]; !(math.Abs(got-c.Responsibilities[i][l]) <= 1e-12*math.Abs(want)) {
					t.Errorf("%s, row %d: responsibility %v, want %v", c.Name, i, got, c.Responsibilities[i][l])
				}
			}
		}
	}
}

// A bit is a category of two levels: the same log-likelihoods, gradients in the log odds and steps.
func TestBitsAreCategoriesOfTwoLevels(t *testing.T) {
	const n, d, k = 70, 5, 3
	rng := rand.New(rand.NewPCG(11, 0))
	x := draw(two)(rng, n, d, k)
	for i := 0; i < n; i++ {
		x[i*d] = 1 // a column at the floor
	}
	bit := &mixture.Mixture{Family: family.Bernoulli{}, K: k, D: d}
	cat := &mixture.Mixture{Family: family.Categorical{Levels: slices.Repeat([]int{2}, d)}, K: k, D: d}
	a, b := make([]float64, bit.Params()), make([]float64, cat.Params())
	for i := range k * d {
		v := rng.NormFloat64()
		a[k+i], b[k+2*i], b[k+2*i+1] = v, 3, 3+v
	}
	for step := range 30 {
		sa, sb := familytest.Sweep(bit, a, 1, x, nil), familytest.Sweep(cat, b, 1, x, nil)
		if !(math.Abs(sa.LogLik-sb.LogLik) <= 1e-12*math.Abs(sa.LogLik)) {
			t.Fatalf("step %d: log-likelihoods %v and %v", step, sa.LogLik, sb.LogLik)
		}
		ga, gb := make([]float64, len(a)), make([]float64, len(b))
		bit.Grad(ga, a, sa)
		cat.Grad(gb, b, sb)
		bit.MStep(a, a, sa)
		cat.MStep(b, b, sb)
		pa := family.Bernoulli{}.Natural(nil, a[k:], 0)
		pb := cat.Family.(family.Categorical).Natural(nil, b[k:], k)
		for i := range k * d {
			if !(math.Abs(pa[i]-pb[2*i+1]) <= 1e-12) {
				t.Errorf("step %d: probabilities %v and %v", step, pa[i], pb[2*i+1])
			}
			if !(math.Abs(ga[k+i]-gb[k+2*i+1]) <= 1e-11*n) {
				t.Errorf("step %d: gradients %v and %v", step, ga[k+i], gb[k+2*i+1])
			}
		}
	}
}

// A step with weights is counting: the share of each level among the rows of a component, half of each row here.
func TestMStepsOfCategoriesAreShares(t *testing.T) {
	f := family.Categorical{Levels: []int{3, 2}}
	p := panelOf(2, []float64{0, 1, 2, 1, 2, 0, 0, 1, 0, 0})
	p.W[1] = 3
	s := family.NewStats(2, 2, f.Sums(2, 2), 0)
	r := make([]float64, 2*kern.Rows)
	for i, w := range p.W {
		r[i] = w / 2
	}
	theta := make([]float64, f.Params(2, 2))
	theta[6] = 0.5
	f.Bind(theta, 2, 2).Add(s, p, r, family.NewWorkspace(2))
	next := make([]float64, len(theta))
	f.MStep(next, theta, s)
	got := f.Natural(nil, next, 2)
	for i, want := range []float64{3. / 7, 0, 4. / 7, 2. / 7, 5. / 7} {
		if math.Abs(got[i]-want) > 2*family.MinProbability {
			t.Errorf("probability %d is %v, want %v", i, got[i], want)
		}
	}
	if !slices.Equal(next[5:], theta[5:]) {
		t.Errorf("a component without rows moved from %v to %v", theta[5:], next[5:])
	}
	if free := f.Free(2, 2); free != 2*(2+1) {
		t.Errorf("%d free parameters, want 6", free)
	}
}

// The floor costs a certain cell 1e-12 nats, keeps an impossible one finite, and holds all logits that sit on it.
func TestCertainBitsStayAtTheFloor(t *testing.T) {
	const n, d = 20, 2
	var x []float64
	for i := range n {
		x = append(x, 1, float64(i%2))
	}
	for _, f := range []family.Smooth{family.Bernoulli{}, family.Categorical{Levels: []int{2, 2}}, family.Categorical{Levels: []int{5, 2}}} {
		m := &mixture.Mixture{Family: f, K: 1, D: d}
		theta := make([]float64, m.Params())
		for range 2 {
			m.MStep(theta, theta, familytest.Sweep(m, theta, 1, x, nil))
		}
		s := familytest.Sweep(m, theta, 1, x, nil)
		if want := -n * math.Ln2; !(s.LogLik <= want && s.LogLik >= want-n*4.1e-12) {
			t.Errorf("%s: log-likelihood %v, want %v less the cost of the floor", f.Name(), s.LogLik, want)
		}
		other := familytest.Sweep(m, theta, 1, []float64{0, 1}, nil)
		if want := math.Log(family.MinProbability) + math.Log(0.5); math.Abs(other.LogLik-want) > 1e-9 {
			t.Errorf("%s: a row that cannot be has log probability %v, want %v", f.Name(), other.LogLik, want)
		}
		comp := m.Components(theta)
		held := make([]bool, len(comp))
		f.Held(held, comp, 1, d)
		certain, open := held[:(len(held)+1)/2], held[len(held)-1:] // logits of the first column, or most of them
		if slices.Contains(certain, false) || open[0] || slices.Contains(f.AtFloor(comp, 1, d), true) {
			t.Errorf("%s: held %v and at the floor %v, logits %v", f.Name(), held, f.AtFloor(comp, 1, d), comp)
		}
		moved := slices.Clone(comp)
		f.Project(moved, 1, d)
		if !slices.Equal(moved, comp) {
			t.Errorf("%s: the floor moved %v to %v", f.Name(), comp, moved)
		}
	}
}

// Probabilities come back from the parameters they were put into, floors and shares of a column included.
func TestProbabilitiesRoundTrip(t *testing.T) {
	p := []float64{0, 1, 0.25, 1e-13, 1 - 1e-7, 0.5}
	theta := make([]float64, len(p))
	family.Bernoulli{}.FromNatural(theta, p, 0)
	for i, got := range (family.Bernoulli{}).Natural(nil, theta, 0) {
		want := min(max(p[i], 1e-12), 1-1e-12)
		if math.Abs(got-want) > 1e-15 {
			t.Errorf("bit %v comes back as %v, want %v", p[i], got, want)
		}
	}
	f := family.Categorical{Levels: []int{3, 1, 2}}
	q := []float64{0, 3, 1, 1, 0.2, 0.8, 0.5, 0.25, 0.25, 2, 0, 1}
	want := []float64{1e-12, 0.75, 0.25, 1, 0.2, 0.8, 0.5, 0.25, 0.25, 1, 1e-12, 1}
	theta = make([]float64, len(q))
	f.FromNatural(theta, q, 2)
	if sum := math.Exp(theta[0]) + math.Exp(theta[1]) + math.Exp(theta[2]); math.Abs(sum-1) > 1e-15 {
		t.Errorf("the probabilities of a column add to %v", sum)
	}
	for i, got := range f.Natural(nil, theta, 2) {
		if math.Abs(got-want[i]) > 1.1e-12 || want[i] == 1e-12 && math.Abs(got-1e-12) > 1e-20 {
			t.Errorf("share %d comes back as %v, want %v", i, got, want[i])
		}
	}
}

// A cell that is no level tells nothing of the component: neither its score nor its sums.
func TestCellsThatAreNoLevelAreIgnored(t *testing.T) {
	f := family.Categorical{Levels: []int{2, 3}}
	theta := []float64{0.3, -1, 1, 0, 2}
	kernel, ws := f.Bind(theta, 1, 2), family.NewWorkspace(2)
	p := panelOf(2, []float64{1, 3, 1, -1, 1, math.NaN(), 1, math.Inf(1), 1, 1e300})
	dst := make([]float64, kern.Rows)
	kernel.Score(dst, p, ws)
	s := family.NewStats(1, 2, f.Sums(1, 2), 0)
	kernel.Add(s, p, p.W, ws)
	want := -1 - math.Log(math.Exp(0.3)+math.Exp(-1))
	for i := range p.N {
		if math.Abs(dst[i]-want) > 1e-15 {
			t.Errorf("row %d scores %v, want %v", i, dst[i], want)
		}
	}
	if !slices.Equal(s.Sum, []float64{0, 5, 0, 0, 0}) || s.N[0] != 5 {
		t.Errorf("sums %v of weight %v", s.Sum, s.N)
	}
}

// Weights within rounding of the floor must not send the M-step back and forth between two sets of levels.
func TestSharesNextToTheFloorAreFound(t *testing.T) {
	rng := rand.New(rand.NewPCG(12, 0))
	f := family.Categorical{Levels: []int{4}}
	theta := make([]float64, 4)
	for range 20000 {
		p := []float64{1 + rng.Float64(), rng.Float64(), 0, 0}
		for l := 2; l < 4; l++ {
			p[l] = (p[0] + p[1]) / (1 - 2*family.MinProbability) * family.MinProbability * (1 + float64(rng.IntN(9)-4)*1.1e-16)
		}
		f.FromNatural(theta, p, 1)
		for l, got := range f.Natural(nil, theta, 1) {
			if want := p[l] / (p[0] + p[1]); math.Abs(got-want) > 1e-11*want {
				t.Fatalf("shares %v: level %d has probability %v, want %v", p, l, got, want)
			}
		}
	}
}

// A probability at an edge is released where the M-step moves it off by more than a ten-thousandth, and is held where it stays
// or goes on towards the edge.
func TestEdgesThatTheMStepLeavesAreReleased(t *testing.T) {
	edge := math.Log(1e-12)
	for _, c := range []struct {
		theta, next float64
		held        bool
	}{{edge, edge, true}, {-edge, -edge, true}, {edge + 5, edge + 4, true}, {edge, edge + 0.01, false}, {-edge, -edge - 0.01, false}, {edge, edge + 1e-6, true}} {
		held := []bool{true, false}
		some := family.Bernoulli{}.Release(held, []float64{c.theta, 0}, []float64{c.next, 1}, 1, 2)
		if held[0] != c.held || held[1] || some == c.held {
			t.Errorf("a bit from %v to %v: held %v, some %v", c.theta, c.next, held, some)
		}
		if c.theta > 0 {
			continue
		}
		// Three levels, one at the edge, one all but certain; a constant added to the logits says nothing.
		theta := []float64{c.theta + 3, 3, edge + 3, 0, 0, 0}
		next := []float64{c.next, 0, edge, 0, 0, 0}
		held = []bool{true, true, true, false, false, false}
		some = family.Categorical{Levels: []int{3}}.Release(held, theta, next, 2, 1)
		if !slices.Equal(held, []bool{c.held, c.held, true, false, false, false}) || some == c.held {
			t.Errorf("a level from %v to %v: held %v, some %v", c.theta, c.next, held, some)
		}
	}
}

// A probability that is held at 0 or 1 is moved off where the gradient there is next to nothing, and no other is.
func TestInsideMovesWhatItsEdgeDoesNotHold(t *testing.T) {
	const n = 50.0
	p := 1 / (1 + math.Exp(20))
	theta, held := []float64{-20, 20, -20, 0.5}, []bool{true, true, true, false}
	g := []float64{-0.001 * n * p, 0.001 * n * p, -0.4 * n * p, 0}
	if !(family.Bernoulli{}).Inside(theta, held, g, []float64{n}, 1, 4) {
		t.Error("bits: nothing was moved")
	}
	for i, want := range []float64{-math.Log(99), math.Log(99), -20, 0.5} {
		if math.Abs(theta[i]-want) > 1e-12 {
			t.Errorf("bit %d is at %v, want %v", i, theta[i], want)
		}
	}
	// Levels of three: the first is absent for nothing, the second absent for good, the third all but certain.
	theta, held = []float64{-20, -20, 0}, []bool{true, true, true}
	g = []float64{-0.001 * n * p, -0.4 * n * p, 0}
	f := family.Categorical{Levels: []int{3}}
	if !f.Inside(theta, held, g, []float64{n}, 1, 1) {
		t.Error("levels: nothing was moved")
	}
	q := f.Natural(nil, theta, 1)
	if math.Abs(q[0]-0.01/1.01) > 1e-6 || q[1] > 1e-8 {
		t.Errorf("levels are %v", q)
	}
	if f.Inside(theta, make([]bool, 3), g, []float64{n}, 1, 1) {
		t.Error("what is not held was moved")
	}
}
