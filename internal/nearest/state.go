package nearest

import (
	"sync/atomic"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/large"
)

// State is what the sweeps of one start leave for the next: the label of every row and until when it stands, 8 N bytes, and the
// sums of every part of the rows, 16 k D bytes each; where many centres are compared in bytes lists too, k N / 8 bytes and no more
// than 4 N D. The zero value is ready. It is used by one sweep at a time, with any centres and any engine: what it holds says nothing
// about them.
type State struct {
	engine *Engine
	k      int
	label  []int32 // panels x kern.Rows, in order; -1 before the first sweep
	part   []sums
	total  sums
	moved  bool
	sorts  bool    // rows are to be laid out by its labels
	grain  float64 // of kern.Shift, or 0 for kern.Scatter
	bounds bounds
	lists  lists
	order  *order // of label and bounds

	Pages *Pages // what it is where rows pass by; nil where they are in memory, and where that would not pay

	id atomic.Uint64 // see ID

	tested, compared int64 // rows whose bounds were looked at in the last sweep, and those of them that were compared
}

// sums are those of the clusters over a part of the rows, each a pair of numbers: a change leaves at most 2^-105 of the
// largest value that was ever in a sum, and nothing where kern.Shift is exact, so that they need not be begun again.
type sums struct {
	hi, lo      []float64 // k x D
	nhi, nlo    []float64 // k
	count       []int64   // k: rows of positive weight
	changed     int64     // labels that changed in the last sweep
	tested, due int64     // rows whose bounds the last sweep looked at, and how many of them it had to compare

	listed, offered int64 // centres that lists left, and that they were to choose from

	cost, costLo float64
}

func newSums(k, d int) sums {
	v := make([]float64, 2*k*(d+1))
	cut := func(n int) (s []float64) { s, v = v[:n:n], v[n:]; return s }
	return sums{hi: cut(k * d), lo: cut(k * d), nhi: cut(k), nlo: cut(k), count: make([]int64, k)}
}

func (s *sums) reset() {
	for _, v := range [][]float64{s.hi, s.lo, s.nhi, s.nlo} {
		clear(v)
	}
	clear(s.count)
	s.changed, s.tested, s.due, s.listed, s.offered = 0, 0, 0, 0, 0
	s.cost, s.costLo = 0, 0
}

// partRows is how many rows a part has at least where there are more than 8: with 784 columns and 10 clusters the sums of 64 parts of 50,000
// rows took a sixth of a sweep.
const partRows = 4096

// stateParts returns how many parts the rows are summed in: so few that merging them costs little beside a sweep, and
// fixed by the data, for the same bits on any number of threads.
func (e *Engine) stateParts(k int) int {
	p := 1
	for p < 64 && (p < 8 || 64*k*p < e.n && partRows*p < e.n) && 256*p < e.n {
		p *= 2
	}
	return p
}

// begin makes the state fit the engine and k.
func (st *State) begin(e *Engine, k int) {
	if st.engine == e && st.k == k && st.follow(e.order) {
		return
	}
	st.engine, st.k, st.label, st.part, st.total = e, k, large.Make[int32](e.panels*kern.Rows), make([]sums, e.stateParts(k)), newSums(k, e.d)
	st.moved, st.bounds, st.lists, st.tested, st.compared = false, bounds{}, lists{}, 0, 0
	st.order = e.order
	st.grain = e.grain(2 * (e.panels/len(st.part) + 1) * kern.Rows) // those of a part, and those that come to it when rows are laid out by label
	for i := range st.part {
		st.part[i] = newSums(k+1, e.d) // the last takes what a row leaves that was nowhere
	}
	for i := range st.label {
		st.label[i] = -1
	}
}

// ids is the number of the last state that was asked for one.
var ids atomic.Uint64

// ID returns a number of the state's own, from 1, by which states for parts of its rows go on other machines.
func (st *State) ID() uint64 {
	if st.id.Load() == 0 {
		st.id.CompareAndSwap(0, ids.Add(1))
	}
	return st.id.Load()
}

// Label returns the label of row i after a sweep.
func (st *State) Label(i int) int32 {
	if st.order != nil {
		i = int(st.order.lane[i])
	}
	return st.label[i]
}

// Moved reports whether any label changed in the last sweep.
func (st *State) Moved() bool { return st.moved }
