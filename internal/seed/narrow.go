package seed

import (
	"context"
	"math/rand/v2"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/rng"
)

// NarrowSample draws the rows that Sample does from a table of float32 in which no cell is missing, and keeps their cells as they are.
func NarrowSample(ctx context.Context, t *data.Table, used int64, origin []float64, most, threads int, generator *rand.Rand) (*Points, error) {
	p := &Points{D: t.D, Origin: origin}
	sample := rng.Select(generator, min(used, int64(most)), used)
	for i := 0; i < t.N && !sample.Done(); i++ {
		w := 1.0
		if t.W != nil {
			w = t.W[i]
		}
		if w > 0 && sample.Take() {
			p.W, p.Row = append(p.W, w), append(p.Row, t.First+int64(i))
		}
	}
	p.N = len(p.Row)
	p.Narrow = make([]float32, p.N*p.D)
	const parts = 64
	return p, par.Do(ctx, threads, parts, func(_, part int) {
		for i := p.N * part / parts; i < p.N*(part+1)/parts; i++ {
			row := int(p.Row[i] - t.First)
			copy(p.Narrow[i*p.D:(i+1)*p.D], t.F32[row*p.D:(row+1)*p.D])
		}
	})
}
