package plot

import (
	"fmt"
	"image/color"
	"math"
	"strconv"

	"gonum.org/v1/plot/vg"
)

// HeatMap shows values about 0, such as standardised means, as colours from blue by white to red, with the numbers in the cells. The scale
// is symmetric: its ends are the largest absolute value.
type HeatMap struct {
	Head
	X, Y          Axis // of columns and rows; Label and Unit alone count
	Rows, Columns []string
	Values        [][]float64 // a row each; NaN is an empty cell
	Unit          string      // of the values, "standard deviations"
}

// Matrix shows shares or counts of 0 or more, such as a confusion table or the overlap of components, as shades of blue with the numbers
// in the cells.
type Matrix struct {
	Head
	X, Y          Axis // of columns and rows; Label and Unit alone count
	Rows, Columns []string
	Values        [][]float64
	Percent       bool // values are shares, written as percentages
	Unit          string
}

// Figure lays the heat map out.
func (h HeatMap) Figure() *Figure {
	l := &cellLayer{rows: h.Rows, columns: h.Columns, values: h.Values, shade: diverging, text: short, brief: func(v float64) string { return grouped(v, 1) }, from: -1}
	return l.figure(h.Head, h.X, h.Y, "Heat map", h.Unit)
}

// Figure lays the matrix out.
func (m Matrix) Figure() *Figure {
	l := &cellLayer{rows: m.Rows, columns: m.Columns, values: m.Values, shade: sequential, text: short}
	whole := true
	for _, row := range m.Values {
		for _, v := range row {
			whole = whole && (!usable(v) || v == math.Trunc(v))
		}
	}
	switch {
	case m.Percent:
		l.text = percent
	case whole:
		l.text = func(v float64) string { return grouped(v, 0) }
	}
	return l.figure(m.Head, m.X, m.Y, "Matrix", m.Unit)
}

// percent writes a share without a sign; one that is not 0 is not written as 0.
func percent(v float64) string {
	switch v *= 100; {
	case v != 0 && math.Abs(v) < 0.1:
		return "<0.1"
	case v == 0 || math.Abs(v) >= 99.95:
		return grouped(v, 0)
	default:
		return grouped(v, 1)
	}
}

// short writes a number in a cell: two decimals, fewer as it grows.
func short(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 1e15:
		return scientific(v, 0)
	case a >= 100:
		return grouped(v, 0)
	case a >= 10:
		return grouped(v, 1)
	}
	return grouped(v, 2)
}

// cellLayer draws a table of coloured cells.
type cellLayer struct {
	rows, columns []string
	values        [][]float64
	shade         func(float64) color.RGBA // of from..1
	from          float64                  // -1 or 0
	largest       float64                  // that the shade of 1 stands for
	text          func(float64) string
	brief         func(float64) string // shorter; nil where there is none
}

func (l *cellLayer) figure(h Head, x, y Axis, kind, unit string) *Figure {
	f := &Figure{Head: h, X: Axis{Label: x.Label, Unit: x.Unit}, Y: Axis{Label: y.Label, Unit: y.Unit}}
	columns, lost, all := len(l.columns), 0, 0
	for _, row := range l.values {
		columns = max(columns, len(row))
		for _, v := range row {
			all++
			if usable(v) {
				l.largest = max(l.largest, math.Abs(v))
			} else {
				lost++
			}
		}
	}
	f.X.Names, f.Y.Names = padded(l.columns, columns), padded(l.rows, len(l.values))
	f.Layers = []Layer{l}
	f.margin = func(*pen) vg.Length { return 70 }
	f.height = func(width float64) float64 {
		cell := min(34, max(22, 700/float64(max(len(l.values), 1))))
		return 170 + cell*float64(max(len(l.values), 2))
	}
	f.leftOut(lost, all, "values")
	if unit != "" {
		f.Notes = append(f.Notes, "Values in "+unit+".")
	}
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("%s of %d rows and %d columns.", kind, len(l.values), columns)
		if r, c, ok := l.peak(); ok {
			f.Alt += fmt.Sprintf(" Farthest from 0: %s in row %s, column %s.", l.text(l.values[r][c]), f.Y.Names[r], f.X.Names[c])
		}
	}
	return f
}

// peak returns the cell of the largest absolute value.
func (l *cellLayer) peak() (row, column int, ok bool) {
	for r := range l.values {
		for c, v := range l.values[r] {
			if usable(v) && (!ok || math.Abs(v) > math.Abs(l.values[row][column])) {
				row, column, ok = r, c, true
			}
		}
	}
	return row, column, ok
}

// padded returns n names, numbers for those that lack.
func padded(names []string, n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = strconv.Itoa(i + 1)
		if i < len(names) {
			out[i] = names[i]
		}
	}
	return out
}

func (l *cellLayer) Range() Range {
	r := Nothing()
	for i, row := range l.values {
		for j, v := range row {
			if usable(v) {
				r = r.With(float64(j), float64(i))
			}
		}
	}
	return r
}

func (l *cellLayer) Draw(f *Frame) {
	columns, rows := f.x.hi+0.5, f.y.hi+0.5
	w, h := f.Size().X/vg.Length(columns), f.Size().Y/vg.Length(rows)
	text := l.text
	style, numbers := l.fit(f, text, w, h)
	if !numbers && l.brief != nil {
		text = l.brief
		style, numbers = l.fit(f, text, w, h)
	}
	gap := min(1, w/10, h/10)
	for i, row := range l.values {
		for j, v := range row {
			if !usable(v) {
				continue
			}
			p, _ := f.At(float64(j), float64(i))
			c := l.shade(l.share(v))
			f.fill(c, box(p.X-w/2+gap/2, p.Y-h/2+gap/2, p.X+w/2-gap/2, p.Y+h/2-gap/2))
			if numbers {
				style.color = inkOn(c)
				f.write(text(v), vg.Point{X: p.X, Y: p.Y - 0.36*style.size}, style)
			}
		}
	}
	l.key(f)
}

// fit returns how large numbers are written in cells of w by h, and whether they have room there.
func (l *cellLayer) fit(f *Frame, text func(float64) string, w, h vg.Length) (style label, ok bool) {
	style = label{size: smallSize, anchor: middle}
	widest := vg.Length(0)
	for _, row := range l.values {
		for _, v := range row {
			if usable(v) {
				widest = max(widest, stretch*f.measure(text(v), style))
			}
		}
	}
	for ; style.size > 8 && widest+2 > w; style.size-- {
		widest *= (style.size - 1) / style.size
	}
	return style, widest+2 <= w && style.size+2 <= h
}

// share returns v in units of the largest, in -1..1.
func (l *cellLayer) share(v float64) float64 {
	if l.largest == 0 {
		return 0
	}
	return v / l.largest
}

// key draws the scale of colours right of the cells.
func (l *cellLayer) key(f *Frame) {
	const steps = 24
	x, height := f.Max.X+14, min(f.Size().Y, 130)
	y := f.Max.Y - height
	for i := range steps {
		v := l.from + (1-l.from)*(float64(i)+0.5)/steps
		from := y + height*vg.Length(i)/steps
		f.fill(l.shade(v), box(x, from, x+12, from+height/steps+0.3))
	}
	small := label{size: 10, color: Muted}
	f.write(f.shorten(l.text(l.largest), small, f.right-x-16), vg.Point{X: x + 16, Y: f.Max.Y - 8}, small)
	f.write(f.shorten(l.text(l.from*l.largest), small, f.right-x-16), vg.Point{X: x + 16, Y: y}, small)
	if l.from < 0 {
		f.write("0", vg.Point{X: x + 16, Y: y + height/2 - 4}, small)
	}
}
