package tell

import (
	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/kind"
)

// Kind says what kind of model a result is of: "Gaussian mixture".
func Kind(r *latent.Result) string {
	if r.Model != nil && r.Model.IsChain() {
		return "hidden Markov model with " + r.Emission + " emissions"
	}
	return kind.Of(r.Kind).Title
}
