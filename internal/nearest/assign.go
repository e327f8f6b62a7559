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
)

// worker is the scratch memory of one goroutine.
type worker struct {
	e      *Engine
	y      []float64 // d
	got    []int32   // batch x kern.Rows
	flags  []uint32
	state  kern.DenseState
	dist   []float64 // scores of one row, or of pairs
	moves  []kern.Move
	scores []float32
	list   []kern.Survivor
	pairs  []kern.Pair
	upper  [kern.Rows]float32
	dots   []float32
	best   [kern.Rows]float64
	gap    [kern.Rows]float64
	tested int64 // rows, and centres compared for them in float64
	pair   int64
	_      [128]byte // workers must not share a cache line
}

func newWorker(e *Engine) *worker {
	return &worker{e: e, y: make([]float64, e.d), got: make([]int32, batch*kern.Rows), flags: make([]uint32, 2*batch), moves: make([]kern.Move, 0, 2*moveRows+2*kern.Rows)}
}

// valid returns the bits of the rows that panel p has.
func (e *Engine) valid(p int) uint32 {
	if left := e.n - p*kern.Rows; left < kern.Rows {
		return 1<<left - 1
	}
	return math.MaxUint32
}

// assign labels the rows of one part and applies what changed to its sums.
func (w *worker) assign(part int) {
	e := w.e
	s := &e.st.part[part]
	s.changed = 0
	lo, hi := e.span(part, len(e.st.part))
	switch {
	case e.k == 1:
		for p := lo; p < hi; p++ {
			clear(w.got[:kern.Rows])
			w.note(s, lo, p, e.valid(p), w.got)
		}
	case e.ints != nil:
		for p := lo; p < hi; p++ {
			w.intPanel(s, lo, p)
		}
	default:
		work := e.centres.slots() * e.d
		step := max(min(callWork/work, batch), 1)
		for p := lo; p < hi; p += step {
			w.densePanels(s, lo, p, min(p+step, hi))
		}
	}
	w.flush(s, lo)
}

// densePanels labels the rows of panels p to q of the part that begins at panel lo.
func (w *worker) densePanels(s *sums, lo, p, q int) {
	e, c := w.e, &w.e.centres
	d, n := e.d, q-p
	x, norm := e.dense.x[p*d*kern.Rows:q*d*kern.Rows], e.dense.norm[p*kern.Rows:q*kern.Rows]
	label := e.st.label[p*kern.Rows : q*kern.Rows]
	tiles := c.tiles
	if n == 1 {
		tiles = max(callWork/(c.w*d), 1)
	}
	for t := 0; t < c.tiles; t += tiles {
		end := min(t+tiles, c.tiles)
		kern.Dense(x, c.dense[t*(d+2)*c.w:end*(d+2)*c.w], norm, &c.coef, &w.state, label, w.got, w.flags, d, c.w, end-t, n, t > 0)
	}
	for i := range n {
		near, moved := w.flags[2*i], w.flags[2*i+1]
		if near|moved == 0 {
			continue
		}
		valid := e.valid(p + i)
		got := w.got[i*kern.Rows : (i+1)*kern.Rows]
		for b := near & valid; b != 0; b &= b - 1 {
			r := bits.TrailingZeros32(b)
			got[r] = w.settle((p+i)*kern.Rows + r)
		}
		w.note(s, lo, p+i, (near|moved)&valid, got)
	}
}

// settle returns the label of row i by the plain loop.
func (w *worker) settle(i int) int32 {
	c := &w.e.centres
	w.e.row(w.y, i)
	w.dist = grown(w.dist, c.rowK)
	kern.SqdistRow(w.dist, w.y, c.byRow, c.rowK)
	at := 0
	for q, v := range w.dist[:w.e.k] {
		if v < w.dist[at] {
			at = q
		}
	}
	return int32(at)
}

// intPanel labels the rows of panel p of the part that begins at panel lo.
func (w *worker) intPanel(s *sums, lo, p int) {
	e, c := w.e, &w.e.centres
	groups := e.ints.groups
	slots, size := c.slots(), 4*(groups+2)*c.w
	x, row := e.ints.q[p*groups*4*kern.Rows:(p+1)*groups*4*kern.Rows], e.ints.row[p*4*kern.Rows:(p+1)*4*kern.Rows]
	w.scores, w.list = grown(w.scores, slots*kern.Rows), grown(w.list, slots+1)
	for i := range w.upper {
		w.upper[i] = math.MaxFloat32
	}
	tiles := max(callWork/(c.w*groups), 1)
	for t := 0; t < c.tiles; t += tiles {
		end := min(t+tiles, c.tiles)
		kern.Integers(x, row, c.ints[t*size:end*size], c.meta[4*t:4*end], w.scores[t*c.w*kern.Rows:], &w.upper, e.ints.words, groups, c.w, end-t)
	}
	n, multi := kern.Survivors(w.list, row, c.meta, w.scores, &w.upper, c.w, c.tiles)
	valid := e.valid(p)
	multi &= valid
	got := w.got[:kern.Rows]
	w.pairs = w.pairs[:0]
	for _, v := range w.list[:n] {
		id := c.order[v.Slot]
		for b := v.Mask & valid &^ multi; b != 0; b &= b - 1 {
			got[bits.TrailingZeros32(b)] = id
		}
		for b := v.Mask & multi; b != 0; b &= b - 1 {
			w.pairs = append(w.pairs, kern.Pair{Row: uint32(bits.TrailingZeros32(b)), Centre: uint32(id)})
		}
	}
	w.tested += kern.Rows
	w.pair += int64(len(w.pairs))
	if multi != 0 && e.t.F32 != nil {
		multi = w.sift(p, multi, row, got)
	}
	if multi != 0 {
		w.compare(p, multi, got)
	}
	w.note(s, lo, p, valid, got)
}

// sift labels the rows of the bits by the dot products of their survivors in float32, where that decides. It keeps in
// w.pairs what is left to compare, and returns its rows.
func (w *worker) sift(p int, rows uint32, row []float32, got []int32) (left uint32) {
	e, c := w.e, &w.e.centres
	w.dots = grown(w.dots, len(w.pairs))
	x := e.t.F32[p*kern.Rows*e.d:]
	const most = 1 << 17 // cells a call
	step := max(most/e.d, 1)
	for a := 0; a < len(w.pairs); a += step {
		b := min(a+step, len(w.pairs))
		kern.Dots(w.dots[a:b], x, c.narrow, w.pairs[a:b], e.d)
	}
	// The error of a score, as in denseTiles but for the length of the row as it stands.
	n, u := float64(e.d), 0x1p-24
	for b := rows; b != 0; b &= b - 1 {
		r := bits.TrailingZeros32(b)
		length := float64(row[2*kern.Rows+r]+row[3*kern.Rows+r])/2 + c.raw
		w.best[r], w.gap[r] = math.Inf(1), 2*(u*(4*n+14)*length*c.longest+float64(row[kern.Rows+r])+(n+4)*0x1p-50*(c.top+c.far))
	}
	w.dist = grown(w.dist, len(w.pairs))
	dist, dots := w.dist, w.dots[:len(w.dist)]
	for i, v := range w.pairs {
		q, r := c.bias[v.Centre]-2*float64(dots[i]), v.Row%kern.Rows
		dist[i] = q
		if q < w.best[r] {
			w.best[r], got[r] = q, int32(v.Centre)
		}
	}
	kept := w.pairs[:0]
	for i, v := range w.pairs {
		if r := v.Row % kern.Rows; dist[i] <= w.best[r]+w.gap[r] && int32(v.Centre) != got[r] {
			left |= 1 << r
			kept = append(kept, v)
		}
	}
	for b := left; b != 0; b &= b - 1 {
		r := bits.TrailingZeros32(b)
		kept = append(kept, kern.Pair{Row: uint32(r), Centre: uint32(got[r])})
	}
	w.pairs = kept
	return left
}

// distances sets w.dist to the squared distances of w.pairs, whose rows count from row first.
func (w *worker) distances(first int) {
	e := w.e
	w.dist = grown(w.dist, len(w.pairs))
	const most = 1 << 16 // cells a call
	step := max(most/e.d, 1)
	for p := 0; p < len(w.pairs); p += step {
		q := min(p+step, len(w.pairs))
		if e.t.F64 != nil {
			kern.Pairs(w.dist[p:q], e.t.F64[first*e.d:], e.origin, e.theta, w.pairs[p:q], e.d)
		} else {
			kern.Pairs(w.dist[p:q], e.t.F32[first*e.d:], e.origin, e.theta, w.pairs[p:q], e.d)
		}
	}
}

// compare labels the rows of the bits by the distances of their survivors.
func (w *worker) compare(p int, rows uint32, got []int32) {
	e := w.e
	w.distances(p * kern.Rows)
	// Both the distances here and those of the plain loop round; Higham 2002, section 3.1.
	wide := 1 + float64(e.d+8)*0x1p-50
	for b := rows; b != 0; b &= b - 1 {
		w.best[bits.TrailingZeros32(b)] = math.Inf(1)
	}
	for i, v := range w.pairs {
		if q := w.dist[i]; q < w.best[v.Row] {
			w.best[v.Row], got[v.Row] = q, int32(v.Centre)
		}
	}
	var tied uint32
	for i, v := range w.pairs {
		if w.dist[i] <= w.best[v.Row]*wide && int32(v.Centre) != got[v.Row] {
			tied |= 1 << v.Row
		}
	}
	for ; tied != 0; tied &= tied - 1 {
		r := bits.TrailingZeros32(tied)
		e.row(w.y, p*kern.Rows+r)
		best := math.Inf(1)
		for i, v := range w.pairs {
			if int(v.Row) != r || w.dist[i] > w.best[r]*wide {
				continue
			}
			q := e.plain(w.y, int(v.Centre))
			if q < best || q == best && int32(v.Centre) < got[r] {
				best, got[r] = q, int32(v.Centre)
			}
		}
	}
}

// plain returns the squared distance of y and centre c, one term after the other.
func (e *Engine) plain(y []float64, c int) float64 {
	sum := 0.0
	for j, m := range e.theta[c*e.d : c*e.d+e.d] {
		t := y[j] - m
		sum += float64(t * t)
	}
	return sum
}

// note takes in the labels of the rows of the bits of panel p.
func (w *worker) note(s *sums, lo, p int, rows uint32, got []int32) {
	e := w.e
	label := e.st.label[p*kern.Rows : (p+1)*kern.Rows]
	for b := rows; b != 0; b &= b - 1 {
		r := bits.TrailingZeros32(b)
		was, is := label[r], got[r]
		if was == is {
			continue
		}
		label[r] = is
		s.changed++
		u := e.weightOf(p*kern.Rows + r)
		if u == 0 {
			continue
		}
		at := uint32((p-lo)*kern.Rows + r)
		if was >= 0 {
			w.moves = append(w.moves, kern.Move{Row: at, Cluster: uint32(was), W: -u})
			s.count[was]--
			s.nhi[was], s.nlo[was] = kern.TwoSum(s.nhi[was], s.nlo[was], -u)
		}
		w.moves = append(w.moves, kern.Move{Row: at, Cluster: uint32(is), W: u})
		s.count[is]++
		s.nhi[is], s.nlo[is] = kern.TwoSum(s.nhi[is], s.nlo[is], u)
	}
	if len(w.moves)*e.d >= moveCells || len(w.moves) >= 2*moveRows {
		w.flush(s, lo)
	}
}

// flush applies the changes gathered to the sums of the part that begins at panel lo.
func (w *worker) flush(s *sums, lo int) {
	e := w.e
	first := lo * kern.Rows
	const most = 1 << 16
	step := max(most/e.d, 1)
	for p := 0; p < len(w.moves); p += step {
		q := min(p+step, len(w.moves))
		if e.t.F64 != nil {
			kern.Scatter(s.hi, s.lo, e.t.F64[first*e.d:], e.origin, w.moves[p:q], e.d)
		} else {
			kern.Scatter(s.hi, s.lo, e.t.F32[first*e.d:], e.origin, w.moves[p:q], e.d)
		}
	}
	w.moves = w.moves[:0]
}
