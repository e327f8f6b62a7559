package plot

import (
	"fmt"
	"image/color"
	"math"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Bars compares one value of several algorithms or groups, with deviations, and prints the values. Bars begin at 0. Where that would hide
// what differs (all values are of one sign, and they and their deviations span less than 30 % of the largest) marks on a cut axis are drawn instead, since a
// bar that does not begin at 0 misleads.
type Bars struct {
	Head
	Value Axis // what is compared; runs from left to right
	Bars  []Bar
	Zero  bool // bars from 0 in any case
}

// Bar is a value with its name.
type Bar struct {
	Name      string
	Value     float64
	Deviation float64     // half the length of the error bar; 0: none
	Runs      []float64   // single values, drawn as small marks; may be nil
	Color     color.Color // nil: Color(i) of bar i
	Text      string      // printed instead of the value and its deviation
}

// Figure lays the bars out.
func (b Bars) Figure() *Figure {
	f := &Figure{Head: b.Head, X: b.Value}
	f.X.Names = nil
	layer := &barLayer{}
	lost, all := 0, 0
	var told []string
	for i, v := range b.Bars {
		row := bar{Bar: v, group: i, ok: b.Value.fits(v.Value)}
		all += 1 + len(v.Runs)
		if !row.ok {
			lost++
			row.Text = "no value"
		}
		if !usable(v.Deviation) || v.Deviation < 0 {
			row.Deviation = 0
		}
		row.Runs = nil
		for _, r := range v.Runs {
			if b.Value.fits(r) {
				row.Runs = append(row.Runs, r)
			} else {
				lost++
			}
		}
		if row.Color == nil {
			row.Color = Color(i)
		}
		if row.Text == "" {
			row.Text = measured(v.Value, row.Deviation)
		}
		layer.bars = append(layer.bars, row)
		f.Y.Names = append(f.Y.Names, v.Name)
		told = append(told, v.Name+" "+row.Text)
	}
	layer.fromZero = b.Zero && !b.Value.Log || !b.Value.Log && !layer.hides()
	f.X.zero = layer.fromZero
	f.Layers = []Layer{layer}
	f.margin = layer.margin
	f.height = func(float64) float64 { return 110 + 34*float64(max(len(b.Bars), 2)) }
	f.leftOut(lost, all, "values")
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("Bars of %s: %s.", orElse(b.Value.title(), "values"), strings.Join(told, "; "))
	}
	return f
}

type bar struct {
	Bar
	group int
	ok    bool
}

type barLayer struct {
	bars     []bar
	fromZero bool
}

// hides says whether bars from 0 would look alike.
func (l *barLayer) hides() bool {
	r := l.Range()
	if r.empty() || r.X0*r.X1 <= 0 || len(l.bars) < 2 {
		return false
	}
	return r.X1-r.X0 < 0.3*max(math.Abs(r.X0), math.Abs(r.X1))
}

func (l *barLayer) Range() Range {
	r := Nothing()
	for i, b := range l.bars {
		y := float64(i)
		if b.ok {
			r = r.With(b.Value-b.Deviation, y).With(b.Value+b.Deviation, y)
		}
		for _, v := range b.Runs {
			r = r.With(v, y)
		}
	}
	return r
}

func (l *barLayer) margin(p *pen) vg.Length {
	var w vg.Length
	for _, b := range l.bars {
		w = max(w, p.measure(b.Text, label{}))
	}
	return w + 16
}

func (l *barLayer) Draw(f *Frame) {
	slot := f.Size().Y / vg.Length(max(len(l.bars), 1))
	half := min(slot*0.32, 12)
	zero := f.Canvas.X(min(max(f.x.norm(0), 0), 1))
	for i, b := range l.bars {
		y := f.Canvas.Y(1 - f.y.norm(float64(i)))
		at, ok := f.At(b.Value, float64(i))
		if b.ok && ok {
			x := min(max(at.X, f.Min.X), f.Max.X)
			if l.fromZero {
				f.fill(b.Color, box(min(zero, x), y-half, max(zero, x), y+half))
			}
			l.error(f, b, y, half)
			if !l.fromZero && f.inside(at) {
				f.marks(Paper, Shape(b.group), 6.5, []vg.Point{at})
				f.marks(b.Color, Shape(b.group), 5.5, []vg.Point{at})
			}
		}
		var runs []vg.Point
		for _, v := range b.Runs {
			if q, ok := f.At(v, float64(i)); ok && f.inside(q) {
				runs = append(runs, vg.Point{X: q.X, Y: y - half - 2})
			}
		}
		f.marks(Muted, 0, 1.6, runs)
		f.write(f.shorten(b.Text, label{}, f.right-f.Max.X-10), vg.Point{X: f.Max.X + 10, Y: y - 4}, label{})
	}
	if l.fromZero {
		f.stroke(Ink, 1, nil, []vg.Point{{X: zero, Y: f.Min.Y}, {X: zero, Y: f.Max.Y}})
	}
}

// error draws the deviation of a bar: a line with ends, on a rim so that it reads on the bar. An end outside the frame is left open.
func (l *barLayer) error(f *Frame, b bar, y, half vg.Length) {
	if b.Deviation == 0 {
		return
	}
	lo, hi := f.x.norm(b.Value-b.Deviation), f.x.norm(b.Value+b.Deviation)
	if math.IsNaN(lo) { // a logarithmic axis, and the lower end is below 0
		lo = math.Inf(-1)
	}
	if !(hi > 0 && lo < 1) {
		return
	}
	a, c := f.Canvas.X(max(lo, 0)), f.Canvas.X(min(hi, 1))
	lines := [][]vg.Point{{{X: a, Y: y}, {X: c, Y: y}}}
	tick := half * 0.5
	if lo >= 0 {
		lines = append(lines, []vg.Point{{X: a, Y: y - tick}, {X: a, Y: y + tick}})
	}
	if hi <= 1 {
		lines = append(lines, []vg.Point{{X: c, Y: y - tick}, {X: c, Y: y + tick}})
	}
	f.stroke(Paper, 4, nil, lines...)
	f.stroke(Ink, 1.6, nil, lines...)
}
