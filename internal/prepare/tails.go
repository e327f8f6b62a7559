package prepare

import (
	"context"

	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// resist puts medians and robust standard deviations in the place of the columns' means and variances, where components have tails: what
// the floor of scales, starts and the origin of sums are measured by must not depend on rows far out. They are those of a sample where
// rows are many. A column without such a deviation keeps what it has.
func (f *Rows) resist(ctx context.Context) error {
	if !f.Plan.Kind.Tails {
		return nil
	}
	p, err := seed.Sample(ctx, f.Source, f.Survey.Used, make([]float64, len(f.Survey.Mean)), seed.SampleRows, rng.StartSample.New(f.Plan.Seed))
	if err != nil {
		return err
	}
	look := *f.Survey
	look.Mean, look.Var = make([]float64, p.D), make([]float64, p.D)
	centre, deviation := p.Robust()
	for j, s := range deviation {
		look.Mean[j], look.Var[j] = f.Survey.Mean[j], f.Survey.Var[j]
		if v := s * s; v > 0 {
			look.Mean[j], look.Var[j] = centre[j], v
		}
	}
	f.Survey = &look
	return nil
}
