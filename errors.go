package latent

import (
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/selection"
)

// Errors that a program can act on. Each says what is wrong in terms of fields; its method Flags says the same in terms of the
// command's flags.
type (
	// SpecError is a field of a Spec, or an argument, that cannot be used: Field is its name, "NInit", and Reason says what is wrong
	// and what is possible.
	SpecError = plan.Error
	// ConstantColumnError is a Column of a Gaussian mixture that has the same Value in every row.
	ConstantColumnError = prepare.ConstantColumnError
	// RowError is a cell that the model has no place for, by Row, Column and Value: 2 among bits.
	RowError = kind.RowError
	// DegenerateError is a choice of which no candidate can win: of so many Candidates, AtFloor have a component at the floor of
	// variances, and Reasons say why the others cannot be chosen.
	DegenerateError = selection.DegenerateError
)
