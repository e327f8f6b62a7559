package main

import (
	"math"
	"slices"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// spreads is how many standard deviations count as the width of the range in which a column's rows lie.
const spreads = 4

// place is where the components of a result tell of a column.
type place struct {
	kind   *kind.Kind // that models the column
	at     int        // its index among the columns that are modelled so
	parted bool       // there may be others
	levels []string   // names of its levels
}

// placeOf returns the place of column j.
func placeOf(r *latent.Result, j int) place {
	for _, p := range r.Model.Parts() {
		if at := slices.Index(p.Columns, j); at >= 0 {
			own := place{kind: kind.Of(p.Kind), at: at, parted: kind.Of(r.Kind).Parted}
			if p.Levels != nil {
				own.levels = p.Levels[at]
			}
			return own
		}
	}
	return place{kind: kind.Of(r.Kind), at: j}
}

// number returns where a component is in a column of numbers: its mean, median or rate.
func (p place) number(x *model.Component) float64 {
	switch {
	case p.parted && !p.kind.Cells.Units:
		return x.Rate[p.at]
	case x.Median != nil:
		return x.Median[p.at]
	}
	return x.Mean[p.at]
}

// variance returns that of the cells of a component in a column of numbers; false where it is not known.
func (p place) variance(x *model.Component) (float64, bool) {
	switch {
	case p.kind.Location.Variance != nil:
		return p.kind.Location.Variance(p.number(x)), true
	case x.Covariance == nil:
		return 0, false
	}
	return x.Covariance.At(p.at, p.at), true
}

// spread returns about the width of the range in which the rows of column j lie; 0 where it is not known. Of a mixture that
// was written by hand it is that of the mixture's own variance.
func spread(r *latent.Result, j int) float64 {
	if j < len(r.ColumnSD) {
		return spreads * r.ColumnSD[j]
	}
	if r.PCA != nil { // covariances of principal components are not those of columns
		return 0
	}
	p, mean, square := placeOf(r, j), 0.0, 0.0
	for i := range r.Components {
		mean += r.Components[i].Weight * p.number(&r.Components[i])
	}
	for i := range r.Components {
		c := &r.Components[i]
		within, known := p.variance(c)
		if !known {
			return 0
		}
		d := p.number(c) - mean
		square += c.Weight * (within + d*d)
	}
	return spreads * math.Sqrt(square)
}

// columnTexts says what each component is like in column j: its mean, median, rate or probability of 1, or its likeliest level and
// how likely that is. Beside columns of other types a mean has its standard deviation with it.
func columnTexts(r *latent.Result, j int) []string {
	p := placeOf(r, j)
	values := make([]float64, len(r.Components))
	if p.kind.Cells.Levels {
		return p.levelTexts(r)
	}
	if p.kind.Cells.Bits {
		for i, c := range r.Components {
			values[i] = c.Probability.([]float64)[j]
		}
		return text.Percents(values, 1)
	}
	for i := range r.Components {
		values[i] = p.number(&r.Components[i])
	}
	width := spread(r, j)
	out := text.Numbers(values, width)
	if !p.parted || !p.kind.Cells.Units {
		return out
	}
	digits := text.NewColumn(width, values...)
	for i := range r.Components {
		if v, known := p.variance(&r.Components[i]); known {
			out[i] += " (" + digits.Text(math.Sqrt(v)) + ")"
		}
	}
	return out
}

// levelTexts returns the likeliest level of each component, and how likely it is.
func (p place) levelTexts(r *latent.Result) []string {
	names, values := make([]string, len(r.Components)), make([]float64, len(r.Components))
	for i, c := range r.Components {
		of, best := c.Probability.([][]float64)[p.at], 0
		for l, v := range of {
			if v > of[best] {
				best = l
			}
		}
		names[i], values[i] = p.levels[best], of[best]
	}
	out := text.Percents(values, 0)
	for i, name := range names {
		out[i] = name + " " + out[i]
	}
	return out
}
