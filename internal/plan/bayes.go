package plan

import (
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// mostBayes is the most components of variational Bayes where the spec does not say.
const mostBayes = 10

// The least and the most that a concentration may be. Below, float64 holds no number of rows beside it; above, where weights are all but equal, the
// bound would be a difference of numbers too large for its digits.
const (
	leastConcentration = 1e-100
	mostConcentration  = 1e6
)

// Bayes reports whether the fit is one of variational Bayes: of a distribution of the parameters, which finds how many of K components are
// in use.
func (p *Plan) Bayes() bool { return p.Algorithm == VB }

// parseBayes sets what variational Bayes has other defaults for.
func (p *Plan) parseBayes() {
	if !p.Bayes() {
		return
	}
	p.Gaps = false
	if p.K == 0 && !p.ranged() {
		p.K, p.MostK = mostBayes, true
	}
	p.setConcentration()
}

// setConcentration sets the prior of the weights: 1/K where the spec does not say.
func (p *Plan) setConcentration() {
	p.Concentration = 1 / float64(max(p.K, 1))
	if c := p.Spec.Concentration; c != nil {
		p.Concentration = *c
	}
}

// Lower makes k the most components, where K is the default of variational Bayes.
func (p *Plan) Lower(k int) {
	p.K = k
	p.setConcentration()
}

// validateBayes refuses what belongs to variational Bayes elsewhere, and there what it lacks or would ignore.
func (p *Plan) validateBayes() error {
	if !p.Bayes() {
		switch {
		case p.Spec.Concentration != nil:
			return Wrong("Concentration", "needs --algorithm vb, whose prior of the weights it is")
		case p.Weights == process:
			return Wrong("Weights", "process needs --algorithm vb; use learned or uniform")
		}
		return nil
	}
	switch c := p.Concentration; {
	case !slices.Contains(p.Kind.Drivers, string(VB)):
		return Wrong("Algorithm", "vb is for Gaussian mixtures, but this is %s; use --model %s, which takes the columns of numbers", p.Kind.Phrase, kind.Gaussian.Name)
	case !(c >= leastConcentration && c <= mostConcentration):
		return Wrong("Concentration", "is %v; it must be above 0, from %v to %v", c, leastConcentration, mostConcentration)
	case p.ranged():
		return Wrong("K", "cannot be %d:%d with --algorithm vb, which finds the number of groups; give the most there may be, such as -k %d", p.KRange[0], p.KRange[1], max(p.KRange[1], 1))
	case lists(p.Covariance):
		return Wrong("Covariance", "names several shapes, but --algorithm vb fits one; give one, such as --covariance full")
	case p.Shape.Parsimonious():
		return Wrong("Covariance", "%s (%s) has no conjugate prior, which --algorithm vb needs; choose one of %s", p.Shape, p.Shape.Mclust(), text.List(conjugateShapes(), "or"))
	case p.Weights == "uniform":
		return Wrong("Weights", "uniform leaves no group empty, but --algorithm vb finds k by emptying groups; use learned or process")
	}
	return p.ignoredByBayes()
}

// ignoredByBayes refuses options that variational Bayes has no use for.
func (p *Plan) ignoredByBayes() error {
	switch {
	case p.Spec.Criterion != "":
		return Wrong("Criterion", "does not apply to --algorithm vb, which finds k by the evidence lower bound")
	case p.RegCovar != 0:
		return Wrong("RegCovar", "does not apply to --algorithm vb, whose prior keeps variances off 0")
	case p.Spec.Prior != nil:
		return Wrong("Prior", "is of the highest log posterior, but --algorithm vb has a prior of its own; give --concentration for that of the weights")
	case p.Spec.Noise != "":
		return Wrong("Noise", "does not go with --algorithm vb; use em-lbfgs, or leave --algorithm out")
	case p.TolLogLik != 0:
		return Wrong("TolLogLik", "does not apply to --algorithm vb, which climbs the evidence lower bound; use --tol")
	case p.Missing == kind.Model:
		return Wrong("Missing", "model does not go with --algorithm vb, which takes whole rows; use drop, or leave --algorithm out")
	case p.Init == FromModel:
		return Wrong("Init", "model does not go with --algorithm vb: a model does not say how sure its parameters are; use labels or centers")
	case p.KeepSums:
		return Wrong("KeepSums", "does not apply to --algorithm vb: an update climbs the log-likelihood")
	case p.Bootstrap != 0:
		return Wrong("Bootstrap", "does not apply to --algorithm vb; leave out one of the two")
	case p.LRT != 0:
		return Wrong("LRT", "compares largest log-likelihoods, which --algorithm vb does not climb to")
	}
	return nil
}

// conjugateShapes returns the names of the shapes that variational Bayes has.
func conjugateShapes() (names []string) {
	for _, s := range family.Shapes() {
		if !s.Parsimonious() {
			names = append(names, s.String())
		}
	}
	return names
}

// process is the word of Spec.Weights for a stick-breaking prior.
const process = "process"

// Process reports whether weights have a stick-breaking prior.
func (p *Plan) Process() bool { return p.Weights == process }
