package model

import (
	"context"
	"fmt"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// Predict returns the label of every row of src, from 0: the component of the largest responsibility, in a merged model the cluster, or the nearest
// centre; -1 for noise.
// The columns of src are the model's, in order and in the user's units. It uses all cores; what fails is what fails in Labels.
func (m *Model) Predict(ctx context.Context, src data.Source) ([]int32, error) {
	var all []int32
	err := m.Labels(ctx, src, 0, func(_ *data.Block, label []int32) error {
		all = append(all, label...)
		return nil
	})
	return all, err
}

// PredictProba returns the responsibilities of every row of src, n rows of NumLabels numbers that add up to 1, with noise to what it leaves; for
// kmeans and kmedians 1 for the label and 0 elsewhere. See Predict.
func (m *Model) PredictProba(ctx context.Context, src data.Source) ([][]float64, error) {
	var rows [][]float64
	err := m.Rows(ctx, src, 0, func(s *Scored) error {
		for row := range slices.Chunk(slices.Clone(s.Responsibilities), s.K) {
			rows = append(rows, row)
		}
		return nil
	})
	return rows, err
}

// LogDensity returns the log density of every row of src, in nats and in the user's units; of a hidden Markov model that given the rows of its
// sequence before it. A kmeans or kmedians model has none,
// which is an error. See Predict.
func (m *Model) LogDensity(ctx context.Context, src data.Source) ([]float64, error) {
	if err := m.needsDensity("to score rows by"); err != nil {
		return nil, err
	}
	var scores []float64
	each := func(s *Scored) error {
		scores = append(scores, s.LogDensity...)
		return nil
	}
	var err error
	if m.IsChain() {
		err = m.Decode(ctx, src, Filter, 0, each)
	} else {
		err = m.Rows(ctx, src, 0, each)
	}
	return scores, err
}

// Sample returns n rows drawn from the mixture, of a hidden Markov model one sequence, in the user's units, and the label that each comes from, from 0; -1 for noise, and for a component
// of a posterior that is not in use. They
// depend on the seed alone. A kmeans or kmedians model has no density to draw from.
func (m *Model) Sample(n int, seed uint64) (*data.Table, []int32, error) {
	s, err := m.Sampler(seed)
	if err != nil {
		return nil, nil, err
	}
	if n < 0 {
		return nil, nil, &data.ArgumentError{Name: "n", Reason: fmt.Sprintf("is %d; a number of rows is not negative", n)}
	}
	t, labels := &data.Table{N: n, D: m.D(), F64: make([]float64, n*m.D())}, make([]int32, n)
	for i := range labels {
		labels[i] = int32(m.LabelOf(s.Draw(t.F64[i*t.D : (i+1)*t.D])))
	}
	return t, labels, nil
}

// needsDensity refuses a model that has no density.
func (m *Model) needsDensity(what string) error {
	if err := m.whole(); err != nil {
		return err
	}
	if !m.HasDensity() {
		return fmt.Errorf("a %s model has no density %s; fit a mixture", m.Kind, what)
	}
	return nil
}

// A Scorer scores single rows: what a model is to a program that gets one row at a time. It is for one goroutine at a time.
type Scorer struct {
	m      *Model
	inner  *changedScorer // where columns are on other scales; then the rest is not set
	judge  *judge
	single *sweep.Single
	x      []float64
}

// Scorer makes the model ready to score single rows. It costs what a pass costs before its first row, so a program keeps it. A hidden Markov
// model, whose rows depend on those before them, is an error.
func (m *Model) Scorer() (*Scorer, error) {
	if err := m.whole(); err != nil {
		return nil, err
	}
	if err := m.alone("scores no single rows", "give Decode its sequences"); err != nil {
		return nil, err
	}
	if changes := m.Changes(); changes != nil {
		return m.changedScorer(changes)
	}
	j, err := m.judge()
	if err != nil {
		return nil, err
	}
	return &Scorer{m: m, judge: j, single: sweep.NewSingle(j.mix, j.theta, j.origin), x: make([]float64, m.D())}, nil
}

// Score says of one row, of d finite numbers in the user's units, NaN where one is missing, what Rows says of every row. What it returns is valid until the
// next call.
func (s *Scorer) Score(row []float64) (*Scored, error) {
	d := s.m.D()
	if len(row) != d {
		return nil, fmt.Errorf("the row has %d numbers, but the model has %d columns", len(row), d)
	}
	for j, v := range row {
		if v-v != 0 && v == v {
			return nil, fmt.Errorf("column %q: %v is not a finite number", s.m.Columns[j], v)
		}
	}
	if s.inner != nil {
		return s.inner.score(row)
	}
	x := s.x[:d]
	copy(x, row)
	for i := range s.m.Transform {
		x = s.m.Transform[i].Apply(x)
	}
	if err := s.m.kind().CheckRow(x, s.m.Types, s.m.Levels, s.m.Columns); err != nil {
		return nil, err
	}
	return s.judge.told(s.single.Score(x))
}

// Predict returns the label of a row, from 0; -1 for noise.
func (s *Scorer) Predict(row []float64) (int, error) {
	told, err := s.Score(row)
	if err != nil {
		return 0, err
	}
	return int(told.Label[0]), nil
}
