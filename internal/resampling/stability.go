package resampling

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/merging"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/selection"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Bounds of the mean Jaccard similarity (Hennig 2007 and the manual of fpc's clusterboot).
const (
	veryStable = 0.85
	stable     = 0.75
	doubtful   = 0.6
	dissolved  = 0.5
)

// reading returns what a mean Jaccard similarity means in words.
func reading(jaccard float64) string {
	switch {
	case jaccard >= veryStable:
		return model.VeryStable
	case jaccard >= stable:
		return model.Stable
	case jaccard >= doubtful:
		return model.UnsureEdges
	}
	return model.NotTrusted
}

// lowShare is the share of replicates whose ARI is below Stability.ARILow.
const lowShare = 0.05

// comparison is one replicate compared with the result.
type comparison struct {
	model  *model.Model
	err    error
	ari    float64
	groups []similarity
}

// similarity is how far one group of the result is found again in a replicate.
type similarity struct {
	jaccard  float64 // the largest Jaccard similarity with a group of the replicate
	together float64 // the share of the group's pairs of rows that are in one group of the replicate
}

// stability repeats the fit that led to r on resampled rows. It keeps the labels of all rows in memory, 4 bytes each. sequences, where not nil,
// draws whole sequences. note, where not nil, is told how many replicates are done.
func stability(ctx context.Context, src data.Source, p plan.Plan, r *search.Result, sequences *resample, note func(done, of int)) (*model.Stability, error) {
	from, k := r.Model.Provenance, r.Model.NumLabels()
	sample := resample{used: from.Rows, total: from.TotalWeight}
	if sequences != nil {
		sample = *sequences
	}
	sample.seed, sample.halved = p.Seed, p.HalvesDraws()
	if err := sample.enough("Bootstrap"); err != nil {
		return nil, err
	}
	s := &model.Stability{Replicates: p.Bootstrap, Groups: []model.GroupStability{}}
	var labels []int32
	err := r.Model.Rows(context.WithoutCancel(ctx), src, p.Threads, func(b *model.Scored) error {
		labels = append(labels, b.Label...)
		return nil
	})
	if err != nil {
		return nil, err
	}
	all := make([]*comparison, p.Bootstrap)
	replicates(ctx, p.Threads, from.Rows, p.Bootstrap, note, func(i, threads int) {
		own := sample
		own.replicate = i
		replica := p.Replicate(threads)
		again, err := selection.Fit(ctx, own.of(src), replica, search.Observer{})
		if err == nil {
			err = merging.Fitted(ctx, own.of(src), &replica, again)
		}
		c := &comparison{err: err}
		if err == nil {
			c.model = again.Model
			err = c.compare(ctx, src, labels, k, threads)
		}
		if ctx.Err() == nil { // else it was cut short
			c.err, all[i] = err, c
		}
	})
	gatherStability(s, all, k)
	if p.Chooses() || p.Penalty != nil {
		s.Choices = choices(all)
	}
	s.Interrupted = s.Done+s.Failed < s.Replicates
	return s, nil
}

// compare labels all rows with the replicate's model and compares its groups with the k groups of labels, which are those of the result.
// Weights count rows.
func (c *comparison) compare(ctx context.Context, src data.Source, labels []int32, k int, threads int) error {
	shared := map[[2]int32]float64{} // weight of the rows with a label of the result and a label of the replicate
	err := c.model.Scores(ctx, src, threads, func(b *model.Scored) error {
		if b.First+int64(len(b.Label)) > int64(len(labels)) {
			return errors.New("there are more rows than the fit has seen: they changed while they were read")
		}
		for i, other := range b.Label {
			shared[[2]int32{labels[b.First+int64(i)], other}] += b.Weight(i)
		}
		return nil
	})
	if err != nil {
		return err
	}
	var t score.Agreement[int32, int32]
	size, again := make([]float64, k), make([]float64, c.model.NumLabels())
	cells := slices.SortedFunc(maps.Keys(shared), func(a, b [2]int32) int { return slices.Compare(a[:], b[:]) })
	for _, at := range cells {
		if at[0] >= 0 {
			size[at[0]] += shared[at]
		}
		if at[1] >= 0 {
			again[at[1]] += shared[at]
		}
		if err := t.Add(at[0], at[1], shared[at]); err != nil {
			return err
		}
	}
	c.ari, c.groups = t.ARI(), make([]similarity, k)
	for _, at := range cells {
		n := shared[at]
		if n == 0 || at[0] < 0 || at[1] < 0 { // noise is no group, and its rows are not together
			continue
		}
		g := &c.groups[at[0]]
		g.jaccard = max(g.jaccard, n/(size[at[0]]+again[at[1]]-n))
		g.together += n * max(0, n-1)
	}
	for j, n := range size {
		if n > 1 {
			c.groups[j].together /= n * (n - 1)
		} else { // it has no pair of rows that could be parted
			c.groups[j].together = 1
		}
	}
	return nil
}

// gatherStability sets in s the means over the replicates that are done; nil stands for a replicate that ctx has cut short.
func gatherStability(s *model.Stability, all []*comparison, k int) {
	var aris []float64
	groups := make([]model.GroupStability, k)
	for _, c := range all {
		switch {
		case c == nil:
			continue
		case c.err != nil:
			if s.Failed++; s.Why == "" {
				s.Why = plan.FlagText(c.err)
			}
			continue
		}
		aris = append(aris, c.ari)
		for j, g := range c.groups {
			groups[j].Jaccard += g.jaccard
			groups[j].Consensus += g.together
			if g.jaccard > stable {
				groups[j].Recovered++
			}
			if g.jaccard <= dissolved {
				groups[j].Dissolved++
			}
		}
	}
	if s.Done = len(aris); s.Done == 0 {
		return
	}
	n, sum := float64(s.Done), 0.0
	for _, v := range aris {
		sum += v
	}
	s.ARI, s.ARILow = new(sum/n), new(valueAt(aris, lowShare))
	for j := range groups {
		g := &groups[j]
		g.Label, g.Jaccard, g.Consensus = j+1, g.Jaccard/n, g.Consensus/n
		g.Reading = reading(g.Jaccard)
	}
	s.Groups = groups
}

// choices counts how often the replicates chose each K and shape, the most frequent first.
func choices(all []*comparison) (list []model.ChosenTimes) {
	for _, c := range all {
		if c == nil || c.err != nil {
			continue
		}
		k, shape, code := c.model.K(), "", ""
		if kind.Of(c.model.ComponentKind()).HasShape(c.model.Types) {
			shape, code = c.model.Shape.String(), c.model.Shape.Mclust()
		}
		at := slices.IndexFunc(list, func(x model.ChosenTimes) bool { return x.K == k && x.Mclust == code })
		if at < 0 {
			at = len(list)
			list = append(list, model.ChosenTimes{K: k, Covariance: shape, Mclust: code})
		}
		list[at].Times++
	}
	slices.SortFunc(list, func(a, b model.ChosenTimes) int {
		return cmp.Or(b.Times-a.Times, a.K-b.K, cmp.Compare(a.Mclust, b.Mclust))
	})
	return list
}

// valueAt returns the value below which a share of the values lies, interpolated linearly between two values (R's type 7). It sorts a copy.
func valueAt(values []float64, share float64) float64 {
	v := slices.Sorted(slices.Values(values))
	at := share * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}
