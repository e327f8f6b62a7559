package nearest

import (
	"math"
	"math/bits"

	"github.com/latent-go/latent/internal/kern"
)

const (
	// batch is how many panels go to a kernel at once, at most: their labels stay in the first-level cache.
	batch = 64
	// callWork bounds the multiplications of one kernel call, 32 each at best a cycle: well below 100 microseconds, since
	// assembly cannot be preempted.
	callWork = 100_000
	// moveRows and moveCells are how many changes are gathered before the sums are touched: while their rows are in cache.
	moveRows  = 512
	moveCells = 1 << 16
	// blockBytes of rows are read once for all starts that a sweep serves: they stay in the second-level cache.
	blockBytes = 1 << 19
)

// worker is the scratch memory of one goroutine.
type worker struct {
	e       *Engine
	j       *job // in hand
	s       *sums
	first   int // row that others are counted from
	batch   rowBatch
	g       gathered
	y       []float64 // d
	got     []int32   // batch x kern.Rows
	flags   []uint32
	late    []uint32
	state   []kern.DenseState
	dist    []float64 // scores of one row, or of pairs
	moves   []kern.Move
	changes []kern.Change
	scores  []float32
	list    []kern.Survivor
	pairs   []kern.Pair
	lane    []uint8 // of the row of each pair
	upper   [kern.Rows]float32
	length  [kern.Rows]float32
	dots    []float32
	best    [kern.Rows]float64
	gap     [kern.Rows]float64
	picks   picks
	tested  int64 // rows, and centres compared for them in float64
	pair    int64
	_       [128]byte // workers must not share a cache line
}

func newWorker(e *Engine) *worker {
	return &worker{e: e, y: make([]float64, e.d), got: make([]int32, batch*kern.Rows), flags: make([]uint32, 2*batch), late: make([]uint32, batch), state: make([]kern.DenseState, batch),
		moves: make([]kern.Move, 0, 2*moveRows+2*kern.Rows), changes: make([]kern.Change, 0, moveRows+kern.Rows)}
}

// rowBatch tells which rows are being compared, by their lanes.
type rowBatch struct {
	n     int     // rows; what follows in the last panel counts for nothing
	first int     // they are first, first + 1, ...
	id    []int32 // or these, where it is not nil
	bound bool    // set their dues
	near  bool    // tell their distances
	due   []float32
}

func (h *rowBatch) lane(i int) int {
	if h.id != nil {
		return int(h.id[i])
	}
	return h.first + i
}

// valid returns the bits of the rows that panel p in hand has.
func (h *rowBatch) valid(p int) uint32 { return validOf(h.n - p*kern.Rows) }

func validOf(left int) uint32 {
	if left < kern.Rows {
		return 1<<max(left, 0) - 1
	}
	return math.MaxUint32
}

// valid returns the bits of the rows that panel p has.
func (e *Engine) valid(p int) uint32 { return validOf(e.n - p*kern.Rows) }

// assign labels the rows of one part for all jobs and applies what changed to their sums.
func (w *worker) assign(part int) {
	e := w.e
	parts := len(e.group[0].st.part)
	lo, hi := e.span(part, parts)
	step := hi - lo
	first := lo * kern.Rows
	if e.order != nil {
		first = 0
	}
	if len(e.group) > 1 {
		step = max(blockBytes/e.panelBytes(), 1)
	}
	for _, j := range e.group {
		s := &j.st.part[part]
		s.changed, s.tested, s.due, s.listed, s.offered = 0, 0, 0, 0, 0
	}
	for p := lo; p < hi; p += step {
		for _, j := range e.group {
			w.j, w.s, w.first = j, &j.st.part[part], first
			w.panels(p, min(p+step, hi))
			w.flush()
		}
	}
}

// panels labels the rows of panels p to q.
func (w *worker) panels(p, q int) {
	switch b := &w.j.st.bounds; {
	case w.j.k == 1:
		clear(w.got[:kern.Rows])
		for ; p < q; p++ {
			w.batch = rowBatch{n: w.e.n - p*kern.Rows, first: p * kern.Rows}
			w.note(0, math.MaxUint32, w.got)
		}
	case w.j.near != nil:
		w.whole(p, q, b.due != nil)
	case b.due == nil:
		w.whole(p, q, false)
	case b.mode == sampling:
		w.sample(p, q)
	case b.mode == filling:
		w.whole(p, q, true)
	default:
		w.bounded(p, q)
	}
}

// whole labels all rows of panels p to q as they stand. With bound it sets their dues.
func (w *worker) whole(p, q int, bound bool) {
	e := w.e
	step := 1
	if e.ints == nil {
		step = max(min(callWork/(w.j.centres.slots()*e.d), batch), 1)
	}
	for ; p < q; p += step {
		n, lo := min(step, q-p), p*kern.Rows
		label := w.j.st.label[lo:]
		w.batch = rowBatch{n: min(n*kern.Rows, e.n-lo), first: lo, bound: bound, near: w.j.near != nil}
		if bound {
			w.batch.due = w.j.st.bounds.due[lo:]
		}
		if e.ints != nil {
			size := e.ints.groups * 4 * kern.Rows
			w.intPanel(e.ints.q[p*size:(p+1)*size], e.ints.row[p*4*kern.Rows:(p+1)*4*kern.Rows], label)
		} else {
			w.densePanels(e.dense.x[lo*e.d:], e.dense.norm[lo:], label, n)
		}
	}
}

// note takes in the labels of the rows of the bits of panel p in hand.
func (w *worker) note(p int, rows uint32, got []int32) {
	e, s, h, st := w.e, w.s, &w.batch, w.j.st
	for b := rows & h.valid(p); b != 0; b &= b - 1 {
		r := bits.TrailingZeros32(b)
		lane := h.lane(p*kern.Rows + r)
		was, is := st.label[lane], got[r]
		if was == is {
			continue
		}
		st.label[lane] = is
		s.changed++
		i := e.rowOf(lane)
		at := uint32(i - w.first)
		if st.grain > 0 { // weights are 1, and flush counts the rows
			from := uint32(w.j.k)
			if was >= 0 {
				from = uint32(was)
			}
			w.changes = append(w.changes, kern.Change{Row: at, From: from, To: uint32(is)})
			continue
		}
		u := e.weightOf(i)
		if u == 0 {
			continue
		}
		s.count[is]++
		s.nhi[is], s.nlo[is] = kern.TwoSum(s.nhi[is], s.nlo[is], u)
		if was >= 0 {
			s.count[was]--
			s.nhi[was], s.nlo[was] = kern.TwoSum(s.nhi[was], s.nlo[was], -u)
		}
		if was >= 0 {
			w.moves = append(w.moves, kern.Move{Row: at, Cluster: uint32(was), W: -u})
		}
		w.moves = append(w.moves, kern.Move{Row: at, Cluster: uint32(is), W: u})
	}
	if n := len(w.moves) + 2*len(w.changes); n*e.d >= moveCells || n >= 2*moveRows {
		w.flush()
	}
}

// flush applies the changes gathered to the sums of the part.
func (w *worker) flush() {
	e, s := w.e, w.s
	first := w.first * e.d
	const most = 1 << 16
	step := max(most/e.d, 1)
	for p := 0; p < len(w.moves); p += step {
		q := min(p+step, len(w.moves))
		if e.t.F64 != nil {
			kern.Scatter(s.hi, s.lo, e.t.F64[first:], e.origin, w.moves[p:q], e.d)
		} else {
			kern.Scatter(s.hi, s.lo, e.t.F32[first:], e.origin, w.moves[p:q], e.d)
		}
	}
	for _, c := range w.changes {
		s.count[c.From]--
		s.count[c.To]++
	}
	for p := 0; p < len(w.changes); p += step {
		kern.Shift(s.hi, s.lo, e.t.F32[first:], e.origin, w.j.st.grain, w.changes[p:min(p+step, len(w.changes))], e.d)
	}
	w.moves, w.changes = w.moves[:0], w.changes[:0]
}
