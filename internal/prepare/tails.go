package prepare

import (
	"context"

	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// resist takes the columns' means and variances over the rows that are not far out, where components have tails: what the floor of scales,
// starts and the origin of sums are measured by must not depend on those. They are of a sample where rows are many. A column in which those
// rows are all equal keeps what it has.
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
	mean, variance := p.Some(p.Central()).Moments()
	for j, v := range variance {
		look.Mean[j], look.Var[j] = f.Survey.Mean[j], f.Survey.Var[j]
		if v > 0 {
			look.Mean[j], look.Var[j] = mean[j], v
		}
	}
	f.Survey = &look
	return nil
}
