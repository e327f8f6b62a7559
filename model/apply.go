package model

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/mixture"
	"github.com/latent-go/latent/internal/sweep"
)

// Scored is a run of consecutive rows with what a model says of them: labels, log densities, responsibilities. It is valid only
// during the call that receives it.
type Scored struct {
	*data.Block                // the rows, after the model's transform
	K                int       // labels: the clusters of a merged model, else the components
	Label            []int32   // N: the best of them, from 0; the lowest of equals; -1 for the noise
	LogDensity       []float64 // N: of the row, nats; without a density minus the distance to the nearest centre
	Responsibilities []float64 // N x K, row-major; without a density 1 for the label and 0 elsewhere
	Entropy          []float64 // N: of the responsibilities, nats
	Best             []float64 // N: logarithm of the mixing weight and density of the label, nats
	Noise            []float64 // N: responsibility of the noise, which with Responsibilities makes 1; nil where the model has no noise

	// Component and ComponentResponsibilities are what Label and Responsibilities, with all components for K, would be if no components
	// were merged. The likeliest component of a row may belong to another cluster than its label. Where none are merged they are the same slices.
	Component                 []int32
	ComponentResponsibilities []float64

	logits []float64 // N x components: log mixing weight and density, in the units of the fit; nil unless they were asked for
}

// Nearest returns the component of row i with the largest responsibility, be it a row of the noise or not.
func (s *Scored) Nearest(i int) int {
	if c := s.Component[i]; c >= 0 {
		return int(c)
	}
	p := s.components(i)
	return slices.Index(p, slices.Max(p))
}

// Sure returns the responsibility of the label of row i, be it a group or the noise, and what is left of 1 for all others.
func (s *Scored) Sure(i int) (p, rest float64) {
	c := int(s.Label[i])
	for j, v := range s.Responsibilities[i*s.K : i*s.K+s.K] {
		if j == c {
			p = v
		} else {
			rest += v
		}
	}
	switch {
	case c < 0:
		p = s.Noise[i]
	case s.Noise != nil:
		rest += s.Noise[i]
	}
	return p, rest
}

// Rows labels and scores all rows of src, whose columns are the model's in order and in the user's units, by so many threads;
// 0 means all cores. each sees the rows in order, a run at a time, from one goroutine at a time, and must not keep what it is
// given. Log densities are in nats and in the user's units; for kmeans and kmedians LogDensity is minus the squared or the L1
// distance to the nearest centre, after the model's transform. After fewer principal components than columns log densities are
// those of the components (see Model.PCA). A component of weight 0 takes no part: its responsibilities are 0 and no label is
// its own.
//
// A row whose log density or distance no float64 can hold is an error that names it, unless its weight is 0. Rows of a hidden Markov model are
// those of sequences: see Decode, which this is with Viterbi.
func (m *Model) Rows(ctx context.Context, src data.Source, threads int, each func(*Scored) error) error {
	return m.pass(ctx, src, threads, wantShares, each)
}

// Scores is Rows without responsibilities: those of Scored may be nil. Of many components they take longer to lay out than the rest, and k-means
// finds the nearest centre, and its distance, in a fraction of the time that all distances take.
func (m *Model) Scores(ctx context.Context, src data.Source, threads int, each func(*Scored) error) error {
	return m.pass(ctx, src, threads, wantScores, each)
}

// Labels is Rows for labels alone: those of Scored, which each must not keep. Those of k-means, found in float32 where that decides, take a fraction
// of the time. A row whose distance no float64 can hold is an error here too.
func (m *Model) Labels(ctx context.Context, src data.Source, threads int, each func(b *data.Block, label []int32) error) error {
	if each == nil {
		return &data.ArgumentError{Name: "each", Reason: "is nil; it must be a function that takes the rows"}
	}
	return m.pass(ctx, src, threads, wantLabels, func(s *Scored) error { return each(s.Block, s.Label) })
}

// pass tells what is wanted of the rows of any model.
func (m *Model) pass(ctx context.Context, src data.Source, threads int, want wanted, each func(*Scored) error) error {
	if err := m.whole(); err != nil {
		return err
	}
	if m.IsChain() {
		return m.Decode(ctx, src, Viterbi, threads, each)
	}
	return m.rows(ctx, src, threads, want, each)
}

// wanted is what a pass is to tell of rows.
type wanted int

const (
	wantShares wanted = iota // all of Scored but logits
	wantLogits               // those too
	wantScores               // all of Scored but logits and, perhaps, responsibilities
	wantLabels               // labels, and perhaps nothing else
)

// rows is Rows of a mixture or of centres, which tells what is wanted.
func (m *Model) rows(ctx context.Context, src data.Source, threads int, want wanted, each func(*Scored) error) error {
	if err := data.CheckContext(ctx); err != nil {
		return err
	}
	if each == nil {
		return &data.ArgumentError{Name: "each", Reason: "is nil; it must be a function that takes the rows"}
	}
	src, err := data.Checked(src)
	if err != nil {
		return err
	}
	if _, d := src.Shape(); d != m.D() {
		return fmt.Errorf("the rows have %d columns, but the model has %d", d, m.D())
	}
	if changes := m.Changes(); changes != nil {
		return m.changedRows(ctx, changes, src, threads, want, each)
	}
	j, err := m.judge()
	if err != nil {
		return err
	}
	for _, t := range m.Transform {
		src = t.Rows(src)
	}
	if err := m.kind().Check(ctx, src, m.Types, m.Levels, m.Columns, false); err != nil {
		return err
	}
	j.want, j.guard.places = want, want == wantLogits
	return j.rows(ctx, src, threads, each)
}

// rows scores rows of cells that are known to be right, after the model's transform. See Rows.
func (j *judge) rows(ctx context.Context, src data.Source, threads int, each func(*Scored) error) error {
	if threads == 0 {
		threads = runtime.GOMAXPROCS(0)
	}
	rows, _ := src.Shape()
	local := sweep.NewLocal(src, rows, j.origin, threads)
	pass := local.Rows
	switch {
	case j.want == wantLogits:
		pass = local.RowsWithLogits
	case j.at != nil || j.clusters != nil || j.predictive != nil: // what is told is made of responsibilities
	case j.want == wantScores:
		pass = local.Scores
	case j.want == wantLabels:
		pass = local.Labels
	}
	return pass(ctx, j.mix, j.theta, func(scored *sweep.Scored) error {
		s, err := j.told(scored)
		if err != nil {
			return err
		}
		return each(s)
	})
}

// judge is a model made ready to score transformed rows.
type judge struct {
	mix           *mixture.Mixture // of the components that take part
	theta, origin []float64
	guard         *guard
	noisy         bool        // the model has noise, though its weight may be 0
	want          wanted      // of rows
	jacobian      float64     // what log densities of transformed rows have too much
	scales        []float64   // the part of each column in it
	scaled        bool        // some part is not 0; together they may be
	k             int         // components of the model
	at            []int       // the places of those that take part among all; nil where all do
	predictive    *predictive // of a model with a posterior
	all           Scored      // of all components, where some take no part
	plain         Scored      // of components that all take part
	clusters      []int       // of the components: see Model.Clusters
	merged        Scored      // of clusters
}

// judge makes the model ready.
func (m *Model) judge() (*judge, error) {
	some, at := m.Present()
	if some != m && at == nil {
		return nil, errors.New("weights: they are all 0")
	}
	j := &judge{k: m.K(), at: at, clusters: m.Clusters, noisy: m.Noise != nil}
	var err error
	if j.mix, j.theta, j.origin, err = some.mixture(); err != nil {
		return nil, err
	}
	j.guard = some.guard(j.origin)
	if j.predictive, err = m.predictive(); err != nil {
		return nil, err
	}
	if m.HasDensity() {
		j.jacobian, j.scales = LogVolume(m.Transform, m.D()), LogScales(m.Transform, m.D())
		j.scaled = j.jacobian != 0 || slices.ContainsFunc(j.scales, func(v float64) bool { return v != 0 })
	}
	return j, nil
}

// told returns what is told of rows that were scored: of all components, and in the user's units.
func (j *judge) told(scored *sweep.Scored) (*Scored, error) {
	s := &j.plain
	*s = Scored{Block: scored.Block, K: scored.K, Label: scored.Label, LogDensity: scored.LogDensity, Responsibilities: scored.Responsibilities, Entropy: scored.Entropy, Best: scored.Best, Noise: scored.Noise, logits: scored.Logits}
	if s.LogDensity == nil { // of labels alone
		return s, nil
	}
	if j.want == wantLogits && j.guard.whole != "" {
		s.keepPlaces()
	}
	if err := j.guard.check(s); err != nil {
		return nil, err
	}
	if j.predictive != nil {
		j.predictive.score(s)
	}
	if j.scaled {
		for i := range s.LogDensity {
			less := j.volume(s.Block, i)
			s.LogDensity[i] -= less
			s.Best[i] -= less
		}
	}
	if j.noisy && j.mix.Noise == nil {
		s.Noise = slices.Grow(s.Noise[:0], s.N)[:s.N]
		clear(s.Noise)
	}
	if j.at == nil {
		return j.clustered(s), nil
	}
	all := &j.all
	all.K, all.Block, all.LogDensity, all.Entropy, all.Best, all.Label, all.Noise = j.k, s.Block, s.LogDensity, s.Entropy, s.Best, s.Label, s.Noise
	all.Responsibilities = slices.Grow(all.Responsibilities[:0], s.N*j.k)[:s.N*j.k]
	clear(all.Responsibilities)
	for i := range s.N {
		if s.Label[i] >= 0 {
			s.Label[i] = int32(j.at[s.Label[i]])
		}
		for c, to := range j.at {
			all.Responsibilities[i*j.k+to] = s.Responsibilities[i*s.K+c]
		}
	}
	return j.clustered(all), nil
}

// keepPlaces gives rows without any cell, which kernels of whole rows cannot score, density 1 in every component: they have a place in time alone.
func (s *Scored) keepPlaces() {
	for i := range s.N {
		if s.cells(i) > 0 {
			continue
		}
		s.LogDensity[i], s.Best[i] = 0, 0
		for c := range s.K {
			s.logits[i*s.K+c] = -math.Log(float64(s.K))
		}
	}
}

// volume returns what the log density of row i has too much: of the cells that are there.
func (j *judge) volume(b *data.Block, i int) float64 {
	sum, whole := 0.0, true
	for c := range b.D {
		if v := b.At(i, c); v != v {
			whole = false
		} else if c < len(j.scales) {
			sum += j.scales[c]
		}
	}
	if whole {
		return j.jacobian
	}
	return sum
}

// Present returns the model of the components that have a weight above 0, and their places among all; m itself where that is
// all of them, and for a model without weights. They share memory with m.
func (m *Model) Present() (some *Model, at []int) {
	if m.IsChain() { // the others lead to states that few rows have
		return m, nil
	}
	p, at := m.parameters().Present()
	if at == nil && len(p.Weights) == len(m.Weights) {
		return m, nil
	}
	own := *m
	own.Sums, own.Clusters = nil, nil
	if len(p.Parts) == 0 {
		own.Weights, own.Means, own.Covariance, own.Dof, own.Probabilities = p.Weights, p.Means, p.Covariance, p.Dof, p.Probabilities
		own.Loadings, own.Uniquenesses = p.Loadings, p.Uniquenesses
		return &own, at
	}
	parts := m.Parts()
	for i := range parts {
		parts[i].Model, _ = parts[i].Present()
	}
	own.Weights = p.Weights
	own.setParts(parts)
	return &own, at
}
