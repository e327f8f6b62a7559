package search

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Starts of hidden Markov models. The mixture of the same components, in which rows do not know of each other, finds states that differ in what
// their rows are like; some starts are where climbs of it end. States that differ in what follows them alone it does not find: the others are drawn from
// rows. Climbs are short, so that more of them find more than the best of as many tries do: of the ten best fits known of three small
// series, 50 starts found the hardest in 15 of 20 fits, and 10 starts, half of them the best of ten tries, in 4.

// The probabilities of staying in a state that starts begin at; the rest leads to the other states by their weights. Starts from rows take turns: where
// states alternate, those that begin with long stays end lower, in two of the ten fits by 0.04 and 0.5 nats.
const (
	longStay  = 0.9
	shortStay = 0.5
)

// chainStarts returns the starts of a hidden Markov model.
func (f *Fit) chainStarts(ctx context.Context) ([][]float64, error) {
	ends, drawn := f.Plan.ChainStarts(f.Survey.Used)
	m := f.states(func(s *plan.Spec) { s.NInit, s.Algorithm = ends, "" })
	thetas, err := m.ends(ctx)
	if err != nil {
		return nil, err
	}
	f.StartSweeps += m.StartSweeps
	f.grid, f.drawnFrom = m.grid, m.drawnFrom
	for i, theta := range thetas {
		thetas[i] = f.chainOf(m, theta, longStay)
	}
	if drawn == 0 {
		return thetas, nil
	}
	points, err := m.sample(ctx)
	if err != nil {
		return nil, err
	}
	method := f.Plan.Start(f.Mix.D)
	near := m.near(points, method)
	some, someNear := m.central(points, near)
	for i := range drawn {
		p, by, how, stay := some, someNear, drawnBy(method, i, 1), longStay // of mixed ones not by k-means, where mixtures begin
		if method == plan.Mixed && i/2%2 == 0 {
			how = plan.Random
		}
		if how == plan.Random {
			p, by = points, near
		}
		if i%2 == 1 {
			stay = shortStay
		}
		theta, err := m.drawn(ctx, p, by, how, startConfidence(method, i/4), rng.Starts.At(f.Plan.Seed, ends+i))
		if err != nil {
			return nil, err
		}
		thetas = append(thetas, f.chainOf(m, theta, stay))
	}
	return thetas, nil
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

// chainOf returns the parameters of a chain whose states are the components theta of the mixture of m, with their weights for the first state and a
// probability of staying.
func (f *Fit) chainOf(m *Fit, theta []float64, stay float64) []float64 {
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
	f.Mix.SetChainProbabilities(own, initial, transitions)
	copy(f.Mix.Components(own), m.Mix.Components(theta))
	return own
}

// setChain makes m, whose states are those of theta in such an order, a chain where that is what is fitted.
func (f *Fit) setChain(m *model.Model, theta []float64, order []int) {
	if !f.Plan.Chain {
		return
	}
	m.Kind, m.Emission = model.ChainKind, m.Kind
	initial, transitions := f.Mix.ChainProbabilities(theta)
	k := f.Mix.K
	m.Initial, m.Transitions = kind.Picked(initial, order), nil
	for _, a := range order {
		m.Transitions = append(m.Transitions, kind.Picked(transitions[a*k:(a+1)*k], order))
	}
}

// chainEdges names the probabilities of first states and of transitions that are 0 or 1, or that no rows tell, which the certificate leaves out, and
// warns of the latter: they are as they were at the start.
func (f *Fit) chainEdges(r *Result, p *ascent.Point, order []int) {
	k := f.Mix.K
	if p.Held == nil || k == 1 {
		return
	}
	edge := func(s string) { r.Certificate.OnEdge = append(r.Certificate.OnEdge, s) }
	if slices.Contains(p.Held[:k], true) {
		edge("initial probabilities")
	}
	_, transitions := f.Mix.ChainProbabilities(p.Theta)
	var silent []string
	for c, from := range order {
		held := kind.Picked(p.Held[k+from*k:k+(from+1)*k], order)
		row, to := kind.Picked(transitions[from*k:(from+1)*k], order), []string(nil)
		for b, own := range row {
			if held[b] && own < 0.5 {
				to = append(to, strconv.Itoa(b+1))
			}
		}
		switch {
		case !slices.Contains(held, false) && slices.Max(row) < 1-1e-6: // held, but not for being 0 or 1
			silent = append(silent, strconv.Itoa(c+1))
			edge("transitions from " + strconv.Itoa(c+1))
		case len(to) > 0:
			edge(fmt.Sprintf("transitions from %d to %s", c+1, text.List(to, "and")))
		}
	}
	if len(silent) > 0 {
		r.warn(model.Warn(model.Unfollowed, "no row tells what follows state %s: transition probabilities from there are as they were at the start", text.List(silent, "or")))
	}
}
