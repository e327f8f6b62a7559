package kind

import (
	"slices"

	"github.com/latent-go/latent/internal/family"
)

// mixtures are the drivers of mixtures, climbers those that climb the log-likelihood, and likelihoods what their number of components is chosen by.
var (
	mixtures    = []string{"auto", "em", "em-lbfgs", "hard-em", "anti-annealing", "squarem", "bfgs", "lbfgs", "ecg"}
	climbers    = []string{"auto", "em", "em-lbfgs", "anti-annealing", "squarem", "bfgs", "lbfgs", "ecg"}
	likelihoods = []string{"bic", "aic", "icl"}
)

// numbers are cells that hold any finite number.
var numbers = Cells{Is: "a number", Are: "numbers", Units: true}

// Gaussian is the mixture of Gaussians.
var Gaussian = &Kind{
	Name:     "gmm",
	Title:    "Gaussian mixture",
	Phrase:   "a Gaussian mixture",
	Cells:    numbers,
	Mixture:  true,
	Shaped:   true,
	Factors:  true,
	Noise:    true,
	Scales:   "covariances",
	Drivers:  append(slices.Clone(mixtures), "vb"),
	Criteria: append(likelihoods, "silhouette"),
	MaxIter:  1000,
	Missing:  []string{Model, Refuse},
	Family: func(v Variables) family.Family {
		if v.Shape.Factors() > 0 {
			return family.FactorsOf(v.Shape, v.Var, v.Gaps)
		}
		if v.Shape.Parsimonious() {
			return family.Parsimonious{Shape: v.Shape, Var: v.Var, RegCovar: v.RegCovar, Gaps: v.Gaps}
		}
		return family.Gaussian{Shape: v.Shape, Var: v.Var, RegCovar: v.RegCovar, Gaps: v.Gaps}
	},
	Location: Location{Key: "means", Array: "means_", Plural: "means", Told: Mean},
}
