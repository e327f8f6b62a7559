package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/text"
)

// Noise is one more component of a mixture, of constant density 1/V: rows that lie anywhere. Its label is 0 in a file of labels, and -1 among
// those of Scored. V is a number of its own; where a fit was to choose it, it is the volume of the region. All is after the model's transform.
type Noise struct {
	Weight    float64 `json:"weight"`     // with the weights of the components it makes 1
	LogVolume float64 `json:"log_volume"` // log V, nats
	Region
}

// Region is where a sample puts the rows of the noise: the points x with Low[a] <= Axes[a] (x - Center) <= High[a] for each a. The density does
// not end there: a row beyond it keeps 1/V.
type Region struct {
	Center []float64   `json:"center"` // d numbers
	Axes   [][]float64 `json:"axes"`   // d rows of d numbers, linearly independent
	Low    []float64   `json:"low"`    // d numbers
	High   []float64   `json:"high"`   // d numbers, each above that of Low
}

// UnmarshalJSON reads the noise of a model file, whose numbers must all be there.
func (n *Noise) UnmarshalJSON(b []byte) error {
	var raw struct {
		Weight    *number    `json:"weight"`
		LogVolume *number    `json:"log_volume"`
		Center    []number   `json:"center"`
		Axes      [][]number `json:"axes"`
		Low       []number   `json:"low"`
		High      []number   `json:"high"`
	}
	if err := strictly(b, &raw); err != nil {
		return err
	}
	for _, key := range []struct {
		name  string
		there bool
	}{{"weight", raw.Weight != nil}, {"log_volume", raw.LogVolume != nil}, {"center", raw.Center != nil}, {"axes", raw.Axes != nil}, {"low", raw.Low != nil}, {"high", raw.High != nil}} {
		if !key.there {
			return fmt.Errorf("%s: this key is missing", key.name)
		}
	}
	*n = Noise{float64(*raw.Weight), float64(*raw.LogVolume), Region{Center: floats(raw.Center), Low: floats(raw.Low), High: floats(raw.High)}}
	for _, axis := range raw.Axes {
		n.Axes = append(n.Axes, floats(axis))
	}
	return nil
}

// whole checks that there are as many numbers as d variables have.
func (n *Noise) whole(d int) error {
	fits := len(n.Center) == d && len(n.Axes) == d && len(n.Low) == d && len(n.High) == d
	for _, axis := range n.Axes {
		fits = fits && len(axis) == d
	}
	if !fits {
		return fmt.Errorf("noise: center, low and high must have %s, and axes as many rows of as many", text.Count(d, "number"))
	}
	return nil
}

// check refuses noise that is none.
func (n *Noise) check(d int) error {
	if err := n.whole(d); err != nil {
		return err
	}
	switch {
	case !(n.Weight >= 0):
		return fmt.Errorf("noise: the weight is %v; weights must not be negative", n.Weight)
	case n.LogVolume-n.LogVolume != 0:
		return fmt.Errorf("noise: log_volume is %v; it must be finite", n.LogVolume)
	}
	for a, lo := range n.Low {
		if !(lo < n.High[a]) {
			return fmt.Errorf("noise: low of number %d is %v and high %v; high must be above low", a+1, lo, n.High[a])
		}
	}
	widths, err := n.LogWidths()
	if err != nil {
		return fmt.Errorf("noise: %w", err)
	}
	for _, v := range widths {
		if v-v != 0 {
			return errors.New("noise: the region is wider, or narrower, than a float64 can hold")
		}
	}
	return nil
}

// along returns the column that each axis is along, nil where one is along none alone, or two are along the same.
func (r *Region) along() []int {
	at := make([]int, len(r.Axes))
	for a, axis := range r.Axes {
		at[a] = slices.IndexFunc(axis, func(v float64) bool { return v != 0 })
		if at[a] < 0 || slices.ContainsFunc(axis[at[a]+1:], func(v float64) bool { return v != 0 }) || slices.Contains(at[:a], at[a]) {
			return nil
		}
	}
	return at
}

// inverse returns the inverse of the axes.
func (r *Region) inverse() (*mat.Dense, error) {
	d := len(r.Axes)
	if at := r.along(); at != nil {
		inverse := mat.NewDense(d, d, nil)
		for a, j := range at {
			inverse.Set(j, a, 1/r.Axes[a][j])
		}
		return inverse, nil
	}
	scaled, unit := mat.NewDense(d, d, nil), make([]float64, d) // rows of length 1, so that units do not matter
	for a, axis := range r.Axes {
		for _, v := range axis {
			unit[a] = math.Hypot(unit[a], v)
		}
		for j, v := range axis {
			scaled.Set(a, j, v/unit[a])
		}
	}
	inverse := new(mat.Dense)
	var bad mat.Condition
	if err := inverse.Inverse(scaled); err != nil && (!errors.As(err, &bad) || math.IsInf(float64(bad), 1)) {
		return nil, errors.New("the axes are not linearly independent")
	}
	for j := range d {
		for a, u := range unit {
			v := inverse.At(j, a) / u
			if v-v != 0 {
				return nil, errors.New("the axes are not linearly independent")
			}
			inverse.Set(j, a, v)
		}
	}
	return inverse, nil
}

// LogWidths returns the logarithms of a width for each variable, which add up to LogVolume: those of the smallest box along the variables that
// holds the region, all less or more by the same so that they do. By them the noise has a density of the cells that are there, in a row that
// lacks some: 1 over the product of their widths.
func (n *Noise) LogWidths() ([]float64, error) {
	d := len(n.Axes)
	logs, sum := make([]float64, d), 0.0
	inverse, err := n.inverse()
	if err != nil {
		return nil, err
	}
	for j := range logs {
		width := 0.0
		for a := range d {
			width += math.Abs(inverse.At(j, a)) * (n.High[a] - n.Low[a])
		}
		logs[j] = math.Log(width)
		sum += logs[j]
	}
	for j := range logs {
		logs[j] += (n.LogVolume - sum) / float64(d)
	}
	return logs, nil
}

// Scaled returns the noise of rows each of whose variables j is multiplied by scale[j].
func (n *Noise) Scaled(scale []float64) *Noise {
	own := *n
	own.Center, own.Axes = slices.Clone(n.Center), make([][]float64, len(n.Axes))
	for j, s := range scale {
		own.Center[j] *= s
		own.LogVolume += math.Log(s)
	}
	for a, axis := range n.Axes {
		own.Axes[a] = slices.Clone(axis)
		for j, s := range scale {
			own.Axes[a][j] /= s
		}
	}
	return &own
}

// arranged returns the noise of rows whose variable j is variable at[j] of those of n.
func (n *Noise) arranged(at []int) *Noise {
	if n == nil {
		return nil
	}
	own := *n
	own.Center, own.Axes = picked(n.Center, at), eachPicked(n.Axes, at)
	return &own
}

// noiseSampler draws rows of the noise.
type noiseSampler struct {
	*Noise
	inverse *mat.Dense
	u       []float64
}

// draw sets x to a row, by numbers from 0 to 1.
func (s *noiseSampler) draw(x []float64, uniform func() float64) {
	for a, lo := range s.Low {
		s.u[a] = lo + uniform()*(s.High[a]-lo)
	}
	for j := range x {
		x[j] = s.Center[j]
		for a, v := range s.u {
			x[j] += s.inverse.At(j, a) * v
		}
	}
}

// ToldNoise is what a result tells of the noise of its model: all in the user's units, those of the rows.
type ToldNoise struct {
	Weight    float64 `json:"weight"`
	Rows      int64   `json:"rows"`       // rows with the label 0
	LogVolume float64 `json:"log_volume"` // nats
	Region    Region  `json:"region"`     // after principal components, or of columns on other scales, that of those
}

// ToldNoise returns what is told of the noise of the model, without its rows; nil where there is none.
func (m *Model) ToldNoise() *ToldNoise {
	m = m.Changed()
	n := m.Noise
	if n == nil {
		return nil
	}
	if m.PCA() == nil {
		for _, t := range slices.Backward(m.Transform) {
			n = n.Scaled(t.Scale)
			for j, v := range t.Center {
				n.Center[j] += v
			}
		}
	}
	return &ToldNoise{Weight: n.Weight, LogVolume: n.LogVolume, Region: n.Region}
}
