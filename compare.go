package latent

import (
	"cmp"
	"context"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/inference"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
)

// Comparison is what one algorithm made of the starts that all algorithms shared.
type Comparison struct {
	Algorithm string `json:"algorithm"`
	Starts    int    `json:"starts"`
	Converged int    `json:"converged"` // starts that finished
	// Sweeps are the passes a start took to its end, the certificate included.
	Sweeps  Spread  `json:"sweeps"`
	Seconds float64 `json:"seconds"` // all starts together, which share passes
	// LogLik is the log-likelihood that starts ended at, in the user's units, nats.
	LogLik LogLikSpread `json:"log_likelihood"`
	// ReachedBest is how many starts came within 0.01 nats of the best end of any algorithm.
	ReachedBest int `json:"reached_best"`
	// Better and Worse count the starts that ended more than 0.01 nats above and below EM's end from the same start;
	// nil where EM is not compared.
	Better *int `json:"better_than_em,omitempty"`
	Worse  *int `json:"worse_than_em,omitempty"`
	// Smallest is the smallest mixing weight of the best end.
	Smallest float64 `json:"smallest_weight"`
	// Distance is the certified distance of the best end from its optimum, standard errors; nil where it is not known.
	Distance *float64 `json:"distance_se"`
	// Undetermined tells that the log-likelihood is flat in some direction at the best end: the rows do not determine all
	// parameters.
	Undetermined bool `json:"undetermined,omitempty"`
}

// Spread is the median, the smallest and the largest of some counts.
type Spread struct {
	Median float64 `json:"median"`
	Min    int     `json:"min"`
	Max    int     `json:"max"`
}

// LogLikSpread is the best, the middle and the lowest of some log-likelihoods, in nats.
type LogLikSpread struct {
	Best   float64 `json:"best"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
}

// Climbers are the algorithms that Compare runs unless told otherwise.
func Climbers() (names []string) {
	for _, a := range plan.Climbers() {
		names = append(names, string(a))
	}
	return names
}

// Compare runs several algorithms from the same starts, each to its own certified end, and says what it cost and what
// it found. spec.Algorithm is not used; spec.Beta and spec.BetaSteps are for anti-annealing alone. Observers hear of
// every algorithm that begins, and see its steps. If ctx ends, what has finished is returned with its error.
func Compare(ctx context.Context, src data.Source, spec Spec, algorithms []string, see ...Observer) ([]Comparison, error) {
	plans, err := plansOf(spec, algorithms)
	if err != nil {
		return nil, err
	}
	f, err := search.New(ctx, src, plans[0])
	if err != nil {
		return nil, err
	}
	if p := f.Mix.Params(); p > ascent.MaxBFGS && slices.Contains(algorithms, "bfgs") {
		return nil, plan.Wrong("Algorithms", "holds bfgs, which keeps a matrix of %d x %d numbers here; leave it out, lbfgs does without", p, p)
	}
	thetas, err := f.Starts(ctx)
	if err != nil {
		return nil, err
	}
	var outcomes [][]search.Run
	var certified []*ascent.Step
	var seconds []float64
	for i, a := range algorithms {
		observers(see).begin(a)
		f.Plan = plans[i]
		began := time.Now()
		runs, err := f.Climb(ctx, thetas, observers(see).stages().Step, false)
		for _, r := range runs {
			err = cmp.Or(err, r.Err)
		}
		if err != nil {
			if len(outcomes) == 0 || ctx.Err() == nil {
				return nil, err
			}
			return compareOutcomes(f, algorithms[:len(outcomes)], outcomes, certified, seconds), ctx.Err()
		}
		outcomes, seconds = append(outcomes, runs), append(seconds, time.Since(began).Seconds())
		step, err := f.CertifyBest(ctx, runs)
		if err != nil {
			return nil, err
		}
		certified = append(certified, step)
	}
	return compareOutcomes(f, algorithms, outcomes, certified, seconds), nil
}

// plansOf returns the plan of the spec for each algorithm. It refuses specs that cannot be compared.
func plansOf(spec Spec, algorithms []string) (plans []plan.Plan, err error) {
	k := kind.Of(spec.Model)
	switch {
	case k != nil && !k.Mixture:
		return nil, plan.Wrong("Model", "must be a mixture; for %s use fit", k.Name)
	case spec.RegCovar > 0:
		return nil, plan.Wrong("RegCovar", "changes the likelihood that the algorithms maximise in every step: there is nothing to compare; leave it out")
	case spec.Merge != "":
		return nil, plan.Wrong("Merge", "makes clusters of the components of a model, and a comparison leaves none; leave it out")
	case spec.KeepSums:
		return nil, plan.Wrong("KeepSums", "keeps sums in a model, and a comparison leaves none; leave it out")
	case len(algorithms) == 0:
		return nil, plan.Wrong("Algorithms", "names none")
	case (spec.Beta != nil || spec.BetaSteps != 0) && !slices.Contains(algorithms, "anti-annealing"):
		return nil, plan.Wrong("Beta", "and --beta-steps are for anti-annealing, which is not among the algorithms")
	}
	for i, a := range algorithms {
		if slices.Contains(algorithms[:i], a) {
			return nil, plan.Wrong("Algorithms", "names %s twice", a)
		}
		if k != nil && !slices.Contains(kind.Gaussian.Drivers, a) {
			return nil, plan.Wrong("Algorithms", "%q is not known; choose one of %s", a, strings.Join(compared(k), ", "))
		}
		p, err := plan.NewOne(plan.Spec(spec).With(plan.Algorithm(a)))
		if err != nil {
			return nil, err
		}
		if p.Bayes() {
			return nil, plan.Wrong("Algorithms", "names vb, which climbs the evidence lower bound: that is no log-likelihood to compare with others")
		}
		plans = append(plans, p)
	}
	return plans, nil
}

// compared returns the words of the algorithms of a kind that Compare takes.
func compared(k *kind.Kind) []string {
	return slices.DeleteFunc(slices.Clone(k.Drivers), func(a string) bool { return a == string(plan.VB) })
}

// compareOutcomes compares the outcomes of all starts, outcomes[i] those of algorithms[i]. Those with a degenerate component never win, as in a fit.
func compareOutcomes(f *search.Fit, algorithms []string, outcomes [][]search.Run, certified []*ascent.Step, seconds []float64) []Comparison {
	var top *ascent.Point
	for _, runs := range outcomes {
		at, _ := f.Best(runs)
		if p := runs[at].Last.Point; !f.Degenerate(p) && (top == nil || p.LogLik > top.LogLik) {
			top = p
		}
	}
	same := func(p, q *ascent.Point) bool { // at one maximum
		return p != nil && q != nil && math.Abs(p.LogLik+p.Prior-(q.LogLik+q.Prior)) <= search.SameOptimum
	}
	em := slices.Index(algorithms, "em")
	var table []Comparison
	for i, runs := range outcomes {
		at, _ := f.Best(runs)
		best := runs[at].Last
		c := Comparison{Algorithm: algorithms[i], Starts: len(runs), Seconds: seconds[i], Smallest: slices.Min(best.Point.Weights) / f.Survey.W}
		if f.Absent() > 0 {
			c.Smallest = 0
		}
		if cert := certified[i].Certificate; cert != nil && !cert.AtLeast && cert.Distance == cert.Distance {
			c.Distance = &cert.Distance
		}
		c.Undetermined = inference.IsFlat(certified[i])
		if em >= 0 {
			c.Better, c.Worse = new(0), new(0)
		}
		var logLiks []float64
		var sweeps []int
		for j, r := range runs {
			ll := r.Last.Point.LogLik
			logLiks, sweeps = append(logLiks, ll), append(sweeps, r.Sweeps)
			if r.Last.Done.Converged() {
				c.Converged++
			}
			if same(r.Last.Point, top) {
				c.ReachedBest++
			}
			if em >= 0 {
				switch other := outcomes[em][j].Last.Point; {
				case same(r.Last.Point, other):
				case ll > other.LogLik:
					*c.Better++
				default:
					*c.Worse++
				}
			}
		}
		slices.Sort(logLiks)
		slices.Sort(sweeps)
		n := len(runs)
		c.Sweeps = Spread{Median: float64(sweeps[(n-1)/2]+sweeps[n/2]) / 2, Min: sweeps[0], Max: sweeps[n-1]}
		c.LogLik = LogLikSpread{Best: f.UserObjective(best.Point.LogLik), Median: f.UserObjective((logLiks[(n-1)/2] + logLiks[n/2]) / 2), Min: f.UserObjective(logLiks[0])}
		table = append(table, c)
	}
	return table
}
