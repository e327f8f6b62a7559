package latent

import (
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/model"
)

// Spec says what to fit and how. The zero value of every field means its default, so Spec{K: 3} is a full Gaussian
// mixture of three components. Pointers tell a given 0 from no value; new(0.0) makes one. The JSON keys are the flags
// of the command with _ for -, but for k_range, which -k takes too, and column_names, which the command finds in the file.
type Spec struct {
	// Model is the kind of model, by the name that the command's --model has for it: "gmm" (the default), "kmeans" and others.
	Model string `json:"model,omitempty"`
	// Emission, with Model "hmm", a hidden Markov model, is the kind of model of the rows of a state, by the name that Model has for it: "gmm" (the
	// default) or another mixture. The rows are those of the sequences that data.Block.Sequence tells; without that all are one sequence. Options
	// that are of a kind of model are then those of the emission.
	Emission string `json:"emission,omitempty"`
	// K is the number of components. Without it, KRange and Penalty, that of a mixture is chosen from 1 to 9.
	K int `json:"k,omitempty"`
	// KRange, in place of K, is the lowest and the highest number of components to choose from.
	KRange [2]int `json:"k_range,omitzero"`
	// Covariance is the shape of the covariances of a Gaussian mixture, by name or mclust's code: "full" (the default,
	// VVV), "tied" (EEE), "diag" (VVI), "spherical" (VII), "tied-diag" (EEI), "tied-spherical" (EII), and those that share a
	// part of volume, shape and axes: "tied-shape-diag" (VEI), "tied-volume-diag" (EVI), "tied-shape-axes" (VEE),
	// "tied-volume-axes" (EVE), "tied-axes" (VVE), "tied-volume-shape" (EEV), "tied-shape" (VEV), "tied-volume" (EVV).
	// Several, separated by commas, or "all" are chosen from; so are all that are affordable where K, KRange and
	// Covariance are all left out.
	Covariance string `json:"covariance,omitempty"`
	// Dof, with Model "t", is the degrees of freedom: "auto" (the default: each component its own), "tied" (one for all) or a
	// number above 0, at most a million. Those that are fitted are between 1 and 1000; at 1000 a component counts as Gaussian.
	Dof string `json:"dof,omitempty"`
	// Criterion is what K and Covariance are chosen by, where they are: "bic" (the default for mixtures), "aic", "icl", or
	// "silhouette" (the default for kmeans and kmedians; of many rows a sample that has rows of every group), or for kmeans "gap" (the gap
	// statistic; reference sets have at most 4,000 rows) or "elbow" (inertia + λk).
	Criterion string `json:"criterion,omitempty"`
	// Algorithm is the driver. For mixtures: "auto" (the default: "em-lbfgs", or "em" where RegCovar is set), "em",
	// "em-lbfgs", "hard-em", "anti-annealing", "squarem", "bfgs", "lbfgs", "ecg"; for "gmm" also "vb", variational Bayes, which finds a
	// distribution of the parameters and how many of K components (10 by default) are in use. For kmeans and kmedians: "auto" (the
	// default), "lloyd", "exact" (one column only), and for kmeans "breathing", which goes on where "lloyd" ends, and
	// "minibatch". Auto is exact on one column, breathing for kmeans elsewhere, and lloyd for kmedians, from a given start, and
	// with MaxIter or TolShift.
	Algorithm string `json:"algorithm,omitempty"`
	// Beta is the schedule of inverse temperatures of anti-annealing, .2 .4 .6 .8 1 1.2 1 by default; the last is 1.
	Beta []float64 `json:"beta,omitempty"`
	// BetaSteps is the number of EM steps at each temperature; 0 means until settled, at most 100.
	BetaSteps int `json:"beta_steps,omitempty"`
	// BatchSize is the number of rows a mini-batch draws, 1024 by default.
	BatchSize int `json:"batch_size,omitempty"`
	// Penalty, with Model "kmeans", is the price of a cluster in squared distance: DP-means, which finds K.
	Penalty *float64 `json:"penalty,omitempty"`
	// Binarize turns numbers into bits: 1 above this threshold, else 0. It is kept in the model.
	Binarize *float64 `json:"binarize,omitempty"`
	// Noise adds one more component to a Gaussian mixture, of constant density: rows that lie anywhere, whose label is -1, or 0 in files. It is
	// "auto", by which its volume is that of the smallest box of the rows, along the columns or along the principal axes of the standardised
	// columns, or the volume as a number: in the units of the columns, of principal components in those of the components, of columns on other
	// scales on these. Weights are learned.
	Noise string `json:"noise,omitempty"`
	// Weights is "learned" (the default) or "uniform", and with Algorithm "vb" "learned", under a Dirichlet prior, or "process", under a
	// truncated stick-breaking prior.
	Weights string `json:"weights,omitempty"`
	// Init is how starts are chosen: "auto" (the default, below), "k-means++", "random", "kmeans", "whitened" (kmeans with
	// distances by the covariance of all rows, which no linear map of the columns changes), "small-em", "mixed", or one given
	// start: "labels" with Labels, "model" with Given, "centers" with Centers.
	//
	// For a mixture "auto" is "mixed", and after the starts components are split and merged as long as that leads higher; with an
	// Algorithm, with NInit 1 and with RegCovar it is "kmeans" and nothing after it. For kmeans it is greedy k-means++.
	//
	// On 20,000 rows and more a single start of a Gaussian or t mixture, given or by NInit 1, is split and merged once on samples of the rows before it climbs
	// on all of them, unless an Algorithm is named.
	Init string `json:"init,omitempty"`
	// NInit is the number of starts: 0 means 10 on up to 10,000 rows (5 where each is the best of several tries) and 3
	// beyond, with "breathing" 2 on up to 1,000 rows where K is above 3 and else 1, for kmeans on up to 10,000 rows with missing
	// cells as many as read 200,000 rows, from 10 to 200, for hmm up to 45 more on few rows, and 1 where nothing is random. It can be at most
	// MaxStarts. With a Prior a mixture of numbers has as many again on up to 10,000 rows, where Algorithm and Init are left out and NInit is not 1.
	NInit int `json:"n_init,omitempty"`
	// MaxIter is the number of steps allowed: 1000 by default, 300 for kmeans and
	// kmedians, 20,000 with Penalty, where each opens one cluster at most. 0 evaluates the start.
	MaxIter *int `json:"max_iter,omitempty"`
	// Tol is the estimated distance from the optimum to stop at, in standard errors: 0.01 by default; 0 goes on to
	// MaxIter or a fixed point. K-means and hard EM go on until no label changes.
	Tol *float64 `json:"tol,omitempty"`
	// TolLogLik, where positive, stops a mixture instead when the mean log-likelihood changes by less, as scikit-learn
	// does. It exists for comparison: it stops too early.
	TolLogLik float64 `json:"tol_loglik,omitempty"`
	// TolShift, where positive, stops k-means instead after a step in which the squared moves of the centres added up to at
	// most this.
	TolShift float64 `json:"tol_shift,omitempty"`
	// Seed starts the random numbers: 1 by default.
	Seed *uint64 `json:"seed,omitempty"`
	// RegCovar is added to every variance by the M-step, as scikit-learn does. Above 0 nothing is climbed, and the
	// result carries no distance.
	RegCovar float64 `json:"reg_covar,omitempty"`
	// Prior, where not nil, is a conjugate prior of the parameters: the log posterior is climbed in place of the log-likelihood, so that no
	// component collapses. Fits are compared by their log-likelihoods all the same. &Prior{} is the default prior.
	Prior *Prior `json:"prior,omitempty"`
	// Missing says what a missing cell is, which is NaN in the rows: with "model", the default of mixtures, the fit is the best for the
	// cells that are there; with "error" rows must be complete. For kmeans "error" is the default, and "model" takes distances over the
	// cells that are there. For kmedians rows must be complete.
	Missing string `json:"missing,omitempty"`
	// Scale is "none" (the default), "standard" (mean 0, standard deviation 1) or "robust" (median 0, interquartile
	// range 1; beyond 50,000 rows those of a random sample). It is kept in the model; results are in the user's units.
	Scale string `json:"scale,omitempty"`
	// Transform puts columns on other scales before all else, "log:price,area; log1p:visits; sqrt:n; logit:rate; date:when; geo:lat,lon":
	// logarithms, log(1 + x), roots and log(x / (1 - x)) of numbers; days since the first for dates, whose cells are days since 1970-01-01 (dmy and mdy are date here);
	// the point of the unit sphere for a latitude and a longitude in degrees. They are kept in the model. Log-likelihoods are in the
	// user's units, except that of places it is the density of the three coordinates, and of roots at 0 that on the scale of the root. Means
	// are told by the inverse: exp(mean) for a logarithm, the median of the group. Covariances and distances are those on the new scales.
	Transform string `json:"transform,omitempty"`
	// PCA, where positive, replaces the rows, scaled or not, by that many of their principal components. They are kept in
	// the model. Log-likelihoods are those of the components; means are in the user's units.
	PCA int `json:"pca,omitempty"`
	// Merge says which components of a mixture make one cluster, after the fit: "overlap" (Hennig 2010), with the share from which two overlap after
	// a colon, "overlap:0.025" by default; or "entropy" (Baudry and others 2010), with the number of clusters after a colon where it is not to be
	// found: "entropy:3". The density, and all numbers that judge the fit, stay as they are; labels become those of clusters. See Merge.
	Merge string `json:"merge,omitempty"`
	// Bootstrap, where positive, is how many times the fit, with the choice where there is one, is repeated on resampled rows
	// to tell how stable its groups are; at most MaxReplicates.
	Bootstrap int `json:"bootstrap,omitempty"`
	// LRT, where positive, is how many samples of the fitted mixture its likelihood-ratio test against one more component
	// takes, at most MaxReplicates.
	LRT int `json:"lrt,omitempty"`
	// AllowLong fits what is refused because it would take long by its estimate: many parameters for the table, as whole
	// covariance matrices on hundreds of columns, or thousands of groups.
	AllowLong bool `json:"allow_long,omitempty"`
	// KeepSums keeps in the model the sums that a last pass gathers of the rows, by which Update goes on with other rows. Medians have
	// none, and with Penalty new rows could open groups.
	KeepSums bool `json:"keep_sums,omitempty"`
	// Columns are the names of the source's columns; without them they are called "1" to "d".
	Columns []string `json:"column_names,omitempty"`
	// Threads is the number of threads, at most MaxThreads: 0 means all cores. It changes no result.
	Threads int `json:"threads,omitempty"`

	// Types, with Model "mixed", says what each column holds: numbers, categories or counts.
	Types []data.Type `json:"-"`
	// Levels, with a Model of levels, holds the names of each column's levels, with Model "mixed" nil for other columns. The source's
	// cells are indexes into them, from 0.
	Levels [][]string `json:"-"`
	// Labels, with Init "labels", holds a label from 0 to K-1 for each row of the source.
	Labels []int32 `json:"-"`
	// Given, with Init "model", is the model to start from. Its columns are met by name where Columns and the model have
	// names, else by position; its levels always are met by name.
	Given *model.Model `json:"-"`
	// Centers, with Init "centers", holds K rows in the user's units, with the columns of the data in order.
	Centers [][]float64 `json:"-"`

	// Concentration is the parameter of the prior of the weights with Algorithm "vb": 1/K by default. The smaller, the fewer components
	// stay in use.
	Concentration *float64 `json:"concentration,omitempty"`
}

// The most that a Spec may ask for. Each bound is far beyond what anybody has a use for, and far below what would exhaust
// memory before any work is done.
const (
	MaxStarts     = plan.MaxStarts     // of NInit
	MaxReplicates = plan.MaxReplicates // of Bootstrap and of LRT
	MaxThreads    = plan.MaxThreads    // of Threads
	MaxCandidates = plan.MaxCandidates // numbers of groups times covariance shapes that one choice may be from
)

// Validate returns a *SpecError for the first field that cannot be used, or would be ignored.
func (s *Spec) Validate() error {
	_, err := plan.New(plan.Spec(*s))
	return err
}

// ValidateOne is Validate for what fits one K and one covariance shape, as Compare does.
func (s *Spec) ValidateOne() error {
	_, err := plan.NewOne(plan.Spec(*s))
	return err
}

// Chooses reports whether the spec leaves a choice of K or of the covariance shape, so that several candidates are fitted. A spec that
// cannot be used leaves none.
func (s *Spec) Chooses() bool {
	p, err := plan.New(plan.Spec(*s))
	return err == nil && p.Chooses()
}
