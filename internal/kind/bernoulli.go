package kind

import (
	"math/rand/v2"

	"github.com/latent-go/latent/internal/family"
)

// Bernoulli is the mixture of independent bits: latent classes of yes and no answers.
var Bernoulli = &Kind{
	Name:   "bernoulli",
	Title:  "Bernoulli mixture",
	Phrase: "a mixture of independent bits",
	Cells: Cells{
		Is: "a bit (0 or 1)", Are: "bits", Bits: true, Cure: "--binarize T to make bits of numbers, or ",
		Wrong: func(x float64, _ int) bool { return x != 0 && x != 1 },
	},
	Mixture:  true,
	Soft:     true,
	Drivers:  mixtures,
	Criteria: likelihoods,
	MaxIter:  1000,
	Missing:  []string{Model, Refuse},
	Family:   func(v Variables) family.Family { return family.Bernoulli{Gaps: v.Gaps} },
	Location: Location{
		Key: "probabilities", Array: "probabilities", Plural: "probabilities of 1", Told: Probability, Highest: 1, Range: "from 0 to 1",
		Slope:  func(p float64) float64 { return p * (1 - p) },
		Events: rarer,
		Edge:   "probability", EdgeNoun: "answer", Certain: "(almost) certain within a %s; that is normal",
		Draw: func(x, p []float64, _ []int, rng *rand.Rand) {
			for j := range x {
				x[j] = 0
				if rng.Float64() < p[j] {
					x[j] = 1
				}
			}
		},
	},
}

// rarer returns how often the rarer of two outcomes happens in n rows where one has probability p.
func rarer(p, n float64) float64 { return n * min(p, 1-p) }
