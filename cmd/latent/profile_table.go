package main

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"unicode/utf8"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/profile"
	"github.com/latent-go/latent/internal/text"
)

// profileTable is a profile as text: a line for each number, a line for each level of a category.
type profileTable struct {
	head   []string   // before the groups
	groups []string   // names of the groups, all rows first
	lines  [][]string // what stands under both
}

// printProfile prints a profile for people.
func printProfile(w io.Writer, p *profile.Profile) {
	fmt.Fprintf(w, "%s: %s in %s", p.Data, text.Count(p.Rows, "row"), text.Count(len(p.Groups), p.Noun()))
	if p.Noise != nil {
		fmt.Fprintf(w, " and noise. Rows of the noise, which lie anywhere: %s; they count in all, and in no %s.", text.Whole(p.Noise.Rows), p.Noun())
	}
	fmt.Fprint(w, "\n\n")
	t := newProfileTable(p)
	t.rows(p)
	t.columns(p, math.MaxInt)
	t.print(w)
	for _, note := range p.Notes(len(p.Columns)) {
		fmt.Fprintf(w, "(%s)\n", note)
	}
}

// newProfileTable lays out a profile.
func newProfileTable(p *profile.Profile) *profileTable {
	t := &profileTable{head: p.Lead(), groups: []string{"all"}}
	for _, g := range p.Groups {
		t.groups = append(t.groups, p.Noun()+" "+strconv.Itoa(g.Label))
	}
	return t
}

// rows adds a line with the rows of each group.
func (t *profileTable) rows(p *profile.Profile) {
	total := 0.0
	for _, g := range p.Groups {
		total += g.Rows
	}
	if p.Noise != nil {
		total += p.Noise.Rows
	}
	cells := []string{text.Whole(total)}
	for _, g := range p.Groups {
		cells = append(cells, text.Whole(g.Rows)+" ("+profile.Percent(g.Rows/total)+")")
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
		t.column(&p.Columns[i])
		if len(t.lines) > most && i > 0 {
			t.lines = t.lines[:before]
			return i
		}
	}
	return len(p.Columns)
}

// column adds the lines of a column.
func (t *profileTable) column(c *profile.Column) {
	for _, l := range c.Lines() {
		lead := l.Lead(t.head)
		if l.Level {
			lead[0] = "  " + lead[0]
		}
		t.lines = append(t.lines, append(lead, l.Cells...))
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
				return x.Share(l.Name)
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
