package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/text"
)

// usualDraws is how many draws tell how unexpected a column usually is: a few hundredths of a nat.
const usualDraws = 2000

// Odd is what is oddest about a row: one of its cells, and what the row's group expects there.
type Odd struct {
	Variable int    // its place among Variables
	Name     string // of the variable
	Value    string // the cell, in the user's units, with as many digits as the column's spread asks for; or the name of its level
	Group    int    // the row's label, from 1
	Expected string // the mean, median or rate of the group there; or its likeliest level, and how likely the cell's own is
}

// String says it, such as "b=6 (group 1 expects -1.02)".
func (o Odd) String() string {
	return fmt.Sprintf("%s=%s (group %d expects %s)", o.Name, o.Value, o.Group, o.Expected)
}

// oddest is what finding odd cells takes, made when it is first needed.
type oddest struct {
	scorer *Scorer // of bare
	x      []float64
}

// Oddest returns the oddest cell of row i of s, which is what Rows says of rows by the same model. Under a mixture it is the cell whose removal raises the log
// density most, beyond what its removal does on average: log p(others) - log p(row) = -log p(cell | others), less the mean of this over draws that
// lack the same cells. Without that mean it would depend on the units of the columns; of one Gaussian it is the cell that lies most standard
// deviations from what the others let expect. Under kmeans it is the cell farthest from the centre, after the model's
// transform. ok is false for a row without any cell.
func (t *Tail) Oddest(ctx context.Context, s *Scored, i int) (o Odd, ok bool, err error) {
	if !t.look(s, i) {
		return o, false, nil
	}
	t.odd.x = t.odd.x[:0]
	for j := range t.gone {
		t.odd.x = append(t.odd.x, s.At(i, j))
	}
	c := int(s.Label[i])
	at := t.farthest(c)
	if t.draws > 0 {
		if at, err = t.unexpected(ctx); err != nil {
			return o, false, err
		}
	}
	return t.told(at, c), true, nil
}

// farthest returns the variable in which the row at hand lies farthest from centre c.
func (t *Tail) farthest(c int) (at int) {
	most := -1.0
	if t.draws > 0 {
		return 0
	}
	for j, v := range t.odd.x {
		if far := math.Abs(v - t.bare.Means[c][j]); far > most {
			at, most = j, far
		}
	}
	return at
}

// unexpected returns the variable of the row at hand that is least expected given the others.
func (t *Tail) unexpected(ctx context.Context) (at int, err error) {
	usual, err := t.usual(ctx)
	if err != nil {
		return 0, err
	}
	if t.odd.scorer == nil {
		if t.odd.scorer, err = t.bare.Scorer(); err != nil {
			return 0, err
		}
	}
	most := math.Inf(-1)
	for j, v := range t.odd.x {
		if t.gone[j] {
			continue
		}
		t.odd.x[j] = math.NaN()
		s, err := t.odd.scorer.Score(t.odd.x)
		if err != nil {
			return 0, err
		}
		t.odd.x[j] = v
		if raised := s.LogDensity[0] - usual[j]; raised > most { // the log density of the whole row is the same for all
			at, most = j, raised
		}
	}
	return at, nil
}

// usual returns for each variable that is there by how much its removal raises the log density on average.
func (t *Tail) usual(ctx context.Context) ([]float64, error) {
	l, err := t.lows(ctx)
	if err != nil || l.usual != nil {
		return l.usual, err
	}
	from := *t.from.(*drawn)
	from.n = min(from.n, usualDraws)
	gone := slices.Clone(t.gone)
	mean := func() (v float64, err error) {
		err = t.judge.rows(ctx, &lacking{Source: &from, gone: gone}, t.threads, func(s *Scored) error {
			for _, x := range s.LogDensity {
				v += x / float64(from.n)
			}
			return nil
		})
		return v, err
	}
	whole, err := mean()
	if err != nil {
		return nil, err
	}
	usual := make([]float64, len(gone))
	for j := range usual {
		if t.gone[j] {
			continue
		}
		gone[j] = true
		if usual[j], err = mean(); err != nil {
			return nil, err
		}
		usual[j] -= whole
		gone[j] = false
	}
	l.usual = usual
	return usual, nil
}

// told returns variable j of the row at hand in words, beside what component c expects.
func (t *Tail) told(j, c int) Odd {
	o := Odd{Variable: j, Name: t.bare.Columns[j], Group: c + 1}
	part, own := t.part(j)
	kd := part.kind()
	if kd.Cells.Levels || kd.Cells.Bits {
		names, p := part.levelsOf(c, own)
		at := slices.Index(p, slices.Max(p))
		v := int(t.odd.x[j])
		o.Value, o.Expected = names[v], names[at]
		if v == at {
			o.Expected += ", in " + text.Percent(p[v])
		} else {
			o.Expected += ", and " + names[v] + " in " + text.Percent(p[v])
		}
		return o
	}
	mean := slices.Clone(t.odd.x)
	mean[j] = part.Means[c][own]
	value, expected := t.user(t.odd.x)[j], t.user(mean)[j]
	spread := 0.0
	if p := t.m.Provenance; p != nil && len(p.ColumnSD) == t.m.D() && t.m.PCA() == nil {
		spread = 4 * p.ColumnSD[j]
	}
	digits := text.NewColumn(spread, value, expected)
	o.Value, o.Expected = digits.Text(value), digits.Text(expected)
	return o
}

// part returns the part of the model that variable j belongs to, and its place there.
func (t *Tail) part(j int) (Part, int) {
	for _, p := range t.bare.Parts() {
		if own := slices.Index(p.Columns, j); own >= 0 {
			return p, own
		}
	}
	panic("a variable that no part has")
}

// levelsOf returns the names of the levels of column j, and how likely component c has each.
func (m *Model) levelsOf(c, j int) (names []string, p []float64) {
	if !m.kind().Cells.Levels {
		v := m.Probabilities[c][j]
		return []string{"0", "1"}, []float64{1 - v, v}
	}
	return m.Levels[j], m.byLevel(c)[j]
}

// user returns a row of variables in the user's units; principal components, and bits that were made of numbers, stay what they are.
func (t *Tail) user(x []float64) []float64 {
	if t.m.PCA() != nil {
		return x
	}
	y := slices.Clone(x)
	for _, tr := range slices.Backward(t.m.Transform) {
		if tr.Kind != "binarize" {
			y = tr.undo(y)
		}
	}
	return y
}
