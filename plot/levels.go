package plot

import (
	"fmt"
	"strings"

	"github.com/latent-go/latent/internal/text"
	"gonum.org/v1/plot/vg"
)

// Levels shows how often each level of columns of categories occurs in each group: a line a level, a bar of its share for all rows and for every
// group, with the share in per cent beside it where there is room. Bars of group i have Color(i) and stand under its number.
type Levels struct {
	Head
	Groups  []string // names of the k groups, numbers for those that lack
	Part    string   // what one of them is called, in the singular: "group" where it is empty
	Columns []LevelColumn
}

// LevelColumn is one column of categories.
type LevelColumn struct {
	Name   string
	Levels []Level // in the order in which they are drawn
}

// Level is one level of a column. A Level without a name stands for its column, as that of bits does: it is drawn on the column's own line.
type Level struct {
	Name string
	All  float64   // its share among all rows, in 0..1; NaN is not drawn
	Of   []float64 // its share in each of the k groups
}

// Heights of what Levels draws, in pixels.
const (
	levelLine = 18
	levelHead = 24
	levelGap  = 6 // before a column
)

// Figure lays the levels out.
func (l Levels) Figure() *Figure {
	f := &Figure{Head: l.Head}
	k, height := len(l.Groups), float64(levelHead)
	for _, c := range l.Columns {
		height += levelGap + levelLine*float64(len(c.lines()))
		for _, v := range c.Levels {
			k = max(k, len(v.Of))
		}
	}
	f.height = func(float64) float64 {
		if f.Title == "" {
			return height + 2*edge + 8
		}
		return height + 2*edge + 2*leading*titleSize + 8
	}
	f.Notes = append(f.Notes, "Shares in per cent.")
	if f.Alt == "" {
		f.Alt = l.told()
	}
	names := padded(l.Groups, k)
	if len(l.Columns) > 0 {
		f.whole = func(fr *Frame) { l.draw(fr, names) }
	}
	return f
}

// told tells the shares of the most frequent level of each column.
func (l Levels) told() string {
	var out []string
	for _, c := range l.Columns {
		if len(c.Levels) > 0 {
			v := c.Levels[0]
			out = append(out, fmt.Sprintf("%s %s %s %%", c.Name, v.Name, percent(v.All)))
		}
	}
	return fmt.Sprintf("Shares of levels in %s. Among all rows: %s.", text.Count(len(l.Groups), orElse(l.Part, "group")), strings.Join(out, ", "))
}

// levelRow is a line of the picture.
type levelRow struct {
	name  string
	bold  bool
	level *Level // nil: only the name
}

// lines returns the lines of a column: its name, and its levels.
func (c *LevelColumn) lines() []levelRow {
	if len(c.Levels) == 1 && c.Levels[0].Name == "" {
		return []levelRow{{c.Name, false, &c.Levels[0]}}
	}
	rows := []levelRow{{c.Name, true, nil}}
	for i := range c.Levels {
		rows = append(rows, levelRow{c.Levels[i].Name, false, &c.Levels[i]})
	}
	return rows
}

// draw draws the lines into the frame, from the top.
func (l Levels) draw(f *Frame, groups []string) {
	var named vg.Length // the widest name
	for _, c := range l.Columns {
		for _, row := range c.lines() {
			if row.level != nil {
				named = max(named, f.measure(row.name, label{size: smallSize}))
			}
		}
	}
	named = min(stretch*named+10, 0.36*f.Size().X)
	cell := (f.Size().X - named) / vg.Length(len(groups)+1)
	y := f.Max.Y - levelHead
	l.heads(f, groups, named, cell)
	for _, c := range l.Columns {
		y -= levelGap
		for _, row := range c.lines() {
			y -= levelLine
			style, room := label{size: smallSize, bold: row.bold}, named-6
			if row.level == nil {
				room = f.Size().X
			}
			f.write(f.shorten(row.name, style, room/stretch), vg.Point{X: f.Min.X, Y: y + 5}, style)
			if row.level == nil {
				continue
			}
			f.share(row.level.All, -1, f.Min.X+named, y, cell)
			for g, v := range row.level.Of {
				f.share(v, g, f.Min.X+named+cell*vg.Length(g+1), y, cell)
			}
		}
	}
}

// heads writes the names of the groups over their bars, numbers alone where names do not fit.
func (l Levels) heads(f *Frame, groups []string, named, cell vg.Length) {
	bold := label{size: smallSize, bold: true}
	fit := true
	for _, name := range groups {
		fit = fit && f.measure(name, bold)+20 <= cell
	}
	y, free := f.Max.Y-levelHead+6, f.Min.X // where the last name ends
	f.write(f.shorten("all", label{size: smallSize}, cell), vg.Point{X: f.Min.X + named, Y: y}, label{size: smallSize, color: Muted})
	for g, name := range groups {
		x := f.Min.X + named + cell*vg.Length(g+1)
		if !fit {
			name = fmt.Sprint(g + 1)
		}
		if f.measure(name, bold)+14 <= cell {
			f.fill(Color(g), box(x, y, x+8, y+8))
			x += 12
		}
		if x < free {
			continue // it would run into the last one
		}
		f.write(name, vg.Point{X: x, Y: y}, bold)
		free = x + stretch*f.measure(name, bold) + 1
	}
}

// share draws one bar on its track in a cell that begins at x, y; group -1 is all rows. The number is left out where there is no room.
func (f *Frame) share(v float64, group int, x, y, cell vg.Length) {
	if !(v >= 0 && v <= 1+1e-9) {
		return
	}
	const numbered = 24 // width of a number
	small := label{size: 10}
	track := cell - 4
	if cell >= 2*numbered {
		track = cell - numbered - 4
		f.write(text.WholePercent(v), vg.Point{X: x + track + 3, Y: y + 5}, small)
	}
	f.fill(Grid, box(x, y+3, x+track, y+levelLine-4))
	end := x + track*vg.Length(min(v, 1))
	if group < 0 {
		f.fill(Muted, box(x, y+3, end, y+levelLine-4))
	} else {
		f.fill(Color(group), box(x, y+3, end, y+levelLine-4))
	}
}
