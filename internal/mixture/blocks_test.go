package mixture_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// walk returns panels of rows that follow one another closely, as pixels do: a random walk between the means of theta.
func walk(m *mixture.Mixture, theta []float64, n int, step float64, rng *rand.Rand) []*family.Panel {
	mean, x, all := m.Components(theta), make([]float64, m.D), make([]*family.Panel, n)
	c := 0
	for i := range all {
		p := &family.Panel{N: kern.Rows, D: m.D, X: make([]float64, m.D*kern.Rows), W: make([]float64, kern.Rows), First: int64(i * kern.Rows)}
		all[i] = p
		for r := range kern.Rows {
			if rng.IntN(30) == 0 {
				c = rng.IntN(m.K)
			}
			p.W[r] = 1
			for j := range x {
				x[j] += 0.2*(mean[c*m.D+j]-x[j]) + step*rng.NormFloat64()
				p.X[j*kern.Rows+r] = x[j]
			}
		}
	}
	return all
}

func far(m *mixture.Mixture, shape family.Shape, spread float64, rng *rand.Rand) []float64 {
	g := m.Family.(family.Gaussian)
	theta := make([]float64, m.Params())
	for c := range m.K {
		theta[c] = rng.NormFloat64()
		for j := range m.D {
			m.Components(theta)[c*m.D+j] = spread * rng.NormFloat64()
		}
	}
	for c := range g.Shape.Count(m.K) {
		u := g.ScaleOf(m.Components(theta), c, m.K, m.D)
		for i := range u {
			u[i] = 0.4 * rng.NormFloat64()
		}
	}
	return theta
}

// What is left out is below the rounding of every sum: sums with bounds are those of all components, on rows alike and
// on rows made to mislead.
func TestBlocksGiveTheSumsOfAllComponents(t *testing.T) {
	for _, l := range kern.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer kern.Use(l)()
			for _, shape := range []family.Shape{family.Full, family.Diag, family.Spherical, family.TiedDiag, family.TiedSpherical} {
				for _, data := range []string{"walk", "weights", "duplicates", "outliers", "tight", "dead", "correlated"} {
					for _, beta := range []float64{0.2, 1, 1.2, math.Inf(1)} {
						t.Run(fmt.Sprintf("%v,%s,beta=%v", shape, data, beta), func(t *testing.T) { blocksLikeAll(t, shape, data, beta) })
					}
				}
			}
		})
	}
}

func blocksLikeAll(t *testing.T, shape family.Shape, data string, beta float64) {
	const k, d = 70, 3
	rng := rand.New(rand.NewPCG(81, 0))
	m := &mixture.Mixture{Family: family.Gaussian{Shape: shape, Var: []float64{1, 1, 1}}, K: k, D: d}
	theta := far(m, shape, 60*math.Max(1, 1/beta), rng) // below 1 responsibilities are spread: farther apart they matter again
	g := m.Family.(family.Gaussian)
	panels := walk(m, theta, 40, 0.3, rng)
	most := 0.6
	switch data {
	case "weights":
		for _, p := range panels {
			for i := range p.W {
				p.W[i] = float64(rng.IntN(3)) / 2
				if p.W[i] == 0 && rng.IntN(4) == 0 { // no part of the sums however far away
					p.X[i] = 1e150
				}
			}
		}
		clear(panels[3].W)
		panels[7].N = 5
		clear(panels[7].W[5:])
	case "duplicates":
		for _, p := range panels {
			for i := range p.X {
				p.X[i] = math.Round(p.X[i-i%kern.Rows])
			}
		}
		for c := 1; c < k; c += 7 { // components that are the same
			copy(m.Components(theta)[c*d:c*d+d], m.Components(theta)[(c-1)*d:])
			theta[c] = theta[c-1]
			if !shape.Shared() {
				copy(g.ScaleOf(m.Components(theta), c, k, d), g.ScaleOf(m.Components(theta), c-1, k, d))
			}
		}
	case "outliers": // all scores are low, their differences decide
		for _, p := range panels[:20] {
			f := math.Pow(10, 1+4*rng.Float64())
			for i := range p.X {
				p.X[i] *= f
			}
		}
		panels[2].X[5] = 1e100
		most = 1
	case "tight":
		for c := range shape.Count(k) {
			u := g.ScaleOf(m.Components(theta), c, k, d)
			for j := range u {
				if shape != family.Full || j == 0 || j == 2 || j == 5 {
					u[j] -= float64(c%3) * 5
				}
			}
		}
	case "dead":
		for c := 0; c < k; c += 3 {
			theta[c] = mixture.MinLogWeight
		}
	case "correlated":
		if shape == family.Full { // nearly singular, as grey pixels are
			for c := range k {
				u := g.ScaleOf(m.Components(theta), c, k, d)
				copy(u, []float64{0, 1, -4 - 8*rng.Float64(), 1, 0.01, -4 - 8*rng.Float64()})
			}
		}
	}
	b := m.Bind(theta, beta)
	want, got := m.NewStats(0), m.NewStats(0)
	dense, sc := mixture.NewScratch(k, d), mixture.NewScratch(k, d)
	for _, p := range panels {
		b.Gather(want, p, dense)
	}
	b.Flush(want, dense)
	if !b.Bounded() {
		t.Fatal("bounds are not tried")
	}
	left := 0.0
	for from := 0; from < len(panels); from += kern.Rows {
		run := panels[from:min(from+kern.Rows, len(panels))]
		boxes := family.NewBoxes(d)
		for _, p := range run {
			boxes.Add(p)
		}
		left += float64(b.Left(boxes, sc)) / float64(k*len(panels))
		b.GatherBoxes(got, run, boxes, sc)
	}
	b.Flush(got, sc)
	if left > most {
		t.Errorf("%.0f %% of the pairs are left: nothing is tested", 100*left)
	}
	if got.Labels != want.Labels || got.Rows != want.Rows {
		t.Errorf("labels %x of %d rows, want %x of %d", got.Labels, got.Rows, want.Labels, want.Rows)
	}
	near := func(what string, got, want, size float64) {
		t.Helper()
		if !(math.Abs(got-want) <= 1e-13*size) {
			t.Errorf("%s %v, want %v", what, got, want)
		}
	}
	near("weight", got.W, want.W, want.W)
	near("F", got.F, want.F, math.Abs(want.F))
	near("log-likelihood", got.LogLik, want.LogLik, math.Abs(want.LogLik))
	near("entropy", got.Entropy, want.Entropy, want.W)
	z := shape.Size(d)
	// A component is compared with what its mixing weight promises it: a fit's components get that much.
	share := make([]float64, k)
	for c, w := range m.LogWeights(nil, theta) {
		share[c] = max(want.N[c], math.Exp(w)*want.W)
		near("N", got.N[c], want.N[c], share[c])
	}
	// Moments are compared in units of the sums about the origin that they are made of.
	reach := make([]float64, k)
	for _, p := range panels {
		for i := range p.W {
			if p.W[i] > 0 {
				for j := range d {
					for c := range k {
						v := math.Abs(p.X[j*kern.Rows+i]) + math.Abs(m.Components(theta)[c*d+j])
						if v < 1e50 {
							reach[c] = max(reach[c], v)
						}
					}
				}
			}
		}
	}
	for i, v := range want.Sum {
		size := math.Abs(v)
		if i < k*d {
			size += share[i/d] * reach[i/d]
		} else if c := (i - k*d) / z; shape.Shared() {
			size += want.W * reach[0] * reach[0]
		} else {
			size += share[c] * reach[c] * reach[c]
		}
		near(fmt.Sprint("sum ", i), got.Sum[i], v, size)
	}
}

func TestBlocksAllocateNothing(t *testing.T) {
	const k, d = 40, 3
	rng := rand.New(rand.NewPCG(82, 0))
	m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1}}, K: k, D: d}
	theta := far(m, family.Full, 60, rng)
	panels := walk(m, theta, kern.Rows, 0.3, rng)
	b, s, sc, boxes := m.Bind(theta, 1), m.NewStats(0), mixture.NewScratch(k, d), family.NewBoxes(d)
	if n := testing.AllocsPerRun(10, func() {
		boxes.N = 0
		for _, p := range panels {
			boxes.Add(p)
		}
		b.GatherBoxes(s, panels, boxes, sc)
		b.Flush(s, sc)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// Components that overlap everywhere are not bounded, nor are few.
func TestBlocksAreNotTriedWhereTheyCannotPay(t *testing.T) {
	rng := rand.New(rand.NewPCG(83, 0))
	for _, c := range []struct {
		k      int
		spread float64
		want   bool
	}{{7, 100, false}, {8, 100, true}, {40, 2, false}, {40, 60, true}} {
		m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Full, Var: []float64{1, 1, 1}}, K: c.k, D: 3}
		if got := m.Bind(far(m, family.Full, c.spread, rng), 1).Bounded(); got != c.want {
			t.Errorf("%d components, spread %v: %v, want %v", c.k, c.spread, got, c.want)
		}
	}
}
