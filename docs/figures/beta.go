package main

import (
	"fmt"
	"math"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/plot"
)

// sharpness is what the inverse temperature does to responsibilities: those of a narrow component on the shoulder of a wide one.
type sharpness struct {
	x     []float64
	wide  []float64   // weight times density, at x
	slim  []float64   // of the narrow component
	betas []float64   // the temperatures
	q     [][]float64 // responsibility of the narrow component at each beta and x
}

// The two components. theta holds the logarithms of the weights, the means, the logarithms of the standard deviations.
func slope() []float64 {
	return []float64{math.Log(0.65), math.Log(0.35), 0, 1.6, math.Log(1.5), math.Log(0.6)}
}

func newSharpness() sharpness {
	s := sharpness{x: grid(-4, 6, 400), betas: []float64{0.2, 1, 5, math.Inf(1)}}
	m := &mixture.Mixture{Family: family.Gaussian{Shape: family.Spherical, Var: []float64{2}}, K: 2, D: 1}
	s.q = make([][]float64, len(s.betas))
	for _, x := range s.x {
		g := over(m, [][]float64{{x}}) // one row: what an E-step sums is that row's
		density, q := math.Exp(g.eStep(slope(), 1).LogLik), g.eStep(slope(), 1).N
		s.wide, s.slim = append(s.wide, density*q[0]), append(s.slim, density*q[1])
		for b, beta := range s.betas {
			s.q[b] = append(s.q[b], g.eStep(slope(), beta).N[1])
		}
	}
	return s
}

// borders returns where the narrow component begins and ends to be the more probable one at a temperature, as numbers of x.
func (s sharpness) borders(b int) (from, to int) {
	from = -1
	for i, q := range s.q[b] {
		if q > 0.5 {
			if from < 0 {
				from = i
			}
			to = i
		}
	}
	return from, to
}

func (s sharpness) figure() *plot.Figure {
	from, to := s.borders(1)
	lines := plot.Lines{
		Head: plot.Head{
			Title: "β moves no border, it says how sharp a border is: soft at 0.2, the posterior at 1, hard at ∞",
			Width: 860, Height: 480,
			Note: fmt.Sprintf("Responsibility of a narrow component on the shoulder of a wide one. It is above 1/2 from x = %.1f to %.1f at every β.", s.x[from], s.x[to]),
		},
		X:      plot.Axis{Label: "x"},
		Y:      plot.Axis{Label: "responsibility; grey: weight × density", Min: -0.02, Max: 1.04},
		Levels: []plot.Reference{{At: 0.5}},
	}
	for b, beta := range s.betas {
		name := fmt.Sprintf("β = %g", beta)
		if math.IsInf(beta, 1) {
			name = "β = ∞"
		}
		x, y := corners(s.x, s.q[b])
		lines.Series = append(lines.Series, plot.Series{Name: name, X: x, Y: y})
	}
	for _, density := range [][]float64{s.wide, s.slim} {
		x, y := corners(s.x, density)
		lines.Series = append(lines.Series, plot.Series{X: x, Y: y, Faint: true})
	}
	f := lines.Figure()
	f.Layers = append(f.Layers, text{"wide", -2.35, 0.11}, text{"narrow", 1.9, 0.235})
	return f
}

// corners leaves out what lies between two equal values of a line.
func corners(x, y []float64) (cx, cy []float64) {
	for i := range x {
		if i > 0 && i < len(x)-1 && y[i] == y[i-1] && y[i] == y[i+1] {
			continue
		}
		cx, cy = append(cx, x[i]), append(cy, y[i])
	}
	return cx, cy
}
