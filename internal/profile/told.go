package profile

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// Told returns what the parameters of a model say of its columns, without any rows. shares are the groups' shares of the rows, and sd the
// columns' standard deviations over all rows where those are known, else nil: centres have none of their own. Where components have medians
// those take the place of means. Of a merged model groups are its clusters.
func Told(m *model.Model, shares, sd []float64) *Profile {
	merged := m
	m = m.Pooled()
	p := &Profile{noun: nounOf(merged), Groups: make([]Group, m.K()), Columns: make([]Column, m.D())}
	for c := range p.Groups {
		p.Groups[c] = Group{Label: c + 1, Weight: shares[c]}
	}
	if m.Noise != nil {
		shares = ofGroups(shares)
	}
	own, scaled := make([]model.Component, m.K()), onScales{m: m.Changed()}
	for c := range own {
		own[c] = m.Component(c)
	}
	for j, place := range m.Places() {
		k, at := kind.Of(place.Kind), place.At
		col := &p.Columns[j]
		*col = Column{Name: m.Columns[j], Kind: k.Type().String(), Date: place.Scale == "date", Fitted: true, Groups: make([]Cell, m.K())}
		switch {
		case k.Cells.Bits:
			col.tellLevels([]string{"0", "1"}, shares, func(c int) []float64 {
				v := own[c].Probability.([]float64)[at]
				return []float64{1 - v, v}
			})
		case k.Cells.Levels:
			col.tellLevels(place.Levels, shares, func(c int) []float64 { return own[c].Probability.([][]float64)[at] })
		default:
			col.tellNumbers(shares, func(c int) (mean, variance float64) {
				if merged != m && k.Location.Variance != nil {
					return pooled(merged, place, merged.Members()[c])
				}
				return moment(place, &own[c])
			})
			p.medians = own[0].Median != nil
			switch {
			case place.Scale != "" && place.Scale != "date":
				col.All, col.Between = Cell{}, nil
				if m.PCA() == nil {
					col.Between = scaled.between(place, shares)
				}
			case p.medians: // those of the groups say nothing of that of all rows
				col.All = Cell{}
			case j < len(sd) && col.All.SD == nil:
				col.tellSpread(shares, sd[j])
			}
		}
	}
	p.sort()
	return p
}

// ofGroups returns shares that the groups have among themselves, without the noise: they sum to 1.
func ofGroups(shares []float64) []float64 {
	sum, own := 0.0, slices.Clone(shares)
	for _, v := range shares {
		sum += v
	}
	for c := range own {
		own[c] /= sum
	}
	return own
}

// moment returns where a component is in a column of numbers, and its variance; NaN where that is not known.
func moment(place model.Place, x *model.Component) (mean, variance float64) {
	k := kind.Of(place.Kind)
	where := x.Mean
	switch {
	case x.Median != nil:
		where = x.Median
	case x.Rate != nil && !k.Cells.Units:
		where = x.Rate
	}
	switch mean = where[place.At]; {
	case k.Location.Variance != nil:
		return mean, k.Location.Variance(mean)
	case x.Covariance != nil && place.InUnits():
		return mean, x.Covariance.At(place.Variable, place.Variable)
	}
	return mean, math.NaN()
}

// pooled returns the mean and the variance of some components of a model together, in a column of counts: those of a cluster vary more than counts of one rate.
func pooled(m *model.Model, place model.Place, components []int) (mean, variance float64) {
	total := 0.0
	for _, c := range components { // West 1979
		x := m.Component(c)
		at, own := moment(place, &x)
		if x.Weight == 0 {
			continue
		}
		total += x.Weight
		off := at - mean
		mean += off * x.Weight / total
		variance += x.Weight * (own + off*(at-mean))
	}
	return mean, variance / max(total, 1e-300)
}

// onScales is a model of columns on the scales where they were fitted, and the components of its parts, which are made when they are first asked for.
type onScales struct {
	m  *model.Model
	of [][]model.Component // by part
}

// part returns the components of a part.
func (s *onScales) part(i int) []model.Component {
	if s.of == nil {
		s.of = make([][]model.Component, len(s.m.Parts()))
	}
	if s.of[i] == nil {
		part := s.m.Parts()[i]
		for c := range s.m.K() {
			s.of[i] = append(s.of[i], part.Component(c))
		}
	}
	return s.of[i]
}

// between returns what share of the variance of a column lies between the groups on the scale where it was fitted, of a latitude and a longitude that of
// the three coordinates, by the covariances there; nil where there are none.
func (s *onScales) between(place model.Place, shares []float64) *float64 {
	own := s.part(place.Part)
	axes := 1
	if place.Scale == "geo" {
		axes = 3
	}
	between, all := 0.0, 0.0
	for axis := range axes {
		at := place.Variable + axis
		c := Column{Groups: make([]Cell, len(own))}
		c.tellNumbers(shares, func(k int) (mean, variance float64) {
			return moment(model.Place{Kind: place.Kind, At: at, Variable: at}, &own[k])
		})
		if c.Between == nil {
			return nil
		}
		variance := *c.All.SD * *c.All.SD
		between, all = between+*c.Between*variance, all+variance
	}
	return ratio(between, all)
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
