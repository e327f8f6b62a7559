package experiment

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/latent-go/latent/plot"
)

// cloud is rows behind what matters, as small grey dots.
type cloud [][2]float64

// Range implements plot.Layer.
func (c cloud) Range() plot.Range {
	r := plot.Nothing()
	for _, p := range c {
		r = r.With(p[0], p[1])
	}
	return r
}

// Draw implements plot.Layer.
func (c cloud) Draw(f *plot.Frame) {
	const half = 0.5
	for _, p := range c {
		if at, ok := f.At(p[0], p[1]); ok {
			f.FillPolygon(plot.Muted, []vg.Point{{X: at.X - half, Y: at.Y - half}, {X: at.X + half, Y: at.Y - half}, {X: at.X + half, Y: at.Y + half}, {X: at.X - half, Y: at.Y + half}})
		}
	}
}

// ring is the outline of a component.
type ring struct {
	points [][2]float64
	dashed bool
	color  color.Color
}

// Range implements plot.Layer.
func (r ring) Range() plot.Range { return cloud(r.points).Range() }

// Draw implements plot.Layer.
func (r ring) Draw(f *plot.Frame) {
	var line []vg.Point
	for _, p := range r.points {
		at, ok := f.At(p[0], p[1])
		if !ok {
			return
		}
		line = append(line, at)
	}
	style := draw.LineStyle{Color: r.color, Width: 1.6}
	if r.dashed {
		style.Dashes = []vg.Length{5, 3}
	}
	f.StrokeLines(style, f.ClipLinesXY(line)...)
}
