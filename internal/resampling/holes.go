package resampling

import (
	"context"
	"math"
	"math/rand/v2"
	"sort"

	"github.com/latent-go/latent/data"
)

// holes are what is missing of the rows of a source, row by row, so that rows drawn from a model can lack as much.
type holes struct {
	masks [][]bool  // of each row of positive weight that has a cell
	sum   []float64 // of their weights, up to each
}

// holesOf reads what is missing of src.
func holesOf(ctx context.Context, src data.Source) (*holes, error) {
	h, total := &holes{}, 0.0
	err := data.EachBlock(ctx, src, func(b *data.Block) error {
		for i := range b.N {
			if b.Weight(i) == 0 || b.Empty(i) {
				continue
			}
			mask := make([]bool, b.D)
			for j := range mask {
				mask[j] = math.IsNaN(b.At(i, j))
			}
			total += b.Weight(i)
			h.masks, h.sum = append(h.masks, mask), append(h.sum, total)
		}
		return nil
	})
	return h, err
}

// punch takes out of x what a row drawn at random lacks.
func (h *holes) punch(x []float64, rng *rand.Rand) {
	u := rng.Float64() * h.sum[len(h.sum)-1]
	for j, gone := range h.masks[min(sort.SearchFloat64s(h.sum, u), len(h.masks)-1)] {
		if gone {
			x[j] = math.NaN()
		}
	}
}
