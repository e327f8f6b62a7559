package prepare

import (
	"context"
	"encoding/gob"
	"errors"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kind"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/internal/transit"
)

func init() {
	gob.Register(emptyView{})
	gob.Register(weightView{})
	gob.Register(&cellsJob{})
}

// cellsJob looks for the first cell of a part that a kind of model has no place for.
type cellsJob struct {
	Kind   string
	Types  []data.Type
	Levels [][]string
	Names  []string
}

// Serve implements sweep.Job.
func (j *cellsJob) Serve(ctx context.Context, _ *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	err := kind.Of(j.Kind).Check(ctx, src, j.Types, j.Levels, j.Names, true)
	var wrong *kind.RowError
	if !errors.As(err, &wrong) {
		return nil, err
	}
	n, err := sweep.NodeOf(wrong)
	return []sweep.Node{n}, err
}

// checkElsewhere is kind.Kind.Check of rows on other machines.
func (f *Rows) checkElsewhere(ctx context.Context, r data.Remote) error {
	p := &f.Plan
	if p.Kind.Cells.Wrong == nil && !p.Kind.Parted {
		return nil
	}
	nodes, err := sweep.Send(ctx, r, &cellsJob{p.Kind.Name, p.Types, p.Levels, f.Names})
	if err != nil || len(nodes) == 0 {
		return err
	}
	wrong := new(kind.RowError)
	if err := transit.Decode(nodes[0].Body, wrong); err != nil {
		return err
	}
	return wrong
}
