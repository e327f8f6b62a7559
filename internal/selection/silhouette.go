package selection

import (
	"context"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/score"
)

// judges takes the silhouettes of candidates. On few rows, and on one column, a silhouette is of all rows; else it is of a sample in which
// every group of the candidate has rows, however small it is. Candidates draw with the same random numbers, so that most of their rows are
// the same.
type judges struct{ threads int }

// sampled is the size of the sample of a silhouette.
type sampled struct {
	rows  int
	least int // rows of every group at least, or all that it has; 0 where the sample is all rows
}

// silhouette returns the mean silhouette of the rows under the labels of the mixture at a point, in the space where it was fitted, and the
// size of its sample. It makes a pass over all rows, since only that can tell which rows are in small groups.
func (j *judges) silhouette(ctx context.Context, f *search.Fit, at *ascent.Point) (*float64, sampled, error) {
	sample := score.NewSilhouetteSample(f.Mix.D, f.Plan.SilhouetteRows(f.Mix.D), rng.Silhouettes.New(f.Plan.Seed))
	x := make([]float64, f.Mix.D)
	err := f.Local.Labels(ctx, f.Mix, at.Theta, func(s *sweep.Scored) error {
		for i, c := range s.Label {
			if c < 0 { // noise is no group
				continue
			}
			for l := range x {
				x[l] = s.At(i, l)
			}
			if err := sample.Add(int(c), x, s.Weight(i)); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, sampled{}, err
	}
	e, err := sample.Silhouette(ctx, j.threads)
	if err != nil {
		return nil, sampled{}, err
	}
	return &e.Mean, sampled{len(e.Values), e.Least}, nil
}
