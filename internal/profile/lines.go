package profile

import (
	"slices"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
)

const (
	// shownLevels is how many levels of a category people are shown; JSON and files have all.
	shownLevels = 3
	// spreads is how many standard deviations count as the width of the range in which a column's rows lie.
	spreads = 4
)

// Line is a line of a profile for people: a column, or a level of one.
type Line struct {
	Column *Column
	Level  bool     // it is one of the levels of the column, which has a line of its own above
	Name   string   // of the column, or of the level
	Cells  []string // of all rows, then of each group
}

// Lead returns the heads of what stands before the numbers: the name, and where some column has it what lies between the groups, and what is missing.
func (p *Profile) Lead() []string {
	heads := []string{"column"}
	if slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Between != nil }) {
		heads = append(heads, headBetween)
	}
	if slices.ContainsFunc(p.Columns, func(c Column) bool { return c.Missing > 0 }) {
		heads = append(heads, headMissing)
	}
	return heads
}

const headBetween, headMissing = "between", "missing"

// Lead returns what stands before the numbers of a line, under the heads of its profile. Of a level it is its name.
func (l *Line) Lead(heads []string) []string {
	cells := make([]string, len(heads))
	if cells[0] = l.Name; l.Level {
		return cells
	}
	c := l.Column
	if mark := c.Mark(); mark != "" {
		cells[0] += " " + mark
	}
	for i, head := range heads {
		switch {
		case head == headBetween && c.Between != nil:
			cells[i] = text.Percent(*c.Between)
		case head == headMissing:
			cells[i] = text.Thousands(c.Missing)
		}
	}
	return cells
}

// Lines returns the lines of a column: one for a number, or one for itself and one for each of its most frequent levels. Of two levels one
// says all, and needs one line.
func (c *Column) Lines() []Line {
	cells := make([]string, 1+len(c.Groups))
	switch c.Kind {
	case Number, Count:
		cells = c.numbers()
	case Category:
		return c.levelLines()
	case Empty:
		cells[0] = "no value"
	default:
		cells[0] = text.Thousands(c.Distinct) + " different"
		if c.Distinct > MostLevels {
			cells[0] = "over " + text.Thousands(MostLevels) + " different"
		}
	}
	return []Line{{Column: c, Name: c.Name, Cells: cells}}
}

// cells returns what the column is like over all rows, then in each group.
func (c *Column) cells() []Cell { return append([]Cell{c.All}, c.Groups...) }

// numbers writes what the column is like over all rows and in each group.
func (c *Column) numbers() []string {
	all := c.cells()
	quartile := func(i int) func(x *Cell) *float64 {
		return func(x *Cell) *float64 {
			if x.Quartiles == nil {
				return nil
			}
			return &x.Quartiles[i]
		}
	}
	middle := func(x *Cell) *float64 {
		if x.Quartiles != nil {
			return &x.Quartiles[1]
		}
		return x.Mean
	}
	values, _ := present(all, middle)
	wide := 0.0 // not known
	if c.All.SD != nil {
		wide = spreads * *c.All.SD
	}
	digits := text.NewColumn(wide, values...)
	texts := func(of func(x *Cell) *float64, write func([]float64) []string) []string {
		out := make([]string, len(all))
		values, at := present(all, of)
		for j, s := range write(values) {
			out[at[j]] = s
		}
		return out
	}
	write, rounded, unit := digits.Texts, digits.Rounded, ""
	if c.Date {
		dates := func(days []float64) []string { return dateTexts(days, wide) }
		write, rounded, unit = dates, dates, " days"
	}
	out := texts(middle, write)
	low, high := texts(quartile(0), rounded), texts(quartile(2), rounded)
	sd := texts(func(x *Cell) *float64 { return x.SD }, digits.Rounded)
	for i := range out {
		switch {
		case out[i] == "":
			out[i] = "-"
		case low[i] != "":
			out[i] += " (" + low[i] + " to " + high[i] + ")"
		case c.Kind == Number && sd[i] != "":
			out[i] += " (" + sd[i] + unit + ")"
		}
	}
	return out
}

// dateTexts writes days since 1970-01-01 of rows in a range of that width.
func dateTexts(days []float64, wide float64) []string {
	out := make([]string, len(days))
	for i, v := range days {
		out[i] = data.DateText(v, wide)
	}
	return out
}

// present returns the values of the cells that have one, and which cells these are.
func present(cells []Cell, of func(x *Cell) *float64) (values []float64, at []int) {
	for i := range cells {
		if v := of(&cells[i]); v != nil {
			values, at = append(values, *v), append(at, i)
		}
	}
	return values, at
}

// levelLines returns the lines of a category: one for each of the most frequent levels, and one for all others.
func (c *Column) levelLines() []Line {
	names := c.All.Levels
	line := func(name string, level bool, share func(x Cell) float64) Line {
		l := Line{Column: c, Level: level, Name: name}
		for _, x := range c.cells() {
			if x.Levels == nil {
				l.Cells = append(l.Cells, "-")
			} else {
				l.Cells = append(l.Cells, Percent(share(x)))
			}
		}
		return l
	}
	if len(names) == 2 {
		one := names[0].Name
		if affirms(names[1].Name) {
			one = names[1].Name
		}
		return []Line{line(c.Name+" = "+one, false, func(x Cell) float64 { return x.Share(one) })}
	}
	lines := []Line{{Column: c, Name: c.Name, Cells: make([]string, 1+len(c.Groups))}}
	shown := min(len(names), shownLevels)
	if len(names) == shownLevels+1 { // a line for the last says more than one for the rest
		shown++
	}
	for _, l := range names[:shown] {
		lines = append(lines, line(l.Name, true, func(x Cell) float64 { return x.Share(l.Name) }))
	}
	if rest := len(names) - shown; rest > 0 {
		lines = append(lines, line(text.Thousands(int64(rest))+" others", true, func(x Cell) float64 {
			sum := 1.0
			for _, l := range names[:shown] {
				sum -= x.Share(l.Name)
			}
			return max(sum, 0)
		}))
	}
	return lines
}

// affirms reports whether a level says that something is so.
func affirms(level string) bool {
	return slices.Contains([]string{"1", "yes", "y", "true", "t"}, strings.ToLower(level))
}

// Share returns the share of a level.
func (c *Cell) Share(name string) float64 {
	for _, l := range c.Levels {
		if l.Name == name {
			return l.Share
		}
	}
	return 0
}

// Percent writes a share in whole per cent; "-" for none.
func Percent(v float64) string {
	if v != v {
		return "-"
	}
	return text.WholePercent(v) + " %"
}

// Notes says what the numbers are that the lines of the first so many columns show.
func (p *Profile) Notes(shown int) (notes []string) {
	columns := p.Columns[:shown]
	has := func(is func(c *Column) bool) bool {
		for i := range columns {
			if is(&columns[i]) {
				return true
			}
		}
		return false
	}
	number := func(c *Column) bool { return c.Kind == Number }
	what := "mean"
	if p.medians {
		what = "median"
	}
	var are []string
	switch {
	case has(func(c *Column) bool { return c.All.Quartiles != nil }):
		are = append(are, "numbers: median (lower and upper quartile)")
	case has(func(c *Column) bool { return number(c) && c.spread() }):
		are = append(are, "numbers: "+what+" (standard deviation)")
	case has(func(c *Column) bool { return number(c) && c.All.SD != nil }):
		are = append(are, "numbers: "+what+", over all rows with the standard deviation")
	case has(number):
		are = append(are, "numbers: "+what)
	}
	if has(func(c *Column) bool { return c.Kind == Count && c.All.Quartiles == nil }) {
		are = append(are, "counts: mean")
	}
	if are != nil {
		notes = append(notes, strings.Join(are, "; "))
	}
	if has(func(c *Column) bool { return c.Place }) {
		notes = append(notes, "latitudes and longitudes: the direction of the mean point on the globe")
	}
	if p.Sampled > 0 {
		notes = append(notes, "quartiles are those of "+text.Thousands(int64(p.Sampled))+" rows drawn at random")
	}
	if len(p.Groups) > 1 && has(func(c *Column) bool { return c.Between != nil }) {
		variation := "a column's variation"
		if p.Noise != nil {
			variation += " over all rows, with the noise,"
		}
		notes = append(notes, "between: how much of "+variation+" lies between the "+p.Noun()+"s")
	}
	if p.Counted == ByResponsibility {
		notes = append(notes, "a row counts for each "+p.Noun()+" as much as its probability there")
	}
	if has(func(c *Column) bool { return !c.Fitted }) {
		notes = append(notes, "* is not in the model")
	}
	return notes
}

// spread reports whether the standard deviation of some group is known.
func (c *Column) spread() bool {
	return slices.ContainsFunc(c.Groups, func(x Cell) bool { return x.SD != nil })
}

// Mark is what stands behind the name of a column that is not in the model; "" for one that is.
func (c *Column) Mark() string {
	switch {
	case c.Known:
		return "* (known groups)"
	case c.Weight:
		return "* (row weights)"
	case !c.Fitted:
		return "*"
	}
	return ""
}
