package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/profile"
	"github.com/latent-go/latent/internal/text"
)

// shownLevels is how many levels of a category a table shows; JSON and files have all.
const shownLevels = 3

// profileTable is a profile as text: a line for each number, a line for each level of a category.
type profileTable struct {
	head   []string   // before the groups
	groups []string   // names of the groups, all rows first
	lines  [][]string // what stands under both
}

// printProfile prints a profile for people.
func printProfile(w io.Writer, p *profile.Profile) {
	fmt.Fprintf(w, "%s: %s in %s\n\n", p.Data, text.Count(p.Rows, "row"), text.Count(len(p.Groups), "group"))
	t := newProfileTable(p)
	t.rows(p)
	t.columns(p, math.MaxInt)
	t.print(w)
	for _, note := range profileNotes(p) {
		fmt.Fprintf(w, "(%s)\n", note)
	}
}

// newProfileTable lays out a profile.
func newProfileTable(p *profile.Profile) *profileTable {
	t := &profileTable{head: []string{"column", "between"}, groups: []string{"all"}}
	gaps := slices.ContainsFunc(p.Columns, func(c profile.Column) bool { return c.Missing > 0 })
	if gaps {
		t.head = append(t.head, "missing")
	}
	for _, g := range p.Groups {
		t.groups = append(t.groups, "group "+strconv.Itoa(g.Label))
	}
	return t
}

// rows adds a line with the rows of each group.
func (t *profileTable) rows(p *profile.Profile) {
	total := 0.0
	for _, g := range p.Groups {
		total += g.Rows
	}
	cells := []string{text.Whole(total)}
	for _, g := range p.Groups {
		cells = append(cells, text.Whole(g.Rows)+" ("+wholePercent(g.Rows/total)+")")
	}
	t.line("rows", cells)
}

// line adds a line that is not about a column.
func (t *profileTable) line(name string, cells []string) {
	lead := make([]string, len(t.head))
	lead[0] = name
	t.lines = append(t.lines, append(lead, cells...))
}

// columns adds the lines of the columns of p, as many columns as fit in most lines, and returns how many do.
func (t *profileTable) columns(p *profile.Profile, most int) int {
	for i := range p.Columns {
		before := len(t.lines)
		t.column(&p.Columns[i], len(t.head) > 2)
		if len(t.lines) > most && i > 0 {
			t.lines = t.lines[:before]
			return i
		}
	}
	return len(p.Columns)
}

// profileNotes says what the numbers of a profile are.
func profileNotes(p *profile.Profile) (notes []string) {
	say := func(format string, a ...any) { notes = append(notes, fmt.Sprintf(format, a...)) }
	seen := map[string]bool{}
	for _, c := range p.Columns {
		seen[c.Kind] = true
	}
	median := slices.ContainsFunc(p.Columns, func(c profile.Column) bool { return c.All.Quartiles != nil })
	switch {
	case seen[profile.Number] && median:
		say("numbers: median (lower and upper quartile)")
	case seen[profile.Number]:
		say("numbers: mean (standard deviation)")
	}
	if seen[profile.Count] {
		say("counts: mean")
	}
	if p.Sampled > 0 {
		say("quartiles are those of %s rows drawn at random", text.Thousands(int64(p.Sampled)))
	}
	say("between: the share of a column's variance, or of a category's entropy, that lies between the groups")
	if p.Counted == profile.ByResponsibility {
		say("a row counts for each group as much as its probability there; --hard counts it for the likeliest group alone")
	}
	if slices.ContainsFunc(p.Columns, func(c profile.Column) bool { return !c.Fitted }) {
		say("* is not in the model")
	}
	return notes
}

// column adds the lines of a column.
func (t *profileTable) column(c *profile.Column, gaps bool) {
	name := c.Name
	switch {
	case c.Known:
		name += " * (known groups)"
	case c.Weight:
		name += " * (row weights)"
	case !c.Fitted:
		name += " *"
	}
	lead := []string{name, ""}
	if c.Between != nil {
		lead[1] = text.Percent(*c.Between)
	}
	if gaps {
		lead = append(lead, text.Thousands(c.Missing))
	}
	cells := make([]string, 1+len(c.Groups))
	switch c.Kind {
	case profile.Number, profile.Count:
		cells = numberCells(c)
	case profile.Category:
		t.levels(c, lead)
		return
	case profile.Empty:
		cells[0] = "no value"
	default:
		cells[0] = text.Thousands(c.Distinct) + " different"
		if c.Distinct > profile.MostLevels {
			cells[0] = "over " + text.Thousands(profile.MostLevels) + " different"
		}
	}
	t.lines = append(t.lines, append(lead, cells...))
}

// numberCells writes what a column of numbers is like over all rows and in each group.
func numberCells(c *profile.Column) []string {
	all := append([]profile.Cell{c.All}, c.Groups...)
	out := make([]string, len(all))
	var at []int
	var values []float64
	for i, x := range all {
		switch {
		case x.Mean == nil:
			out[i] = "-"
			continue
		case x.Quartiles != nil:
			values = append(values, x.Quartiles[1])
		default:
			values = append(values, *x.Mean)
		}
		at = append(at, i)
	}
	if len(at) == 0 {
		return out
	}
	wide := 0.0 // not known
	if c.All.SD != nil {
		wide = spreads * *c.All.SD
	}
	digits := text.NewColumn(wide, values...)
	for j, s := range text.Numbers(values, wide) {
		x := &all[at[j]]
		switch {
		case x.Quartiles != nil:
			s += " (" + digits.Text(x.Quartiles[0]) + " to " + digits.Text(x.Quartiles[2]) + ")"
		case c.Kind == profile.Number && x.SD != nil:
			s += " (" + digits.Text(*x.SD) + ")"
		}
		out[at[j]] = s
	}
	return out
}

// levels adds the lines of a category: one for each of the most frequent levels, and one for all others. Of two levels one says all.
func (t *profileTable) levels(c *profile.Column, lead []string) {
	all := append([]profile.Cell{c.All}, c.Groups...)
	line := func(level func(x profile.Cell) float64) (cells []string) {
		for _, x := range all {
			if x.Levels == nil {
				cells = append(cells, "-")
			} else {
				cells = append(cells, wholePercent(level(x)))
			}
		}
		return cells
	}
	names := c.All.Levels
	if len(names) == 2 {
		one := names[0].Name
		if affirms(names[1].Name) {
			one = names[1].Name
		}
		lead[0] += " = " + one
		t.lines = append(t.lines, append(lead, line(func(x profile.Cell) float64 { return shareOf(x, one) })...))
		return
	}
	t.lines = append(t.lines, append(lead, make([]string, len(all))...))
	shown := min(len(names), shownLevels)
	if len(names) == shownLevels+1 { // a line for the last says more than one for the rest
		shown++
	}
	blank := make([]string, len(lead)-1)
	for _, l := range names[:shown] {
		t.lines = append(t.lines, append(append([]string{"  " + l.Name}, blank...), line(func(x profile.Cell) float64 { return shareOf(x, l.Name) })...))
	}
	if rest := len(names) - shown; rest > 0 {
		t.lines = append(t.lines, append(append([]string{"  " + text.Thousands(int64(rest)) + " others"}, blank...), line(func(x profile.Cell) float64 {
			sum := 1.0
			for _, l := range names[:shown] {
				sum -= shareOf(x, l.Name)
			}
			return max(sum, 0)
		})...))
	}
}

// affirms reports whether a level says that something is so.
func affirms(level string) bool {
	return slices.Contains([]string{"1", "yes", "y", "true", "t"}, strings.ToLower(level))
}

// shareOf returns the share of a level.
func shareOf(x profile.Cell, name string) float64 {
	for _, l := range x.Levels {
		if l.Name == name {
			return l.Share
		}
	}
	return 0
}

// wholePercent writes a share in per cent without decimals, and without rounding it to 0 or 100.
func wholePercent(v float64) string {
	switch s := strconv.FormatFloat(100*v, 'f', 0, 64); {
	case math.IsNaN(v):
		return "-"
	case s == "100" && v < 1-1e-9:
		return ">99 %"
	case s == "0" && v > 1e-9:
		return "<1 %"
	default:
		return s + " %"
	}
}

// columnWidth returns how wide column j is: of the head and of the groups one after the other.
func (t *profileTable) columnWidth(j int) int {
	n := utf8.RuneCountInString(append(slices.Clone(t.head), t.groups...)[j])
	for _, line := range t.lines {
		n = max(n, utf8.RuneCountInString(line[j]))
	}
	return n
}

// blocks returns where groups begin that stand side by side, as many as fit, and how many groups there are.
func (t *profileTable) blocks() []int {
	fixed := -2
	for j := range t.head {
		fixed += t.columnWidth(j) + 2
	}
	starts, used := []int{0}, fixed
	for i := range t.groups {
		own := t.columnWidth(len(t.head)+i) + 2
		if used+own > width && i > starts[len(starts)-1] {
			starts, used = append(starts, i), fixed
		}
		used += own
	}
	return append(starts, len(t.groups))
}

// print prints the table, one block of groups below the other.
func (t *profileTable) print(w io.Writer) {
	lead, starts := len(t.head), t.blocks()
	for b, from := range starts[:len(starts)-1] {
		if b > 0 {
			fmt.Fprintln(w)
		}
		to := starts[b+1]
		head := append(slices.Clone(t.head), t.groups[from:to]...)
		lines := make([][]string, len(t.lines))
		for i, line := range t.lines {
			lines[i] = append(slices.Clone(line[:lead]), line[lead+from:lead+to]...)
		}
		printLeft(w, head, lines)
	}
}

// printLeft is printTable with the first column to the left.
func printLeft(w io.Writer, head []string, lines [][]string) {
	first := cellWidth(head, lines, 0)
	pad := func(line []string) []string {
		line = slices.Clone(line)
		line[0] += fmt.Sprintf("%*s", first-utf8.RuneCountInString(line[0]), "")
		return line
	}
	padded := make([][]string, len(lines))
	for i, line := range lines {
		padded[i] = pad(line)
	}
	printTable(w, pad(head), padded)
}

// writeProfile writes a profile as a table: a line for each statistic of a column.
func writeProfile(w io.Writer, format string, p *profile.Profile) error {
	cols := []data.OutColumn{{Name: "column", Kind: data.Text}, {Name: "kind", Kind: data.Text}, {Name: "fitted", Kind: data.Int}, {Name: "between", Kind: data.Float},
		{Name: "missing", Kind: data.Int}, {Name: "statistic", Kind: data.Text}, {Name: "level", Kind: data.Text}, {Name: "all", Kind: data.Float}}
	for _, g := range p.Groups {
		cols = append(cols, data.OutColumn{Name: "group_" + strconv.Itoa(g.Label), Kind: data.Float})
	}
	out, err := data.Create(w, format, cols)
	if err != nil {
		return err
	}
	for i := range p.Columns {
		c := &p.Columns[i]
		for _, s := range statistics(c) {
			out.Text(c.Name)
			out.Text(c.Kind)
			out.Int(bit(c.Fitted))
			out.Float(orNaN(c.Between))
			out.Int(c.Missing)
			out.Text(s.name)
			out.Text(s.level)
			for _, x := range append([]profile.Cell{c.All}, c.Groups...) {
				out.Float(s.of(x))
			}
			if err := out.End(); err != nil {
				return err
			}
		}
	}
	return out.Close()
}

// statistic is a line of a written profile.
type statistic struct {
	name, level string
	of          func(x profile.Cell) float64
}

// statistics returns the lines of a column.
func statistics(c *profile.Column) (list []statistic) {
	switch {
	case c.Kind == profile.Number || c.Kind == profile.Count:
		list = append(list, statistic{"mean", "", func(x profile.Cell) float64 { return orNaN(x.Mean) }}, statistic{"sd", "", func(x profile.Cell) float64 { return orNaN(x.SD) }})
		if c.All.Quartiles != nil {
			for i, name := range []string{"q1", "median", "q3"} {
				list = append(list, statistic{name, "", func(x profile.Cell) float64 {
					if x.Quartiles == nil {
						return math.NaN()
					}
					return x.Quartiles[i]
				}})
			}
		}
	case c.Kind == profile.Category:
		for _, l := range c.All.Levels {
			list = append(list, statistic{"share", l.Name, func(x profile.Cell) float64 {
				if x.Levels == nil {
					return math.NaN()
				}
				return shareOf(x, l.Name)
			}})
		}
	default:
		list = append(list, statistic{"distinct", "", func(profile.Cell) float64 { return math.NaN() }})
	}
	return list
}

func bit(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

func orNaN(v *float64) float64 {
	if v == nil {
		return math.NaN()
	}
	return *v
}
