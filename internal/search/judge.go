package search

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/prepare"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
	"github.com/latent-go/latent/score"
)

// Judge makes the pass that labels, counts and scores the rows by m, a model in the units of UserRows.
func (f *Fit) Judge(ctx context.Context, m *model.Model) (*Tally, error) {
	if err := f.allNoise(m); err != nil {
		return nil, err
	}
	return Label(ctx, f.UserRows, m, f.Plan.Threads)
}

// allNoise refuses a model whose noise has taken all of the weight, as one of a very small volume does.
func (f *Fit) allNoise(m *model.Model) error {
	if m.Noise == nil || slices.Max(m.Weights) > 0 {
		return nil
	}
	if f.Plan.Noise.LogVolume == nil {
		return plan.Wrong("Noise", "auto takes all rows for noise here; leave it out")
	}
	return plan.Wrong("Noise", "%s is so small a volume that all rows become noise; give a larger one, or auto", f.Plan.Spec.Noise)
}

// Label makes the pass that labels, counts and scores the rows of src, in the user's units, by m. Rows without any cell have the weight 0.
func Label(ctx context.Context, src data.Source, m *model.Model, threads int) (*Tally, error) {
	t := newTally(m.NumLabels())
	if r, ok := src.(data.Remote); ok {
		return t, t.elsewhere(ctx, r, m)
	}
	if err := m.Scores(ctx, src, threads, t.add); err != nil {
		return nil, err
	}
	t.finish()
	return t, nil
}

// Tally gathers from the rows what the result reports. It takes them in their order.
type Tally struct {
	counts
	agreement *score.Agreement[int, string] // of the labels, from 1; nil without a truth column
	unknown   int64                         // rows without a value in it
	pairs     *pairs                        // of a part of the rows: what agreement holds, in the order in which it came; nil of all

	sums sweep.Runs[*counts]
}

// Rows returns how many rows carry each label.
func (t *Tally) Rows() []int64 { return t.rows }

// counts are sums over rows.
type counts struct {
	noiseRows       int64     // rows of the noise
	rows            []int64   // rows with each label
	sizes           []float64 // their weights
	logLik, entropy float64   // weighted sums over the rows
	best            float64   // weighted sum of the rows' scores under their own component; of centres, minus the cost
}

func newTally(k int) *Tally {
	fresh := func() *counts { return &counts{rows: make([]int64, k), sizes: make([]float64, k)} }
	return &Tally{counts: *fresh(), sums: sweep.Runs[*counts]{New: fresh, Tree: sweep.Tree[*counts]{Merge: (*counts).merge}}}
}

func (c *counts) merge(o *counts) {
	for i, n := range o.rows {
		c.rows[i] += n
		c.sizes[i] += o.sizes[i]
	}
	c.noiseRows += o.noiseRows
	c.logLik += o.logLik
	c.entropy += o.entropy
	c.best += o.best
}

// count counts a row with a label and a weight.
func (c *counts) count(label int32, w float64) {
	if label < 0 {
		c.noiseRows++
		return
	}
	c.rows[label]++
	c.sizes[label] += w
}

// finish adds up the runs.
func (t *Tally) finish() {
	t.sums.Close()
	if total, ok := t.sums.Total(); ok {
		t.counts = *total
	}
}

func (t *Tally) add(s *model.Scored) error {
	for i, c := range s.Label {
		w, r := s.Weight(i), t.sums.At(s.First+int64(i))
		if w == 0 {
			if !s.Empty(i) {
				r.count(c, 0)
			}
			continue
		}
		r.count(c, w)
		r.logLik += w * s.LogDensity[i]
		r.best += w * s.Best[i]
		r.entropy += w * s.Entropy[i]
		if s.Truth == nil {
			continue
		}
		if t.agreement == nil {
			t.agreement = new(score.Agreement[int, string])
		}
		if s.Truth[i] == "" {
			t.unknown++
		}
		if t.pairs != nil {
			t.pairs.add(int(c)+1, s.Truth[i])
		}
		if err := t.agreement.Add(int(c)+1, s.Truth[i], w); err != nil {
			return err
		}
	}
	return nil
}

// Numbers are what a fit is judged by, in the user's units: see model.Candidate. Those that its kind does not have are nil.
type Numbers struct{ LogLik, BIC, AIC, ICL, Inertia, Objective *float64 }

// Numbers returns what the fit is judged by, from the sums of Judge and its final point. The entropy in ICL is that of the labels of all rows
// together: of a hidden Markov model that of its paths, which is less than that of all states by themselves.
func (f *Fit) Numbers(t *Tally, at *ascent.Point) (r Numbers) {
	if !f.Plan.Mixture() {
		r.Inertia = new(0 - t.best)
		if f.Plan.Penalty != nil {
			r.Objective = new(*r.Inertia + *f.Plan.Penalty*float64(f.Mix.K))
		}
		return r
	}
	ll, entropy, n, p := t.logLik+f.LogSlopes(), t.entropy, f.Weight(), f.Mix.Free()
	if f.Plan.Chain {
		entropy = f.UserWeight(at.Entropy)
	}
	if f.Mix.Bayes != nil { // the criteria count the parameters of a maximum
		r.LogLik = new(ll)
		return r
	}
	r.LogLik, r.BIC, r.AIC, r.ICL = new(ll), new(score.BIC(p, n, ll)), new(score.AIC(p, ll)), new(score.ICL(p, n, ll, entropy))
	return r
}

// CheckNumbers refuses a result with a number that float64 cannot hold, and an inertia of rows so near each other that squares are 0. For the
// latter it may read the rows.
func (f *Fit) CheckNumbers(ctx context.Context, r Numbers) error {
	for _, v := range []*float64{r.LogLik, r.BIC, r.AIC, r.ICL, r.Inertia, r.Objective} {
		if v != nil && *v-*v != 0 {
			what := "log-likelihood"
			if r.LogLik == nil {
				what = "inertia"
			}
			return fmt.Errorf("the %s is more than a float64 can hold; divide the columns, or the row weights, by a constant", what)
		}
	}
	const normal = 0x1p-1022 // numbers below it have fewer digits
	if r.Inertia == nil || *r.Inertia >= normal || *r.Inertia > 0 && f.Plan.Medians() {
		return nil
	}
	if *r.Inertia > 0 {
		return errors.New("the inertia is less than a float64 can hold with all its digits; multiply the columns, or the row weights, by a constant")
	}
	// Rows cost nothing only where each equals its centre.
	if distinct, err := prepare.DistinctRows(ctx, f.UserRows, f.Mix.K+1); err != nil || distinct <= f.Mix.K {
		return err
	}
	at := -1
	for j, hi := range f.Survey.Max {
		if width := hi - f.Survey.Min[j]; width > 0 && (at < 0 || width < f.Survey.Max[at]-f.Survey.Min[at]) {
			at = j
		}
	}
	if at < 0 || at >= len(f.Names) || len(f.Survey.Max) != len(f.Names) {
		return plan.Errorf("rows of one group differ by so little that the squares underflow; use --scale standard")
	}
	return plan.Errorf("column %q: rows of one group differ by so little that the squares underflow; multiply the column by a constant, or use --scale standard", f.Names[at])
}

// Minimal returns the part of the result that is needed of a replicate: the model, whether it was interrupted, and which components are
// at the floor of variances. It makes no pass.
func (f *Fit) Minimal(e *Outcome) *Result {
	at := e.Winner().Last.Point
	m, order := f.Model(at)
	p := &model.Provenance{Course: model.Course{Interrupted: e.Interrupted}, AtFloor: make([]bool, m.K())}
	m.Provenance = p
	if f.Plan.Shaped() {
		floor := f.atFloor(at)
		for c, from := range order {
			p.AtFloor[c] = from >= 0 && floor[from]
		}
	}
	return &Result{Model: f.UserModel(m)}
}
