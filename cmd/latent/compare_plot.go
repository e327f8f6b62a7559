package main

import (
	"fmt"
	"io"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/text"
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
	most := 0.0
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
		ends, most = append(ends, line.Y[len(line.Y)-1]), max(most, line.X[len(line.X)-1])
	}
	if len(ends) > 0 {
		low, high := slices.Min(ends), slices.Max(ends)
		margin := max(0.35*(high-low), 1e-7*math.Abs(high))
		l.Zoom = &plot.Zoom{X0: 0, X1: most, Y0: low - 2*margin, Y1: high + margin}
		l.Title = leaders(l.Series, ends)
	}
	l.Note = "the highest of the starts of each algorithm"
	f := l.Figure()
	if strings.EqualFold(filepath.Ext(path), ".png") {
		return f.WritePNG(w, plot.Light(), 2)
	}
	return f.WriteSVG(w)
}

// tied is how far apart, in nats, ends are the same: far below what rows can tell, and above what a tolerance leaves.
const tied = 0.01

// leaders says which algorithms end highest: one, or those that tie.
func leaders(line []plot.Series, ends []float64) string {
	high, low := slices.Max(ends), slices.Min(ends)
	var top []string
	for i, end := range ends {
		if high-end <= tied {
			top = append(top, line[i].Name)
		}
	}
	end, below := text.Significant(high, 8), text.Significant(high-low, 2)
	switch {
	case len(ends) == 1:
		return fmt.Sprintf("%s ends at %s nats", top[0], end)
	case len(top) == len(ends):
		return fmt.Sprintf("A tie: all %d end at %s nats", len(top), end)
	case len(top) > 1:
		return fmt.Sprintf("A tie: %s end at %s nats; the lowest end is %s below", text.List(top, "and"), end, below)
	}
	return fmt.Sprintf("Highest: %s, at %s nats; the lowest end is %s below", top[0], end, below)
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
