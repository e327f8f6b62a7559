package model

// Stability says what becomes of the result when the rows are drawn again: the fit, with the whole choice where there is
// one, is repeated on bootstrap samples, and the models found label all rows, drawn or not.
type Stability struct {
	Replicates  int    `json:"replicates"` // asked for
	Done        int    `json:"done"`       // that ended with a model: all below is of these
	Failed      int    `json:"failed"`     // that could not be fitted
	Why         string `json:"why,omitempty"`
	Interrupted bool   `json:"interrupted,omitempty"`

	// ARI is the mean agreement of a replicate's labels with those of the result (adjusted Rand index, 1: the same groups),
	// ARILow the value that 95 % of the replicates reach. Nil where none is done.
	ARI    *float64 `json:"ari"`
	ARILow *float64 `json:"ari_low"`

	Groups  []GroupStability `json:"groups"`            // those of the result, in order
	Choices []ChosenTimes    `json:"choices,omitempty"` // what replicates chose, the most frequent first; where K is given, nil
}

// GroupStability is the stability of one group of the result.
type GroupStability struct {
	Label int `json:"label"`
	// Jaccard is the mean over replicates of the largest Jaccard similarity of the group with one of the replicate's: rows in
	// both over rows in either (Hennig 2007; clusterboot of R's fpc, which looks at the rows drawn only).
	Jaccard float64 `json:"jaccard"`
	// Consensus is the mean share of the pairs of the group's rows that a replicate puts together (Monti et al. 2003).
	Consensus float64 `json:"consensus"`
	Recovered int     `json:"recovered"` // replicates where the similarity is above 0.75
	Dissolved int     `json:"dissolved"` // replicates where it is 0.5 or less
	Reading   string  `json:"reading"`   // VeryStable, Stable, UnsureEdges or NotTrusted
}

// What a group is called by its similarity (Hennig 2007).
const (
	VeryStable  = "very stable"                 // from 0.85
	Stable      = "stable"                      // from 0.75
	UnsureEdges = "a pattern with unsure edges" // from 0.6
	NotTrusted  = "not to be trusted"
)

// ChosenTimes is how often replicates chose a number of groups and a shape.
type ChosenTimes struct {
	K          int    `json:"k"`
	Covariance string `json:"covariance,omitempty"`
	Mclust     string `json:"mclust,omitempty"`
	Times      int    `json:"times"`
}

// Times returns in how many replicates this number of groups was chosen, of whatever shape.
func (s *Stability) Times(k int) (n int) {
	for _, c := range s.Choices {
		if c.K == k {
			n += c.Times
		}
	}
	return n
}

// LRT is a test of the K components of a mixture against one more, by its likelihood ratio. That has no known distribution,
// since the smaller mixture lies on the edge of the larger one: it is found by fitting both to samples that are drawn from
// the smaller (McLachlan 1987; mclustBootstrapLRT of R's mclust).
type LRT struct {
	K       int `json:"k"`
	Against int `json:"against"` // K + 1
	// Statistic is twice what the larger mixture gains in log-likelihood, nats; nil where it could not be fitted, or only
	// with a component at the floor of variances, whose likelihood says nothing.
	Statistic *float64 `json:"statistic"`
	// P is the share of samples that reach the statistic, the rows themselves counted as one of them: (1 + reached) / (1 +
	// done). A small one speaks against K. It cannot be smaller than 1 / (1 + done).
	P           *float64 `json:"p"`
	Replicates  int      `json:"replicates"` // samples asked for
	Done        int      `json:"done"`
	Reached     int      `json:"reached"` // samples with a statistic as large or larger
	Failed      int      `json:"failed"`  // samples to which one of the two could not be fitted, or not off the floor
	Why         string   `json:"why,omitempty"`
	Interrupted bool     `json:"interrupted,omitempty"`
}
