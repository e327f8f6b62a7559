package prepare

import (
	"fmt"

	"github.com/latent-go/latent/internal/text"
)

// ConstantColumnError is a column that has the same value in every row, which a component with a variance cannot be fitted to.
type ConstantColumnError struct {
	Column string
	Value  float64
}

// Error names the column and its value.
func (e *ConstantColumnError) Error() string { return e.said("leave it out") }

// Flags says the same in terms of the command's flags.
func (e *ConstantColumnError) Flags() string {
	return e.said("use --exclude " + text.ShellWord(e.Column))
}

func (e *ConstantColumnError) said(cure string) string {
	return fmt.Sprintf("column %q is constant (%s in every row): a mixture cannot give it a variance; %s", e.Column, text.Significant(e.Value, 0), cure)
}
