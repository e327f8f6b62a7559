package model

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
)

// ChangesOf returns the changes of scale that the transforms begin with, and the transforms that follow.
func ChangesOf(ts []Transform) (list []data.Change, rest []Transform) {
	for i, t := range ts {
		if !t.changes() {
			return list, ts[i:]
		}
		c := data.Change{Kind: t.Kind, Columns: t.Columns}
		if c.Dated() {
			c.Origin, _ = data.ParseDate(t.Origin, "") // checkTransform refuses one that is no date
		}
		list = append(list, c)
	}
	return list, nil
}

// Changing returns changes of scale as the transforms that a model begins with.
func Changing(list []data.Change) []Transform {
	ts := make([]Transform, len(list))
	for i, c := range list {
		ts[i] = Transform{Kind: c.Kind, Columns: c.Columns}
		if c.Dated() {
			ts[i].Origin = data.FormatDate(c.Origin)
		}
	}
	return ts
}

// changes reports whether the transform is a change of scale, which speaks of columns by name.
func (t *Transform) changes() bool { return slices.Contains(data.ChangeKinds(), t.Kind) }

// Changes returns the changes of scale that rows of the model's columns go through before all else; nil where there are none, or where they
// do not fit the columns.
func (m *Model) Changes() *data.Changes {
	list, _ := ChangesOf(m.Transform)
	if list == nil {
		return nil
	}
	c, err := data.Bind(list, m.Columns)
	if err != nil {
		return nil
	}
	return c
}

// Dates returns the columns that hold dates: days since 1970-01-01 in a row.
func (m *Model) Dates() []data.DateColumn {
	list, _ := ChangesOf(m.Transform)
	return data.DatesOf(list)
}

// Date returns which of Dates a column is; false for none.
func (m *Model) Date(column string) (data.DateColumn, bool) {
	for _, d := range m.Dates() {
		if d.Name == column {
			return d, true
		}
	}
	return data.DateColumn{}, false
}

// Changed returns the model of rows that have gone through its changes of scale: its columns are theirs, and its transforms what follows.
// It is m itself where there are none, and shares memory with m.
func (m *Model) Changed() *Model {
	c := m.Changes()
	if c == nil {
		return m
	}
	own := *m
	own.Columns, own.Types, own.Levels = c.Names(), nil, nil
	list, rest := ChangesOf(m.Transform)
	own.Transform, own.before, own.LogLik, own.StandardErrors, own.Provenance = rest, len(list), nil, nil, nil
	if len(m.Types) == len(m.Columns) {
		own.Types = kind.Picked(m.Types, c.From())
	}
	if len(m.Levels) == len(m.Columns) {
		own.Levels = kind.Picked(m.Levels, c.From())
	}
	return &own
}

// Unchanged is the inverse of Changed: it returns the model of rows of c's columns before its changes, where m is one of rows that have
// gone through them. It shares memory with m.
func (m *Model) Unchanged(c *data.Changes) *Model {
	own := *m
	own.Columns, own.Transform, own.before = c.Columns(), append(Changing(c.List()), m.Transform...), 0
	if own.Types, own.Levels = nil, nil; m.Types != nil {
		own.Types = make([]data.Type, len(own.Columns))
	}
	if m.Levels != nil {
		own.Levels = make([][]string, len(own.Columns))
	}
	for i, j := range c.From() {
		if m.Types != nil {
			own.Types[j] = m.Types[i]
		}
		if m.Levels != nil {
			own.Levels[j] = m.Levels[i]
		}
	}
	own.SetStandardErrors(own.toldErrors(m))
	return &own
}

// checkChanges wants changes of scale that come first, of columns that hold numbers.
func (m *Model) checkChanges() error {
	list, rest := ChangesOf(m.Transform)
	for i := range rest {
		if t := &rest[i]; t.changes() {
			return fmt.Errorf("transform: number %d, %q, must come before what scales or projects rows", len(list)+i+1, t.Kind)
		}
	}
	for i := range list {
		t := &m.Transform[i]
		day, ok := data.ParseDate(t.Origin, "")
		switch {
		case t.Center != nil || t.Scale != nil || t.Threshold != nil || t.Mean != nil || t.Components != nil || t.Explained != nil:
			return fmt.Errorf("transform: number %d, %q, has columns and can have no numbers", i+1, t.Kind)
		case list[i].Dated() != (t.Origin != ""):
			return fmt.Errorf("transform: number %d, %q: an origin belongs to date, dmy and mdy, and to nothing else", i+1, t.Kind)
		case list[i].Dated() && (!ok || data.FormatDate(day) != t.Origin):
			return fmt.Errorf("transform: number %d: the origin %q is not a date such as 2024-01-31", i+1, t.Origin)
		case !m.kind().Cells.Units && !m.kind().Parted:
			return fmt.Errorf("transform: kind %q of number %d is none that %s can have", t.Kind, i+1, m.called())
		}
	}
	if list == nil {
		return nil
	}
	for j, name := range m.Columns {
		if name == "" || slices.Index(m.Columns, name) < j {
			return fmt.Errorf("columns: number %d is %q; every column needs a name of its own", j+1, name)
		}
	}
	c, err := data.Bind(list, m.Columns)
	if err != nil {
		return fmt.Errorf("transform: it %s", ofTheModel(err))
	}
	for j, kind := range c.Kinds() {
		if kind != "" && j < len(m.Types) && m.Types[j] != data.Number {
			return fmt.Errorf("transform: %s is for numbers, but column %q holds a %s", kind, m.Columns[j], m.Types[j])
		}
	}
	return nil
}

// checkBack wants means that float64 holds in the units before the changes of scale.
func (m *Model) checkBack() error {
	for c := range m.K() {
		for j, v := range m.userRow(m.Changes(), c) {
			if v-v != 0 {
				return fmt.Errorf("transform: in the units of column %q group %d lies beyond what a float64 holds", m.Columns[j], c+1)
			}
		}
	}
	return nil
}

// userRow returns where component c is in the units before the changes of scale: a number a column, 0 for columns that hold no numbers.
func (m *Model) userRow(changes *data.Changes, c int) []float64 {
	in := m.Changed()
	x, y := make([]float64, m.D()), make([]float64, in.D())
	for _, p := range in.Parts() {
		if p.kind().Type() == data.Number {
			for i, v := range p.UserMean(c) {
				y[p.Columns[i]] = v
			}
		}
	}
	changes.Back(x, y)
	return x
}

// userNumbers returns those of userRow that are of columns of numbers.
func (m *Model) userNumbers(changes *data.Changes, c int) []float64 {
	row := m.userRow(changes, c)
	if !m.kind().Parted {
		return row
	}
	own := row[:0]
	for j, v := range row {
		if m.Types[j] == data.Number {
			own = append(own, v)
		}
	}
	return own
}

// toldErrors returns the standard errors of in, the Changed model, as m tells them: those of means in the units before the changes, by the
// slope there; a latitude and a longitude, which hang on three numbers, have none. Those of covariances stay on the new scales, as
// covariances do.
func (m *Model) toldErrors(in *Model) *StandardErrors {
	if in.StandardErrors == nil || in.StandardErrors.Means == nil {
		return in.StandardErrors
	}
	e, c := *in.StandardErrors, m.Changes()
	p := in.part(data.Number)
	before := c.Before()
	e.Means = nil
	for k, own := range in.StandardErrors.Means {
		y, wide := make([]float64, in.D()), make([]float64, in.D())
		for i, v := range p.UserMean(k) {
			y[p.Columns[i]], wide[p.Columns[i]] = v, own[i]
		}
		told := Errors{}
		for j, at := range before {
			if m.Types == nil || m.Types[j] == data.Number {
				told = append(told, math.Abs(wide[at]*c.Spread(j, y)))
			}
		}
		e.Means = append(e.Means, told)
	}
	return &e
}

// ofTheModel says of an error of data.Bind that the columns are those of a model.
func ofTheModel(err error) string {
	return strings.Replace(err.Error(), "those that are fitted", "those of the model", 1)
}

// changedComponent is Component where columns are on other scales.
func (m *Model) changedComponent(changes *data.Changes, c int) Component {
	x := m.Changed().Component(c)
	switch {
	case x.Mean != nil:
		x.Mean = m.userNumbers(changes, c)
	case x.Median != nil:
		x.Median = m.userNumbers(changes, c)
	}
	return x
}

// changedRows is Rows where columns are on other scales.
func (m *Model) changedRows(ctx context.Context, changes *data.Changes, src data.Source, threads int, want wanted, each func(*Scored) error) error {
	sloped := m.sloped()
	return m.Changed().rows(ctx, changes.Rows(src), threads, want, func(s *Scored) error {
		for i := range s.N {
			if sloped {
				s.LogDensity[i] += s.Slope[i]
				s.Best[i] += s.Slope[i]
			}
		}
		return each(s)
	})
}

// sloped reports whether log densities are those of the columns before changes of scale: not of centres, nor of fewer principal components
// than columns.
func (m *Model) sloped() bool {
	in := m.Changed()
	return m.HasDensity() && in.dims() == in.D()
}

// changedSampler draws rows on the new scales, and tells them in the units before them.
type changedSampler struct {
	*Sampler
	changes *data.Changes
	y       []float64
}

func (s *changedSampler) of(c int, x []float64) {
	s.Sampler.of(c, s.y)
	s.changes.Back(x, s.y)
}

// changedScorer scores single rows in the units before changes of scale.
type changedScorer struct {
	*Scorer
	changes *data.Changes
	y       []float64
	sloped  bool
}

// changedScorer returns the scorer of a model with columns on other scales.
func (m *Model) changedScorer(changes *data.Changes) (*Scorer, error) {
	own, err := m.Changed().Scorer()
	if err != nil {
		return nil, err
	}
	return &Scorer{m: m, inner: &changedScorer{own, changes, make([]float64, len(changes.Names())), m.sloped()}}, nil
}

// score adds to the log density what the slopes of the scales are at the row.
func (s *changedScorer) score(row []float64) (*Scored, error) {
	if err := s.changes.Row(s.y, row); err != nil {
		return nil, err
	}
	told, err := s.Score(s.y)
	if err != nil || !s.sloped {
		return told, err
	}
	slope := s.changes.LogSlope(row)
	told.LogDensity[0] += slope
	told.Best[0] += slope
	return told, nil
}

// arrangedChanges is Arranged where columns are on other scales: column j of the result is column at[j] of m.
func (m *Model) arrangedChanges(changes *data.Changes, at []int, names []string, levels [][]string) (*Model, error) {
	now := map[string]string{}
	for j, from := range at {
		now[m.Columns[from]] = names[j]
	}
	list := slices.Clone(changes.List())
	for i := range list {
		list[i].Columns = slices.Clone(list[i].Columns)
		for l, name := range list[i].Columns {
			list[i].Columns[l] = now[name]
		}
	}
	c, err := data.Bind(list, names)
	if err != nil {
		return nil, err
	}
	if levels != nil {
		levels = kind.Picked(levels, c.From())
	}
	in := m.Changed()
	in.Columns = make([]string, len(changes.Names())) // what they will be called
	for i, from := range changes.From() {
		in.Columns[i] = c.Names()[c.Before()[slices.Index(at, from)]+i-changes.Before()[from]]
	}
	own, err := in.Arranged(c.Names(), levels)
	if err != nil {
		return nil, err
	}
	return own.Unchanged(c), nil
}
