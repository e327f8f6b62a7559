package report

import (
	"cmp"
	"slices"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// column says how a column is modelled.
type column struct {
	model.Place
	kind *kind.Kind
}

// columnsOf returns those of a model.
func columnsOf(m *model.Model) []column {
	columns := make([]column, m.D())
	for j, p := range m.Places() {
		columns[j] = column{p, kind.Of(p.Kind)}
	}
	return columns
}

// parted reports whether the columns may be of several types.
func (b *builder) parted() bool { return kind.Of(b.r.ComponentKind()).Parted }

// hasMean reports whether column j holds numbers whose mean tells something: not names of levels.
func (b *builder) hasMean(j int) bool { return len(b.columns) == 0 || !b.columns[j].kind.Cells.Levels }

// hasShares reports whether column j holds levels or bits, of which a share of the rows is told.
func (b *builder) hasShares(j int) bool {
	return len(b.columns) > 0 && (b.columns[j].kind.Cells.Levels || b.columns[j].kind.Cells.Bits)
}

// hasPlace reports whether column j is drawn as an axis: it holds no levels, no bits, and no counts beside columns of other types.
func (b *builder) hasPlace(j int) bool {
	if len(b.columns) == 0 {
		return true
	}
	cells := &b.columns[j].kind.Cells
	return cells.Numbers() && (cells.Units || !b.parted())
}

// those returns the columns of which is is true, the most telling first.
func (b *builder) those(is func(j int) bool) (some []int) {
	for _, j := range b.telling {
		if is(j) {
			some = append(some, j)
		}
	}
	return some
}

// placed returns the columns that are drawn as axes, in their order.
func (b *builder) placed() []int {
	some := b.those(b.hasPlace)
	slices.Sort(some)
	return some
}

// center returns where a component is in column j, which has means: a parameter of the model, of bits the probability of a 1.
func (b *builder) center(u *model.Component, j int) float64 {
	c := b.columns[j]
	switch {
	case b.parted() && !c.kind.Cells.Units:
		return u.Rate[c.At]
	case u.Mean == nil && u.Median == nil: // bits
		return u.Probability.([]float64)[c.At]
	case u.Median != nil:
		return u.Median[c.At]
	}
	return u.Mean[c.At]
}

// hasCenters reports whether the components have centres: bits have probabilities.
func hasCenters(u *model.Component) bool { return u.Mean != nil || u.Median != nil }

// block returns the covariance of columns i and j of a component; 0 where it has none, and where it was fitted to principal components,
// which have one of their own, or on another scale.
func (b *builder) block(u *model.Component, i, j int) (v [2][2]float64) {
	spread := u.Spread()
	if spread == nil || !b.columns[i].InUnits() || !b.columns[j].InUnits() {
		return v
	}
	return block(spread, b.columns[i].Variable, b.columns[j].Variable)
}

// order sets which columns tell the groups apart best: those of whose variance the largest share lies between the groups.
func (b *builder) order() {
	b.share = make([]float64, b.d)
	b.telling = make([]int, b.d)
	for j := range b.telling {
		b.telling[j] = j
		if b.hasMean(j) {
			b.share[j] = b.rows.between(j)
		} else {
			b.share[j] = b.levelsBetween(j)
		}
	}
	slices.SortStableFunc(b.telling, func(a, e int) int { return cmp.Compare(b.share[e], b.share[a]) })
}

// between returns the share of a column's variance that lies between the groups.
func (r *Rows) between(j int) (share float64) {
	if !(r.SD[j] > 0) {
		return 0
	}
	for c := range r.Group {
		g := &r.Group[c]
		d := (g.Mean[j] - r.Mean[j]) / r.SD[j]
		if d == d { // the group has a cell here
			share += g.Weight / r.Weight * d * d
		}
	}
	return share
}
