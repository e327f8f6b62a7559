package family_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/family/familytest"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// counts draws rows of counts from k groups, each with rates of its own. The first row has an event in every column, so that none
// is without.
func counts(rng *rand.Rand, n, d, k int) (x []float64) {
	rates := make([]float64, k*d)
	for i := range rates {
		rates[i] = 0.2 + 9*rng.Float64()
	}
	for i := range n {
		c := rng.IntN(k)
		for j := range d {
			v := distuv.Poisson{Lambda: rates[c*d+j], Src: rng}.Rand()
			if i == 0 {
				v++
			}
			x = append(x, v)
		}
	}
	return x
}

func TestPoissonLaws(t *testing.T) {
	newPoisson := func([]float64) family.Family { return family.Poisson{Weight: 1000} }
	familytest.LawsOn(t, newPoisson, counts)
	familytest.SmoothLawsOn(t, newPoisson, counts)
}

// The expected values are from mpmath, in 50 digits.
var logCounts = []struct{ x, rate, want float64 }{
	{0, 0.5, -0.5}, {3, 2.5, -1.54288727360558981}, {15, 1, -28.8992713838408916}, {16, 20, -2.74014372921681691},
	{255, 250, -3.73956706352781032}, {256, 250, -3.76328359014512636}, {300, 1e-12, -9704.21218472363346}, {1000, 1010, -4.42256865285821398},
	{1234567, 1234000, -8.06229704975623825}, {1e6, 1e6, -7.82669389552014313}, {1e9, 1e9, -11.2805714517612117},
	{1e9, 1.1e9, -4689831.47624659172}, {1e9, 1 << 20, -5861370813.02807642}, {1 << 53, 1 << 53, -19.2873388180432235},
	{1 << 53, 1<<53 - 1e8, -19.8424503344644523}, {5, 1e9, -999999901.171162558}, {1 << 53, 1e15, -11790842454117774.7},
}

func TestLogProbabilitiesOfCounts(t *testing.T) {
	for _, level := range kern.Levels() {
		restore := kern.Use(level)
		for _, c := range logCounts {
			f, theta := family.Poisson{}, make([]float64, 1)
			f.FromNatural(theta, []float64{c.rate}, 1)
			off := 1e-15 * math.Abs(c.x-c.rate) * (1 + math.Abs(theta[0])) // a log rate is rounded
			p, dst := panelOf(1, []float64{c.x}), make([]float64, kern.Rows)
			kernel := f.Bind(theta, 1, 1)
			kernel.Score(dst, p, family.NewWorkspace(1))
			plain := dst[0]
			kernel.(family.Fusable).Fuse([]float64{0}).Logits(dst, p, new(family.Gathered), family.NewWorkspace(1))
			for _, got := range []float64{plain, dst[0]} {
				if !(math.Abs(got-c.want) <= 1e-10+1e-14*math.Abs(c.want)+off) {
					t.Errorf("%v: the log probability of %v at rate %v is %v, want %v", level, c.x, c.rate, got, c.want)
				}
			}
		}
		restore()
	}
}

// logProbability is that of a row, by gonum.
func logProbability(x, rates []float64) (sum float64) {
	for j, v := range x {
		sum += distuv.Poisson{Lambda: rates[j]}.LogProb(v)
	}
	return sum
}

// An E-step as the definition has it, row by row.
func TestSumsOfCountsAgreeWithALoop(t *testing.T) {
	rng := rand.New(rand.NewPCG(21, 0))
	for _, level := range kern.Levels() {
		restore := kern.Use(level)
		for _, k := range []int{1, 2, 5, 7, 20, 33} {
			for _, d := range []int{1, 2, 9, 70} {
				const n = 100
				f := family.Poisson{}
				m := &mixture.Mixture{Family: f, K: k, D: d}
				x, w := counts(rng, n, d, k), make([]float64, n)
				for i := range w {
					w[i] = float64(rng.IntN(4)) / 2
				}
				theta := make([]float64, m.Params())
				for i := range theta {
					theta[i] = rng.NormFloat64()
				}
				rates := f.Natural(nil, m.Components(theta), k)
				pi := m.LogWeights(nil, theta)
				var logLik, total float64
				weight, sum := make([]float64, k), make([]float64, k*d)
				for i, u := range w {
					row := x[i*d : i*d+d]
					q, top := make([]float64, k), math.Inf(-1)
					for c := range q {
						q[c] = pi[c] + logProbability(row, rates[c*d:c*d+d])
						top = max(top, q[c])
					}
					z := 0.0
					for c := range q {
						q[c] = math.Exp(q[c] - top)
						z += q[c]
					}
					logLik += u * (top + math.Log(z))
					total += u
					for c, v := range q {
						weight[c] += u * v / z
						for j, v := range row {
							sum[c*d+j] += u * q[c] / z * v
						}
					}
				}
				got := familytest.Sweep(m, theta, 1, x, w)
				if !(math.Abs(got.LogLik-logLik) <= 1e-11*math.Abs(logLik)) || got.W != total {
					t.Fatalf("%v, k %d, d %d: log-likelihood %v, want %v", level, k, d, got.LogLik, logLik)
				}
				for c, v := range weight {
					if !(math.Abs(got.N[c]-v) <= 1e-10*total) {
						t.Fatalf("%v, k %d, d %d: weight %v, want %v", level, k, d, got.N[c], v)
					}
				}
				for i, v := range sum {
					if !(math.Abs(got.Sum[i]-v) <= 1e-10*(1+v)) {
						t.Fatalf("%v, k %d, d %d: sum %d is %v, want %v", level, k, d, i, got.Sum[i], v)
					}
				}
			}
		}
		restore()
	}
}

// Two groups of huge counts: EM finds the means of the rows of each, to the rounding of a logarithm.
func TestHugeCountsFormGroups(t *testing.T) {
	for _, size := range []float64{1e6, 1e9, 1 << 52} {
		rng := rand.New(rand.NewPCG(22, 0))
		const n = 200
		var x []float64
		var mean [2]float64
		for i := range n {
			at := size * (1 + 0.1*float64(i%2))
			v := math.Round(at + math.Sqrt(at)*rng.NormFloat64())
			x = append(x, v)
			mean[i%2] += v / (n / 2)
		}
		f := family.Poisson{}
		m := &mixture.Mixture{Family: f, K: 2, D: 1}
		theta := []float64{0, 0, math.Log(size * 0.9), math.Log(size * 1.2)}
		for range 5 {
			m.MStep(theta, theta, familytest.Sweep(m, theta, 1, x, nil))
		}
		s := familytest.Sweep(m, theta, 1, x, nil)
		want := 0.0
		for i, v := range x { // the deviance by its series, and Stirling's
			u := (v - mean[i%2]) / mean[i%2]
			want += -mean[i%2]*(u*u/2-u*u*u/6+u*u*u*u/12) - math.Log(2*math.Pi*v)/2 - 1/(12*v) - math.Ln2
		}
		for c, v := range f.Natural(nil, theta[2:], 2) {
			if !(math.Abs(v-mean[c]) <= 1e-14*mean[c]) || s.N[c] != n/2 {
				t.Errorf("size %v: rate %v of %v rows, want %v of %v", size, v, s.N[c], mean[c], n/2)
			}
		}
		if !(math.Abs(s.LogLik-want) <= 1e-8*math.Abs(want)) {
			t.Errorf("size %v: log-likelihood %v, want %v", size, s.LogLik, want)
		}
		g, z := make([]float64, 4), make([]float64, 4)
		m.Grad(g, theta, s)
		geo := mixture.Geometry{Mixture: m, Theta: theta, Stats: s}
		geo.Precondition(z, g)
		if far := geo.Length(z); !(far < 1e-3) {
			t.Errorf("size %v: %v standard errors from the end", size, far)
		}
	}
}

// A group without events keeps a finite log-likelihood; its rate is on the edge, and no other.
func TestRatesStayAtTheFloor(t *testing.T) {
	const n, d = 20, 3
	var x []float64
	for i := range n {
		x = append(x, 0, float64(i%2), 1000)
	}
	f := family.Poisson{Weight: n}
	m := &mixture.Mixture{Family: f, K: 1, D: d}
	theta := make([]float64, m.Params())
	for range 2 {
		m.MStep(theta, theta, familytest.Sweep(m, theta, 1, x, nil))
	}
	s, want := familytest.Sweep(m, theta, 1, x, nil), 0.0
	for i := 0; i < len(x); i += d {
		want += logProbability(x[i+1:i+3], []float64{0.5, 1000})
	}
	if !(math.Abs(s.LogLik-(want-n*family.MinRate)) <= 1e-10) {
		t.Errorf("log-likelihood %v, want %v less the cost of the floor", s.LogLik, want)
	}
	comp := m.Components(theta)
	other := familytest.Sweep(m, theta, 1, []float64{2, 0, 1000}, nil)
	if want := logProbability([]float64{2, 0, 1000}, []float64{family.MinRate, 0.5, 1000}); math.Abs(other.LogLik-want) > 1e-9 {
		t.Errorf("a row that cannot be has log probability %v, want %v", other.LogLik, want)
	}
	held := make([]bool, d)
	f.Held(held, comp, 1, d)
	if !slices.Equal(held, []bool{true, false, false}) || f.AtFloor(comp, 1, d)[0] {
		t.Errorf("held %v and at the floor %v, log rates %v", held, f.AtFloor(comp, 1, d), comp)
	}
	moved := slices.Clone(comp)
	if f.Project(moved, 1, d); !slices.Equal(moved, comp) {
		t.Errorf("the floor moved %v to %v", comp, moved)
	}
}

// A rate is on the edge where all rows together have not a hundredth of an event: one far below 1 is not where they are many.
func TestEdgeOfRatesGoesByTheRows(t *testing.T) {
	for _, c := range []struct{ weight, edge float64 }{{0, 0.01}, {100, 1e-4}, {1e9, 1e-11}, {1e30, 1e-11}} {
		theta, held := make([]float64, 2), make([]bool, 2)
		f := family.Poisson{Weight: c.weight}
		f.FromNatural(theta, []float64{0.99 * c.edge, 1.01 * c.edge}, 1)
		if f.Held(held, theta, 1, 2); !slices.Equal(held, []bool{true, false}) {
			t.Errorf("weight %v: held %v", c.weight, held)
		}
	}
	f := family.Poisson{}
	edge := math.Log(family.MinRate)
	for _, c := range []struct {
		theta, next float64
		held        bool
	}{{edge, edge, true}, {edge + 5, edge + 4, true}, {edge, edge + 0.01, false}, {edge, edge + 1e-6, true}} {
		held := []bool{true, false}
		some := f.Release(held, []float64{c.theta, 0}, []float64{c.next, 1}, 1, 2)
		if held[0] != c.held || held[1] || some == c.held {
			t.Errorf("a rate from %v to %v: held %v, some %v", c.theta, c.next, held, some)
		}
	}
	const n = 50.0
	rate := math.Exp(-20.0)
	theta, held := []float64{-20, -20, -20}, []bool{true, true, false}
	if !f.Inside(theta, held, []float64{-0.001 * n * rate, -0.4 * n * rate, 0}, []float64{n}, 1, 3) {
		t.Error("nothing was moved")
	}
	if math.Abs(theta[0]-math.Log(0.01)) > 1e-12 || !slices.Equal(theta[1:], []float64{-20, -20}) {
		t.Errorf("moved to %v", theta)
	}
}

// Steps of EM are weighted means, and rates come back from theta within their range.
func TestRatesAreMeans(t *testing.T) {
	f := family.Poisson{}
	p := panelOf(2, []float64{0, 1, 4, 1, 2, 0})
	p.W[1] = 3
	s := family.NewStats(2, 2, f.Sums(2, 2), 0)
	r := make([]float64, 2*kern.Rows)
	for i, w := range p.W {
		r[i] = w / 2
	}
	theta := []float64{0, 0, 0.5, -3}
	f.Bind(theta, 2, 2).Add(s, p, r, family.NewWorkspace(2))
	next := make([]float64, 4)
	f.MStep(next, theta, s)
	if got := f.Natural(nil, next, 2); math.Abs(got[0]-14./5) > 1e-14 || math.Abs(got[1]-4./5) > 1e-15 || !slices.Equal(next[2:], theta[2:]) {
		t.Errorf("rates %v and log rates %v, want 2.8 and 0.8, and the others as they were", got, next)
	}
	rates := []float64{0, 1e-13, 1e-6, 0.3, 77, 1e15, 1e17}
	theta = make([]float64, len(rates))
	f.FromNatural(theta, rates, 1)
	for i, got := range f.Natural(nil, theta, 1) {
		if want := min(max(rates[i], family.MinRate), family.MaxCount); math.Abs(got-want) > 1e-14*want {
			t.Errorf("rate %v comes back as %v, want %v", rates[i], got, want)
		}
	}
}

// A row of weight 0 may hold what is no count: it has a finite score and adds nothing.
func TestWhatIsNoCountSaysNothing(t *testing.T) {
	f := family.Poisson{}
	theta := []float64{0.5, 1, -1, 2}
	kernel, ws := f.Bind(theta, 2, 2), family.NewWorkspace(2)
	p := panelOf(2, []float64{1, 2, -1, 1e300, 0.5, -1e300, 1 << 54, 0})
	clear(p.W[1:])
	dst := make([]float64, 2*kern.Rows)
	fused, g := kernel.(family.Fusable).Fuse([]float64{-1, -1}), new(family.Gathered)
	for i, score := range []func(){func() { kernel.Score(dst, p, ws) }, func() { fused.Logits(dst, p, g, ws) }} {
		score()
		for _, v := range dst {
			if v-v != 0 {
				t.Fatalf("form %d: scores %v", i, dst)
			}
		}
	}
	s := family.NewStats(2, 2, f.Sums(2, 2), 0)
	kernel.Add(s, p, slices.Repeat(p.W, 2), ws)
	if !slices.Equal(s.Sum[:4], []float64{1, 2, 1, 2}) || !slices.Equal(s.N, []float64{1, 1}) || math.Abs(s.Sum[4]+2*math.Ln2) > 1e-15 {
		t.Errorf("sums %v of weight %v", s.Sum, s.N)
	}
}
