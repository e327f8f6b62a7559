package main

import (
	"math"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// spreads is how many standard deviations count as the width of the range in which a column's rows lie.
const spreads = 4

// place is where the components of a result tell of a column.
type place struct {
	model.Place
	kind   *kind.Kind // that models the column
	parted bool       // there may be others
}

// placeOf returns the place of column j.
func placeOf(r *latent.Result, j int) place {
	p := r.Model.Places()[j]
	return place{p, kind.Of(p.Kind), kind.Of(r.ComponentKind()).Parted}
}

// number returns where a component is in a column of numbers: its mean, median or rate.
func (p place) number(x *model.Component) float64 {
	switch {
	case p.parted && !p.kind.Cells.Units:
		return x.Rate[p.At]
	case x.Median != nil:
		return x.Median[p.At]
	}
	return x.Mean[p.At]
}

// variance returns that of the cells of a component in a column of numbers; false where it is not known.
func (p place) variance(x *model.Component) (float64, bool) {
	switch {
	case p.kind.Location.Variance != nil:
		return p.kind.Location.Variance(p.number(x)), true
	case x.Covariance == nil || !p.InUnits():
		return 0, false
	}
	return x.Covariance.At(p.Variable, p.Variable), true
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
	if p.Scale == "date" {
		return dates(values, width)
	}
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

// dates writes days since 1970-01-01, with the time where the column's range is short.
func dates(days []float64, width float64) []string {
	out := make([]string, len(days))
	for i, v := range days {
		out[i] = data.DateText(v, width)
	}
	return out
}

// levelTexts returns the likeliest level of each component, and how likely it is.
func (p place) levelTexts(r *latent.Result) []string {
	names, values := make([]string, len(r.Components)), make([]float64, len(r.Components))
	for i, c := range r.Components {
		of, best := c.Probability.([][]float64)[p.At], 0
		for l, v := range of {
			if v > of[best] {
				best = l
			}
		}
		names[i], values[i] = p.Levels[best], of[best]
	}
	out := text.Percents(values, 0)
	for i, name := range names {
		out[i] = name + " " + out[i]
	}
	return out
}
