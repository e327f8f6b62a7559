package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/latent-go/latent/internal/text"
)

const (
	shownLevels = 12   // of a column, the most frequent
	tellsLevel  = 0.05 // how much more frequent than among all rows a level is that is told of
)

// levelShares returns the shares of the levels of column j in each component, and in all of them together.
func (b *builder) levelShares(j int) (of [][]float64, all []float64) {
	at := b.columns[j].at
	all = make([]float64, len(b.columns[j].levels))
	total := 0.0
	for _, u := range b.r.Components {
		p := u.Probability.([][]float64)[at]
		of = append(of, p)
		total += u.Weight
		for l, v := range p {
			all[l] += u.Weight * v
		}
	}
	for l := range all {
		all[l] /= total
	}
	return of, all
}

// levelsBetween returns the share of a column's variance that lies between the groups, where each level is a column of 0 and 1: the tau of
// Goodman and Kruskal (1954), by the model.
func (b *builder) levelsBetween(j int) float64 {
	of, all := b.levelShares(j)
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

// levelWords says which levels group c has more often than others.
func (b *builder) levelWords(c int) (words []string) {
	type over struct {
		text string
		by   float64
	}
	var found []over
	for j := range b.d {
		if b.hasMean(j) {
			continue
		}
		of, all := b.levelShares(j)
		for l, v := range of[c] {
			if v-all[l] < tellsLevel {
				continue
			}
			found = append(found, over{fmt.Sprintf("%s is %s for %s, over all rows for %s", b.r.Columns[j], b.columns[j].levels[l], percent(v), percent(all[l])), v - all[l]})
		}
	}
	slices.SortStableFunc(found, func(a, e over) int { return cmp.Compare(e.by, a.by) })
	for _, o := range found[:min(3, len(found))] {
		words = append(words, o.text)
	}
	return words
}

// levels shows how often each level occurs in the groups.
func (b *builder) levels() {
	columns := b.those(func(j int) bool { return !b.hasMean(j) })
	if len(columns) == 0 || b.k == 1 || b.k > listed {
		return
	}
	s := &section{ID: "levels", Title: "How often each level occurs", Lead: []string{"The share of each level in each group, by the model. The first columns tell the groups apart best."}}
	t := table{Head: []string{"column", "level"}}
	for c := range b.k {
		t.Head = append(t.Head, b.names[c])
	}
	t.Head = append(t.Head, "all rows")
	if len(columns) > profiled {
		t.Caption = fmt.Sprintf("the %d most telling of %s", profiled, text.Count(len(columns), "column of categories"))
		columns = columns[:profiled]
	}
	for _, j := range columns {
		t.Rows = append(t.Rows, b.levelRows(j)...)
	}
	s.Data = append(s.Data, t)
	b.add(s)
}

// levelRows returns the lines of the levels of column j, the most frequent of many.
func (b *builder) levelRows(j int) (rows [][]string) {
	of, all := b.levelShares(j)
	shown := make([]int, len(all))
	for l := range shown {
		shown[l] = l
	}
	rest := 0
	if len(shown) > shownLevels {
		slices.SortStableFunc(shown, func(a, e int) int { return cmp.Compare(all[e], all[a]) })
		rest = len(shown) - shownLevels
		shown = shown[:shownLevels]
		slices.Sort(shown)
	}
	for _, l := range shown {
		line := []string{b.r.Columns[j], b.columns[j].levels[l]}
		for _, p := range of {
			line = append(line, percent(p[l]))
		}
		rows = append(rows, append(line, percent(all[l])))
	}
	if rest == 0 {
		return rows
	}
	line := []string{b.r.Columns[j], text.Count(rest, "other level")}
	for _, p := range append(slices.Clone(of), all) {
		others := 1.0
		for _, l := range shown {
			others -= p[l]
		}
		line = append(line, percent(max(others, 0)))
	}
	return append(rows, line)
}
