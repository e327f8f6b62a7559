package model

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// Validate refuses a model whose parts do not fit each other, with a *ModelError, or whose numbers are out of range. A model that
// was read is valid.
func (m *Model) Validate() error {
	if err := m.whole(); err != nil {
		return err
	}
	if err := m.check(); err != nil {
		return err
	}
	if err := m.checkPosterior(); err != nil {
		return err
	}
	if err := m.checkSums(); err != nil {
		return fmt.Errorf("sums: %w", err)
	}
	return nil
}

// check refuses parameters that do not fit each other or are out of range.
func (m *Model) check() error {
	k, d := m.K(), m.D()
	if d == 0 {
		return fmt.Errorf("columns: there must be at least one")
	}
	if err := m.checkClusters(); err != nil {
		return err
	}
	if err := m.checkChain(); err != nil {
		return err
	}
	if err := m.checkTransform(); err != nil {
		return err
	}
	if m.Changes() != nil {
		if err := m.Changed().check(); err != nil {
			return err
		}
		return m.checkBack()
	}
	kd := m.kind()
	if kd.Parted {
		return m.checkParts()
	}
	what, rows, width, unit := kd.Location.Key, m.locations(), kd.Width(m.dims(), m.Levels), "columns"
	switch {
	case kd.Cells.Levels:
		unit = "levels in all columns"
	case m.PCA() != nil:
		unit = "components of the transform"
	}
	switch {
	case len(rows) == 0:
		return fmt.Errorf("%s: there must be at least one", what)
	case m.HasDensity() && len(m.Weights) != len(rows):
		return fmt.Errorf("weights: there %s %d for %d %s", text.Form(len(m.Weights), "is", "are"), len(m.Weights), len(rows), what)
	}
	for j, name := range m.Columns {
		if name == "" || slices.Index(m.Columns, name) < j {
			return fmt.Errorf("columns: number %d is %q; every column needs a name of its own", j+1, name)
		}
	}
	for c, row := range rows {
		if len(row) != width {
			return fmt.Errorf("%s: row %d has %d numbers, but there %s %d %s", what, c+1, len(row), text.Form(width, "is", "are"), width, unit)
		}
	}
	if !m.HasDensity() {
		if m.Sizes != nil && len(m.Sizes) != k {
			return fmt.Errorf("sizes: there %s %d for %d centers", text.Form(len(m.Sizes), "is", "are"), len(m.Sizes), k)
		}
		return m.checkUnits()
	}
	if err := m.checkWeights(); err != nil {
		return err
	}
	switch {
	case kd.Cells.Levels:
		return m.checkLevels()
	case !kd.Shaped:
		return m.checkLocations()
	}
	if err := m.checkCovariances(); err != nil {
		return err
	}
	if m.Noise != nil {
		if err := m.Noise.check(m.dims()); err != nil {
			return err
		}
	}
	if err := m.checkDof(); err != nil {
		return err
	}
	return m.checkUnits()
}

// checkParts checks the names of the columns, the transform of those that are no numbers, and each part.
func (m *Model) checkParts() error {
	for j, name := range m.Columns {
		if name == "" || slices.Index(m.Columns, name) < j {
			return fmt.Errorf("columns: number %d is %q; every column needs a name of its own", j+1, name)
		}
	}
	for j, t := range m.Types {
		for i := range m.Transform {
			if s := &m.Transform[i]; t != data.Number && (s.Center[j] != 0 || s.Scale[j] != 1) {
				return fmt.Errorf("transform: number %d scales column %q, which holds no numbers", m.before+i+1, m.Columns[j])
			}
		}
	}
	for _, p := range m.Parts() {
		if err := p.check(); err != nil {
			return err
		}
	}
	return nil
}

// checkUnits wants means, centres and variances that float64 holds in the columns' own units too, before the transforms.
func (m *Model) checkUnits() error {
	if len(m.Transform) == 0 {
		return nil
	}
	for c := range m.Means {
		for j, v := range m.UserMean(c) {
			if v-v != 0 {
				return fmt.Errorf("transform: in the units of column %q group %d lies beyond what a float64 holds", m.Columns[j], c+1)
			}
		}
		if !m.HasDensity() || m.PCA() != nil {
			continue
		}
		if m.Shape.Factors() > 0 {
			for j, v := range m.userCovariance(c).Diag() {
				if !(v > 0 && v <= math.MaxFloat64) {
					return fmt.Errorf("transform: in the units of column %q the variance of group %d is too large or too small for a float64", m.Columns[j], c+1)
				}
			}
			continue
		}
		shape, cov := m.userVariances(c)
		d := m.dims()
		for i, v := range cov {
			at := i
			if shape.Matrix() {
				at = i % d
			}
			if diagonal := !shape.Matrix() || i/d == i%d; v-v != 0 || diagonal && v <= 0 {
				return fmt.Errorf("transform: in the units of column %q the variance of group %d is too large or too small for a float64", m.Columns[at], c+1)
			}
		}
	}
	return nil
}

// checkTransform wants transforms that the model's kind takes, with their own numbers and no others.
func (m *Model) checkTransform() error {
	if err := m.checkChanges(); err != nil {
		return err
	}
	m = m.Changed()
	d := m.D()
	for n, t := range m.Transform {
		i := m.before + n
		if t.Kind == "pca" && m.kind().Turns() {
			if err := t.checkPCA(d); err != nil {
				return fmt.Errorf("transform: number %d %w", i+1, err)
			}
			d = len(t.Components)
			continue
		}
		switch binarize := t.Kind == "binarize"; {
		case !binarize && !slices.Contains([]string{"standard", "robust", "pca"}, t.Kind):
			return fmt.Errorf("transform: kind %q of number %d is not known; it must be standard, robust, pca, binarize, %s", t.Kind, i+1, text.List(data.ChangeKinds(), "or"))
		case binarize != m.kind().Cells.Bits || !binarize && !m.kind().Cells.Units || t.Kind == "pca" && !m.kind().Turns():
			return fmt.Errorf("transform: kind %q of number %d is none that %s can have", t.Kind, i+1, m.called())
		case binarize && t.Threshold == nil:
			return fmt.Errorf("transform: number %d has no threshold", i+1)
		case binarize && (t.Center != nil || t.Scale != nil || t.Mean != nil || t.Components != nil || t.Explained != nil || t.Columns != nil || t.Origin != ""):
			return fmt.Errorf("transform: number %d binarizes by its threshold and can have no other numbers", i+1)
		case binarize:
			continue
		case t.Columns != nil || t.Origin != "":
			return fmt.Errorf("transform: number %d has columns or an origin, which only a change of scale can have", i+1)
		case t.Threshold != nil:
			return fmt.Errorf("transform: number %d has a threshold, which only binarize can have", i+1)
		case t.Mean != nil || t.Components != nil || t.Explained != nil:
			return fmt.Errorf("transform: number %d has a mean, components or explained, which only pca can have", i+1)
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

// checkPCA wants a mean and orthonormal components of d numbers.
func (t *Transform) checkPCA(d int) error {
	switch n := len(t.Components); {
	case t.Center != nil || t.Scale != nil || t.Threshold != nil || t.Columns != nil || t.Origin != "":
		return fmt.Errorf("has a center, a scale, a threshold, columns or an origin, which pca cannot have")
	case len(t.Mean) != d:
		return fmt.Errorf("has a mean of %d numbers; before it %s", len(t.Mean), text.There(d, "variable"))
	case n < 1 || n > d:
		return fmt.Errorf("has %d components; there can be 1 to %d", n, d)
	case t.Explained != nil && len(t.Explained) != n:
		return fmt.Errorf("says what %d components explain, but there %s %d", len(t.Explained), text.Form(n, "is", "are"), n)
	}
	for a, axis := range t.Components {
		if len(axis) != d {
			return fmt.Errorf("has %d numbers in component %d; there must be %d", len(axis), a+1, d)
		}
		for b := range a + 1 {
			dot := 0.0
			for j, v := range t.Components[b] {
				dot += v * axis[j]
			}
			if want := map[bool]float64{true: 1}[a == b]; !(math.Abs(dot-want) <= 1e-6) {
				return fmt.Errorf("has components that are not orthonormal: the product of %d and %d is %v", b+1, a+1, dot)
			}
		}
	}
	for a, v := range t.Explained {
		if !(v >= 0 && v <= 1+1e-6) {
			return fmt.Errorf("says that component %d explains a share of %v", a+1, v)
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
	if m.Noise != nil {
		if sum == 0 {
			return errors.New("weights: they are all 0, so that every row would be noise")
		}
		if sum += m.Noise.Weight; !(math.Abs(sum-1) <= 1e-6) {
			return fmt.Errorf("weights: with that of the noise they sum to %v, not to 1", sum)
		}
	}
	if math.Abs(sum-1) > 1e-6 {
		return fmt.Errorf("weights: they sum to %v, not to 1", sum)
	}
	return nil
}

// checkLocations wants numbers within the range of their kind.
func (m *Model) checkLocations() error {
	at := m.kind().Location
	for c, row := range m.locations() {
		for j, v := range row {
			if !(v >= at.Lowest && v <= at.Highest) {
				return fmt.Errorf("%s: row %d, column %d is %v; it must be %s", at.Key, c+1, j+1, v, at.Range)
			}
		}
	}
	return nil
}

// checkLevels wants probabilities that sum to 1 over the levels of a column.
func (m *Model) checkLevels() error {
	if len(m.Levels) != m.D() {
		return fmt.Errorf("levels: %s for %d columns", text.There(len(m.Levels), "list"), m.D())
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
	k, d := m.K(), m.dims()
	if m.Shape.Factors() > 0 {
		return m.checkFactors()
	}
	if want := m.Shape.Count(k); len(m.Covariance) != want {
		return fmt.Errorf("%s: there %s %d, but %s covariances of %d components are %d", m.kind().Scales, text.Form(len(m.Covariance), "is", "are"), len(m.Covariance), m.Shape, k, want)
	}
	for c, cov := range m.Covariance {
		if err := checkCovariance(m.Shape, cov, d); err != nil {
			return fmt.Errorf("%s: number %d %w", m.kind().Scales, c+1, err)
		}
	}
	return m.parameters().CheckShape()
}

func checkCovariance(s family.Shape, cov []float64, d int) error {
	want := s.Size(d)
	if s.Matrix() {
		want = d * d
	}
	if len(cov) != want {
		return fmt.Errorf("has %d numbers; a %s covariance of %d columns has %d", len(cov), s, d, want)
	}
	if s.Matrix() {
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
	if !(family.Gaussian{Shape: s}).Scale(u, kind.Pack(s, cov, d), d) {
		return fmt.Errorf("is not positive definite")
	}
	return nil
}
