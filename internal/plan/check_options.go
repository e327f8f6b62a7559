package plan

import (
	"slices"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/text"
)

// validateModel refuses options that do not apply to the kind of model or to the algorithm.
func (p *Plan) validateModel() error {
	k, m := p.Kind, p.Kind.Name
	switch {
	case k.Parted && len(p.Types) == 0:
		return Wrong("Types", "are needed: what each column holds")
	case p.Types != nil && !k.Parted:
		return Wrong("Types", "are for --model %s", kind.Mixed.Name)
	case k.Parted && p.Levels != nil && len(p.Levels) != len(p.Types):
		return Wrong("Levels", "are of %d columns, but Types of %d", len(p.Levels), len(p.Types))
	case slices.ContainsFunc(p.Types, func(t data.Type) bool { return t > data.Count }):
		return Wrong("Types", "hold one that is not known")
	case k.Parted && p.PCA > 0:
		return Wrong("PCA", "does not apply to %s: categories and counts have no directions", m)
	}
	if !p.Shaped() {
		switch {
		case p.Covariance != "":
			return Wrong("Covariance", "does not apply to %s, whose components have no covariance; use --model %s", m, kind.Gaussian.Name)
		case p.RegCovar != 0:
			return Wrong("RegCovar", "does not apply to %s, whose components have no variance", m)
		}
	}
	switch {
	case p.Binarize != nil && !k.Cells.Bits:
		return Wrong("Binarize", "makes bits for --model %s", kind.Bernoulli.Name)
	case p.Binarize != nil && !finite(*p.Binarize):
		return Wrong("Binarize", "is %v; it must be a finite number", *p.Binarize)
	case p.Scaled() && !k.Cells.Units:
		return Wrong("Scale", "does not apply to %s: %s have no unit", m, k.Cells.Are)
	case p.PCA > 0 && !k.Cells.Units:
		return Wrong("PCA", "does not apply to %s: %s have no directions", m, k.Cells.Are)
	case p.RegCovar > 0 && !slices.Contains([]Algorithm{Auto, EM, HardEM}, p.Algorithm):
		return Wrong("Algorithm", "%s maximises the likelihood, which --reg-covar above 0 changes in every step; use em", p.Algorithm)
	case p.KeepSums && p.Medians():
		return Wrong("KeepSums", "does not apply to %s: no sums over rows give a median; use --model %s", m, kind.KMeans.Name)
	case p.KeepSums && p.Penalty != nil:
		return Wrong("KeepSums", "does not apply to --penalty, by which later rows could open groups; give -k")
	case p.KeepSums && k.Tails:
		return Wrong("KeepSums", "does not apply to %s: how much a row counts in its sums changes with every step, so that no sums stand for the rows", m)
	case p.BatchSize < 0:
		return Wrong("BatchSize", "is %d; it must be at least 1", p.BatchSize)
	case p.BatchSize > 0 && p.Algorithm != MiniBatch:
		return Wrong("BatchSize", "applies to --algorithm minibatch only")
	case p.Init == Whitened && (!k.Shaped || k.Parted):
		return Wrong("Init", "whitened is a start for Gaussian mixtures: %s has no linear maps", m)
	case p.TolShift != 0 && !k.Mixture && !k.Squared:
		return Wrong("TolShift", "does not apply to %s, which ends when no label changes", m)
	case p.TolShift != 0 && k.Mixture:
		return Wrong("TolShift", "applies to %s only; use --tol", kind.KMeans.Name)
	case p.TolShift != 0 && (p.Penalty != nil || p.Algorithm == Breathing || p.Algorithm == MiniBatch || p.Algorithm == Exact):
		return Wrong("TolShift", "applies to Lloyd's algorithm only")
	case p.Levels != nil && !k.Cells.Levels && !k.Parted:
		return Wrong("Levels", "are for --model %s", kind.Categorical.Name)
	case p.TolLogLik != 0 && p.Spec.Tol != nil:
		return Wrong("TolLogLik", "stops in place of --tol; give one of the two")
	case p.TolLogLik != 0 && p.Algorithm == HardEM:
		return Wrong("TolLogLik", "does not apply to hard-em, which ends when no label changes")
	case p.Mixture():
		return nil
	case p.TolLogLik != 0:
		return Wrong("TolLogLik", "does not apply to %s, which has no log-likelihood and ends when no label changes", m)
	case p.Weights != "":
		return Wrong("Weights", "does not apply to %s, which has no mixing weights", m)
	case p.Init == KMeans || p.Init == SmallEM || p.Init == Mixed || p.Init == Whitened:
		return Wrong("Init", "%s is a start for mixtures; %s itself starts from k-means++, random, labels, model or centers", p.Init, m)
	}
	return nil
}

// validateStart checks where the climbs start.
func (p *Plan) validateStart() error {
	switch {
	case p.Algorithm == Exact && !p.auto():
		return Wrong("Init", "does not apply to exact, which needs no start")
	case p.Algorithm == Exact && (p.NInit > 0 || p.Spec.MaxIter != nil):
		return Wrong("Algorithm", "exact has neither starts nor steps: --n-init and --max-iter do not apply")
	}
	given := map[Start]bool{FromLabels: p.Labels != nil, FromModel: p.Given != nil, FromCenters: p.Centers != nil}
	for _, name := range []Start{FromLabels, FromModel, FromCenters} {
		switch {
		case p.Init == name && !given[name]:
			return Wrong("Init", "%s needs the %s to start from", name, name)
		case p.Init != name && given[name]:
			return Wrong("Init", "must be %q for the given %s to be used", name, name)
		case p.Init == name && p.NInit > 1:
			return Wrong("NInit", "is %d, but a given start is one start", p.NInit)
		}
	}
	return nil
}

// validateRepeats checks the number of replicates, and whether the model can be tested.
func (p *Plan) validateRepeats() error {
	switch {
	case p.Bootstrap < 0:
		return Wrong("Bootstrap", "is %d; it must be at least 1", p.Bootstrap)
	case p.LRT < 0:
		return Wrong("LRT", "is %d; it must be at least 1", p.LRT)
	case p.LRT == 0:
		return nil
	case !p.Mixture():
		return Wrong("LRT", "compares log-likelihoods, which %s does not have; use --criterion gap with -k LO:HI, or --bootstrap", p.Kind.Name)
	case p.RegCovar > 0:
		return Wrong("LRT", "compares the largest log-likelihoods, which --reg-covar does not reach")
	case p.Algorithm == HardEM:
		return Wrong("LRT", "compares the largest log-likelihoods, which hard-em does not reach")
	case p.HasStart():
		return Wrong("LRT", "fits one more group too, but --init %s gives one start for -k", p.Init)
	}
	return nil
}

// validateChoice checks what is chosen from, and what makes no sense with a choice.
func (p *Plan) validateChoice() error {
	for _, name := range p.shapeNames() {
		if _, err := family.ParseShapes(name); err != nil {
			return Wrong("Covariance", "%s", strings.TrimPrefix(err.Error(), "covariance "))
		}
	}
	if err := p.validateFactors(); err != nil {
		return err
	}
	if err := oneOf("Criterion", p.Criterion, Criteria()...); err != nil {
		return err
	}
	switch {
	case p.Spec.Criterion != "" && !p.Chooses():
		return Wrong("Criterion", "chooses between candidates, but -k and --covariance leave only one")
	case p.Spec.Criterion != "" && !slices.Contains(p.criteria(), string(p.Criterion)):
		return Wrong("Criterion", "%s %s; %s has %s", p.Criterion, p.Criterion.needs(), p.ModelName(), text.List(p.criteria(), "and"))
	case p.Criterion == Elbow && p.KRange[1]-p.KRange[0] < 2:
		return Wrong("Criterion", "elbow looks for a bend, which takes at least three numbers of groups, such as -k 1:8")
	case p.Chooses() && p.HasStart():
		return Wrong("Init", "%s gives one start for one number of groups; say which with -k N, and one shape", p.Init)
	}
	return nil
}

// validateChanges refuses changes of scale that cannot be read, or that are for numbers where there are none.
func (p *Plan) validateChanges() error {
	_, err := p.parseChanges()
	switch {
	case err != nil:
		return Wrong("Transform", "%s", err)
	case p.Changes != nil && !p.Kind.Cells.Units && !p.Kind.Parted:
		return Wrong("Transform", "does not apply to %s: it puts numbers on another scale, and %s have none", p.Kind.Name, p.Kind.Cells.Are)
	}
	for _, c := range p.Changes {
		for _, name := range c.Columns {
			if j := slices.Index(p.Columns, name); j >= 0 && j < len(p.Spec.Types) && p.Spec.Types[j] != data.Number {
				return Wrong("Transform", "%s is for numbers, but column %q holds a %s", c.Kind, name, p.Spec.Types[j])
			}
		}
	}
	return nil
}
