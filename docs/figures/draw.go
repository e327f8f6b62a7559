package main

import (
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"

	"github.com/latent-go/latent/plot"
)

// marks are points with a rim of paper, so that they read on lines.
type marks struct {
	color  color.Color
	shape  plot.Shape
	radius float64
	at     [][2]float64
}

func (m marks) Range() plot.Range { return extent(m.at) }

func (m marks) Draw(f *plot.Frame) {
	f.DrawMarks(plot.Paper, m.shape, m.radius+1.5, m.at...)
	f.DrawMarks(m.color, m.shape, m.radius, m.at...)
}

// arrow is a line through points of the data with a head at its end.
type arrow struct {
	color color.Color
	width float64
	along [][2]float64
}

func (a arrow) Range() plot.Range { return extent(a.along) }

// head is the length of an arrow's head, in pixels; gap keeps its tip off the mark it points at.
const head, gap = 9, 4.5

func (a arrow) Draw(f *plot.Frame) {
	f.DrawLine(a.color, a.width, a.along...)
	n := len(a.along) - 1
	end, ok := f.At(a.along[n][0], a.along[n][1])
	// The direction is that of the last few pixels: near its end a line of many points may turn.
	for i := n - 1; ok && i >= 0; i-- {
		p, fine := f.At(a.along[i][0], a.along[i][1])
		dx, dy := float64(end.X-p.X), float64(end.Y-p.Y)
		if length := math.Hypot(dx, dy); fine && length >= head+gap {
			along := vg.Point{X: vg.Length(dx / length), Y: vg.Length(dy / length)}
			across := vg.Point{X: -along.Y, Y: along.X}
			tip := end.Sub(along.Scale(gap))
			back := tip.Sub(along.Scale(head))
			var path vg.Path
			path.Move(tip)
			path.Line(back.Add(across.Scale(head / 2.2)))
			path.Line(back.Sub(across.Scale(head / 2.2)))
			path.Close()
			f.SetColor(a.color)
			f.Fill(path)
			return
		}
	}
}

// text stands beside a point of the data.
type text struct {
	words string
	x, y  float64
}

func (t text) Range() plot.Range  { return plot.Nothing() }
func (t text) Draw(f *plot.Frame) { f.DrawText(t.words, t.x, t.y) }

// grey is that of rows in the background, in light and dark.
func grey() color.Color { return color.NRGBA{R: 0x8a, G: 0x8a, B: 0x8a, A: 0xb0} }

// extent is the range of points.
func extent(at [][2]float64) plot.Range {
	r := plot.Nothing()
	for _, q := range at {
		r = r.With(q[0], q[1])
	}
	return r
}

// grid returns n+1 values from lo to hi, equally far apart.
func grid(lo, hi float64, n int) []float64 {
	x := make([]float64, n+1)
	for i := range x {
		x[i] = lo + (hi-lo)*float64(i)/float64(n)
	}
	return x
}
