package mixture_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

var conjugate = []family.Shape{family.Full, family.Tied, family.Diag, family.Spherical, family.TiedDiag, family.TiedSpherical}

// bayesCase is rows with weights and a mixture of variational Bayes under a prior that is none of the defaults.
type bayesCase struct {
	m    *mixture.Mixture
	d, n int
	x, w []float64
}

func newBayesCase(shape family.Shape, process bool, k, d, n int, seed uint64) *bayesCase {
	rng := rand.New(rand.NewPCG(seed, 5))
	c := &bayesCase{d: d, n: n}
	for i := range n {
		for j := range d {
			c.x = append(c.x, rng.NormFloat64()+2.5*float64((i%3)*(j+1)%3))
		}
		c.w = append(c.w, 0.5+float64(i%4)/2)
	}
	rows := 0.0
	for _, w := range c.w {
		rows += w
	}
	prior := family.BayesPrior{MeanPrecision: 0.7, Dof: float64(d) + 0.8}
	v := make([]float64, d)
	for j := range d {
		v[j] = 4
		prior.Mean = append(prior.Mean, 0.3*float64(j)-0.2)
	}
	switch shape.Alone() {
	case family.Full:
		for j := range d {
			for l := range j + 1 {
				prior.Scale = append(prior.Scale, 0.4)
				if l == j {
					prior.Scale[len(prior.Scale)-1] = 1.5 + float64(j)
				}
			}
		}
	case family.Diag:
		for j := range d {
			prior.Scale = append(prior.Scale, 1.5+float64(j))
		}
	default:
		prior.Scale = []float64{2.5}
	}
	f := family.Bayes{Gaussian: family.Gaussian{Shape: shape, Var: v}, Prior: prior}
	c.m = &mixture.Mixture{Family: f, K: k, D: d, Bayes: &mixture.Bayes{Concentration: 0.6, Process: process, Rows: rows}}
	return c
}

// start returns parameters with means at rows and a count of half a row for the last of three and more components.
func (c *bayesCase) start(rng *rand.Rand) []float64 {
	theta := make([]float64, c.m.Params())
	comp := c.m.Components(theta)
	for i := range c.m.K {
		theta[i] = 0.3 * rng.NormFloat64()
		copy(comp[i*c.d:], c.x[i%c.n*c.d:i%c.n*c.d+c.d])
	}
	if c.m.K > 2 {
		theta[c.m.K-1] = -4
	}
	for i := c.m.K * c.d; i < len(comp); i++ {
		comp[i] = 0.2 * rng.NormFloat64()
	}
	return theta
}

// sweep returns the sums of a pass at theta.
func (c *bayesCase) sweep(theta []float64) *family.Stats {
	m := c.m
	b, s, sc := m.Bind(theta, 1), m.NewStats(0), mixture.NewScratch(m.K, m.D)
	p := &family.Panel{D: m.D, X: make([]float64, m.D*kern.Rows, (m.D+family.Spare)*kern.Rows), W: make([]float64, kern.Rows)}
	for lo := 0; lo < c.n; lo += kern.Rows {
		p.N = min(kern.Rows, c.n-lo)
		kern.Pack(p.X, c.x[lo*c.d:(lo+p.N)*c.d], make([]float64, c.d), p.N, c.d)
		clear(p.W)
		copy(p.W, c.w[lo:lo+p.N])
		b.Add(s, p, sc)
	}
	return s
}

func (c *bayesCase) bound(theta []float64) float64 { return c.m.Objective(theta, c.sweep(theta)) }

// settled returns theta after so many M-steps.
func (c *bayesCase) settled(theta []float64, steps int) []float64 {
	theta = slices.Clone(theta)
	for range steps {
		c.m.MStep(theta, theta, c.sweep(theta))
	}
	return theta
}

// eachBayes runs f on every shape, with both priors of the weights and 1 to 4 components.
func eachBayes(t *testing.T, f func(t *testing.T, c *bayesCase, rng *rand.Rand)) {
	for _, shape := range conjugate {
		for i, process := range []bool{false, true} {
			for k := 1; k <= 4; k++ {
				d := 1 + (k+i)%3
				t.Run(fmt.Sprintf("%s/process=%v/k=%d/d=%d", shape, process, k, d), func(t *testing.T) {
					f(t, newBayesCase(shape, process, k, d, 90, uint64(10*k+i)), rand.New(rand.NewPCG(uint64(k), uint64(i))))
				})
			}
		}
	}
}

func TestNoHalfStepLowersTheBound(t *testing.T) {
	t.Parallel()
	eachBayes(t, func(t *testing.T, c *bayesCase, rng *rand.Rand) {
		theta, next := c.start(rng), make([]float64, c.m.Params())
		last := math.Inf(-1)
		for range 40 {
			s := c.sweep(theta)
			f := c.m.Objective(theta, s)
			slack := 1e-11 * math.Abs(f)
			if f < last-slack {
				t.Fatalf("an E-step leads from %v to %v", last, f)
			}
			c.m.MStep(next, theta, s)
			lifted := c.m.FreeEnergy(next, theta, 1, s)
			if lifted < f-slack {
				t.Fatalf("an M-step leads from %v to %v", f, lifted)
			}
			// At theta itself the free energy of its own responsibilities is the bound.
			if same := c.m.FreeEnergy(theta, theta, 1, s); !(math.Abs(same-f) <= slack) {
				t.Fatalf("the free energy at theta is %v, the bound %v", same, f)
			}
			last, theta, next = lifted, next, theta
		}
	})
}

func TestGradientOfTheBoundAgreesWithDifferences(t *testing.T) {
	t.Parallel()
	eachBayes(t, func(t *testing.T, c *bayesCase, rng *rand.Rand) {
		theta := c.start(rng)
		g := make([]float64, len(theta))
		c.m.Grad(g, theta, c.sweep(theta))
		size := 1.0
		for _, v := range g {
			size = max(size, math.Abs(v))
		}
		for i := range theta {
			at := func(h float64) float64 {
				to := slices.Clone(theta)
				to[i] += h
				return c.bound(to)
			}
			const h = 1e-3
			slope := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			if !(math.Abs(g[i]-slope) <= 1e-7*size) {
				t.Errorf("slope along parameter %d is %v, by differences %v", i, g[i], slope)
			}
		}
	})
}

// The metric is the curvature of the bound with responsibilities fixed, where they belong to theta.
func TestMetricOfTheBoundIsItsCurvature(t *testing.T) {
	t.Parallel()
	eachBayes(t, func(t *testing.T, c *bayesCase, rng *rand.Rand) {
		theta := c.settled(c.start(rng), 300)
		s := c.sweep(theta)
		near := mixture.Geometry{Mixture: c.m, Theta: theta, Stats: s}
		for range 4 {
			z := make([]float64, len(theta))
			for i := range z {
				z[i] = rng.NormFloat64()
			}
			if c.m.K == 1 {
				z[0] = 0 // one weight is 1
			}
			square := near.Length(z) * near.Length(z)
			at := func(h float64) float64 {
				to := slices.Clone(theta)
				for i, v := range z {
					to[i] += h * v
				}
				return c.m.FreeEnergy(to, theta, 1, s)
			}
			h := 0.01 / math.Sqrt(square)
			second := -(-at(2*h) + 16*at(h) - 30*at(0) + 16*at(-h) - at(-2*h)) / (12 * h * h)
			if !(math.Abs(second-square) <= 2e-4*square) {
				t.Errorf("the squared length is %v, the curvature %v", square, second)
			}
		}
	})
}

func TestMetricOfTheBoundIsInverted(t *testing.T) {
	t.Parallel()
	eachBayes(t, func(t *testing.T, c *bayesCase, rng *rand.Rand) {
		theta := c.start(rng)
		s := c.sweep(theta)
		near := mixture.Geometry{Mixture: c.m, Theta: theta, Stats: s}
		q, z := make([]float64, len(theta)), make([]float64, len(theta))
		sum := 0.0
		for i := range q {
			q[i] = rng.NormFloat64()
			if i < c.m.K {
				sum += q[i]
			}
		}
		for i := range c.m.K { // a gradient in the logits adds up to 0
			q[i] -= sum / float64(c.m.K)
		}
		near.Precondition(z, q)
		product := 0.0
		for i, v := range q {
			product += v * z[i]
		}
		if square := near.Length(z) * near.Length(z); !(math.Abs(square-product) <= 1e-8*product) {
			t.Errorf("the squared length of the move is %v, its product with the gradient %v", square, product)
		}
	})
}

// The M-step is a step of the natural gradient: beside a fixed point of it, the gradient in the metric.
func TestStepOfTheBoundIsItsNaturalGradient(t *testing.T) {
	t.Parallel()
	eachBayes(t, func(t *testing.T, c *bayesCase, rng *rand.Rand) {
		theta := c.settled(c.start(rng), 600)
		for i := range theta {
			theta[i] += 1e-4 * rng.NormFloat64()
		}
		s := c.sweep(theta)
		g, next := make([]float64, len(theta)), make([]float64, len(theta))
		c.m.Grad(g, theta, s)
		mixture.Geometry{Mixture: c.m, Theta: theta, Stats: s}.Precondition(g, g)
		c.m.MStep(next, theta, s)
		mean := 0.0
		for i := range c.m.K {
			mean += (next[i] - theta[i]) / float64(c.m.K)
		}
		for i := range theta {
			step := next[i] - theta[i]
			if i < c.m.K {
				step -= mean
			}
			if !(math.Abs(step-g[i]) <= 2e-6) {
				t.Errorf("parameter %d moves by %v, the natural gradient is %v", i, step, g[i])
			}
		}
	})
}

// evidence returns the log evidence of one component in closed form: the product of the normalisers (Murphy 2007, Conjugate Bayesian analysis of the
// Gaussian distribution, sections 3.6 and 9), from plain sums over the rows.
func evidence(c *bayesCase, f family.Bayes) float64 {
	d, n := c.d, 0.0
	mean := make([]float64, d)
	for i, w := range c.w {
		n += w
		for j := range d {
			mean[j] += w * c.x[i*d+j]
		}
	}
	for j := range mean {
		mean[j] /= n
	}
	s := make([]float64, d*d)
	for i, w := range c.w {
		for j := range d {
			for l := range d {
				s[j*d+l] += w * (c.x[i*d+j] - mean[j]) * (c.x[i*d+l] - mean[l])
			}
		}
	}
	p := f.Prior
	b0, b := p.MeanPrecision, p.MeanPrecision+n
	for j := range d {
		for l := range d {
			s[j*d+l] += b0 * n / b * (mean[j] - p.Mean[j]) * (mean[l] - p.Mean[l])
		}
	}
	logGamma := func(x float64) float64 { v, _ := math.Lgamma(x); return v }
	sum := float64(d)/2*math.Log(b0/b) - n*float64(d)/2*math.Log(math.Pi)
	switch f.Shape.Alone() {
	case family.Full:
		s0 := mat.NewSymDense(d, nil)
		at := 0
		for j := range d {
			for l := range j + 1 {
				s0.SetSym(j, l, p.Scale[at])
				at++
			}
		}
		s1 := mat.NewSymDense(d, nil)
		s1.CopySym(s0)
		for j := range d {
			for l := range j + 1 {
				s1.SetSym(j, l, s1.At(j, l)+s[j*d+l])
			}
		}
		sum += p.Dof/2*math.Log(mat.Det(s0)) - (p.Dof+n)/2*math.Log(mat.Det(s1))
		for j := range d {
			sum += logGamma((p.Dof+n-float64(j))/2) - logGamma((p.Dof-float64(j))/2)
		}
	case family.Diag:
		for j := range d {
			sum += p.Dof/2*math.Log(p.Scale[j]) - (p.Dof+n)/2*math.Log(p.Scale[j]+s[j*d+j]) + logGamma((p.Dof+n)/2) - logGamma(p.Dof/2)
		}
	default:
		trace, rows := p.Scale[0], n*float64(d)
		for j := range d {
			trace += s[j*d+j]
		}
		sum += p.Dof/2*math.Log(p.Scale[0]) - (p.Dof+rows)/2*math.Log(trace) + logGamma((p.Dof+rows)/2) - logGamma(p.Dof/2)
	}
	return sum
}

func TestBoundOfOneComponentIsItsEvidence(t *testing.T) {
	t.Parallel()
	for _, shape := range conjugate {
		for _, process := range []bool{false, true} {
			for d := 1; d <= 4; d++ {
				c := newBayesCase(shape, process, 1, d, 150, uint64(d))
				got, want := c.bound(c.settled(c.start(rand.New(rand.NewPCG(1, 1))), 1)), evidence(c, c.m.Family.(family.Bayes))
				if process { // the share of the one stick is no share of the rows: what it leaves is nobody's
					a := c.m.Bayes.Concentration
					beta := func(x, y float64) float64 {
						u, _ := math.Lgamma(x)
						v, _ := math.Lgamma(y)
						w, _ := math.Lgamma(x + y)
						return u + v - w
					}
					want += beta(1+c.m.Bayes.Rows, a) - beta(1, a)
				}
				if !(math.Abs(got-want) <= 1e-12*math.Abs(want)) {
					t.Errorf("%s, %d columns, process %v: the bound is %v, the log evidence %v", shape, d, process, got, want)
				}
			}
		}
	}
}

func TestWeightOfTwoIsTheRowTwiceInTheBound(t *testing.T) {
	t.Parallel()
	eachBayes(t, func(t *testing.T, c *bayesCase, rng *rand.Rand) {
		twice := *c
		twice.x, twice.w, twice.n = nil, nil, 0
		for i := range c.n {
			c.w[i] = float64(1 + i%2)
			for range 1 + i%2 {
				twice.x, twice.n = append(twice.x, c.x[i*c.d:(i+1)*c.d]...), twice.n+1
				twice.w = append(twice.w, 1)
			}
		}
		c.m.Bayes.Rows = float64(twice.n)
		theta := c.settled(c.start(rng), 5)
		a, b := c.bound(theta), twice.bound(theta)
		if !(math.Abs(a-b) <= 1e-12*math.Abs(a)) {
			t.Errorf("the bound is %v with weights, %v with rows repeated", a, b)
		}
	})
}
