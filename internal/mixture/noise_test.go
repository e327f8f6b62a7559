package mixture_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
)

// cloud is three groups in two columns, of weights 1 and 2, and one row in six anywhere in a box of 16 by 12.
type cloud struct {
	m      *mixture.Mixture
	panels []*family.Panel
	theta  []float64 // of the third EM step from a start that puts the groups where they are
}

const logBox = 5.25749537202778 // log(16 * 12)

// cloudy returns rows and a mixture with noise of a shape; with holes, one cell in five is missing, and the kernels are those for gaps.
func cloudy(shape family.Shape, holes bool, seed uint64) *cloud {
	rng := rand.New(rand.NewPCG(seed, 7))
	centre := [][2]float64{{-4, -2}, {3, 3}, {4, -3}}
	fam := kind.Gaussian.Family(kind.Variables{Shape: shape, Var: []float64{14, 8}})
	c := &cloud{m: &mixture.Mixture{Family: fam, K: 3, D: 2, Noise: &mixture.Noise{LogVolume: logBox, LogWidths: []float64{math.Log(16), math.Log(12)}}}}
	if holes {
		c.m = c.m.WithGaps()
	}
	for at := range 7 {
		n := kern.Rows
		if at == 6 {
			n = 9
		}
		p := &family.Panel{N: n, D: 2, X: make([]float64, 2*kern.Rows), W: make([]float64, kern.Rows), First: int64(at * kern.Rows)}
		for i := range n {
			p.W[i] = 1 + float64(i%2)
			g := centre[rng.IntN(3)]
			x, y := g[0]+rng.NormFloat64(), g[1]+0.7*rng.NormFloat64()
			if rng.IntN(6) == 0 {
				x, y = 16*rng.Float64()-8, 12*rng.Float64()-6
			}
			if holes && rng.IntN(5) == 0 {
				if rng.IntN(2) == 0 {
					x = math.NaN()
				} else {
					y = math.NaN()
				}
			}
			p.X[i], p.X[kern.Rows+i] = x, y
		}
		if holes {
			p.Mark()
		}
		c.panels = append(c.panels, p)
	}
	start, g, _ := c.m.Start()
	theta := make([]float64, start.Params())
	for k, v := range centre {
		start.Components(theta)[2*k], start.Components(theta)[2*k+1] = v[0], v[1]
	}
	for k := range g.Shape.Count(3) {
		g.FromVariances(g.ScaleOf(start.Components(theta), k, 3, 2), []float64{4, 4})
	}
	c.theta = c.m.Restrict(theta, 1)
	c.m.SetNoise(c.theta, 0.1)
	for range 3 {
		next := make([]float64, len(c.theta))
		c.m.MStep(next, c.theta, c.sweep(c.theta, 1))
		c.theta = next
	}
	return c
}

func (c *cloud) sweep(theta []float64, beta float64) *family.Stats {
	b, sc, s := c.m.Bind(theta, beta), mixture.NewScratch(c.m.K, c.m.D), c.m.NewStats(0)
	for _, p := range c.panels {
		b.Gather(s, p, sc)
	}
	b.Flush(s, sc)
	return s
}

// naive returns the same sums row by row from the log densities of the components, and the M-step that they give by the kernel's plain form.
func (c *cloud) naive(theta []float64, beta float64) (s *family.Stats, next []float64) {
	kernel, ws := c.m.Family.Bind(c.m.Components(theta), 3, 2), family.NewWorkspace(2)
	logw, dst, r := c.m.LogWeights(nil, theta), make([]float64, 3*kern.Rows), make([]float64, 3*kern.Rows)
	s = c.m.NewStats(0)
	logNoise := math.Log(1 - math.Exp(logw[0]) - math.Exp(logw[1]) - math.Exp(logw[2]))
	for _, p := range c.panels {
		kernel.Score(dst, p, ws)
		clear(r)
		for i := range p.N {
			density := 0.0
			for j, width := range []float64{16, 12} {
				if x := p.X[j*kern.Rows+i]; x == x {
					density -= math.Log(width)
				}
			}
			score := []float64{0, 0, 0, logNoise + density}
			for k := range 3 {
				score[k] = dst[k*kern.Rows+i] + logw[k]
			}
			w, best, z, z1 := p.W[i], 0, 0.0, 0.0
			for k, v := range score {
				if v > score[best] {
					best = k
				}
				z += math.Exp(beta * v)
				z1 += math.Exp(v)
			}
			s.W += w
			s.Rows++
			s.LogLik += w * math.Log(z1)
			if s.F += w * math.Log(z) / beta; math.IsInf(beta, 1) {
				s.F += w * score[best]
			}
			for k, v := range score {
				q := math.Exp(beta*v) / z
				if math.IsInf(beta, 1) {
					q = map[bool]float64{true: 1}[k == best]
				}
				if q > 0 && !math.IsInf(beta, 1) {
					s.Entropy -= w * q * math.Log(q)
				}
				if k == 3 {
					s.Noise += w * q
					s.NoiseDensity += w * q * density
				} else {
					r[k*kern.Rows+i] = w * q
				}
			}
		}
		kernel.Add(s, p, r, ws)
	}
	if math.IsInf(beta, 1) {
		s.F = 0
		for _, p := range c.panels { // log(exp(inf)) above is no number
			kernel.Score(dst, p, ws)
			for i := range p.N {
				density := 0.0
				for j, width := range []float64{16, 12} {
					if x := p.X[j*kern.Rows+i]; x == x {
						density -= math.Log(width)
					}
				}
				top := logNoise + density
				for k := range 3 {
					top = max(top, dst[k*kern.Rows+i]+logw[k])
				}
				s.F += p.W[i] * top
			}
		}
	}
	next = make([]float64, len(theta))
	c.m.MStep(next, theta, s)
	return s, next
}

func within(t *testing.T, what string, got, want, tol float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tol) {
		t.Errorf("%s is %v, want %v within %v", what, got, want, tol)
	}
}

// each runs a test for all shapes, with whole rows and with gaps.
func each(t *testing.T, try func(t *testing.T, c *cloud)) {
	for _, shape := range family.Shapes() {
		for _, holes := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/holes=%v", shape.Mclust(), holes), func(t *testing.T) {
				t.Parallel()
				try(t, cloudy(shape, holes, 3))
			})
		}
	}
}

// The sums of a sweep are those of a plain loop with one more column of scores, at every temperature; so is the M-step, whose covariances
// share the rows that the noise leaves.
func TestNoiseIsOneMoreColumnOfScores(t *testing.T) {
	each(t, func(t *testing.T, c *cloud) {
		for _, beta := range []float64{0.5, 1, 3, math.Inf(1)} {
			got := c.sweep(c.theta, beta)
			want, next := c.naive(c.theta, beta)
			for _, v := range []struct {
				what      string
				got, want float64
			}{{"W", got.W, want.W}, {"F", got.F, want.F}, {"log-likelihood", got.LogLik, want.LogLik}, {"entropy", got.Entropy, want.Entropy}, {"N_0", got.Noise, want.Noise},
				{"the noise's log density", got.NoiseDensity, want.NoiseDensity}, {"N_1", got.N[0], want.N[0]}, {"N_2", got.N[1], want.N[1]}, {"N_3", got.N[2], want.N[2]}} {
				within(t, fmt.Sprintf("beta %v: %s", beta, v.what), v.got, v.want, 1e-10*(1+math.Abs(v.want)))
			}
			within(t, "all shares", got.Noise+got.N[0]+got.N[1]+got.N[2], got.W, 1e-10*got.W)
			own := make([]float64, len(next))
			c.m.MStep(own, c.theta, got)
			for i, v := range next {
				within(t, fmt.Sprintf("beta %v: parameter %d after the M-step", beta, i), own[i], v, 1e-7)
			}
		}
	})
}

// Neither half of a step lowers the free energy, and the free energy that the sums tell after the M-step is the one that it ends at.
func TestNoHalfOfAStepWithNoiseLowersTheFreeEnergy(t *testing.T) {
	each(t, func(t *testing.T, c *cloud) {
		theta := append([]float64(nil), c.theta...)
		c.m.SetNoise(theta, 0.4)
		s := c.sweep(theta, 1)
		within(t, "F of the responsibilities at their own parameters", c.m.FreeEnergy(theta, theta, 1, s), s.F, 1e-9*math.Abs(s.F))
		for range 12 {
			next := make([]float64, len(theta))
			c.m.MStep(next, theta, s)
			after := c.m.FreeEnergy(next, theta, 1, s)
			e := c.sweep(next, 1)
			if slack := 1e-10 * math.Abs(s.F); after < s.F-slack || e.F < after-slack {
				t.Fatalf("F was %v, after the M-step %v, after the E-step %v", s.F, after, e.F)
			}
			theta, s = next, e
		}
	})
}

// The gradient, the noise's logit in it, is that of the log-likelihood by differences, and the sum of the gradients of rows.
func TestTheGradientWithNoiseIsThatOfDifferences(t *testing.T) {
	each(t, func(t *testing.T, c *cloud) {
		s, g := c.sweep(c.theta, 1), make([]float64, len(c.theta))
		c.m.Grad(g, c.theta, s)
		for i := range g {
			at := func(h float64) float64 {
				x := append([]float64(nil), c.theta...)
				x[i] += h
				return c.sweep(x, 1).LogLik
			}
			const h = 1e-4
			want := (8*(at(h)-at(-h)) - (at(2*h) - at(-2*h))) / (12 * h)
			within(t, fmt.Sprintf("derivative %d", i), g[i], want, 1e-5*(1+math.Abs(want)))
		}
		b, sc, sum := c.m.Bind(c.theta, 1), mixture.NewScratch(3, 2), make([]float64, len(g))
		for _, p := range c.panels {
			rows := make([]float64, len(g)*kern.Rows)
			c.m.RowGrad(rows, b, p, sc)
			for i := range g {
				for r, w := range p.W[:p.N] {
					sum[i] += w * rows[i*kern.Rows+r]
				}
			}
		}
		for i := range g {
			within(t, fmt.Sprintf("sum over rows of derivative %d", i), sum[i], g[i], 1e-7*(1+math.Abs(g[i])))
		}
	})
}

// The metric of the logits is that of a multinomial, the noise among them: its inverse undoes it on moves that add up to 0.
func TestTheMetricWithNoiseIsThatOfAMultinomial(t *testing.T) {
	c := cloudy(family.Full, false, 4)
	s := c.sweep(c.theta, 1)
	g := mixture.Geometry{Mixture: c.m, Theta: c.theta, Stats: s}
	n := append(append([]float64(nil), s.N...), s.Noise)
	total := n[0] + n[1] + n[2] + n[3]
	v, q, z := []float64{0.3, -0.1, 0.5, -0.7}, make([]float64, len(c.theta)), make([]float64, len(c.theta))
	mean, square := 0.0, 0.0
	for i := range v {
		mean += n[i] * v[i] / total
	}
	for i := range v {
		q[i] = n[i] * (v[i] - mean) // N (diag(pi) - pi pi') v
		square += v[i] * q[i]
	}
	g.Precondition(z, q)
	for i := range v {
		within(t, "a logit less the last", z[i]-z[3], v[i]-v[3], 1e-12)
	}
	within(t, "the squared length", g.Length(append(v, make([]float64, len(c.theta)-4)...))*g.Length(append(v, make([]float64, len(c.theta)-4)...)), square, 1e-9*square)
}

// A weight of 2 is the row twice.
func TestAWeightOfTwoIsTheRowTwiceWithNoise(t *testing.T) {
	each(t, func(t *testing.T, c *cloud) {
		want := c.sweep(c.theta, 1)
		var twice []*family.Panel
		for _, p := range c.panels {
			for _, only := range []float64{1, 2} {
				own := *p
				own.W = make([]float64, kern.Rows)
				for i, w := range p.W {
					if w >= only {
						own.W[i] = 1
					}
				}
				twice = append(twice, &own)
			}
		}
		c.panels = twice
		got := c.sweep(c.theta, 1)
		within(t, "N_0", got.Noise, want.Noise, 1e-11*want.Noise)
		within(t, "its log density", got.NoiseDensity, want.NoiseDensity, 1e-11*math.Abs(want.NoiseDensity))
		for i, v := range want.Sum {
			within(t, fmt.Sprintf("sum %d", i), got.Sum[i], v, 1e-9*(1+math.Abs(v)))
		}
	})
}

// On its floor the noise is the plain mixture. There it is held where the M-step leaves it, and not where rows far from the components
// raise it.
func TestNoiseOnItsFloorIsThePlainMixture(t *testing.T) {
	each(t, func(t *testing.T, c *cloud) {
		theta := append([]float64(nil), c.theta...)
		theta[3] = -500
		c.m.Project(theta)
		if c.m.NoiseWeight(theta) != 0 || !(c.m.LogNoise(theta) > -28) {
			t.Fatalf("the weight of the noise on its floor is %v, its logarithm %v", c.m.NoiseWeight(theta), c.m.LogNoise(theta))
		}
		next, held := make([]float64, len(theta)), make([]bool, len(theta))
		c.m.MStep(next, theta, c.sweep(theta, 1))
		if leaves := c.m.Held(held, theta, next); !leaves || held[3] {
			t.Error("noise that far rows ask for is held on its floor")
		}
		c.m.Noise = &mixture.Noise{LogVolume: logBox + 60, LogWidths: []float64{math.Log(16) + 30, math.Log(12) + 30}}
		got := c.sweep(theta, 1)
		plain := &cloud{m: &mixture.Mixture{Family: c.m.Family, K: 3, D: 2}, panels: c.panels}
		want := plain.sweep(append(append([]float64(nil), theta[:3]...), theta[4:]...), 1)
		within(t, "the log-likelihood", got.LogLik, want.LogLik, 1e-8)
		for i, v := range want.N {
			within(t, "N", got.N[i], v, 1e-8)
		}
		c.m.MStep(next, theta, got)
		if leaves := c.m.Held(held, theta, next); leaves || !held[3] {
			t.Error("noise that no row asks for is not held on its floor")
		}
	})
}

// Noise costs no memory in a sweep.
func TestASweepWithNoiseAllocatesNothing(t *testing.T) {
	for _, holes := range []bool{false, true} {
		for _, beta := range []float64{1, math.Inf(1)} {
			c := cloudy(family.Tied, holes, 5)
			b, sc, s := c.m.Bind(c.theta, beta), mixture.NewScratch(3, 2), c.m.NewStats(0)
			if n := testing.AllocsPerRun(20, func() {
				for _, p := range c.panels {
					b.Gather(s, p, sc)
				}
				b.Flush(s, sc)
			}); n != 0 && !holes || n > 3 { // rows with gaps flush with a row of memory, noise or not
				t.Errorf("holes %v, beta %v: %v allocations a sweep", holes, beta, n)
			}
		}
	}
}

// Components that a box leaves out change no sum where there is noise, at every level of kernels.
func TestBlocksWithNoiseGiveTheSumsOfAllComponents(t *testing.T) {
	for _, l := range kern.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer kern.Use(l)()
			rng := rand.New(rand.NewPCG(11, 0))
			plain := &mixture.Mixture{Family: family.Gaussian{Shape: family.TiedDiag, Var: []float64{1, 1, 1}}, K: 20, D: 3}
			start := far(plain, family.TiedDiag, 12, rng)
			m := *plain
			m.Noise = &mixture.Noise{LogVolume: 12}
			theta := append(append(append([]float64(nil), start[:20]...), 0), start[20:]...)
			m.SetNoise(theta, 0.1)
			b, boxes := m.Bind(theta, 1), family.NewBoxes(3)
			panels := walk(plain, start, 12, 0.1, rng)
			if !b.Bounded() {
				t.Fatal("no component can be left out")
			}
			got, want, sc := m.NewStats(0), m.NewStats(0), mixture.NewScratch(20, 3)
			for _, p := range panels {
				b.Add(want, p, sc)
				boxes.Add(p)
			}
			if left := b.Left(boxes, sc); left >= 20*len(panels) {
				t.Fatal("no component is left out")
			}
			b.GatherBoxes(got, panels, boxes, sc)
			b.Flush(got, sc)
			hard, all, some := m.Bind(theta, math.Inf(1)), m.NewStats(0), m.NewStats(0)
			for _, p := range panels {
				hard.Add(all, p, sc)
			}
			hard.GatherBoxes(some, panels, boxes, sc)
			hard.Flush(some, sc)
			if all.Labels != some.Labels || all.Noise == 0 || all.Noise != some.Noise {
				t.Errorf("hard labels: fingerprints %x and %x, rows of the noise %v and %v", all.Labels, some.Labels, all.Noise, some.Noise)
			}
			within(t, "N_0", got.Noise, want.Noise, 1e-12*want.W)
			within(t, "F", got.F, want.F, 1e-12*math.Abs(want.F))
			for i, v := range want.Sum {
				within(t, fmt.Sprintf("sum %d", i), got.Sum[i], v, 1e-9*want.W)
			}
		})
	}
}

// The noise's weight is what it is set to, within its ends, and the others keep their proportions.
func TestSetNoise(t *testing.T) {
	c := cloudy(family.Diag, false, 6)
	before := c.m.LogWeights(nil, c.theta)
	for _, share := range []float64{0, 1e-6, 0.3, 1 - 1e-6, 1} {
		c.m.SetNoise(c.theta, share)
		within(t, "the weight", math.Exp(c.m.LogNoise(c.theta)), share, 1e-11)
		after := c.m.LogWeights(nil, c.theta)
		within(t, "a proportion", after[1]-after[0], before[1]-before[0], 1e-9)
	}
}
