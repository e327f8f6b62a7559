package main

import (
	"context"
	"fmt"
	"math"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// plateau is EM and the default driver on a large group with a small one on its shoulder, from the same start.
type plateau struct {
	rows int
	runs []run
}

// run is a climb by accepted step.
type run struct {
	algorithm string
	sweep     []float64      // passes used so far
	logLik    []float64      // nats
	distance  []float64      // of the mean of the smaller component from that of the small group
	models    []*model.Model // the first and the last
	certified *float64       // distance of the end from the optimum, standard errors
}

// smallMean is where the small group was drawn.
var smallMean = []float64{2.2, 1}

// unbalanced returns 7995 rows of a large round group and 205 of a small one.
func unbalanced() [][]float64 {
	round := func(mean []float64, variance float64) *model.Model {
		return &model.Model{
			Kind: "gmm", Shape: family.Spherical, Columns: []string{"x", "y"},
			Weights: []float64{1}, Means: [][]float64{mean}, Covariance: [][]float64{{variance}},
		}
	}
	rows, _ := drawn(round([]float64{0, 0}, 1), 7995, 2)
	small, _ := drawn(round(smallMean, 0.3), 205, 12)
	return append(rows, small...)
}

func newPlateau() plateau {
	rows := unbalanced()
	p := plateau{rows: len(rows)}
	at := map[string]int{}
	see := func(s *latent.TrialStep) {
		i, known := at[s.Algorithm]
		if !known {
			i = len(p.runs)
			at[s.Algorithm], p.runs = i, append(p.runs, run{algorithm: s.Algorithm, models: []*model.Model{s.Model()}})
		}
		r, m := &p.runs[i], s.Model() // its components come by weight, the heavier first
		r.sweep = append(r.sweep, float64(s.Sweeps))
		r.logLik = append(r.logLik, s.Point.LogLik)
		r.distance = append(r.distance, math.Hypot(m.Means[1][0]-smallMean[0], m.Means[1][1]-smallMean[1]))
	}
	spec := latent.Spec{K: 2, Covariance: "spherical", NInit: 1}
	trials := must(latent.Trials(context.Background(), must(data.FromRows(rows)), spec, []string{"em", "em-lbfgs"}, 1000, see))
	for i, t := range trials {
		p.runs[i].models = append(p.runs[i].models, t.Model)
		p.runs[i].certified = t.Distance
	}
	return p
}

// usualTol is the rise of the log-likelihood a row, in nats, below which other tools stop by default.
const usualTol = 1e-3

// stopped returns the first step at which a run's log-likelihood rose by less than usualTol a row.
func (p plateau) stopped(r run) int {
	for i := 1; i < len(r.logLik); i++ {
		if r.logLik[i]-r.logLik[i-1] < usualTol*float64(p.rows) {
			return i
		}
	}
	return len(r.logLik) - 1
}

func (p plateau) figure() *plot.Figure {
	em, fast := p.runs[0], p.runs[1]
	stop, end := p.stopped(em), len(em.sweep)-1
	panel := func(title, label, unit string, values func(run) []float64) *plot.Figure {
		lines := plot.Lines{
			Head: plot.Head{Title: title},
			X:    plot.Axis{Label: "sweeps over the rows", Log: true},
			Y:    plot.Axis{Label: label, Unit: unit},
		}
		for _, r := range p.runs {
			lines.Series = append(lines.Series, plot.Series{Name: map[string]string{"em": "EM", "em-lbfgs": "em-lbfgs"}[r.algorithm], X: r.sweep, Y: values(r)})
		}
		f := lines.Figure()
		f.Layers = append(f.Layers, marks{plot.Ink, 3, 4.5, [][2]float64{{em.sweep[stop], values(em)[stop]}}})
		return f
	}
	return plot.Panels{
		Head: plot.Head{
			Title: fmt.Sprintf("The usual rule stops EM after %.0f sweeps; the small group settles after %.0f sweeps of EM, or %.0f of em-lbfgs",
				em.sweep[stop], em.sweep[end], fast.sweep[len(fast.sweep)-1]),
			Width: 960, Height: 420,
			Note: fmt.Sprintf("%s rows, 205 of them in the small group. Diamond: the usual stop, a rise of less than 0.001 nats a row. "+
				"What is then to come is %.1f nats, %.3f a row.", "8,200", em.logLik[end]-em.logLik[stop], (em.logLik[end]-em.logLik[stop])/float64(p.rows)),
		},
		Columns: 2,
		Pictures: []plot.Picture{
			panel("The whole: flat long before the end", "log-likelihood", "nats", func(r run) []float64 { return r.logLik }),
			panel("The small group: not begun to be found at the stop", "distance of its mean from the truth", "", func(r run) []float64 { return r.distance }),
		},
	}.Figure()
}
