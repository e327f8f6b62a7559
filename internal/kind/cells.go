package kind

import (
	"context"
	"errors"
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
	row, j, v, found, err := data.FirstCell(ctx, src, func(j int, v float64) bool { return c.Wrong(v, of(j)) })
	if err != nil || !found {
		return err
	}
	said := fmt.Sprintf("row %d, column %q: %v is not %s", row, names[j], v, c.Is)
	switch {
	case cure && c.Levels:
		said += fmt.Sprintf("; the %d levels are numbered from 0", of(j))
	case cure:
		said += fmt.Sprintf("; %s--exclude %s", c.Cure, text.ShellWord(names[j]))
	}
	return errors.New(said)
}

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
		if c.Wrong(v, n) {
			return fmt.Errorf("column %q: %v is not %s", names[j], v, c.Is)
		}
	}
	return nil
}
