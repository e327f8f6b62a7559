package report

import (
	"math"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/plot"
)

// written writes numbers of column j: dates as such, NaN as a dash.
func (b *builder) written(values []float64, j int) []string {
	out := text.Numbers(values, b.spread(j))
	for i, v := range values {
		switch {
		case v != v:
			out[i] = "–"
		case b.columns[j].Scale == "date":
			out[i] = data.DateText(v, b.spread(j))
		}
	}
	return out
}

// axis is that of column j, in the user's units.
func (b *builder) axis(j int) plot.Axis {
	label := b.r.Columns[j]
	if b.columns[j].Scale == "date" {
		label += " (days since 1970-01-01)"
	}
	return plot.Axis{Label: label}
}

// rescaled reports whether some columns were fitted on another scale than that of their units.
func (b *builder) rescaled() bool {
	for _, c := range b.columns {
		if c.Scale != "" && c.Scale != "date" {
			return true
		}
	}
	return false
}

// typical returns where group c is in column j, to be compared with the mean of all rows: its centre by the model, or, since that of a column on
// another scale is a median, the mean of the rows with its label. It is NaN for degrees, whose mean says nothing where they turn full circle.
func (b *builder) typical(c, j int) float64 {
	switch b.columns[j].Scale {
	case "", "date":
		return b.center(&b.r.Components[c], j)
	case "geo":
		return math.NaN()
	}
	return b.rows.Group[c].Mean[j]
}

// apart returns how many standard deviations of all rows group c lies above their mean in column j; NaN where that says nothing.
func (b *builder) apart(c, j int) float64 {
	if !(b.rows.SD[j] > 0) {
		return math.NaN()
	}
	return (b.typical(c, j) - b.rows.Mean[j]) / b.rows.SD[j]
}

// pdf returns the density of column j of numbers in component c, at x in the user's units; false where it is not known.
func (b *builder) pdf(c, j int) (of func(x float64) float64, known bool) {
	at, m := b.columns[j], b.r.Model.Changed()
	part := m.Parts()[at.Part]
	own := part.Component(c)
	spread := own.Spread()
	if spread == nil || !kind.Of(at.Kind).Shaped || at.Variable < 0 || at.Scale == "geo" {
		return nil, false
	}
	mean, sd := own.Mean[at.Variable], math.Sqrt(spread.At(at.Variable, at.Variable))
	to := func(x float64) (y, logSlope float64) { return x, 0 }
	if at.Scale != "" {
		if to = one(b.r.Model, j); to == nil {
			return nil, false
		}
	}
	var density distuv.LogProber = distuv.Normal{Mu: mean, Sigma: sd}
	if own.Dof != nil {
		density = distuv.StudentsT{Mu: mean, Sigma: sd, Nu: *own.Dof}
	}
	return func(x float64) float64 {
		y, logSlope := to(x)
		return math.Exp(density.LogProb(y) + logSlope)
	}, true
}

// one returns what the change of scale of column j of m makes of a number, and the logarithm of its slope there.
func one(m *model.Model, j int) func(x float64) (y, logSlope float64) {
	for _, c := range m.Changes().List() {
		for _, name := range c.Columns {
			if name != m.Columns[j] {
				continue
			}
			own, err := data.Bind([]data.Change{{Kind: c.Kind, Columns: []string{name}, Origin: c.Origin}}, []string{name})
			if err != nil {
				return nil
			}
			return func(x float64) (y, logSlope float64) {
				var to [1]float64
				if own.Row(to[:], []float64{x}) != nil {
					return math.NaN(), 0
				}
				return to[0], own.LogSlope([]float64{x})
			}
		}
	}
	return nil
}
