package plot

import "gonum.org/v1/plot/vg"

// zoomLayer draws a window on lines into a figure that has drawn them.
type zoomLayer struct {
	figure *Figure
	lines  *lineLayer
	zoom   Zoom
}

func (z *zoomLayer) Range() Range { return Nothing() }

func (z *zoomLayer) Draw(f *Frame) {
	x, y := f.x, f.y
	if z.zoom.X0 < z.zoom.X1 && (!x.log || z.zoom.X0 > 0) {
		x.lo, x.hi = z.zoom.X0, z.zoom.X1
	}
	if z.zoom.Y0 < z.zoom.Y1 && (!y.log || z.zoom.Y0 > 0) {
		y.lo, y.hi = z.zoom.Y0, z.zoom.Y1
	}
	if !usable(x.lo) || !usable(x.hi) || !usable(y.lo) || !usable(y.hi) {
		return
	}
	z.outline(f, x, y)
	corner, _ := z.place(f)
	window := Frame{pen: f.within(corner), x: x, y: y}
	window.fill(Paper, box(window.Min.X, window.Min.Y, window.Max.X, window.Max.Y))
	small := label{size: 10}
	inner := window.Rectangle
	yTicks := z.figure.Y.ticks(y, inner.Size().Y-24, 32)
	inner.Min.X += window.widest(yTicks, small, inner.Size().X/2) + 8
	inner.Min.Y += 18
	inner.Max.X -= 8
	inner.Max.Y -= 8
	xTicks := z.figure.X.ticks(x, inner.Size().X, 55)
	frame := Frame{pen: window.within(inner), x: x, y: y}
	frame.fill(Paper, box(inner.Min.X, inner.Min.Y, inner.Max.X, inner.Max.Y))
	for _, t := range yTicks {
		at := frame.Canvas.Y(y.norm(t.value))
		frame.stroke(Grid, 0.8, nil, []vg.Point{{X: inner.Min.X, Y: at}, {X: inner.Max.X, Y: at}})
		frame.write(t.text, vg.Point{X: inner.Min.X - 4, Y: at - 3.5}, label{size: 10, anchor: end})
	}
	for i, t := range xTicks {
		at := frame.Canvas.X(x.norm(t.value))
		frame.stroke(Grid, 0.8, nil, []vg.Point{{X: at, Y: inner.Min.Y}, {X: at, Y: inner.Max.Y}})
		if i == 0 || i == len(xTicks)-1 || len(xTicks) < 6 {
			half := frame.measure(t.text, small) / 2
			frame.write(t.text, vg.Point{X: min(at, window.Max.X-half-1), Y: inner.Min.Y - 12}, label{size: 10, anchor: middle})
		}
	}
	bare := *z.lines
	bare.bare = true
	bare.Draw(&frame)
	frame.stroke(Muted, 1, nil, outlineOf(inner))
}

// outline marks in f what the window shows.
func (z *zoomLayer) outline(f *Frame, x, y scale) {
	a, _ := f.At(x.lo, y.lo)
	b, _ := f.At(x.hi, y.hi)
	in := func(p vg.Point) vg.Point {
		return vg.Point{X: min(max(p.X, f.Min.X), f.Max.X), Y: min(max(p.Y, f.Min.Y), f.Max.Y)}
	}
	r := vg.Rectangle{Min: in(a), Max: in(b)}
	if r.Size().Y < 3 {
		r.Min.Y, r.Max.Y = r.Min.Y-1.5, r.Max.Y+1.5
	}
	f.stroke(Ink, 1, []vg.Length{2, 2}, outlineOf(r))
}

// place returns where the window goes: the largest of three sizes at a corner that covers no line, else the corner that covers least, and
// how many points it covers there.
func (z *zoomLayer) place(f *Frame) (best vg.Rectangle, covered int) {
	var all []vg.Point
	z.lines.each(func(points [][2]float64) {
		for _, l := range f.line(points) {
			for i := 1; i < len(l); i++ { // a line covers what is between its points, too
				for k := range 9 {
					all = append(all, l[i-1].Add(l[i].Sub(l[i-1]).Scale(vg.Length(k)/8)))
				}
			}
		}
	})
	const gap = 8
	covered = -1
	for _, part := range []vg.Length{0.62, 0.55, 0.48} {
		w, h := part*f.Size().X, part*f.Size().Y
		for corner := range 4 { // bottom right first: what rises and levels off leaves it free
			x, y := f.Max.X-gap-w, f.Min.Y+gap
			if corner%2 == 1 {
				x = f.Min.X + gap
			}
			if corner >= 2 {
				y = f.Max.Y - gap - h
			}
			r := vg.Rectangle{Min: vg.Point{X: x, Y: y}, Max: vg.Point{X: x + w, Y: y + h}}
			n := 0
			for _, p := range all {
				if overlaps(around(p, 4, 4), []vg.Rectangle{r}) {
					n++
				}
			}
			if covered < 0 || n < covered {
				best, covered = r, n
			}
		}
		if covered == 0 {
			break
		}
	}
	return best, covered
}

// finds says whether a corner of the figure is free.
func (z *zoomLayer) finds(f *Figure) bool {
	e := f.extent()
	if e.empty() {
		return true
	}
	frame := Frame{x: f.X.fit(e.X0, e.X1), y: f.Y.fit(e.Y0, e.Y1)}
	w, h := f.size()
	frame.pen.Max = vg.Point{X: vg.Length(0.75 * w), Y: vg.Length(0.75 * h)} // about what axes and names leave
	_, covered := z.place(&frame)
	return covered == 0
}

// beside lays lines out as two panels, all and the part that Zoom shows.
func (s Lines) beside(f *Figure) *Figure {
	part := s
	part.Zoom = nil
	part.Head = Head{Title: "Zoomed in"}
	if s.Zoom.X0 < s.Zoom.X1 {
		part.X.Min, part.X.Max = s.Zoom.X0, s.Zoom.X1
	}
	if s.Zoom.Y0 < s.Zoom.Y1 {
		part.Y.Min, part.Y.Max = s.Zoom.Y0, s.Zoom.Y1
	}
	head := f.Head
	f.Head = Head{Title: "All"}
	return Panels{Head: head, Pictures: []Picture{f, part}}.Figure()
}
