package resampling

import (
	"context"
	"math"
	"math/rand/v2"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/text"
)

// resample is a bootstrap sample of weighted rows: as many rows as the weights add up to, drawn with replacement, each row with a
// probability in proportion to its weight. A row that is drawn w times gets the weight w, so that no row is copied. Where the weights do not
// add up to a whole number, as many rows are drawn as the rounded sum, and their weights add up to the sum.
type resample struct {
	seed      uint64
	replicate int
	used      int64   // rows of positive weight
	total     float64 // their weights
	halved    bool    // draws count half: see plan.Plan.HalvesDraws
}

// draws returns how many rows are drawn.
func (s *resample) draws() int64 { return int64(math.Round(s.total)) }

// enough refuses weights whose sum is no number of rows to draw. field is the field of the plan that asks for it.
func (s *resample) enough(field string) error {
	switch n := s.draws(); {
	case n < 2:
		return plan.Wrong(field, "draws as many rows as the row weights add up to, but that is %s: multiply the weights by what makes them count rows", text.Significant(s.total, 3))
	case s.total > 1<<53:
		return plan.Wrong(field, "draws as many rows as the row weights add up to, but %s is too many to count", text.Significant(s.total, 3))
	}
	return nil
}

// of returns src with the weights of the sample, which depend on the seed, the replicate and the rows alone. A table gives a table, since
// passes over tables are faster; of other sources each pass draws the same weights anew.
func (s *resample) of(src data.Source) data.Source {
	table, ok := src.(*data.Table)
	if !ok {
		return &resampled{src, s}
	}
	t, m := *table, s.multinomial()
	t.W = make([]float64, t.N)
	for i := range t.W {
		w := 1.0
		if table.W != nil {
			w = table.W[i]
		}
		t.W[i] = m.next(w)
	}
	return &t
}

// resampled is a source under other weights.
type resampled struct {
	data.Source
	sample *resample
}

// Open implements data.Source.
func (r *resampled) Open(ctx context.Context) (data.Reader, error) {
	reader, err := r.Source.Open(ctx)
	if err != nil {
		return nil, err
	}
	return &resampledReader{Reader: reader, weights: r.sample.multinomial()}, nil
}

// resampledReader keeps the weights that it draws in the block that it is given, since several blocks may be in use.
type resampledReader struct {
	data.Reader
	weights *multinomial
}

// Read implements data.Reader.
func (r *resampledReader) Read(b *data.Block, n int) error {
	w := b.W[:0] // ours from an earlier Read, or nil: the reader below may give views of a table
	if err := r.Reader.Read(b, n); err != nil {
		return err
	}
	for i := range b.N { // where the reader below used the same memory, weight i is read before it is overwritten
		w = append(w, r.weights.next(b.Weight(i)))
	}
	b.W = w
	return nil
}

// multinomial draws the counts of a multinomial distribution one after another: each is binomial, given those before it
// (Devroye 1986, Non-Uniform Random Variate Generation, page 558).
type multinomial struct {
	rng  *rand.Rand
	left int64   // draws for the rows to come
	rows int64   // rows of positive weight to come
	mass float64 // their weights
	unit float64 // what a draw weighs
}

// multinomial returns the weights of the sample before the first row.
func (s *resample) multinomial() *multinomial {
	n := s.draws()
	m := &multinomial{rng.Bootstrap.At(s.seed, s.replicate), n, s.used, s.total, s.total / float64(n)}
	if s.halved {
		m.unit /= 2
	}
	return m
}

// next returns the new weight of the next row, whose own weight is w.
func (m *multinomial) next(w float64) float64 {
	if w == 0 {
		return 0
	}
	count := m.left
	if m.rows--; m.rows > 0 { // the last row takes what is left, however masses are rounded
		count = binomial(m.rng, m.left, w/m.mass)
	}
	m.left -= count
	m.mass -= w
	return float64(count) * m.unit
}

// fewExpected is the mean up to which binomial numbers are drawn by adding up probabilities from 0.
const fewExpected = 10

// binomial returns how many of n trials succeed, each with probability p.
func binomial(rng *rand.Rand, n int64, p float64) int64 {
	mean := float64(n) * p
	switch {
	case n == 0 || !(p > 0):
		return 0
	case p >= 1:
		return n
	case p > 0.5:
		return n - binomial(rng, n, 1-p)
	case mean > fewExpected:
		return int64(distuv.Binomial{N: float64(n), P: p, Src: rng}.Rand())
	}
	most := min(n, int64(mean+12*math.Sqrt(mean+1)))
	odds := p / (1 - p)
	for {
		u, x, q := rng.Float64(), int64(0), math.Exp(float64(n)*math.Log1p(-p))
		for u > q && x <= most {
			u -= q
			x++
			q *= float64(n-x+1) / float64(x) * odds
		}
		if x <= most { // not so where u was within rounding of 1
			return x
		}
	}
}
