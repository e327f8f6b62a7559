package updating

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// joint sweeps rows that are there together with the sums of others that are gone. What it climbs is
//
//	log-likelihood of the new rows + F(q, theta) + reach (1 - exp(-KL(q, theta) / reach))
//
// F(q, theta) is the free energy of the old rows with the responsibilities q that they had when they were there. It lies below their
// log-likelihood by KL(q, theta), the divergence of q from what their responsibilities would be by now. That is measured on rows drawn from the
// model of q, for which they need not be there: it is 0 at its parameters, and of second order near them. Without it old rows hold on to their
// groups, and so to the parameters, the more the more groups overlap: ten tenths one after another then end up to four standard errors from one
// fit where that is one with it (docs/update.md).
//
// The sums of the old rows and those of the rows drawn in their place differ by chance, so that F + KL may rise without end far from the old
// parameters. Bounded, it cannot: EM on F alone has a maximum.
type joint struct {
	rows   sweep.Sweeper
	mix    *mixture.Mixture
	about  []float64     // the parameters of the old model
	old    *family.Stats // of the rows that are gone
	drawn  sweep.Sweeper // of rows drawn in their place; nil where responsibilities stay as they are
	before *family.Stats // of drawn at about
	reach  float64       // nats
}

// reachEach is the reach in nats a parameter. Where new rows are as many as the old ones, the divergence at the new maximum is half a
// nat for each unit of the ratio of hidden to observed information, and less where they are fewer. With 1 the error of ten tenths on overlapping groups was a half larger, and
// with no bound one in three climbs had no end.
const reachEach = 4

// Sweep implements sweep.Sweeper.
func (j *joint) Sweep(ctx context.Context, tasks []sweep.Task) ([]*family.Stats, error) {
	alone := slices.Clone(tasks)
	for i := range alone {
		alone[i].State = nil // that of k-means is for the sweeps of one source
	}
	stats, err := j.rows.Sweep(ctx, alone)
	if err != nil {
		return nil, err
	}
	var drawn []*family.Stats
	if j.drawn != nil {
		if drawn, err = j.drawn.Sweep(ctx, alone); err != nil {
			return nil, err
		}
	}
	for i, t := range tasks {
		s := stats[i]
		add(s, j.moved(j.old, &t), 1)
		if drawn != nil {
			j.loosen(s, drawn[i], &t)
		}
		s.LogLik = s.F
	}
	return stats, nil
}

// loosen adds to s what the old rows gain by letting go of their responsibilities, as the rows drawn in their place tell it.
func (j *joint) loosen(s, drawn *family.Stats, t *sweep.Task) {
	before := j.moved(j.before, t)
	divergence := max(drawn.F-before.F, 0)
	slope := math.Exp(-divergence / j.reach)
	f := s.F - j.reach*math.Expm1(-divergence/j.reach)
	add(s, drawn, slope)
	add(s, before, -slope)
	s.F = f
	for c, n := range s.N {
		s.N[c] = max(n, 0) // a component without rows may end below by chance
	}
}

// add adds s to the sums to, times share. Only rows that are there count as such.
func add(to, s *family.Stats, share float64) {
	to.W += share * s.W
	to.F += share * s.F
	to.Entropy += share * s.Entropy
	for c, v := range s.N {
		to.N[c] += share * v
	}
	for i, v := range s.Sum {
		to.Sum[i] += share * v
	}
}

// moved returns the sums s of the old model as they are about the parameters of the task, with the same responsibilities.
func (j *joint) moved(s *family.Stats, t *sweep.Task) *family.Stats {
	own := *s
	own.N, own.Sum = slices.Clone(s.N), slices.Clone(s.Sum)
	family.Move(j.mix.Family, &own, j.mix.Components(t.Theta), j.mix.Components(j.about))
	own.F = j.mix.FreeEnergy(t.Theta, t.Theta, t.Beta, &own)
	return &own
}
