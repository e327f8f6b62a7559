package latent

import (
	"cmp"
	"time"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/selection"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Result is a finished fit. Its JSON is what the command prints with --json.
type Result struct {
	Data       string          `json:"data,omitempty"` // the name of the data, where known
	Kind       string          `json:"model"`
	Emission   string          `json:"emission,omitempty"` // hmm: the kind of the components
	Covariance string          `json:"covariance,omitempty"`
	Mclust     string          `json:"mclust,omitempty"`
	K          int             `json:"k"`
	Rows       int64           `json:"n"` // rows of positive weight
	D          int             `json:"d"`
	Columns    []string        `json:"columns"`
	Variables  []string        `json:"variables,omitempty"`       // what covariances are of where columns were put on other scales: "log price"; of a mixed model those of its numbers
	Levels     [][]string      `json:"levels,omitempty"`          // names of the levels of each column of categories
	Types      []string        `json:"types,omitempty"`           // what the columns hold: number, category or count
	LeftOut    []model.LeftOut `json:"left_out"`                  // columns of the data that are no features, though nobody left them out
	Missing    model.Missing   `json:"missing"`                   // what the rows that were fitted lacked
	PCA        *model.PCA      `json:"pca,omitempty"`             // what --pca kept of the rows; nil without it
	ByHand     bool            `json:"written_by_hand,omitempty"` // of a model without provenance: nothing was fitted

	model.Course

	Seconds float64 `json:"seconds"`
	Timing  Timing  `json:"timing"`
	Threads int     `json:"threads"`

	LogLik     *float64 `json:"log_likelihood"` // in the user's units, nats, but that of the components where PCA keeps fewer than columns; nil for kmeans and kmedians
	MeanLogLik *float64 `json:"mean_log_likelihood"`
	BIC        *float64 `json:"bic"` // p ln n - 2 logL: lower is better
	AIC        *float64 `json:"aic"`
	ICL        *float64 `json:"icl"`
	Inertia    *float64 `json:"inertia"` // kmeans: weighted sum of squared distances; kmedians: of L1 distances

	Certificate    model.Certificate     `json:"certificate"`
	StandardErrors *model.StandardErrors `json:"standard_errors,omitempty"` // of the parameters of a mixture
	Components     []model.Component     `json:"components"`
	Noise          *model.ToldNoise      `json:"noise,omitempty"` // rows that lie anywhere; nil where no noise was fitted

	// Of a hidden Markov model: the sequences that were fitted, the probabilities of their first states, and for each state those of the next.
	Sequences   int64       `json:"sequences,omitempty"`
	Initial     []float64   `json:"initial,omitempty"`
	Transitions [][]float64 `json:"transitions,omitempty"`

	model.Findings

	// Posterior is what variational Bayes found, of all components that it was allowed; nil elsewhere. It is of the variables of the fit, as a
	// model file has it.
	Posterior *model.Posterior `json:"posterior,omitempty"`

	// Crosstab is the table of the groups, labels from 1, against the known classes. It is nil where none are known, or more than fit
	// score.MostCells, and where a model file tells the result.
	Crosstab *score.Crosstab[int] `json:"crosstab,omitempty"`

	Model  *model.Model  `json:"-"` // the model
	Reason ascent.Reason `json:"-"` // why the winning start stopped
	Start  int           `json:"-"` // the winning climb, as Progress numbers it; 0 where a model file tells the result
	// Order is for each component of the winning climb, in the order that Progress.Model has them, its index among Components. It is nil
	// where a model file tells the result, and of variational Bayes, whose model has the components in use alone.
	Order []int `json:"-"`
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

// newResult returns r as users see it, with the number of threads and the time that the fit took.
func newResult(r *search.Result, threads int, took time.Duration) *Result {
	t := Told(r.Model)
	t.Crosstab, t.Reason, t.Threads, t.Seconds = r.Crosstab, r.Reason, threads, took.Seconds()
	t.Start, t.Order = r.Start, r.Order
	t.Timing = Timing{Start: r.Timing.Start, Fit: r.Timing.Fit, Judge: r.Timing.Judge}
	if r.Model.Provenance.Stability != nil || r.Model.Provenance.LRT != nil {
		t.Timing.Repeat = t.Seconds - t.Timing.Start - t.Timing.Fit - t.Timing.Judge
	}
	return t
}

// ComponentKind returns the name of the kind of the components: Kind, and of a hidden Markov model Emission.
func (r *Result) ComponentKind() string { return cmp.Or(r.Emission, r.Kind) }

// Groups returns what rows of each label are like: the components or, in a merged model, its clusters, each with the weight, the mean, the covariance, the
// probabilities and the rates that its components have together.
func (r *Result) Groups() []model.Component {
	if r.Clusters == nil {
		return r.Components
	}
	pooled := r.Model.Pooled()
	all := make([]model.Component, r.Clusters.N)
	for g, list := range r.Model.Members() {
		all[g] = pooled.Component(g)
		if r.Clusters.Rows != nil {
			all[g].Rows = r.Clusters.Rows[g]
		}
		for _, c := range list {
			all[g].AtFloor = all[g].AtFloor || r.Components[c].AtFloor
		}
	}
	return all
}

// Ranked returns the candidates that could win, the best first. Of those that are the same model it has one.
func (r *Result) Ranked() []model.Candidate {
	if r.Choice == nil {
		return nil
	}
	return selection.Ranked(plan.Criterion(r.Choice.Criterion), r.Candidates, r.K)
}

// Pruned returns how many candidates were stopped because what they could still gain would not make them the best.
func (r *Result) Pruned() (n int) {
	for _, x := range r.Candidates {
		if x.Pruned {
			n++
		}
	}
	return n
}
