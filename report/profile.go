package report

import (
	"context"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/profile"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// A Table is what every column of a table is like over all rows and in each group. Describe makes one.
type Table struct{ profile *profile.Profile }

// Describe makes one pass over all columns of a table, also those that m was not fitted to. src and info are what data.Load returns for the
// columns of m with Options.Carry, which hands out all cells. Rows count for each group as much as their responsibilities. It fails where src
// does, and where a row does not fit the model.
func Describe(ctx context.Context, m *model.Model, src data.Source, info *data.Info, threads int) (*Table, error) {
	if m == nil || info == nil {
		return nil, &data.ArgumentError{Name: "the table", Reason: "needs a model, and what data.Load says of its columns"}
	}
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	b := profile.New(m, info, profile.Options{})
	if err := m.Rows(ctx, src, threads, b.Add); err != nil {
		return nil, err
	}
	return &Table{b.Done()}, nil
}

// overview is the columns of the data as rows, and the groups as columns.
type overview struct {
	Lead    []string // heads before the groups
	Groups  []groupHead
	Rows    []string // how many in all, then in each group
	Lines   []overviewLine
	More    []overviewLine // of a wide table, the columns that tell the groups apart least
	Notes   []string
	HowMany string // columns are in More
}

// groupHead is the head of a group's column.
type groupHead struct{ Name, Color string }

// overviewLine is a column of the data, or a level of one.
type overviewLine struct {
	Name  string
	Level bool
	Lead  []string // what stands before the groups, without the name
	Cells []string // of all rows, then of each group
}

// mostLines is how many lines the overview shows; the others can be unfolded.
const mostLines = 30

// overview returns what every column is like in each group; nil where there are more groups than can stand side by side.
func (b *builder) overview() *overview {
	if b.k > listed {
		return nil
	}
	p := b.profiled()
	o := &overview{Lead: p.Lead(), Notes: p.Notes(len(p.Columns))}
	o.Rows = []string{text.Thousands(b.rows.N)}
	for c := range b.k {
		o.Groups = append(o.Groups, groupHead{b.names[c], hex(c)})
		o.Rows = append(o.Rows, text.Thousands(b.rows.Group[c].Rows))
	}
	o.Notes = append(o.Notes, "rows: by the likeliest "+b.noun())
	left := 0
	for i := range p.Columns {
		lines := o.column(&p.Columns[i])
		if left == 0 && (i == 0 || len(o.Lines)+len(lines) <= mostLines) {
			o.Lines = append(o.Lines, lines...)
			continue
		}
		o.More = append(o.More, lines...)
		left++
	}
	if left > 0 {
		o.HowMany = text.Count(left, "more column")
	}
	return o
}

// profiled returns the profile of the table or, where there is none, what the parameters of the model say of its columns.
func (b *builder) profiled() *profile.Profile {
	if b.Table != nil {
		return b.Table.profile
	}
	shares := make([]float64, b.k)
	for c := range shares {
		shares[c] = b.r.Components[c].Weight
	}
	return profile.Told(b.r.Model, shares, b.r.ColumnSD)
}

// column returns the lines of a column.
func (o *overview) column(c *profile.Column) (lines []overviewLine) {
	for _, l := range c.Lines() {
		lead := l.Lead(o.Lead)
		lines = append(lines, overviewLine{Name: lead[0], Level: l.Level, Lead: lead[1:], Cells: l.Cells})
	}
	return lines
}
