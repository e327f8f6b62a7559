package hard

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/par"
	"github.com/latent-go/latent/internal/seed"
)

// Medians is the objective of K-medians: F is minus the sum of weighted L1 distances to the nearest centre, and the step
// moves each centre to the median of its rows, column by column: the value with half the weight on either side, where
// the derivative of sum w |x - m| changes sign. Of an interval of such values it takes the midpoint.
//
// theta is k x d centres. ascent.EM with Beta +Inf climbs it; Labels let that end when no label changes. Eval may be
// called from several goroutines at once. A Medians must not be copied.
type Medians struct {
	Points  *seed.Points // all weights positive; only read
	Threads int          // at least 1 is used

	idle sync.Pool // of *step
}

// Eval implements ascent.Objective. beta must be +Inf: labels are hard. The error is that of ctx otherwise.
//
// A cluster without rows takes the row farthest from its own centre, of equals the first, if that row has company; the
// medians are taken after it left. Labels and Lifted are those of the rows after such moves, F and Weights before.
func (m *Medians) Eval(ctx context.Context, theta []float64, beta float64) (*ascent.Point, error) {
	if !math.IsInf(beta, 1) {
		return nil, fmt.Errorf("beta is %v, but the labels of K-medians are hard: it must be +Inf", beta)
	}
	k := len(theta) / m.Points.D
	s, _ := m.idle.Get().(*step)
	if s == nil || s.p != m.Points || s.k != k || s.threads != m.Threads {
		s = newStep(m.Points, k, m.Threads)
	}
	defer m.idle.Put(s)
	point := &ascent.Point{Theta: slices.Clone(theta), Beta: beta, Next: slices.Clone(theta)}
	if err := s.assign(ctx, point.Theta); err != nil {
		return nil, err
	}
	point.F, point.Weights = s.f, slices.Clone(s.weights)
	s.fill()
	point.Labels = s.labels
	if err := s.medians(ctx, point.Next); err != nil {
		return nil, err
	}
	lifted, err := s.cost(ctx, point.Next)
	point.Lifted = 0 - lifted
	return point, err
}

// step is the memory of one evaluation: where rows belong, and what the rows of a piece sum to. Pieces are the same for
// any number of threads, and are merged in their order.
type step struct {
	assignment
	p          *seed.Points
	k, threads int

	f       float64   // minus the cost of assign
	weights []float64 // k, of the rows of each cluster
	rows    []int     // k, their number
	labels  uint64    // fingerprint
	part    []float64 // a sum of each chunk
	pieces  []piece
	workers []*worker
	table   []float64 // of kern.Bracket
	open    []bool    // k*d, whether the median is still to be found
}

// piece is what is known of some consecutive rows.
type piece struct {
	lo, hi  int       // multiples of chunkRows, or the end
	weights []float64 // k
	rows    []int     // k
	labels  uint64
	table   []float64  // as step.table
	inside  []weighted // values in brackets: those of slot from from[slot] to from[slot+1]
	from    []int      // k*d+1
}

// worker is the scratch memory of one goroutine.
type worker struct {
	x, zero, least []float64
	label          []int64
	hit, weight    []float64
	slot           []int32
	values         []weighted
}

// maxPieces is how many pieces there are at most, enough to share out. One has at least pieceRows rows for each cluster, so
// that its table takes half as much memory as they do.
const (
	maxPieces = 64
	pieceRows = 10
)

func newStep(p *seed.Points, k, threads int) *step {
	d := p.D
	s := &step{
		assignment: *newAssignment(p.N), p: p, k: k, threads: threads, weights: make([]float64, k), rows: make([]int, k),
		part: make([]float64, (p.N+chunkRows-1)/chunkRows), workers: make([]*worker, max(threads, 1)),
		table: make([]float64, k*kern.Planes*kern.Pad(d)), open: make([]bool, k*d),
	}
	size := max((len(s.part)+maxPieces-1)/maxPieces, (k*pieceRows+chunkRows-1)/chunkRows) * chunkRows
	for lo := 0; lo < p.N; lo += size {
		s.pieces = append(s.pieces, piece{lo: lo, hi: min(lo+size, p.N), weights: make([]float64, k), rows: make([]int, k)})
	}
	for i := range s.workers {
		s.workers[i] = &worker{
			x: make([]float64, d*kern.Rows), zero: make([]float64, d), least: make([]float64, kern.Rows), label: make([]int64, kern.Rows),
		}
	}
	return s
}

// eachPiece calls work for every piece from several goroutines.
func (s *step) eachPiece(ctx context.Context, work func(q *piece, w *worker)) error {
	return par.Do(ctx, s.threads, len(s.pieces), func(id, i int) { work(&s.pieces[i], s.workers[id]) })
}

// assign finds the nearest centre of every row, and what the rows of each add up to.
func (s *step) assign(ctx context.Context, theta []float64) error {
	err := s.eachPiece(ctx, func(q *piece, w *worker) {
		clear(q.weights)
		clear(q.rows)
		q.labels = 0
		for lo := q.lo; lo < q.hi; lo += kern.Rows {
			s.assignPanel(lo, min(lo+kern.Rows, q.hi), theta, w)
			for i := lo; i < min(lo+kern.Rows, q.hi); i++ {
				c := s.label[i]
				q.rows[c]++
				q.weights[c] += s.p.W[i]
				q.labels += family.Fingerprint(int64(i), c)
			}
		}
		s.sumChunks(q, s.score)
	})
	if err != nil {
		return err
	}
	s.f, s.labels = s.total(), 0
	clear(s.weights)
	clear(s.rows)
	for i := range s.pieces {
		q := &s.pieces[i]
		s.labels += q.labels
		for c, n := range q.rows {
			s.rows[c] += n
			s.weights[c] += q.weights[c]
		}
	}
	return nil
}

// assignPanel labels rows lo to hi, at most kern.Rows.
func (s *step) assignPanel(lo, hi int, theta []float64, w *worker) {
	d := s.p.D
	kern.Pack(w.x, s.p.X[lo*d:hi*d], w.zero, hi-lo, d)
	kern.L1Nearest(w.least, w.label, w.x, theta, s.k, d)
	for i := range hi - lo {
		s.label[lo+i] = int32(w.label[i])
		s.score[lo+i] = -min(w.least[i], math.MaxFloat64)
	}
}

// sumChunks sets the parts of a piece to the sums of w v over the rows of each chunk.
func (s *step) sumChunks(q *piece, v []float64) {
	for lo := q.lo; lo < q.hi; lo += chunkRows {
		hi := min(lo+chunkRows, q.hi)
		s.part[lo/chunkRows] = weightedSum(s.p.W[lo:hi], v[lo:hi])
	}
}

// total returns the sum of the parts: weightedSum of all rows, to the bit.
func (s *step) total() (sum float64) {
	for _, v := range s.part {
		sum += v
	}
	return sum
}

// cost returns the sum of weighted L1 distances of the rows to their centres in theta. It overwrites the scores.
func (s *step) cost(ctx context.Context, theta []float64) (float64, error) {
	d := s.p.D
	err := s.eachPiece(ctx, func(q *piece, _ *worker) {
		for lo := q.lo; lo < q.hi; lo += chunkRows {
			hi := min(lo+chunkRows, q.hi)
			kern.L1Rows(s.score[lo:hi], s.p.X[lo*d:hi*d], theta, s.label[lo:hi], d)
		}
		s.sumChunks(q, s.score)
	})
	return s.total(), err
}

// fill gives every empty cluster a row. A row at its own centre has nothing to gain, and one alone would leave another
// cluster empty.
func (s *step) fill() {
	moved := false
	for c := range s.k {
		if s.rows[c] > 0 {
			continue
		}
		far, worst := -1, 0.0
		for i, v := range s.score {
			if v < worst && s.rows[s.label[i]] > 1 {
				far, worst = i, v
			}
		}
		if far < 0 {
			break
		}
		s.rows[s.label[far]]--
		s.rows[c]++
		s.labels += family.Fingerprint(int64(far), int32(c)) - family.Fingerprint(int64(far), s.label[far])
		s.label[far], s.score[far] = int32(c), 0
		moved = true
	}
	if moved { // taken from the sums, a heavy row would take small ones with it
		clear(s.weights)
		for i, c := range s.label {
			s.weights[c] += s.p.W[i]
		}
	}
}
