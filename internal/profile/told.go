package profile

import (
	"math"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// Told returns what the parameters of a model say of its columns, without any rows. shares are the groups' shares of the rows, and sd the
// columns' standard deviations over all rows where those are known, else nil: centres have none of their own. Where components have medians
// those take the place of means.
func Told(m *model.Model, shares, sd []float64) *Profile {
	p := &Profile{Groups: make([]Group, m.K()), Columns: make([]Column, m.D())}
	for c := range p.Groups {
		p.Groups[c] = Group{Label: c + 1, Weight: shares[c]}
	}
	for _, part := range m.Parts() {
		own := make([]model.Component, m.K())
		for c := range own {
			own[c] = part.Component(c)
		}
		k := kind.Of(part.Kind)
		for at, j := range part.Columns {
			col := &p.Columns[j]
			*col = Column{Name: m.Columns[j], Kind: k.Type().String(), Fitted: true, Groups: make([]Cell, m.K())}
			switch {
			case k.Cells.Bits:
				col.tellLevels([]string{"0", "1"}, shares, func(c int) []float64 {
					v := own[c].Probability.([]float64)[at]
					return []float64{1 - v, v}
				})
			case k.Cells.Levels:
				col.tellLevels(part.Levels[at], shares, func(c int) []float64 { return own[c].Probability.([][]float64)[at] })
			default:
				col.tellNumbers(shares, func(c int) (mean, variance float64) { return moment(k, &own[c], at, m.PCA() == nil) })
				p.medians = own[0].Median != nil
				switch {
				case p.medians: // those of the groups say nothing of that of all rows
					col.All = Cell{}
				case j < len(sd) && col.All.SD == nil:
					col.tellSpread(shares, sd[j])
				}
			}
		}
	}
	p.sort()
	return p
}

// moment returns the mean and the variance of column at in a component; NaN where the variance is not known.
func moment(k *kind.Kind, x *model.Component, at int, columns bool) (mean, variance float64) {
	where := x.Mean
	if x.Median != nil {
		where = x.Median
	}
	switch mean = where[at]; {
	case k.Location.Variance != nil:
		return mean, k.Location.Variance(mean)
	case x.Covariance != nil && columns:
		return mean, x.Covariance.At(at, at)
	}
	return mean, math.NaN()
}

// tellNumbers fills in a column of numbers.
func (c *Column) tellNumbers(shares []float64, of func(c int) (mean, variance float64)) {
	var mean, within, between float64
	for i, w := range shares {
		m, v := of(i)
		c.Groups[i].Mean = new(m)
		if v == v {
			c.Groups[i].SD = new(math.Sqrt(v))
		}
		mean += w * m
		within += w * v
	}
	for i, w := range shares {
		apart := *c.Groups[i].Mean - mean
		between += w * apart * apart
	}
	c.All.Mean = new(mean)
	if within == within {
		c.All.SD = new(math.Sqrt(within + between))
		c.Between = ratio(between, within+between)
	}
}

// tellSpread fills in what follows from the standard deviation over all rows.
func (c *Column) tellSpread(shares []float64, sd float64) {
	between := 0.0
	for i, w := range shares {
		apart := *c.Groups[i].Mean - *c.All.Mean
		between += w * apart * apart
	}
	c.All.SD, c.Between = new(sd), ratio(between, sd*sd)
}

// ratio returns part / whole; nil where there is no whole.
func ratio(part, whole float64) *float64 {
	if !(whole > 0) {
		return nil
	}
	return new(min(part/whole, 1))
}

// tellLevels fills in a column of levels.
func (c *Column) tellLevels(names []string, shares []float64, of func(c int) []float64) {
	k := len(shares)
	g := gathered{names: names, levels: make([]float64, len(names)*(k+1))}
	for i, w := range shares {
		for l, v := range of(i) {
			g.levels[l*(k+1)+i] = w * v
			g.levels[l*(k+1)+k] += w * v
		}
	}
	c.Distinct = int64(len(names))
	c.Between = entropyBetween(g.levels, k)
	g.shares(c, k)
}
