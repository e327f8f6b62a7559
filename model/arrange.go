package model

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/latent-go/latent/internal/kind"
)

// Arranged returns the model, without its sums, with its columns in the order of the names and its levels in that of levels, which is nil
// where there are none. Where either side has numbers 1 to d for names, columns are met by position. It shares memory with m.
func (m *Model) Arranged(names []string, levels [][]string) (*Model, error) {
	at, err := placesOf(m.Columns, names)
	if err != nil {
		return nil, err
	}
	if changes := m.Changes(); changes != nil {
		return m.arrangedChanges(changes, at, names, levels)
	}
	own := *m
	own.Columns, own.Sums = names, nil
	if m.kind().Parted {
		return own.arrangedParts(m, at, levels)
	}
	if moved := !inOrder(at); moved {
		own.Transform = slices.Clone(m.Transform)
		for i := range own.Transform {
			if own.Transform[i].arrange(at); own.Transform[i].Kind == "pca" {
				break // what follows has components for columns
			}
		}
		if m.PCA() == nil {
			own.Means, own.Covariance = eachPicked(m.Means, at), nil
			own.Loadings, own.Uniquenesses = m.arrangedFactors(at)
			own.Noise, own.Posterior = m.Noise.arranged(at), m.Posterior.arranged(at)
			for _, cov := range m.Covariance {
				own.Covariance = append(own.Covariance, arrangedCovariance(cov, at))
			}
			if !m.kind().Cells.Levels {
				own.Probabilities = eachPicked(m.Probabilities, at)
			}
		}
	}
	if !m.kind().Cells.Levels {
		return &own, nil
	}
	return own.withLevels(m, at, levels)
}

// Reordered returns the model with its component order[c] in place c, its standard errors included but without its sums and, in another order, without its posterior: by latent.Result.Order the model of a result
// has the order that latent.Progress.Model has. It shares memory with m.
func (m *Model) Reordered(order []int) *Model {
	own := *m
	if own.Sums = nil; !inOrder(order) || len(order) != m.K() {
		own.Posterior = nil
	}
	if m.IsChain() {
		own.reorderChain(m, order)
	}
	own.Clusters = kind.Picked(m.Clusters, order)
	own.Weights, own.Sizes, own.Dof = kind.Picked(m.Weights, order), kind.Picked(m.Sizes, order), kind.Picked(m.Dof, order)
	own.Means, own.Probabilities, own.Rates = kind.Picked(m.Means, order), kind.Picked(m.Probabilities, order), kind.Picked(m.Rates, order)
	shared := m.Shape.Shared() // there is one covariance then, of all components
	if !shared {
		own.Covariance = kind.Picked(m.Covariance, order)
	}
	if own.Loadings = kind.Picked(m.Loadings, order); !m.Shape.SharesUniquenesses() {
		own.Uniquenesses = kind.Picked(m.Uniquenesses, order)
	}
	if e := m.StandardErrors; e != nil {
		to := *e
		to.Weights, to.Dof, to.Means, to.Probabilities, to.Rates = kind.Picked(e.Weights, order), kind.Picked(e.Dof, order), kind.Picked(e.Means, order), kind.Picked(e.Probabilities, order), kind.Picked(e.Rates, order)
		if !shared {
			to.Covariance = kind.Picked(e.Covariance, order)
		}
		to.Initial, to.Transitions = kind.Picked(e.Initial, order), kind.Picked(e.Transitions, order)
		for a := range to.Transitions {
			to.Transitions[a] = kind.Picked(to.Transitions[a], order)
		}
		to.Loadings, to.Uniquenesses = kind.Picked(e.Loadings, order), kind.Picked(e.Uniquenesses, order)
		own.SetStandardErrors(&to)
	}
	return &own
}

// arrangedParts returns own, a copy of m whose column j is column at[j] of m, with its parts arranged.
func (own *Model) arrangedParts(m *Model, at []int, levels [][]string) (*Model, error) {
	own.Types, own.Levels = kind.Picked(m.Types, at), nil
	own.Transform = slices.Clone(m.Transform)
	for i := range own.Transform {
		own.Transform[i].arrange(at)
	}
	parts := m.Parts()
	for i, p := range own.Parts() {
		var some [][]string
		if p.kind().Cells.Levels {
			for _, j := range p.Columns {
				if levels == nil || levels[j] == nil {
					return nil, fmt.Errorf("it has categories in column %q, which holds something else", own.Columns[j])
				}
			}
			some, own.Levels = kind.Picked(levels, p.Columns), levels
		}
		of, err := parts[i].Arranged(p.Model.Columns, some)
		if err != nil {
			return nil, err
		}
		parts[i].Model = of
	}
	own.setParts(parts)
	return own, nil
}

// withLevels sets the levels of own, a copy of m whose column j is column at[j] of m, and the probabilities that go with them.
func (own *Model) withLevels(m *Model, at []int, levels [][]string) (*Model, error) {
	first := make([]int, len(m.Levels)+1) // where in a row of probabilities each column of m begins
	for j, names := range m.Levels {
		first[j+1] = first[j] + len(names)
	}
	var places []int
	for j, from := range at {
		have := m.Levels[from]
		if few := without(have, levels[j]); few != nil {
			return nil, fmt.Errorf("it has %s of column %q, which no row has", listed("the level", few), own.Columns[j])
		}
		if more := without(levels[j], have); more != nil {
			return nil, fmt.Errorf("it does not have %s of column %q, which rows have", listed("the level", more), own.Columns[j])
		}
		for _, name := range levels[j] {
			places = append(places, first[from]+slices.Index(have, name))
		}
	}
	own.Levels, own.Probabilities = levels, eachPicked(m.Probabilities, places)
	return own, nil
}

// placesOf returns for each name in want its place in have: by name, or by position where one side has numbers for names.
func placesOf(have, want []string) ([]int, error) {
	at := make([]int, len(want))
	for j := range at {
		at[j] = j
	}
	missing, extra := without(want, have), without(have, want)
	switch nameless := numbered(have) || numbered(want); {
	case nameless && len(have) != len(want):
		return nil, fmt.Errorf("it has %d columns, but %d are fitted", len(have), len(want))
	case nameless && missing != nil:
		return at, nil
	case missing != nil && extra != nil:
		return nil, fmt.Errorf("it does not have %s, which is fitted, and has %s, which is not; fit its columns with --columns %s", listed("the column", missing), listed("the column", extra), flagOf(have))
	case missing != nil:
		return nil, fmt.Errorf("it does not have %s, which is fitted; fit its columns with --columns %s", listed("the column", missing), flagOf(have))
	case extra != nil:
		return nil, fmt.Errorf("it has %s, which is not fitted", listed("the column", extra))
	}
	for j, name := range want {
		at[j] = slices.Index(have, name)
	}
	return at, nil
}

// flagOf returns names as a flag takes them, at most as many as fit a line.
func flagOf(names []string) string {
	for _, name := range names {
		if strings.ContainsFunc(name, func(c rune) bool { return !unicode.IsPrint(c) }) || len(names) > 4*mostListed {
			return "..."
		}
	}
	return strings.Join(names, ",")
}

// numbered reports whether the names are those of columns without names: 1, 2 and on.
func numbered(names []string) bool {
	for j, name := range names {
		if name != strconv.Itoa(j+1) {
			return false
		}
	}
	return true
}

// inOrder reports whether the places are 0, 1, 2 and on.
func inOrder(at []int) bool {
	for j, from := range at {
		if j != from {
			return false
		}
	}
	return true
}

// without returns the names that are not among others; nil where all are.
func without(names, others []string) (out []string) {
	among := make(map[string]bool, len(others))
	for _, name := range others {
		among[name] = true
	}
	for _, name := range names {
		if !among[name] {
			out = append(out, name)
		}
	}
	return out
}

// mostListed is how many names a message lists.
const mostListed = 6

// listed returns `the column "a"`, or `the columns "a" and "b"`.
func listed(what string, names []string) string {
	quoted := make([]string, 0, mostListed)
	for _, name := range names[:min(len(names), mostListed)] {
		quoted = append(quoted, strconv.Quote(name))
	}
	switch n := len(names); {
	case n == 1:
		return what + " " + quoted[0]
	case n > mostListed:
		return fmt.Sprintf("%ss %s and %d more", what, strings.Join(quoted, ", "), n-mostListed)
	}
	last := len(quoted) - 1
	return fmt.Sprintf("%ss %s and %s", what, strings.Join(quoted[:last], ", "), quoted[last])
}

// picked returns v in the order of the places.
func picked(v []float64, at []int) []float64 {
	if v == nil {
		return nil
	}
	out := make([]float64, len(at))
	for j, from := range at {
		out[j] = v[from]
	}
	return out
}

func eachPicked(rows [][]float64, at []int) [][]float64 {
	if rows == nil {
		return nil
	}
	out := make([][]float64, len(rows))
	for i, row := range rows {
		out[i] = picked(row, at)
	}
	return out
}

// arrangedCovariance returns a covariance of columns in the order of the places: a matrix, variances or one number.
func arrangedCovariance(cov []float64, at []int) []float64 {
	switch d := len(at); len(cov) {
	case d:
		return picked(cov, at)
	case d * d:
		out := make([]float64, 0, d*d)
		for _, j := range at {
			out = append(out, picked(cov[j*d:j*d+d], at)...)
		}
		return out
	}
	return cov
}

// arrangedFactors returns loadings and uniquenesses of columns in the order of the places; nil where there are none.
func (m *Model) arrangedFactors(at []int) (loadings, uniquenesses [][]float64) {
	if m.Loadings == nil {
		return nil, nil
	}
	q := m.Shape.Factors()
	for _, flat := range m.Loadings {
		out := make([]float64, 0, len(flat))
		for _, j := range at {
			out = append(out, flat[j*q:j*q+q]...)
		}
		loadings = append(loadings, out)
	}
	if m.Shape.OneUniqueness() {
		return loadings, m.Uniquenesses
	}
	return loadings, eachPicked(m.Uniquenesses, at)
}

// arrange gives a transform new columns: the places of the old ones.
func (t *Transform) arrange(at []int) {
	t.Center, t.Scale, t.Mean = picked(t.Center, at), picked(t.Scale, at), picked(t.Mean, at)
	t.Components = eachPicked(t.Components, at)
}
