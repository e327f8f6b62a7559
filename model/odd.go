package model

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
)

// usualDraws is how many draws from a component tell how unexpected its cells usually are: to a few hundredths of a nat.
const usualDraws = 1000

// Odd is what is oddest about a row: one of its cells, and what the row's group expects there.
type Odd struct {
	Variable int    // its place among Variables
	Name     string // of the variable
	Value    string // the cell, in the user's units, with as many digits as the column's spread asks for; or the name of its level
	Group    int    // the label, from 1, of the row without the cell: the group that the others are likeliest of; under centres, and where there are no others, of the row
	Expected string // what the group expects there given the row's other cells: a mean, a median or a rate; or its likeliest level, and how likely the row's is
}

// String says it, such as "b=6 (group 1 expects -1.02)".
func (o Odd) String() string {
	return fmt.Sprintf("%s=%s (group %d expects %s)", o.Name, o.Value, o.Group, o.Expected)
}

// oddest is what finding odd cells takes, made when it is first needed.
type oddest struct {
	scorer  *Scorer // of bare
	normals *normals
	x       []float64 // the row at hand
}

// Oddest returns the oddest cell of row i of s, which is what Rows says of rows by the same model. Under a mixture it is the cell whose removal raises the
// log density most, beyond what its removal does on average in the group: log p(others) - log p(row) = -log p(cell | others), less the mean of this
// over draws, which lack the same cells, from the component that the others are likeliest of. Without that mean it would depend on the units of the columns;
// of one Gaussian it is the cell that lies most standard deviations from what the others let expect. Under kmeans and kmedians it is the cell farthest from the
// centre, after the model's transform. ok is false for a row without any cell.
func (t *Tail) Oddest(ctx context.Context, s *Scored, i int) (o Odd, ok bool, err error) {
	if some, _ := t.look(s, i); !some {
		return o, false, nil
	}
	t.odd.x = t.odd.x[:0]
	for j := range t.gone {
		t.odd.x = append(t.odd.x, s.At(i, j))
	}
	c := int(s.Label[i])
	var at int
	if t.bare.HasDensity() {
		if at, c, err = t.unexpected(ctx, c); err != nil {
			return o, false, err
		}
	} else {
		at = t.farthest(c)
	}
	return t.told(at, c), true, nil
}

// farthest returns the variable in which the row at hand lies farthest from centre c.
func (t *Tail) farthest(c int) (at int) {
	most := -1.0
	for j, v := range t.odd.x {
		if far := math.Abs(v - t.bare.Means[c][j]); far > most {
			at, most = j, far
		}
	}
	return at
}

// unexpected returns the variable of the row at hand, whose label is c, that is least expected given the others, and the component that these
// are likeliest of.
func (t *Tail) unexpected(ctx context.Context, c int) (at, group int, err error) {
	if t.odd.scorer == nil {
		if t.odd.scorer, err = t.bare.Scorer(); err != nil {
			return 0, 0, err
		}
	}
	most, group := math.Inf(-1), c
	for j, v := range t.odd.x {
		if t.gone[j] {
			continue
		}
		t.odd.x[j] = math.NaN()
		s, err := t.odd.scorer.Score(t.odd.x)
		if err != nil {
			return 0, 0, err
		}
		of := int(s.Label[0])
		if alone := s.Empty(0); alone {
			of = c
		}
		t.odd.x[j] = v
		usual, err := t.usual(ctx, of)
		if err != nil {
			return 0, 0, err
		}
		if raised := s.LogDensity[0] - usual[j]; raised > most { // the log density of the whole row is the same for all
			at, group, most = j, of, raised
		}
	}
	return at, group, nil
}

// usual returns for each variable that is there by how much its removal raises the log density of rows of component c on average.
func (t *Tail) usual(ctx context.Context, c int) ([]float64, error) {
	l := t.lows()
	if l.usual[c] != nil {
		return l.usual[c], nil
	}
	from := &drawn{m: t.bare, n: usualDraws, seed: TailSeed, component: c}
	gone := slices.Clone(t.gone)
	mean := func() (v float64, err error) {
		err = t.judge.rows(ctx, &lacking{Source: from, gone: gone}, t.threads, func(s *Scored) error {
			for _, x := range s.LogDensity {
				v += x / usualDraws
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
	if l.usual == nil {
		l.usual = map[int][]float64{}
	}
	l.usual[c] = usual
	return usual, nil
}

// told returns variable j of the row at hand in words, beside what component c expects.
func (t *Tail) told(j, c int) Odd {
	o := Odd{Variable: j, Name: t.bare.Columns[j], Group: c + 1}
	part, own := t.part(j)
	kd := part.kind()
	if kd.Cells.Levels || kd.Cells.Bits {
		names, p := part.levelsOf(c, own)
		if b := t.threshold(); b != "" {
			names = []string{"at most " + b, "above " + b}
		}
		at := slices.Index(p, slices.Max(p))
		v := int(t.odd.x[j])
		o.Value, o.Expected = names[v], names[at]
		if v == at {
			o.Expected += " in " + text.Percent(p[v])
		} else {
			o.Expected += "; " + names[v] + " in " + text.Percent(p[v])
		}
		return o
	}
	mean := slices.Clone(t.odd.x)
	mean[j] = t.mean(part, c, own)
	o.Name, o.Value, o.Expected = t.cells(j, mean)
	return o
}

// cells returns the name of variable j, and its number in the row at hand and in another, in the user's units. A coordinate of a place stays one: what
// latitude and longitude are hangs on the others.
func (t *Tail) cells(j int, other []float64) (column, own, expected string) {
	name, from, x, y := t.bare.Columns[j], j, t.user(t.odd.x), t.user(other)
	scale := ""
	if t.changes != nil {
		from = t.changes.From()[j]
		scale = t.changes.Kinds()[from]
	}
	spread := 0.0
	switch p := t.m.Provenance; {
	case scale == "geo" || t.m.PCA() != nil:
		digits := text.NewColumn(0, x[j], y[j])
		return name, digits.Text(x[j]), digits.Text(y[j])
	case p != nil && len(p.ColumnSD) == t.m.D():
		spread = 4 * p.ColumnSD[from]
	}
	value, expects := x[j], y[j]
	if t.changes != nil {
		name, value, expects = t.m.Columns[from], t.changes.Told(x)[from], t.changes.Told(y)[from]
	}
	if scale == "date" {
		return name, data.FormatDate(value), data.FormatDate(math.Round(expects))
	}
	digits := text.NewColumn(spread, value, expects)
	return name, digits.Text(value), digits.Text(expects)
}

// mean returns what component c expects in column own of a part given the other cells of the row at hand.
func (t *Tail) mean(p Part, c, own int) float64 {
	if !p.kind().Shaped {
		return p.Means[c][own]
	}
	if t.odd.normals == nil {
		t.odd.normals = newNormals(p)
	}
	j, x := p.Columns[own], slices.Clone(t.odd.x)
	x[j] = math.NaN()
	if err := t.odd.normals.expect(x, nil, c); err != nil { // too near singular for that
		return p.Means[c][own]
	}
	return x[j]
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

// threshold returns that above which numbers were made 1; "" where no bits were made of numbers.
func (t *Tail) threshold() string {
	for _, tr := range t.m.Transform {
		if tr.Kind == "binarize" {
			return text.Significant(*tr.Threshold, 0)
		}
	}
	return ""
}

// user returns a row of variables in the units of the rows after changes of scale, which are the user's where there are none; principal components, and bits that were made of numbers, stay what they are.
func (t *Tail) user(x []float64) []float64 {
	if t.m.PCA() != nil {
		return x
	}
	y := slices.Clone(x)
	for _, tr := range slices.Backward(t.m.Changed().Transform) {
		if tr.Kind != "binarize" {
			y = tr.undo(y)
		}
	}
	return y
}
