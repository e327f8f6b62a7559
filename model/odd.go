package model

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
)

// usualDraws is how many draws from a component tell how unexpected its cells usually are: to a few hundredths of a nat.
const usualDraws = 1000

// Odd is what is oddest about a row: one of its cells, and what the row's group expects there.
type Odd struct {
	Variable int    // its place among Variables; of a place the first of three
	Name     string // of the column, of a place both, such as "lat,lon"; of a component of PCA its own
	Value    string // the cell, in the user's units, with as many digits as the column's spread asks for; or the name of its level
	Group    int    // the label, in a merged model the component, from 1, of the row without the cell: the group that the others are likeliest of; under centres, and where there are no others, of the row
	Expected string // what the group expects there given the row's other cells: a mean, a median or a rate; or its likeliest level, and how likely the row's is

	merged bool // Group is a component of a merged model
}

// String says it, such as "b=6 (group 1 expects -1.02)".
func (o Odd) String() string {
	group := "group"
	if o.merged {
		group = "component"
	}
	return fmt.Sprintf("%s=%s (%s %d expects %s)", o.Name, o.Value, group, o.Group, o.Expected)
}

// oddest is what finding odd cells takes, made when it is first needed.
type oddest struct {
	scorer  *Scorer // of bare
	normals *normals
	x       []float64 // the row at hand
	units   []unit
}

// unit is a variable, or the three coordinates of a place, which are removed together.
type unit struct{ from, to int }

// units returns what may be odd about a row.
func (t *Tail) units() []unit {
	if t.odd.units != nil {
		return t.odd.units
	}
	for j := 0; j < len(t.gone); {
		u := unit{j, j + 1}
		if t.changes != nil && t.m.PCA() == nil && t.changes.Kinds()[t.changes.From()[j]] == "geo" {
			u.to = j + 3
		}
		t.odd.units, j = append(t.odd.units, u), u.to
	}
	return t.odd.units
}

// Oddest returns the oddest cell of row i of s, which is what Rows says of rows by the same model. Under a mixture it is the cell whose removal raises the
// log density most, beyond what its removal does on average in the group: log p(others) - log p(row) = -log p(cell | others), less the mean of this
// over draws, which lack the same cells, from the component that the others are likeliest of. Without that mean it would depend on the units of the columns;
// of one Gaussian it is the cell that lies most standard deviations from what the others let expect. A latitude and a longitude that are a place are one cell. Under kmeans and kmedians it is the cell farthest from the
// centre, after the model's transform. ok is false for a row without any cell.
func (t *Tail) Oddest(ctx context.Context, s *Scored, i int) (o Odd, ok bool, err error) {
	if some, _ := t.look(s, i); !some {
		return o, false, nil
	}
	t.odd.x = t.odd.x[:0]
	for j := range t.gone {
		t.odd.x = append(t.odd.x, s.At(i, j))
	}
	c := s.Nearest(i)
	var at unit
	if t.bare.HasDensity() {
		if at, c, err = t.unexpected(ctx, c); err != nil {
			return o, false, err
		}
	} else {
		at = t.farthest(c)
	}
	return t.told(at, c), true, nil
}

// farthest returns in which variable the row at hand lies farthest from centre c.
func (t *Tail) farthest(c int) (at unit) {
	most := -1.0
	for _, u := range t.units() {
		far := 0.0
		for j := u.from; j < u.to; j++ {
			far = math.Hypot(far, t.odd.x[j]-t.bare.Means[c][j])
		}
		if far > most {
			at, most = u, far
		}
	}
	return at
}

// unexpected returns the variable of the row at hand, whose label is c, that is least expected given the others, and the component that these
// are likeliest of.
func (t *Tail) unexpected(ctx context.Context, c int) (at unit, group int, err error) {
	if t.odd.scorer == nil {
		if t.odd.scorer, err = t.bare.Scorer(); err != nil {
			return at, 0, err
		}
	}
	most, group := math.Inf(-1), c
	for _, u := range t.units() {
		if t.gone[u.from] {
			continue
		}
		s, err := t.odd.scorer.Score(t.without(u))
		if err != nil {
			return at, 0, err
		}
		of := s.Nearest(0)
		if alone := s.Empty(0); alone {
			of = c
		}
		usual, err := t.usual(ctx, of)
		if err != nil {
			return at, 0, err
		}
		if raised := s.LogDensity[0] - usual[u.from]; raised > most { // the log density of the whole row is the same for all
			at, group, most = u, of, raised
		}
	}
	return at, group, nil
}

// without returns the row at hand without u, in memory of its own.
func (t *Tail) without(u unit) []float64 {
	x := slices.Clone(t.odd.x)
	for j := u.from; j < u.to; j++ {
		x[j] = math.NaN()
	}
	return x
}

// usual returns for each unit that is there, at its first variable, by how much its removal raises the log density of rows of component c on average.
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
	for _, u := range t.units() {
		if t.gone[u.from] {
			continue
		}
		for j := u.from; j < u.to; j++ {
			gone[j] = true
		}
		if usual[u.from], err = mean(); err != nil {
			return nil, err
		}
		usual[u.from] -= whole
		copy(gone, t.gone)
	}
	if l.usual == nil {
		l.usual = map[int][]float64{}
	}
	l.usual[c] = usual
	return usual, nil
}

// told returns u of the row at hand in words, beside what component c expects.
func (t *Tail) told(u unit, c int) Odd {
	j := u.from
	o := Odd{Variable: j, Name: t.bare.Columns[j], Group: c + 1, merged: t.m.Clusters != nil}
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
	o.Name, o.Value, o.Expected = t.cells(j, t.mean(u, part, c, own))
	return o
}

// cells returns the name of variable j, the first of its unit, and its number in the row at hand and in another, in the user's units.
func (t *Tail) cells(j int, other []float64) (column, own, expected string) {
	name, from, x, y := t.bare.Columns[j], j, t.user(t.odd.x), t.user(other)
	scale := ""
	if t.changes != nil {
		from = t.changes.From()[j]
		scale = t.changes.Kinds()[from]
	}
	if t.m.PCA() != nil {
		digits := text.NewColumn(0, x[j], y[j])
		return name, digits.Text(x[j]), digits.Text(y[j])
	}
	spread := func(from int) float64 {
		if p := t.m.Provenance; p != nil && len(p.ColumnSD) == t.m.D() {
			return 4 * p.ColumnSD[from]
		}
		return 0
	}
	if scale == "geo" {
		return t.place(from, t.changes.Told(x), t.changes.Told(y), spread)
	}
	value, expects := x[j], y[j]
	if t.changes != nil {
		name, value, expects = t.m.Columns[from], t.changes.Told(x)[from], t.changes.Told(y)[from]
	}
	if scale == "date" {
		return name, data.FormatDate(value), data.FormatDate(math.Round(expects))
	}
	digits := text.NewColumn(spread(from), value, expects)
	return name, digits.Text(value), digits.Text(expects)
}

// place is cells of a place whose latitude is column lat: its two columns, and their degrees.
func (t *Tail) place(lat int, x, y []float64, spread func(from int) float64) (column, own, expected string) {
	for _, c := range t.changes.List() {
		if c.Kind != "geo" || c.Columns[0] != t.m.Columns[lat] {
			continue
		}
		lon := slices.Index(t.m.Columns, c.Columns[1])
		north, east := text.NewColumn(spread(lat), x[lat], y[lat]), text.NewColumn(spread(lon), x[lon], y[lon])
		return strings.Join(c.Columns, ","), north.Text(x[lat]) + "," + east.Text(x[lon]), north.Text(y[lat]) + "," + east.Text(y[lon])
	}
	panic("a place that no change makes")
}

// mean returns the row at hand with what component c expects in u, which begins at column own of a part, given the other cells.
func (t *Tail) mean(u unit, p Part, c, own int) []float64 {
	x := t.without(u)
	if p.kind().Shaped {
		if t.odd.normals == nil {
			t.odd.normals = newNormals(p)
		}
		if t.odd.normals.expect(x, nil, c) == nil {
			return x
		}
		x = t.without(u) // too near singular for that
	}
	for j := u.from; j < u.to; j++ {
		x[j] = p.Means[c][own+j-u.from]
	}
	return x
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
