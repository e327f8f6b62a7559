package kind

import "github.com/latent-go/latent/internal/family"

// KMedians is K-medians: centres that cost L1 distances.
var KMedians = &Kind{
	Name:     "kmedians",
	Title:    "K-medians",
	Phrase:   "K-medians",
	Cells:    numbers,
	Drivers:  []string{"auto", "lloyd", "exact"},
	Criteria: []string{"silhouette"},
	MaxIter:  300,
	Missing:  []string{Refuse},
	Family:   func(Variables) family.Family { return family.KMedians{} },
	Location: Location{Key: "centers", Array: "cluster_centers_", Plural: "medians", Told: Median},
	Cost:     Cost{Name: "cost", Of: "the L1 distances"},
}
