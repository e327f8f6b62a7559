package updating

import (
	"context"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// joint sweeps rows that are there together with the sums of others that are not.
type joint struct {
	rows  sweep.Sweeper
	mix   *mixture.Mixture
	old   *family.Stats
	about []float64 // the parameters that the old sums are of
}

// Sweep implements sweep.Sweeper.
func (j *joint) Sweep(ctx context.Context, tasks []sweep.Task) ([]*family.Stats, error) {
	own := make([]sweep.Task, len(tasks))
	for i, t := range tasks {
		t.State = nil
		own[i] = t
	}
	stats, err := j.rows.Sweep(ctx, own)
	if err != nil {
		return nil, err
	}
	for i, t := range tasks {
		old := moved(j.mix, j.old, t.Theta, j.about)
		old.F = j.mix.FreeEnergy(t.Theta, t.Theta, t.Beta, old)
		old.LogLik = old.F
		stats[i].Merge(old)
	}
	return stats, nil
}

// moved returns the sums s of a pass with the parameters about as they are about theta, with the same responsibilities.
func moved(mix *mixture.Mixture, s *family.Stats, theta, about []float64) *family.Stats {
	own := *s
	own.N, own.Sum = append([]float64(nil), s.N...), append([]float64(nil), s.Sum...)
	family.Move(mix.Family, &own, mix.Components(theta), mix.Components(about))
	return &own
}
