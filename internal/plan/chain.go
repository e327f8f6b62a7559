package plan

import (
	"slices"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// kind returns the name of the kind of the components: that of the model, and of a hidden Markov model that of its emissions.
func (s *Spec) kind() string {
	if s.Model == model.ChainKind {
		return s.Emission
	}
	return s.Model
}

// checkKind wants kinds that are known, and an emission of a hidden Markov model alone.
func (s *Spec) checkKind() error {
	if s.Model != model.ChainKind {
		if s.Emission != "" {
			return Wrong("Emission", "is the kind of the states of a hidden Markov model; use --model %s", model.ChainKind)
		}
		return oneOf("Model", s.Model, append(kind.Names(), model.ChainKind)...)
	}
	return oneOf("Emission", s.Emission, Emissions()...)
}

// Emissions returns the names of the kinds that the states of a hidden Markov model can be of, the default first: mixtures.
func Emissions() (names []string) {
	for _, name := range kind.Names() {
		if kind.Of(name).Mixture {
			names = append(names, name)
		}
	}
	return names
}

// ModelName returns the name of the model, as of --model.
func (p *Plan) ModelName() string {
	if p.Chain {
		return model.ChainKind
	}
	return p.Kind.Name
}

// Part is what a component of the fit is called: a group, of a hidden Markov model a state, and where components will be merged a component.
func (p *Plan) Part() string { return kind.PartNoun(p.Chain, p.Merge != nil) }

// criteria returns the criteria of a choice, the default first.
func (p *Plan) criteria() []string {
	if p.Chain {
		return []string{string(BIC), string(AIC), string(ICL)}
	}
	return p.Kind.Criteria
}

// chainDrivers are the drivers of hidden Markov models. Hard labels would be those of likeliest paths, by which another function than the
// log-likelihood is climbed and states are found that hardly overlap.
var chainDrivers = []Algorithm{Auto, EM, EMLBFGS, AntiAnnealing, SQUAREM, BFGS, LBFGS, ECG}

// validateChain refuses what a hidden Markov model has no use for.
func (p *Plan) validateChain() error {
	if !p.Chain {
		return nil
	}
	const name = model.ChainKind
	switch {
	case !slices.Contains(chainDrivers, p.Algorithm):
		return Wrong("Algorithm", "%s does not go with --model %s; choose one of %s", p.Algorithm, name, joined(chainDrivers))
	case p.Spec.Noise != "":
		return Wrong("Noise", "does not go with --model %s: a state of wide variance takes rows far out, and --emission t makes little of them", name)
	case p.Weights != "":
		return Wrong("Weights", "are of mixtures; states have initial and transition probabilities")
	case p.Spec.Merge != "":
		return Wrong("Merge", "joins components of a mixture; the states of a hidden Markov model follow each other and are not merged")
	case p.KeepSums:
		return Wrong("KeepSums", "does not apply to --model %s: rows to come would belong to sequences of their own", name)
	case p.LRT != 0:
		return Wrong("LRT", "tests mixtures; choose the number of states of a hidden Markov model by --criterion with -k LO:HI")
	}
	return nil
}

// How many starts of a hidden Markov model are drawn from rows, where the plan does not say.
const (
	mostChainStarts = 45
	chainWork       = 20_000 // rows of all of them together, unless that is fewer than those from the mixture
)

// ChainStarts returns how many starts of a hidden Markov model on n rows are where climbs of the mixture of its states end, and how many are drawn
// from rows: half and half, and of the latter more where rows are few.
func (p *Plan) ChainStarts(n int64) (ends, drawn int) {
	starts := p.Starts(n)
	ends = (starts + 1) / 2
	if drawn = starts - ends; drawn > 0 && p.NInit == 0 {
		drawn = max(drawn, int(min(chainWork/n, mostChainStarts)))
	}
	return ends, drawn
}
