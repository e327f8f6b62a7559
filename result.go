package latent

import (
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Result is a finished fit. Its JSON is what the command prints with --json.
type Result struct {
	Data       string     `json:"data,omitempty"` // the name of the data, where known
	Kind       string     `json:"model"`
	Covariance string     `json:"covariance,omitempty"`
	Mclust     string     `json:"mclust,omitempty"`
	K          int        `json:"k"`
	N          int64      `json:"n"`            // rows of positive weight
	Weight     float64    `json:"weight_total"` // sum of row weights
	D          int        `json:"d"`
	Columns    []string   `json:"columns"`
	ColumnSD   []float64  `json:"column_sd,omitempty"` // standard deviations of the columns over all rows, in the user's units; nil for bits and levels, and where no fit told them
	Levels     [][]string `json:"levels,omitempty"`    // categorical: names of each column's levels
	Dropped    int64      `json:"dropped_rows"`
	PCA        *model.PCA `json:"pca,omitempty"` // what --pca kept of the rows; nil without it

	Algorithm   string `json:"algorithm"`
	Why         string `json:"algorithm_why,omitempty"` // why it was chosen, where that was left to the fit
	Init        string `json:"init"`
	Seed        uint64 `json:"seed"`
	Converged   bool   `json:"converged"`
	Interrupted bool   `json:"interrupted,omitempty"`
	ByHand      bool   `json:"written_by_hand,omitempty"` // of a model without provenance: nothing was fitted
	Iterations  int    `json:"iterations"`                // accepted steps of the winning start
	Sweeps      int    `json:"sweeps"`                    // passes of the winning start
	SweepsTotal int    `json:"sweeps_total"`              // passes of all starts
	Moves       int    `json:"moves_kept,omitempty"`      // breathing: moves that the winning start kept

	Seconds float64 `json:"seconds"`
	Timing  Timing  `json:"timing"`
	Threads int     `json:"threads"`

	LogLik     *float64 `json:"log_likelihood"` // in the user's units, nats, but that of the components where PCA keeps fewer than columns; nil for kmeans and kmedians
	MeanLogLik *float64 `json:"mean_log_likelihood"`
	Free       int      `json:"free_parameters"`
	BIC        *float64 `json:"bic"` // p ln n - 2 logL: lower is better
	AIC        *float64 `json:"aic"`
	ICL        *float64 `json:"icl"`
	Inertia    *float64 `json:"inertia"`             // kmeans: weighted sum of squared distances; kmedians: of L1 distances
	Penalty    *float64 `json:"penalty,omitempty"`   // DP-means: the price of a cluster
	Objective  *float64 `json:"objective,omitempty"` // DP-means: inertia + penalty k

	Certificate    model.Certificate     `json:"certificate"`
	StandardErrors *model.StandardErrors `json:"standard_errors,omitempty"` // of the parameters of a mixture
	Starts         model.Starts          `json:"starts"`
	Components     []model.Component     `json:"components"`
	Truth          *model.Truth          `json:"truth,omitempty"`
	Choice         *model.Choice         `json:"choice,omitempty"`     // where K or the covariance shape was chosen: how
	Candidates     []model.Candidate     `json:"candidates,omitempty"` // and from what, the fewest components first
	Stability      *model.Stability      `json:"stability,omitempty"`  // with Spec.Bootstrap
	LRT            *model.LRT            `json:"lrt,omitempty"`        // with Spec.LRT
	Warnings       []string              `json:"warnings"`
	Version        string                `json:"version"`

	Model  *model.Model  `json:"-"` // the model
	Reason ascent.Reason `json:"-"` // why the winning start stopped
}

// Timing is where the seconds went.
type Timing struct {
	Read   float64 `json:"read"`
	Start  float64 `json:"start"`
	Fit    float64 `json:"fit"`   // climbing, the certificate included
	Judge  float64 `json:"judge"` // labels, criteria and standard errors of the end
	Write  float64 `json:"write"`
	Repeat float64 `json:"repeat,omitempty"` // replicates of Spec.Bootstrap and Spec.LRT
}

// tally gathers from the rows what the result reports: it is fed in row order.
type tally struct {
	rows            []int64
	sizes           []float64
	logLik, entropy float64
	best            float64
	agreement       *score.Agreement[int32, string] // nil without a truth column
	unknown         int64                           // rows without a value in it
}

func (t *tally) add(s *model.Scored) error {
	for i, c := range s.Label {
		w := s.Weight(i)
		t.rows[c]++
		if w == 0 {
			continue
		}
		t.sizes[c] += w
		t.logLik += w * s.LogDensity[i]
		t.best += w * s.Best[i]
		t.entropy += w * s.Entropy[i]
		if s.Truth != nil {
			if t.agreement == nil {
				t.agreement = new(score.Agreement[int32, string])
			}
			if s.Truth[i] == "" {
				t.unknown++
			}
			if err := t.agreement.Add(c, s.Truth[i], w); err != nil {
				return err
			}
		}
	}
	return nil
}
