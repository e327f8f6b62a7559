package latent

import (
	"context"

	"github.com/latent-go/latent/ascent"
	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/score"
	"github.com/latent-go/latent/seed"
	"github.com/latent-go/latent/sweep"
)

// judgedRows is the largest number of rows that silhouettes are of: time grows with its square.
const judgedRows = 4000

// judges are the rows whose silhouettes are compared, the same for every candidate: all, or a sample where they are many.
type judges struct {
	points  *seed.Points
	threads int
}

func (f *fit) judges(ctx context.Context) (*judges, error) {
	p, err := seed.Sample(ctx, f.src, f.look.Used, f.origin, judgedRows, seed.SampleRNG(f.spec.seed()))
	return &judges{p, f.spec.threads()}, err
}

// silhouette returns the mean silhouette of the rows under the labels of the mixture at a point, in the space where it
// was fitted.
func (j *judges) silhouette(ctx context.Context, f *fit, at *ascent.Point) (*float64, error) {
	p := j.points
	part := &score.Partition{N: p.N, D: p.D, X: p.X, W: p.W, Threads: j.threads}
	table := &data.Table{N: p.N, D: p.D, F64: p.X}
	err := sweep.NewLocal(table, int64(p.N), make([]float64, p.D), j.threads).Rows(ctx, f.mix, at.Theta, func(s *sweep.Scored) error {
		for _, c := range s.Label {
			part.Labels = append(part.Labels, int(c))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	v, err := part.Silhouette(ctx, nil)
	if err != nil {
		return nil, err
	}
	return &v, nil
}
