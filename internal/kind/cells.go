package kind

import (
	"context"
	"fmt"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
)

// Check names the first cell of src that is wrong; nil where there is none. names are those of the columns, levels the names of
// their levels where cells are such. cure says that the error tells what to do.
func (c *Cells) Check(ctx context.Context, src data.Source, levels [][]string, names []string, cure bool) error {
	if c.Wrong == nil {
		return nil
	}
	of := func(j int) int {
		if !c.Levels {
			return 0
		}
		return len(levels[j])
	}
	row, j, v, found, err := data.FirstCell(ctx, src, func(j int, v float64) bool { return v == v && c.Wrong(v, of(j)) })
	if err != nil || !found {
		return err
	}
	e := &RowError{Row: row, Column: names[j], Value: v, Reason: "is not " + c.Is}
	switch {
	case cure && c.Levels:
		e.Reason += fmt.Sprintf("; the %d levels are numbered from 0", of(j))
	case cure:
		e.cure = fmt.Sprintf("; use %s--exclude %s", c.Cure, text.ShellWord(names[j]))
	}
	return e
}

// RowError is a cell that a kind of model has no place for.
type RowError struct {
	Row    int64 // as the source numbers it, from 1
	Column string
	Value  float64
	Reason string // what is wrong with the value

	cure string // what to do, in terms of the command's flags
}

// Error names row, column and value, and says what is wrong.
func (e *RowError) Error() string {
	return fmt.Sprintf("row %d, column %q: %v %s", e.Row, e.Column, e.Value, e.Reason)
}

// Flags says the same, and what to do in terms of the command's flags.
func (e *RowError) Flags() string { return e.Error() + e.cure }

// CheckRow is Check for one row.
func (c *Cells) CheckRow(row []float64, levels [][]string, names []string) error {
	if c.Wrong == nil {
		return nil
	}
	for j, v := range row {
		n := 0
		if c.Levels {
			n = len(levels[j])
		}
		if v == v && c.Wrong(v, n) {
			return fmt.Errorf("column %q: %v is not %s", names[j], v, c.Is)
		}
	}
	return nil
}
