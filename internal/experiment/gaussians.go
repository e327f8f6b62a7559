package experiment

import (
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
)

// cluster is a group of rows to be drawn: n from a normal distribution in two columns with one variance.
type cluster struct {
	n        int
	x, y     float64
	variance float64
}

// The generated tables. A small cluster lies on the shoulder of a large one, as in the paper, whose own numbers are in a
// part of it that this project could not read.
var (
	twoGaussians  = []cluster{{7995, 0, 0, 1}, {205, 2.2, 1, 0.3}}
	fourGaussians = []cluster{{7200, 0, 0, 1}, {400, 2.5, 1, 0.3}, {240, -2, 2, 0.4}, {160, 1, -3, 0.3}}
)

// drawn returns the rows of the clusters, shuffled, with their labels.
func drawn(clusters []cluster, seed uint64) (*data.Table, []int) {
	rng := rng.Gaussians.New(seed)
	t := &data.Table{D: 2}
	var label []int
	for c, g := range clusters {
		sd := math.Sqrt(g.variance)
		for range g.n {
			t.F64 = append(t.F64, g.x+sd*rng.NormFloat64(), g.y+sd*rng.NormFloat64())
			label = append(label, c)
		}
	}
	t.N = len(label)
	rng.Shuffle(t.N, func(i, j int) {
		label[i], label[j] = label[j], label[i]
		for l := range 2 {
			t.F64[2*i+l], t.F64[2*j+l] = t.F64[2*j+l], t.F64[2*i+l]
		}
	})
	return t, label
}

// truth returns the mixture that the clusters are drawn from.
func truth(clusters []cluster) *Truth {
	n := 0
	for _, g := range clusters {
		n += g.n
	}
	var w []float64
	var means, covs [][]float64
	for _, g := range clusters {
		w = append(w, float64(g.n)/float64(n))
		means = append(means, []float64{g.x, g.y})
		covs = append(covs, []float64{g.variance, 0, 0, g.variance})
	}
	return newTruth(w, means, covs)
}
