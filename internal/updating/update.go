package updating

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/text"
	"github.com/latent-go/latent/model"
)

// Refuse says why no model like m can be updated, whatever its fit has kept; nil where one can.
func Refuse(m *model.Model) error {
	what, k := "", kind.Of(m.ComponentKind())
	switch {
	case m.IsChain():
		return errors.New("a hidden Markov model cannot be updated: its sums do not tell how sequences go on; fit all sequences together, from this model with --init model:FILE")
	case m.Noise != nil:
		return errors.New("a model with noise cannot be updated: sums of the groups do not tell what is noise; fit all rows together")
	case m.Posterior != nil:
		what = string(plan.VB)
	case k != nil && (k.Tails || !k.Mixture && !k.Squared): // rows of changing weight, and medians
		what = k.Name
	default:
		return nil
	}
	return fmt.Errorf("a model of %s cannot be updated; fit all rows together", what)
}

// Update returns m, which must have sums, as it is after rows that came later: those of src, in the model's columns and the user's units. The
// weights of the rows before are multiplied by forget. Components keep their places. m stays as it is.
func Update(ctx context.Context, src data.Source, m *model.Model, forget float64, threads int) (*model.Model, error) {
	p, err := newPass(ctx, src, m, m.Sums.Origin, forget*m.Sums.Weight, threads)
	if err != nil {
		return nil, err
	}
	before, err := score(ctx, src, m, threads)
	if err != nil {
		return nil, err
	}
	all, err := p.joined(ctx, m, forget)
	if err != nil {
		return nil, err
	}
	run, err := p.climb(ctx, all)
	if err != nil {
		return nil, err
	}
	end := run.Last.Point
	s, err := p.sums(ctx, all, end.Theta)
	if err != nil {
		return nil, err
	}
	s.W = p.fit.Survey.W // without the rounding of rows drawn and taken out again
	next := p.fit.InOwnOrder(end.Theta, end)
	next.Clusters = m.Clusters
	after, err := score(ctx, src, next, threads)
	if err != nil {
		return nil, err
	}
	rows, seen := m.Sums.Rows+p.fit.Survey.Used, make([]float64, len(m.Sums.Seen))
	for j, w := range m.Sums.Seen {
		seen[j] = math.Ldexp(forget*w, p.fit.Units.WeightPower) + p.fit.Survey.Seen[j]
	}
	if next.Sums, err = p.kept(s, rows, seen, pooled(m.Sums.LogDensity, forget*m.Sums.Weight, after.Spread, after.weight)); err != nil {
		return nil, err
	}
	next.N, next.Spec = &rows, m.Spec
	next.Provenance = p.provenance(m, &run, next.Sums.Weight, after)
	next.Provenance.Clusters = clusters(next, m.Provenance, after.labels)
	p.fit.TellPrior(next.Provenance, end)
	p.tell(next, m, forget, before, after)
	return next, next.Validate()
}

// joined returns what sweeps the new rows together with the sums of the old.
func (p *pass) joined(ctx context.Context, m *model.Model, forget float64) (*joint, error) {
	all := &joint{rows: p.fit.Local, mix: p.fit.Mix, about: p.theta, old: p.stats(m.Sums, forget), reach: reachEach * float64(p.fit.Mix.Free())}
	if p.fit.Plan.Hard() {
		return all, nil
	}
	table, err := draw(m, all.old.W, p.fit.Plan.Seed)
	if err != nil {
		return nil, err
	}
	drawn := sweep.NewLocal(table, int64(table.N), p.fit.Origin, p.fit.Plan.Threads)
	if all.before, err = p.sums(ctx, drawn, p.theta); err != nil {
		return nil, err
	}
	all.drawn = drawn
	return all, nil
}

// climb climbs from the model. Where that comes to no end, responsibilities of the old rows stay as they are, which always does.
func (p *pass) climb(ctx context.Context, all *joint) (search.Run, error) {
	p.fit.SharedSweeper = all
	run := p.fit.ClimbWith(ctx, p.fit.Driver(0), p.theta, nil)
	if err := ctx.Err(); err != nil {
		return run, err
	}
	if all.drawn != nil && !run.Last.Done.Converged() {
		all.drawn = nil
		first := run.Sweeps
		run = p.fit.ClimbWith(ctx, p.fit.Driver(0), p.theta, nil)
		run.Sweeps += first
	}
	return run, run.Err
}

// provenance returns what the updated model remembers: of all rows their number and weight, of the new ones the rest.
func (p *pass) provenance(m *model.Model, run *search.Run, weight float64, after *scored) *model.Provenance {
	o := &model.Provenance{Rows: m.Sums.Rows + p.fit.Survey.Used,
		Course: model.Course{TotalWeight: weight, Converged: run.Last.Done.Converged(), Algorithm: string(p.fit.Plan.Driver(p.fit.Mix.D)), FreeParameters: p.fit.Mix.Free(),
			Init: "model", Seed: p.fit.Plan.Seed, Iterations: run.Last.Iteration, Sweeps: run.Sweeps, SweepsTotal: run.Sweeps},
		AtFloor:  p.fit.Mix.Family.AtFloor(p.fit.Mix.Components(run.Last.Point.Theta), p.fit.Mix.K, p.fit.Mix.D),
		Findings: model.Findings{Warnings: []model.Warning{}, Version: plan.Version},
	}
	if old := m.Provenance; old != nil {
		o.LeftOut = old.LeftOut
		if len(old.GroupRows) == m.K() {
			for c, n := range after.rows {
				o.GroupRows = append(o.GroupRows, old.GroupRows[c]+n)
			}
		}
	}
	return o
}

// clusters returns how the components of an updated model were merged, with what its clusters weigh and the rows they have after those of each label that
// came later. The mergers, and the entropies, were of the rows before. It is nil where that is not known.
func clusters(next *model.Model, old *model.Provenance, rows []int64) *model.Clusters {
	if old == nil || old.Clusters == nil || !slices.Equal(old.Clusters.Of, next.Clusters) {
		return nil
	}
	was := old.Clusters
	own := &model.Clusters{Method: was.Method, Cutoff: was.Cutoff, N: was.N, Of: was.Of, Weights: next.Pooled().Weights, Rows: slices.Clone(was.Rows)}
	for g := range own.Rows {
		own.Rows[g] += rows[g]
	}
	return own
}

// apartFrom is how many standard errors the mean log density of new rows must be from what would be expected of it for a warning. Log densities are
// skewed, so that means of few rows are not normal: see docs/update.md for how often it warns for nothing.
const apartFrom = 4

// distances is what centres explain rows by.
const distances = "squared distance"

// tell adds to the updated model what the update came to, and warns where the new rows are not like those before.
func (p *pass) tell(next, m *model.Model, forget float64, before, after *scored) {
	u := &model.Update{Count: 1, Rows: p.fit.Survey.Used, Weight: before.weight, OldRows: m.Sums.Rows, OldWeight: m.Sums.Weight, Forget: forget,
		Converged: next.Provenance.Converged, Passes: next.Provenance.Sweeps}
	if m.Provenance != nil && m.Provenance.Update != nil {
		u.Count += m.Provenance.Update.Count
	}
	old := m.Sums.LogDensity
	e := &model.Explained{Old: old.Mean, New: before.Mean, Updated: after.Mean, Apart: p.apart(old, m.Sums.Weight, before)}
	of := "log density"
	if u.LogDensity = e; !m.HasDensity() {
		u.LogDensity, u.Distance, of = nil, e, distances
		e.Old, e.New, e.Updated = 0-e.Old, 0-e.New, 0-e.Updated
	}
	next.Provenance.Update = u
	if math.Abs(e.Apart) > apartFrom {
		next.Provenance.Warnings = append(next.Provenance.Warnings, model.Warn(model.OtherRows, "%s", differ(of, e, gaps(m.Sums.Seen, m.Sums.Weight), gaps(p.fit.Survey.Seen, math.Ldexp(before.weight, p.fit.Units.WeightPower)))))
	}
}

// differ says that the new rows are not like those before, and what to do.
func differ(of string, e *model.Explained, was, is float64) string {
	how, why := "worse", "a group may have appeared, or a column drifted; latent score shows which rows, and a new fit of all rows would tell"
	if e.Apart > 0 {
		how, why = "better", "they may come from a part of the groups, or repeat each other"
	}
	if math.Abs(was-is) > sameGaps {
		why = fmt.Sprintf("but %.1f %% of their cells are missing, where it was %.1f %%, and that alone changes it", 100*is, 100*was)
	}
	return fmt.Sprintf("the new rows are explained %s than those before: their mean %s is %s, where it was %s, %s standard errors from what was to be expected; %s", how, of,
		text.Short(e.New), text.Short(e.Old), text.Short(math.Abs(e.Apart)), why)
}

// sameGaps is the difference between shares of missing cells from which on it is named as the reason.
const sameGaps = 0.01

// gaps returns which share of the cells of rows with such a weight is missing.
func gaps(seen []float64, weight float64) float64 {
	sum := 0.0
	for _, v := range seen {
		sum += v / weight
	}
	return 1 - sum/float64(len(seen))
}

// optimism returns by how much new rows are expected to be explained worse than rows were by a model that was fitted to them: p nats in all
// for a mixture of p parameters (Akaike 1973), and of centres as many mean squared distances as there are centres, twice.
func (p *pass) optimism(mean, weight float64) float64 {
	if p.fit.Plan.Mixture() {
		return float64(p.fit.Mix.Free()) / weight
	}
	return -2 * mean * float64(p.fit.Mix.K) / weight
}

// apart returns how many standard errors the mean of new rows is above what is expected of it: that of old rows of such a weight, less optimism. The
// variance of a row is that of the old rows; optimism is half of a sum of as many squares as there are parameters for the old rows, and as much for
// the new ones, and has the variance of those.
func (p *pass) apart(old model.Spread, weight float64, new *scored) float64 {
	weight, now := math.Ldexp(weight, p.fit.Units.WeightPower), math.Ldexp(new.weight, p.fit.Units.WeightPower)
	optimism := p.optimism(old.Mean, weight)
	off := new.Mean - (old.Mean - optimism)
	variance := old.Variance*(1/weight+1/now) + optimism*optimism/float64(p.fit.Mix.Free())
	if !(variance > 0) {
		return 0
	}
	return off / math.Sqrt(variance)
}

// pooled returns the spread over rows of weight v with the spread a and others of weight w with the spread b (Chan, Golub, LeVeque 1983).
func pooled(a model.Spread, v float64, b model.Spread, w float64) model.Spread {
	share, off := w/(v+w), b.Mean-a.Mean
	return model.Spread{Mean: a.Mean + share*off, Variance: a.Variance + share*(b.Variance-a.Variance) + share*(1-share)*off*off}
}
