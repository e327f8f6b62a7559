package plot

import (
	"cmp"
	"fmt"
	"image/color"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/plot/vg"
)

// Lines shows values by a count such as sweeps or seconds, one line a series, named at its right end.
type Lines struct {
	Head
	X, Y   Axis
	Series []Series
	Zoom   *Zoom       // nil: none
	Levels []Reference // values of y to compare with

	absent string // says of values that cannot be drawn what they are, after their count; "" where they are not finite
}

// Series is a line. A value that cannot be drawn breaks it.
type Series struct {
	Name      string
	X         []float64   // nil: 0, 1, 2, ...
	Y         []float64   // nil: only Runs
	Low, High []float64   // a band about the line, at the same X; nil: none
	Runs      [][]float64 // single runs, at the same X, drawn thin behind the lines
	Dots      bool        // also a mark at each value
	Faint     bool        // in the background: thin, grey, without marks; takes no colour of the others
}

// Zoom is a window on a part of the axes, drawn large in a corner that is free; as a panel of its own if none is. A range with Min >= Max is
// that of the figure. What it shows is outlined in the figure.
type Zoom struct{ X0, X1, Y0, Y1 float64 }

// Reference is a line across the figure at a value.
type Reference struct {
	At   float64
	Name string
}

// Figure lays the lines out.
func (s Lines) Figure() *Figure {
	f := &Figure{Head: s.Head, X: s.X, Y: s.Y}
	f.X.Names, f.Y.Names = nil, nil
	f.X.tight = f.X.Max <= f.X.Min
	layer := &lineLayer{levels: s.Levels}
	lost, all, group := 0, 0, 0
	var names []string
	for _, series := range s.Series {
		t := trace{name: series.Name, group: group, dots: series.Dots && !series.Faint, faint: series.Faint}
		if !series.Faint {
			group++
		}
		n := 0
		t.line, n = joined(series.X, series.Y, s.X, s.Y)
		lost, all = lost+n, all+len(series.Y)
		for _, r := range series.Runs {
			run, n := joined(series.X, r, s.X, s.Y)
			lost, all = lost+n, all+len(r)
			t.runs = append(t.runs, run)
		}
		if len(series.Low) > 0 && len(series.High) > 0 {
			t.low, _ = joined(series.X, series.Low, s.X, s.Y)
			t.high, _ = joined(series.X, series.High, s.X, s.Y)
		}
		layer.traces = append(layer.traces, t)
		names = append(names, series.Name)
	}
	f.Layers = []Layer{layer}
	f.margin = layer.margin
	if s.absent == "" {
		f.leftOut(lost, all, "values")
	} else if lost > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d %s.", lost, all, s.absent))
	}
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("Lines of %s by %s: %s.", orElse(f.Y.title(), "y"), orElse(f.X.title(), "x"), strings.Join(names, ", ")) + layer.ends()
	}
	if s.Zoom == nil {
		return f
	}
	zoom := &zoomLayer{figure: f, lines: layer, zoom: *s.Zoom}
	if !zoom.finds(f) {
		return s.beside(f)
	}
	f.Layers = append(f.Layers, zoom)
	return f
}

// joined pairs x and y, with NaN for y where the pair cannot be drawn, and counts those.
func joined(x, y []float64, ax, ay Axis) (points [][2]float64, lost int) {
	for i, v := range y {
		at := float64(i)
		if x != nil {
			if i >= len(x) {
				break
			}
			at = x[i]
		}
		if !ax.fits(at) || !ay.fits(v) {
			at, v = math.NaN(), math.NaN()
			lost++
		}
		points = append(points, [2]float64{at, v})
	}
	return points, lost
}

type trace struct {
	name            string
	group           int
	line, low, high [][2]float64
	runs            [][][2]float64
	dots, faint     bool
}

// last returns the last point drawn of the line, or of the last run.
func (t *trace) last() ([2]float64, bool) {
	lines := append([][][2]float64{t.line}, t.runs...)
	for _, l := range lines {
		for i := len(l) - 1; i >= 0; i-- {
			if !math.IsNaN(l[i][1]) {
				return l[i], true
			}
		}
	}
	return [2]float64{}, false
}

// crosses reports whether a part of the line or of a run may be seen: not where all its values are beyond one end of the axis.
func (t *trace) crosses(y scale) bool {
	above, below := true, true
	for _, l := range append([][][2]float64{t.line}, t.runs...) {
		for _, q := range l {
			if v := y.norm(q[1]); !math.IsNaN(v) {
				above, below = above && v > 1, below && v < 0
			}
		}
	}
	return !above && !below
}

type lineLayer struct {
	traces []trace
	levels []Reference
	bare   bool // in a zoom: no names
}

// ends tells the last value of each line, for the text alternative.
func (l *lineLayer) ends() string {
	var out []string
	for _, t := range l.traces {
		if q, ok := t.last(); ok && t.line != nil && !t.faint {
			out = append(out, t.name+" "+number(q[1]))
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " Last values: " + strings.Join(out, ", ") + "."
}

func (l *lineLayer) Range() Range {
	r := Nothing()
	l.each(func(points [][2]float64) {
		for _, q := range points {
			r = r.With(q[0], q[1])
		}
	})
	if !r.empty() {
		for _, v := range l.levels {
			r = r.With(r.X0, v.At)
		}
	}
	return r
}

// each calls do with all lines.
func (l *lineLayer) each(do func([][2]float64)) {
	for i := range l.traces {
		t := &l.traces[i]
		for _, points := range append([][][2]float64{t.line, t.low, t.high}, t.runs...) {
			do(points)
		}
	}
}

func (t *trace) color() color.Color {
	if t.faint {
		return color.NRGBA{R: 0x8a, G: 0x8a, B: 0x8a, A: 0xb0}
	}
	return Color(t.group)
}

func (l *lineLayer) Draw(f *Frame) {
	for _, t := range l.traces {
		for i := 1; i < len(t.low) && i < len(t.high); i++ {
			f.band([4][2]float64{t.low[i-1], t.low[i], t.high[i], t.high[i-1]}, t.group)
		}
	}
	for _, t := range l.traces {
		for _, r := range t.runs {
			f.stroke(faint(Color(t.group), 0.45), 0.8, nil, f.thin(f.line(r))...)
		}
	}
	for _, v := range l.levels {
		f.level(v, !l.bare)
	}
	for pass := range 2 { // what is faint first
		for _, t := range l.traces {
			if t.faint != (pass == 0) {
				continue
			}
			f.stroke(t.color(), t.width(), t.dashes(), f.thin(f.line(t.line))...)
			if t.dots {
				f.DrawMarks(t.color(), Shape(t.group), 3, t.line...)
			}
		}
	}
	if !l.bare {
		l.names(f)
	}
}

func (t *trace) width() vg.Length {
	if t.faint {
		return 1
	}
	return 2
}

// dashes tell lines apart beside their colours.
func (t *trace) dashes() []vg.Length {
	if t.faint {
		return nil
	}
	return [][]vg.Length{nil, {7, 2.5}, {2, 2}, {9, 2.5, 2, 2.5}, {4, 2}, {12, 3}}[cycle(t.group, 6)]
}

// band fills a quadrilateral of the band between two values of x.
func (f *Frame) band(corners [4][2]float64, group int) {
	var polygon []vg.Point
	for _, q := range corners {
		p, ok := f.At(q[0], q[1])
		if !ok {
			return
		}
		polygon = append(polygon, p)
	}
	f.fill(faint(Color(group), 0.2), f.ClipPolygonXY(polygon))
}

// level draws a line across at a value of y, named at its right end.
func (f *Frame) level(v Reference, named bool) {
	u := f.y.norm(v.At)
	if !(u >= 0 && u <= 1) {
		return
	}
	y := f.Canvas.Y(u)
	f.stroke(Muted, 1, []vg.Length{4, 3}, []vg.Point{{X: f.Min.X, Y: y}, {X: f.Max.X, Y: y}})
	if named {
		up := vg.Length(4)
		if y+14 > f.Max.Y {
			up = -12
		}
		f.write(f.shorten(v.Name, label{size: smallSize}, f.Size().X/2), vg.Point{X: f.Max.X - 4, Y: y + up}, label{size: smallSize, color: Muted, anchor: end, rim: Paper})
	}
}

// thin reduces lines of more than four points a pixel: of each pixel's column it keeps the first, least, greatest and last.
func (f *Frame) thin(lines [][]vg.Point) [][]vg.Point {
	out := make([][]vg.Point, len(lines))
	for i, l := range lines {
		if len(l) <= 4*int(f.Size().X) {
			out[i] = l
			continue
		}
		for from := 0; from < len(l); {
			to, lo, hi := from, from, from
			for ; to < len(l) && math.Floor(float64(l[to].X)) == math.Floor(float64(l[from].X)); to++ {
				if l[to].Y < l[lo].Y {
					lo = to
				}
				if l[to].Y > l[hi].Y {
					hi = to
				}
			}
			keep := []int{from, lo, hi, to - 1}
			slices.Sort(keep)
			for _, k := range slices.Compact(keep) {
				out[i] = append(out[i], l[k])
			}
			from = to
		}
	}
	return out
}

// nameWidth is the widest a name at the end of a line may be.
const nameWidth = 150

func (l *lineLayer) margin(p *pen) vg.Length {
	var w vg.Length
	for _, t := range l.traces {
		w = max(w, p.measure(p.shorten(t.name, label{size: smallSize}, nameWidth), label{size: smallSize}))
	}
	if w == 0 {
		return 6
	}
	return stretch*w + 36
}

// names writes the name of each line beside its end, moved apart where ends are close, with a thin line from one to the other.
func (l *lineLayer) names(f *Frame) {
	type name struct {
		trace *trace
		y     vg.Length // of the end
	}
	var all []name
	for i := range l.traces {
		t := &l.traces[i]
		q, ok := t.last()
		if !ok || t.name == "" {
			continue
		}
		if p, ok := f.At(q[0], q[1]); ok && t.crosses(f.y) {
			y := min(max(p.Y, f.Min.Y), f.Max.Y)
			all = append(all, name{t, y})
		}
	}
	slices.SortStableFunc(all, func(a, b name) int { return cmp.Compare(a.y, b.y) })
	at := make([]vg.Length, len(all))
	for i := range all {
		at[i] = all[i].y
	}
	spread(at, 13, f.Min.Y, f.Max.Y)
	small := label{size: smallSize}
	for i, n := range all {
		x := f.Max.X
		c := n.trace.color()
		f.stroke(Muted, 0.7, nil, []vg.Point{{X: x + 1, Y: n.y}, {X: x + 8, Y: at[i]}})
		f.stroke(c, n.trace.width(), n.trace.dashes(), []vg.Point{{X: x + 9, Y: at[i]}, {X: x + 27, Y: at[i]}})
		if n.trace.dots {
			f.marks(c, Shape(n.trace.group), 3, []vg.Point{{X: x + 18, Y: at[i]}})
		}
		f.write(f.shorten(n.trace.name, small, min(nameWidth, f.right-x-31)), vg.Point{X: x + 31, Y: at[i] - 4}, small)
	}
}

// spread moves ascending places apart to a gap of at least gap, or less if lo..hi has no room, and keeps them in it. Places that
// touch move together about their own mean.
func spread(y []vg.Length, gap, lo, hi vg.Length) {
	n := len(y)
	if n == 0 {
		return
	}
	if n > 1 {
		gap = min(gap, (hi-lo)/vg.Length(n-1))
	}
	type block struct {
		centre vg.Length
		n      int
	}
	var blocks []block
	half := func(b block) vg.Length { return gap * vg.Length(b.n-1) / 2 }
	for _, v := range y {
		b := block{v, 1}
		for {
			b.centre = min(max(b.centre, lo+half(b)), hi-half(b))
			if k := len(blocks) - 1; k >= 0 && b.centre-half(b) < blocks[k].centre+half(blocks[k])+gap {
				p := blocks[k]
				b = block{(b.centre*vg.Length(b.n) + p.centre*vg.Length(p.n)) / vg.Length(b.n+p.n), b.n + p.n}
				blocks = blocks[:k]
				continue
			}
			break
		}
		blocks = append(blocks, b)
	}
	i := 0
	for _, b := range blocks {
		for k := range b.n {
			y[i] = b.centre - half(b) + gap*vg.Length(k)
			i++
		}
	}
}
