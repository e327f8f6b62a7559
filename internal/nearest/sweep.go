package nearest

import (
	"context"

	"github.com/latent-go/latent/family"
	"github.com/latent-go/latent/internal/kern"
)

// Sweep labels every row with the nearest of the k centres theta, k x D relative to the origin, and sets s to the sums of
// that: weights, sums about the origin, F = -sum w |x-c|^2, and where a cluster has no row the s.FarMax rows farthest from
// their centres. It reports false, and has done nothing, where there are no rows and where float32 could not hold the squares
// of rows or centres. Where ctx ends first its error comes back, and st is as good as before.
//
// st holds what the last sweep of this start left, or nothing.
func (e *Engine) Sweep(ctx context.Context, st *State, theta []float64, k int, s *family.Stats) (bool, error) {
	c := &e.centres
	if !e.prepare(k) || !c.set(theta, e.mu, k, e.d, width(e.ints != nil)) {
		return false, nil
	}
	if e.ints != nil {
		c.intTiles(e.ints, e.d)
		c.dotRows(e.mu, e.origin, k, e.d)
	} else {
		c.denseTiles(theta, k, e.d)
	}
	st.begin(e, k)
	e.st, e.k, e.theta, e.out = st, k, theta, s
	e.done = ctx.Done()
	e.run(len(st.part), (*worker).assign)
	e.done = nil
	if err := ctx.Err(); err != nil { // each part is done or not begun
		return false, err
	}
	e.merge()
	e.fill()
	e.choose()
	e.st, e.theta, e.out = nil, nil, nil
	return true, nil
}

// mergeCells is how many sums a thread merges at a time.
const mergeCells = 4096

// merge adds up the parts, in order.
func (e *Engine) merge() {
	st := e.st
	total := &st.total
	total.reset()
	st.moved = false
	for p := range st.part {
		s := &st.part[p]
		st.moved = st.moved || s.changed > 0
		for c := range e.k {
			total.count[c] += s.count[c]
			total.nhi[c], total.nlo[c] = kern.TwoSum(total.nhi[c], total.nlo[c]+s.nlo[c], s.nhi[c])
		}
	}
	e.run((e.k*e.d+mergeCells-1)/mergeCells, (*worker).mergeBlock)
}

var (
	one   = []kern.Move{{W: 1}}
	zeros [mergeCells]float64
)

// mergeBlock adds up a block of sums over all parts.
func (w *worker) mergeBlock(block int) {
	e := w.e
	lo, hi := block*mergeCells, min((block+1)*mergeCells, e.k*e.d)
	t := &e.st.total
	zero := zeros[:hi-lo]
	for p := range e.st.part {
		s := &e.st.part[p]
		kern.Scatter(t.hi[lo:hi], t.lo[lo:hi], s.hi[lo:hi], zero, one, hi-lo)
		kern.Scatter(t.hi[lo:hi], t.lo[lo:hi], s.lo[lo:hi], zero, one, hi-lo)
	}
}

// fill turns the sums into statistics.
func (e *Engine) fill() {
	empty := e.st.total.write(e.out, e.theta, e.d, &e.totals)
	// The difference cancels where clusters are small against their distance from the origin.
	if !(-e.out.F > cancels*e.square) {
		e.out.F = e.direct()
	}
	if empty && e.out.FarMax > 0 {
		e.farthest()
	}
}

// write sets s to the sums, with F = sum w (2 x.c - |c|^2) - sum w |x|^2, and reports whether a cluster is empty.
func (t *sums) write(s *family.Stats, theta []float64, d int, all *totals) (empty bool) {
	s.Rows, s.W, s.F = all.used, all.weight, 0
	for c := range t.count {
		sum := s.Sum[c*d : c*d+d]
		if t.count[c] == 0 {
			s.N[c] = 0
			clear(sum)
			empty = true
			continue
		}
		s.N[c] = t.nhi[c] + t.nlo[c]
		q := 0.0
		for j, v := range theta[c*d : c*d+d] {
			sum[j] = t.hi[c*d+j] + t.lo[c*d+j]
			q += float64(v * (2*sum[j] - float64(s.N[c]*v)))
		}
		s.F += q
	}
	s.F -= all.square
	return empty
}

// cancels is the share of the rows' own squares below which the cost is summed row by row: above it, it is right to
// about 1e-12.
const cancels = 1e-3

// direct sums the cost over the rows.
func (e *Engine) direct() float64 {
	e.run(len(e.st.part), (*worker).costs)
	var f, g float64
	for p := range e.st.part {
		s := &e.st.part[p]
		f, g = kern.TwoSum(f, g+s.costLo, s.cost)
	}
	return 0 - (f + g)
}

// costs sums the cost of a part, by the plain loop: its digits are those of a Tally.
func (w *worker) costs(part int) {
	e, s := w.e, &w.e.st.part[part]
	s.cost, s.costLo = 0, 0
	first, last := e.rowsOf(e.span(part, len(e.st.part)))
	for i := first; i < last; i++ {
		if u := e.weightOf(i); u > 0 {
			e.row(w.y, i)
			s.cost, s.costLo = kern.TwoSum(s.cost, s.costLo, u*e.plain(w.y, int(e.st.label[i])))
		}
	}
}

// own returns the squared distances of rows lo to hi to the centres of their labels.
func (w *worker) own(lo, hi int) []float64 {
	w.pairs = w.pairs[:0]
	for i := lo; i < hi; i++ {
		w.pairs = append(w.pairs, kern.Pair{Row: uint32(i - lo), Centre: uint32(w.e.st.label[i])})
	}
	w.distances(lo)
	return w.dist
}

// farthest offers the rows farthest from their own centres, by the plain loop.
func (e *Engine) farthest() {
	s, parts := e.out, len(e.st.part)
	far := make([]*family.Stats, parts)
	wide := 1 + float64(e.d+8)*0x1p-50
	e.run(parts, func(w *worker, part int) {
		f := &family.Stats{FarMax: s.FarMax}
		far[part] = f
		first, last := e.rowsOf(e.span(part, parts))
		for lo := first; lo < last; lo += kern.Rows {
			for r, q := range w.own(lo, min(lo+kern.Rows, last)) {
				i := lo + r
				if e.weightOf(i) == 0 || !f.Worse(-q*wide) {
					continue
				}
				e.row(w.y, i)
				f.Offer(family.Far{Row: int64(i), Score: -e.plain(w.y, int(e.st.label[i])), W: e.weightOf(i), Label: e.st.label[i], X: w.y})
			}
		}
	})
	for _, f := range far {
		for i := range f.Far {
			s.Offer(f.Far[i])
		}
	}
}

// choose leaves integers for float32 where so many centres survive that comparing them costs more than is saved. The
// counts do not depend on threads.
func (e *Engine) choose() {
	if e.ints == nil {
		return
	}
	var rows, pairs int64
	for _, w := range e.workers {
		rows, pairs = rows+w.tested, pairs+w.pair
		w.tested, w.pair = 0, 0
	}
	// Cycles: D products in float32 take D/32, in words half and in bytes a quarter of that; a pair takes D/8 + 30.
	// Measured on Zen 5.
	saved := 3. / 128
	if e.ints.words {
		saved = 1. / 64
	}
	d := float64(e.d)
	if float64(pairs)*(d/8+30) > float64(rows)*float64(e.k)*d*saved {
		e.dense, e.ints = e.pack(), nil
	}
}
