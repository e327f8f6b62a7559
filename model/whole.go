package model

import (
	"fmt"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// ModelError is a Model whose parts do not fit each other, as one that a program has put together may have. Reason begins
// with the key of the model file.
type ModelError struct{ Reason string }

// Error says what does not fit.
func (e *ModelError) Error() string { return "the model cannot be used: " + e.Reason }

// whole checks that all parts of the model are there and as long as each other says, so that no index is out of range. Of the numbers it
// looks at degrees of freedom alone, of which some would keep a loop from its end; check looks at all.
func (m *Model) whole() error {
	if m == nil {
		return &data.ArgumentError{Name: "the model", Reason: "is nil"}
	}
	wrong := func(format string, a ...any) error { return &ModelError{fmt.Sprintf(format, a...)} }
	switch {
	case m.kind() == nil && m.IsChain():
		return wrong("emission: %s", unknownName(m.Emission))
	case m.kind() == nil:
		return wrong("model: %s", unknownName(m.Kind))
	case m.kind().Shaped && !slices.Contains(family.Shapes(), m.Shape) && !(m.kind().Factors && m.Shape.Factors() > 0):
		return wrong("covariance: shape %d is not known", m.Shape)
	case len(m.Columns) == 0:
		return wrong("columns: there must be at least one")
	}
	if err := m.checkChain(); err != nil {
		return wrong("%s", err)
	}
	if list, _ := ChangesOf(m.Transform); list != nil {
		if m.Changes() == nil {
			_, err := data.Bind(list, m.Columns)
			return wrong("transform: it %s", ofTheModel(err))
		}
		return m.Changed().whole()
	}
	d := len(m.Columns)
	for i := range m.Transform {
		var ok bool
		if d, ok = m.Transform[i].width(d); !ok {
			return wrong("transform: the numbers of number %d, %q, do not fit %d variables", m.before+i+1, m.Transform[i].Kind, d)
		}
	}
	if err := m.checkClusters(); err != nil {
		return wrong("%s", err)
	}
	if err := m.wholePosterior(); err != nil {
		return wrong("posterior: %s", err)
	}
	kd := m.kind()
	if kd.Parted {
		return m.wholeParts()
	}
	if kd.Cells.Levels && len(m.Levels) != len(m.Columns) {
		return wrong("levels: %s for %s", text.There(len(m.Levels), "list"), text.Count(len(m.Columns), "column"))
	}
	what, rows, width := kd.Location.Key, m.locations(), kd.Width(d, m.Levels)
	switch {
	case len(rows) == 0:
		return wrong("%s: there must be at least one", what)
	case m.HasDensity() && len(m.Weights) != len(rows):
		return wrong("weights: there %s %d for %d %s", text.Form(len(m.Weights), "is", "are"), len(m.Weights), len(rows), what)
	}
	for c, row := range rows {
		if len(row) != width {
			return wrong("%s: row %d has %d numbers; there must be %d", what, c+1, len(row), width)
		}
	}
	switch {
	case m.Noise != nil && !kd.Noise:
		return wrong("noise: %s can have none", m.called())
	case m.Noise != nil:
		if err := m.Noise.whole(d); err != nil {
			return wrong("%s", err)
		}
	}
	if !kd.Shaped {
		return nil
	}
	if err := m.checkDof(); err != nil {
		return wrong("%s", err)
	}
	return m.wholeCovariances(len(rows), d)
}

// wholeParts checks that there is a type for each column, and levels for each column of categories, and then each part.
func (m *Model) wholeParts() error {
	wrong := func(format string, a ...any) error { return &ModelError{fmt.Sprintf(format, a...)} }
	d := len(m.Columns)
	if len(m.Types) != d {
		return wrong("types: %s for %d columns", text.There(len(m.Types), "type"), d)
	}
	some := false
	for j, t := range m.Types {
		if t > data.Count {
			return wrong("types: number %d is not known", j+1)
		}
		some = some || t == data.Category
	}
	switch {
	case some && len(m.Levels) != d:
		return wrong("levels: %s for %d columns", text.There(len(m.Levels), "list"), d)
	case len(m.Weights) == 0:
		return wrong("weights: there must be at least one")
	case m.Noise != nil:
		return wrong("noise: %s can have none", m.called())
	}
	for i := range m.Transform {
		if m.Transform[i].Kind != "standard" && m.Transform[i].Kind != "robust" {
			return wrong("transform: %q does not go with columns of several kinds", m.Transform[i].Kind)
		}
	}
	for _, p := range m.Parts() {
		if err := p.whole(); err != nil {
			return err
		}
	}
	return nil
}

// unknownName says that a name is that of no kind of model.
func unknownName(name string) string {
	return fmt.Sprintf("%q is not known; it must be %s", name, text.List(kind.Names(), "or"))
}

// wholeCovariances checks how many covariances of k components on d variables there are, and how many numbers each has.
func (m *Model) wholeCovariances(k, d int) error {
	if m.Shape.Factors() > 0 {
		if err := m.wholeFactors(k, d); err != nil {
			return err
		}
		return nil
	}
	if want := m.Shape.Count(k); len(m.Covariance) != want {
		return &ModelError{fmt.Sprintf("%s: there %s %d, but %s covariances of %d components are %d", m.kind().Scales, text.Form(len(m.Covariance), "is", "are"), len(m.Covariance), m.Shape, k, want)}
	}
	want := m.Shape.Size(d)
	if m.Shape.Matrix() {
		want = d * d
	}
	for c, cov := range m.Covariance {
		if len(cov) != want {
			return &ModelError{fmt.Sprintf("%s: number %d has %d numbers; a %s covariance of %d columns has %d", m.kind().Scales, c+1, len(cov), m.Shape, d, want)}
		}
	}
	return nil
}

// width returns how many variables the transform makes of d, and whether its parts are there and long enough.
func (t *Transform) width(d int) (int, bool) {
	switch t.Kind {
	case "pca":
		for _, axis := range t.Components {
			if len(axis) != d {
				return d, false
			}
		}
		if len(t.Components) == 0 || len(t.Mean) != d {
			return d, false
		}
		return len(t.Components), true
	case "binarize":
		return d, t.Threshold != nil
	case "standard", "robust":
		return d, len(t.Center) == d && len(t.Scale) == d
	}
	return d, false
}
