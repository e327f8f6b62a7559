package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/plot"
)

// bound is EM in one parameter: the log-likelihood of thirteen numbers as a function of the second component's mean, the
// rest held fixed, and the free energies F(q, .) of the responsibilities of three E-steps.
type bound struct {
	mu     []float64 // where the curves are drawn
	logLik []float64 // at mu
	steps  []emStep
}

// emStep is one E-step and the M-step after it.
type emStep struct {
	from, to float64   // the mean before and after
	logLik   float64   // at from
	lifted   float64   // F(q, to): the top of this bound
	f        []float64 // F(q, mu)
}

const mean2 = 1 // where theta holds the mean of the second component

// twoGaussians returns the mixture and its parameters with the given second mean: theta holds two means, then the logarithms of two
// standard deviations. Mixing weights are one half each.
func twoGaussians() (ground, func(mu float64) []float64) {
	var rows [][]float64
	for _, x := range []float64{-1.9, -1.2, -0.7, -0.3, 0.1, 0.5, 0.9, 1.6, 3.9, 4.6, 5.1, 5.4, 6.2} {
		rows = append(rows, []float64{x})
	}
	normal := family.Gaussian{Shape: family.Spherical, Var: []float64{7}} // the variance of the rows, roughly: it sets floors only
	g := over(&mixture.Mixture{Family: normal, K: 2, D: 1, Uniform: true}, rows)
	return g, func(mu float64) []float64 { return []float64{0, mu, math.Log(1.3), 0} }
}

func newBound() bound {
	g, at := twoGaussians()
	b := bound{mu: grid(-3, 8, 220)}
	for _, mu := range b.mu {
		b.logLik = append(b.logLik, g.eStep(at(mu), 1).LogLik)
	}
	mu := 1.0
	for range 3 {
		theta := at(mu)
		q := g.eStep(theta, 1)           // E: the responsibilities at theta
		next := g.mStep(theta, q)[mean2] // M: the mean that they make best
		f := func(mu float64) float64 { return g.mix.FreeEnergy(at(mu), theta, 1, q) }
		step := emStep{from: mu, to: next, logLik: q.LogLik, lifted: f(next)}
		for _, mu := range b.mu {
			step.f = append(step.f, f(mu))
		}
		b.steps = append(b.steps, step)
		mu = next
	}
	return b
}

func (b bound) figure() *plot.Figure {
	low := slices.Min(b.logLik) - 2
	lines := plot.Lines{
		Head: plot.Head{
			Title: "The E-step lifts the bound until it touches the log-likelihood, the M-step goes to the top of the bound",
			Width: 860, Height: 520,
			Note: "Thirteen numbers, two components of weight 1/2; the first has mean 0 and standard deviation 1.3, the second standard deviation 1.",
		},
		X:      plot.Axis{Label: "mean of the second component, μ"},
		Y:      plot.Axis{Label: "F(q, μ) and log-likelihood", Unit: "nats", Min: low, Max: slices.Max(b.logLik) + 3},
		Series: []plot.Series{{X: b.mu, Y: b.logLik}},
	}
	for _, s := range b.steps {
		lines.Series = append(lines.Series, plot.Series{X: b.mu, Y: s.f})
	}
	lines.Alt = fmt.Sprintf("The log-likelihood as a curve over μ, and three parabolas below it that touch it at %.2f, %.2f and %.2f. "+
		"Arrows go up along each parabola to its top (M) and from there up to the curve (E). The log-likelihood rises from %.2f to %.2f.",
		b.steps[0].from, b.steps[1].from, b.steps[2].from, b.steps[0].logLik, b.steps[2].logLik)
	f := lines.Figure()
	f.Legend = []plot.Key{{Name: "log-likelihood", Kind: plot.Line, Color: plot.Color(0)}}
	for i, s := range b.steps {
		c := plot.Color(i + 1)
		f.Legend = append(f.Legend, plot.Key{Name: fmt.Sprintf("F(q%c, μ), q%[1]c from μ = %.2f", '₁'+rune(i), s.from), Kind: plot.Dashed, Color: c})
		f.Layers = append(f.Layers, arrow{plot.Ink, 1.6, b.alongTop(s)}, text{"M", s.from + 0.64*(s.to-s.from), s.lifted - 3.6})
		if i > 0 {
			before := b.steps[i-1]
			f.Layers = append(f.Layers, arrow{plot.Ink, 1.6, [][2]float64{{s.from, before.lifted}, {s.from, s.logLik}}},
				text{"E", s.from - 0.22, (before.lifted+s.logLik)/2 - 0.4})
		}
	}
	for i, s := range b.steps {
		c := plot.Color(i + 1)
		f.Layers = append(f.Layers, marks{c, 0, 4.5, [][2]float64{{s.from, s.logLik}}}, marks{c, 3, 4, [][2]float64{{s.to, s.lifted}}})
	}
	return f
}

// alongTop returns the part of a bound that the M-step walks.
func (b bound) alongTop(s emStep) [][2]float64 {
	along := [][2]float64{{s.from, s.logLik}}
	for i, mu := range b.mu {
		if mu > s.from && mu < s.to {
			along = append(along, [2]float64{mu, s.f[i]})
		}
	}
	return append(along, [2]float64{s.to, s.lifted})
}
