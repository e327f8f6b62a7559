package latent

import "github.com/latent-go/latent/internal/plan"

// SpecError is a field of a Spec that cannot be used: its Field by name, and as its Reason what is wrong and what is possible. Flags
// says the same in terms of the command's flags.
type SpecError = plan.Error
