package profile

import (
	"cmp"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/kind"
)

// Done returns the profile of all rows that were added.
func (b *Builder) Done() *Profile {
	p := &Profile{noun: nounOf(b.model), Data: b.info.Name, Rows: b.rows, Counted: ByResponsibility}
	if b.by.ByLabel {
		p.Counted = ByLabel
	}
	if b.keep != nil && b.keep.take != nil {
		p.Sampled = len(b.keep.shares[0])
	}
	all := b.total[b.k].weight
	for c := range b.k {
		g := Group{Label: c + 1, Rows: b.total[c].weight}
		if b.model.HasDensity() {
			g.Weight = b.weights[c]
		} else if all > 0 {
			g.Weight = g.Rows / all
		}
		p.Groups = append(p.Groups, g)
	}
	if n := b.model.Noise; n != nil {
		p.Noise = &Noise{Weight: n.Weight, Rows: b.noise}
	}
	for j := range b.cols {
		p.Columns = append(p.Columns, b.column(j))
	}
	for i := range b.place {
		b.place[i].tell(&p.Columns[b.place[i].lat], &p.Columns[b.place[i].lon])
	}
	p.sort()
	return p
}

// sort puts the columns that tell the groups apart best first, and those of which that is not known last.
func (p *Profile) sort() {
	slices.SortStableFunc(p.Columns, func(x, y Column) int {
		if x.Between == nil || y.Between == nil {
			return cmp.Compare(rank(x), rank(y))
		}
		return -cmp.Compare(*x.Between, *y.Between)
	})
}

// rank puts columns without a share between groups behind the others.
func rank(c Column) int {
	if c.Between == nil {
		return 1
	}
	return 0
}

// column returns what is told of column j.
func (b *Builder) column(j int) Column {
	g, use := &b.cols[j], b.info.Columns[j].Use
	c := Column{Name: g.name, Date: g.date != nil, Fitted: g.fitted >= 0, Known: use == "truth", Weight: use == "weight", Missing: g.missing, Distinct: int64(len(g.names)), Groups: make([]Cell, b.k)}
	if g.full {
		c.Distinct = MostLevels + 1
	}
	c.Kind = b.kindOf(g, use)
	switch c.Kind {
	case Number, Count:
		c.Others = g.texts
		c.Between = varianceBetween(g.moments[:b.k], &g.moments[b.k])
		var order []int32
		if b.keep != nil {
			order = ascending(b.keep.x[j])
		}
		for i := range g.moments {
			*c.at(i) = g.moments[i].cell()
			if b.keep != nil {
				c.at(i).Quartiles = quartiles(b.keep.x[j], b.keep.shares[i], order)
			}
		}
	case Category:
		c.Between = entropyBetween(g.levels, b.k)
		g.shares(&c, b.k)
	}
	return c
}

// at returns the cell of group i, that of all rows behind all groups.
func (c *Column) at(i int) *Cell {
	if i == len(c.Groups) {
		return &c.All
	}
	return &c.Groups[i]
}

// shares fills in the shares of the levels.
func (g *gathered) shares(c *Column, k int) {
	width := k + 1
	order := make([]int, len(g.names))
	for l := range order {
		order[l] = l
	}
	slices.SortFunc(order, func(x, y int) int {
		return cmp.Or(-cmp.Compare(g.levels[x*width+k], g.levels[y*width+k]), cmp.Compare(g.names[x], g.names[y]))
	})
	for i := range width {
		total := 0.0
		for _, l := range order {
			total += g.levels[l*width+i]
		}
		if !(total > 0) {
			continue
		}
		for _, l := range order {
			c.at(i).Levels = append(c.at(i).Levels, Level{g.names[l], g.levels[l*width+i] / total})
		}
	}
}

// What a column looks like that the model does not have goes by the rules by which a fit takes columns (package data): whole numbers of at
// most fewNumbers different values with cellsALevel cells for each are categories, and texts of over manyLevels different ones need cellsAText
// cells for each.
const (
	fewNumbers  = 5
	cellsALevel = 20
	manyLevels  = 50
	cellsAText  = 10
)

// isCounterName reports whether a name is one that people give to row numbers.
func isCounterName(name string) bool {
	return slices.Contains([]string{"id", "index", "row"}, strings.ToLower(strings.TrimSpace(name)))
}

// kindOf says what a column holds: what the model takes it for, or else what its cells look like.
func (b *Builder) kindOf(g *gathered, use string) string {
	filled := g.numbers + g.texts
	different := int64(len(g.names))
	switch {
	case filled == 0:
		return Empty
	case g.fitted >= 0:
		return b.fittedKind(g.fitted)
	case use == "id":
		return ID
	case use == "truth" && !g.full:
		return Category
	case use == "weight":
		return Number
	case g.texts > g.numbers:
		return g.textKind(filled)
	case g.counts(filled):
		return ID
	case g.texts == 0 && g.whole && !g.full && (different == 2 && g.has("0") && g.has("1") || different <= fewNumbers && filled >= cellsALevel*different):
		return Category
	}
	return Number
}

// fittedKind returns what the model takes its column j for.
func (b *Builder) fittedKind(j int) string {
	k := kind.Of(b.model.ComponentKind())
	t := k.Type()
	if k.Parted {
		t = b.model.Types[j]
	}
	for _, step := range b.model.Transform {
		if step.Kind == "binarize" {
			return Number
		}
	}
	return t.String()
}

// textKind says what a column of texts holds.
func (g *gathered) textKind(filled int64) string {
	different := int64(len(g.names))
	switch {
	case !g.full && different == filled && filled > 2 && !g.prose():
		return ID
	case g.full, filled >= cellsALevel && different*2 > filled, different > manyLevels && filled < cellsAText*different:
		return Text
	}
	return Category
}

// prose reports whether the texts of a column have four words and more on average.
func (g *gathered) prose() bool {
	words := 0
	for _, name := range g.names {
		words += len(strings.Fields(name))
	}
	return words >= 4*len(g.names)
}

// counts reports whether a column of numbers counts or names the rows.
func (g *gathered) counts(filled int64) bool {
	if g.texts > 0 || !g.whole || g.numbers != filled {
		return false
	}
	first := g.last - float64(g.numbers-1)
	return g.rising && g.numbers >= cellsALevel && (first == 0 || first == 1) || isCounterName(g.name) && (g.full || int64(len(g.names)) == filled)
}

// has reports whether a level is there.
func (g *gathered) has(name string) bool { return slices.Contains(g.names, name) }
