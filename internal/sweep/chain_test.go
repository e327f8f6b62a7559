package sweep_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// emission is a kind of densities of states, on rows that suit it.
type emission struct {
	name string
	d    int
	of   func(gaps *family.Gaps) family.Family
	cell func(rng *rand.Rand, state, j int) float64
}

// emissions are all kinds, Gaussians in shapes of every sort.
func emissions() (all []emission) {
	number := func(rng *rand.Rand, state, j int) float64 { return 2*float64(state*(j+1)) + rng.NormFloat64() }
	v := []float64{3, 6}
	for _, shape := range []family.Shape{family.Full, family.Tied, family.Diag, family.Spherical} {
		all = append(all, emission{shape.String(), 2, func(g *family.Gaps) family.Family { return family.Gaussian{Shape: shape, Var: v, Gaps: g} }, number})
	}
	level := func(rng *rand.Rand, state, j int) float64 { return float64((rng.IntN(2)*rng.IntN(2) + state + j) % 3) }
	count := func(rng *rand.Rand, state, _ int) float64 {
		return math.Round(math.Abs(3*rng.NormFloat64())) + 4*float64(state)
	}
	bit := func(rng *rand.Rand, state, _ int) float64 {
		return float64((rng.IntN(2)*rng.IntN(2) + state) % 2)
	}
	return append(all,
		emission{"shared shape", 2, func(g *family.Gaps) family.Family {
			return family.Parsimonious{Shape: family.TiedShape, Var: v, Gaps: g}
		}, number},
		emission{"t", 2, func(g *family.Gaps) family.Family { return family.Student{Shape: family.Full, Var: v, Gaps: g} }, number},
		emission{"bits", 3, func(g *family.Gaps) family.Family { return family.Bernoulli{Gaps: g} }, bit},
		emission{"levels", 2, func(*family.Gaps) family.Family { return family.Categorical{Levels: []int{3, 3}} }, level},
		emission{"counts", 2, func(g *family.Gaps) family.Family { return family.Poisson{Weight: 1000, Gaps: g} }, count},
	)
}

// lengths are of sequences, one of them long enough to be cut into blocks.
var lengths = []int{40, 1, 700, 2, 1, 300, 60}

// rows returns sequences of these lengths whose states rarely change. With gaps one cell in five is missing, and a row in twenty has none and the
// weight 0.
func (e *emission) rows(seed uint64, gaps bool, lengths ...int) *data.Table {
	rng, t, state := rand.New(rand.NewPCG(seed, 11)), &data.Table{D: e.d}, 0
	for s, n := range lengths {
		for range n {
			if rng.IntN(8) == 0 {
				state = rng.IntN(3)
			}
			empty, some := gaps && rng.IntN(20) == 0, false
			for j := range e.d {
				x := e.cell(rng, state, j)
				if empty || gaps && rng.IntN(5) == 0 {
					x = math.NaN()
				}
				t.F64, some = append(t.F64, x), some || x == x
			}
			if gaps {
				t.W = append(t.W, map[bool]float64{true: 1}[some])
			}
			t.Sequence = append(t.Sequence, int32(s))
			t.N++
		}
	}
	return t
}

// chainOf returns a chain of three states of e for the rows of t, and parameters that are a few steps of EM from anywhere.
func chainOf(t *testing.T, e *emission, src *data.Table) (*mixture.Mixture, []float64) {
	t.Helper()
	look, err := sweep.LookThrough(context.Background(), src, 1)
	if err != nil {
		t.Fatal(err)
	}
	m := &mixture.Mixture{Family: e.of(look.Gaps), K: 3, D: e.d, Chain: true}
	theta, rng := make([]float64, m.Params()), rand.New(rand.NewPCG(5, 5))
	if s, ok := m.Family.(family.Student); ok {
		s.SetDofs(m.Components(theta), nil, m.K)
	}
	for c := range 3 {
		m.Family.(family.Smooth).Place(c, m.K, m.D, func(from, to int) {
			for i := from; i < to; i++ {
				m.Components(theta)[i] = float64(c)/2 + rng.NormFloat64()
			}
		})
	}
	for range 4 {
		m.MStep(theta, theta, sums(t, src, m, theta, 1))
	}
	return m, theta
}

func sums(t *testing.T, src data.Source, m *mixture.Mixture, theta []float64, threads int) *family.Stats {
	t.Helper()
	return sumsAt(t, src, m, theta, 1, threads)
}

func sumsAt(t *testing.T, src data.Source, m *mixture.Mixture, theta []float64, beta float64, threads int) *family.Stats {
	t.Helper()
	s, err := sweep.NewLocal(src, 1104, make([]float64, m.D), threads).Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: beta}})
	if err != nil {
		t.Fatal(err)
	}
	return s[0]
}

// eachEmission runs f with every kind of emission, on whole rows and on rows with gaps.
func eachEmission(t *testing.T, f func(t *testing.T, e *emission, gaps bool)) {
	for _, e := range emissions() {
		for _, gaps := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, gaps %v", e.name, gaps), func(t *testing.T) {
				t.Parallel()
				f(t, &e, gaps)
			})
		}
	}
}

func nearly(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

// Sums of a sweep are what plain recursions in logarithms, one row and one pair of states at a time, come to.
func TestSumsOfAChainAreThoseOfPlainLoops(t *testing.T) {
	t.Parallel()
	e := &emissions()[2] // diagonal
	src := e.rows(1, true, lengths...)
	for i, w := range src.W {
		src.W[i] = w * float64(src.Sequence[i]%3) / 2
	}
	m, theta := chainOf(t, e, src)
	rare := slices.Clone(theta) // with probabilities on their floor, whose power is below the range of float64
	m.SetChainProbabilities(rare, []float64{1, 0, 0}, []float64{0.9, 0.1, 0, 0, 0.9, 0.1, 0, 0, 1})
	for _, c := range []struct {
		far, power float64
		theta      []float64
	}{{0, 1, theta}, {400, 1, theta}, {0, 0.5, theta}, {0, 1, rare}, {0, 30, rare}} { // far: no state is near a row of the long sequence, and of a short one
		src.F64[2*30], src.F64[2*500] = 10+c.far, 10+c.far
		theta, power := c.theta, c.power
		s := sumsAt(t, src, m, theta, power, 2)
		k, initial, transitions := m.K, make([]float64, 3), make([]float64, 9)
		links := make([]float64, 12) // logarithms to the power
		for at := 0; at < 12; at += 3 {
			sum := math.Log(math.Exp(theta[at]) + math.Exp(theta[at+1]) + math.Exp(theta[at+2]))
			for c := range 3 {
				links[at+c] = power * (theta[at+c] - sum)
			}
		}
		p, a := links[:3], links[3:]
		comp, free, n := m.Components(theta), 0.0, make([]float64, 3)
		mean, scale := comp[:6], comp[6:]
		lse := func(of func(c int) float64) float64 {
			top, sum := math.Inf(-1), 0.0
			for c := range k {
				top = max(top, of(c))
			}
			for c := range k {
				sum += math.Exp(of(c) - top)
			}
			return top + math.Log(sum)
		}
		for lo := 0; lo < src.N; {
			hi := lo
			for hi < src.N && src.Sequence[hi] == src.Sequence[lo] {
				hi++
			}
			w, rows := slices.Max(src.W[lo:hi]), hi-lo
			score, alpha, beta := make([]float64, rows*k), make([]float64, rows*k), make([]float64, rows*k)
			for i := range rows {
				for c := range k {
					for j := range 2 {
						if x := src.At(lo+i, j); x == x {
							u := (x - mean[c*2+j]) / math.Exp(scale[c*2+j])
							score[i*k+c] -= power * (u*u/2 + scale[c*2+j] + math.Log(2*math.Pi)/2)
						}
					}
				}
			}
			for i := range rows {
				for c := range k {
					alpha[i*k+c] = p[c] + score[i*k+c]
					if i > 0 {
						alpha[i*k+c] = score[i*k+c] + lse(func(b int) float64 { return alpha[(i-1)*k+b] + a[b*k+c] })
					}
				}
			}
			for i := rows - 2; i >= 0; i-- {
				for c := range k {
					beta[i*k+c] = lse(func(b int) float64 { return a[c*k+b] + score[(i+1)*k+b] + beta[(i+1)*k+b] })
				}
			}
			total := lse(func(c int) float64 { return alpha[(rows-1)*k+c] })
			free += w * total / power
			for i := range rows {
				for c := range k {
					g := math.Exp(alpha[i*k+c] + beta[i*k+c] - total)
					n[c] += src.W[lo+i] * g
					if i == 0 {
						initial[c] += w * g
						continue
					}
					for b := range k {
						transitions[b*k+c] += w * math.Exp(alpha[(i-1)*k+b]+a[b*k+c]+score[i*k+c]+beta[i*k+c]-total)
					}
				}
			}
			lo = hi
		}
		nearly(t, "free energy", s.F, free, 1e-9*math.Abs(free))
		for c := range k {
			nearly(t, "first", s.Chain[c], initial[c], 1e-9)
			nearly(t, "rows of a state", s.N[c], n[c], 1e-9*(1+n[c]))
		}
		for i, v := range transitions {
			nearly(t, "moves", s.Chain[k+i], v, 1e-9*(1+v))
		}
	}
}

// The sums are the same bits for any number of threads, from memory and from a stream.
func TestSumsOfAChainAreTheSameBitsForAnyThreadsAndSource(t *testing.T) {
	t.Parallel()
	eachEmission(t, func(t *testing.T, e *emission, gaps bool) {
		src := e.rows(2, gaps, lengths...)
		m, theta := chainOf(t, e, src)
		want := ""
		for _, threads := range []int{1, 2, 3, 8} {
			for _, from := range []data.Source{src, &stream{Table: src}} {
				s := sums(t, from, m, theta, threads)
				got := text([]*family.Stats{s}) + fmt.Sprintf("%b", s.Chain)
				if want == "" {
					want = got
				}
				if got != want {
					t.Fatalf("%d threads, %T: the sums are\n%s, want\n%s", threads, from, got, want)
				}
			}
		}
	})
}

// A sequence that is cut into blocks has the sums of one that is not.
func TestBlocksOfASequenceAreTheSequence(t *testing.T) {
	t.Parallel()
	e := &emissions()[0]
	for _, far := range []float64{0, 1e4} { // logarithms throughout
		src := e.rows(3, false, 1500)
		src.F64[2*700] += far
		m, theta := chainOf(t, e, src)
		cut := sums(t, src, m, theta, 2) // blocks of 256 rows
		s, err := sweep.NewLocal(src, 1<<20, make([]float64, 2), 1).Sweep(context.Background(), []sweep.Task{{Mixture: m, Theta: theta, Beta: 1}})
		if err != nil {
			t.Fatal(err)
		}
		same(t, cut, s[0], 1e-9)
	}
}

// same wants sums that differ by rounding alone.
func same(t *testing.T, got, want *family.Stats, tol float64) {
	t.Helper()
	if got.Rows != want.Rows {
		t.Errorf("%d rows, want %d", got.Rows, want.Rows)
	}
	for _, v := range []struct {
		what      string
		got, want []float64
	}{
		{"sums over rows", []float64{got.W, got.F, got.LogLik, got.Entropy}, []float64{want.W, want.F, want.LogLik, want.Entropy}},
		{"rows of a state", got.N, want.N}, {"sums of the family", got.Sum, want.Sum}, {"moves", got.Chain, want.Chain},
	} {
		for i, x := range v.want {
			nearly(t, v.what, v.got[i], x, tol*(1+math.Abs(x)))
		}
	}
}

// Sequences of one row are the mixture, whatever comes after a state.
func TestSequencesOfOneRowAreTheMixture(t *testing.T) {
	t.Parallel()
	eachEmission(t, func(t *testing.T, e *emission, gaps bool) {
		src := e.rows(4, gaps, slices.Repeat([]int{1}, 600)...)
		m, theta := chainOf(t, e, src)
		s := sums(t, src, m, theta, 2)
		plain := *m
		plain.Chain = false
		weights, _ := m.ChainProbabilities(theta)
		own := plain.Join(weights, [][]float64{m.Components(theta)})
		rows := *src
		rows.Sequence = nil
		want := sums(t, &rows, &plain, own, 2)
		nearly(t, "log-likelihood", s.LogLik, want.LogLik, 1e-9*math.Abs(want.LogLik))
		nearly(t, "row weight", s.W, want.W, 0)
		for c, n := range want.N {
			nearly(t, "rows of a state", s.N[c], n, 1e-9*(1+n))
		}
		for i, v := range want.Sum {
			nearly(t, "sums of the family", s.Sum[i], v, 1e-8*(1+math.Abs(v)))
		}
		for _, v := range s.Chain[m.K:] {
			nearly(t, "moves", v, 0, 0)
		}
		next := make([]float64, len(theta))
		m.MStep(next, theta, s)
		if !slices.Equal(next[m.K:m.K+m.K*m.K], theta[m.K:m.K+m.K*m.K]) {
			t.Error("transitions that nothing tells have changed")
		}
	})
}

// A sequence of weight 2 is two sequences.
func TestASequenceOfWeightTwoIsTwo(t *testing.T) {
	t.Parallel()
	eachEmission(t, func(t *testing.T, e *emission, gaps bool) {
		once := e.rows(5, gaps, 30, 600, 5)
		twice := *once
		weighted := *once
		weighted.W = nil
		for i := range once.N {
			w := 1.0
			if gaps {
				w = once.W[i]
			}
			weighted.W = append(weighted.W, w*(1+float64(once.Sequence[i]%2)))
			if once.Sequence[i] == 1 {
				if gaps {
					twice.W = append(twice.W, w)
				}
				twice.F64 = append(twice.F64, once.F64[i*e.d:(i+1)*e.d]...)
				twice.Sequence = append(twice.Sequence, 3)
				twice.N++
			}
		}
		m, theta := chainOf(t, e, once)
		a, b := sums(t, &weighted, m, theta, 2), sums(t, &twice, m, theta, 2)
		a.Rows = b.Rows // that counts rows, not their weight
		same(t, a, b, 1e-9)
	})
}

// Neither half of a step lowers the free energy, at any temperature, and it is known after the M-step without a pass.
func TestHalfStepsOfAChainAscend(t *testing.T) {
	t.Parallel()
	eachEmission(t, func(t *testing.T, e *emission, gaps bool) {
		src := e.rows(6, gaps, 60, 1, 600, 20)
		m, theta := chainOf(t, e, src)
		for _, beta := range []float64{1, 0.6, 1.5} {
			s := sumsAt(t, src, m, theta, beta, 1)
			for range 6 {
				f, next, tol := s.F, make([]float64, len(theta)), 1e-9*math.Abs(s.F)
				nearly(t, "log-likelihood", s.LogLik, sums(t, src, m, theta, 1).F, tol)
				nearly(t, "the free energy without a step", m.FreeEnergy(theta, theta, beta, s), f, tol)
				m.MStep(next, theta, s)
				lifted := m.FreeEnergy(next, theta, beta, s)
				if !(lifted >= f-tol) {
					t.Fatalf("beta %v: the M-step lowers F from %v to %v", beta, f, lifted)
				}
				theta, s = next, sumsAt(t, src, m, next, beta, 1)
				if !(s.F >= lifted-tol) {
					t.Fatalf("beta %v: the E-step lowers F from %v to %v", beta, lifted, s.F)
				}
			}
		}
	})
}

// The gradient from the sums is what differences of the free energy come to, and a step of EM is uphill.
func TestGradientOfAChainIsThatOfDifferences(t *testing.T) {
	t.Parallel()
	eachEmission(t, func(t *testing.T, e *emission, gaps bool) {
		src := e.rows(7, gaps, 60, 1, 540, 20)
		m, theta := chainOf(t, e, src)
		m.Prior = &mixture.Prior{Weights: 0.5, Transitions: 2}
		s := sums(t, src, m, theta, 1)
		g, next := make([]float64, len(theta)), make([]float64, len(theta))
		m.Grad(g, theta, s)
		m.MStep(next, theta, s)
		uphill, rng := 0.0, rand.New(rand.NewPCG(8, 8))
		for i, v := range g {
			uphill += v * (next[i] - theta[i])
		}
		if !(uphill > 0) {
			t.Errorf("the slope along EM's step is %v", uphill)
		}
		at := func(z []float64, h float64) float64 {
			to := slices.Clone(theta)
			for i, v := range z {
				to[i] += h * v
			}
			return sums(t, src, m, to, 1).F + m.LogPrior(to)
		}
		for range 4 {
			z, slope, h := make([]float64, len(theta)), 0.0, 1e-4
			for i := range z {
				z[i] = rng.NormFloat64()
				slope += z[i] * g[i]
			}
			nearly(t, "slope", (8*(at(z, h)-at(z, -h))-(at(z, 2*h)-at(z, -2*h)))/(12*h), slope, 1e-5*(1+math.Abs(slope)))
		}
		near, z := m.Near(theta, s), make([]float64, len(theta))
		near.Precondition(z, g)
		product := 0.0
		for i, v := range z {
			product += v * g[i]
		}
		nearly(t, "the squared length of a step in the metric", near.Length(z)*near.Length(z), product, 1e-8*product)
	})
}
