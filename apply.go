package latent

import (
	"context"
	"fmt"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/sweep"
)

// Scored is a run of consecutive rows with what a model says of them: labels, log densities, responsibilities.
type Scored = sweep.Scored

// Rows labels and scores all rows of src, whose columns are the model's in order and in the user's units. each sees
// the rows in order, a run at a time, from one goroutine at a time, and must not keep what it is given. Log densities
// are in nats and in the user's units; for kmeans and kmedians Score is minus the squared or the L1 distance to the
// nearest centre, after the model's transform. After fewer principal components than columns log densities are those of the
// components (see Model.PCA).
func (m *Model) Rows(ctx context.Context, src data.Source, threads int, each func(*Scored) error) error {
	if _, d := src.Shape(); d != m.D() {
		return fmt.Errorf("the rows have %d columns, but the model has %d", d, m.D())
	}
	mix, theta, origin, err := m.mixture()
	if err != nil {
		return err
	}
	for _, t := range m.Transform {
		src = t.rows(src)
	}
	jacobian := logVolume(m.Transform, m.D())
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
	if err := m.checkCells(ctx, src); err != nil {
		return err
	}
	rows, _ := src.Shape()
	return sweep.NewLocal(src, rows, origin, threads).Rows(ctx, mix, theta, each)
}

// checkCells refuses cells that are no bits for a model of bits, and no levels for one of levels.
func (m *Model) checkCells(ctx context.Context, src data.Source) error {
	var row int64
	var col int
	var v float64
	var found bool
	var err error
	what := "a bit (0 or 1)"
	switch m.Kind {
	case "bernoulli":
		row, col, v, found, err = data.NonBit(ctx, src)
	case "categorical":
		row, col, v, found, err = data.NonLevel(ctx, src, counts(m.Levels))
		what = "the number of a level"
	}
	if found {
		return fmt.Errorf("row %d, column %q: %v is not %s", row, m.Columns[col], v, what)
	}
	return err
}
