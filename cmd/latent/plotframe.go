package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"strings"
	"unicode/utf8"

	"golang.org/x/term"
)

// Size of a plot where nobody says, in cells.
const (
	plotWidth  = 72
	plotHeight = 24
)

// plotPage is where a plot goes.
type plotPage struct {
	width, height int
	colours       bool
	window        [][2]float64 // the range of x and that of y, where the user has set them
}

// across and up return what the page shows: the range that was asked for, or else the one that was found.
func (p plotPage) across(found [2]float64) [2]float64 { return p.side(0, found) }
func (p plotPage) up(found [2]float64) [2]float64     { return p.side(1, found) }

func (p plotPage) side(i int, found [2]float64) [2]float64 {
	if i < len(p.window) {
		return p.window[i]
	}
	return found
}

// pageOf returns the page that w is: as large as the terminal, and coloured unless that is not wanted.
func pageOf(w io.Writer, noColour bool) plotPage {
	p := plotPage{width: plotWidth, height: plotHeight}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return p
	}
	p.colours = !noColour && os.Getenv("NO_COLOR") == ""
	if width, height, err := term.GetSize(int(f.Fd())); err == nil {
		p.width, p.height = min(max(width-1, 40), 120), min(max(height-2, 12), 40)
	}
	return p
}

// dot rounds a place to a dot; far outside stays outside.
func dot(v float64) int { return int(math.Floor(min(max(v, -9), 1e6) + 0.5)) }

// sign returns the sign of a component: 1 to 9, then letters.
func sign(c int) rune {
	const signs = "123456789abcdefghijklmnopqrstuvwxyz"
	if c < len(signs) {
		return rune(signs[c])
	}
	return '+'
}

// plotFrame is how many rows of text a plot has beside its canvas: the name above, and line, ticks, name and what it shows
// below.
const plotFrame = 5

// framed is a canvas between two axes.
type framed struct {
	page   plotPage
	canvas *canvas
	x, y   *axis
	margin int // cells left of the vertical line
}

// newPlot returns an empty plot of height rows, ranges x across and y up. Without a name the upward axis has no ticks.
func newPlot(page plotPage, across, up string, x, y [2]float64, height int) *framed {
	rows := max(height-plotFrame, 1)
	p := &framed{page: page, y: newAxis(up, y[0], y[1], 4*rows, max(rows/5, 2))}
	if up == "" {
		p.y.ticks = nil
	}
	for _, t := range p.y.ticks {
		p.margin = max(p.margin, len(p.y.label(t)))
	}
	p.margin++
	columns := max(page.width-p.margin-1, 10)
	p.x = newAxis(across, x[0], x[1], 2*columns, max(columns/14, 2))
	p.canvas = newCanvas(columns, rows)
	return p
}

// loop draws a closed curve, at gives its point for an angle's cosine and sine.
func (p *framed) loop(at func(cos, sin float64) (x, y float64), colour int) {
	const corners = 180
	var px, py float64
	for i := range corners + 1 {
		sin, cos := math.Sincos(2 * math.Pi * float64(i) / corners)
		x, y := at(cos, sin)
		x, y = p.x.at(x), p.y.at(y)
		if i > 0 {
			p.canvas.line(px, py, x, y, colour)
		}
		px, py = x, y
	}
}

// letter writes the sign of a component at its place, if that is on the canvas.
func (p *framed) letter(c int, x, y float64) {
	if i, j := dot(p.x.at(x)), dot(p.y.at(y)); p.canvas.at(i, j) != nil {
		p.canvas.letter(i, j, sign(c), c+1)
	}
}

// write writes the canvas, its axes and the lines below.
func (p *framed) write(w io.Writer, below []string) {
	if p.y.name != "" {
		fmt.Fprintln(w, cutAtBlank(p.y.name, p.page.width))
	}
	label := make([]string, p.canvas.height)
	for _, t := range p.y.ticks {
		if row := p.canvas.height - 1 - dot(p.y.at(t))/4; row >= 0 && row < len(label) {
			label[row] = p.y.label(t)
		}
	}
	for i, line := range p.canvas.lines(p.page.colours) {
		edge := "│"
		if label[i] != "" {
			edge = "┤"
		}
		fmt.Fprintln(w, strings.TrimRight(fmt.Sprintf("%*s%s%s", p.margin, label[i], edge, line), " "))
	}
	rule, under := []rune(strings.Repeat("─", p.canvas.width)), []rune(strings.Repeat(" ", p.page.width+20))
	free := 0
	for _, t := range p.x.ticks {
		at := min(dot(p.x.at(t))/2, len(rule)-1)
		text := []rune(p.x.label(t))
		from := max(p.margin+1+at-len(text)/2, 0)
		if rule[at] = '┬'; from < free || from+len(text) > len(under) {
			continue // no room: the tick stays
		}
		copy(under[from:], text)
		free = from + len(text) + 1
	}
	fmt.Fprintf(w, "%s└%s\n", strings.Repeat(" ", p.margin), string(rule))
	fmt.Fprintln(w, strings.TrimRight(string(under), " "))
	name := cutAtBlank(p.x.name, p.page.width)
	fmt.Fprintf(w, "%s%s\n", strings.Repeat(" ", max(p.margin+1+p.canvas.width-utf8.RuneCountInString(name), 0)), name)
	for _, line := range below {
		fmt.Fprintln(w, line)
	}
}

// wrap breaks what is said at blanks into lines that fit the page. A word that is wider has a line of its own.
func (p plotPage) wrap(what string) (lines []string) {
	line := ""
	for word := range strings.FieldsSeq(what) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > p.width {
			lines, line = append(lines, line), ""
		}
		line = strings.TrimPrefix(line+" "+word, " ")
	}
	return append(lines, line)
}

// cutAtBlank returns a name that fits width: where it is longer, its first words and an ellipsis.
func cutAtBlank(name string, width int) string {
	runes := []rune(name)
	if len(runes) <= width {
		return name
	}
	start := string(runes[:width-1])
	if blank := strings.LastIndex(start, " "); blank > 0 {
		return start[:blank] + " …"
	}
	return start + "…"
}
