// Package merging finds which components of a mixture make one cluster. The density stays as it is: a cluster is a sum of responsibilities.
package merging

import (
	"cmp"
	"context"
	"errors"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Merged is what merging came to.
type Merged struct {
	Model    *model.Model // its Provenance, where it has one, holds Clusters
	Clusters *model.Clusters
	Tally    *search.Tally // of the labels of the rows
}

// Merge returns m with its components merged into clusters, by the rows of src, whose columns are the model's in order and in the user's
// units, and the labels of these rows. It makes a pass for each merger, k - 1 at most for k components, one that labels, and beside noise one
// more for the entropy of the last cluster. Clusters that m has already are forgotten. m stays as it is. An error says which rows cannot be
// read, or that K of how is more than k.
//
// Two clusters are merged after each other, which and how long Merging says: those of the largest overlap (see score.Overlaps) while that is
// at least the cutoff, or those whose merging lowers the entropy most (see score.Entropies) down to one cluster, of which then that number is
// taken that was asked for, or at which the entropies bend. Of equal pairs the first is merged. Entropies of fewer than three components have no
// bend; these are not merged.
func Merge(ctx context.Context, src data.Source, m *model.Model, how *plan.Merging, threads int) (*Merged, error) {
	if err := how.Check(m.K()); err != nil {
		return nil, err
	}
	src = prepare.Emptied(src)
	r := &run{how: how, src: src, threads: threads, weights: slices.Clone(m.Weights)}
	r.model = *m.Unmerged()
	for c := range m.K() {
		r.groups = append(r.groups, []int{c})
	}
	told := &model.Clusters{Method: string(how.Method)}
	if how.Method == plan.MergeOverlap {
		told.Cutoff = &how.Cutoff
	}
	of, err := r.merge(ctx, told)
	if err != nil {
		return nil, err
	}
	merged := r.model
	merged.Clusters = byWeight(of, m.Weights)
	told.N, told.Of = merged.NumLabels(), merged.Clusters
	told.Weights = make([]float64, told.N)
	for c, w := range m.Weights {
		told.Weights[merged.LabelOf(c)] += w
	}
	t, err := search.Label(ctx, src, &merged, threads)
	if err != nil {
		return nil, err
	}
	told.Rows = t.Rows()
	if m.Provenance != nil { // else it was written by hand
		p := *m.Provenance
		p.Clusters, p.Truth, p.Stability = told, nil, nil // these two were of other labels
		merged.Provenance = &p
	}
	return &Merged{&merged, told, t}, nil
}

// Fitted merges the components of r, the result of a fit to the rows of src, where the plan of the fit says so. Where they are too few for what was
// asked, it merges none and adds a warning to r.
func Fitted(ctx context.Context, src data.Source, p *plan.Plan, r *search.Result) error {
	if p.Merge == nil {
		return nil
	}
	how, found := *p.Merge, &r.Model.Provenance.Findings
	if err := how.Check(r.Model.K()); err != nil { // the fit chose k; a given one is checked before
		found.Warnings = append(found.Warnings, model.Warn(model.NotMerged, "%s: nothing is merged", err))
		how.K = r.Model.K()
	} else if how.Method == plan.MergeEntropy && how.K == 0 && r.Model.K() == 2 {
		found.Warnings = append(found.Warnings, model.Warn(model.NotMerged, "the entropies of two components have no bend: nothing is merged"))
	}
	m, err := Merge(ctx, src, r.Model, &how, p.Threads)
	if err != nil {
		return err
	}
	r.Model = m.Model
	r.Agree(m.Tally)
	return nil
}

// run is a sequence of mergers.
type run struct {
	how     *plan.Merging
	src     data.Source
	threads int
	model   model.Model // without clusters

	groups  [][]int   // the components of each cluster, from 0
	weights []float64 // of the clusters in the mixture
	value   []float64 // of pairs of clusters a < b, at a*len(groups)+b: what the method merges the largest of
	last    int       // the cluster that the last merger made; -1 before the first
}

// merge merges clusters as long as the method says, tells of it, and returns the components of the clusters to take.
func (r *run) merge(ctx context.Context, told *model.Clusters) ([][]int, error) {
	r.last = -1
	byNumber := map[int][][]int{len(r.groups): slices.Clone(r.groups)}
	entropy := []float64{0} // from one cluster on: there every responsibility is 1, but for noise
	for len(r.groups) > 1 {
		h, err := r.pass(ctx)
		if err != nil {
			return nil, err
		}
		if told.Entropy == nil {
			told.Entropy = &h
		}
		entropy = slices.Insert(entropy, 1, h)
		a, b := r.largest()
		step := model.MergeStep{Clusters: len(r.groups) - 1, Joined: [2][]int{numbered(r.groups[a]), numbered(r.groups[b])}}
		if r.how.Method == plan.MergeOverlap {
			step.Value = new(r.value[a*len(r.groups)+b])
			if *step.Value < r.how.Cutoff {
				told.Next = &step
				return r.groups, nil
			}
		}
		told.Steps = append(told.Steps, step)
		r.join(a, b)
		byNumber[len(r.groups)] = slices.Clone(r.groups)
	}
	if r.model.Noise != nil && (told.Entropy == nil || r.how.Method == plan.MergeEntropy) { // some of each row may be noise, so that responsibilities of one cluster are not 1
		h, err := r.pass(ctx)
		if err != nil {
			return nil, err
		}
		entropy[0] = h
	}
	if told.Entropy == nil {
		told.Entropy = &entropy[0]
	}
	if r.how.Method == plan.MergeOverlap {
		return r.groups, nil
	}
	for i := range told.Steps {
		told.Steps[i].Entropy = &entropy[told.Steps[i].Clusters-1]
	}
	return byNumber[cmp.Or(r.how.K, score.Bend(entropy), len(entropy))], nil
}

// pass makes a pass over the rows, which finds the values of all pairs of clusters, or after a merger those of the pairs with the new one. It returns the
// entropy of the responsibilities of the clusters.
func (r *run) pass(ctx context.Context) (entropy float64, err error) {
	m, k := r.model, len(r.groups)
	if k < m.K() {
		m.Clusters = make([]int, m.K())
		for g, own := range r.groups {
			for _, c := range own {
				m.Clusters[c] = g + 1
			}
		}
	}
	s, err := gather(ctx, r.src, &m, &job{Entropy: r.how.Method == plan.MergeEntropy, With: r.last}, r.threads)
	switch {
	case err != nil:
		return 0, err
	case !(s.Weight > 0):
		return 0, errors.New("no row has a value and a weight above 0")
	}
	if r.value == nil {
		r.value = make([]float64, k*k)
	}
	for a := range k {
		for b := a + 1; b < k; b++ {
			switch {
			case r.last >= 0 && a != r.last && b != r.last:
			case s.Overlaps != nil:
				r.value[a*k+b] = s.Overlaps.Of(a, b, r.weights, s.Weight)
			default:
				r.value[a*k+b] = s.Entropies.Gain[a*k+b]
			}
		}
	}
	return s.Total, nil
}

// largest returns the first pair of clusters of the largest value.
func (r *run) largest() (a, b int) {
	k := len(r.groups)
	a, b = 0, 1
	for i := range k {
		for j := i + 1; j < k; j++ {
			if r.value[i*k+j] > r.value[a*k+b] {
				a, b = i, j
			}
		}
	}
	return a, b
}

// join makes one of clusters a and b, in the place of a, the first of them.
func (r *run) join(a, b int) {
	k := len(r.groups)
	value := make([]float64, 0, (k-1)*(k-1))
	for i := range k {
		for j := range k {
			if i != b && j != b {
				value = append(value, r.value[i*k+j])
			}
		}
	}
	r.value, r.last = value, a
	r.groups[a] = slices.Concat(r.groups[a], r.groups[b])
	r.weights[a] += r.weights[b]
	r.groups, r.weights = slices.Delete(r.groups, b, b+1), slices.Delete(r.weights, b, b+1)
}

// numbered returns components by their numbers from 1, in order.
func numbered(components []int) []int {
	own := make([]int, len(components))
	for i, c := range components {
		own[i] = c + 1
	}
	slices.Sort(own)
	return own
}

// byWeight returns the cluster of each component, from 1: the heaviest is the first, of equals that with the first component.
func byWeight(groups [][]int, weights []float64) []int {
	type cluster struct {
		components []int
		weight     float64
	}
	all := make([]cluster, len(groups))
	for g, own := range groups {
		all[g].components = slices.Sorted(slices.Values(own))
		for _, c := range all[g].components {
			all[g].weight += weights[c]
		}
	}
	slices.SortFunc(all, func(x, y cluster) int {
		return cmp.Or(cmp.Compare(y.weight, x.weight), x.components[0]-y.components[0])
	})
	of := make([]int, len(weights))
	for g, x := range all {
		for _, c := range x.components {
			of[c] = g + 1
		}
	}
	return of
}
