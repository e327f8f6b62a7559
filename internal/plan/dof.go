package plan

import (
	"math"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
)

// mostGivenDof is the largest number of degrees of freedom that can be given: far beyond it the density is a Gaussian's to the last digit.
const mostGivenDof = 1e6

// parseDof sets the degrees of freedom of a kind with tails. What cannot be parsed is for validateDof.
func (p *Plan) parseDof() {
	switch word := strings.ToLower(p.Spec.Dof); word {
	case "", "auto":
		p.Dof = family.OwnDof
	case "tied":
		p.Dof = family.TiedDof
	default:
		v, _ := strconv.ParseFloat(word, 64)
		p.Dof, p.GivenDof = family.GivenDof, []float64{v}
	}
}

// validateDof refuses degrees of freedom that are none, or that nothing has, and a driver that would not settle them.
func (p *Plan) validateDof() error {
	word := p.Spec.Dof
	switch {
	case p.Kind.Tails && p.Algorithm == HardEM:
		return Wrong("Algorithm", "hard-em does not apply to %s: it ends when no label changes, and how much each row counts goes on changing; use em", p.Kind.Name)
	case word == "":
		return nil
	case !p.Kind.Tails:
		return Wrong("Dof", "applies to --model %s only: components of %s have no degrees of freedom", kind.Student.Name, p.Kind.Name)
	case p.Dof != family.GivenDof:
		return nil
	}
	v, err := strconv.ParseFloat(word, 64)
	switch {
	case err != nil && math.IsInf(v, 0), err == nil && v > mostGivenDof:
		return Wrong("Dof", "is %s; it can be at most %s, where a t distribution is a Gaussian: use --model %s", word, strconv.FormatFloat(mostGivenDof, 'f', -1, 64), kind.Gaussian.Name)
	case err != nil || v != v:
		return Wrong("Dof", "%q is not known; choose auto (each group its own), tied (one for all), or a number above 0", word)
	case !(v > 0):
		return Wrong("Dof", "is %s; degrees of freedom must be above 0", word)
	}
	return nil
}
