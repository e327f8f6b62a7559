package main

import (
	"fmt"
	"math"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/plot"
)

// coins holds the two Kullback-Leibler divergences between a coin that shows heads with probability 0.8 and one with
// probability rho, in nats. They are read off the free energy: two components with the same density leave nothing but
// their weights to tell them apart, so the posterior of a row is a coin with the weights' bias, and what F falls short of
// the log-likelihood is the divergence of q from it.
type coins struct {
	rho               []float64
	forward, backward []float64 // KL(p1 || p2), KL(p2 || p1)
}

const heads = 0.8

func newCoins() coins {
	g := over(&mixture.Mixture{Family: family.Gaussian{Shape: family.Spherical, Var: []float64{1}}, K: 2, D: 1}, [][]float64{{0}})
	coin := func(rho float64) []float64 { return []float64{math.Log(rho), math.Log(1 - rho), 0, 0, 0, 0} }
	kl := func(p, q float64) float64 {
		posterior := g.eStep(coin(p), 1)
		return g.eStep(coin(q), 1).LogLik - g.mix.FreeEnergy(coin(q), coin(p), 1, posterior)
	}
	c := coins{rho: grid(0.005, 0.995, 198)}
	for _, rho := range c.rho {
		c.forward = append(c.forward, kl(heads, rho))
		c.backward = append(c.backward, kl(rho, heads))
	}
	return c
}

// marked is the index of the rho at which dots show that the order matters.
const marked = 9 // 0.05

func (c coins) figure() *plot.Figure {
	rho, forward, backward := c.rho[marked], c.forward[marked], c.backward[marked]
	lines := plot.Lines{
		Head: plot.Head{
			Title: "Two coins: a divergence is 0 where they are equal, above 0 elsewhere, and the order matters",
			Width: 760, Height: 440,
			Note: fmt.Sprintf("At ρ = %.2f the one is %.2f, the other %.2f nats. Where ρ goes to 0 the one grows without end, the other to log 5 = 1.61.", rho, forward, backward),
		},
		X: plot.Axis{Label: "ρ, the probability of heads of p₂; that of p₁ is 0.8", Min: 0, Max: 1},
		Y: plot.Axis{Label: "divergence", Unit: "nats", Min: -0.06, Max: 2.1},
		Series: []plot.Series{
			{Name: "KL(p₁ ‖ p₂)", X: c.rho, Y: c.forward},
			{Name: "KL(p₂ ‖ p₁)", X: c.rho, Y: c.backward},
		},
	}
	f := lines.Figure()
	f.Layers = append(f.Layers,
		marks{plot.Color(0), 0, 4, [][2]float64{{rho, forward}}},
		marks{plot.Color(1), 1, 4, [][2]float64{{rho, backward}}},
		marks{plot.Ink, 0, 4, [][2]float64{{heads, 0}}},
		text{"equal coins: both 0", heads - 0.12, 0.14},
	)
	return f
}
