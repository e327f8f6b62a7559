package nearest

import (
	"math"
	"math/bits"

	"github.com/latent-go/latent/internal/kern"
)

// intPanel labels the rows in hand, one panel of integers. label holds their labels so far.
func (w *worker) intPanel(x []uint8, row []float32, label []int32) {
	e, c := w.e, w.j.centres
	groups := e.ints.groups
	slots, size := c.slots(), 4*(groups+2)*c.w
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
	w.resolve(w.list[:n], multi, c.order, row)
	if !w.batch.bound {
		return
	}
	// Where one survives its score plus radius is the least of all, and the second least of score less radius is that of
	// another. Where several do the second is no larger than the first: the row stays due.
	best, second := (*[kern.Rows]float32)(w.state[0][:]), (*[kern.Rows]float32)(w.state[0][kern.Rows:])
	kern.RunnerUp(second, row, c.meta, w.scores, c.w, c.tiles)
	*best = w.upper
	for i := range w.length {
		w.length[i] = (row[2*kern.Rows+i] + row[3*kern.Rows+i]) * (0.5 + 0x1p-20)
	}
	w.finish(0, 1, w.length[:], &c.rounds)
}

// contested is a row for which several centres survive.
type contested struct {
	lane, row int
	label     int32
	best, gap float64 // the least score or squared distance so far, and twice what a score in float32 may be wrong by
	undecided bool    // another may be as near
	least     float64 // by the plain loop
}

// contestedPairs is how many pairs of a contested row and a centre are gathered before they are compared: rows that lie apart are then fetched
// well before their use.
const contestedPairs = 1024

// resolve labels the rows of a panel from the centres that survive, slots of order; those of the bits of multi have several, and wait in
// w.open.
func (w *worker) resolve(list []kern.Survivor, multi uint32, order []int32, row []float32) {
	valid := w.batch.valid(0)
	multi &= valid
	var slot [kern.Rows]int32
	for b := multi; b != 0; b &= b - 1 {
		r := bits.TrailingZeros32(b)
		slot[r] = int32(len(w.open))
		lane := w.batch.lane(r)
		w.open = append(w.open, contested{lane: lane, row: w.e.rowOf(lane), best: math.Inf(1), gap: w.gap(row, r)})
	}
	got, before := w.got[:kern.Rows], len(w.pairs)
	for _, v := range list {
		id := order[v.Slot]
		for b := v.Mask & valid &^ multi; b != 0; b &= b - 1 {
			got[bits.TrailingZeros32(b)] = id
		}
		for b := v.Mask & multi; b != 0; b &= b - 1 {
			w.pair1(slot[bits.TrailingZeros32(b)], id)
		}
	}
	w.tested += int64(bits.OnesCount32(valid))
	w.pair += int64(len(w.pairs) - before)
	w.note(0, valid&^multi, got)
	if w.batch.bound { // dues want the labels
		w.close()
		for b := multi; b != 0; b &= b - 1 {
			r := bits.TrailingZeros32(b)
			got[r] = w.j.st.label[w.batch.lane(r)]
		}
	} else if len(w.pairs) >= contestedPairs {
		w.close()
	}
}

// gap returns twice what a score in float32 of row r of a panel may be wrong by, as in denseTiles but for the length of the row as it stands.
func (w *worker) gap(row []float32, r int) float64 {
	c, n, u := w.j.centres, float64(w.e.d), 0x1p-24
	length := float64(row[2*kern.Rows+r]+row[3*kern.Rows+r])/2 + c.raw
	return 2 * (u*(4*n+14)*length*c.longest + float64(row[kern.Rows+r]) + (n+4)*0x1p-50*(c.top+c.far))
}

// pair1 adds a pair to compare: row at of w.open and a centre.
func (w *worker) pair1(at, centre int32) {
	w.pairs = append(w.pairs, kern.Pair{Row: uint32(w.open[at].row - w.first), Centre: uint32(centre)})
	w.of = append(w.of, at)
}

// close labels the contested rows.
func (w *worker) close() {
	if len(w.open) == 0 {
		return
	}
	if w.e.t.F32 != nil {
		w.sift()
	}
	if len(w.pairs) > 0 {
		w.compare()
	}
	for i := range w.open {
		w.relabel(w.open[i].lane, w.open[i].label)
	}
	w.flushFull()
	w.open, w.pairs, w.of = w.open[:0], w.pairs[:0], w.of[:0]
}

// sift labels contested rows by the dot products of their survivors in float32, where that decides. It keeps in w.pairs what is left to
// compare.
func (w *worker) sift() {
	e, c := w.e, w.j.centres
	w.dots = grown(w.dots, len(w.pairs))
	x := e.t.F32[w.first*e.d:]
	const most = 1 << 17 // cells a call
	step := max(most/e.d, 1)
	for a := 0; a < len(w.pairs); a += step {
		b := min(a+step, len(w.pairs))
		kern.Dots(w.dots[a:b], x, c.narrow, w.pairs[a:b], e.d)
	}
	w.dist = grown(w.dist, len(w.pairs))
	dist, dots := w.dist, w.dots[:len(w.dist)]
	for i, v := range w.pairs {
		q, o := c.bias[v.Centre]-2*float64(dots[i]), &w.open[w.of[i]]
		dist[i] = q
		if q < o.best {
			o.best, o.label = q, int32(v.Centre)
		}
	}
	pairs, of := w.pairs, w.of
	w.pairs, w.of = pairs[:0], of[:0]
	for i, v := range pairs {
		o := &w.open[of[i]]
		if dist[i] > o.best+o.gap || int32(v.Centre) == o.label {
			continue
		}
		w.pairs, w.of = append(w.pairs, v), append(w.of, of[i])
	}
	for _, at := range w.of { // and what they are compared with, once
		if o := &w.open[at]; !o.undecided {
			o.undecided = true
			w.pair1(at, o.label)
		}
	}
}

// distances sets w.dist to the squared distances of w.pairs to the centres theta; rows count from row first.
func (w *worker) distances(first int, theta []float64) {
	e := w.e
	w.dist = grown(w.dist, len(w.pairs))
	const most = 1 << 16 // cells a call
	step := max(most/e.d, 1)
	for p := 0; p < len(w.pairs); p += step {
		q := min(p+step, len(w.pairs))
		if e.t.F64 != nil {
			kern.Pairs(w.dist[p:q], e.t.F64[first*e.d:], e.origin, theta, w.pairs[p:q], e.d)
		} else {
			kern.Pairs(w.dist[p:q], e.t.F32[first*e.d:], e.origin, theta, w.pairs[p:q], e.d)
		}
	}
}

// compare labels the rows of w.pairs by their distances.
func (w *worker) compare() {
	e := w.e
	w.distances(w.first, w.j.theta)
	// Both the distances here and those of the plain loop round; Higham 2002, section 3.1.
	wide := 1 + float64(e.d+8)*0x1p-50
	for _, at := range w.of {
		o := &w.open[at]
		o.best, o.least, o.undecided = math.Inf(1), math.Inf(1), false
	}
	for i, v := range w.pairs {
		if q, o := w.dist[i], &w.open[w.of[i]]; q < o.best {
			o.best, o.label = q, int32(v.Centre)
		}
	}
	for i, v := range w.pairs {
		o := &w.open[w.of[i]]
		o.undecided = o.undecided || w.dist[i] <= o.best*wide && int32(v.Centre) != o.label
	}
	for i, v := range w.pairs {
		o := &w.open[w.of[i]]
		if !o.undecided || w.dist[i] > o.best*wide {
			continue
		}
		e.row(w.y, o.row)
		q := plain(w.y, w.j.theta[int(v.Centre)*e.d:])
		if q < o.least || q == o.least && int32(v.Centre) < o.label {
			o.least, o.label = q, int32(v.Centre)
		}
	}
}

// plain returns the squared distance of y and a centre, one term after the other.
func plain(y, centre []float64) float64 {
	sum := 0.0
	for j, m := range centre[:len(y)] {
		t := y[j] - m
		sum += float64(t * t)
	}
	return sum
}
