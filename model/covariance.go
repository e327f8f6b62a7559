package model

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/latent-go/latent/internal/family"
)

// Covariance is the covariance of a component: a whole matrix, which may be told by few factors, a variance for each of its variables, or one variance for all.
type Covariance struct {
	d     int
	load  [][]float64 // d x q loadings; nil where there are no factors. diag are then the uniquenesses
	rows  [][]float64 // d x d; nil where it is no matrix
	diag  []float64   // d variances; nil elsewhere
	round float64     // the variance of all variables, where it is neither
}

// newCovariance returns the covariance with the numbers of a shape. It shares their memory.
func newCovariance(s family.Shape, v []float64, d int) *Covariance {
	c := &Covariance{d: d}
	switch {
	case s.Matrix():
		c.rows = make([][]float64, d)
		for j := range d {
			c.rows[j] = v[j*d : j*d+d]
		}
	case s.Size(d) == 1 && (s == family.Spherical || s == family.TiedSpherical):
		c.round = v[0]
	default:
		c.diag = v
	}
	return c
}

// ownCovariance returns that of component c, which may be the one that all share, as the model has it: after its transform.
func (m *Model) ownCovariance(c int) *Covariance {
	d := m.dims()
	if q := m.Shape.Factors(); q > 0 {
		return factoredCovariance(slices.Collect(slices.Chunk(m.Loadings[c], q)), m.parameters().Unique(c))
	}
	return newCovariance(m.Shape, m.Covariance[min(c, len(m.Covariance)-1)], d)
}

// At returns the covariance of variables i and j.
func (c *Covariance) At(i, j int) float64 {
	switch {
	case c.load != nil:
		v := 0.0
		for f, l := range c.load[i] {
			v += l * c.load[j][f]
		}
		if i == j {
			v += c.diag[j]
		}
		return v
	case c.rows != nil:
		return c.rows[i][j]
	case i != j:
		return 0
	case c.diag != nil:
		return c.diag[j]
	}
	return c.round
}

// IsMatrix reports whether variables may vary together: whether it is a whole matrix.
func (c *Covariance) IsMatrix() bool { return c.rows != nil || c.load != nil }

// factoredCovariance returns the covariance with such loadings and uniquenesses. It shares their memory.
func factoredCovariance(loadings [][]float64, uniquenesses []float64) *Covariance {
	return &Covariance{d: len(uniquenesses), load: loadings, diag: uniquenesses}
}

// IsRound reports whether it is one variance for all variables.
func (c *Covariance) IsRound() bool { return c.rows == nil && c.diag == nil }

// Diag returns the variances of all variables, in memory of the caller's.
func (c *Covariance) Diag() []float64 {
	v := make([]float64, c.d)
	for j := range v {
		v[j] = c.At(j, j)
	}
	return v
}

// Between returns the covariance of two sums of the variables, a' S b: those with the coefficients a and those with b, one for each of the variables.
func (c *Covariance) Between(a, b []float64) (sum float64) {
	if c.load != nil {
		for f := range c.load[0] {
			var x, y float64
			for j, l := range c.load {
				x, y = x+a[j]*l[f], y+b[j]*l[f]
			}
			sum += x * y
		}
		for j, u := range c.diag {
			sum += a[j] * u * b[j]
		}
		return sum
	}
	for i, f := range a {
		for j, g := range b {
			if f != 0 && g != 0 {
				sum += f * c.At(i, j) * g
			}
		}
	}
	return sum
}

// Full returns the whole matrix, in memory of the caller's.
func (c *Covariance) Full() [][]float64 {
	all := make([][]float64, c.d)
	for i := range all {
		all[i] = make([]float64, c.d)
		for j := range all[i] {
			all[i][j] = c.At(i, j)
		}
	}
	return all
}

// MarshalJSON writes a matrix as its rows, variances as a list, and one variance as a number.
func (c *Covariance) MarshalJSON() ([]byte, error) {
	switch {
	case c.load != nil:
		return json.Marshal(c.Full())
	case c.rows != nil:
		return json.Marshal(c.rows)
	case c.diag != nil:
		return json.Marshal(c.diag)
	}
	return json.Marshal(c.round)
}

// UnmarshalJSON reads what MarshalJSON writes. One variance alone does not say of how many variables it is: Diag and Full are
// then those of one.
func (c *Covariance) UnmarshalJSON(b []byte) error {
	var rows [][]float64
	if json.Unmarshal(b, &rows) == nil && len(rows) > 0 {
		for _, row := range rows {
			if len(row) != len(rows) {
				return fmt.Errorf("a covariance has %d rows, and one of %d numbers", len(rows), len(row))
			}
		}
		*c = Covariance{d: len(rows), rows: rows}
		return nil
	}
	var diag []float64
	if json.Unmarshal(b, &diag) == nil && len(diag) > 0 {
		*c = Covariance{d: len(diag), diag: diag}
		return nil
	}
	var round float64
	if err := json.Unmarshal(b, &round); err != nil {
		return err
	}
	*c = Covariance{d: 1, round: round}
	return nil
}
