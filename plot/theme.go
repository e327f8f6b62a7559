package plot

import (
	"fmt"
	"image/color"
	"math"
	"strings"
)

// Role is a colour that a theme decides. It can stand wherever a color.Color can: canvases of this package look it up, others
// see the light theme.
type Role uint8

const (
	Ink   Role = iota // text and whatever must be read
	Muted             // axes, notes, marks in the background
	Grid              // lines to guide the eye
	Paper             // the background
)

var roleNames = [...]string{Ink: "ink", Muted: "muted", Grid: "grid", Paper: "paper"}

// RGBA implements color.Color by the light theme.
func (r Role) RGBA() (red, green, blue, alpha uint32) { return Light().Color(r).RGBA() }

// Theme gives each role a colour.
type Theme struct{ Ink, Muted, Grid, Paper color.RGBA }

// Light is dark text on white.
func Light() Theme {
	return Theme{Ink: rgb(0x1f2328), Muted: rgb(0x59636e), Grid: rgb(0xdde2e8), Paper: rgb(0xffffff)}
}

// Dark is light text on near black.
func Dark() Theme {
	return Theme{Ink: rgb(0xe6edf3), Muted: rgb(0x9aa4af), Grid: rgb(0x30363d), Paper: rgb(0x15191e)}
}

// Color returns the colour of a role.
func (t Theme) Color(r Role) color.RGBA {
	return [...]color.RGBA{Ink: t.Ink, Muted: t.Muted, Grid: t.Grid, Paper: t.Paper}[r&3]
}

func (t Theme) declarations() string {
	var b strings.Builder
	for r := Ink; r <= Paper; r++ {
		fmt.Fprintf(&b, "--plot-%s:%s;", roleNames[r], hex(t.Color(r)))
	}
	return b.String()
}

// CSS returns the style sheet of the variables --plot-ink, --plot-muted, --plot-grid and --plot-paper: light, dark where the reader
// prefers it, light in print; and of --plot-font, the typefaces of figures, for a page that is set in the same. A page holds it once, in a style element, beside any number of inline figures; a page with a switch of
// its own sets the variables itself. Without it inline figures are light.
func CSS() string {
	light, dark := Light().declarations(), Dark().declarations()
	return ":root{--plot-font:" + fontStack + ";" + light + "}\n@media (prefers-color-scheme:dark){:root{" + dark + "}}\n@media print{:root{" + light + "}}\n"
}

// Color returns the colour of group i: Okabe and Ito's seven in an order in which neighbours differ most, then seven that are farthest from
// those and from each other for readers with and without red, green and blue cones; from the start again after fourteen. Every one differs
// from both backgrounds by a contrast of 2.2 or more; marks that need 3 are drawn with an outline or a label. Of more than seven groups a
// reader is told by number, too: no fourteen colours are told apart at a glance.
func Color(i int) color.RGBA { return rgb(palette[cycle(i, len(palette))]) }

var palette = [...]uint32{0x0072b2, 0xe69f00, 0x009e73, 0xcc79a7, 0x56b4e9, 0xd55e00, 0x6a6a6a, 0x9600f0, 0x873c1e, 0xa5b469, 0xa578ff, 0x783c78, 0x5a3cb4, 0x96783c}

// cycle returns i mod n in 0..n-1, for any i.
func cycle(i, n int) int { return (i%n + n) % n }

func rgb(v uint32) color.RGBA {
	return color.RGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 255}
}

// faint returns c with an opacity of a in 0..1.
func faint(c color.RGBA, a float64) color.NRGBA {
	return color.NRGBA{R: c.R, G: c.G, B: c.B, A: uint8(a*255 + 0.5)}
}

func hex(c color.Color) string {
	n := color.NRGBAModel.Convert(c).(color.NRGBA)
	return fmt.Sprintf("#%02x%02x%02x", n.R, n.G, n.B)
}

// diverging returns the colour of v in -1..1 on the scale "BuRd" of Paul Tol's notes (blue, white, red); sequential is its blue half, for v in
// 0..1. Cells are opaque, so both read alike on every background; inkOn says which text reads on them.
func diverging(v float64) color.RGBA {
	stops := [...]uint32{0x2166ac, 0x4393c3, 0x92c5de, 0xd1e5f0, 0xf7f7f7, 0xfddbc7, 0xf4a582, 0xd6604d, 0xb2182b}
	at := (min(max(v, -1), 1) + 1) / 2 * float64(len(stops)-1)
	i := min(int(at), len(stops)-2)
	return mix(rgb(stops[i]), rgb(stops[i+1]), at-float64(i))
}

func sequential(v float64) color.RGBA { return diverging(-min(max(v, 0), 1)) }

func mix(a, b color.RGBA, t float64) color.RGBA {
	m := func(x, y uint8) uint8 { return uint8(float64(x)*(1-t) + float64(y)*t + 0.5) }
	return color.RGBA{R: m(a.R, b.R), G: m(a.G, b.G), B: m(a.B, b.B), A: 255}
}

// inkOn returns black or white, whichever contrasts more with c, by 4.5 at least: black above a relative luminance of 0.179.
func inkOn(c color.RGBA) color.RGBA {
	if luminance(c) > 0.179 {
		return rgb(0x000000)
	}
	return rgb(0xffffff)
}

// luminance is the relative luminance of WCAG 2.1.
func luminance(c color.RGBA) float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.R) + 0.7152*linear(c.G) + 0.0722*linear(c.B)
}
