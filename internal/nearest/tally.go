package nearest

import (
	"math"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// Tally is a sweep over rows that pass by once: it adds, and its statistics are those of an Engine, digit by digit. They
// may differ in the last digit of a sum that lies within 2^-100 of the middle of two float64.
type Tally struct {
	k, d int
	sums sums
	look look
	far  family.Stats

	short  bool // it lacks the farthest rows, and the cost row by row
	costed bool // of the two only the farthest rows
}

// NewTally returns an empty tally of k clusters of d columns that remembers the farMax rows farthest from their centres.
func NewTally(k, d, farMax int) *Tally {
	return &Tally{k: k, d: d, sums: newSums(k, d), far: family.Stats{FarMax: farMax}}
}

// Reset makes t empty again.
func (t *Tally) Reset() {
	t.sums.reset()
	t.look, t.short, t.costed = look{}, false, false
	t.far.Reset()
}

// Merge adds o, of the rows that follow.
func (t *Tally) Merge(o *Tally) {
	t.sums.merge(&o.sums)
	t.look.merge(&o.look)
	t.short = t.short || o.short
	for i := range o.far.Far {
		t.far.Offer(o.far.Far[i])
	}
}

// merge adds the sums of other rows.
func (s *sums) merge(o *sums) {
	for i := range s.hi {
		s.hi[i], s.lo[i] = kern.TwoSum(s.hi[i], s.lo[i]+o.lo[i], o.hi[i])
	}
	for c := range s.count {
		s.count[c] += o.count[c]
		s.nhi[c], s.nlo[c] = kern.TwoSum(s.nhi[c], s.nlo[c]+o.nlo[c], o.nhi[c])
	}
	s.cost, s.costLo = kern.TwoSum(s.cost, s.costLo+o.costLo, o.cost)
	s.changed, s.tested, s.due = s.changed+o.changed, s.tested+o.tested, s.due+o.due
}

// Fill sets s to the statistics of all rows added. It reports false where float64 may not hold their squares.
func (t *Tally) Fill(theta []float64, s *family.Stats) bool {
	all := t.look.totals()
	for _, v := range theta {
		all.top = max(all.top, math.Abs(v))
	}
	if !(all.weight*all.top*all.top < roomy) {
		return false
	}
	empty := t.sums.write(s, theta, t.d, &all)
	if cancelled(s, &all) {
		s.F = 0 - (t.sums.cost + t.sums.costLo)
	}
	if empty {
		for i := range t.far.Far {
			s.Offer(t.far.Far[i])
		}
	}
	return true
}

// Wants reports whether Fill needs what a tally of Engine.Tallies or of a Pager does not have: the cost row by row, where a difference of sums would cancel, or
// the farthest rows, where a cluster is empty.
func (t *Tally) Wants(theta []float64, s *family.Stats) bool {
	if !t.short {
		return false
	}
	all := t.look.totals()
	empty := t.sums.write(s, theta, t.d, &all)
	return empty || !t.costed && cancelled(s, &all)
}

// Scratch is the memory of one goroutine that adds to tallies.
type Scratch struct {
	x, dist, y, mu []float64
	moves          []kern.Move
	label          []int64
	least          []float64
}

// NewScratch returns scratch memory for d columns.
func NewScratch(d int) *Scratch {
	return &Scratch{x: make([]float64, d*kern.Rows), y: make([]float64, d), mu: make([]float64, d), label: make([]int64, kern.Rows), least: make([]float64, kern.Rows)}
}

// Add adds the rows of b, relative to origin, to those of their nearest centres.
func (t *Tally) Add(b *data.Block, origin, theta []float64, sc *Scratch) {
	d := t.d
	sc.dist = grown(sc.dist, t.k*kern.Rows)
	for lo := 0; lo < b.N; lo += kern.Rows {
		n := min(kern.Rows, b.N-lo)
		if b.F64 != nil {
			kern.Pack(sc.x, b.F64[lo*d:(lo+n)*d], origin, n, d)
		} else {
			kern.Pack(sc.x, b.F32[lo*d:(lo+n)*d], origin, n, d)
		}
		kern.SqdistAll(sc.dist, sc.x, theta, t.k, d)
		kern.Argmin(sc.least, sc.label, sc.dist, t.k)
		sc.moves = sc.moves[:0]
		for i := range n {
			if w := b.Weight(lo + i); w > 0 {
				t.add(b, lo+i, i, w, sc)
			}
		}
		if b.F64 != nil {
			kern.Scatter(t.sums.hi, t.sums.lo, b.F64, origin, sc.moves, d)
		} else {
			kern.Scatter(t.sums.hi, t.sums.lo, b.F32, origin, sc.moves, d)
		}
	}
}

// add takes in all of row i but its sums. r is its place in the panel.
func (t *Tally) add(b *data.Block, i, r int, w float64, sc *Scratch) {
	for j := range sc.y {
		sc.y[j] = sc.x[j*kern.Rows+r]
	}
	q, _, top := kern.Deviations(sc.y, sc.y, sc.mu, sc.mu)
	t.look.add(w, q, top)
	s, c, own := &t.sums, sc.label[r], sc.least[r]
	s.count[c]++
	s.nhi[c], s.nlo[c] = kern.TwoSum(s.nhi[c], s.nlo[c], w)
	s.cost, s.costLo = kern.TwoSum(s.cost, s.costLo, w*own)
	sc.moves = append(sc.moves, kern.Move{Row: uint32(i), Cluster: uint32(c), W: w})
	if t.far.Worse(-own) {
		t.far.Offer(family.Far{Row: b.First + int64(i), Score: -own, W: w, Label: int32(c), X: sc.y})
	}
}
