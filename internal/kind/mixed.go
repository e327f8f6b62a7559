package kind

import (
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
)

// Mixed is the mixture of columns of several types, which are independent of those of other types given the component: numbers as in
// Gaussian, categories as in Categorical, counts as in Poisson.
var Mixed = &Kind{
	Name:     "mixed",
	Title:    "mixture of several kinds of columns",
	Phrase:   "a mixture of several kinds of columns",
	Cells:    Cells{Is: "a cell", Are: "cells", Units: true},
	Mixture:  true,
	Shaped:   true,
	Scales:   "covariances",
	Parted:   true,
	Soft:     true,
	Drivers:  mixtures,
	Criteria: likelihoods,
	MaxIter:  1000,
	Missing:  []string{Model, Refuse},
	Family:   mixedFamily,
	Location: Location{Key: "means", Plural: "means"},
}

// types are those of columns, in the order of the parts of Mixed.
var types = []data.Type{data.Number, data.Category, data.Count}

// Of returns the kind that columns of a type are modelled by in a mixture of kind k: k itself where it has one for all.
func (k *Kind) Of(t data.Type) *Kind {
	if !k.Parted {
		return k
	}
	return ofType(t)
}

// ofType returns the kind of a part.
func ofType(t data.Type) *Kind {
	return map[data.Type]*Kind{data.Number: Gaussian, data.Category: Categorical, data.Count: Poisson}[t]
}

// Type returns the type of the columns of a kind that has one for all.
func (k *Kind) Type() data.Type {
	switch {
	case k.Cells.Levels, k.Cells.Bits:
		return data.Category
	case k.Cells.Units:
		return data.Number
	}
	return data.Count
}

// CellsOf returns what the cells of column j hold.
func (k *Kind) CellsOf(types []data.Type, j int) *Cells {
	if !k.Parted {
		return &k.Cells
	}
	return &k.Of(types[j]).Cells
}

// A Part is some of the columns, and the kind that they are modelled by.
type Part struct {
	Kind    *Kind
	Columns []int
}

// Parts returns the columns by kind: one part with all d of them where the kind has one for all.
func (k *Kind) Parts(of []data.Type, d int) (parts []Part) {
	if !k.Parted {
		all := make([]int, d)
		for j := range all {
			all[j] = j
		}
		return []Part{{k, all}}
	}
	return partsOf(of)
}

// partsOf returns the columns by type.
func partsOf(of []data.Type) (parts []Part) {
	for _, t := range types {
		p := Part{Kind: ofType(t)}
		for j, own := range of {
			if own == t {
				p.Columns = append(p.Columns, j)
			}
		}
		if p.Columns != nil {
			parts = append(parts, p)
		}
	}
	return parts
}

// HasShape reports whether components have covariances where the columns have those types.
func (k *Kind) HasShape(of []data.Type) bool {
	if !k.Parted {
		return k.Shaped
	}
	for _, t := range of {
		if t == data.Number {
			return true
		}
	}
	return false
}

// mixedFamily is the family of the parts.
func mixedFamily(v Variables) family.Family {
	m := family.Mixed{}
	for _, p := range partsOf(v.Types) {
		own := Variables{Shape: v.Shape, Weight: v.Weight, RegCovar: v.RegCovar, Levels: Picked(v.Levels, p.Columns), Var: Picked(v.Var, p.Columns)}
		m.Parts = append(m.Parts, family.Part{Family: p.Kind.Family(own), Columns: p.Columns})
	}
	if v.Gaps != nil {
		return m.WithGaps(v.Gaps)
	}
	return m
}

// Picked returns the values of v at some places, nil where v is nil.
func Picked[T any](v []T, at []int) []T {
	if v == nil {
		return nil
	}
	own := make([]T, len(at))
	for i, j := range at {
		own[i] = v[j]
	}
	return own
}
