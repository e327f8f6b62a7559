package report

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// What finding odd rows may take.
const (
	oddBelow     = 0.001 // p-value of a row that is called odd
	listedBelow  = 0.01  // of one that is listed
	listedAlways = 5     // rows that are listed whatever their p-values
	listedFar    = 10    // rows that are listed of a model without density
	manyOdd      = 10    // odd rows from which on it is told that they are too many
	tooMany      = 10    // times as many as by chance: so many errors are rare in data
	tailWork     = 4e9   // multiplications of the draws, or of finding oddest cells: a second or two
	fewestDraws  = 20_000
	judgedGaps   = 12 // patterns of missing cells whose rows have p-values: each takes draws of its own
)

// Odd counts the rows with p-values.
type Odd struct {
	Rows     int64   // that have one
	Found    int64   // whose p-value is below 0.001
	Unjudged int64   // that have none, since there are too many patterns of missing cells
	Draws    int     // that p-values are estimated from; 0: there are none, as for models without a density and for very many columns
	SE       float64 // standard error of a p-value of 0.001
}

// newTail returns what tells p-values, and how many draws they are from; nil where that would take long.
func newTail(m *model.Model, threads int) (*model.Tail, int, error) {
	if !m.HasDensity() || m.IsChain() { // rows of sequences are not held against draws of single rows
		return nil, 0, nil
	}
	d := float64(len(m.Variables()))
	draws := int(min(model.TailDraws, tailWork/(float64(m.K())*d*d)))
	if draws < fewestDraws {
		return nil, 0, nil
	}
	t, err := m.Tail(draws, model.TailSeed, threads)
	return t, draws, err
}

// judgeRow sets the p-value of a row, NaN where it has none.
func (g *gatherer) judgeRow(ctx context.Context, s *model.Scored, i int, row *Row) (err error) {
	row.PValue = math.NaN()
	if g.tail == nil {
		return nil
	}
	gaps := ""
	for j := range s.D {
		if v := s.At(i, j); v != v {
			gaps += strconv.Itoa(j) + " "
		}
	}
	if gaps != "" && !g.gaps[gaps] {
		if len(g.gaps) == judgedGaps {
			g.Odd.Unjudged++
			return nil
		}
		g.gaps[gaps] = true
	}
	if row.PValue, err = g.tail.P(ctx, s, i); err != nil {
		return err
	}
	g.Odd.Rows++
	if row.PValue < oddBelow {
		g.Odd.Found++
	}
	return nil
}

// far returns the distance of a row to its centre, for a model without density.
func (r *Rows) far(row *Row) float64 {
	if r.squared {
		return math.Sqrt(-row.Score)
	}
	return -row.Score
}

// oddest tells the oddest cells of the rows that are listed, and for a model without density their p-values.
func (g *gatherer) oddest(ctx context.Context, m *model.Model, src data.Source) (err error) {
	d := float64(len(m.Variables()))
	if len(g.Unusual) == 0 || g.density && d*d*d*float64(m.K())*2000 > tailWork {
		return nil
	}
	tail := g.tail
	if !g.density {
		if tail, err = m.TailAmong(ctx, src, 1); err != nil {
			return err
		}
	}
	if tail == nil {
		return nil
	}
	t := &data.Table{N: len(g.Unusual), D: m.D()}
	for _, row := range g.Unusual {
		t.F64 = append(t.F64, row.X...)
	}
	at := 0
	return m.Rows(ctx, t, 1, func(s *model.Scored) error {
		for i := range s.N {
			row := &g.Unusual[at]
			at++
			if !g.density {
				if row.PValue, err = tail.P(ctx, s, i); err != nil {
					return err
				}
			}
			odd, ok, err := tail.Oddest(ctx, s, i)
			if err != nil {
				return err
			}
			if ok {
				odd.Group = m.LabelOf(odd.Group-1) + 1
				row.Odd = &odd
			}
		}
		return nil
	})
}

// unusual lists the rows that fit the model least.
func (b *builder) unusual() {
	if len(b.rows.Unusual) == 0 {
		return
	}
	s := &section{ID: "unusual"}
	var t table
	switch rows := b.rows.Unusual; {
	case b.rows.Odd.Draws > 0:
		t = b.improbable(s)
	case b.rows.density:
		why := "Their p-values would take long with so many columns."
		if b.r.Model.IsChain() {
			why = "A row's density is that given the rows of its sequence before it: a low one is a surprise at that time."
		}
		s.Lead = append(s.Lead, "Those with the lowest log density may be errors in the data, or cases worth a look. "+why)
		t = table{Caption: fmt.Sprintf("the %s with the lowest log density", text.Count(len(rows), "row")), Head: []string{"row", b.noun(), "log density (nats)"}}
		for _, row := range rows {
			t.Rows = append(t.Rows, []string{text.Thousands(row.Number), fmt.Sprint(row.Label + 1), text.Short(row.Score)})
		}
		b.oddWords(&t, rows)
	default:
		t = b.farthest(s)
	}
	if n := b.rows.Odd.Unjudged; n > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("%s with rare patterns of missing cells %s not judged here; latent score --outliers judges all.", text.Count(n, "row"), text.Form(n, "is", "are")))
	}
	s.Data = append(s.Data, t)
	b.add(s)
}

// improbable says how many rows have a low p-value, and lists those with the lowest.
func (b *builder) improbable(s *section) table {
	o, rows := &b.rows.Odd, b.rows.Unusual
	n := min(listedAlways, len(rows))
	for n < len(rows) && rows[n].PValue < listedBelow {
		n++
	}
	rows = rows[:n]
	expected := byChance(oddBelow * float64(o.Rows))
	found := fmt.Sprintf("%s of %s %s odd: %s p-value is below %v. By chance it would be about %s.", text.Thousands(o.Found), text.Count(o.Rows, "row"), text.Form(o.Found, "is", "are"), text.Form(o.Found, "its", "their"), oddBelow, expected)
	switch {
	case o.Found == 0:
		found = fmt.Sprintf("No row is odd: none of %s has a p-value below %v; by chance it would be about %s.", text.Count(o.Rows, "row"), oddBelow, expected)
	case o.Found >= manyOdd && float64(o.Found) >= tooMany*oddBelow*float64(o.Rows):
		found += " So many are less likely to be errors than a sign that the groups have another shape than the model assumes."
	}
	s.Lead = append(s.Lead, found, fmt.Sprintf("A row's p-value is the probability, under the model, of a density as low as its own (from %s draws; the standard error of %v is %.1g). Odd rows may be errors in the data, or cases worth a look. The oddest column is the one that is least expected given the others.", text.Thousands(int64(o.Draws)), oddBelow, o.SE))
	t := table{Caption: "the row with the lowest p-value", Head: []string{"row", "group", "p-value"}}
	if n > 1 {
		t.Caption = fmt.Sprintf("the %d rows with the lowest p-values", n)
	}
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{text.Thousands(row.Number), fmt.Sprint(row.Label + 1), pValue(row.PValue)})
	}
	b.oddWords(&t, rows)
	return t
}

// farthest lists the rows that are farthest from their centres.
func (b *builder) farthest(s *section) table {
	rows := b.rows.Unusual[:min(listedFar, len(b.rows.Unusual))]
	s.Lead = append(s.Lead, fmt.Sprintf("A model without density cannot say how many rows are odd. These are the farthest from the centre of their group; they may be errors in the data, or cases worth a look. A row's p-value is the share of all rows that are as far or farther, so about %s of %s would be below %v in any table.",
		byChance(oddBelow*float64(b.rows.N)), text.Count(b.rows.N, "row"), oddBelow))
	if len(b.r.Model.Transform) > 0 {
		s.Lead = append(s.Lead, "Distances are those after the model's transform of the columns.")
	}
	t := table{Caption: fmt.Sprintf("the %s farthest from their centres", text.Count(len(rows), "row")), Head: []string{"row", "group", "distance (mean of its group)", "p-value"}}
	for _, row := range rows {
		t.Rows = append(t.Rows, []string{text.Thousands(row.Number), fmt.Sprint(row.Label + 1), fmt.Sprintf("%s (%s)", text.Short(b.rows.far(&row)), text.Short(b.rows.Group[row.Label].distance)), pValue(row.PValue)})
	}
	b.oddWords(&t, rows)
	return t
}

// pValue writes a p-value; one of an odd row never reads as the bound that it is below.
func pValue(p float64) string {
	s := text.P(p)
	if read, err := strconv.ParseFloat(s, 64); err == nil && p < oddBelow && read >= oddBelow {
		return strconv.FormatFloat(p, 'f', 5, 64)
	}
	return s
}

// byChance writes how many rows are expected: two digits say it.
func byChance(v float64) string {
	if v >= 10 {
		return text.Thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// oddWords ends the lines of rows with what is oddest about each, or with their cells in the most telling columns where that is not known.
func (b *builder) oddWords(t *table, rows []Row) {
	if rows[0].Odd != nil {
		t.Head, t.Words = append(t.Head, "oddest column"), true
		for i, row := range rows {
			t.Rows[i] = append(t.Rows[i], oddWord(row))
		}
		return
	}
	columns := b.telling[:min(6, b.d)]
	for _, j := range columns {
		t.Head = append(t.Head, b.r.Columns[j])
	}
	for i, cells := range b.cells(columns, rows) {
		t.Rows[i] = append(t.Rows[i], cells...)
	}
}

// oddWord says which column of a row is oddest, and what its group expects there: where the others point to another group than the row's, that one.
func oddWord(row Row) string {
	o := row.Odd
	if o == nil {
		return ""
	}
	expected := o.Expected
	if most, own, ok := strings.Cut(expected, "; "+o.Value+" in "); ok {
		expected = fmt.Sprintf("%s (%s: %s)", most, o.Value, own)
	}
	if o.Group == row.Label+1 {
		return fmt.Sprintf("%s is %s; its group expects %s", quoted(o.Name), o.Value, expected)
	}
	return fmt.Sprintf("%s is %s; group %d, which the other columns point to, expects %s", quoted(o.Name), o.Value, o.Group, expected)
}
