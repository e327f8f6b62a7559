package kind

import "github.com/latent-go/latent/internal/family"

// KMeans is k-means: centres that cost squared distances.
var KMeans = &Kind{
	Name:     "kmeans",
	Title:    "k-means",
	Phrase:   "k-means",
	Cells:    numbers,
	Squared:  true,
	Drivers:  []string{"auto", "lloyd", "breathing", "exact", "minibatch"},
	Criteria: []string{"silhouette", "gap", "elbow"},
	MaxIter:  300,
	Missing:  []string{Refuse, Model},
	Family:   func(v Variables) family.Family { return family.KMeans{Gaps: v.Gaps} },
	Location: Location{Key: "centers", Array: "cluster_centers_", Plural: "centres", Told: Mean},
	Cost:     Cost{Name: "inertia", Of: "the squared distances"},
}
