package experiment

import (
	"context"
	"fmt"
	"math"

	"github.com/latent-go/latent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/model"
)

// MaxSweeps is how many passes over the rows a run may take, rejected trials of line searches included.
const MaxSweeps = 500

// Algorithms are those that are compared: the four of the paper, then the two that came later.
var Algorithms = []string{"em", "anti-annealing", "bfgs", "ecg", "em-lbfgs", "squarem"}

// papers is how many of Algorithms are the paper's own.
const papers = 4

// Options are what the user chooses.
type Options struct {
	Runs    int    // random starts
	Seed    uint64 // of the data that are made and of the starts
	Data    string // a folder with the IDX files of MNIST; "" means the built-in digits
	Threads int    // 0 means all cores
	// Tell, where not nil, is called now and then with what is being done.
	Tell func(what string)
}

func (o *Options) tell(format string, a ...any) {
	if o.Tell != nil {
		o.Tell(fmt.Sprintf(format, a...))
	}
}

// problem is data to run the algorithms on, with what is known about them.
type problem struct {
	rows   *data.Table
	k      int
	plan   plan    // of anti-annealing
	truth  *Truth  // nil where no parameters are known
	pixels *pixels // nil where rows are no pixels
}

// Study is what came of an experiment that runs algorithms from shared starts.
type Study struct {
	Name      string
	N         int
	D         int
	K         int
	Seed      uint64
	Runs      []Outcome
	plan      plan
	truth     *Truth
	schedules []scheduled
	merged    float64      // see apart: at the end of the first temperature, median over runs; NaN where that is not below β = 1
	shown     [][2]float64 // rows to draw, of two columns
	// pixels is nil where rows are none.
	pixels *pixels
}

// Outcome is one run of one algorithm.
type Outcome struct {
	Algorithm  string
	Number     int // which start, from 1
	Sweeps     int
	Steps      int // accepted
	Seconds    float64
	LogLik     float64
	Error      float64 // parameter error; NaN where no truth is known
	Found      *bool   // whether the small cluster was found; nil where none is known
	MSE        float64 // the paper's: root of the summed squares; NaN for rows that are no pixels
	Converged  bool
	Degenerate bool // it ended with a degenerate component, whose likelihood is an accident of the floor of variances
	Path       []Point
	model      *model.Model
	segments   *segments // of pixels
}

// Point is where a run stood after an accepted step.
type Point struct {
	Sweep                           int
	Beta, LogLik, FreeEnergy, Error float64 // Error is NaN where no truth is known
}

// run runs every algorithm from every start.
func (p *problem) run(ctx context.Context, name string, o *Options) (*Study, error) {
	s := &Study{Name: name, N: p.rows.N, D: p.rows.D, K: p.k, Seed: o.Seed, plan: p.plan, truth: p.truth, pixels: p.pixels}
	spec := p.spec(o)
	spec.Beta, spec.BetaSteps = p.plan.beta, p.plan.steps
	if s.D == 2 {
		for i := range min(s.N, shownRows) { // rows are shuffled
			s.shown = append(s.shown, [2]float64{p.rows.At(i, 0), p.rows.At(i, 1)})
		}
	}
	var path []Point
	var paths [][]Point
	var merged []float64
	trials, err := latent.Trials(ctx, p.rows, spec, Algorithms, MaxSweeps, func(t *latent.TrialStep) {
		if first := p.plan.beta[0]; t.Algorithm == "anti-annealing" && first < 1 && t.Point.Beta == first {
			if t.Iteration == 0 {
				merged = append(merged, 0)
			}
			merged[len(merged)-1] = apart(t.Model())
		}
		if t.Iteration == 0 {
			o.tell("%s: run %d of %d, %s", name, t.Start, t.Of, t.Algorithm)
			path = nil
			paths = append(paths, nil)
		}
		at := Point{Sweep: t.Sweeps, Beta: t.Point.Beta, LogLik: t.Point.LogLik, FreeEnergy: t.Point.F, Error: math.NaN()}
		if p.truth != nil {
			at.Error, _ = p.truth.Error(t.Model())
		}
		path = append(path, at)
		paths[len(paths)-1] = path
	})
	if err != nil {
		return nil, err
	}
	for i := range trials {
		r, err := p.judge(ctx, &trials[i], o)
		if err != nil {
			return nil, err
		}
		r.Path = paths[i]
		s.Runs = append(s.Runs, *r)
	}
	s.merged = median(merged)
	s.schedules, err = p.alternatives(ctx, s, o)
	return s, err
}

// spec returns what to fit, the schedule left out.
func (p *problem) spec(o *Options) latent.Spec {
	return latent.Spec{K: p.k, Init: "random", NInit: o.Runs, Seed: &o.Seed, Threads: o.Threads}
}

// judge measures the end of a trial.
func (p *problem) judge(ctx context.Context, t *latent.Trial, o *Options) (*Outcome, error) {
	r := &Outcome{
		Algorithm: t.Algorithm, Number: t.Start, Sweeps: t.Sweeps, Steps: t.Steps, Seconds: t.Seconds, LogLik: t.LogLik,
		Error: math.NaN(), MSE: math.NaN(), Converged: t.Converged, Degenerate: t.Degenerate, model: t.Model,
	}
	if p.truth != nil {
		r.Error, _ = p.truth.Error(t.Model)
		r.Found = new(p.truth.Found(t.Model))
	}
	if p.pixels == nil {
		return r, nil
	}
	labels, err := labels(ctx, t.Model, p.rows, o.Threads)
	if err != nil {
		return nil, err
	}
	r.segments = p.pixels.segment(labels, p.k)
	r.MSE = r.segments.mse
	if p.pixels.centre != nil {
		r.Found = new(r.segments.own(p.pixels) >= 0)
	}
	return r, nil
}

// labels returns the likeliest component of every row.
func labels(ctx context.Context, m *model.Model, rows *data.Table, threads int) ([]int32, error) {
	all := make([]int32, 0, rows.N)
	err := m.Rows(ctx, rows, threads, func(s *model.Scored) error {
		all = append(all, s.Label...)
		return nil
	})
	return all, err
}

// of returns the runs of an algorithm.
func (s *Study) of(algorithm string) (runs []Outcome) {
	for _, r := range s.Runs {
		if r.Algorithm == algorithm {
			runs = append(runs, r)
		}
	}
	return runs
}
