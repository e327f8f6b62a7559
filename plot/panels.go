package plot

import (
	"fmt"

	"gonum.org/v1/plot/vg"
)

// Panels shows several pictures as one, row by row: small multiples.
type Panels struct {
	Head
	Pictures []Picture
	Columns  int // 0: three at most, in rows as even as can be
}

// Figure lays the panels out, all of one size.
func (s Panels) Figure() *Figure {
	f := &Figure{Head: s.Head}
	var figures []*Figure
	told := ""
	for _, p := range s.Pictures {
		if p == nil {
			continue
		}
		inner := p.Figure()
		figures = append(figures, inner)
		told += " " + orElse(oneLine(inner.Title), "Untitled") + ": " + inner.description()
	}
	if f.Alt == "" {
		f.Alt = fmt.Sprintf("%d panels.%s", len(figures), told)
	}
	n := len(figures)
	if n == 0 {
		return f // blank
	}
	columns := s.Columns
	if columns < 1 {
		rows := (n + 2) / 3
		columns = (n + rows - 1) / rows
	}
	columns = min(columns, n)
	rows := (n + columns - 1) / columns
	f.height = func(width float64) float64 {
		w, tallest := width/float64(columns), 0.0
		for _, p := range figures {
			h := max(w*0.75, 220)
			if p.height != nil {
				h = p.height(w)
			}
			tallest = max(tallest, h)
		}
		return 50 + float64(rows)*tallest
	}
	f.whole = func(fr *Frame) {
		w, h := (fr.Size().X+edge)/vg.Length(columns), (fr.Size().Y+edge)/vg.Length(rows)
		for i, p := range figures {
			at := vg.Point{X: fr.Min.X - edge/2 + vg.Length(i%columns)*w, Y: fr.Max.Y + edge/2 - vg.Length(i/columns+1)*h}
			inner := fr.pen.within(vg.Rectangle{Min: at, Max: at.Add(vg.Point{X: w, Y: h})})
			inner.panel = true
			p.draw(inner)
		}
	}
	return f
}
