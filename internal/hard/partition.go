package hard

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/family"
)

// partition is what DP-means knows of a sweep: the clusters that have rows.
type partition struct {
	penalty float64
	theta   []float64     // k x d
	s       *family.Stats // of theta
}

// move is a step: new centres, and F of the labels as they are there.
type move struct {
	theta  []float64
	lifted float64
}

// newPartition drops the clusters without rows. No row is nearest to them, so that the sums stay what they are.
func newPartition(penalty float64, theta []float64, s *family.Stats) *partition {
	d := s.D
	q := &partition{penalty: penalty, s: &family.Stats{D: d, F: s.F, Rows: s.Rows, W: s.W, Far: s.Far}}
	to := make([]int32, s.K)
	for c, n := range s.N {
		if n == 0 {
			continue
		}
		to[c] = int32(q.s.K)
		q.s.K++
		q.s.N = append(q.s.N, n)
		q.s.Sum = append(q.s.Sum, s.Sum[c*d:c*d+d]...)
		q.theta = append(q.theta, theta[c*d:c*d+d]...)
	}
	for i := range q.s.Far {
		q.s.Far[i].Label = to[q.s.Far[i].Label]
	}
	return q
}

// objective is SSE + lambda k.
func (q *partition) objective() float64 { return q.penalty*float64(q.s.K) - q.s.F }

// mayOpen reports whether f is still too far, by more than rounding, from where its cluster's centre goes: a centre on
// its way to its rows needs no help. That counts no weights, so that a row of weight 2 is two rows.
func (q *partition) mayOpen(f *family.Far) bool {
	d := q.left(f)
	return d > q.penalty && d > noise(f.X)
}

// noise is the squared distance from x that rounding may be to blame for.
func noise(x []float64) (sum float64) {
	for _, v := range x {
		sum += 1e-24 * v * v
	}
	return sum
}

// left returns the squared distance of f from the mean of its cluster.
func (q *partition) left(f *family.Far) (sum float64) {
	c := int(f.Label)
	for j, x := range f.X {
		t := x - q.s.Sum[c*q.s.D+j]/q.s.N[c]
		sum += t * t
	}
	return sum
}

// pays returns the farthest row that is sure to be worth a cluster, or nil: alone there it saves its weight times its
// distance, and costs the penalty. Only rows too light for that are passed over, and none where the farthest may not open.
func (q *partition) pays() *family.Far {
	for i := range q.s.Far {
		f := &q.s.Far[i]
		if !q.mayOpen(f) {
			return nil
		}
		if f.W*q.left(f) > q.penalty {
			return f
		}
	}
	return nil
}

// mean returns the means of the clusters and, where open is not nil, one more centre at that row. It counts open as moved
// there, and no other row.
func (q *partition) mean(open *family.Far) move {
	next := make([]float64, len(q.theta))
	for i, v := range q.s.Sum {
		next[i] = v / q.s.N[i/q.s.D]
	}
	lifted := family.KMeans{}.Expected(next, q.theta, q.s) - q.penalty*float64(q.s.K)
	if open != nil {
		next = append(next, open.X...)
		lifted += open.W*q.left(open) - q.penalty
	}
	return move{next, lifted}
}

// point describes the sweep and the move that follows it.
func (q *partition) point(next move) *ascent.Point {
	return &ascent.Point{
		Theta: q.theta, Beta: math.Inf(1), F: -q.objective(), Weights: slices.Clone(q.s.N), Next: next.theta, Lifted: next.lifted,
	}
}
