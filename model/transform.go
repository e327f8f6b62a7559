package model

import (
	"math"
	"slices"
	"strconv"

	"github.com/latent-go/latent/data"
)

// Transform is a change of variables applied to a row: (x - Center) / Scale in each column; for "binarize" 1 where x is
// above Threshold and 0 elsewhere; for "pca" the n products of x - Mean with the Components. Changes of scale (data.Change) come before
// all others and speak of the columns of the model by name.
type Transform struct {
	Kind       string      `json:"kind"`              // "standard", "robust", "binarize", "pca", or one of data.ChangeKinds
	Columns    []string    `json:"columns,omitempty"` // of a change of scale: those that it changes
	Origin     string      `json:"origin,omitempty"`  // "date": the day that is 0, such as 2024-01-31
	Center     []float64   `json:"center,omitempty"`
	Scale      []float64   `json:"scale,omitempty"`
	Threshold  *float64    `json:"threshold,omitempty"`
	Mean       []float64   `json:"mean,omitempty"`
	Components [][]float64 `json:"components,omitempty"` // n x d: orthonormal
	Explained  []float64   `json:"explained,omitempty"`  // share of the variance of the rows fitted that each component has
}

// PCA says what --pca kept of the rows.
type PCA struct {
	N         int       `json:"n"`                // components
	Explained *float64  `json:"explained"`        // share of the variance of the rows that they have together; nil where the model does not say
	Shares    []float64 `json:"shares,omitempty"` // that of each
}

// PCA returns what principal components the model is fitted to; nil where it is fitted to the columns.
func (m *Model) PCA() *PCA {
	t := Principal(m.Transform)
	if t == nil {
		return nil
	}
	p := &PCA{N: len(t.Components), Shares: t.Explained}
	if t.Explained != nil {
		sum := 0.0
		for _, v := range t.Explained {
			sum += v
		}
		p.Explained = new(min(sum, 1))
	}
	return p
}

// Principal returns the transform to principal components, the last of them, or nil.
func Principal(ts []Transform) *Transform {
	for i := range slices.Backward(ts) {
		if ts[i].Kind == "pca" {
			return &ts[i]
		}
	}
	return nil
}

// Variables returns the names of the variables that the parameters speak of: pc1, pc2 and on after principal components, else
// the columns, "log price" for one on another scale.
func (m *Model) Variables() []string {
	if m = m.Changed(); m.PCA() == nil {
		return m.Columns
	}
	names := make([]string, m.dims())
	for j := range names {
		names[j] = "pc" + strconv.Itoa(j+1)
	}
	return names
}

// dims returns the number of variables that the parameters speak of.
func (m *Model) dims() int {
	m = m.Changed()
	return Width(m.Transform, m.D())
}

// Width returns how many variables are left of d after the transforms.
func Width(ts []Transform, d int) int {
	for _, t := range ts {
		if t.Kind == "pca" {
			d = len(t.Components)
		}
	}
	return d
}

// Rows returns src transformed.
func (t *Transform) Rows(src data.Source) data.Source {
	switch t.Kind {
	case "pca":
		return data.Projected(src, t.Mean, t.Components)
	case "binarize":
		return data.Binarized(src, *t.Threshold)
	}
	return data.Scaled(src, t.Center, t.Scale)
}

// Apply returns the transformed row. x is changed.
func (t *Transform) Apply(x []float64) []float64 {
	switch t.Kind {
	case "pca":
		for j, m := range t.Mean {
			x[j] -= m
		}
		y := make([]float64, len(t.Components))
		data.Project(y, x, t.Components)
		return y
	case "binarize":
		for j, v := range x {
			if v == v { // what is missing stays so
				x[j] = map[bool]float64{true: 1}[v > *t.Threshold]
			}
		}
		return x
	}
	for j := range x {
		x[j] = (x[j] - t.Center[j]) / t.Scale[j]
	}
	return x
}

// undo returns the row in the units before the transform: after principal components the point of their plane. y is changed.
func (t *Transform) undo(y []float64) []float64 {
	if t.Kind == "pca" {
		x := slices.Clone(t.Mean)
		for a, axis := range t.Components {
			for j, v := range axis {
				x[j] += y[a] * v
			}
		}
		return x
	}
	for j := range y {
		y[j] = y[j]*t.Scale[j] + t.Center[j]
	}
	return y
}

// LogScales returns what a log density of transformed rows has too much for each of d columns, or what is there of them: the logarithm of its
// scale. It is 0 with principal components.
func LogScales(ts []Transform, d int) []float64 {
	logs := make([]float64, d)
	if Principal(ts) != nil {
		return logs
	}
	for _, t := range ts {
		for j, s := range t.Scale {
			logs[j] += math.Log(s)
		}
	}
	return logs
}

// LogVolume returns what a log density of transformed rows of d columns has too much for one in the user's units: the sum
// of the logarithms of the scales. Fewer components than columns have no density over the columns; log densities are then
// those of the components, and it is 0. As many turn space and change no volume.
func LogVolume(ts []Transform, d int) float64 {
	sum := 0.0
	for _, t := range ts {
		if t.Kind == "pca" && len(t.Components) < d {
			return 0
		}
		for _, s := range t.Scale {
			sum += math.Log(s)
		}
	}
	return sum
}
