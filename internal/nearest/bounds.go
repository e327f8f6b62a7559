package nearest

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/large"
)

// bounds tell which rows may change their label (Hamerly 2010, with his two bounds in one number). A centre that moves by t
// comes nearer to a row, or falls behind, by at most t. So a row whose second centre is s farther than its first keeps its
// label until its own centre and that of all others which moves most have together come as far as s, summed over the sweeps:
// that is its due, counted on the clock of its cluster. Testing a row reads its label and its due, nothing else, and nothing
// is written to rows that are not due.
//
// Rounding: dues are rounded down and clocks up, and the gap that a due comes from is what remains after all that scores and the
// plain loop may be wrong by; see finish.
type bounds struct {
	clocks
	mode mode
	due  []float32 // panels x kern.Rows
}

// clocks are those of the clusters.
type clocks struct {
	theta []float64 // k x D: of the last sweep
	clock []float64 // k
	path  []float64 // k: how far each centre has come
	// In float32, at [label+1]: rounded up to compare with, down to count from.
	at, low []float32
}

// A mode says what a sweep does with bounds. They cost little beside a distance, but not nothing.
type mode int

const (
	sampling mode = iota // every row is compared; bounds are kept for one row in sampled, and those of others say nothing
	filling              // every row is compared, and its bound set
	bounding             // rows that are not due are left out
)

const (
	sampleRun = 16 // panels
	sampled   = 16
)

// advance moves the clocks on to the centres theta, or starts them with all rows due.
func (b *bounds) advance(e *Engine, theta []float64, k int) {
	if b.due == nil {
		b.due = large.Make[float32](e.panels * kern.Rows)
		for i := range b.due {
			b.due[i] = -1 // before the clock starts
		}
	}
	b.clocks.advance(theta, k, e.d)
}

// advance moves the clocks on to the centres theta, or starts them.
func (b *clocks) advance(theta []float64, k, d int) {
	if b.clock == nil {
		b.clock, b.path, b.theta = make([]float64, k), make([]float64, k), append([]float64(nil), theta[:k*d]...)
		b.at, b.low = make([]float32, k+1), make([]float32, k+1)
		return
	}
	// The two largest steps: a cluster's rivals are all but itself.
	var first, second float64
	at := -1
	for c := range k {
		step := math.Sqrt(apart(theta[c*d:c*d+d], b.theta[c*d:])) * (1 + float64(d+8)*0x1p-52)
		b.low[c+1] = 0
		b.clock[c] += step
		b.path[c] = (b.path[c] + step) * (1 + 0x1p-50)
		switch {
		case step > first:
			first, second, at = step, first, c
		case step > second:
			second = step
		}
	}
	copy(b.theta, theta[:k*d])
	for c := range k {
		rival := first
		if c == at {
			rival = second
		}
		b.clock[c] = (b.clock[c] + rival) * (1 + 0x1p-50)
		b.at[c+1], b.low[c+1] = float32(b.clock[c]*(1+0x1p-22)), float32(b.clock[c]*(1-0x1p-22))
	}
}

// pays returns the share of rows due below which leaving out the others pays, 0 where it never does. Cycles a row: a
// product takes 1/32 and a comparison 1/8, twice that with AVX2 and NEON, the test of a due 4, half of that where its table is in registers,
// gathering 1/8 a cell, and a row that is due 25 more; where nothing compresses vectors gathering takes 1.5 a cell of a row that is due.
// Measured on Zen 5.
func (e *Engine) pays(k int) float64 {
	cells, wide := float64(e.d), 1.0
	if e.ints != nil {
		cells = float64(e.ints.groups)
	}
	test, gather, due := 4.0, cells/8, 25.0
	if kern.Current() != kern.AVX512 {
		wide, gather, due = 2, 0, 25+1.5*cells
	}
	if k <= kern.DueInRegisters() {
		test /= 2
	}
	all := 2 + wide*float64(k)*(cells/32+0.125)
	share := (0.9*all - test - gather) / (all + due)
	if share < leastShare {
		return 0
	}
	return share
}

// leastShare is the share of rows due that must be allowed for bounds to be kept at all: what they save where fewer may be due is less than
// samples and the first bounds of all rows cost. At level avx2 a sweep of (1e6, 2, 10) took 2.3 ns a row with bounds and 1.5 without, one of
// (2e5, 16, 16) 6.2 and 6.6.
const leastShare = 0.1

// decide chooses what the next sweep does with bounds, from counts of this one: the same on any number of threads.
func (st *State) decide(pays float64) {
	var changed, tested, due, offered, listed int64
	for p := range st.part {
		s := &st.part[p]
		changed, tested, due = changed+s.changed, tested+s.tested, due+s.due
		offered, listed = offered+s.offered, listed+s.listed
	}
	st.tested, st.compared = tested, due
	early := st.k >= earlyCentres && st.lists.bound != nil && st.engine.sortable() && 2*changed < int64(st.engine.n)
	st.sorts = st.lists.decide(offered, listed, early)
	st.bounds.mode.decide(tested, due, pays*st.lists.cost())
}

// decide sets what the next sweep does, from how many rows of this one were tested, and due.
func (m *mode) decide(tested, due int64, pays float64) {
	few := float64(due) < pays*float64(tested)
	switch {
	case *m == filling:
		*m = bounding
	case tested == 0:
	case *m == sampling && few:
		*m = filling
	case *m == bounding && !few:
		*m = sampling
	}
}

// sample compares all rows of panels p to q. It keeps bounds for some, and lists for others or, where they pay, for all others.
func (w *worker) sample(p, q int) {
	j := w.j
	forBounds, forLists := sampled, sampled*max(1, min(4, w.e.panels/(4*sampleRun*sampled)))
	if j.lists && j.st.lists.mode == bounding {
		forBounds *= 4 // a row costs more without a list
	}
	for p < q {
		run := p / sampleRun
		end := min((run+1)*sampleRun, q)
		switch {
		case run%forBounds == 0:
			w.test(p, end)
			w.whole(p, end, true)
		case j.lists && (j.st.lists.mode != sampling || run%forLists == sampled/2):
			w.listed(p, end)
		default:
			w.whole(p, end, false)
		}
		p = end
	}
}

// test sets w.late to the rows that are due of panels p to q, at most batch, and returns their number.
func (w *worker) test(p, q int) int {
	b, e := &w.j.st.bounds, w.e
	kern.Due(w.late, b.due[p*kern.Rows:], w.j.st.label[p*kern.Rows:], b.at, q-p)
	rows, due := 0, 0
	for i := range q - p {
		valid := e.valid(p + i)
		w.late[i] &= valid
		rows += bits.OnesCount32(valid)
		due += bits.OnesCount32(w.late[i])
	}
	w.s.tested, w.s.due = w.s.tested+int64(rows), w.s.due+int64(due)
	return due
}

// bounded compares the rows that are due of panels p to q.
func (w *worker) bounded(p, q int) {
	for ; p < q; p += batch {
		end := min(p+batch, q)
		due := w.test(p, end)
		if float64(due) > w.j.pays*float64((end-p)*kern.Rows) {
			w.whole(p, end, true)
			continue
		}
		for i, rows := range w.late[:end-p] {
			if rows != 0 {
				w.gather(p+i, rows)
			}
		}
	}
	w.drain()
}

// gathered are rows taken together from many panels into full ones.
type gathered struct {
	n, room int
	id      []int32
	label   []int32
	x       []float32 // as in densePanels, or bytes as in intPanels
	norm    []float32
	row     []float32
	due     []float32
}

// gatherBytes bounds the panels that are filled before they are compared: they stay in the cache.
const gatherBytes = 1 << 16

func (g *gathered) ready(e *Engine) {
	panels := 1
	if e.ints == nil {
		panels = min(max(gatherBytes/(4*e.d*kern.Rows), 1), batch)
		g.x, g.norm = grown(g.x, panels*e.d*kern.Rows), grown(g.norm, panels*kern.Rows)
	} else {
		g.x, g.row = grown(g.x, e.ints.groups*kern.Rows), grown(g.row, 4*kern.Rows)
	}
	g.room = panels * kern.Rows
	g.id, g.label, g.due = grown(g.id, g.room), grown(g.label, g.room), grown(g.due, g.room)
}

// gather takes in the rows of the bits of panel p.
func (w *worker) gather(p int, rows uint32) {
	g := &w.g
	if g.n == 0 {
		g.ready(w.e)
	}
	for lane := g.n % kern.Rows; lane+bits.OnesCount32(rows) > kern.Rows; lane = 0 { // first those that fill the panel
		head, rest := uint32(0), rows
		for range kern.Rows - lane {
			head |= rest & -rest
			rest &= rest - 1
		}
		w.copyRows(p, head)
		rows = rest
	}
	w.copyRows(p, rows)
}

// copyRows copies the rows of the bits of panel p, for which the last panel has room.
func (w *worker) copyRows(p int, rows uint32) {
	e, g := w.e, &w.g
	to, lane := g.n/kern.Rows, g.n%kern.Rows
	if e.ints != nil {
		cells := e.ints.groups * kern.Rows
		kern.Compress(g.x[lane:], float32s(e.ints.q[p*4*cells:(p+1)*4*cells]), rows, e.ints.groups)
		kern.Compress(g.row[lane:], e.ints.row[p*4*kern.Rows:], rows, 4)
	} else {
		kern.Compress(g.x[to*e.d*kern.Rows+lane:], e.dense.x[p*e.d*kern.Rows:], rows, e.d)
		kern.Compress(g.norm[g.n:], e.dense.norm[p*kern.Rows:], rows, 1)
	}
	id, label := g.id[g.n:], w.j.st.label[p*kern.Rows:(p+1)*kern.Rows]
	n := 0
	for b := rows; b != 0; b &= b - 1 {
		r := bits.TrailingZeros32(b)
		id[n], g.label[g.n+n] = int32(p*kern.Rows+r), label[r]
		n++
	}
	if g.n += n; g.n == g.room {
		w.drain()
	}
}

// float32s returns bytes, four at a time, as float32: it is for copying, not for arithmetic.
func float32s(b []uint8) []float32 {
	return unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(b))), len(b)/4)
}

func bytes4(f []float32) []uint8 {
	return unsafe.Slice((*uint8)(unsafe.Pointer(unsafe.SliceData(f))), 4*len(f))
}

// drain compares the rows gathered.
func (w *worker) drain() {
	g := &w.g
	if g.n == 0 {
		return
	}
	w.batch = rowBatch{n: g.n, id: g.id, bound: true, due: g.due}
	panels := (g.n + kern.Rows - 1) / kern.Rows
	if w.e.ints != nil {
		w.intPanel(bytes4(g.x), g.row, g.label)
	} else {
		w.densePanels(g.x, g.norm, g.label, panels)
	}
	for i, lane := range g.id[:g.n] {
		w.j.st.bounds.due[lane] = g.due[i]
	}
	g.n = 0
}

// finish sets the dues of n panels of the rows in hand, from panel at on, whose two least scores stand in w.state. They are
// as far off as coef says, or half of it for one alone. b, the rest of a squared distance, is at most (norm + |a|)^2, since |z - a| <=
// |z| + |a|. coef also holds four times what the plain loop may be wrong by, twice, and a thousandth is taken off: what
// remains is more than its error about a label at the end.
func (w *worker) finish(at, n int, norm []float32, coef *[3]float32) {
	b, c := &w.j.st.bounds, w.j.centres
	all := [7]float32{coef[0], coef[1], coef[2], c.off, 1 + 0x1p-20, 1e-30, 1 - 0x1p-10}
	kern.Slack(w.batch.due[at*kern.Rows:], w.state, norm, w.got, b.low, &all, n)
}
