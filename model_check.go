package latent

import (
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/family"
)

// check refuses parameters that do not fit each other or are out of range.
func (m *Model) check() error {
	k, d := m.K(), m.D()
	what, rows, width, unit := "means", m.Means, d, "columns"
	switch m.Kind {
	case "kmeans", "kmedians":
		what = "centers"
	case "bernoulli":
		what, rows = "probabilities", m.Probabilities
	case "categorical":
		what, rows, width, unit = "probabilities", m.Probabilities, 0, "levels in all columns"
		for _, l := range m.Levels {
			width += len(l)
		}
	}
	switch {
	case d == 0:
		return fmt.Errorf("columns: there must be at least one")
	case len(rows) == 0:
		return fmt.Errorf("%s: there must be at least one", what)
	case m.HasDensity() && len(m.Weights) != len(rows):
		return fmt.Errorf("weights: there are %d for %d %s", len(m.Weights), len(rows), what)
	}
	for j, name := range m.Columns {
		if name == "" || slices.Index(m.Columns, name) < j {
			return fmt.Errorf("columns: number %d is %q; every column needs a name of its own", j+1, name)
		}
	}
	for c, row := range rows {
		if len(row) != width {
			return fmt.Errorf("%s: row %d has %d numbers, but there are %d %s", what, c+1, len(row), width, unit)
		}
	}
	if err := m.checkTransform(); err != nil {
		return err
	}
	if !m.HasDensity() {
		if m.Sizes != nil && len(m.Sizes) != k {
			return fmt.Errorf("sizes: there are %d for %d centers", len(m.Sizes), k)
		}
		return nil
	}
	if err := m.checkWeights(); err != nil {
		return err
	}
	switch m.Kind {
	case "bernoulli":
		return m.checkBits()
	case "categorical":
		return m.checkLevels()
	}
	return m.checkCovariances()
}

// checkTransform wants transforms that the model's kind takes, with their own numbers and no others.
func (m *Model) checkTransform() error {
	d := m.D()
	for i, t := range m.Transform {
		switch binarize := t.Kind == "binarize"; {
		case !binarize && t.Kind != "standard" && t.Kind != "robust":
			return fmt.Errorf("transform: kind %q of number %d is not known; it must be standard, robust or binarize", t.Kind, i+1)
		case m.Kind == "categorical" || binarize != (m.Kind == "bernoulli"):
			return fmt.Errorf("transform: kind %q of number %d is none that a %s model can have", t.Kind, i+1, m.Kind)
		case binarize && t.Threshold == nil:
			return fmt.Errorf("transform: number %d has no threshold", i+1)
		case binarize && (t.Center != nil || t.Scale != nil):
			return fmt.Errorf("transform: number %d binarizes by its threshold and can have neither center nor scale", i+1)
		case binarize:
			continue
		case t.Threshold != nil:
			return fmt.Errorf("transform: number %d has a threshold, which only binarize can have", i+1)
		case len(t.Center) != d || len(t.Scale) != d:
			return fmt.Errorf("transform: center and scale of number %d must have %d numbers, as many as columns", i+1, d)
		}
		for j, s := range t.Scale {
			if !(s > 0) {
				return fmt.Errorf("transform: scale %d of number %d is %v; it must be positive", j+1, i+1, s)
			}
		}
	}
	return nil
}

func (m *Model) checkWeights() error {
	sum := 0.0
	for c, w := range m.Weights {
		if !(w >= 0) {
			return fmt.Errorf("weights: number %d is %v; weights must not be negative", c+1, w)
		}
		sum += w
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("weights: they sum to %v, not to 1", sum)
	}
	return nil
}

// checkBits wants probabilities.
func (m *Model) checkBits() error {
	for c, row := range m.Probabilities {
		for j, p := range row {
			if !(p >= 0 && p <= 1) {
				return fmt.Errorf("probabilities: row %d, column %d is %v; it must be from 0 to 1", c+1, j+1, p)
			}
		}
	}
	return nil
}

// checkLevels wants probabilities that sum to 1 over the levels of a column.
func (m *Model) checkLevels() error {
	if len(m.Levels) != m.D() {
		return fmt.Errorf("levels: there are %d lists for %d columns", len(m.Levels), m.D())
	}
	for j, names := range m.Levels {
		seen := map[string]bool{}
		for _, name := range names {
			if seen[name] {
				return fmt.Errorf("levels: column %d has %q twice", j+1, name)
			}
			seen[name] = true
		}
		if len(names) == 0 {
			return fmt.Errorf("levels: column %d has none", j+1)
		}
	}
	for c, row := range m.Probabilities {
		for j, names := range m.Levels {
			sum := 0.0
			for _, p := range row[:len(names)] {
				if !(p >= 0 && p <= 1) {
					return fmt.Errorf("probabilities: component %d, column %d holds %v; it must be from 0 to 1", c+1, j+1, p)
				}
				sum += p
			}
			if math.Abs(sum-1) > 1e-6 {
				return fmt.Errorf("probabilities: those of component %d, column %d sum to %v, not to 1", c+1, j+1, sum)
			}
			row = row[len(names):]
		}
	}
	return nil
}

func (m *Model) checkCovariances() error {
	k, d := m.K(), m.D()
	if want := m.Shape.Count(k); len(m.Covariance) != want {
		return fmt.Errorf("covariances: there are %d, but %s covariances of %d components are %d", len(m.Covariance), m.Shape, k, want)
	}
	for c, cov := range m.Covariance {
		if err := checkCovariance(m.Shape, cov, d); err != nil {
			return fmt.Errorf("covariances: number %d %w", c+1, err)
		}
	}
	return nil
}

func checkCovariance(s family.Shape, cov []float64, d int) error {
	want := s.Size(d)
	if matrix(s) {
		want = d * d
	}
	if len(cov) != want {
		return fmt.Errorf("has %d numbers; a %s covariance of %d columns has %d", len(cov), s, d, want)
	}
	if matrix(s) {
		for j := range d {
			for l := range j {
				a, b := cov[j*d+l], cov[l*d+j]
				if math.Abs(a-b) > 1e-9*math.Sqrt(math.Abs(cov[j*d+j]*cov[l*d+l])) {
					return fmt.Errorf("is not symmetric: row %d, column %d holds %v and row %d, column %d holds %v", j+1, l+1, a, l+1, j+1, b)
				}
			}
		}
	}
	u := make([]float64, s.Size(d))
	if !(family.Gaussian{Shape: s}).Scale(u, pack(s, cov, d), d) {
		return fmt.Errorf("is not positive definite")
	}
	return nil
}
