package main

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/score"
)

// crossTable is a table of groups against known classes, as a reader sees it.
type crossTable struct {
	groups, classes []string
	counts          [][]float64
	noun            string // what a group is called
	compact         bool   // shares are whole per cents, so that more classes fit
}

// What a table shows at most: the largest, and the others counted together.
const (
	mostGroupLines = 20
	mostClassName  = 24 // letters
)

// newTable returns the table of groups that are called by a noun.
func newTable[G cmp.Ordered](c *score.Crosstab[G], noun string) *crossTable {
	t := &crossTable{counts: c.Counts, noun: noun}
	for _, g := range c.Groups {
		t.groups = append(t.groups, nameOrNone(fmt.Sprint(g)))
	}
	for _, name := range c.Classes {
		t.classes = append(t.classes, nameOrNone(name))
	}
	return t
}

// nameOrNone returns a name that fits a column.
func nameOrNone(name string) string {
	if name == "" {
		return "(none)"
	}
	if r := []rune(name); len(r) > mostClassName {
		return string(r[:mostClassName-3]) + "..."
	}
	return name
}

// tell prints how many rows of each group are of each class, and their share of the group.
func (t *crossTable) tell(w io.Writer, column string) {
	t = t.merged(mostGroupLines)
	t.compact = t.width() > width
	byClass := t.turned()
	for most := min(len(byClass.groups), width/4); t.width() > width && most > 1; most-- { // no class takes less than 4 letters
		t = byClass.merged(most).turned()
	}
	fmt.Fprintf(w, "rows of each %s by %s, and their share of the %s\n", t.noun, column, t.noun)
	head, lines := t.lines()
	printTable(w, head, lines)
}

// turned returns the table of classes against groups.
func (t *crossTable) turned() *crossTable {
	o := &crossTable{groups: t.classes, classes: t.groups, noun: t.noun, compact: t.compact}
	for j := range t.classes {
		row := make([]float64, len(t.groups))
		for i := range row {
			row[i] = t.counts[i][j]
		}
		o.counts = append(o.counts, row)
	}
	return o
}

// merged returns the table with at most so many groups: the largest in their order, and the others as one.
func (t *crossTable) merged(most int) *crossTable {
	if len(t.groups) <= most {
		return t
	}
	size := make([]float64, len(t.groups))
	order := make([]int, len(t.groups))
	for i, row := range t.counts {
		order[i] = i
		for _, v := range row {
			size[i] += v
		}
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(size[b], size[a]) })
	kept := order[:most-1]
	slices.Sort(kept)
	o := &crossTable{classes: t.classes, noun: t.noun, compact: t.compact}
	for _, i := range kept {
		o.groups, o.counts = append(o.groups, t.groups[i]), append(o.counts, t.counts[i])
	}
	rest := make([]float64, len(t.classes))
	for _, i := range order[most-1:] {
		for j, v := range t.counts[i] {
			rest[j] += v
		}
	}
	o.groups = append(o.groups, text.Thousands(int64(len(order)-most+1))+" others")
	o.counts = append(o.counts, rest)
	return o
}

// lines returns the cells of the table as text.
func (t *crossTable) lines() (head []string, lines [][]string) {
	total := make([]float64, len(t.classes))
	for _, row := range t.counts {
		for j, v := range row {
			total[j] += v
		}
	}
	names, counts := append(slices.Clone(t.groups), "all"), append(slices.Clone(t.counts), total)
	sums := make([]float64, len(counts))
	for i, row := range counts {
		for _, v := range row {
			sums[i] += v
		}
		lines = append(lines, []string{names[i]})
	}
	head = append([]string{t.noun}, t.classes...)
	for j := range t.classes {
		column, shares := make([]string, len(counts)), make([]string, len(counts))
		for i, row := range counts {
			column[i], shares[i] = weightText(row[j]), "-"
			if sums[i] > 0 {
				shares[i] = t.share(row[j] / sums[i])
			}
		}
		column, shares = padded(column), padded(shares)
		for i := range lines {
			lines[i] = append(lines[i], column[i]+map[bool]string{true: " ", false: "  "}[t.compact]+shares[i])
		}
	}
	head = append(head, "rows")
	for i := range lines {
		lines[i] = append(lines[i], weightText(sums[i]))
	}
	return head, lines
}

// share writes a share in per cent, without rounding it to 0 or to 100.
func (t *crossTable) share(v float64) string {
	if !t.compact {
		return text.Percent(v)
	}
	return text.WholePercent(v) + "%"
}

// width returns how wide the table is when it is printed.
func (t *crossTable) width() (n int) {
	head, lines := t.lines()
	for j := range head {
		n += cellWidth(head, lines, j) + 2
	}
	return n - 2
}

// weightText writes a sum of row weights, which mostly are counts.
func weightText(v float64) string {
	if v == float64(int64(v)) {
		return text.Thousands(int64(v))
	}
	return text.Short(v)
}

// padded returns texts with blanks before them, so that they are of one width.
func padded(list []string) []string {
	n := 0
	for _, s := range list {
		n = max(n, utf8.RuneCountInString(s))
	}
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = strings.Repeat(" ", n-utf8.RuneCountInString(s)) + s
	}
	return out
}
