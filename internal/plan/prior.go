package plan

import (
	"math"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// validatePrior refuses a prior that the model has no use for, and numbers that no prior has. What depends on the columns is refused when
// these are known.
func (p *Plan) validatePrior() error {
	a, m := p.Prior, p.Kind.Name
	switch {
	case a == nil:
		return nil
	case !p.Mixture():
		return Wrong("Prior", "does not apply to %s, which has no density; use --model %s", m, kind.Gaussian.Name)
	case p.Kind.Tails:
		return Wrong("Prior", "does not apply to %s: it has no conjugate prior; use --model %s, or leave out --prior", m, kind.Gaussian.Name)
	case p.RegCovar > 0:
		return Wrong("Prior", "and --reg-covar both hold variances up; leave out --reg-covar, whose steps climb nothing")
	}
	numbers, levels := p.Shaped(), p.Leveled()
	bad := func(v *float64, least float64) bool { return v != nil && !(*v >= least && finite(*v)) }
	switch {
	case !numbers && (a.Shrinkage != nil || a.Mean != nil || a.Dof != nil || a.Scale != nil || a.ScaleFactor != nil):
		return Wrong("Prior", "has shrinkage, mean, dof, scale and scale-factor for means and covariances, which a %s model does not have here; it has %s", m, p.priorKeys(levels))
	case !levels && (a.Levels != nil || a.Shares != nil):
		return Wrong("Prior", "has levels for probabilities of bits and categories, which a %s model does not have here; use shrinkage, dof, scale-factor or weights", m)
	case !p.Chain && a.Transitions != nil:
		return Wrong("Prior", "has transitions, which are of a hidden Markov model; use --model %s, or leave them out", model.ChainKind)
	case bad(a.Transitions, 1):
		return Wrong("Prior", "transitions=%v must be 1 or more, where a maximum exists", *a.Transitions)
	case !numbers && !levels && a.Weights == nil && a.Transitions == nil:
		return Wrong("Prior", "auto has nothing for %s: rates have no prior here; weights=A, A above 1, is one of the mixing weights", p.Kind.Cells.Are)
	case bad(a.Shrinkage, 0):
		return Wrong("Prior", "shrinkage=%v must be a finite number that is not negative: the pseudo-rows that draw means together", *a.Shrinkage)
	case a.Dof != nil && !(*a.Dof > 0 && finite(*a.Dof)):
		return Wrong("Prior", "dof=%v must be above d - 1 for d columns; the default is d + 2", *a.Dof)
	case a.ScaleFactor != nil && !(*a.ScaleFactor > 0 && finite(*a.ScaleFactor)):
		return Wrong("Prior", "scale-factor=%v must be a finite number above 0", *a.ScaleFactor)
	case a.ScaleFactor != nil && a.Scale != nil:
		return Wrong("Prior", "has a scale, and a scale-factor that would make one; give one of the two")
	case bad(a.Weights, 1):
		return Wrong("Prior", "weights=%v must be 1 or more, where a maximum exists; --algorithm vb takes smaller ones as --concentration", *a.Weights)
	case a.Weights != nil && *a.Weights > 1 && p.Uniform:
		return Wrong("Prior", "weights=%v does not apply to --weights uniform, where they are not learned", *a.Weights)
	case a.Levels != nil && !(*a.Levels > 0 && finite(*a.Levels)):
		return Wrong("Prior", "levels=%v must be a finite number above 0: the pseudo-rows shared by all groups", *a.Levels)
	}
	for _, v := range a.Mean {
		if !finite(v) {
			return Wrong("Prior", "mean holds %v; it must be finite numbers", v)
		}
	}
	for _, shares := range a.Shares {
		sum := 0.0
		for _, v := range shares {
			sum += v
			if !(v >= 0) {
				sum = math.NaN()
			}
		}
		if !(math.Abs(sum-1) < 1e-6) {
			return Wrong("Prior", "shares hold %v; those of a column are not negative and add up to 1", shares)
		}
	}
	return nil
}

// Leveled reports whether there are columns of bits or levels.
func (p *Plan) Leveled() bool {
	for _, part := range p.Kind.Parts(p.Types, 1) {
		if part.Kind.Cells.Bits || part.Kind.Cells.Levels {
			return true
		}
	}
	return false
}

// priorKeys says which keys a prior without covariances can have.
func (p *Plan) priorKeys(levels bool) string {
	if levels {
		return "levels and weights"
	}
	return "weights"
}
