package plan

import (
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// Spec is latent.Spec, which says what each field means. The two have the same fields, so that one converts to the other.
type Spec struct {
	Model      string       `json:"model,omitempty"`
	Emission   string       `json:"emission,omitempty"`
	K          int          `json:"k,omitempty"`
	KRange     [2]int       `json:"k_range,omitzero"`
	Covariance string       `json:"covariance,omitempty"`
	Dof        string       `json:"dof,omitempty"`
	Criterion  string       `json:"criterion,omitempty"`
	Algorithm  string       `json:"algorithm,omitempty"`
	Beta       []float64    `json:"beta,omitempty"`
	BetaSteps  int          `json:"beta_steps,omitempty"`
	BatchSize  int          `json:"batch_size,omitempty"`
	Penalty    *float64     `json:"penalty,omitempty"`
	Binarize   *float64     `json:"binarize,omitempty"`
	Noise      string       `json:"noise,omitempty"`
	Weights    string       `json:"weights,omitempty"`
	Init       string       `json:"init,omitempty"`
	NInit      int          `json:"n_init,omitempty"`
	MaxIter    *int         `json:"max_iter,omitempty"`
	Tol        *float64     `json:"tol,omitempty"`
	TolLogLik  float64      `json:"tol_loglik,omitempty"`
	TolShift   float64      `json:"tol_shift,omitempty"`
	Seed       *uint64      `json:"seed,omitempty"`
	RegCovar   float64      `json:"reg_covar,omitempty"`
	Prior      *model.Prior `json:"prior,omitempty"`
	Missing    string       `json:"missing,omitempty"`
	Scale      string       `json:"scale,omitempty"`
	Transform  string       `json:"transform,omitempty"`
	PCA        int          `json:"pca,omitempty"`
	Merge      string       `json:"merge,omitempty"`
	Bootstrap  int          `json:"bootstrap,omitempty"`
	LRT        int          `json:"lrt,omitempty"`
	AllowLong  bool         `json:"allow_long,omitempty"`
	KeepSums   bool         `json:"keep_sums,omitempty"`
	Columns    []string     `json:"column_names,omitempty"`
	Threads    int          `json:"threads,omitempty"`
	Types      []data.Type  `json:"-"`
	Levels     [][]string   `json:"-"`
	Labels     []int32      `json:"-"`
	Given      *model.Model `json:"-"`
	Centers    [][]float64  `json:"-"`

	Concentration *float64 `json:"concentration,omitempty"`
}
