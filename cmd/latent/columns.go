package main

import (
	"math"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// spreads is how many standard deviations count as the width of the range in which a column's rows lie.
const spreads = 4

// spread returns about the width of the range in which the rows of column j lie; 0 where it is not known. Of a mixture that
// was written by hand it is that of the mixture's own variance.
func spread(r *latent.Result, j int) float64 {
	if j < len(r.ColumnSD) {
		return spreads * r.ColumnSD[j]
	}
	variance := kind.Of(r.Kind).Location.Variance
	if r.Covariance == "" && variance == nil || r.PCA != nil { // covariances of principal components are not those of columns
		return 0
	}
	mean, square := 0.0, 0.0
	for _, c := range r.Components {
		mean += c.Weight * c.Mean[j]
	}
	for _, c := range r.Components {
		d, within := c.Mean[j]-mean, 0.0
		if c.Covariance != nil {
			within = c.Covariance.At(j, j)
		} else {
			within = variance(c.Mean[j])
		}
		square += c.Weight * (within + d*d)
	}
	return spreads * math.Sqrt(square)
}

// columnTexts says what each component is like in column j: its mean, median or probability of 1, or its likeliest level and
// how likely that is.
func columnTexts(r *latent.Result, j int) []string {
	out := make([]string, len(r.Components))
	values := make([]float64, len(out))
	for i, c := range r.Components {
		switch p := c.Probability.(type) {
		case []float64:
			values[i] = p[j]
			continue
		case [][]float64:
			best := 0
			for l, v := range p[j] {
				if v > p[j][best] {
					best = l
				}
			}
			out[i], values[i] = r.Levels[j][best], p[j][best]
			continue
		}
		if values[i] = 0; c.Median != nil {
			values[i] = c.Median[j]
		} else {
			values[i] = c.Mean[j]
		}
	}
	switch cells := kind.Of(r.Kind).Cells; {
	case cells.Bits:
		return text.Shares(values, 3)
	case cells.Levels:
		for i, v := range values {
			out[i] += " " + text.Share(v, 2)
		}
		return out
	}
	return text.Numbers(values, spread(r, j))
}
