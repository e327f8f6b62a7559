// Package plan turns what a user asks for into typed choices, once, and says what is wrong with it. Every later stage of a fit
// takes a Plan.
package plan

import (
	"encoding/json"
	"math"
	"runtime"
	"strconv"
	"strings"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Plan is a valid Spec with its defaults. Where both have a field of the same name, that of Plan counts: the Spec keeps what was asked
// for, for the model file.
type Plan struct {
	Spec
	Kind      *kind.Kind   // of the rows of a state, where Chain is set
	Chain     bool         // the model is a hidden Markov model: a chain of states, each of Kind
	Shape     family.Shape // of the covariances; the default where there is a choice
	Dof       family.Dof   // which degrees of freedom components have, of kinds with tails
	GivenDof  []float64    // where they are given
	Algorithm Algorithm    // Auto where it is left to the fit: see Driver
	Init      Start        // AutoStart where it is left to the fit: see Start
	Scale     Scaling
	Merge     *Merging // nil where components stay as they are
	Criterion Criterion
	Beta      []float64 // the schedule of anti-annealing
	Uniform   bool      // mixing weights are equal and stay so
	Noise     *Noise    // one more component of constant density; nil where there is none
	Gaps      bool      // cells may be missing
	Holes     bool      // some are, as a first pass has found
	Seed      uint64
	Tol       float64
	MaxIter   int
	Threads   int           // at least 1
	Changes   []data.Change // of scale, before all else; the origins of dates are found in the rows
	Types     []data.Type   // of the columns after the changes
	Levels    [][]string    // of the columns after the changes

	Concentration float64 // parameter of the prior of the weights in variational Bayes
	MostK         bool    // K is the default of variational Bayes, which may be more than there are rows

	// OneUnit tells that the fit is one of several candidates of which some depend on the units of the columns: then all columns are
	// measured in one unit.
	OneUnit bool
	// Replica tells that the fit is a repetition on other rows, of which only the model is wanted.
	Replica bool
}

// New parses a spec. Its error is an *Error, of the first field that cannot be used or would be ignored.
func New(s Spec) (Plan, error) {
	if err := s.checkKind(); err != nil {
		return Plan{}, err
	}
	p := s.parse()
	return p, p.validate()
}

// NewOne is New for callers that fit one K and one covariance shape: it refuses a spec that leaves a choice or repeats a fit.
func NewOne(s Spec) (Plan, error) {
	p, err := New(s)
	if err != nil {
		return p, err
	}
	return p, p.CheckOne()
}

// parse returns the typed values of a spec, whose kind must be known. Words that are not known stay as they are, for validate.
func (s Spec) parse() Plan {
	p := Plan{
		Spec: s, Kind: kind.Of(s.kind()), Chain: s.Model == model.ChainKind, Shape: family.Full, Algorithm: Algorithm(s.Algorithm), Init: Start(s.Init), Scale: Scaling(s.Scale), Criterion: Criterion(s.Criterion),
		Beta: s.Beta, Uniform: s.Weights == "uniform", Seed: 1, Tol: 0.01, Threads: s.Threads,
	}
	p.Noise, _ = s.parseNoise()
	if shape, err := family.ParseShape(s.Covariance); err == nil {
		p.Shape = shape
	}
	if p.Gaps = s.Missing == kind.Model; s.Missing == "" {
		p.Gaps = p.Kind.Missing[0] == kind.Model
	}
	p.Types, p.Levels = s.Types, s.Levels
	p.Merge, _ = ParseMerging(s.Merge) // what cannot be parsed is for validate
	p.change()
	p.parseDof()
	if s.Algorithm == "" {
		p.Algorithm = Auto
	}
	if s.Init == "" {
		p.Init = AutoStart
	}
	if s.Scale == "" {
		p.Scale = Unscaled
	}
	if s.Criterion == "" {
		p.Criterion = Criterion(p.criteria()[0])
	}
	if s.Beta == nil {
		p.Beta = []float64{0.2, 0.4, 0.6, 0.8, 1, 1.2, 1} // the schedule of the paper's appendix
	}
	if s.Seed != nil {
		p.Seed = *s.Seed
	}
	if s.Tol != nil {
		p.Tol = *s.Tol
	}
	if p.MaxIter = p.Kind.MaxIter; s.Penalty != nil {
		p.MaxIter = penaltySteps
	}
	if s.MaxIter != nil {
		p.MaxIter = *s.MaxIter
	}
	if s.Threads == 0 {
		p.Threads = runtime.GOMAXPROCS(0)
	}
	p.parseBayes()
	return p
}

// change parses the changes of scale, and brings what is said of the columns to those after them. What cannot be parsed is for validate.
func (p *Plan) change() {
	if p.Changes, _ = p.parseChanges(); p.Changes == nil || p.Spec.Types == nil {
		return
	}
	bound, err := data.Bind(p.Changes, NamesOf(p.Columns, len(p.Spec.Types)))
	if err != nil {
		return // the columns are not known yet
	}
	p.Types = kind.Picked(p.Spec.Types, bound.From())
	if len(p.Spec.Levels) == len(p.Spec.Types) {
		p.Levels = kind.Picked(p.Spec.Levels, bound.From())
	}
}

// parseChanges reads Spec.Transform; nil where there is none.
func (p *Plan) parseChanges() ([]data.Change, error) {
	if p.Transform == "" {
		return nil, nil
	}
	return data.ParseChanges(p.Transform)
}

// NamesOf returns the names of d columns: 1 to d where they have none.
func NamesOf(names []string, d int) []string {
	if names != nil {
		return names
	}
	for j := range d {
		names = append(names, strconv.Itoa(j+1))
	}
	return names
}

// penaltySteps is how many steps DP-means may take unless told otherwise: each opens one cluster at most.
const penaltySteps = 20_000

// JSON returns the spec as a model file keeps it: without what the file says elsewhere, and without the number of threads, so that the same
// fit gives the same bytes.
func (p *Plan) JSON() ([]byte, error) {
	s := p.Spec
	s.Threads, s.Columns = 0, nil
	return json.Marshal(s)
}

// changed returns the plan of the spec after change.
func (p *Plan) changed(change func(*Spec)) Plan {
	s := p.Spec
	change(&s)
	q := s.parse()
	q.OneUnit, q.Replica, q.Holes, q.MostK = p.OneUnit, p.Replica, p.Holes, p.MostK
	return q
}

// With returns the plan for another algorithm. It drops a schedule of temperatures, which is for anti-annealing alone.
func (p *Plan) With(a Algorithm) Plan {
	return p.changed(func(s *Spec) { *s = s.With(a) })
}

// With returns the spec for another algorithm. It drops a schedule of temperatures, which is for anti-annealing alone.
func (s Spec) With(a Algorithm) Spec {
	s.Algorithm = string(a)
	if a != AntiAnnealing {
		s.Beta, s.BetaSteps = nil, 0
	}
	return s
}

// Candidate returns the plan of one candidate of a choice: it leaves no choice.
func (p *Plan) Candidate(k int, shape family.Shape) Plan {
	q := p.changed(func(s *Spec) {
		s.K, s.KRange, s.Criterion = k, [2]int{}, ""
		if s.Covariance != "" || p.Shaped() && p.OpenRange() {
			s.Covariance = shape.String()
		}
	})
	q.OneUnit = q.OneUnit || p.Chooses() && p.severalUnits()
	return q
}

// Replicate returns the plan of a repetition by so many threads. It keeps the choice, if there is one.
func (p *Plan) Replicate(threads int) Plan {
	q := p.changed(func(s *Spec) { s.Bootstrap, s.LRT, s.Threads = 0, 0, threads })
	q.Replica = true
	return q
}

// WithoutRepeats returns the plan without bootstrap and likelihood-ratio test.
func (p *Plan) WithoutRepeats() Plan {
	return p.changed(func(s *Spec) { s.Bootstrap, s.LRT = 0, 0 })
}

// Untransformed returns the plan for rows that are scaled and projected already.
func (p *Plan) Untransformed() Plan {
	return p.changed(func(s *Spec) {
		s.Scale, s.Transform, s.PCA, s.Binarize, s.Columns, s.Types, s.Levels = "", "", 0, nil, nil, p.Types, p.Levels
	})
}

// States returns the plan of the mixture of the states of a hidden Markov model, after a change of its spec.
func (p *Plan) States(change func(*Spec)) Plan {
	return p.changed(func(s *Spec) {
		s.Model, s.Emission = s.Emission, ""
		change(s)
	})
}

// PlainKMeans returns the plan of a default k-means that serves another fit, with the seed of that fit and only its inertia or model wanted.
func (p *Plan) PlainKMeans(k, threads int) Plan {
	q := p.changed(func(s *Spec) { *s = Spec{Model: kind.KMeans.Name, K: k, Seed: s.Seed, Threads: threads} })
	q.Replica = true
	return q
}

// Mixture reports whether the model has a density.
func (p *Plan) Mixture() bool { return p.Kind.Mixture }

// Shaped reports whether components have covariances.
func (p *Plan) Shaped() bool { return p.Kind.HasShape(p.Types) }

// Medians reports whether centres are medians. Those need the rows in memory, since sums over rows do not give them.
func (p *Plan) Medians() bool { return !p.Kind.Mixture && !p.Kind.Squared }

// Hard reports whether every row belongs to one component during the fit.
func (p *Plan) Hard() bool { return !p.Mixture() || p.Algorithm == HardEM }

// Scaled reports whether columns are scaled.
func (p *Plan) Scaled() bool { return p.Scale != Unscaled }

// HalvesDraws reports whether the draws of a replicate count half. That changes its criterion and not its estimates.
//
// A bootstrap sample differs from the rows as much as the rows differ from their population. So it differs from the population twice as
// much, in squares, and superfluous parameters gain twice as much log-likelihood on it. With whole counts, BIC found a fourth group in 43 % of the samples of
// three round clusters nine standard deviations apart, with halves in 5 % (40 rows each, 300 samples). Bootstrap samples of
// full size are known to choose too large models (Shao 1996).
func (p *Plan) HalvesDraws() bool { return p.Chooses() && p.Mixture() }

// SilhouetteRows returns how many rows of d columns a silhouette is taken of where there are more: 12,909 of two columns, 8,451 of ten, 4,000
// of 59 and more, which takes some tenths of a second for each candidate. Replicates take 4,000.
func (p *Plan) SilhouetteRows(d int) int {
	const least, work = 4000, 1e9
	if p.Replica {
		return least
	}
	return max(score.PairedRows(d, work), least)
}

// finite reports whether a number is finite.
func finite(v float64) bool { return !math.IsInf(v, 0) && v == v }

// lists reports whether the word asks for several covariance shapes: for all, for those of a list, or for a range of factors.
func lists(covariance string) bool {
	return strings.EqualFold(covariance, "all") || strings.Contains(covariance, ",") || strings.Count(covariance, ":") > 1
}
