package main

import (
	"context"
	"fmt"
	"image/color"
	"math"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// stuck is three methods from one bad start on three round groups: two centres begin in one group, the third between the
// other two.
type stuck struct {
	rows   [][]float64
	truth  [][]float64
	climbs []climb
}

// climb is what one method made of the start.
type climb struct {
	paths  [][][2]float64 // of each centre, by sweep
	result *latent.Result
}

// badStart has one centre too many on the left and one too few on the right.
var badStart = [][]float64{{-4.4, -2.6}, {-2.2, 0.4}, {2.2, 0.6}}

func threeGroups() *model.Model {
	return &model.Model{
		Kind: "gmm", Shape: family.Spherical, Columns: []string{"x", "y"},
		Weights: []float64{1. / 3, 1. / 3, 1. / 3}, Means: [][]float64{{-3, -1.2}, {1.2, 2.2}, {3.2, -1.2}}, Covariance: [][]float64{{0.5}, {0.5}, {0.5}},
	}
}

func newStuck() stuck {
	from := threeGroups()
	rows, _ := drawn(from, 240, 1)
	s := stuck{rows: rows, truth: from.Means}
	start := latent.Spec{K: 3, Init: "centers", Centers: badStart}
	kmeans, em, annealed := start, start, start
	kmeans.Model = "kmeans"
	em.Covariance, em.Algorithm = "spherical", "em"
	annealed.Covariance, annealed.Algorithm = "spherical", "anti-annealing"
	for _, spec := range []latent.Spec{kmeans, em, annealed} {
		s.climbs = append(s.climbs, follow(rows, spec))
	}
	return s
}

// follow fits rows and keeps where the centres were at each step.
func follow(rows [][]float64, spec latent.Spec) climb {
	c := climb{paths: make([][][2]float64, spec.K)}
	see := latent.Observer{Step: func(p latent.Progress) {
		theta := p.Point.Theta
		if spec.Model != "kmeans" {
			theta = theta[spec.K:] // the logits of the weights come first
		}
		for i := range c.paths {
			c.paths[i] = append(c.paths[i], [2]float64(theta[2*i:]))
		}
	}}
	c.result = must(latent.Fit(context.Background(), must(data.FromRows(rows)), spec, see))
	return c
}

// found counts the true centres that have a centre of the fit within half a unit.
func (s stuck) found(c climb) int {
	n := 0
	for _, t := range s.truth {
		for _, p := range c.paths {
			if end := p[len(p)-1]; math.Hypot(end[0]-t[0], end[1]-t[1]) < 0.5 {
				n++
				break
			}
		}
	}
	return n
}

func (s stuck) figure() *plot.Figure {
	names := []string{"K-means", "EM", "Anti-annealing"}
	panels := plot.Panels{
		Head: plot.Head{
			Title: "K-means and EM stay about where a bad start put them; anti-annealing forgets it and finds the three groups",
			Width: 960, Height: 400,
			Note: "Rings: the start. A dot for each sweep. Diamonds: the end. All three methods start from the same centres, on the same 240 rows.",
		},
		Columns: 3,
	}
	for i, c := range s.climbs {
		r := c.result
		objective := ""
		if r.LogLik == nil {
			objective = fmt.Sprintf("inertia %.0f", *r.Inertia)
		} else {
			objective = fmt.Sprintf("log-lik. −%.0f", -*r.LogLik)
		}
		f := &plot.Figure{
			Head: plot.Head{
				Title: fmt.Sprintf("%s: %d of 3 groups, %s", names[i], s.found(c), objective),
				Alt:   fmt.Sprintf("Paths of three centres in %d sweeps; %d of three groups found.", len(c.paths[0]), s.found(c)),
			},
			X: plot.Axis{Label: "x", Min: -5.8, Max: 5.8}, Y: plot.Axis{Label: "y", Min: -5.8, Max: 5.8},
		}
		f.Layers = append(f.Layers, marks{grey(), 0, 1.6, pairs(s.rows)})
		for j, p := range c.paths {
			f.Layers = append(f.Layers, path{plot.Color(j), p})
		}
		panels.Pictures = append(panels.Pictures, f)
	}
	return panels.Figure()
}

// path is the way of a centre.
type path struct {
	color color.Color
	at    [][2]float64
}

func (p path) Range() plot.Range { return extent(p.at) }

func (p path) Draw(f *plot.Frame) {
	f.DrawLine(p.color, 1.6, p.at...)
	f.DrawMarks(p.color, 0, 1.8, p.at...)
	f.DrawMarks(plot.Ink, 0, 6, p.at[0])
	f.DrawMarks(plot.Paper, 0, 4.6, p.at[0])
	f.DrawMarks(p.color, 0, 2.4, p.at[0])
	end := p.at[len(p.at)-1]
	f.DrawMarks(plot.Paper, 3, 7.5, end)
	f.DrawMarks(plot.Ink, 3, 6.2, end)
	f.DrawMarks(p.color, 3, 4.8, end)
}

func pairs(rows [][]float64) (at [][2]float64) {
	for _, r := range rows {
		at = append(at, [2]float64(r))
	}
	return at
}
