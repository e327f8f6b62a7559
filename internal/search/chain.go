package search

import (
	"context"
	"math"

	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// Starts of hidden Markov models. The mixture of the same components, in which rows do not know of each other, finds states that differ in what
// their rows are like; half of the starts are where climbs of it end. States that differ in what follows them alone it does not find: the other half
// is drawn from rows, each the best of several tries.

// stay is the probability of staying in a state that starts begin at. The rest leads to the other states by their weights.
const stay = 0.9

// chainTries is how many times the tries of other starts are those of a chain: its likelihood has more local maxima.
const chainTries = 10

// chainStarts returns the starts of a hidden Markov model.
func (f *Fit) chainStarts(ctx context.Context) ([][]float64, error) {
	n := f.Plan.Starts(f.Survey.Used)
	ends := (n + 1) / 2
	m := f.states(func(s *plan.Spec) { s.NInit, s.Algorithm = ends, "" })
	thetas, err := m.ends(ctx)
	if err != nil {
		return nil, err
	}
	f.StartSweeps += m.StartSweeps
	f.grid, f.drawnFrom = m.grid, m.drawnFrom
	for i, theta := range thetas {
		thetas[i] = f.linked(m, theta)
	}
	if n -= len(thetas); n <= 0 {
		return thetas, nil
	}
	points, err := m.sample(ctx)
	if err != nil {
		return nil, err
	}
	near := m.near(points, plan.Random)
	some, someNear := m.central(points, near)
	each := chainTries
	var tries [][]float64
	for i := range n {
		rng := rng.Starts.At(f.Plan.Seed, ends+i)
		for j := range each {
			p, by, how := some, someNear, plan.PlusPlus
			if j%2 == 0 {
				p, by, how = points, near, plan.Random
			}
			theta, err := m.drawn(ctx, p, by, how, startConfidence(plan.Mixed, j), rng)
			if err != nil {
				return nil, err
			}
			tries = append(tries, f.linked(m, theta))
		}
	}
	best, err := f.bestTries(ctx, tries, each, plan.Mixed)
	return append(thetas, best...), err
}

// states returns the fit of the mixture of the states' densities, after a change of its spec.
func (f *Fit) states(change func(*plan.Spec)) *Fit {
	own, mix := *f, *f.Mix
	own.Plan = f.Plan.States(change)
	mix.Chain = false
	own.Mix, own.StartSweeps, own.RequiredObjective = &mix, 0, nil
	return &own
}

// ends returns where climbs from the starts of f end, and a given start as it is.
func (f *Fit) ends(ctx context.Context) ([][]float64, error) {
	thetas, err := f.Starts(ctx)
	if err != nil || f.Plan.HasStart() {
		return thetas, err
	}
	runs, err := f.Climb(ctx, thetas, nil, false)
	if err != nil {
		return nil, err
	}
	for i, r := range runs {
		if r.Err != nil {
			return nil, r.Err
		}
		f.StartSweeps += r.Sweeps
		thetas[i] = r.Last.Point.Theta
	}
	return thetas, nil
}

// linked returns the parameters of a chain whose states are the components theta of the mixture of m, with their weights for the first state.
func (f *Fit) linked(m *Fit, theta []float64) []float64 {
	k := f.Mix.K
	initial, transitions := make([]float64, k), make([]float64, k*k)
	for c, lw := range m.Mix.LogWeights(nil, theta) {
		initial[c] = math.Exp(lw)
	}
	for a := range k {
		rest := 0.0
		for b, w := range initial {
			if b != a {
				rest += w
			}
		}
		for b, w := range initial {
			switch {
			case b != a && rest > 0:
				transitions[a*k+b] = (1 - stay) * w / rest
			case b == a && rest > 0:
				transitions[a*k+b] = stay
			case b == a:
				transitions[a*k+b] = 1
			}
		}
	}
	own := make([]float64, f.Mix.Params())
	f.Mix.SetLinks(own, initial, transitions)
	copy(f.Mix.Components(own), m.Mix.Components(theta))
	return own
}

// link makes m, whose states are those of theta in such an order, a chain where that is what is fitted.
func (f *Fit) link(m *model.Model, theta []float64, order []int) {
	if !f.Plan.Chain {
		return
	}
	m.Kind, m.Emission = model.ChainKind, m.Kind
	initial, transitions := f.Mix.Links(theta)
	k := f.Mix.K
	m.Initial, m.Transitions = kind.Picked(initial, order), nil
	for _, a := range order {
		m.Transitions = append(m.Transitions, kind.Picked(transitions[a*k:(a+1)*k], order))
	}
}
