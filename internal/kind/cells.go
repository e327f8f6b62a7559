package kind

import (
	"context"
	"fmt"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/text"
)

// Check names the first cell of src that is wrong; nil where there is none. names are those of the columns, of what each holds where the kind
// is parted, levels the names of their levels where cells are such. cure says that the error tells what to do.
func (k *Kind) Check(ctx context.Context, src data.Source, of []data.Type, levels [][]string, names []string, cure bool) error {
	if k.Cells.Wrong == nil && !k.Parted {
		return nil
	}
	row, j, v, found, err := data.FirstCell(ctx, src, func(j int, v float64) bool { return k.wrong(of, levels, j, v) })
	if err != nil || !found {
		return err
	}
	c := k.CellsOf(of, j)
	e := &RowError{Row: row, Column: names[j], Value: v, Reason: "is not " + c.Is}
	switch {
	case cure && c.Levels:
		e.Reason += fmt.Sprintf("; the %d levels are numbered from 0", len(levels[j]))
	case cure:
		e.Cure = fmt.Sprintf("; use %s--exclude %s", c.Cure, text.ShellWord(names[j]))
	}
	return e
}

// RowError is a cell that a kind of model has no place for.
type RowError struct {
	Row    int64 // as the source numbers it, from 1
	Column string
	Value  float64
	Reason string // what is wrong with the value

	Cure string // what to do, in terms of the command's flags
}

// Error names row, column and value, and says what is wrong.
func (e *RowError) Error() string {
	return fmt.Sprintf("row %d, column %q: %v %s", e.Row, e.Column, e.Value, e.Reason)
}

// Flags says the same, and what to do in terms of the command's flags.
func (e *RowError) Flags() string { return e.Error() + e.Cure }

// CheckRow is Check for one row.
func (k *Kind) CheckRow(row []float64, of []data.Type, levels [][]string, names []string) error {
	for j, v := range row {
		if k.wrong(of, levels, j, v) {
			return fmt.Errorf("column %q: %v is not %s", names[j], v, k.CellsOf(of, j).Is)
		}
	}
	return nil
}

// wrong reports whether v can be no cell of column j. A missing cell, NaN, can.
func (k *Kind) wrong(of []data.Type, levels [][]string, j int, v float64) bool {
	c := k.CellsOf(of, j)
	if c.Wrong == nil || v != v {
		return false
	}
	n := 0
	if c.Levels {
		n = len(levels[j])
	}
	return c.Wrong(v, n)
}
