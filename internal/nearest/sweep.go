package nearest

import (
	"context"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
)

// A Task is one start's part in a sweep.
type Task struct {
	State *State // what the last sweep of this start left, or nothing
	Theta []float64
	K     int
	Stats *family.Stats
	Near  *Near // what Sweep is to tell of distances; nil for nothing
	Done  bool  // set by Sweep
}

// job is a task in hand.
type job struct {
	st      *State
	theta   []float64
	k       int
	out     *family.Stats
	centres *centres
	pays    float64
	slot    []int32 // k: of each centre, where near is not nil
	near    *Near   // nil where distances are not asked for, or cannot be told
	lists   bool    // keep lists
}

// Sweep serves each task: it labels every row with the nearest of the K centres Theta, K x D relative to the origin, and sets
// Stats to the sums of that: weights, sums about the origin, F = -sum w |x-c|^2, and where a cluster has no row the FarMax rows
// farthest from their centres. A block of rows is read from memory once for all tasks. A task is not Done, and nothing of it
// touched, where there are no rows and where float32 could not hold the squares of rows or centres. Where ctx ends first its
// error comes back, and states are as good as before.
func (e *Engine) Sweep(ctx context.Context, tasks []Task) error {
	if err := e.assign(ctx, tasks); err != nil {
		return err
	}
	for _, j := range e.jobs {
		e.job = j
		e.merge()
		e.fill()
		j.st.decide(j.pays)
	}
	e.choose()
	return nil
}

// Tallies is Sweep for rows that are a part of others: it returns for each task that is Done what its rows add to the sums of all. What a Tally
// tells of the cost row by row, and of the farthest rows, is not in them; Tally.Wants says where that is needed.
func (e *Engine) Tallies(ctx context.Context, tasks []Task) ([]*Tally, error) {
	if err := e.assign(ctx, tasks); err != nil {
		return nil, err
	}
	list := make([]*Tally, len(tasks))
	for at, j := 0, 0; at < len(tasks); at++ {
		if !tasks[at].Done {
			continue
		}
		e.job = e.jobs[j]
		j++
		e.merge()
		t, from := NewTally(e.job.k, e.d, 0), &e.job.st.total
		copy(t.sums.hi, from.hi)
		copy(t.sums.lo, from.lo)
		copy(t.sums.nhi, from.nhi)
		copy(t.sums.nlo, from.nlo)
		copy(t.sums.count, from.count)
		t.look, t.short = e.looked, true
		list[at] = t
		e.job.st.decide(e.job.pays)
	}
	e.choose()
	return list, nil
}

// assign labels the rows for all tasks.
func (e *Engine) assign(ctx context.Context, tasks []Task) error {
	e.jobs = e.jobs[:0]
	for i := range tasks {
		tasks[i].Done = e.prepare(tasks[i].K) && e.take(&tasks[i])
	}
	for rest := e.jobs; len(rest) > 0; {
		n := 1
		for n < len(rest) && len(rest[n].st.part) == len(rest[0].st.part) {
			n++
		}
		e.group, rest = rest[:n], rest[n:]
		if err := e.run(ctx, len(e.group[0].st.part), (*worker).assign); err != nil { // each part is done or not begun
			return err
		}
	}
	return nil
}

// take makes a job of a task. It reports whether the squares of its centres are in range.
func (e *Engine) take(t *Task) bool {
	n := len(e.jobs)
	if n == len(e.spare) {
		e.spare = append(e.spare, &job{centres: new(centres)})
	}
	j := e.spare[n]
	c := j.centres
	if !c.set(t.Theta, e.mu, t.K, e.d, width(e.ints != nil)) {
		return false
	}
	if e.ints != nil {
		c.intTiles(e.ints, e.d)
		c.dotRows(e.mu, e.origin, t.K, e.d)
	} else {
		c.denseTiles(t.Theta, t.K, e.d)
	}
	j.st, j.theta, j.k, j.out, j.pays = t.State, t.Theta, t.K, t.Stats, e.pays(t.K)
	j.st.begin(e, t.K)
	if e.share != 0 {
		j.pays = e.share
	}
	j.tells(t.Near)
	if t.K > 1 && j.pays > 0 {
		j.st.bounds.advance(e, t.Theta, t.K)
	} else {
		j.st.bounds = bounds{} // clocks that stand still tell nothing
	}
	j.lists = j.st.bounds.due != nil && j.st.label[0] >= 0 && j.st.lists.ready(e, c, t.K)
	if j.lists {
		c.pickTable(e.ints, j.st.bounds.path, t.K, e.d)
	}
	e.jobs = append(e.jobs, j)
	return true
}

// mergeCells is how many sums a thread merges at a time.
const mergeCells = 4096

// merge adds up the parts, in order.
func (e *Engine) merge() {
	st := e.job.st
	total := &st.total
	total.reset()
	st.moved = false
	for p := range st.part {
		s := &st.part[p]
		st.moved = st.moved || s.changed > 0
		for c := range e.job.k {
			total.count[c] += s.count[c]
			total.nhi[c], total.nlo[c] = kern.TwoSum(total.nhi[c], total.nlo[c]+s.nlo[c], s.nhi[c])
		}
	}
	for c := 0; st.grain > 0 && c < e.job.k; c++ {
		total.nhi[c] = float64(total.count[c])
	}
	e.run(context.Background(), (e.job.k*e.d+mergeCells-1)/mergeCells, (*worker).mergeBlock)
}

var (
	one   = []kern.Move{{W: 1}}
	zeros [mergeCells]float64
)

// mergeBlock adds up a block of sums over all parts.
func (w *worker) mergeBlock(block int) {
	e := w.e
	lo, hi := block*mergeCells, min((block+1)*mergeCells, e.job.k*e.d)
	t := &e.job.st.total
	zero := zeros[:hi-lo]
	for p := range e.job.st.part {
		s := &e.job.st.part[p]
		kern.Scatter(t.hi[lo:hi], t.lo[lo:hi], s.hi[lo:hi], zero, one, hi-lo)
		kern.Scatter(t.hi[lo:hi], t.lo[lo:hi], s.lo[lo:hi], zero, one, hi-lo)
	}
}

// fill turns the sums into statistics.
func (e *Engine) fill() {
	empty := e.job.st.total.write(e.job.out, e.job.theta, e.d, &e.totals)
	// The difference cancels where clusters are small against their distance from the origin.
	if cancelled(e.job.out, &e.totals) {
		e.job.out.F = e.direct()
	}
	if empty && e.job.out.FarMax > 0 {
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

// cancelled reports whether the cost in s is a difference of sums that leaves too few digits.
func cancelled(s *family.Stats, all *totals) bool { return !(-s.F > cancels*all.square) }

// direct sums the cost over the rows.
func (e *Engine) direct() float64 {
	e.run(context.Background(), len(e.job.st.part), (*worker).costs)
	var f, g float64
	for p := range e.job.st.part {
		s := &e.job.st.part[p]
		f, g = kern.TwoSum(f, g+s.costLo, s.cost)
	}
	return 0 - (f + g)
}

// costs sums the cost of a part, by the plain loop: its digits are those of a Tally.
func (w *worker) costs(part int) {
	e, s := w.e, &w.e.job.st.part[part]
	s.cost, s.costLo = 0, 0
	first, last := e.rowsOf(e.span(part, len(e.job.st.part)))
	for i := first; i < last; i++ {
		if u := e.weightOf(i); u > 0 {
			e.row(w.y, i)
			s.cost, s.costLo = kern.TwoSum(s.cost, s.costLo, u*plain(w.y, e.job.theta[int(e.job.st.Label(i))*e.d:]))
		}
	}
}

// own returns the squared distances of rows lo to hi to the centres of their labels.
func (w *worker) own(lo, hi int) []float64 {
	w.pairs = w.pairs[:0]
	for i := lo; i < hi; i++ {
		w.pairs = append(w.pairs, kern.Pair{Row: uint32(i - lo), Centre: uint32(w.e.job.st.Label(i))})
	}
	w.distances(lo, w.e.job.theta)
	return w.dist
}

// farthest offers the rows farthest from their own centres, by the plain loop.
func (e *Engine) farthest() {
	s, parts := e.job.out, len(e.job.st.part)
	far := make([]*family.Stats, parts)
	wide := 1 + float64(e.d+8)*0x1p-50
	e.run(context.Background(), parts, func(w *worker, part int) {
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
				f.Offer(family.Far{Row: int64(i), Score: -plain(w.y, e.job.theta[int(e.job.st.Label(i))*e.d:]), W: e.weightOf(i), Label: e.job.st.Label(i), X: w.y})
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
	if e.ints == nil || len(e.jobs) == 0 {
		return
	}
	var rows, pairs int64
	for _, w := range e.workers {
		rows, pairs = rows+w.tested, pairs+w.pair
		w.tested, w.pair = 0, 0
	}
	// Cycles: D products in float32 take D/32, in words half and in bytes a quarter of that, with AVX2 and NEON twice as many, and in bytes
	// that are added up in 16 bits three eighths of it; a pair takes D/8 + 30. Measured on Zen 5.
	saved := 3. / 128
	switch {
	case e.ints.words:
		saved = 1. / 64
	case e.ints.sum > 0:
		saved = 5. / 256
	}
	if kern.Current() != kern.AVX512 {
		saved *= 2
	}
	d, k := float64(e.d), float64(e.jobs[0].k)
	if float64(pairs)*(d/8+30) > float64(rows)*k*d*saved {
		e.dense, e.ints = e.pack(), nil
		return
	}
	for _, j := range e.jobs {
		if j.st.sorts && e.sortable() {
			e.sort(j.st)
		}
	}
}
