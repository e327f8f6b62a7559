package model

import (
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
)

// A Part is a model of some of the columns of another, with the same weights.
type Part struct {
	*Model
	Columns []int // their places among the columns of the whole, those of Changed where columns are on other scales
}

// Parts returns the models of the columns of each type: numbers, categories, counts, as far as there are any. A model that has one type of
// columns is its only part. Parts share memory with m, and have neither provenance nor standard errors of their own.
func (m *Model) Parts() []Part {
	m = m.Changed().states()
	kd := m.kind()
	if kd == nil || !kd.Parted {
		all := make([]int, m.D())
		for j := range all {
			all[j] = j
		}
		return []Part{{m, all}}
	}
	var parts []Part
	for _, p := range kd.Parts(m.Types, m.D()) {
		own := &Model{Kind: p.Kind.Name, Columns: kind.Picked(m.Columns, p.Columns), Weights: m.Weights}
		switch p.Kind {
		case kind.Gaussian:
			own.Shape, own.Means, own.Covariance = m.Shape, m.Means, m.Covariance
			own.Transform = slices.Clone(m.Transform)
			for i := range own.Transform {
				own.Transform[i].arrange(p.Columns)
			}
		case kind.Categorical:
			own.Levels, own.Probabilities = kind.Picked(m.Levels, p.Columns), m.Probabilities
		default:
			own.Means = m.Rates
		}
		parts = append(parts, Part{own, p.Columns})
	}
	return parts
}

// setParts takes the parameters of the parts, whose columns are those of m.
func (m *Model) setParts(parts []Part) {
	for _, p := range parts {
		switch p.kind() {
		case kind.Gaussian:
			m.Shape, m.Means, m.Covariance = p.Shape, p.Means, p.Covariance
		case kind.Categorical:
			m.Probabilities = p.Probabilities
		default:
			m.Rates = p.Means
		}
	}
}

// part returns the part of the columns of a type, nil where there is none.
func (m *Model) part(t data.Type) *Part {
	for _, p := range m.Parts() {
		if k := p.kind(); k != nil && k.Type() == t {
			return &p
		}
	}
	return nil
}

// LevelLists returns the names of the levels of each column of levels, those alone.
func (m *Model) LevelLists() [][]string {
	var lists [][]string
	for _, names := range m.Levels {
		if names != nil {
			lists = append(lists, names)
		}
	}
	return lists
}

// ColumnTypes returns what each column holds.
func (m *Model) ColumnTypes() []data.Type {
	kd := m.kind()
	if kd == nil {
		return nil
	}
	if kd.Parted {
		return m.Types
	}
	return slices.Repeat([]data.Type{kd.Type()}, m.D())
}
