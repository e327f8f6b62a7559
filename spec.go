package latent

import (
	"fmt"
	"math"
	"runtime"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
)

// Spec says what to fit and how. The zero value of every field means its default, so Spec{K: 3} is a full Gaussian
// mixture of three components. Pointers tell a given 0 from no value; new(0.0) makes one. The JSON keys are the flags
// of the command with _ for -, but for k_range, which -k takes too, and column_names, which the command finds in the file.
type Spec struct {
	// Model is "gmm" (the default), "bernoulli" (columns of bits), "categorical" (columns of levels), "kmeans" or
	// "kmedians".
	Model string `json:"model,omitempty"`
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
	// Criterion is what K and Covariance are chosen by, where they are: "bic" (the default for mixtures), "aic", "icl", or
	// "silhouette" (the default for kmeans and kmedians; of many rows a sample that has rows of every group), or for kmeans "gap" (the gap
	// statistic; reference sets have at most 4,000 rows) or "elbow" (inertia + λk).
	Criterion string `json:"criterion,omitempty"`
	// Algorithm is the driver. For mixtures: "auto" (the default: "em-lbfgs", or "em" where RegCovar is set), "em",
	// "em-lbfgs", "hard-em", "anti-annealing", "squarem", "bfgs", "lbfgs", "ecg". For kmeans and kmedians: "auto" (the
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
	// Weights is "learned" (the default) or "uniform".
	Weights string `json:"weights,omitempty"`
	// Init is how starts are chosen: "auto" (the default, below), "k-means++", "random", "kmeans", "whitened" (kmeans with
	// distances by the covariance of all rows, which no linear map of the columns changes), "small-em", "mixed", or one given
	// start: "labels" with Labels, "model" with Given, "centers" with Centers.
	//
	// For a mixture "auto" is "mixed", and after the starts components are split and merged as long as that leads higher; with an
	// Algorithm, with NInit 1 and with RegCovar it is "kmeans" and nothing after it. For kmeans it is greedy k-means++.
	Init string `json:"init,omitempty"`
	// NInit is the number of starts: 0 means 10 on up to 10,000 rows (5 where each is the best of several tries) and 3
	// beyond, with "breathing" 2 on up to 1,000 rows where K is above 3 and else 1, and 1 where nothing is random. It can be at
	// most MaxStarts.
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
	// Scale is "none" (the default), "standard" (mean 0, standard deviation 1) or "robust" (median 0, interquartile
	// range 1; beyond 50,000 rows those of a random sample). It is kept in the model; results are in the user's units.
	Scale string `json:"scale,omitempty"`
	// PCA, where positive, replaces the rows, scaled or not, by that many of their principal components. They are kept in
	// the model. Log-likelihoods are those of the components; means are in the user's units.
	PCA int `json:"pca,omitempty"`
	// Bootstrap, where positive, is how many times the fit, with the choice where there is one, is repeated on resampled rows
	// to tell how stable its groups are; at most MaxReplicates.
	Bootstrap int `json:"bootstrap,omitempty"`
	// LRT, where positive, is how many samples of the fitted mixture its likelihood-ratio test against one more component
	// takes, at most MaxReplicates.
	LRT int `json:"lrt,omitempty"`
	// AllowLong fits what is refused because it would take long by its estimate: many parameters for the table, as whole
	// covariance matrices on hundreds of columns, or thousands of groups.
	AllowLong bool `json:"allow_long,omitempty"`
	// Columns are the names of the source's columns; without them they are called "1" to "d".
	Columns []string `json:"column_names,omitempty"`
	// Threads is the number of threads, at most MaxThreads: 0 means all cores. It changes no result.
	Threads int `json:"threads,omitempty"`

	// Levels, with Model "categorical", holds the names of each column's levels. The source's cells are indexes into
	// them, from 0.
	Levels [][]string `json:"-"`
	// Labels, with Init "labels", holds a label from 0 to K-1 for each row of the source.
	Labels []int32 `json:"-"`
	// Given, with Init "model", is the model to start from. Its columns are met by name where Columns and the model have
	// names, else by position; its levels always are met by name.
	Given *model.Model `json:"-"`
	// Centers, with Init "centers", holds K rows in the user's units, with the columns of the data in order.
	Centers [][]float64 `json:"-"`
	// Watch, where set, is called with every step of every start, from one goroutine at a time. Of a choice it sees the
	// winner alone, whose climbs are then repeated.
	Watch func(Progress) `json:"-"`
	// Tried, where set, is called with every candidate of a choice when it is done, and again when it has started from its
	// neighbours, from one goroutine at a time and in no certain order. done and of count fits, not candidates: of grows when some
	// are fitted again.
	Tried func(done, of int, c model.Candidate) `json:"-"`
	// Repeated, where set, is called when a replicate of Bootstrap or a sample of LRT is done, from one goroutine at a time.
	Repeated func(done, of int) `json:"-"`

	oneUnit   bool // of a candidate among others that depend on the units of the columns
	replicate bool // of a fit that is repeated: only the model is wanted, and rows are resampled
}

// with returns the spec for another algorithm of the same model: a schedule of temperatures is for anti-annealing alone.
func (s Spec) with(algorithm string) Spec {
	s.Algorithm = algorithm
	if algorithm != "anti-annealing" {
		s.Beta, s.BetaSteps = nil, 0
	}
	return s
}

// SpecError is a field of a Spec that cannot be used. Field is the flag's name.
type SpecError struct {
	Field, Reason string
}

// Error names the field and says what is wrong and what is possible.
func (e *SpecError) Error() string {
	if e.Field == "k" {
		return "-k " + e.Reason
	}
	return "--" + e.Field + " " + e.Reason
}

func bad(field, format string, a ...any) error {
	return &SpecError{Field: field, Reason: fmt.Sprintf(format, a...)}
}

// oneOf checks a word against the words allowed; empty is allowed and means the first.
func oneOf(field, value string, words ...string) error {
	if value == "" || slices.Contains(words, value) {
		return nil
	}
	return bad(field, "%q is not known; choose one of %s", value, strings.Join(words, ", "))
}

// Validate reports the first field that cannot be used, or would be ignored.
func (s *Spec) Validate() error {
	if err := oneOf("model", s.Model, kind.Names()...); err != nil {
		return err
	}
	for _, check := range []error{
		s.validateK(),
		oneOf("algorithm", s.Algorithm, s.kind().Drivers...),
		oneOf("weights", s.Weights, "learned", "uniform"),
		oneOf("init", s.Init, "auto", "k-means++", "random", startKMeans, "whitened", "small-em", "mixed", "labels", "model", "centers"),
		oneOf("scale", s.Scale, "none", "standard", "robust"),
		s.validateNumbers(), s.validateLimits(), s.validateBeta(), s.validateModel(), s.validateStart(), s.validateRepeats(),
	} {
		if check != nil {
			return check
		}
	}
	return s.validateChoice()
}

// validateK wants a number of components, or the price that finds one.
func (s *Spec) validateK() error {
	switch {
	case s.Penalty != nil && !s.kind().Squared:
		return bad("penalty", "applies to %s only: DP-means", kind.KMeans.Name)
	case s.Penalty != nil && (!(*s.Penalty >= 0) || math.IsInf(*s.Penalty, 0)):
		return bad("penalty", "is %v; it must be a finite number that is not negative", *s.Penalty)
	case s.Penalty != nil && (s.K != 0 || s.KRange != [2]int{}):
		return bad("k", "is found by --penalty; give one of the two")
	case s.Penalty != nil && s.Algorithm != "" && s.Algorithm != "auto":
		return bad("algorithm", "%s does not find k; with --penalty it is DP-means", s.Algorithm)
	case s.Penalty != nil && !s.auto():
		return bad("init", "does not apply to --penalty, which starts from the overall mean")
	case s.Penalty != nil && s.NInit > 1:
		return bad("n-init", "is %d, but --penalty has one start, the overall mean", s.NInit)
	case s.Penalty != nil:
		return nil
	case s.K != 0 && s.KRange != [2]int{}:
		return bad("k", "is one number or a range; give one of the two")
	case s.K == 0 && s.KRange == [2]int{} && !s.mixture():
		return bad("k", "is needed: the number of groups, such as -k 3, or a range to choose from, such as -k 2:9")
	case s.KRange != [2]int{} && (s.KRange[0] < 1 || s.KRange[1] < s.KRange[0]):
		return bad("k", "cannot be %d:%d; a range goes from a lowest number, at least 1, to a highest", s.KRange[0], s.KRange[1])
	case s.K < 0:
		return bad("k", "is %d; it must be at least 1", s.K)
	}
	return nil
}

func (s *Spec) validateNumbers() error {
	switch {
	case s.NInit < 0:
		return bad("n-init", "is %d; it must be at least 1", s.NInit)
	case s.PCA < 0:
		return bad("pca", "is %d; it must be at least 1", s.PCA)
	case s.Threads < 0:
		return bad("threads", "is %d; it must be at least 1", s.Threads)
	case s.MaxIter != nil && *s.MaxIter < 0:
		return bad("max-iter", "is %d; it must not be negative", *s.MaxIter)
	}
	for _, v := range []struct {
		field string
		value float64
	}{{"tol", s.tol()}, {"tol-loglik", s.TolLogLik}, {"tol-shift", s.TolShift}, {"reg-covar", s.RegCovar}} {
		if !(v.value >= 0) || math.IsInf(v.value, 0) {
			return bad(v.field, "is %v; it must be a finite number that is not negative", v.value)
		}
	}
	return nil
}

// validateBeta checks the schedule of temperatures.
func (s *Spec) validateBeta() error {
	switch {
	case s.Algorithm != "anti-annealing" && s.Beta != nil:
		return bad("beta", "is a schedule for --algorithm anti-annealing")
	case s.Algorithm != "anti-annealing" && s.BetaSteps != 0:
		return bad("beta-steps", "applies to --algorithm anti-annealing only")
	case s.BetaSteps < 0:
		return bad("beta-steps", "is %d; it must not be negative", s.BetaSteps)
	case s.Beta == nil:
		return nil
	case len(s.Beta) == 0 || s.Beta[len(s.Beta)-1] != 1:
		return bad("beta", "must end at 1, where the free energy is the log-likelihood")
	}
	for _, b := range s.Beta {
		if !(b > 0) || math.IsInf(b, 0) {
			return bad("beta", "holds %v; an inverse temperature is a finite number above 0", b)
		}
	}
	return nil
}

// validateModel rejects what the model would ignore.
func (s *Spec) validateModel() error {
	k := s.kind()
	m := k.Name
	if !k.Shaped {
		switch {
		case s.Covariance != "":
			return bad("covariance", "does not apply to %s, whose components have no covariance; use --model %s", m, kind.Gaussian.Name)
		case s.RegCovar != 0:
			return bad("reg-covar", "does not apply to %s, whose components have no variance", m)
		}
	}
	switch {
	case s.Binarize != nil && !k.Cells.Bits:
		return bad("binarize", "makes bits for --model %s", kind.Bernoulli.Name)
	case s.Binarize != nil && (*s.Binarize-*s.Binarize != 0):
		return bad("binarize", "is %v; it must be a finite number", *s.Binarize)
	case s.scaled() && !k.Cells.Units:
		return bad("scale", "does not apply to %s: %s have no unit", m, k.Cells.Are)
	case s.PCA > 0 && !k.Cells.Units:
		return bad("pca", "does not apply to %s: %s have no directions", m, k.Cells.Are)
	case s.RegCovar > 0 && s.Algorithm != "" && s.Algorithm != "auto" && s.Algorithm != "em" && s.Algorithm != "hard-em":
		return bad("algorithm", "%s climbs the likelihood, which --reg-covar above 0 changes in every step; use em", s.Algorithm)
	case s.BatchSize < 0:
		return bad("batch-size", "is %d; it must be at least 1", s.BatchSize)
	case s.BatchSize > 0 && s.Algorithm != "minibatch":
		return bad("batch-size", "applies to --algorithm minibatch only")
	case s.Init == "whitened" && !k.Shaped:
		return bad("init", "whitened is a start for Gaussian mixtures: %s has no linear maps", m)
	case s.TolShift != 0 && !k.Mixture && !k.Squared:
		return bad("tol-shift", "does not apply to %s, which ends when no label changes", m)
	case s.TolShift != 0 && k.Mixture:
		return bad("tol-shift", "applies to %s only; use --tol", kind.KMeans.Name)
	case s.TolShift != 0 && (s.Penalty != nil || s.Algorithm == "breathing" || s.Algorithm == "minibatch" || s.Algorithm == "exact"):
		return bad("tol-shift", "applies to Lloyd's algorithm only")
	case s.Levels != nil && !k.Cells.Levels:
		return bad("levels", "are for --model %s", kind.Categorical.Name)
	case s.TolLogLik != 0 && s.Tol != nil:
		return bad("tol-loglik", "stops in place of --tol; give one of the two")
	case s.TolLogLik != 0 && s.Algorithm == "hard-em":
		return bad("tol-loglik", "does not apply to hard-em, which ends when no label changes")
	case s.mixture():
		return nil
	case s.TolLogLik != 0:
		return bad("tol-loglik", "does not apply to %s, which has no log-likelihood and ends when no label changes", m)
	case s.Weights != "":
		return bad("weights", "does not apply to %s, which has no mixing weights", m)
	case s.Init == startKMeans || s.Init == "small-em" || s.Init == "mixed" || s.Init == "whitened":
		return bad("init", "%s is a start for mixtures; %s itself starts from k-means++, random, labels, model or centers", s.Init, m)
	}
	return nil
}

func (s *Spec) validateStart() error {
	switch {
	case s.Algorithm == "exact" && !s.auto():
		return bad("init", "does not apply to exact, which needs no start")
	case s.Algorithm == "exact" && (s.NInit > 0 || s.MaxIter != nil):
		return bad("algorithm", "exact has neither starts nor steps: --n-init and --max-iter do not apply")
	}
	given := map[string]bool{"labels": s.Labels != nil, "model": s.Given != nil, "centers": s.Centers != nil}
	for _, name := range []string{"labels", "model", "centers"} {
		switch {
		case s.Init == name && !given[name]:
			return bad("init", "%s needs the %s to start from", name, name)
		case s.Init != name && given[name]:
			return bad("init", "must be %q for the given %s to be used", name, name)
		case s.Init == name && s.NInit > 1:
			return bad("n-init", "is %d, but a given start is one start", s.NInit)
		}
	}
	return nil
}

// kind returns the kind of model of a valid spec.
func (s *Spec) kind() *kind.Kind { return kind.Of(s.Model) }

// shape returns the covariance shape of a valid spec.
func (s *Spec) shape() family.Shape {
	if s.Covariance == "" {
		return family.Full
	}
	shape, _ := family.ParseShape(s.Covariance)
	return shape
}

func (s *Spec) threads() int {
	if s.Threads == 0 {
		return runtime.GOMAXPROCS(0)
	}
	return s.Threads
}

func (s *Spec) seed() uint64 {
	if s.Seed == nil {
		return 1
	}
	return *s.Seed
}

func (s *Spec) maxIter() int {
	switch {
	case s.MaxIter != nil:
		return *s.MaxIter
	case s.Penalty != nil:
		return penaltySteps
	}
	return s.kind().MaxIter
}

func (s *Spec) tol() float64 {
	if s.Tol == nil {
		return 0.01
	}
	return *s.Tol
}

// given reports whether the caller brought the start.
func (s *Spec) given() bool { return s.Init == "labels" || s.Init == "model" || s.Init == "centers" }

func (s *Spec) scaled() bool { return s.Scale != "" && s.Scale != "none" }

// hard reports whether every row belongs to one component while fitting.
func (s *Spec) hard() bool { return !s.mixture() || s.Algorithm == "hard-em" }

// mixture reports whether the model has a density.
func (s *Spec) mixture() bool { return s.kind().Mixture }

// medians reports whether centres are medians, which sums do not give: they need the rows in memory.
func (s *Spec) medians() bool { return !s.kind().Mixture && !s.kind().Squared }

// driver returns the name of the driver in use on d columns.
func (s *Spec) driver(d int) string {
	name, _ := s.choice(d)
	return name
}

// choice returns the driver in use on d columns and, where it was left to the fit, why it is this one.
func (s *Spec) choice(d int) (name, why string) {
	switch {
	case s.Penalty != nil:
		return "dp-means", ""
	case s.Algorithm != "" && s.Algorithm != "auto":
		return s.Algorithm, ""
	case !s.mixture() && d == 1 && s.auto() && s.NInit == 0 && s.MaxIter == nil && s.TolShift == 0:
		return "exact", "one column has an optimum that can be found for certain"
	case s.breathes():
		return "breathing", "moves of centres and rows find what Lloyd's algorithm misses, in less time than more starts take"
	case !s.mixture():
		return "lloyd", "every step takes the best centres for the labels and the best labels for the centres"
	case s.RegCovar > 0:
		return "em", "with --reg-covar nothing is climbed, so only EM's own step makes sense"
	}
	return "em-lbfgs", "it ends where EM does, in several times fewer passes where components overlap"
}

// breathes reports whether k-means that may choose its driver goes on where Lloyd's algorithm ends: not from a given start,
// which is to be climbed from as it stands, and not where steps are limited.
func (s *Spec) breathes() bool {
	return s.kind().Squared && !s.given() && s.K != 1 && s.MaxIter == nil && s.TolShift == 0
}

// betas returns the schedule of anti-annealing.
func (s *Spec) betas() []float64 {
	if s.Beta == nil {
		return []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1} // the schedule of the paper's appendix
	}
	return s.Beta
}

// auto reports whether the way starts are chosen in is left to the fit.
func (s *Spec) auto() bool { return s.Init == "" || s.Init == "auto" }

// start returns the name of the way starts are chosen in on d columns; "none" where no start is needed.
func (s *Spec) start(d int) string {
	switch {
	case s.driver(d) == "exact":
		return "none"
	case !s.auto():
		return s.Init
	case s.Penalty != nil:
		return "overall mean"
	case !s.mixture():
		return "greedy k-means++"
	case s.thorough():
		return "mixed"
	}
	return startKMeans
}

// thorough reports whether how to search is left to the fit: it then begins at starts of several kinds, and goes on by
// splitting and merging components.
func (s *Spec) thorough() bool {
	return s.mixture() && s.RegCovar == 0 && s.auto() && s.NInit != 1 && (s.Algorithm == "" || s.Algorithm == "auto")
}

// starts returns the number of starts for n rows.
func (s *Spec) starts(n int64) int {
	switch {
	case s.given():
		return 1
	case s.NInit > 0:
		return s.NInit
	case s.K == 1: // every start ends at the same place
		return 1
	case s.driver(0) == "breathing": // its moves are worth more than more starts, and a few centres have few local optima
		if n <= 1000 && s.K > 3 {
			return 2
		}
		return 1
	case n > 10_000:
		return 3
	case s.thorough():
		return 5
	}
	return 10
}

// tries returns how many starts are tried for each one that climbs on n rows by a method of Init: fewer where they take long.
func (s *Spec) tries(method string, n int64) int {
	switch {
	case method == "small-em":
		return smallStarts
	case method == "mixed" && s.kind().Soft:
		return int(min(max(discreteWork/n, 1), discreteTries))
	case method == "mixed":
		return int(min(max(mixedWork/n, 1), smallStarts))
	}
	return 1
}
