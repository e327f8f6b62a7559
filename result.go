package latent

import (
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/score"
)

// Result is a finished fit. Its JSON is what the command prints with --json.
type Result struct {
	Data       string     `json:"data,omitempty"` // the name of the data, where known
	Model      string     `json:"model"`
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
	PCA        *PCA       `json:"pca,omitempty"` // what --pca kept of the rows; nil without it

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

	Certificate    Certificate     `json:"certificate"`
	StandardErrors *StandardErrors `json:"standard_errors,omitempty"` // of the parameters of a mixture
	Starts         Starts          `json:"starts"`
	Components     []Component     `json:"components"`
	Truth          *Truth          `json:"truth,omitempty"`
	Choice         *Choice         `json:"choice,omitempty"`     // where K or the covariance shape was chosen: how
	Candidates     []Candidate     `json:"candidates,omitempty"` // and from what, the fewest components first
	Stability      *Stability      `json:"stability,omitempty"`  // with Spec.Bootstrap
	LRT            *LRT            `json:"lrt,omitempty"`        // with Spec.LRT
	Warnings       []string        `json:"warnings"`
	Version        string          `json:"version"`

	Fitted *Model        `json:"-"` // the model
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

// Certificate says how far from the optimum the parameters are estimated to be.
type Certificate struct {
	DistanceSE *float64 `json:"distance_se"`              // standard errors, a bound where Whole is true and else an estimate; nil where it is not known
	Remaining  *float64 `json:"remaining_log_likelihood"` // nats
	Method     *string  `json:"method"`                   // "information": from the observed information; "lower bound": from it, but cut short; "estimate": the driver's own
	Curvature  *float64 `json:"smallest_curvature"`
	Whole      bool     `json:"all_directions,omitempty"` // every direction was looked at: Curvature is the smallest, to 0.0001; else the smallest that was met
	Saddles    int      `json:"saddles_escaped"`          // saddles that the winning climb met and left
	Why        string   `json:"why,omitempty"`            // why the distance is not known
	OnEdge     []string `json:"on_edge"`                  // parameters that sit on a floor
}

// Starts says how the starts compare.
type Starts struct {
	N              int       `json:"n"`
	DistinctOptima int       `json:"distinct_optima"`
	Outraced       int       `json:"outraced"` // starts that were stopped when they could no longer win
	AgreeWithBest  int       `json:"agree_with_best"`
	DrawnFrom      int64     `json:"drawn_from,omitempty"` // rows that starts were drawn from: all, or a sample where there are many
	Moves          *Moves    `json:"moves,omitempty"`      // splitting and merging after the starts; nil where that was not asked for
	Objectives     []float64 `json:"objectives"`           // free energy each start reached, in the user's units; minus the cost for kmeans and kmedians
}

// Component is one group, in the user's units.
type Component struct {
	Label       int       `json:"label"` // from 1, the heaviest first
	Rows        int64     `json:"rows"`  // rows that carry the label
	Weight      float64   `json:"weight"`
	Mean        []float64 `json:"mean,omitempty"`        // gmm, kmeans
	Covariance  any       `json:"covariance,omitempty"`  // gmm: a matrix, d variances or one number; after --pca that of the components
	Median      []float64 `json:"median,omitempty"`      // kmedians
	Probability any       `json:"probability,omitempty"` // bernoulli: d numbers; categorical: for each column one a level
	AtFloor     bool      `json:"at_floor"`
}

// Truth is the agreement of the labels with a column that was not fitted.
type Truth struct {
	ARI float64 `json:"ari"`
	NMI float64 `json:"nmi"`
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

func (t *tally) add(s *sweep.Scored) error {
	for i, c := range s.Label {
		w := s.Weight(i)
		t.rows[c]++
		if w == 0 {
			continue
		}
		t.sizes[c] += w
		t.logLik += w * s.Score[i]
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
