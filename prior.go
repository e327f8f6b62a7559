package latent

import "github.com/latent-go/latent/model"

// Prior is what Spec.Prior wants of a conjugate prior; &Prior{} is the default one, and leaves out what it does not set. A model remembers
// the one that it was fitted with, with all of its numbers.
type Prior = model.Prior

// ParsePrior reads a prior as the command's --prior does: "auto", or "KEY=VALUE,..." with the keys shrinkage, dof, scale-factor, weights
// and levels, or a JSON object, which may have mean and scale too. Its error says what is wrong and what would do.
func ParsePrior(s string) (*Prior, error) { return model.ParsePrior(s) }
