package plan

import (
	"math"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/kind"
)

// validate returns the error of the first field that cannot be used, or would be ignored.
func (p *Plan) validate() error {
	for _, err := range []error{
		p.validateChain(), p.validateBayes(),
		p.validateK(), p.validateDof(),
		oneOf("Algorithm", p.Algorithm, p.Kind.Drivers...),
		oneOf("Weights", p.Weights, "learned", "uniform", process),
		oneOf("Init", p.Init, starts...),
		oneOf("Scale", p.Scale, Unscaled, Standard, Robust),
		oneOf("Missing", p.Missing, p.Kind.Missing...),
		p.validateChanges(), p.validateNumbers(), p.validateLimits(), p.validateBeta(), p.validateModel(), p.validateNoise(), p.validateStart(), p.validateRepeats(), p.validateMerging(), p.validatePrior(),
	} {
		if err != nil {
			return err
		}
	}
	return p.validateChoice()
}

// CheckOne refuses a plan that leaves a choice of K or of the covariance shape, or that repeats a fit.
func (p *Plan) CheckOne() error {
	switch {
	case p.Bootstrap > 0:
		return Wrong("Bootstrap", "repeats a fit on resampled rows, but this is not one")
	case p.LRT > 0:
		return Wrong("LRT", "tests a fit against one more group, but this is not one")
	case !p.Chooses():
		return nil
	case p.ranged():
		return Wrong("K", "is a range, but this fits one number of groups, such as -k 3; fit chooses one")
	case p.K == 0:
		return Wrong("K", "is needed: the number of groups, such as -k 3")
	}
	return Wrong("Covariance", "names several shapes, but this fits one; fit chooses one")
}

// oneOf refuses a word that is none of the words allowed. The empty word is allowed and means the first.
func oneOf[W, V ~string](field string, value W, words ...V) error {
	if value == "" || slices.Contains(words, V(value)) {
		return nil
	}
	return Wrong(field, "%q is not known; choose one of %s", value, joined(words))
}

// joined returns words with commas between them.
func joined[W ~string](words []W) string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = string(w)
	}
	return strings.Join(list, ", ")
}

// notNegative reports whether v is finite and at least 0.
func notNegative(v float64) bool { return v >= 0 && !math.IsInf(v, 1) }

// validateK checks the number of components, the range of it, and the penalty that finds one.
func (p *Plan) validateK() error {
	switch {
	case p.Penalty != nil && !p.Kind.Squared:
		return Wrong("Penalty", "applies to %s only: DP-means", kind.KMeans.Name)
	case p.Penalty != nil && !notNegative(*p.Penalty):
		return Wrong("Penalty", "is %v; it must be a finite number that is not negative", *p.Penalty)
	case p.Penalty != nil && (p.K != 0 || p.ranged()):
		return Wrong("K", "is found by --penalty; give one of the two")
	case p.Penalty != nil && p.Algorithm != Auto:
		return Wrong("Algorithm", "%s does not find k; with --penalty it is DP-means", p.Algorithm)
	case p.Penalty != nil && !p.auto():
		return Wrong("Init", "does not apply to --penalty, which starts from the overall mean")
	case p.Penalty != nil && p.NInit > 1:
		return Wrong("NInit", "is %d, but --penalty has one start, the overall mean", p.NInit)
	case p.Penalty != nil:
		return nil
	case p.K != 0 && p.ranged():
		return Wrong("K", "is one number or a range; give one of the two")
	case p.OpenRange() && !p.Mixture():
		return Wrong("K", "is needed: the number of groups, such as -k 3, or a range to choose from, such as -k 2:9")
	case p.ranged() && (p.KRange[0] < 1 || p.KRange[1] < p.KRange[0]):
		return Wrong("K", "cannot be %d:%d; a range goes from a lowest number, at least 1, to a highest", p.KRange[0], p.KRange[1])
	case p.K < 0:
		return Wrong("K", "is %d; it must be at least 1", p.K)
	}
	return nil
}

// validateNumbers refuses numbers that are negative or not finite.
func (p *Plan) validateNumbers() error {
	switch {
	case p.NInit < 0:
		return Wrong("NInit", "is %d; it must be at least 1", p.NInit)
	case p.PCA < 0:
		return Wrong("PCA", "is %d; it must be at least 1", p.PCA)
	case p.Spec.Threads < 0:
		return Wrong("Threads", "is %d; it must be at least 1", p.Spec.Threads)
	case p.MaxIter < 0:
		return Wrong("MaxIter", "is %d; it must not be negative", p.MaxIter)
	}
	for _, v := range []struct {
		field string
		value float64
	}{{"Tol", p.Tol}, {"TolLogLik", p.TolLogLik}, {"TolShift", p.TolShift}, {"RegCovar", p.RegCovar}} {
		if !notNegative(v.value) {
			return Wrong(v.field, "is %v; it must be a finite number that is not negative", v.value)
		}
	}
	return nil
}

// validateBeta checks the schedule of temperatures.
func (p *Plan) validateBeta() error {
	switch {
	case p.Algorithm != AntiAnnealing && p.Spec.Beta != nil:
		return Wrong("Beta", "is a schedule for --algorithm anti-annealing")
	case p.Algorithm != AntiAnnealing && p.Spec.BetaSteps != 0:
		return Wrong("BetaSteps", "applies to --algorithm anti-annealing only")
	case p.BetaSteps < 0:
		return Wrong("BetaSteps", "is %d; it must not be negative", p.BetaSteps)
	case p.Spec.Beta == nil:
		return nil
	case len(p.Beta) == 0 || p.Beta[len(p.Beta)-1] != 1:
		return Wrong("Beta", "must end at 1, where the free energy is the log-likelihood")
	}
	for _, b := range p.Beta {
		if !(b > 0) || math.IsInf(b, 1) {
			return Wrong("Beta", "holds %v; an inverse temperature is a finite number above 0", b)
		}
	}
	return nil
}
