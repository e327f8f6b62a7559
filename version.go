package latent

import "github.com/latent-go/latent/internal/plan"

// Version is the version of this package, written into models and results.
const Version = plan.Version
