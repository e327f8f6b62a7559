package hard

import (
	"context"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/median"
	"github.com/latent-go/latent/internal/par"
)

// The medians come in three strides, after Floyd and Rivest 1975. A sample of the rows of a cluster gives each column a
// bracket that holds the median almost surely; one pass over all rows adds up the weights on either side of it and keeps
// the values inside, a tenth or so; the median is selected among those. Where there is no bracket, or one that missed, it is
// selected among all values of that cluster and column, so that medians are exact whatever the sample.

// fewRows is how many rows a cluster must have on average for brackets to pay: those of fewer hold most of the values.
const fewRows = 256

// medians sets next to the median of the rows of each cluster, column by column. A cluster without rows keeps what is there.
func (s *step) medians(ctx context.Context, next []float64) error {
	for slot := range s.open {
		s.open[slot] = s.rows[slot/s.p.D] > 0
	}
	if s.p.N/s.k >= fewRows {
		if err := s.bracketed(ctx, next); err != nil {
			return err
		}
	}
	if !slices.Contains(s.open, true) {
		return ctx.Err()
	}
	rows := s.order()
	return s.eachOpen(ctx, func(slot int, w *worker) {
		w.values = w.values[:0]
		for _, i := range rows[slot/s.p.D] {
			w.values = append(w.values, weighted{s.p.X[int(i)*s.p.D+slot%s.p.D], s.p.W[i]})
		}
		next[slot] = median.Middle(interval(w.values))
	})
}

// bracketed finds those of the medians that are in their brackets, and closes them.
func (s *step) bracketed(ctx context.Context, next []float64) error {
	if err := s.bracket(ctx); err != nil {
		return err
	}
	if err := s.eachPiece(ctx, s.tally); err != nil {
		return err
	}
	s.merge()
	return s.eachOpen(ctx, func(slot int, w *worker) {
		if lower, upper, ok := s.search(slot, w); ok {
			next[slot], s.open[slot] = median.Middle(lower, upper), false
		}
	})
}

// eachOpen calls work for every median still to be found, from several goroutines.
func (s *step) eachOpen(ctx context.Context, work func(slot int, w *worker)) error {
	return par.Do(ctx, s.threads, len(s.open), func(id, slot int) {
		if s.open[slot] {
			work(slot, s.workers[id])
		}
	})
}

// order returns the rows of each cluster, in row order.
func (s *step) order() [][]int32 {
	all, of := make([]int32, s.p.N), make([][]int32, s.k)
	for c, n := range s.rows {
		of[c], all = all[:0:n], all[n:]
	}
	for i, c := range s.label {
		of[c] = append(of[c], int32(i))
	}
	return of
}

// cell returns where in a table the first plane of a cluster and column is, and how far it is to the next.
func (s *step) cell(slot int) (at, plane int) {
	plane = kern.Pad(s.p.D)
	return slot/s.p.D*kern.Planes*plane + slot%s.p.D, plane
}

func (s *step) setBracket(slot int, lo, hi float64) {
	at, plane := s.cell(slot)
	s.table[at], s.table[at+plane] = lo, hi
}

// lineColumns is how many columns share a cache line of 64 bytes.
const lineColumns = 8

// bracket sets the brackets from a sample: the place of the median in it, give or take four standard deviations of that
// place, the root of the sum of squared weights over 2. Where that is all of the sample there is none: both ends are +Inf.
func (s *step) bracket(ctx context.Context) error {
	for i := range s.table { // also the padding
		s.table[i] = math.Inf(1)
	}
	rows := s.sample()
	lines := (s.p.D + lineColumns - 1) / lineColumns
	return par.Do(ctx, s.threads, s.k*lines, func(id, i int) {
		c, w := i/lines, s.workers[id]
		for j := i % lines * lineColumns; j < min((i%lines+1)*lineColumns, s.p.D); j++ {
			v, total, squares := w.values[:0], 0.0, 0.0
			for _, row := range rows[c] {
				e := weighted{s.p.X[row*s.p.D+j], s.p.W[row]}
				v, total, squares = append(v, e), total+e.w, squares+e.w*e.w
			}
			if wide := 2 * math.Sqrt(squares); wide < total/2 {
				lo, _, _ := rank{total/2 - wide, 0}.find(v, 0, v[0].x, v[0].x)
				hi, _, _ := rank{total/2 + wide, 0}.find(v, 0, v[0].x, v[0].x)
				s.setBracket(c*s.p.D+j, lo, max(lo, hi))
			}
			w.values = v
		}
	})
}

// sample draws rows of each cluster: one from each of as many ranges of equal length as there are to be rows, at a place
// that does not repeat with any period of the data. Its size n_c^(2/3) balances the work on it and that inside brackets.
func (s *step) sample() [][]int {
	rows := make([][]int, s.k)
	size := int(float64(s.k) * math.Pow(float64(s.p.N)/float64(s.k), 2.0/3))
	state := uint64(1)
	for t := range size {
		lo, hi := t*s.p.N/size, (t+1)*s.p.N/size
		state = state*6364136223846793005 + 1442695040888963407
		row := lo + int((state>>33)%uint64(hi-lo))
		rows[s.label[row]] = append(rows[s.label[row]], row)
	}
	return rows
}

// tallyCells is how many cells a call of kern.Bracket takes in: room for so many is kept ready.
const tallyCells = 1 << 13

// tally holds the rows of a piece against the brackets, and sorts the values inside by cluster and column.
func (s *step) tally(q *piece, w *worker) {
	d := s.p.D
	q.table = append(q.table[:0], s.table...)
	planes := kern.Pad(d)
	for at := 0; at < len(q.table); at += kern.Planes * planes {
		clear(q.table[at+2*planes : at+kern.Planes*planes])
	}
	n, step := 0, max(tallyCells/d, 1)
	for lo := q.lo; lo < q.hi; lo += step {
		hi := min(lo+step, q.hi)
		w.room(n, (hi-lo)*d+kern.BracketRoom)
		n += kern.Bracket(w.hit[n:], w.weight[n:], w.slot[n:], q.table, s.p.X[lo*d:hi*d], s.p.W[lo:hi], s.label[lo:hi], d)
	}
	q.from = append(q.from[:0], make([]int, len(s.open)+1)...)
	for _, slot := range w.slot[:n] {
		q.from[slot+1]++
	}
	for slot := range s.open { // from[slot+1] is where the next value of slot goes, and thus ends at its end
		q.from[slot+1] += q.from[slot]
	}
	copy(q.from[1:], q.from)
	q.inside = slices.Grow(q.inside[:0], n)[:n]
	for t, slot := range w.slot[:n] {
		to := &q.from[slot+1]
		q.inside[*to] = weighted{w.hit[t], w.weight[t]}
		*to++
	}
}

// room makes the lists of hits, of which n are kept, longer by more.
func (w *worker) room(n, more int) {
	if n+more <= len(w.hit) {
		return
	}
	size := max(n+more, 2*len(w.hit))
	w.hit = append(make([]float64, 0, size), w.hit[:n]...)[:size]
	w.weight = append(make([]float64, 0, size), w.weight[:n]...)[:size]
	w.slot = append(make([]int32, 0, size), w.slot[:n]...)[:size]
}

// merge adds the tables of the pieces to that of the step.
func (s *step) merge() {
	planes := kern.Pad(s.p.D)
	for at := 0; at < len(s.table); at += kern.Planes * planes {
		sums := s.table[at+2*planes : at+kern.Planes*planes]
		clear(sums)
		for i := range s.pieces {
			for j, v := range s.pieces[i].table[at+2*planes : at+kern.Planes*planes] {
				sums[j] += v
			}
		}
	}
}

// search returns the interval of the medians of a cluster and column, unless it is not in the bracket, ends included.
func (s *step) search(slot int, w *worker) (lower, upper float64, ok bool) {
	at, plane := s.cell(slot)
	lo, hi, below, upLo, upHi := s.table[at], s.table[at+plane], s.table[at+2*plane], s.table[at+3*plane], s.table[at+4*plane]
	total := s.weights[slot/s.p.D]
	half := rank{total / 2, median.Slack * total}
	if half.reached(below) {
		return 0, 0, false
	}
	if half.passed(upLo) {
		return lo, lo, true
	}
	w.values = w.values[:0]
	for i := range s.pieces {
		q := &s.pieces[i]
		w.values = append(w.values, q.inside[q.from[slot]:q.from[slot+1]]...)
	}
	if half.reached(upLo) { // between lo and the value after it, which for an empty bracket of one value is not known
		return lo, least(w.values, hi), lo < hi
	}
	if lower, upper, ok = half.find(w.values, upLo, lo, hi); !ok && half.passed(upHi) {
		return hi, hi, true
	}
	return lower, upper, ok
}
