package report

import (
	"context"
	"fmt"
	"math"
	"strconv"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// What finding odd rows may take.
const (
	oddBelow     = 0.001 // p-value of a row that is called odd
	listedBelow  = 0.01  // of one that is listed
	listedAlways = 5     // rows that are listed whatever their p-values
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
	if !m.HasDensity() {
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

// oddest tells the oddest cells of the rows that are listed.
func (g *gatherer) oddest(ctx context.Context, m *model.Model, src data.Source) (err error) {
	d := float64(len(m.Variables()))
	if len(g.Unusual) == 0 || d*d*d*float64(m.K())*2000 > tailWork {
		return nil
	}
	tail := g.tail
	if !m.HasDensity() {
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
			odd, ok, err := tail.Oddest(ctx, s, i)
			if err != nil {
				return err
			}
			if ok {
				g.Unusual[at].Odd = &odd
			}
			at++
		}
		return nil
	})
}

// unusual lists the rows that fit the model least.
func (b *builder) unusual() {
	rows := b.rows.Unusual
	if len(rows) == 0 {
		return
	}
	s := &section{ID: "unusual"}
	o := &b.rows.Odd
	t := table{Head: []string{"row", "group"}}
	switch {
	case o.Draws > 0:
		n := min(listedAlways, len(rows))
		for n < len(rows) && rows[n].PValue < listedBelow {
			n++
		}
		rows = rows[:n]
		s.Lead = append(s.Lead, fmt.Sprintf("%s of %s %s a p-value below %v; by chance it would be about %s.", text.Thousands(o.Found), text.Count(o.Rows, "row"), text.Form(o.Found, "has", "have"), oddBelow, byChance(oddBelow*float64(o.Rows))),
			fmt.Sprintf("A row's p-value is the probability, under the model, of a density as low as its own (from %s draws; the standard error of %v is %.1g). Rows with the lowest are errors of the data, or the cases worth a look. The oddest column is the one that is least expected given the others.", text.Thousands(int64(o.Draws)), oddBelow, o.SE))
		t.Caption = "the row with the lowest p-value"
		if n > 1 {
			t.Caption = fmt.Sprintf("the %d rows with the lowest p-values", n)
		}
		t.Head = append(t.Head, "p-value")
	case b.rows.density:
		s.Lead = append(s.Lead, "Those with the lowest log density: errors of the data, or the cases worth a look.")
		t.Caption = "the rows with the lowest log density"
		t.Head = append(t.Head, "log density (nats)")
	default:
		s.Lead = append(s.Lead, "Those farthest from the centre of their group. The model has no density, so there are no p-values: it does not say how far is too far.")
		t.Caption = fmt.Sprintf("the %d rows farthest from their centres", len(rows))
		t.Head = append(t.Head, "distance")
	}
	if o.Unjudged > 0 {
		s.Lead = append(s.Lead, fmt.Sprintf("%s with rare patterns of missing cells %s not judged here; latent score --outliers judges all.", text.Count(o.Unjudged, "row"), text.Form(o.Unjudged, "is", "are")))
	}
	b.oddTable(&t, rows)
	s.Data = append(s.Data, t)
	b.add(s)
}

// byChance writes how many rows are expected: two digits say it.
func byChance(v float64) string {
	if v >= 10 {
		return text.Thousands(int64(math.Round(v)))
	}
	return strconv.FormatFloat(v, 'g', 2, 64)
}

// oddTable adds a line a row.
func (b *builder) oddTable(t *table, rows []Row) {
	told := rows[0].Odd != nil
	columns := b.telling[:min(6, b.d)]
	if told {
		t.Head = append(t.Head, "oddest column", "value", "its group expects")
		columns = columns[:min(3, b.d)]
	}
	for _, j := range columns {
		t.Head = append(t.Head, b.r.Columns[j])
	}
	cells := b.cells(columns, rows)
	for i, row := range rows {
		line := []string{text.Thousands(row.Number), fmt.Sprint(row.Label + 1)}
		switch {
		case b.rows.Odd.Draws > 0:
			line = append(line, text.P(row.PValue))
		case b.rows.density:
			line = append(line, text.Short(row.Score))
		default:
			line = append(line, text.Short(-row.Score))
		}
		if told {
			odd := row.Odd
			if odd == nil {
				odd = &model.Odd{}
			}
			line = append(line, odd.Name, odd.Value, odd.Expected)
		}
		t.Rows = append(t.Rows, append(line, cells[i]...))
	}
}
