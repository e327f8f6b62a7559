package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/text"
)

// Sums are what a last pass over the rows of a fit gathered: all that an update with other rows needs to know of them. They are of the rows
// after the model's transforms, with the responsibilities that the model gives. Memory does not grow with the rows.
type Sums struct {
	Rows   int64   `json:"rows"`   // of positive weight
	Weight float64 `json:"weight"` // what they count: the sum of their weights, less what updates have discounted
	// LogDensity tells of the log densities of the rows, weighted: in nats and in the user's units, or minus the squared distances
	// to the nearest centre.
	LogDensity Spread `json:"log_density"`
	// Entropy of a mixture is that of the responsibilities, in nats, and Cost of centres the squared distances of their rows; both summed over
	// the rows by weight. The other one is nil.
	Entropy *float64 `json:"entropy,omitempty"`
	Cost    *float64 `json:"cost,omitempty"`

	Seen   []float64 `json:"seen"`   // of each variable: the weight of the rows that have a cell
	Origin []float64 `json:"origin"` // what is subtracted from each variable of a row
	Groups []float64 `json:"groups"` // k: the weight of each component's rows
	// Values are the sums of the components, as docs/model-file.md lays them out for each kind: moments of Gaussians are about the means
	// of the model, all others about the origin.
	Values []float64 `json:"values"`
}

// Spread is the mean and the variance of a number over rows.
type Spread struct {
	Mean     float64 `json:"mean"`
	Variance float64 `json:"variance"` // divided by the weight
}

// sumsWeight is by how much, of the whole, the weights of the groups may differ from that of the rows in sums: rounding leaves less.
const sumsWeight = 1e-6

// UnmarshalJSON reads sums, whose numbers must all be there.
func (s *Sums) UnmarshalJSON(b []byte) error {
	var raw struct {
		Rows                         *int64
		Weight, Entropy, Cost        *number
		LogDensity                   *struct{ Mean, Variance *number } `json:"log_density"`
		Seen, Origin, Groups, Values []number
	}
	if err := strictly(b, &raw); err != nil {
		return err
	}
	switch {
	case raw.Rows == nil || raw.Weight == nil:
		return errors.New("rows or weight is missing")
	case raw.LogDensity == nil || raw.LogDensity.Mean == nil || raw.LogDensity.Variance == nil:
		return errors.New("log_density must have mean and variance")
	}
	*s = Sums{Rows: *raw.Rows, Weight: float64(*raw.Weight), Seen: floats(raw.Seen), Origin: floats(raw.Origin), Groups: floats(raw.Groups), Values: floats(raw.Values),
		LogDensity: Spread{float64(*raw.LogDensity.Mean), float64(*raw.LogDensity.Variance)}}
	if raw.Entropy != nil {
		s.Entropy = new(float64(*raw.Entropy))
	}
	if raw.Cost != nil {
		s.Cost = new(float64(*raw.Cost))
	}
	return nil
}

// valuesOfSums returns how many Values the sums of the model have.
func (m *Model) valuesOfSums() int {
	p := m.parameters()
	f, ok := p.Family(nil).(family.Incomplete)
	if !ok {
		return 0
	}
	return f.WithGaps(family.NewGaps(p.D)).Sums(p.K(), p.D)
}

// checkSums wants sums that are of the model's components.
func (m *Model) checkSums() error {
	s := m.Sums
	if s == nil {
		return nil
	}
	k, d, width := m.K(), m.dims(), m.valuesOfSums()
	switch {
	case width == 0:
		return fmt.Errorf("%s has none", m.called())
	case m.Noise != nil:
		return errors.New("a model with noise has none")
	case m.Posterior != nil:
		return errors.New("a model with a posterior has none")
	case s.Rows < 1 || !(s.Weight > 0):
		return fmt.Errorf("they are of %d rows of weight %v; both must be above 0", s.Rows, s.Weight)
	case !(s.LogDensity.Variance >= 0):
		return fmt.Errorf("log_density: the variance is %v; it must not be negative", s.LogDensity.Variance)
	case (s.Entropy != nil) != m.HasDensity() || (s.Cost != nil) == m.HasDensity():
		return errors.New("a mixture has entropy, and centres have cost")
	case len(s.Origin) != d:
		return fmt.Errorf("origin: it has %s for %s", text.Count(len(s.Origin), "number"), text.Count(d, "variable"))
	case len(s.Seen) != d:
		return fmt.Errorf("seen: it has %s for %s", text.Count(len(s.Seen), "number"), text.Count(d, "variable"))
	case len(s.Groups) != k:
		return fmt.Errorf("groups: there %s %d for %s", text.Form(len(s.Groups), "is", "are"), len(s.Groups), text.Count(k, "component"))
	case len(s.Values) != width:
		return fmt.Errorf("values: there %s %d, but a model of this kind and size has %d", text.Form(len(s.Values), "is", "are"), len(s.Values), width)
	}
	total := 0.0
	for c, n := range s.Groups {
		if !(n >= 0) {
			return fmt.Errorf("groups: number %d is %v; a weight is not negative", c+1, n)
		}
		total += n
	}
	if math.Abs(total-s.Weight) > sumsWeight*s.Weight {
		return fmt.Errorf("groups: they sum to %v, but the weight of the rows is %v", total, s.Weight)
	}
	for j, v := range s.Seen {
		if !(v >= 0 && v <= s.Weight*(1+sumsWeight)) {
			return fmt.Errorf("seen: number %d is %v; it must be from 0 to the weight of the rows", j+1, v)
		}
	}
	for _, v := range slices.Concat(s.Values, s.Origin, s.Groups, []float64{s.Weight, s.LogDensity.Mean, s.LogDensity.Variance}) {
		if v-v != 0 {
			return errors.New("they hold a number that is not finite")
		}
	}
	return nil
}
