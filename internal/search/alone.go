package search

import (
	"context"
	"sync"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// alone answers for the sums of one component without passes after the first: all rows are its own whatever the parameters, so that the sums of one pass
// give those of any other. Factor analysis takes many evaluations, each of which then costs what its M-step does.
type alone struct {
	sweep.Sweeper
	first sync.Mutex
	theta []float64 // of the pass
	stats *family.Stats
}

// newAlone returns a sweeper for the fit that needs one pass; nil where its sums depend on responsibilities, or are not exact about other parameters.
func (f *Fit) newAlone() *alone {
	fam, ok := f.Mix.Family.(family.Factors)
	if !ok || f.Mix.K != 1 || f.Mix.Noise != nil || fam.Gaps != nil || f.Plan.Hard() {
		return nil
	}
	return &alone{Sweeper: f.Local}
}

// Sweep implements sweep.Sweeper. All tasks must be of one mixture.
func (a *alone) Sweep(ctx context.Context, tasks []sweep.Task) ([]*family.Stats, error) {
	a.first.Lock()
	defer a.first.Unlock()
	if a.stats == nil {
		s, err := a.Sweeper.Sweep(ctx, tasks[:1])
		if err != nil {
			return nil, err
		}
		a.theta, a.stats = tasks[0].Mixture.Components(tasks[0].Theta), s[0]
	}
	all := make([]*family.Stats, len(tasks))
	for i, t := range tasks {
		all[i] = a.at(&t)
	}
	return all, nil
}

// at returns the sums of a pass with the parameters of a task.
func (a *alone) at(t *sweep.Task) *family.Stats {
	s, comp := a.moved(t.Mixture, t.Theta), t.Mixture.Components(t.Theta)
	s.LogLik = t.Mixture.Family.Expected(comp, comp, s)
	s.F = s.LogLik
	return s
}

// moved is at without the log-likelihood.
func (a *alone) moved(m *mixture.Mixture, theta []float64) *family.Stats {
	s := m.NewStats(0)
	s.Merge(a.stats)
	family.Move(m.Family, s, m.Components(theta), a.theta)
	return s
}

// gradient returns the gradient of the log-likelihood at theta.
func (a *alone) gradient(m *mixture.Mixture, theta []float64) []float64 {
	g := make([]float64, len(theta))
	m.Grad(g, theta, a.moved(m, theta))
	return g
}
