package pca

import (
	"context"
	"encoding/gob"

	"gonum.org/v1/gonum/blas/blas64"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/sweep"
)

func init() {
	gob.Register(&covarianceJob{})
	gob.Register(&productJob{})
}

// wire is rows as they are sent to other machines.
type wire struct {
	Mean     []float64
	Rows     int64
	W, Total float64
}

func (r *rows) wire() *wire { return &wire{r.mean, r.look.Rows, r.look.W, r.total} }

// rows returns them for a part.
func (w *wire) rows(p *sweep.Part) *rows {
	return &rows{mean: w.Mean, look: &sweep.Survey{Rows: w.Rows, W: w.W}, total: w.Total, threads: p.Threads}
}

// covarianceJob is the pass of covariance.
type covarianceJob struct{ Of wire }

// Serve implements sweep.Job.
func (j *covarianceJob) Serve(ctx context.Context, p *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	r, d := j.Of.rows(p), len(j.Of.Mean)
	return r.reduction(d*(d+1)/2, nil, r.squares(ctx)).Nodes(ctx, src)
}

// productJob is the pass of product.
type productJob struct {
	Of wire
	Q  blas64.General
}

// Serve implements sweep.Job.
func (j *productJob) Serve(ctx context.Context, p *sweep.Part, src *data.Table) ([]sweep.Node, error) {
	r := j.Of.rows(p)
	return r.reduction(j.Q.Rows*j.Q.Cols, nil, r.products(ctx, j.Q)).Nodes(ctx, src)
}
