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
	if w.batch.near {
		w.tellInts(row, w.got[:kern.Rows])
	}
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

// resolve labels the rows of a panel from the centres that survive, slots of order; those of the bits of multi have several.
func (w *worker) resolve(list []kern.Survivor, multi uint32, order []int32, row []float32) {
	valid := w.batch.valid(0)
	multi &= valid
	got := w.got[:kern.Rows]
	w.pairs, w.lane = w.pairs[:0], w.lane[:0]
	for _, v := range list {
		id := order[v.Slot]
		for b := v.Mask & valid &^ multi; b != 0; b &= b - 1 {
			got[bits.TrailingZeros32(b)] = id
		}
		for b := v.Mask & multi; b != 0; b &= b - 1 {
			w.pair1(bits.TrailingZeros32(b), id)
		}
	}
	w.tested += int64(bits.OnesCount32(valid))
	w.pair += int64(len(w.pairs))
	if multi != 0 && w.e.t.F32 != nil {
		multi = w.sift(multi, row, got)
	}
	if multi != 0 {
		w.compare(multi, got)
	}
	w.note(0, valid, got)
}

// pair1 adds a pair to compare.
func (w *worker) pair1(r int, centre int32) {
	w.pairs = append(w.pairs, kern.Pair{Row: uint32(w.e.rowOf(w.batch.lane(r)) - w.first), Centre: uint32(centre)})
	w.lane = append(w.lane, uint8(r))
}

// sift labels the rows of the bits by the dot products of their survivors in float32, where that decides. It keeps in
// w.pairs what is left to compare, and returns its rows.
func (w *worker) sift(rows uint32, row []float32, got []int32) (left uint32) {
	e, c := w.e, w.j.centres
	w.dots = grown(w.dots, len(w.pairs))
	x := e.t.F32[w.first*e.d:]
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
		q, r := c.bias[v.Centre]-2*float64(dots[i]), w.lane[i]
		dist[i] = q
		if q < w.best[r] {
			w.best[r], got[r] = q, int32(v.Centre)
		}
	}
	pairs, lane := w.pairs, w.lane
	w.pairs, w.lane = pairs[:0], lane[:0]
	for i, v := range pairs {
		if r := lane[i]; dist[i] <= w.best[r]+w.gap[r] && int32(v.Centre) != got[r] {
			left |= 1 << r
			w.pairs, w.lane = append(w.pairs, v), append(w.lane, r)
		}
	}
	for b := left; b != 0; b &= b - 1 {
		r := bits.TrailingZeros32(b)
		w.pair1(r, got[r])
	}
	return left
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

// compare labels the rows of the bits by the distances of their survivors.
func (w *worker) compare(rows uint32, got []int32) {
	e := w.e
	w.distances(w.first, w.j.theta)
	// Both the distances here and those of the plain loop round; Higham 2002, section 3.1.
	wide := 1 + float64(e.d+8)*0x1p-50
	for b := rows; b != 0; b &= b - 1 {
		w.best[bits.TrailingZeros32(b)] = math.Inf(1)
	}
	for i, v := range w.pairs {
		if q, r := w.dist[i], w.lane[i]; q < w.best[r] {
			w.best[r], got[r] = q, int32(v.Centre)
		}
	}
	var tied uint32
	for i, v := range w.pairs {
		if r := w.lane[i]; w.dist[i] <= w.best[r]*wide && int32(v.Centre) != got[r] {
			tied |= 1 << r
		}
	}
	for ; tied != 0; tied &= tied - 1 {
		r := bits.TrailingZeros32(tied)
		e.row(w.y, e.rowOf(w.batch.lane(r)))
		best := math.Inf(1)
		for i, v := range w.pairs {
			if int(w.lane[i]) != r || w.dist[i] > w.best[r]*wide {
				continue
			}
			q := plain(w.y, w.j.theta[int(v.Centre)*e.d:])
			if q < best || q == best && int32(v.Centre) < got[r] {
				best, got[r] = q, int32(v.Centre)
			}
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
