package studio

import (
	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/profile"
	"github.com/latent-go/latent/internal/tell"
	"github.com/latent-go/latent/internal/text"
)

// groupsTable says what the groups of a result are like, as the summary of the command does: the columns that tell them apart best first.
type groupsTable struct {
	Weights []float64    `json:"weights"` // of each group, 0 where they are not known
	Rows    []string     `json:"rows"`    // how many in all, then in each group; empty for a model that does not say
	Shares  []string     `json:"shares"`  // of each group; empty for centres whose sizes are not known
	Lines   []groupsLine `json:"lines"`
	Notes   []string     `json:"notes"`
}

// groupsLine is a column, or a level of one.
type groupsLine struct {
	Name    string   `json:"name"`
	Level   bool     `json:"level"`
	Between string   `json:"between"`
	Cells   []string `json:"cells"` // of all rows, then of each group
}

// groupsOf returns the table of a result, whose groups are its labels: the clusters of a merged model.
func groupsOf(r *latent.Result) *groupsTable {
	groups := r.Groups()
	weights, known := make([]float64, len(groups)), r.Rows > 0 || r.Model.HasDensity() // else written by hand: nobody has counted
	t := &groupsTable{Weights: weights, Rows: []string{}, Shares: []string{}}
	for i, c := range groups {
		weights[i] = c.Weight
		known = known || c.Weight > 0
	}
	if r.Rows > 0 {
		t.Rows = append(t.Rows, text.Thousands(r.Rows))
		for _, c := range groups {
			t.Rows = append(t.Rows, tell.Rows(r, &c))
		}
	}
	if known {
		t.Shares = text.Percents(weights, 1)
	}
	p := profile.Told(r.Model, weights, r.ColumnSD)
	t.Notes = p.Notes(len(p.Columns))
	for i := range p.Columns {
		for _, l := range p.Columns[i].Lines() {
			line := groupsLine{Name: l.Name, Level: l.Level, Cells: l.Cells}
			if b := l.Column.Between; b != nil && !l.Level {
				line.Between = text.Percent(*b)
			}
			t.Lines = append(t.Lines, line)
		}
	}
	return t
}
