package kind

import (
	"math"
	"math/rand/v2"

	"github.com/latent-go/latent/internal/family"
)

// Categorical is the mixture of independent categories: latent classes of answers with several levels.
var Categorical = &Kind{
	Name:   "categorical",
	Title:  "categorical mixture",
	Phrase: "a mixture of independent categories",
	Cells: Cells{
		Is: "the number of a level", Are: "levels", Levels: true,
		Wrong: func(x float64, levels int) bool { return !(x >= 0 && x < float64(levels)) || x != math.Trunc(x) },
	},
	Mixture:  true,
	Soft:     true,
	Drivers:  mixtures,
	Criteria: likelihoods,
	MaxIter:  1000,
	Missing:  []string{Model, Refuse},
	Family:   func(v Variables) family.Family { return family.Categorical{Levels: v.Levels} },
	Location: Location{
		Key: "probabilities", Array: "probabilities", Plural: "likeliest levels", Told: Probability, Highest: 1, Range: "from 0 to 1",
		Events: rarer,
		Edge:   "probability", EdgeNoun: "answer", Certain: "(almost) certain within a %s; that is normal",
		Draw: func(x, p []float64, levels []int, rng *rand.Rand) {
			for j := range x {
				x[j] = float64(Pick(p[:levels[j]], rng))
				p = p[levels[j]:]
			}
		},
	},
}

// Pick draws the index of one of the probabilities p, which add to 1 but for rounding: never one of 0.
func Pick(p []float64, rng *rand.Rand) int {
	total := 0.0
	for _, v := range p {
		total += v
	}
	u, at := rng.Float64()*total, 0
	for i, v := range p {
		if v == 0 {
			continue
		}
		if at = i; u < v {
			break
		}
		u -= v
	}
	return at
}
