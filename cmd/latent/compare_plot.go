package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/latent-go/latent/plot"
	"github.com/latent-go/latent/report"
)

// drawable refuses names of files that are no pictures.
func drawable(path string) error {
	if ext := strings.ToLower(filepath.Ext(path)); ext != ".svg" && ext != ".png" {
		return usagef("--plot %s is not a picture; give a name that ends in .svg or .png", path)
	}
	return nil
}

// present returns the names that are not empty.
func present(names ...string) []string {
	return slices.DeleteFunc(names, func(name string) bool { return name == "" })
}

// draw draws the log-likelihood by sweep of each algorithm's highest start.
func (t *traces) draw(w io.Writer, path string) error {
	l := plot.Lines{X: plot.Axis{Label: "sweeps over the rows"}, Y: plot.Axis{Label: "log-likelihood", Unit: "nats"}}
	var ends []float64
	most, least := 0.0, math.Inf(1)
	high, leader, first := math.Inf(-1), "", ""
	for i, each := range t.each {
		steps := highest(each.steps)
		if len(steps) == 0 {
			continue
		}
		line := plot.Series{Name: t.name[i]}
		for _, s := range steps {
			line.X, line.Y = append(line.X, float64(s.Sweep)), append(line.Y, s.LogLik)
		}
		l.Series = append(l.Series, line)
		end, sweeps := line.Y[len(line.Y)-1], line.X[len(line.X)-1]
		ends, most = append(ends, end), max(most, sweeps)
		if sweeps < least {
			least, first = sweeps, t.name[i]
		}
		if end > high {
			high, leader = end, t.name[i]
		}
	}
	if len(ends) > 0 {
		low := slices.Min(ends)
		margin := max(0.35*(high-low), 1e-7*math.Abs(high))
		l.Zoom = &plot.Zoom{X0: 0, X1: most, Y0: low - 2*margin, Y1: high + margin}
		l.Title = fmt.Sprintf("Highest: %s, at %.8g nats; the lowest end is %.2g below", leader, high, high-low)
		if high-low <= 0.01 {
			l.Title = fmt.Sprintf("All end at %.8g nats, %s first, after %g sweeps", high, first, least)
		}
	}
	l.Note = "the highest of the starts of each algorithm"
	f := l.Figure()
	if strings.EqualFold(filepath.Ext(path), ".png") {
		return f.WritePNG(w, plot.Light(), 2)
	}
	return f.WriteSVG(w)
}

// highest returns the steps of the start that ended highest, the first of equals.
func highest(all []report.Step) []report.Step {
	starts := map[int][]report.Step{}
	best := 0
	for _, s := range all {
		starts[s.Start] = append(starts[s.Start], s)
	}
	for start, steps := range starts {
		end := steps[len(steps)-1].LogLik
		if best == 0 {
			best = start
			continue
		}
		if top := starts[best][len(starts[best])-1].LogLik; end > top || end == top && start < best {
			best = start
		}
	}
	return starts[best]
}
