package search

import (
	"cmp"
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// meanPrecision is how many rows the prior mean of a component counts for in variational Bayes.
const meanPrecision = 1

// leastInUse is how many rows a component of q must count to be in use.
const leastInUse = 1

// bayes turns the mixture of the fit into one of variational Bayes, where the plan asks for that. The prior of a component is that of scikit-learn: the mean of all rows, which counts
// for one row, and as many degrees of freedom as there are columns, with the covariance of all rows (divisor n - 1) for their scale, its
// diagonal, or the mean of that, as the shape asks. It makes a pass.
func (f *Fit) bayes(ctx context.Context) error {
	d := f.Mix.D
	g, ok := f.Mix.Family.(family.Gaussian)
	if !ok || !f.Plan.Bayes() {
		return nil
	}
	if w := f.Survey.W; !(w > 1) {
		return plan.Errorf("the row weights sum to %v; --algorithm vb takes them for numbers of rows and needs more than 1", w)
	}
	alone := g
	alone.Shape = g.Shape.Alone()
	one := &mixture.Mixture{Family: alone, K: 1, D: d, Uniform: true}
	theta := make([]float64, one.Params())
	for j, m := range f.Survey.Mean {
		theta[j] = m - f.Origin[j]
	}
	alone.FromVariances(theta[d:], f.Survey.Var)
	sums, err := f.Local.Sweep(ctx, []sweep.Task{{Mixture: one, Theta: theta, Beta: 1}})
	if err != nil {
		return err
	}
	f.StartSweeps++
	scatter := sums[0].Sum[d:]
	for i := range scatter {
		scatter[i] /= f.Survey.W - 1
	}
	if g.Shape.Alone() == family.Spherical {
		scatter[0] /= float64(d)
	}
	if u := make([]float64, len(scatter)); !alone.Scale(u, slices.Clone(scatter), d) || g.Shape.Matrix() && alone.AtFloor(append(slices.Clone(theta[:d]), u...), 1, d)[0] {
		return f.collinear(ctx)
	}
	f.Mix.Family = family.Bayes{Gaussian: g, Prior: family.BayesPrior{MeanPrecision: meanPrecision, Mean: slices.Clone(theta[:d]), Dof: float64(d), Scale: scatter}}
	f.Mix.Bayes = &mixture.Bayes{Concentration: f.Plan.Concentration, Process: f.Plan.Process(), Rows: f.Survey.W}
	return nil
}

// collinear is the error of columns of which some are linear in others: their covariance is no scale of a prior.
func (f *Fit) collinear(ctx context.Context) error {
	said, err := f.Collinear(ctx, "the prior of --algorithm vb needs a covariance of all rows that is positive definite")
	switch {
	case err != nil:
		return err
	case said != "":
		return plan.Errorf("%s", plan.Flags(said))
	}
	return plan.Errorf("the covariance of all rows is singular, so that it is no prior for --algorithm vb; use --covariance diag, or leave columns out")
}

// byCounts returns the components of q at theta, the one that counts most rows first; equal ones by their means. A process has its own
// order, which is that of its sticks.
func (f *Fit) byCounts(theta []float64) (order []int, counts []float64) {
	counts, order = f.Mix.Counts(theta), upTo(f.Mix.K)
	if f.Mix.Bayes.Process {
		return order, counts
	}
	slices.SortStableFunc(order, func(a, b int) int {
		if counts[a] != counts[b] {
			return cmp.Compare(counts[b], counts[a])
		}
		comp, d := f.Mix.Components(theta), f.Mix.D
		return slices.Compare(comp[a*d:a*d+d], comp[b*d:b*d+d])
	})
	return order, counts
}

// inUse returns how many of the components in order count a row or more: at least one.
func inUse(order []int, counts []float64) int {
	k := 0
	for k < len(order) && counts[order[k]] >= leastInUse {
		k++
	}
	return max(k, 1)
}

// bayesModel returns the model of q at theta, whose components are those in use, and their order.
func (f *Fit) bayesModel(theta []float64) (*model.Model, []int) {
	order, counts := f.byCounts(theta)
	k, d := inUse(order, counts), f.Mix.D
	fam := f.Mix.Family.(family.Bayes)
	comp := f.Mix.Components(theta)
	p := &model.Posterior{Shape: fam.Shape}
	ordered := kind.Picked(counts, order)
	if f.Mix.Bayes.Process {
		p.Sticks = f.Mix.Bayes.Sticks(ordered)
	}
	for _, n := range ordered {
		if !f.Mix.Bayes.Process {
			p.Concentration = append(p.Concentration, f.Mix.Bayes.Concentration+n)
		}
		p.MeanPrecision = append(p.MeanPrecision, meanPrecision+n)
	}
	place := f.places(comp)
	for _, c := range order {
		p.Means = append(p.Means, place[c])
	}
	for i := range fam.Shape.Count(f.Mix.K) {
		rows := ordered[i]
		if fam.Shape.Shared() {
			rows = f.Survey.W
		}
		p.Dof = append(p.Dof, fam.DofOf(rows, d))
		q := make([]float64, fam.Shape.Size(d))
		fam.Covariance(q, fam.ScaleOf(comp, order[i], f.Mix.K, d), d)
		for j := range q {
			q[j] *= p.Dof[i]
		}
		p.Scale = append(p.Scale, kind.Unpack(fam.Shape, q, d))
	}
	m, used := f.modelIn(order[:k], comp, kind.Picked(p.Shares(), invert(order)), 0)
	m.Posterior = p
	in := *m // whose means and covariances are those of q in the units of the fit
	in.Means, in.Covariance, in.Transform = p.Means, p.Scale, f.Transform
	f.ToUserUnits(&in)
	p.Means, p.Scale = in.Means, in.Covariance
	return m, used
}

// invert returns the place of each number from 0 on in order.
func invert(order []int) []int {
	at := make([]int, len(order))
	for i, c := range order {
		at[c] = i
	}
	return at
}

// onRows returns the mixture for other rows of so much weight: itself where nothing in it counts rows.
func onRows(m *mixture.Mixture, weight float64) *mixture.Mixture {
	if m.Bayes == nil {
		return m
	}
	own, prior := *m, *m.Bayes
	prior.Rows = weight
	own.Bayes = &prior
	return &own
}

// sortedSticks returns theta with its components in order of the rows they count, and whether that has changed anything: with
// responsibilities as they are, a stick-breaking prior never prefers another order (Kurihara, Welling and Teh 2007).
func (f *Fit) sortedSticks(theta []float64) ([]float64, bool) {
	if f.Mix.Bayes == nil || !f.Mix.Bayes.Process {
		return theta, false
	}
	counts := f.Mix.Counts(theta)
	order := upTo(f.Mix.K)
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(counts[b], counts[a]) })
	moved := false
	for i, c := range order {
		moved = moved || counts[c] > counts[i]+leastMoved
	}
	if !moved {
		return theta, false
	}
	return f.permuted(theta, order), true
}

// leastMoved is by how many rows two components must be in the wrong order to be put right: less changes the bound by less than its
// rounding.
const leastMoved = 1e-6

// permuted returns theta with component order[c] in place c.
func (f *Fit) permuted(theta []float64, order []int) []float64 {
	fam, k, d := f.Mix.Family.(family.Bayes), f.Mix.K, f.Mix.D
	next := slices.Clone(theta)
	from, to := f.Mix.Components(theta), f.Mix.Components(next)
	for c, at := range order {
		next[c] = theta[at]
		copy(to[c*d:c*d+d], from[at*d:at*d+d])
		if !fam.Shape.Shared() {
			copy(fam.ScaleOf(to, c, k, d), fam.ScaleOf(from, at, k, d))
		}
	}
	return next
}

// bound returns the evidence lower bound at p in the user's units.
func (f *Fit) bound(p *ascent.Point) *float64 {
	v := p.F + f.LogJacobian()
	if math.IsNaN(v) || math.IsInf(v, 0) {
		return nil
	}
	return &v
}
