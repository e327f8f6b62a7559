package plot

import (
	"image/color"
	"math"
	"strings"
	"unicode"

	"codeberg.org/go-fonts/liberation/liberationsansbold"
	"codeberg.org/go-fonts/liberation/liberationsansregular"
	xfont "golang.org/x/image/font"
	"golang.org/x/image/font/opentype"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of text and the height of a line of it, in pixels.
const (
	titleSize = 15
	textSize  = 12
	smallSize = 11
	leading   = 1.3
)

// anchor says which point of a text is put where it is drawn.
type anchor float64

const (
	start  anchor = 0
	middle anchor = 0.5
	end    anchor = 1
)

// pen draws text and marks on either canvas.
type pen struct {
	draw.Canvas
	regular, bold *opentype.Font
	panel         bool // what is drawn is a part of a figure
}

func newPen(c vg.Canvas, w, h vg.Length) (pen, error) {
	regular, err := opentype.Parse(liberationsansregular.TTF)
	if err != nil {
		return pen{}, err
	}
	bold, err := opentype.Parse(liberationsansbold.TTF)
	return pen{Canvas: draw.NewCanvas(c, w, h), regular: regular, bold: bold}, err
}

// within returns the pen for the part of its canvas that r is.
func (p pen) within(r vg.Rectangle) pen {
	p.Rectangle = r
	return p
}

// label says how a text looks. The zero value is 12 pixels of ink, its left end on the point.
type label struct {
	size   vg.Length // 0 is textSize
	bold   bool
	color  color.Color // nil is Ink
	anchor anchor
	turn   float64     // radians against the clock, about the point
	rim    color.Color // around the letters, so that they read over marks; nil is none
}

func (p *pen) face(l label) font.Face {
	f := font.Face{Font: font.Font{Typeface: "Liberation", Variant: "Sans", Size: l.size}, Face: p.regular}
	if l.size == 0 {
		f.Font.Size = textSize
	}
	if l.bold {
		f.Face, f.Font.Weight = p.bold, xfont.WeightBold
	}
	return f
}

// measure returns the width of s in one line.
func (p *pen) measure(s string, l label) vg.Length {
	f := p.face(l)
	return f.Width(s)
}

// write draws s with its anchor at pt, on the baseline.
func (p *pen) write(s string, pt vg.Point, l label) {
	if s = oneLine(s); s == "" {
		return
	}
	face := p.face(l)
	if l.turn != 0 {
		p.Push()
		defer p.Pop()
		p.Translate(pt)
		p.Rotate(l.turn)
		pt = vg.Point{}
	}
	ink := l.color
	if ink == nil {
		ink = Ink
	}
	if svg, ok := p.Canvas.Canvas.(*svgCanvas); ok {
		svg.SetColor(ink)
		svg.text(face, pt, s, l.anchor, l.rim)
		return
	}
	pt.X -= face.Width(s) * vg.Length(l.anchor)
	if l.rim != nil {
		p.SetColor(l.rim)
		for i := range 8 {
			sin, cos := math.Sincos(float64(i) * math.Pi / 4)
			p.FillString(face, pt.Add(vg.Point{X: vg.Length(1.5 * cos), Y: vg.Length(1.5 * sin)}), s)
		}
	}
	p.SetColor(ink)
	p.FillString(face, pt, s)
}

// oneLine replaces control characters, line breaks among them, by blanks.
func oneLine(s string) string {
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s))
}

// shorten cuts s to a width and ends what it cut by an ellipsis.
func (p *pen) shorten(s string, l label, width vg.Length) string {
	s = oneLine(s)
	if p.measure(s, l) <= width {
		return s
	}
	r := []rune(s)
	if len(r) > 400 { // measuring is linear in the length, so is cutting rune by rune
		r = r[:400]
	}
	for len(r) > 1 && p.measure(string(r)+"…", l) > width {
		r = r[:len(r)-1]
	}
	return strings.TrimRight(string(r), " ") + "…"
}

// wrap breaks s between words into at most the given number of lines.
func (p *pen) wrap(s string, l label, width vg.Length, lines int) []string {
	var out []string
	line := ""
	words := strings.Fields(oneLine(s))
	for i, w := range words {
		longer := strings.TrimSpace(line + " " + w)
		if line == "" || p.measure(longer, l)*stretch <= width {
			line = longer
			continue
		}
		if len(out) == lines-1 {
			line = strings.Join(append([]string{line}, words[i:]...), " ")
			break
		}
		out = append(out, p.shorten(line, l, width))
		line = w
	}
	if line != "" {
		out = append(out, p.shorten(line, l, width))
	}
	return out
}

// stroke draws lines, as one path. Points must be finite.
func (p *pen) stroke(c color.Color, width vg.Length, dash []vg.Length, lines ...[]vg.Point) {
	var path vg.Path
	for _, l := range lines {
		for i, q := range l {
			if i == 0 {
				path.Move(q)
			} else {
				path.Line(q)
			}
		}
	}
	if len(path) == 0 {
		return
	}
	p.SetLineStyle(draw.LineStyle{Color: c, Width: width, Dashes: dash})
	p.Stroke(path)
}

// fill fills polygons, as one path.
func (p *pen) fill(c color.Color, polygons ...[]vg.Point) {
	var path vg.Path
	for _, l := range polygons {
		for i, q := range l {
			if i == 0 {
				path.Move(q)
			} else {
				path.Line(q)
			}
		}
		path.Close()
	}
	if len(path) == 0 {
		return
	}
	p.SetColor(c)
	p.Fill(path)
}

func box(x0, y0, x1, y1 vg.Length) []vg.Point {
	return []vg.Point{{X: x0, Y: y0}, {X: x1, Y: y0}, {X: x1, Y: y1}, {X: x0, Y: y1}}
}

func outlineOf(r vg.Rectangle) []vg.Point {
	b := box(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y)
	return append(b, b[0])
}

// Shape is the form of a mark. There are six of them and fourteen colours, so 42 groups differ.
type Shape int

// corners of the shapes after the disc, about a centre, for a radius of 1, y upwards. All have about the area of the disc.
func (s Shape) corners() []vg.Point {
	switch cycle(int(s), 6) {
	case 1: // square
		return []vg.Point{{X: -.9, Y: -.9}, {X: .9, Y: -.9}, {X: .9, Y: .9}, {X: -.9, Y: .9}}
	case 2: // triangle
		return []vg.Point{{X: -1.25, Y: -.8}, {X: 1.25, Y: -.8}, {X: 0, Y: 1.5}}
	case 3: // diamond
		return []vg.Point{{X: -1.25}, {Y: -1.25}, {X: 1.25}, {Y: 1.25}}
	case 4: // triangle on its tip
		return []vg.Point{{X: -1.25, Y: .8}, {X: 1.25, Y: .8}, {X: 0, Y: -1.5}}
	case 5: // cross
		const a, b = .42, 1.35
		return []vg.Point{{X: -a, Y: -b}, {X: a, Y: -b}, {X: a, Y: -a}, {X: b, Y: -a}, {X: b, Y: a}, {X: a, Y: a},
			{X: a, Y: b}, {X: -a, Y: b}, {X: -a, Y: a}, {X: -b, Y: a}, {X: -b, Y: -a}, {X: -a, Y: -a}}
	}
	return nil
}

// marks draws a mark of one shape at each point, as one path: 10 to 20 bytes a point in SVG.
func (p *pen) marks(c color.Color, s Shape, radius vg.Length, at []vg.Point) {
	if len(at) == 0 {
		return
	}
	corners := s.corners()
	if svg, ok := p.Canvas.Canvas.(*svgCanvas); ok {
		svg.SetColor(c)
		svg.marks(corners, radius, at)
		return
	}
	if corners == nil {
		var path vg.Path
		for _, q := range at {
			path.Move(q.Add(vg.Point{X: radius}))
			path.Arc(q, radius, 0, 2*math.Pi)
			path.Close()
		}
		p.SetColor(c)
		p.Fill(path)
		return
	}
	polygons := make([][]vg.Point, len(at))
	for i, q := range at {
		for _, k := range corners {
			polygons[i] = append(polygons[i], q.Add(k.Scale(radius)))
		}
	}
	p.fill(c, polygons...)
}

// marks writes discs as lines of no length with round ends, and polygons by relative steps.
func (c *svgCanvas) marks(corners []vg.Point, radius vg.Length, at []vg.Point) {
	c.write(`<path d="`)
	if corners == nil {
		for _, q := range at {
			c.point("M", q)
			c.write("h0")
		}
		c.write(`" fill="none" stroke-linecap="round" stroke-width="`, 2*radius, `"`, c.paint("stroke", c.color), "/>\n")
		return
	}
	var steps strings.Builder
	for i, k := range corners[1:] {
		d := k.Sub(corners[i]).Scale(radius)
		steps.WriteString("l" + decimal(float64(d.X)) + " " + decimal(-float64(d.Y)))
	}
	for _, q := range at {
		c.point("M", q.Add(corners[0].Scale(radius)))
		c.write(steps.String(), "z")
	}
	c.write(`"`, c.paint("fill", c.color), "/>\n")
}
