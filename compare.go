package latent

import (
	"context"
	"math"
	"slices"
	"time"

	"github.com/latent-go/latent/data"
)

// Comparison is what one algorithm made of the starts that all algorithms shared.
type Comparison struct {
	Algorithm string `json:"algorithm"`
	Starts    int    `json:"starts"`
	Converged int    `json:"converged"` // starts that finished
	// Sweeps are the passes a start took to its end, the certificate included.
	Sweeps  Spread  `json:"sweeps"`
	Seconds float64 `json:"seconds"` // all starts together, which share passes
	// LogLik is the log-likelihood that starts ended at, in the units of the fit, nats.
	LogLik Heights `json:"log_likelihood"`
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
}

// Spread is the middle and the ends of some counts.
type Spread struct {
	Median float64 `json:"median"`
	Min    int     `json:"min"`
	Max    int     `json:"max"`
}

// Heights are the best, middle and lowest of some log-likelihoods.
type Heights struct {
	Best   float64 `json:"best"`
	Median float64 `json:"median"`
	Min    float64 `json:"min"`
}

// agree is how close two log-likelihoods are taken for the same optimum, nats: a distance of 0.01 standard errors leaves
// 0.00005.
const agree = 0.01

// Climbers are the algorithms that Compare runs unless told otherwise.
func Climbers() []string {
	return []string{"em", "em-lbfgs", "squarem", "anti-annealing", "bfgs", "lbfgs", "ecg"}
}

// Compare runs several algorithms from the same starts, each to its own certified end, and says what it cost and what
// it found. spec.Algorithm is not used; spec.Watch sees every step, after algorithm was called with the next one's name.
func Compare(ctx context.Context, src data.Source, spec Spec, algorithms []string, algorithm func(string)) ([]Comparison, error) {
	if !spec.mixture() {
		return nil, bad("model", "must be a mixture: %s has only one way up", spec.model())
	}
	for _, a := range algorithms {
		s := spec
		s.Algorithm = a
		if err := s.Validate(); err != nil {
			return nil, err
		}
	}
	f, err := prepare(ctx, src, spec)
	if err != nil {
		return nil, err
	}
	thetas, err := f.starts(ctx)
	if err != nil {
		return nil, err
	}
	ends := make([][]run, len(algorithms))
	seconds := make([]float64, len(algorithms))
	for i, a := range algorithms {
		if algorithm != nil {
			algorithm(a)
		}
		f.spec.Algorithm = a
		began := time.Now()
		if ends[i], err = f.climb(ctx, thetas, spec.Watch, false); err != nil {
			return nil, err
		}
		seconds[i] = time.Since(began).Seconds()
		for _, r := range ends[i] {
			if r.err != nil {
				return nil, r.err
			}
		}
	}
	return f.compare(algorithms, ends, seconds), nil
}

// compare judges the ends, by algorithm and start. Ends on a spike never win, as in a fit.
func (f *fit) compare(algorithms []string, ends [][]run, seconds []float64) []Comparison {
	top := math.Inf(-1)
	for _, runs := range ends {
		if at, _ := f.best(runs); !f.degenerate(runs[at].last.Point) {
			top = max(top, runs[at].last.Point.LogLik)
		}
	}
	em := slices.Index(algorithms, "em")
	var table []Comparison
	for i, runs := range ends {
		at, _ := f.best(runs)
		best := runs[at].last
		c := Comparison{Algorithm: algorithms[i], Starts: len(runs), Seconds: seconds[i], Smallest: slices.Min(best.Point.Weights) / f.look.W}
		if best.Distance == best.Distance {
			c.Distance = &best.Distance
		}
		if em >= 0 {
			c.Better, c.Worse = new(0), new(0)
		}
		var heights []float64
		var sweeps []int
		for j, r := range runs {
			ll := r.last.Point.LogLik
			heights, sweeps = append(heights, ll), append(sweeps, r.moves)
			if r.last.Done.Converged() {
				c.Converged++
			}
			if math.Abs(ll-top) <= agree {
				c.ReachedBest++
			}
			if em >= 0 {
				switch gain := ll - ends[em][j].last.Point.LogLik; {
				case gain > agree:
					*c.Better++
				case gain < -agree:
					*c.Worse++
				}
			}
		}
		slices.Sort(heights)
		slices.Sort(sweeps)
		n := len(runs)
		c.Sweeps = Spread{Median: float64(sweeps[(n-1)/2]+sweeps[n/2]) / 2, Min: sweeps[0], Max: sweeps[n-1]}
		c.LogLik = Heights{Best: best.Point.LogLik, Median: (heights[(n-1)/2] + heights[n/2]) / 2, Min: heights[0]}
		table = append(table, c)
	}
	return table
}
