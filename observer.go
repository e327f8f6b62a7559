package latent

import (
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/model"
)

// Progress is one step of one start, as an Observer sees it. The Point of the step is as the fit holds it, and not to be changed:
// parameters are in coordinates of the fit, everything else is in the user's units. Model and Next tell the parameters in the user's units too;
// they are to be called while the observer is, and cost nothing where nobody calls them.
type Progress struct {
	Start int // which start, from 1
	Of    int // how many starts there are
	ascent.Step
	seen search.Progress
}

// Model returns the model by which the step shares out the rows, at the inverse temperature Point.Beta: the one before the M-step, where the step
// has one. Its components are in the climb's own order, in which each keeps its place from step to step; Result.Order tells where the result has
// them. It belongs to the caller, and is the model of a file but for what only the end of a fit knows.
func (p Progress) Model() *model.Model { return p.seen.Model() }

// Next returns the model after the M-step, in the order of Model; nil where the step has no halves or is the last of its climb. Its free energy
// with the responsibilities of the step is Point.Lifted.
func (p Progress) Next() *model.Model { return p.seen.Next() }

// Bound reports whether the fit is one of variational Bayes: Point.F and Point.LogLik are then the evidence lower bound.
func (p Progress) Bound() bool { return p.seen.Bound() }

// Observer is told how a fit is getting on. Each function may be nil; they are called from one goroutine at a time, and change no
// result.
type Observer struct {
	// Step is called with every step of every start. Of a choice it sees the winner alone, whose climbs are then repeated.
	Step func(Progress)
	// Candidate is called with every candidate of a choice when it is done, and again when it has started from its neighbours, in no
	// certain order. done and of count fits, not candidates: of grows when some are fitted again.
	Candidate func(done, of int, c model.Candidate)
	// Climbed is called once, when all climbs of the fit are over. What follows measures the end: labels, criteria, standard errors, and a look in
	// every direction where that is affordable, from which another climb may begin, whose steps are seen.
	Climbed func()
	// Replicate is called when a replicate of Spec.Bootstrap or a sample of Spec.LRT is done.
	Replicate func(done, of int)
	// Algorithm is called when Compare begins with an algorithm.
	Algorithm func(name string)
}

// observers are those of one fit.
type observers []Observer

// stages returns what the stages of a fit call to tell all observers. Step is nil where none wants to see steps, which cost something.
func (all observers) stages() search.Observer {
	o := search.Observer{
		Candidate: func(done, of int, c model.Candidate) {
			for _, own := range all {
				if own.Candidate != nil {
					own.Candidate(done, of, c)
				}
			}
		},
		Replicate: func(done, of int) {
			for _, own := range all {
				if own.Replicate != nil {
					own.Replicate(done, of)
				}
			}
		},
	}
	o.Climbed = func() {
		for _, own := range all {
			if own.Climbed != nil {
				own.Climbed()
			}
		}
	}
	if slices.ContainsFunc(all, func(o Observer) bool { return o.Step != nil }) {
		o.Step = func(p search.Progress) {
			for _, own := range all {
				if own.Step != nil {
					own.Step(Progress{p.Start, p.Of, p.Step, p})
				}
			}
		}
	}
	return o
}

// begin tells all observers that an algorithm begins.
func (all observers) begin(algorithm string) {
	for _, own := range all {
		if own.Algorithm != nil {
			own.Algorithm(algorithm)
		}
	}
}
