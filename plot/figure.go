package plot

import (
	"fmt"
	"image/color"
	"math"

	"gonum.org/v1/plot/vg"
)

// Head is what every picture has.
type Head struct {
	Title string // states the finding; two lines at most are drawn
	Alt   string // tells a reader who cannot see it what it shows; empty: counted from the data
	Note  string // a remark under the figure, such as "20,000 of 1,000,000 rows drawn"

	Width, Height float64 // in pixels; 0: the kind's own size
}

// Axis says what runs along a side of a figure.
type Axis struct {
	Label string // without its unit
	Unit  string // "s", "nats"; written in brackets behind the label
	Log   bool   // logarithmic; values of 0 or less are left out

	Min, Max float64 // the range, if Min < Max; else that of the data with a margin

	Names []string // instead of numbers: name i stands at i, the first at the left or top

	zero  bool      // 0 is in the range
	tight bool      // no margin beyond the data
	whole bool      // ticks at whole numbers only
	at    []float64 // where the names stand, in Min..Max, instead of at 0, 1, ...
}

func (a Axis) title() string {
	if a.Unit == "" {
		return a.Label
	}
	return a.Label + " (" + a.Unit + ")"
}

// fits says whether v can stand on the axis.
func (a Axis) fits(v float64) bool { return usable(v) && (!a.Log || v > 0) }

// Picture is anything that lays itself out as a figure.
type Picture interface{ Figure() *Figure }

// Figure is a picture laid out. Its fields may still be changed before it is written. Reading it is safe from several goroutines.
type Figure struct {
	Head
	X, Y   Axis
	Layers []Layer // drawn in order
	Legend []Key
	Notes  []string // under the figure, beside Head.Note; what was left out

	whole  func(*Frame)                // draws in place of axes and layers
	margin func(p *pen) vg.Length      // room right of the axes, for labels
	height func(width float64) float64 // of a figure whose Height is 0
}

// Figure returns f, so that a figure can stand where a kind of picture does.
func (f *Figure) Figure() *Figure { return f }

// Layer draws into the axes of a figure. Implement it to draw what this package has no kind for.
type Layer interface {
	// Range returns the extent of the data: what Axis ranges are made of. It may be Nothing.
	Range() Range
	// Draw draws. Frame.At may be called with any value.
	Draw(*Frame)
}

// Key is a name in the legend and what stands before it.
type Key struct {
	Name  string
	Kind  Swatch
	Color color.Color // nil is Ink
	Shape Shape       // of a Mark
}

// Swatch is what stands before a name in the legend.
type Swatch uint8

// What stands before a name: a mark of a scatter, a line, a dashed line, or a filled square.
const (
	Mark Swatch = iota
	Line
	Dashed
	Patch
)

// Range is an extent in data coordinates.
type Range struct{ X0, X1, Y0, Y1 float64 }

// Nothing is the extent of no data.
func Nothing() Range {
	return Range{X0: math.Inf(1), X1: math.Inf(-1), Y0: math.Inf(1), Y1: math.Inf(-1)}
}

// With returns the extent of r and the point x, y. A coordinate that is not a number or infinite is passed over.
func (r Range) With(x, y float64) Range {
	if usable(x) {
		r.X0, r.X1 = min(r.X0, x), max(r.X1, x)
	}
	if usable(y) {
		r.Y0, r.Y1 = min(r.Y0, y), max(r.Y1, y)
	}
	return r
}

func (r Range) empty() bool { return !(r.X0 <= r.X1 && r.Y0 <= r.Y1) }

// scale maps an axis to 0..1.
type scale struct {
	lo, hi float64 // lo < hi, and above 0 if log
	log    bool
}

// fit returns the scale of an axis over data in lo..hi.
func (a Axis) fit(lo, hi float64) scale {
	if n := len(a.Names); n > 0 {
		if a.at != nil {
			return scale{lo: a.Min, hi: a.Max}
		}
		return scale{lo: -0.5, hi: float64(n) - 0.5}
	}
	s := scale{lo: lo, hi: hi, log: a.Log && hi > 0}
	if s.log && s.lo <= 0 {
		s.lo = s.hi / 1e6
	}
	if a.zero && !s.log {
		s.lo, s.hi = min(s.lo, 0), max(s.hi, 0)
	}
	if s.log {
		s.widen(math.Log, math.Exp, a)
	} else {
		same := func(v float64) float64 { return v }
		s.widen(same, same, a)
	}
	if a.Min < a.Max && usable(a.Min) && usable(a.Max) && (!s.log || a.Min > 0) {
		s.lo, s.hi = a.Min, a.Max
	}
	return s
}

// widen adds a margin of 4 % to the range and makes room about a single value: 0.5 % of it, or 1 about 0. A range below 1e-12 of its
// values is no range: rounding would draw it.
func (s *scale) widen(to, from func(float64) float64, a Axis) {
	lo, hi := to(s.lo), to(s.hi)
	largest := max(math.Abs(lo), math.Abs(hi))
	switch {
	case hi-lo <= 1e-12*largest:
		room := 0.005 * largest
		if a.Log || largest == 0 {
			room = 1
		}
		lo, hi = lo-room, hi+room
	case !a.tight:
		room := 0.04 * (hi - lo)
		lo, hi = lo-room, hi+room
	}
	if a.zero && !a.Log { // no margin beyond 0
		if s.lo >= 0 && lo < 0 {
			lo = 0
		}
		if s.hi <= 0 && s.lo < 0 && hi > 0 {
			hi = 0
		}
	}
	s.lo, s.hi = from(lo), from(hi)
}

// norm maps v to 0..1 in the range; what cannot be drawn gives NaN.
func (s scale) norm(v float64) float64 {
	if s.log {
		return math.Log(v/s.lo) / math.Log(s.hi/s.lo) // NaN or infinite for v <= 0
	}
	return (v - s.lo) / (s.hi - s.lo)
}

// Frame is the inside of a figure's axes, in which layers draw. It embeds a canvas of gonum.org/v1/plot, whose Rectangle is the inside.
type Frame struct {
	pen
	x, y  scale
	names bool      // y holds names, so it runs downwards
	right vg.Length // end of the room right of the frame
}

// At returns where a point of the data is drawn, at most a thousand widths away, and false if it cannot be drawn at all.
func (f *Frame) At(x, y float64) (vg.Point, bool) {
	u, v := f.x.norm(x), f.y.norm(y)
	if math.IsNaN(u) || math.IsNaN(v) {
		return vg.Point{}, false
	}
	if f.names {
		v = 1 - v
	}
	far := func(v float64) float64 { return min(max(v, -1000), 1000) }
	return vg.Point{X: f.Canvas.X(far(u)), Y: f.Canvas.Y(far(v))}, true
}

// DrawLine draws a line through points of the data, as far as it is in the frame. It breaks where a point cannot be drawn.
func (f *Frame) DrawLine(c color.Color, width float64, points ...[2]float64) {
	f.stroke(c, vg.Length(width), nil, f.line(points)...)
}

// DrawMarks draws a mark at each point of the data that is in the frame.
func (f *Frame) DrawMarks(c color.Color, s Shape, radius float64, points ...[2]float64) {
	var at []vg.Point
	for _, q := range points {
		if p, ok := f.At(q[0], q[1]); ok && f.inside(p) {
			at = append(at, p)
		}
	}
	f.marks(c, s, vg.Length(radius), at)
}

// DrawText writes text from a point of the data on, 11 pixels high, with a rim that lets it read over marks.
func (f *Frame) DrawText(text string, x, y float64) {
	if p, ok := f.At(x, y); ok && f.inside(p) {
		f.write(f.shorten(text, label{size: smallSize}, f.right-p.X), p, label{size: smallSize, rim: Paper})
	}
}

// inside says whether p is in the frame, its border included.
func (f *Frame) inside(p vg.Point) bool {
	const eps = 1e-6
	return p.X >= f.Min.X-eps && p.X <= f.Max.X+eps && p.Y >= f.Min.Y-eps && p.Y <= f.Max.Y+eps
}

// size returns width and height, within 120 and 10,000 pixels.
func (f *Figure) size() (w, h float64) {
	clamp := func(v, unset float64) float64 {
		if !(v > 0) || !usable(v) {
			v = unset
		}
		return math.Round(min(max(v, 120), 10000))
	}
	w = clamp(f.Width, 640)
	unset := 400.0
	if f.height != nil {
		unset = f.height(w) + leading*smallSize*float64(len(f.notes()))
	}
	return w, clamp(f.Height, unset)
}

// extent returns the range of all layers.
func (f *Figure) extent() Range {
	r := Nothing()
	for _, l := range f.Layers {
		b := l.Range()
		r = r.With(b.X0, b.Y0).With(b.X1, b.Y1)
	}
	return r
}

// blank says whether there is nothing to draw.
func (f *Figure) blank() bool { return f.whole == nil && f.extent().empty() }

// description returns the text alternative.
func (f *Figure) description() string {
	s := f.Alt
	if s == "" {
		s = "A figure."
	}
	if f.blank() {
		s = "There is nothing to draw."
	}
	for _, n := range f.notes() {
		s += " " + n
	}
	return oneLine(s)
}

func (f *Figure) notes() []string {
	var out []string
	for _, n := range append([]string{f.Note}, f.Notes...) {
		if n = oneLine(n); n != "" {
			if last := n[len(n)-1]; last != '.' && last != '!' && last != '?' {
				n += "."
			}
			out = append(out, n)
		}
	}
	return out
}

// leftOut notes what could not be drawn, if anything.
func (f *Figure) leftOut(n, all int, what string) {
	if n == 0 {
		return
	}
	why := "not finite"
	if f.X.Log || f.Y.Log {
		why += ", or without a logarithm"
	}
	f.Notes = append(f.Notes, fmt.Sprintf("%s of %s %s left out: %s.", grouped(float64(n), 0), grouped(float64(all), 0), what, why))
}
