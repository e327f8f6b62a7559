package plot

import (
	"fmt"
	"image/color"
	"strings"

	"gonum.org/v1/plot/vg"

	"github.com/latent-go/latent/internal/text"
)

// Scatter shows rows as points in two columns, coloured and shaped by group, with the mean of each group and the ellipses that hold 50 % and
// 95 % of its component. All points given are drawn: sample before where there are more than some 20,000, and say so in Note.
type Scatter struct {
	Head
	X, Y   Axis
	Groups []Group
	Part   string // what one of the groups is called, in the singular: "group" where it is empty
}

// Group is a group of rows in a scatter. Group i has Color(i) and Shape(i).
type Group struct {
	Name   string
	X, Y   []float64 // of equal length; what one has more is not drawn
	Normal *Normal   // the component; nil draws no mean
	More   []Normal  // further components, of a group that is made of several
}

// Levels of the ellipses, and how each is drawn.
var ellipses = [...]struct {
	level float64
	dash  []vg.Length
	kind  Swatch
	name  string
}{{0.5, nil, Line, "50 % ellipse"}, {0.95, []vg.Length{6, 3}, Dashed, "95 % ellipse"}}

// Figure lays the scatter out.
func (s Scatter) Figure() *Figure {
	f := &Figure{Head: s.Head, X: s.X, Y: s.Y}
	f.X.Names, f.Y.Names = nil, nil
	layer := scatterLayer{log: s.X.Log || s.Y.Log}
	all, drawn, bad, components := 0, 0, 0, len(s.Groups)
	for i, g := range s.Groups {
		n := min(len(g.X), len(g.Y))
		p := points{name: g.Name, group: i}
		for r := range n {
			if s.X.fits(g.X[r]) && s.Y.fits(g.Y[r]) {
				p.x, p.y = append(p.x, g.X[r]), append(p.y, g.Y[r])
			}
		}
		all, drawn = all+n, drawn+len(p.x)
		if g.Normal != nil {
			bad += p.component(g.Normal, s.X, s.Y)
		}
		layer.groups = append(layer.groups, p)
		for _, n := range g.More {
			more := points{group: i}
			bad += more.component(&n, s.X, s.Y)
			layer.groups = append(layer.groups, more)
			components++
		}
		if len(s.Groups) > 1 || g.Name != "" {
			f.Legend = append(f.Legend, Key{Name: g.Name, Color: Color(i), Shape: Shape(i)})
		}
	}
	for j, e := range ellipses {
		for _, p := range layer.groups {
			if len(p.rings[j]) > 0 {
				f.Legend = append(f.Legend, Key{Name: e.name, Kind: e.kind, Color: Muted})
				break
			}
		}
	}
	f.Layers = []Layer{&layer}
	f.leftOut(all-drawn, all, "points")
	if bad > 0 {
		f.Notes = append(f.Notes, fmt.Sprintf("%d of %d components cannot be drawn: a mean or covariance is not finite, or not a covariance.", bad, components))
	}
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("Scatter of %s points in %s: %s against %s.", grouped(float64(drawn), 0), text.Count(len(s.Groups), orElse(s.Part, "group")), orElse(f.Y.title(), "y"), orElse(f.X.title(), "x"))
	}
	return f
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}

type points struct {
	name  string
	group int
	x, y  []float64
	mean  *[2]float64
	rings [len(ellipses)][][2]float64
}

// component sets mean and ellipses, and returns 1 if it cannot.
func (p *points) component(n *Normal, x, y Axis) int {
	if !x.fits(n.Mean[0]) || !y.fits(n.Mean[1]) {
		return 1
	}
	m := n.Mean
	p.mean = &m
	if n.Cov == [2][2]float64{} {
		return 0
	}
	for j, e := range ellipses {
		ellipse, err := NewEllipse(n.Mean, n.inflated(e.level), e.level)
		if err != nil {
			return 1
		}
		p.rings[j] = ellipse.Points(72)
	}
	return 0
}

type scatterLayer struct {
	groups []points
	log    bool // ellipses may leave the axes, and do not count for the range
}

func (s *scatterLayer) Range() Range {
	r := Nothing()
	for _, g := range s.groups {
		for i := range g.x {
			r = r.With(g.x[i], g.y[i])
		}
		if g.mean != nil {
			r = r.With(g.mean[0], g.mean[1])
		}
		for _, ring := range g.rings {
			for _, q := range ring {
				if !s.log {
					r = r.With(q[0], q[1])
				}
			}
		}
	}
	return r
}

func (s *scatterLayer) Draw(f *Frame) {
	s.drawPoints(f)
	for _, g := range s.groups {
		for j, ring := range g.rings {
			c := Color(g.group)
			for _, l := range f.line(ring) {
				f.stroke(Paper, 3.2, nil, l)
				f.stroke(c, 1.6, ellipses[j].dash, l)
			}
		}
	}
	s.drawMeans(f)
}

// drawPoints draws the points of all groups by turns, some hundred at a time, so that none covers the others and depth shows through.
func (s *scatterLayer) drawPoints(f *Frame) {
	at := make([][]vg.Point, len(s.groups))
	total := 0
	for i, g := range s.groups {
		for r := range g.x {
			if q, ok := f.At(g.x[r], g.y[r]); ok && f.inside(q) {
				at[i] = append(at[i], q)
			}
		}
		total += len(at[i])
	}
	radius, opacity := vg.Length(3), 0.75
	switch {
	case total > 5000:
		radius, opacity = 1.3, 0.45
	case total > 800:
		radius, opacity = 2, 0.6
	}
	batch := max(20, total/150)
	for more := true; more; {
		more = false
		for i, g := range s.groups {
			n := min(batch, len(at[i]))
			shape := Shape(g.group)
			if total > 2000 {
				shape = 0 // too small to tell apart, and a third of the bytes
			}
			f.marks(faint(Color(g.group), opacity), shape, radius, at[i][:n])
			at[i] = at[i][n:]
			more = more || len(at[i]) > 0
		}
	}
}

// panelWidth is the width of a frame below which it is one panel of several, whose discs are smaller.
const panelWidth = 200

// drawMeans draws a mark with a rim at each mean: a disc with the number of the group where there are several. A name that does not end in that
// number is written beside it where it finds room, and so is the number of a disc that would lie on another.
func (s *scatterLayer) drawMeans(f *Frame) {
	several := len(s.groups) > 1
	radius := vg.Length(4.5)
	size := vg.Length(10)
	switch {
	case several && f.Size().X < panelWidth:
		radius, size = 5.5, 8
	case several:
		radius = 7.5
	}
	var taken []vg.Rectangle
	beside := map[int]string{} // by group
	at := make([]vg.Point, len(s.groups))
	for i, g := range s.groups {
		if g.mean == nil {
			continue
		}
		q, ok := f.At(g.mean[0], g.mean[1])
		if !ok || !f.inside(q) {
			continue
		}
		at[i] = q
		f.mean(q, radius, Color(g.group))
		if !several {
			continue
		}
		number, disc := fmt.Sprint(g.group+1), around(q, radius+0.5, radius+0.5)
		free := !overlaps(disc, taken)
		if free {
			f.write(number, vg.Point{X: q.X, Y: q.Y - 0.36*size}, label{size: size, bold: true, anchor: middle, color: inkOn(Color(g.group))})
		}
		taken = append(taken, disc)
		switch named := len(s.groups) <= 20 && g.name != "" && len([]rune(g.name)) <= 16 && !strings.HasSuffix(g.name, number); {
		case named:
			beside[i] = g.name
		case !free:
			beside[i] = number
		}
	}
	for i := range s.groups {
		if name := beside[i]; name != "" {
			taken = append(taken, f.beside(name, at[i], taken)...)
		}
	}
}

// mean draws a disc with a rim that reads on marks.
func (f *Frame) mean(at vg.Point, radius vg.Length, c color.Color) {
	f.marks(Paper, 0, radius+2.4, []vg.Point{at})
	f.marks(Ink, 0, radius+1.2, []vg.Point{at})
	f.marks(c, 0, radius, []vg.Point{at})
}

// beside writes a name next to a disc where it finds room, and returns the room that it takes, if any.
func (f *Frame) beside(name string, at vg.Point, taken []vg.Rectangle) []vg.Rectangle {
	l := label{bold: true, anchor: middle, rim: color.Color(Paper)}
	half := f.measure(name, l)/2 + 2
	for _, to := range []vg.Point{{X: half + 10}, {X: -half - 10}, {Y: 18}, {Y: -18}} {
		room := around(at.Add(to), half, 8)
		if !f.inside(room.Min) || !f.inside(room.Max) || overlaps(room, taken) {
			continue
		}
		f.write(name, vg.Point{X: (room.Min.X + room.Max.X) / 2, Y: room.Min.Y + 4}, l)
		return []vg.Rectangle{room}
	}
	return nil
}

func around(p vg.Point, w, h vg.Length) vg.Rectangle {
	return vg.Rectangle{Min: p.Sub(vg.Point{X: w, Y: h}), Max: p.Add(vg.Point{X: w, Y: h})}
}

func overlaps(r vg.Rectangle, others []vg.Rectangle) bool {
	for _, o := range others {
		if r.Min.X < o.Max.X && o.Min.X < r.Max.X && r.Min.Y < o.Max.Y && o.Min.Y < r.Max.Y {
			return true
		}
	}
	return false
}

// line returns the parts of a line through points of the data that are in the frame. It breaks where a point cannot be drawn.
func (f *Frame) line(points [][2]float64) [][]vg.Point {
	var parts [][]vg.Point
	var part []vg.Point
	for _, q := range points {
		p, ok := f.At(q[0], q[1])
		if !ok {
			if len(part) > 1 {
				parts = append(parts, part)
			}
			part = nil
			continue
		}
		part = append(part, p)
	}
	if len(part) > 1 {
		parts = append(parts, part)
	}
	return f.ClipLinesXY(parts...)
}
