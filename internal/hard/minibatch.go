package hard

import (
	"context"
	"iter"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/rng"
	"github.com/latent-go/latent/internal/seed"
)

// MiniBatch is k-means on small random batches (Sculley 2010): every row of a batch pulls its nearest centre by 1/v, v
// the weight that centre has seen, which makes each centre the running mean of its rows. It is for rows so many that a
// few passes are too dear; the answer is close to that of Lloyd's algorithm, not at rest.
//
// Rows are drawn without replacement until all are drawn, then anew. The generator depends on Seed and on the start, so
// that starts of one seed see different batches. Batches run in one goroutine except for their distances.
type MiniBatch struct {
	Points    *seed.Points // the rows of the objective, about the same origin; only read
	BatchSize int          // rows of a batch; 0 means 1024, and no batch is larger than all rows
	MaxIter   int          // how many times over the rows batches may add up to; 0 evaluates the start
	Seed      uint64
	Threads   int // at least 1 is used
}

// Constants of the batches' end.
const (
	defaultBatch = 1024
	// patience is how many batches in a row may fail to lower the smoothed inertia: scikit-learn's max_no_improvement.
	patience = 10
	// patienceRows is how many rows a cluster those batches must hold: ten batches of one row say nothing.
	patienceRows = 10
	// improvement is the share of the smoothed inertia that counts as lower. As counts grow the centres creep for ever.
	improvement = 1e-4
)

// Steps implements ascent.Driver. It yields the start and then full evaluations only: F and Labels are those of all rows,
// never an estimate. The first after the start has the centres that the batches left or, where those are worse than the
// start, the start's own step of Lloyd's algorithm. While clusters are empty further steps of Lloyd's follow, in which
// the objective moves empty clusters to the farthest rows; they end when none is empty or nothing is gained.
//
// Iteration counts full evaluations after the start. Sweeps counts all full evaluations, and the rows of the batches as
// parts of one, rounded up. Done is FixedPoint if the batches had stopped improving and Limit if MaxIter cut them off.
func (m MiniBatch) Steps(ctx context.Context, o ascent.Objective, theta []float64) iter.Seq2[ascent.Step, error] {
	return func(yield func(ascent.Step, error) bool) {
		s := ascent.Step{Distance: math.NaN(), Remaining: math.NaN()}
		eval := func(theta []float64) (p *ascent.Point, ok bool) {
			p, err := o.Eval(ctx, theta, math.Inf(1))
			if err != nil {
				yield(ascent.Step{}, err)
			}
			s.Sweeps++
			return p, err == nil
		}
		start, ok := eval(theta)
		if !ok {
			return
		}
		s.Point = start
		end := ascent.Limit
		if m.MaxIter <= 0 {
			s.Done = end
			yield(s, nil)
			return
		}
		if !yield(s, nil) {
			return
		}
		b := m.newBatches(start.Theta)
		settled, err := b.run(ctx)
		if err != nil {
			yield(ascent.Step{}, err)
			return
		}
		if settled {
			end = ascent.FixedPoint
		}
		s.Sweeps += (b.drawn + m.Points.N - 1) / m.Points.N
		p, ok := eval(b.theta)
		if ok && p.F < start.F { // too few rows for so many clusters
			p, ok = eval(start.Next)
		}
		for last := start; ok; p, ok = eval(p.Next) {
			s.Iteration, s.Point, s.Change = s.Iteration+1, p, p.F-last.F
			if slices.Min(p.Weights) > 0 || slices.Equal(p.Next, p.Theta) || s.Iteration > 1 && s.Change <= 0 {
				s.Done = end
			}
			s.Halves = s.Done == ascent.Going
			if !yield(s, nil) || s.Done != ascent.Going {
				return
			}
			last = p
		}
	}
}

// batches is one climb.
type batches struct {
	MiniBatch
	size, k int
	theta   []float64
	seen    []float64 // weight that each centre has seen
	rng     *rand.Rand
	order   []int // the rows; those before at have been drawn this time round
	at      int
	drawn   int // rows so far
	a       *assignment
}

func (m MiniBatch) newBatches(theta []float64) *batches {
	b := &batches{MiniBatch: m, k: len(theta) / m.Points.D, theta: slices.Clone(theta), size: m.BatchSize}
	if b.size <= 0 {
		b.size = defaultBatch
	}
	b.size = min(b.size, m.Points.N)
	b.seen, b.a = make([]float64, b.k), newAssignment(b.size)
	b.rng = rng.Batches(m.Seed, digest(theta))
	b.order = make([]int, m.Points.N)
	for i := range b.order {
		b.order[i] = i
	}
	return b
}

// digest is the 64-bit FNV-1a hash of the numbers, a word at a time.
func digest(v []float64) uint64 {
	h := uint64(14695981039346656037)
	for _, x := range v {
		h = (h ^ math.Float64bits(x)) * 1099511628211
	}
	return h
}

// draw returns the rows of the next batch: the next of a shuffle that is made as it is read (Fisher and Yates). What is
// too short for a batch at the end of a round is shuffled again.
func (b *batches) draw() []int {
	if b.at+b.size > len(b.order) {
		b.at = 0
	}
	batch := b.order[b.at : b.at+b.size]
	for i := range batch {
		other := b.at + i + b.rng.IntN(len(b.order)-b.at-i)
		b.order[b.at+i], b.order[other] = b.order[other], b.order[b.at+i]
	}
	b.at += b.size
	b.drawn += b.size
	return batch
}

// run takes batches until their smoothed inertia stops falling, or the limit.
func (b *batches) run(ctx context.Context) (settled bool, err error) {
	rate := min(1, 2*float64(b.size)/float64(b.Points.N+1)) // smooths over about half the rows
	wait := max(patience, (patienceRows*b.k+b.size-1)/b.size)
	smooth, least, still := 0.0, math.Inf(1), 0
	for float64(b.drawn)+float64(b.size) <= float64(b.MaxIter)*float64(b.Points.N) {
		inertia, err := b.step(ctx, b.draw())
		if err != nil {
			return false, err
		}
		if b.drawn == b.size {
			smooth = inertia
		}
		smooth += rate * (inertia - smooth)
		if still++; smooth < least*(1-improvement) {
			least, still = smooth, 0
		}
		if still >= wait {
			return true, nil
		}
	}
	return false, nil
}

// step lets the rows pull their centres and returns the mean inertia of the batch before.
func (b *batches) step(ctx context.Context, rows []int) (float64, error) {
	p, d := b.Points, b.Points.D
	if err := b.a.assign(ctx, family.KMeans{}, b.theta, p, rows, b.Threads); err != nil {
		return 0, err
	}
	cost, weight := 0.0, 0.0
	for i, row := range rows {
		c, w := int(b.a.label[i]), p.W[row]
		cost -= w * b.a.score[i]
		weight += w
		b.seen[c] += w
		pull, centre := w/b.seen[c], b.theta[c*d:c*d+d]
		for j, x := range p.At(row) {
			centre[j] += pull * (x - centre[j])
		}
	}
	return cost / weight, nil
}
