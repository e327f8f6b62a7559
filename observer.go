package latent

import (
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/model"
)

// Progress is one step of one start, as an Observer sees it. The Point of the step is as the fit holds it, and not to be changed:
// parameters are in coordinates of the fit, everything else is in the user's units.
type Progress struct {
	Start int // which start, from 1
	Of    int // how many starts there are
	ascent.Step
}

// Observer is told how a fit is getting on. Each function may be nil; they are called from one goroutine at a time, and change no
// result.
type Observer struct {
	// Step is called with every step of every start. Of a choice it sees the winner alone, whose climbs are then repeated.
	Step func(Progress)
	// Candidate is called with every candidate of a choice when it is done, and again when it has started from its neighbours, in no
	// certain order. done and of count fits, not candidates: of grows when some are fitted again.
	Candidate func(done, of int, c model.Candidate)
	// Replicate is called when a replicate of Spec.Bootstrap or a sample of Spec.LRT is done.
	Replicate func(done, of int)
	// Algorithm is called when Compare begins with an algorithm.
	Algorithm func(name string)
}

// all returns one observer that calls all of them, in order.
func all(observers []Observer) (o observer) {
	for _, own := range observers {
		before := o
		if own.Step != nil {
			o.Step = func(p search.Progress) {
				if before.Step != nil {
					before.Step(p)
				}
				own.Step(Progress(p))
			}
		}
		if own.Candidate != nil {
			o.Candidate = func(done, of int, c model.Candidate) {
				if before.Candidate != nil {
					before.Candidate(done, of, c)
				}
				own.Candidate(done, of, c)
			}
		}
		if own.Replicate != nil {
			o.Replicate = func(done, of int) {
				if before.Replicate != nil {
					before.Replicate(done, of)
				}
				own.Replicate(done, of)
			}
		}
		if own.Algorithm != nil {
			o.algorithm = func(name string) {
				if before.algorithm != nil {
					before.algorithm(name)
				}
				own.Algorithm(name)
			}
		}
	}
	return o
}

// observer is an Observer as the stages of a fit know it.
type observer struct {
	search.Observer
	algorithm func(name string)
}
