package latent

import (
	"context"
	"errors"
	"iter"
	"slices"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/model"
)

// Trial is one run of one algorithm from one of the starts that all algorithms share.
type Trial struct {
	Algorithm  string
	Start      int // from 1
	Of         int // starts
	Sweeps     int // passes used, rejected trials of a line search and the certificate included
	Steps      int // steps accepted
	Seconds    float64
	LogLik     float64      // log-likelihood at the end, in the user's units, nats
	Distance   *float64     // certified distance from the optimum, standard errors; nil where it is not known
	Converged  bool         // it finished before its passes were used up
	Degenerate bool         // it owes its likelihood to a degenerate component, on a few rows that are all but equal in some direction
	Model      *model.Model // the end, largest weight first
}

// TrialStep is one accepted step of a trial.
type TrialStep struct {
	Algorithm string
	Start     int // from 1
	Of        int // starts
	ascent.Step
	fit *search.Fit
}

// Model returns the mixture at the step, in natural parameters and in the user's units, largest weight first.
func (s *TrialStep) Model() *model.Model {
	m, _ := s.fit.Model(s.Point)
	return m
}

// Trials runs several algorithms from the same starts and lets each use so many passes over the rows at most. Passes are a fair measure where
// some algorithms search along lines and others do not. Runs are not stopped for the sake of others and share no passes, so that the seconds of
// each are its own. spec.Algorithm and spec.MaxIter are not used; spec.Beta and spec.BetaSteps are for anti-annealing alone. see, where
// not nil, is called with every accepted step, one trial after another. The trials are ordered by start, then by algorithm as given.
func Trials(ctx context.Context, src data.Source, spec Spec, algorithms []string, sweeps int, see func(*TrialStep)) ([]Trial, error) {
	if sweeps < 1 {
		return nil, plan.Wrong("Sweeps", "is %d; it must be at least 1", sweeps)
	}
	spec.MaxIter = new(sweeps)
	plans, err := plansOf(spec, algorithms)
	if err != nil {
		return nil, err
	}
	f, err := search.New(ctx, src, plans[0])
	if err != nil {
		return nil, err
	}
	if p := f.Mix.Params(); p > ascent.MaxBFGS && slices.Contains(algorithms, "bfgs") {
		return nil, plan.Wrong("Algorithms", "holds bfgs, which keeps a matrix of %d x %d numbers here; leave it out", p, p)
	}
	thetas, err := f.Starts(ctx)
	if err != nil {
		return nil, err
	}
	var trials []Trial
	for i, theta := range thetas {
		for j, a := range algorithms {
			f.Plan = plans[j]
			t, err := climbOnce(ctx, f, theta, i, sweeps, func(s ascent.Step) {
				if see != nil {
					see(&TrialStep{a, i + 1, len(thetas), s, f})
				}
			})
			if err != nil {
				return nil, err
			}
			t.Algorithm, t.Start, t.Of = a, i+1, len(thetas)
			trials = append(trials, t)
		}
	}
	return trials, nil
}

// climbOnce runs the plan's driver from theta, the start of that number, from 0.
func climbOnce(ctx context.Context, f *search.Fit, theta []float64, start, sweeps int, see func(ascent.Step)) (t Trial, err error) {
	began := time.Now()
	driver := &rationed{Driver: f.Driver(start), most: sweeps}
	r := f.ClimbWith(ctx, driver, theta, func(p search.Progress) { see(p.Step) })
	if r.Err != nil {
		return t, r.Err
	}
	end := r.Last
	t = Trial{
		Sweeps: driver.used, Steps: end.Iteration, Seconds: time.Since(began).Seconds(), LogLik: f.UserObjective(end.Point.LogLik),
		Converged: end.Done.Converged(), Degenerate: f.Degenerate(end.Point),
	}
	if c := end.Certificate; c != nil && !c.AtLeast && c.Distance == c.Distance {
		t.Distance = new(end.Distance)
	}
	t.Model, _ = f.Model(end.Point)
	return t, nil
}

// rationed is a driver that may use so many evaluations. Where it asks for more it ends at its last accepted step.
type rationed struct {
	ascent.Driver
	most, used int
}

// errRation ends a driver that has used its evaluations.
var errRation = errors.New("the evaluations allowed are used up")

// Steps implements ascent.Driver.
func (r *rationed) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		for s, err := range r.Driver.Steps(ctx, ration{o, r}, theta) {
			if errors.Is(err, errRation) || !yield(s, err) || err != nil {
				return
			}
		}
	}
}

// ration is the objective of a rationed driver.
type ration struct {
	ascent.Objective
	r *rationed
}

// Eval implements ascent.Objective.
func (o ration) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	if o.r.used == o.r.most {
		return nil, errRation
	}
	o.r.used++
	return o.Objective.Eval(ctx, theta, beta)
}
