package mixture_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// Two mixtures take turns panel by panel, as in a sweep of two starts, on scratch memory that they share. What each
// gathers is what its log densities say, row by row.
func TestGatheredSumsAreThoseOfTheRows(t *testing.T) {
	for _, l := range kern.Levels() {
		t.Run(l.String(), func(t *testing.T) {
			defer kern.Use(l)()
			rng := rand.New(rand.NewPCG(23, 0))
			for _, m := range mixtures() {
				for _, beta := range []float64{0.5, 1, 3, math.Inf(1)} {
					gathered(t, rng, m, beta)
				}
			}
		})
	}
}

func gathered(t *testing.T, rng *rand.Rand, m *mixture.Mixture, beta float64) {
	var theta [2][]float64
	var b [2]*mixture.Bound
	var got [2]*family.Stats
	for i := range theta {
		theta[i] = make([]float64, m.Params())
		for j := range theta[i] {
			theta[i][j] = rng.NormFloat64() / 2
		}
		b[i], got[i] = m.Bind(theta[i], beta), m.NewStats(0)
	}
	sc := mixture.NewScratch(m.K, m.D)
	scratch := [2]*mixture.Scratch{sc, sc.Sibling()}
	panels := []*family.Panel{rows(m, kern.Rows, rng), rows(m, kern.Rows, rng), rows(m, 11, rng)}
	for _, p := range panels {
		for i := range b {
			b[i].Gather(got[i], p, scratch[i])
		}
	}
	for i := range b {
		b[i].Flush(got[i], scratch[i])
		var want family.Stats
		n := make([]float64, m.K)
		size := 1.0
		for _, p := range panels {
			logits := m.Bind(theta[i], 1).Logits(p, mixture.NewScratch(m.K, m.D))
			for r := range p.N {
				at := func(c int) float64 { return logits[c*kern.Rows+r] }
				top, z1, z := math.Inf(-1), 0.0, 0.0
				for c := range m.K {
					top = max(top, at(c))
					z1 += math.Exp(at(c))
					z += math.Exp(beta * at(c))
				}
				w := p.W[r]
				want.Rows++
				want.W += w
				want.LogLik += w * math.Log(z1)
				size += w * math.Abs(math.Log(z1))
				if math.IsInf(beta, 1) {
					want.F += w * top
					for c := range m.K {
						if at(c) == top {
							n[c] += w
							break
						}
					}
					continue
				}
				want.F += w * math.Log(z) / beta
				for c := range m.K {
					q := math.Exp(beta*at(c)) / z
					n[c] += w * q
					if q > 0 {
						want.Entropy -= w * q * math.Log(q)
					}
				}
			}
		}
		near := func(what string, got, want float64) {
			t.Helper()
			if !(math.Abs(got-want) <= 1e-11*size) {
				t.Fatalf("%s, uniform %v, beta %v: %s %v, want %v", m.Family.Name(), m.Uniform, beta, what, got, want)
			}
		}
		s := got[i]
		near("rows", float64(s.Rows), float64(want.Rows))
		near("weight", s.W, want.W)
		near("F", s.F, want.F)
		near("log-likelihood", s.LogLik, want.LogLik)
		near("entropy", s.Entropy, want.Entropy)
		for c := range n {
			near("N", s.N[c], n[c])
		}
		if gauss, ok := m.Family.(family.Gaussian); ok && beta == 1 {
			first(t, gauss, m, theta[i], s, panels)
		}
	}
}

// first checks the total of the first moments of a Gaussian mixture, which responsibilities cannot change: sum_c (t_c +
// N_c m_c) is the weighted sum of the rows.
func first(t *testing.T, g family.Gaussian, m *mixture.Mixture, theta []float64, s *family.Stats, panels []*family.Panel) {
	mean := m.Components(theta)
	for j := range m.D {
		got, want, size := 0.0, 0.0, 1.0
		for c := range m.K {
			got += s.Sum[c*m.D+j] + s.N[c]*mean[c*m.D+j]
		}
		for _, p := range panels {
			for r := range p.N {
				want += p.W[r] * p.X[j*kern.Rows+r]
				size += math.Abs(p.W[r] * p.X[j*kern.Rows+r])
			}
		}
		if !(math.Abs(got-want) <= 1e-11*size) {
			t.Fatalf("%s: column %d adds to %v, want %v", g.Name(), j, got, want)
		}
	}
}
