package plot

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"image"
	"image/color"
	"image/png"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
)

// fontStack begins with the fonts whose widths equal those of Liberation Sans, with which labels were measured.
const fontStack = "Arial,'Liberation Sans',Arimo,Helvetica,system-ui,sans-serif"

// svgCanvas is a vg.Canvas that writes SVG. All coordinates are written as they end up, in pixels from the top left, rounded to two
// decimals, so there are no groups and no transforms but those of turned text.
type svgCanvas struct {
	height vg.Length
	buf    bytes.Buffer
	alone  bool // a file of its own, not a part of a page
	svgState
	stack []svgState
	err   error // of encoding an image
}

// svgState is what Push keeps. A point p is drawn at turn·p + shift, y upwards; turn is {a, b, c, d} by rows.
type svgState struct {
	turn  [4]float64
	shift vg.Point
	angle float64 // of turn, in radians
	color color.Color
	width vg.Length
	dash  []vg.Length
	phase vg.Length
}

func newSVG(height vg.Length, alone bool) *svgCanvas {
	return &svgCanvas{height: height, alone: alone, svgState: svgState{turn: [4]float64{1, 0, 0, 1}, color: Ink, width: 1}}
}

func (c *svgCanvas) SetLineWidth(w vg.Length) { c.width = w }
func (c *svgCanvas) SetColor(v color.Color)   { c.color = v }
func (c *svgCanvas) Push()                    { c.stack = append(c.stack, c.svgState) }

func (c *svgCanvas) SetLineDash(pattern []vg.Length, offset vg.Length) {
	c.dash, c.phase = pattern, offset
}

func (c *svgCanvas) Pop() {
	c.svgState = c.stack[len(c.stack)-1]
	c.stack = c.stack[:len(c.stack)-1]
}

func (c *svgCanvas) Translate(p vg.Point) { c.shift = c.apply(p) }

func (c *svgCanvas) Rotate(rad float64) {
	sin, cos := math.Sincos(rad)
	t := c.turn
	c.turn = [4]float64{t[0]*cos + t[1]*sin, t[1]*cos - t[0]*sin, t[2]*cos + t[3]*sin, t[3]*cos - t[2]*sin}
	c.angle += rad
}

func (c *svgCanvas) Scale(x, y float64) {
	t := c.turn
	c.turn = [4]float64{t[0] * x, t[1] * y, t[2] * x, t[3] * y}
}

func (c *svgCanvas) apply(p vg.Point) vg.Point {
	x, y := float64(p.X), float64(p.Y)
	return vg.Point{X: vg.Length(c.turn[0]*x+c.turn[1]*y) + c.shift.X, Y: vg.Length(c.turn[2]*x+c.turn[3]*y) + c.shift.Y}
}

// write puts strings and lengths one after another.
func (c *svgCanvas) write(parts ...any) {
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			c.buf.WriteString(p)
		case vg.Length:
			c.buf.WriteString(decimal(float64(p)))
		}
	}
}

// decimal writes v with at most two decimals and no superfluous zero.
func decimal(v float64) string {
	s := strings.TrimRight(strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0"), ".")
	if s == "-0" {
		return "0"
	}
	return s
}

// paint returns the attributes that colour a fill or stroke. In a page a role is a variable. In a file it is the light colour and a class, which
// the file's style sheet darkens: viewers that know no variables, no media or no styles at all show it light.
func (c *svgCanvas) paint(property string, v color.Color) string {
	h := hex(v)
	if r, ok := v.(Role); ok {
		if c.alone {
			return " " + property + `="` + h + `" class="` + class(property, r) + `"`
		}
		return " " + property + `="var(--plot-` + roleNames[r&3] + "," + h + `)"`
	}
	s := " " + property + `="` + h + `"`
	if _, _, _, a := v.RGBA(); a < 0xffff {
		s += " " + property + `-opacity="` + decimal(float64(a)/0xffff) + `"`
	}
	return s
}

func class(property string, r Role) string { return "plot-" + property + "-" + roleNames[r&3] }

// darkStyle is the style sheet of a file.
func darkStyle() string {
	s := "<style>@media screen and (prefers-color-scheme:dark){"
	for r := Ink; r <= Paper; r++ {
		for _, property := range []string{"fill", "stroke"} {
			s += "." + class(property, r) + "{" + property + ":" + hex(Dark().Color(r)) + "}"
		}
	}
	return s + "}</style>\n"
}

func (c *svgCanvas) Fill(p vg.Path) {
	c.write(`<path d="`)
	c.outline(p)
	c.write(`"`, c.paint("fill", c.color), "/>\n")
}

func (c *svgCanvas) Stroke(p vg.Path) {
	if c.width <= 0 {
		return
	}
	c.write(`<path d="`)
	c.outline(p)
	c.write(`" fill="none"`, c.paint("stroke", c.color), ` stroke-width="`, c.width, `" stroke-linejoin="round"`)
	for i, d := range c.dash {
		c.write(map[bool]string{true: ` stroke-dasharray="`, false: " "}[i == 0], d)
	}
	if len(c.dash) > 0 {
		c.write(`"`)
	}
	c.write("/>\n")
}

// outline writes the data of a path. Arcs need a turn without shear, which is all that Rotate and an equal Scale make.
func (c *svgCanvas) outline(p vg.Path) {
	for _, s := range p {
		switch s.Type {
		case vg.MoveComp:
			c.point("M", s.Pos)
		case vg.LineComp:
			c.point("L", s.Pos)
		case vg.CloseComp:
			c.write("z")
		case vg.CurveComp:
			command := "Q"
			if len(s.Control) == 2 {
				command = "C"
			}
			for i, q := range s.Control {
				c.point(map[bool]string{true: command, false: " "}[i == 0], q)
			}
			c.point(" ", s.Pos)
		case vg.ArcComp:
			c.arc(s)
		}
	}
}

// arc writes an arc as quarters at most, since SVG cannot tell a full turn from none.
func (c *svgCanvas) arc(s vg.PathComp) {
	at := func(angle float64) vg.Point {
		sin, cos := math.Sincos(angle)
		return s.Pos.Add(vg.Point{X: s.Radius * vg.Length(cos), Y: s.Radius * vg.Length(sin)})
	}
	n := max(1, int(math.Ceil(math.Abs(s.Angle)/(math.Pi/2)-1e-9)))
	sweep := " 0 0 0 " // y points down in SVG, so angles that grow turn against its clock
	if s.Angle < 0 {
		sweep = " 0 0 1 "
	}
	r := s.Radius * vg.Length(math.Sqrt(math.Abs(c.turn[0]*c.turn[3]-c.turn[1]*c.turn[2])))
	c.point("L", at(s.Start))
	for i := 1; i <= n; i++ {
		c.write("A", r, " ", r, sweep)
		c.point("", at(s.Start+s.Angle*float64(i)/float64(n)))
	}
}

func (c *svgCanvas) point(command string, p vg.Point) {
	q := c.apply(p)
	c.write(command, q.X, " ", c.height-q.Y)
}

// FillString implements vg.Canvas.
func (c *svgCanvas) FillString(f font.Face, pt vg.Point, s string) { c.text(f, pt, s, start, nil) }

// text writes s with its anchor at pt on the baseline, with a rim of 3 pixels around the letters if rim is a colour.
func (c *svgCanvas) text(f font.Face, pt vg.Point, s string, at anchor, rim color.Color) {
	q := c.apply(pt)
	x, y := q.X, c.height-q.Y
	c.write(`<text x="`, x, `" y="`, y, `" font-size="`, f.Font.Size, `"`)
	if f.Font.Weight > 0 {
		c.write(` font-weight="600"`)
	}
	switch at {
	case middle:
		c.write(` text-anchor="middle"`)
	case end:
		c.write(` text-anchor="end"`)
	}
	if c.angle != 0 {
		c.write(` transform="rotate(`, vg.Length(-c.angle*180/math.Pi), " ", x, " ", y, `)"`)
	}
	body := c.paint("fill", c.color) + ">" + escape(s) + "</text>\n"
	if rim != nil { // two elements, since one cannot have two classes of paint, and not every viewer knows paint-order
		tag := c.buf.Bytes()[bytes.LastIndexByte(c.buf.Bytes(), '<'):]
		again := string(tag)
		c.write(c.paint("stroke", rim), ` stroke-width="3" stroke-linejoin="round" fill="none" aria-hidden="true">`, escape(s), "</text>\n", again)
	}
	c.write(body)
}

// DrawImage embeds img as PNG, smooth if it is drawn smaller than it is and in hard squares if larger.
func (c *svgCanvas) DrawImage(r vg.Rectangle, img image.Image) {
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		c.err = err
		return
	}
	size := r.Size()
	q := c.apply(vg.Point{X: r.Min.X, Y: r.Max.Y})
	c.write(`<image x="`, q.X, `" y="`, c.height-q.Y, `" width="`, size.X, `" height="`, size.Y, `" preserveAspectRatio="none"`)
	if float64(size.X) > float64(img.Bounds().Dx()) {
		c.write(` style="image-rendering:pixelated"`)
	}
	c.write(` href="data:image/png;base64,`, base64.StdEncoding.EncodeToString(b.Bytes()), "\"/>\n")
}

// escape makes any text fit for XML: markup is quoted, characters that XML forbids become U+FFFD.
func escape(s string) string {
	var b bytes.Buffer
	xml.EscapeText(&b, []byte(s)) // a bytes.Buffer takes everything
	return b.String()
}
