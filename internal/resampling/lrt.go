package resampling

import (
	"context"
	"errors"
	"math/rand/v2"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/selection"
	"github.com/latent-go/latent/model"
)

// errDegenerate is why a mixture with a component at the floor of variances cannot be compared.
var errDegenerate = errors.New("a group collapsed to the variance floor, which alone makes its likelihood high")

// likelihoodRatio tests the result r against one more component by a parametric bootstrap. Samples have as many rows as the row weights add
// up to. They lack cells as the rows do, and are drawn and fitted in the space where r was fitted: the scales and projections of the rows are taken as given. note, where
// not nil, is told how many samples are done.
func likelihoodRatio(ctx context.Context, src data.Source, p plan.Plan, r *search.Result, note func(done, of int)) (*model.LRT, error) {
	k := r.Model.K()
	t := &model.LRT{K: k, Against: k + 1, Replicates: p.LRT}
	size := resample{total: r.Model.Provenance.TotalWeight}
	if err := size.enough("LRT"); err != nil {
		return nil, err
	}
	p = p.Candidate(k, r.Model.Shape)
	observed, err := gain(ctx, src, p.Replicate(p.Threads), r)
	switch {
	case ctx.Err() != nil:
		t.Interrupted = true
		return t, nil
	case err != nil:
		t.Why = plan.FlagText(err)
		return t, nil
	}
	t.Statistic = &observed
	null, rows := withoutTransform(r.Model), int(size.draws())
	var gaps *holes
	if m := r.Model.Provenance.Missing; m != nil && m.Cells > 0 {
		changed := src
		if c := r.Model.Changes(); c != nil {
			changed = c.Rows(src)
		}
		if gaps, err = holesOf(ctx, changed); err != nil {
			return nil, err
		}
	}
	inside := p.Untransformed()
	all := make([]*ratio, t.Replicates)
	replicates(ctx, p.Threads, int64(rows), t.Replicates, note, func(i, threads int) {
		drawn, err := drawn(null, rows, gaps, rng.Null.At(p.Seed, i))
		l := &ratio{}
		if err == nil {
			l.statistic, err = gain(ctx, drawn, inside.Replicate(threads), nil)
		}
		if ctx.Err() == nil { // else it was cut short
			l.err, all[i] = err, l
		}
	})
	gatherRatios(t, all)
	return t, nil
}

// ratio is the likelihood ratio of one sample, or why there is none.
type ratio struct {
	statistic float64
	err       error
}

// gatherRatios counts the samples in t, and those whose statistic is at least that of the rows; nil stands for a sample that ctx has cut
// short.
func gatherRatios(t *model.LRT, all []*ratio) {
	for _, l := range all {
		switch {
		case l == nil:
			t.Interrupted = true
		case l.err != nil:
			if t.Failed++; t.Why == "" {
				t.Why = plan.FlagText(l.err)
			}
		default:
			if t.Done++; l.statistic >= *t.Statistic {
				t.Reached++
			}
		}
	}
	if t.Done > 0 {
		t.P = new(float64(1+t.Reached) / float64(1+t.Done))
	}
}

// gain returns twice what one more component than p.K adds to the log-likelihood of the rows, in nats; 0 where its climbs found less. small
// is the fit with p.K components; where it is nil, gain makes it.
func gain(ctx context.Context, src data.Source, p plan.Plan, small *search.Result) (_ float64, err error) {
	if small == nil {
		if small, err = selection.Fit(ctx, src, p, search.Observer{}); err != nil {
			return 0, err
		}
	}
	if small.OnFloor() {
		return 0, errDegenerate
	}
	p = p.Candidate(p.K+1, p.Shape)
	large, err := selection.Fit(ctx, src, p, search.Observer{})
	if err != nil {
		return 0, err
	}
	if large.OnFloor() {
		return 0, errDegenerate
	}
	var sum [2]float64
	for i, m := range []*model.Model{small.Model, large.Model} {
		err := m.Scores(ctx, src, p.Threads, func(s *model.Scored) error {
			for j, v := range s.LogDensity {
				sum[i] += s.Weight(j) * v
			}
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	return max(0, 2*(sum[1]-sum[0])), nil
}

// withoutTransform returns the model of rows that are transformed already. It shares the memory of m.
func withoutTransform(m *model.Model) *model.Model {
	inner := *m.Changed()
	inner.Columns, inner.Transform = m.Variables(), nil
	return &inner
}

// drawn returns n rows drawn from the model. Where gaps is not nil they lack cells as rows do that are drawn from there.
func drawn(m *model.Model, n int, gaps *holes, rng *rand.Rand) (*data.Table, error) {
	s, err := m.SamplerFrom(rng)
	if err != nil {
		return nil, err
	}
	t := &data.Table{N: n, D: m.D(), F64: make([]float64, n*m.D())}
	for i := range n {
		x := t.F64[i*t.D : i*t.D+t.D]
		if s.Draw(x); gaps != nil {
			gaps.punch(x, rng)
		}
	}
	return t, nil
}
