package updating

import (
	"math"
	"math/rand/v2"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/model"
)

// How many rows are drawn in place of those that are gone: as many, within these bounds. They need only tell how much of the information is
// hidden: from 10,000 that is a few percent.
const (
	fewestDrawn = 10_000
	mostDrawn   = 50_000
)

// draw returns rows of the variables of m, after its transforms, that stand for those of its sums with so much weight in all. Each component
// has as many of them, with the weight of its share, so that small ones are told of too. Cells are missing as often as they were.
func draw(m *model.Model, weight float64, seed uint64) (*data.Table, error) {
	flat := *m.Changed()
	flat.Columns, flat.Transform = flat.Variables(), nil
	k, d := m.K(), len(flat.Columns)
	each := max(int(math.Max(fewestDrawn, math.Min(weight, mostDrawn)))/k, 1)
	t := &data.Table{N: k * each, D: d, F64: make([]float64, k*each*d), W: make([]float64, k*each)}
	random := rng.StandIns.At(seed, int(m.Sums.Rows%(1<<30))) // other rows in every update
	for c := range k {
		one := flat
		one.Weights = make([]float64, k)
		one.Weights[c] = 1
		s, err := one.SamplerFrom(random)
		if err != nil {
			return nil, err
		}
		for i := c * each; i < (c+1)*each; i++ {
			x := t.F64[i*d : i*d+d]
			s.Draw(x)
			punch(x, m.Sums, random)
			t.W[i] = weight * m.Weights[c] / float64(each)
		}
	}
	return t, nil
}

// punch takes cells out of the row x, as many as were missing; a row keeps one.
func punch(x []float64, s *model.Sums, random *rand.Rand) {
	left := len(x)
	for j, seen := range s.Seen {
		if seen < s.Weight*(1-1e-9) && random.Float64()*s.Weight >= seen && left > 1 {
			x[j] = math.NaN()
			left--
		}
	}
}
