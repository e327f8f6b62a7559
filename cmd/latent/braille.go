package main

import (
	"math"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/text"
)

// canvas is a drawing in Braille signs: a cell of text is 2 dots wide and 4 high. Dot (0, 0) is at the left of the bottom.
type canvas struct {
	width, height int // cells
	cells         []brailleCell
}

// brailleCell is a cell of text: its dots as the Braille sign has them, or a letter in their place, and the number of its colour (0: none).
type brailleCell struct {
	dots   uint8
	letter rune
	colour int
}

func newCanvas(width, height int) *canvas {
	return &canvas{width: width, height: height, cells: make([]brailleCell, width*height)}
}

// dots returns the size in dots.
func (c *canvas) dots() (width, height int) { return 2 * c.width, 4 * c.height }

// brailleBit is the bit of a dot in its cell, by row from the top and column: those of the upper three rows were there
// before the fourth, and count down the columns (Unicode, block 2800).
var brailleBit = [4][2]uint8{{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}

// at returns the cell of a dot, nil outside.
func (c *canvas) at(x, y int) *brailleCell {
	if w, h := c.dots(); x < 0 || y < 0 || x >= w || y >= h {
		return nil
	}
	return &c.cells[(c.height-1-y/4)*c.width+x/2]
}

// set sets a dot; outside the canvas it does nothing.
func (c *canvas) set(x, y, colour int) {
	if p := c.at(x, y); p != nil {
		p.dots |= brailleBit[3-y%4][x%2]
		p.colour = colour
	}
}

// line sets the dots of a line, both ends included. Ends far outside cost nothing: what is outside is cut off first.
func (c *canvas) line(x0, y0, x1, y1 float64, colour int) {
	x0, y0, x1, y1, seen := c.clip(x0, y0, x1, y1)
	if !seen {
		return
	}
	steps := math.Ceil(max(math.Abs(x1-x0), math.Abs(y1-y0), 1))
	for i := 0.0; i <= steps; i++ {
		t := i / steps
		c.set(int(math.Floor(x0+t*(x1-x0)+0.5)), int(math.Floor(y0+t*(y1-y0)+0.5)), colour)
	}
}

// clip cuts a line to the canvas and one dot around it (Liang and Barsky 1984). seen is false where nothing is left.
func (c *canvas) clip(x0, y0, x1, y1 float64) (a, b, p, q float64, seen bool) {
	w, h := c.dots()
	from, to := 0.0, 1.0
	for _, side := range [4][2]float64{{x0 - x1, x0 + 1}, {x1 - x0, float64(w) - x0}, {y0 - y1, y0 + 1}, {y1 - y0, float64(h) - y0}} {
		switch t := side[1] / side[0]; {
		case !(side[0] < 0 || side[0] > 0): // along the side
			if !(side[1] >= 0) {
				return 0, 0, 0, 0, false
			}
		case side[0] < 0:
			from = max(from, t)
		default:
			to = min(to, t)
		}
	}
	if !(from <= to) {
		return 0, 0, 0, 0, false
	}
	return x0 + from*(x1-x0), y0 + from*(y1-y0), x0 + to*(x1-x0), y0 + to*(y1-y0), true
}

// letter writes a letter into the cell of a dot, or where that has one already into a free one beside it.
func (c *canvas) letter(x, y int, r rune, colour int) {
	for _, step := range [][2]int{{0, 0}, {2, 0}, {-2, 0}, {0, 4}, {0, -4}, {4, 0}, {-4, 0}} {
		if p := c.at(x+step[0], y+step[1]); p != nil && p.letter == 0 {
			p.letter, p.colour = r, colour
			return
		}
	}
}

// lines returns the rows of text, the top first. Empty cells are spaces, and none are at the end of a row.
func (c *canvas) lines(colours bool) []string {
	out := make([]string, c.height)
	for i := range out {
		var b strings.Builder
		colour := 0
		row := c.cells[i*c.width : (i+1)*c.width]
		for len(row) > 0 && row[len(row)-1].dots == 0 && row[len(row)-1].letter == 0 {
			row = row[:len(row)-1]
		}
		for _, p := range row {
			r := ' '
			switch {
			case p.letter != 0:
				r = p.letter
			case p.dots != 0:
				r = '\u2800' + rune(p.dots)
			}
			if colours && r != ' ' && p.colour != colour {
				colour = p.colour
				b.WriteString(escape(colour))
			}
			b.WriteRune(r)
		}
		if colour != 0 {
			b.WriteString(escape(0))
		}
		out[i] = b.String()
	}
	return out
}

// escape returns the sequence that turns a terminal to a colour: six in turn, from 1 on; 0 is its own.
func escape(colour int) string {
	if colour == 0 {
		return "\x1b[0m"
	}
	return "\x1b[" + strconv.Itoa([]int{34, 31, 32, 35, 36, 33}[(colour-1)%6]) + "m"
}

// axis maps numbers onto dots and has a few round ticks.
type axis struct {
	name   string
	lo, hi float64
	dots   int
	ticks  []float64
}

// newAxis returns an axis from lo to hi with about n ticks, at multiples of 1, 2 or 5 times a power of ten.
func newAxis(name string, lo, hi float64, dots, n int) *axis {
	if !(hi > lo) { // one place only
		pad := max(math.Abs(lo), 1) / 10
		lo, hi = lo-pad, hi+pad
	}
	a := &axis{name: name, lo: lo, hi: hi, dots: dots}
	step := roundStep(hi/float64(n) - lo/float64(n))
	if first := math.Ceil(lo / step); step > 0 && math.Abs(first) < 1<<50 {
		for i := first; i*step <= hi && len(a.ticks) <= 3*n; i++ {
			a.ticks = append(a.ticks, i*step+0)
		}
	}
	return a
}

// roundStep returns the round number nearest above v/1.5.
func roundStep(v float64) float64 {
	ten := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*ten >= v/1.5 {
			return m * ten
		}
	}
	return 10 * ten
}

// at returns the place of v in dots: lo is at 0, hi at the last.
func (a *axis) at(v float64) float64 {
	span := a.hi - a.lo
	if math.IsInf(span, 1) { // halves do not overflow
		return (v/2 - a.lo/2) / (a.hi/2 - a.lo/2) * float64(a.dots-1)
	}
	return (v - a.lo) / span * float64(a.dots-1)
}

// label returns a tick's number with the digits that tell it from its neighbours. Commas stand between thousands from 10,000 on; powers of ten are for
// axes that end below a millionth or beyond 1e15.
func (a *axis) label(v float64) string {
	step := 0.0
	if len(a.ticks) > 1 {
		step = a.ticks[1] - a.ticks[0]
	}
	if largest := max(math.Abs(a.lo), math.Abs(a.hi)); largest >= 1e15 || largest < 1e-6 {
		digits := 0
		if step > 0 && v != 0 {
			digits = int(min(max(math.Ceil(math.Log10(math.Abs(v)/step)-0.01), 0), 15))
		}
		s := strconv.FormatFloat(v, 'e', digits, 64)
		if v == 0 {
			s = "0"
		}
		return s
	}
	s := strconv.FormatFloat(v, 'f', int(min(max(-math.Floor(math.Log10(step)+1e-9), 0), 15)), 64)
	if math.Abs(v) < 9999.5 {
		return s
	}
	return text.Group(s)
}
