package model

import "slices"

// A Place is where the components of a model tell of one of its columns.
type Place struct {
	Kind     string   // of the part that the column belongs to
	Part     int      // the place of the part among Parts
	At       int      // where the mean, the median, the rates or the probabilities of a Component tell of the column
	Variable int      // where covariances tell of it, those on another scale too, of latitude and longitude the first coordinate; -1 after principal components
	Scale    string   // the change of scale that the column goes through, one of data.ChangeKinds; "" for none
	Levels   []string // names of its levels; nil where it has none
}

// InUnits reports whether covariances tell of the column in the units of the user.
func (p *Place) InUnits() bool { return p.Variable >= 0 && (p.Scale == "" || p.Scale == "date") }

// Places returns the place of each column of m. Levels share the memory of m.
func (m *Model) Places() []Place {
	places := make([]Place, m.D())
	before, scales := make([]int, m.D()), make([]string, m.D())
	for j := range before {
		before[j] = j
	}
	if c := m.Changes(); c != nil {
		before, scales = c.Before(), c.Kinds()
	}
	for i, p := range m.Parts() {
		at := 0
		for j := range places {
			own := slices.Index(p.Columns, before[j])
			if own < 0 {
				continue
			}
			places[j] = Place{Kind: p.Kind, Part: i, At: at, Variable: own, Scale: scales[j]}
			if p.Levels != nil {
				places[j].Levels = p.Levels[own]
			}
			if m.PCA() != nil {
				places[j].Variable = -1
			}
			at++
		}
	}
	return places
}
