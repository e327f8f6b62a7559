package kind

import "github.com/latent-go/latent/internal/family"

// Student is the mixture of t distributions: Gaussian-like groups with heavier tails, of which rows far out move little.
var Student = &Kind{
	Name:     "t",
	Title:    "Student-t mixture",
	Phrase:   "a mixture of t distributions",
	Cells:    numbers,
	Mixture:  true,
	Shaped:   true,
	Scales:   "scales",
	Tails:    true,
	Drivers:  climbers,
	Criteria: append(likelihoods, "silhouette"),
	MaxIter:  1000,
	Missing:  []string{Model, Refuse},
	Family: func(v Variables) family.Family {
		return family.Student{Shape: v.Shape, Var: v.Var, RegCovar: v.RegCovar, Dof: v.Dof, Given: v.GivenDof, Gaps: v.Gaps}
	},
	Location: Location{Key: "means", Array: "means_", Plural: "locations", Told: Mean},
}
