package tell

import (
	"fmt"
	"math"
	"strings"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/internal/text"
)

// Prior says which conjugate prior a result was fitted with, and what it came to; "" where there was none.
func Prior(r *latent.Result) string {
	p := r.Prior
	if p == nil {
		return ""
	}
	var parts []string
	if p.Shrinkage != nil && p.Dof != nil {
		parts = append(parts, fmt.Sprintf("shrinkage %v, %v degrees of freedom", *p.Shrinkage, *p.Dof))
	}
	if p.Levels != nil {
		parts = append(parts, fmt.Sprintf("%v pseudo-%s of levels", *p.Levels, text.Form(int(math.Ceil(*p.Levels)), "row", "rows")))
	}
	if p.Weights != nil && *p.Weights != 1 {
		parts = append(parts, fmt.Sprintf("weights %v", *p.Weights))
	}
	if p.Transitions != nil && *p.Transitions != 1 {
		parts = append(parts, fmt.Sprintf("transitions %v", *p.Transitions))
	}
	s := strings.Join(parts, ", ")
	switch {
	case r.LogPrior != nil && r.LogPosterior != nil:
		s += fmt.Sprintf("; log prior %s, log posterior %s", text.Decimals(*r.LogPrior, 4), text.Decimals(*r.LogPosterior, 4))
	case r.LogPrior != nil:
		s += "; log prior " + text.Decimals(*r.LogPrior, 4)
	}
	return s
}
