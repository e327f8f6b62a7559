package model

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

// Scored is a run of consecutive rows with what a model says of them: labels, log densities, responsibilities.
type Scored = sweep.Scored

// Rows labels and scores all rows of src, whose columns are the model's in order and in the user's units. each sees
// the rows in order, a run at a time, from one goroutine at a time, and must not keep what it is given. Log densities
// are in nats and in the user's units; for kmeans and kmedians Score is minus the squared or the L1 distance to the
// nearest centre, after the model's transform. After fewer principal components than columns log densities are those of the
// components (see Model.PCA). A component of weight 0 takes no part: its responsibilities are 0 and no label is its own.
//
// A row whose log density or distance no float64 can hold is an error that names it, unless its weight is 0.
func (m *Model) Rows(ctx context.Context, src data.Source, threads int, each func(*Scored) error) error {
	if err := m.whole(); err != nil {
		return err
	}
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
	switch some, at := m.Present(); {
	case some != m && at == nil:
		return errors.New("weights: they are all 0")
	case some != m:
		return some.Rows(ctx, src, threads, amongAll(m.K(), at, each))
	}
	mix, theta, origin, err := m.mixture()
	if err != nil {
		return err
	}
	for _, t := range m.Transform {
		src = t.Rows(src)
	}
	guard, told := m.guard(origin), each
	each = func(s *Scored) error {
		if err := guard.check(s); err != nil {
			return err
		}
		return told(s)
	}
	jacobian := LogVolume(m.Transform, m.D())
	if jacobian != 0 && m.HasDensity() {
		raw := each
		each = func(s *Scored) error {
			for i := range s.Score {
				s.Score[i] -= jacobian
				s.Best[i] -= jacobian
			}
			return raw(s)
		}
	}
	if err := m.kind().Cells.Check(ctx, src, m.Levels, m.Columns, false); err != nil {
		return err
	}
	rows, _ := src.Shape()
	return sweep.NewLocal(src, rows, origin, threads).Rows(ctx, mix, theta, each)
}

// Present returns the model of the components that have a weight above 0, and their places among all; m itself where that is
// all of them, and for a model without weights. They share memory with m.
func (m *Model) Present() (some *Model, at []int) {
	p, at := m.parameters().Present()
	if at == nil && len(p.Weights) == len(m.Weights) {
		return m, nil
	}
	own := *m
	own.Weights, own.Means, own.Covariance, own.Probabilities = p.Weights, p.Means, p.Covariance, p.Probabilities
	return &own, at
}

// amongAll returns a receiver of rows scored by the components with the places at, which hands them on to each as of all k.
func amongAll(k int, at []int, each func(*Scored) error) func(*Scored) error {
	all := &Scored{K: k}
	return func(s *Scored) error {
		all.Block, all.Score, all.Entropy, all.Best, all.Label = s.Block, s.Score, s.Entropy, s.Best, s.Label
		all.P = slices.Grow(all.P[:0], s.N*k)[:s.N*k]
		clear(all.P)
		for i := range s.N {
			s.Label[i] = int32(at[s.Label[i]])
			for c, to := range at {
				all.P[i*k+to] = s.P[i*s.K+c]
			}
		}
		return each(all)
	}
}
