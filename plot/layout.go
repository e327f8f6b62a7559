package plot

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// Margins of a figure and lengths about its axes, in pixels.
const (
	edge       = 12
	tickLength = 4
	tickGap    = 4

	stretch     = 1.2 // of the room for words: a reader without the fonts that labels were measured with may have a wider one, such as DejaVu Sans
	yApart      = 36  // least distance of ticks of y
	turnedWidth = 110 // most of a name that is turned
)

// draw draws the figure into the pen's rectangle: title on top, legend under it, notes at the bottom, axes between.
func (f *Figure) draw(p pen) {
	p.fill(Paper, box(p.Min.X, p.Min.Y, p.Max.X, p.Max.Y))
	room := vg.Rectangle{
		Min: p.Min.Add(vg.Point{X: edge, Y: edge}),
		Max: p.Max.Sub(vg.Point{X: edge, Y: edge}),
	}
	heading := label{size: titleSize, bold: true}
	if p.panel {
		heading.size = textSize
	}
	for _, line := range p.wrap(f.Title, heading, room.Size().X, 2) {
		p.write(line, vg.Point{X: room.Min.X, Y: room.Max.Y - 0.8*heading.size}, heading)
		room.Max.Y -= leading * heading.size
	}
	room.Max.Y -= 4
	small := label{size: smallSize, color: Muted}
	var notes []string
	for _, n := range f.notes() {
		notes = append(notes, p.wrap(n, small, room.Size().X, 2)...)
	}
	notes = notes[:min(len(notes), 4)]
	for i := len(notes) - 1; i >= 0; i-- {
		p.write(notes[i], vg.Point{X: room.Min.X, Y: room.Min.Y + 2}, small)
		room.Min.Y += leading * smallSize
	}
	if len(notes) > 0 {
		room.Min.Y += 4
	}
	if f.blank() {
		p.write("There is nothing to draw", vg.Point{X: (room.Min.X + room.Max.X) / 2, Y: (room.Min.Y + room.Max.Y) / 2}, label{color: Muted, anchor: middle})
		return
	}
	room.Max.Y -= p.legend(f.Legend, room)
	if f.whole != nil {
		f.whole(&Frame{pen: p.within(room)})
		return
	}
	f.axes(p, room)
}

// axes draws axes and layers into room.
func (f *Figure) axes(p pen, room vg.Rectangle) {
	e := f.extent()
	frame := Frame{x: f.X.fit(e.X0, e.X1), y: f.Y.fit(e.Y0, e.Y1), names: len(f.Y.Names) > 0, right: room.Max.X}
	inner, xTicks, turned := f.inner(&p, room, &frame)
	frame.pen = p.within(inner)
	f.drawX(&frame, room, xTicks, turned)
	f.drawY(&frame, room, f.Y.ticks(frame.y, inner.Size().Y, yApart))
	for _, l := range f.Layers {
		l.Draw(&frame)
	}
	if len(f.X.Names) == 0 {
		frame.stroke(Muted, 1, nil, []vg.Point{inner.Min, {X: inner.Max.X, Y: inner.Min.Y}})
	}
	if len(f.Y.Names) == 0 {
		frame.stroke(Muted, 1, nil, []vg.Point{inner.Min, {X: inner.Min.X, Y: inner.Max.Y}})
	}
}

// inner returns the inside of the axes, and the ticks of x with whether they are turned. The room that the ticks of one axis need depends
// on the length of the other, so each is asked twice.
func (f *Figure) inner(p *pen, room vg.Rectangle, frame *Frame) (inner vg.Rectangle, xTicks []tick, turned bool) {
	const title = leading*textSize + 2
	small := label{size: smallSize}
	inner = room
	inner.Max.Y -= 6
	right := room.Max.X
	if f.margin != nil {
		right -= min(f.margin(p), 0.45*room.Size().X)
	}
	inner.Min.Y += 3 * leading * smallSize
	for range 2 {
		inner.Max.X = right
		yTicks := f.Y.ticks(frame.y, inner.Size().Y, yApart)
		inner.Min.X = room.Min.X + p.widest(yTicks, small, room.Size().X/3) + tickLength + tickGap + 1
		if f.Y.title() != "" {
			inner.Min.X += title
		}
		var slot vg.Length
		xTicks, slot = f.xTicks(p, frame.x, inner.Size().X)
		inner.Min.Y = room.Min.Y + tickLength + tickGap + leading*smallSize
		w := p.widest(xTicks, small, inner.Size().X)
		if turned = len(f.X.Names) > 0 && w+6 > slot; turned {
			w = min(w, turnedWidth)
			inner.Min.Y = room.Min.Y + tickLength + tickGap + w*math.Sqrt2/2 + smallSize
			inner.Min.X = max(inner.Min.X, room.Min.X+w*math.Sqrt2/2-slot/2+4) // the first name reaches to the left of its tick
		} else if n := len(xTicks); n > 0 && len(f.X.Names) == 0 { // the last number reaches to the right of the axis
			over := p.measure(xTicks[n-1].text, small)/2 - vg.Length(1-frame.x.norm(xTicks[n-1].value))*inner.Size().X
			inner.Max.X = min(inner.Max.X, room.Max.X-over)
		}
		if f.X.title() != "" {
			inner.Min.Y += title
		}
		inner.Max.X = max(inner.Max.X, inner.Min.X+20) // however small the figure
		inner.Max.Y = max(inner.Max.Y, inner.Min.Y+20)
	}
	return inner, xTicks, turned
}

// xTicks returns the ticks of the x axis, so few that their texts do not touch, and the width that each has.
func (f *Figure) xTicks(p *pen, s scale, width vg.Length) (ticks []tick, slot vg.Length) {
	small := label{size: smallSize}
	apart := vg.Length(60)
	if f.X.whole {
		apart = 26
	}
	for ; ; apart *= 1.4 {
		ticks = f.X.ticks(s, width, apart)
		slot = width / vg.Length(max(len(ticks), 1))
		if len(f.X.Names) > 0 || len(ticks) < 3 || apart > width || p.widest(ticks, small, width)+10 < slot {
			return ticks, slot
		}
	}
}

// ticks returns the ticks of an axis of a length, not closer than apart.
func (a Axis) ticks(s scale, length, apart vg.Length) []tick {
	if len(a.Names) > 0 {
		out := make([]tick, len(a.Names))
		for i, name := range a.Names {
			out[i] = tick{float64(i), name}
			if a.at != nil {
				out[i].value = a.at[i]
			}
		}
		return out
	}
	n := max(2, int(length/apart))
	switch {
	case s.log:
		return logTicks(s.lo, s.hi, n)
	case a.whole:
		ticks := linearTicks(s.lo, s.hi, min(n, max(1, int(math.Ceil(s.hi-s.lo)))))
		return slices.DeleteFunc(ticks, func(t tick) bool { return t.value != math.Trunc(t.value) })
	}
	return linearTicks(s.lo, s.hi, n)
}

// widest returns the width of the widest text, at most limit.
func (p *pen) widest(ticks []tick, l label, limit vg.Length) vg.Length {
	var w vg.Length
	for _, t := range ticks {
		w = max(w, p.measure(p.shorten(t.text, l, limit), l))
	}
	return w * stretch
}

func (f *Figure) drawX(fr *Frame, room vg.Rectangle, ticks []tick, turned bool) {
	var grid, short [][]vg.Point
	l := label{size: smallSize, anchor: middle}
	every := max(1, int(math.Ceil(float64(len(f.X.Names))*1.2*smallSize/float64(fr.Size().X))))
	for i, t := range ticks {
		x := fr.Canvas.X(fr.x.norm(t.value))
		if len(f.X.Names) == 0 {
			grid = append(grid, []vg.Point{{X: x, Y: fr.Min.Y}, {X: x, Y: fr.Max.Y}})
			short = append(short, []vg.Point{{X: x, Y: fr.Min.Y - tickLength}, {X: x, Y: fr.Min.Y}})
		} else if i%every != 0 {
			continue
		}
		y := fr.Min.Y - tickLength - tickGap
		if turned {
			fr.write(fr.shorten(t.text, l, turnedWidth), vg.Point{X: x + 4, Y: y - 4}, label{size: smallSize, anchor: end, turn: math.Pi / 4})
		} else {
			fr.write(t.text, vg.Point{X: x, Y: y - 0.75*smallSize}, l)
		}
	}
	fr.stroke(Grid, 1, nil, grid...)
	fr.stroke(Muted, 1, nil, short...)
	l.size = textSize
	fr.write(fr.shorten(f.X.title(), l, room.Size().X), vg.Point{X: f.centre(fr, room, l), Y: room.Min.Y + 3}, l)
}

// centre returns where the title of the x axis is centred: under the axis, but inside the figure.
func (f *Figure) centre(fr *Frame, room vg.Rectangle, l label) vg.Length {
	half := min(fr.measure(f.X.title(), l), room.Size().X) / 2
	return min(max((fr.Min.X+fr.Max.X)/2, room.Min.X+half), room.Max.X-half)
}

func (f *Figure) drawY(fr *Frame, room vg.Rectangle, ticks []tick) {
	var grid, short [][]vg.Point
	l := label{size: smallSize, anchor: end}
	titled := vg.Length(0)
	if f.Y.title() != "" {
		titled = leading*textSize + 2
	}
	every := max(1, int(math.Ceil(float64(len(f.Y.Names))*1.1*smallSize/float64(fr.Size().Y))))
	for i, t := range ticks {
		v := fr.y.norm(t.value)
		if fr.names {
			v = 1 - v
		}
		y := fr.Canvas.Y(v)
		if !fr.names {
			grid = append(grid, []vg.Point{{X: fr.Min.X, Y: y}, {X: fr.Max.X, Y: y}})
			short = append(short, []vg.Point{{X: fr.Min.X - tickLength, Y: y}, {X: fr.Min.X, Y: y}})
		} else if i%every != 0 {
			continue
		}
		x := fr.Min.X - tickLength - tickGap
		fr.write(fr.shorten(t.text, l, x-room.Min.X-titled+0.5), vg.Point{X: x, Y: y - 0.35*smallSize}, l)
	}
	fr.stroke(Grid, 1, nil, grid...)
	fr.stroke(Muted, 1, nil, short...)
	l = label{anchor: middle, turn: math.Pi / 2}
	fr.write(fr.shorten(f.Y.title(), l, fr.Size().Y), vg.Point{X: room.Min.X + 0.8*textSize, Y: (fr.Min.Y + fr.Max.Y) / 2}, l)
}

// legend draws keys in rows at the top of room, four at most, and returns their height.
func (p *pen) legend(keys []Key, room vg.Rectangle) vg.Length {
	if len(keys) == 0 {
		return 0
	}
	const rows, row = 4, 18
	l := label{size: smallSize}
	x, y := room.Min.X, room.Max.Y-9
	n := 1
	for i, k := range keys {
		name := p.shorten(k.Name, l, room.Size().X-24)
		w := 24 + p.measure(name, l)
		if x > room.Min.X && x+w > room.Max.X {
			if n == rows || (n == rows-1 && y-2*row < room.Min.Y) {
				p.write("and "+grouped(float64(len(keys)-i), 0)+" more", vg.Point{X: room.Min.X, Y: y - row - 4}, l)
				n++
				break
			}
			x, y, n = room.Min.X, y-row, n+1
		}
		p.swatch(k, vg.Point{X: x + 9, Y: y})
		p.write(name, vg.Point{X: x + 22, Y: y - 4}, l)
		x += w + 16
	}
	return vg.Length(n)*row + 4
}

func (p *pen) swatch(k Key, at vg.Point) {
	side := []vg.Point{{X: at.X - 9, Y: at.Y}, {X: at.X + 9, Y: at.Y}}
	c := k.Color
	if c == nil {
		c = Ink
	}
	switch k.Kind {
	case Line:
		p.stroke(c, 2.5, nil, side)
	case Dashed:
		p.stroke(c, 1.5, []vg.Length{5, 3}, side)
	case Patch:
		p.fill(c, box(at.X-6, at.Y-6, at.X+6, at.Y+6))
	default:
		p.marks(c, k.Shape, 4.5, []vg.Point{at})
	}
}
