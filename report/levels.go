package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/plot"
)

const (
	shownLevels = 12   // of a column, the most frequent
	levelLines  = 60   // of the chart of levels
	tellsLevel  = 0.05 // how much more frequent than among all rows a level is that is told of
)

// levelShares returns the shares of the levels of column j in each group, and in all of them together, by the model. Bits have one level: 1.
func (b *builder) levelShares(j int) (names []string, of [][]float64, all []float64) {
	at := b.columns[j].At
	names = b.columns[j].Levels
	bits := b.columns[j].kind.Cells.Bits
	if bits {
		names = []string{"1"}
	}
	all = make([]float64, len(names))
	total := 0.0
	for i := range b.r.Components {
		u := &b.r.Components[i]
		var p []float64
		if bits {
			p = []float64{b.center(u, j)}
		} else {
			p = u.Probability.([][]float64)[at]
		}
		of = append(of, p)
		total += u.Weight
		for l, v := range p {
			all[l] += u.Weight * v
		}
	}
	for l := range all {
		all[l] /= total
	}
	return names, of, all
}

// levelsBetween returns the share of a column's variance that lies between the groups, where each level is a column of 0 and 1: the tau of
// Goodman and Kruskal (1954), by the model.
func (b *builder) levelsBetween(j int) float64 {
	_, of, all := b.levelShares(j)
	between, whole, total := 0.0, 0.0, 0.0
	for _, u := range b.r.Components {
		total += u.Weight
	}
	for l, q := range all {
		whole += q * (1 - q)
		for c, p := range of {
			between += b.r.Components[c].Weight / total * (p[l] - q) * (p[l] - q)
		}
	}
	if !(whole > 0) {
		return 0
	}
	return between / whole
}

// levelWords says which levels group c has more often than others, and which columns of bits are 1 more or less often.
func (b *builder) levelWords(c int) (words []word) {
	for j := range b.d {
		if !b.hasShares(j) {
			continue
		}
		names, of, all := b.levelShares(j)
		for l, v := range of[c] {
			by := v - all[l]
			if b.columns[j].kind.Cells.Bits {
				by = math.Abs(by)
			}
			if by >= tellsLevel {
				words = append(words, word{b.levelWord(j, names[l], v, all[l]), by / math.Sqrt(all[l]*(1-all[l]))})
			}
		}
	}
	return words
}

// levelWord tells how often a level of column j occurs in a group, and in all where there are other groups.
func (b *builder) levelWord(j int, level string, share, all float64) string {
	s := fmt.Sprintf("%s is %s in %s", quoted(b.r.Columns[j]), level, percent(share))
	if b.k == 1 {
		return s
	}
	return s + fmt.Sprintf(" (all rows: %s)", percent(all))
}

// levels shows how often each level occurs in the groups.
func (b *builder) levels() {
	columns := b.those(b.hasShares)
	if len(columns) == 0 || b.k > listed {
		return
	}
	s := &section{ID: "levels", Title: "How often each level occurs", Lead: []string{fmt.Sprintf("The share of each level in each %[1]s and in all of them together, by the model. Columns at the top tell the %[1]ss apart best.", b.noun())}}
	if b.bits() {
		s.Title, s.Lead[0] = "How often each column is 1", fmt.Sprintf("The share of ones in each %[1]s and in all of them together, by the model. Columns at the top tell the %[1]ss apart best.", b.noun())
	}
	t := table{Head: []string{"column", "level"}}
	for c := range b.k {
		t.Head = append(t.Head, b.names[c])
	}
	t.Head = append(t.Head, "all")
	if len(columns) > profiled && !b.bits() {
		t.Caption = fmt.Sprintf("the %d most telling of %s", profiled, text.Count(len(columns), "column of categories"))
		columns = columns[:profiled]
	}
	for _, j := range columns {
		for _, l := range b.shown(j) {
			line := []string{b.r.Columns[j], l.Name}
			for _, v := range l.Of {
				line = append(line, percent(v))
			}
			t.Rows = append(t.Rows, append(line, percent(l.All)))
		}
	}
	b.draw(s, b.levelChart(columns))
	s.Data = append(s.Data, t)
	b.add(s)
}

// levelChart draws the levels of the first of the columns, as many as a picture takes.
func (b *builder) levelChart(columns []int) plot.Levels {
	p := plot.Levels{Head: plot.Head{Title: b.levelTitle(columns), Width: wide}, Groups: b.names, Part: b.noun()}
	lines := 0
	for _, j := range columns {
		c := plot.LevelColumn{Name: b.r.Columns[j], Levels: b.shown(j)}
		if b.columns[j].kind.Cells.Bits {
			c.Levels[0].Name = "" // the column's own line
		}
		if lines += 1 + len(c.Levels); lines > levelLines && p.Columns != nil {
			p.Note = fmt.Sprintf("The %d most telling of %d columns", len(p.Columns), len(columns))
			break
		}
		p.Columns = append(p.Columns, c)
	}
	return p
}

// levelTitle tells of the level whose share in a group differs most from its share in all.
func (b *builder) levelTitle(columns []int) string {
	most, said := 0.0, ""
	for _, j := range columns {
		names, of, all := b.levelShares(j)
		for c, p := range of {
			for l, v := range p {
				if d := math.Abs(v - all[l]); d > most {
					most, said = d, fmt.Sprintf("%s %d stands out most: %s", b.nounFirst(), c+1, b.levelWord(j, names[l], v, all[l]))
				}
			}
		}
	}
	if said == "" || b.k == 1 {
		return "The levels of all rows"
	}
	return said
}

// shown returns the levels of column j, the most frequent first; of many the rest together.
func (b *builder) shown(j int) (levels []plot.Level) {
	names, of, all := b.levelShares(j)
	rest := plot.Level{Of: make([]float64, b.k)}
	order := make([]int, len(all))
	for l := range order {
		order[l] = l
	}
	slices.SortStableFunc(order, func(a, e int) int { return cmp.Compare(all[e], all[a]) })
	for i, l := range order {
		if i >= shownLevels {
			rest.All += all[l]
			for c := range of {
				rest.Of[c] += of[c][l]
			}
			continue
		}
		level := plot.Level{Name: names[l], All: all[l]}
		for c := range of {
			level.Of = append(level.Of, of[c][l])
		}
		levels = append(levels, level)
	}
	if n := len(order) - shownLevels; n > 0 {
		rest.Name = text.Count(n, "other level")
		levels = append(levels, rest)
	}
	return levels
}
