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
// add up to a whole number, as many rows are drawn as the rounded sum, and their weights add up to the sum. Of a hidden Markov model, whose rows
// depend on each other, whole sequences are drawn in place of rows.
type resample struct {
	seed      uint64
	replicate int
	sequences bool    // whole sequences are drawn
	used      int64   // rows, or sequences, of positive weight
	total     float64 // their weights
	halved    bool    // draws count half: see plan.Plan.HalvesDraws
}

// draws returns how many rows are drawn.
func (s *resample) draws() int64 { return int64(math.Round(s.total)) }

// enough refuses weights whose sum is no number of rows to draw. field is the field of the plan that asks for it.
func (s *resample) enough(field string) error {
	switch n := s.draws(); {
	case s.sequences && s.used < 2:
		return plan.Wrong(field, "draws whole sequences with replacement, but there is only one; rows of one sequence depend on each other and cannot be drawn")
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
		t.W[i] = m.of(t.Sequence, i, w)
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
	return &resampledReader{reader, r.sample.multinomial()}, nil
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
		w = append(w, r.weights.of(b.Sequence, i, b.Weight(i)))
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

	begin begin
	now   float64 // the new weight of what is under way
}

// begin tells, of rows in order, which of them begin what is drawn: each row, or the first one of each sequence.
type begin struct {
	sequences bool
	last      int32 // the sequence of the row before
	some      bool  // there is one
}

// at reports whether row i, of rows with these numbers of sequences, does so. nil is a single sequence.
func (b *begin) at(sequence []int32, i int) bool {
	of := int32(0)
	if sequence != nil {
		of = sequence[i]
	}
	begins := !b.sequences || !b.some || of != b.last
	b.last, b.some = of, true
	return begins
}

// multinomial returns the weights of the sample before the first row.
func (s *resample) multinomial() *multinomial {
	n := s.draws()
	m := &multinomial{rng: rng.Bootstrap.At(s.seed, s.replicate), left: n, rows: s.used, mass: s.total, unit: s.total / float64(n), begin: begin{sequences: s.sequences}}
	if s.halved {
		m.unit /= 2
	}
	return m
}

// of returns the new weight of the next row, row i of those with these numbers of sequences, whose own weight is w: another one where it
// begins what is drawn.
func (m *multinomial) of(sequence []int32, i int, w float64) float64 {
	if m.begin.at(sequence, i) {
		m.now = m.next(w)
	}
	return m.now
}

// next returns the new weight of what is drawn next, whose own weight is w.
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

// ofSequences returns what draws whole sequences of src, which it counts. It refuses rows of a single sequence, of which no other sample can be
// drawn.
func ofSequences(ctx context.Context, src data.Source) (*resample, error) {
	s, first := &resample{sequences: true}, begin{sequences: true}
	err := data.EachBlock(ctx, src, func(b *data.Block) error {
		for i := range b.N {
			if w := b.Weight(i); first.at(b.Sequence, i) && w > 0 {
				s.used++
				s.total += w
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s, s.enough("Bootstrap")
}
