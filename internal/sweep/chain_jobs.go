package sweep

import (
	"context"
	"io"
	"slices"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/mixture"
)

// job is a run of rows of a table that a worker takes as one: some whole sequences, or a block of a long one.
type job struct {
	lo, hi int
	of     *long // nil of whole sequences
	at     int   // the number of the block in it
}

// jobs are those of a table. They depend on the lengths of its sequences alone.
type jobs struct {
	long  []*long
	ahead []*job         // blocks of long sequences, in the order of rows
	back  []*job         // all, those of a long sequence from its last block to its first
	by    map[int64]*job // by the number of the first row
}

// long is a sequence that is cut into blocks.
type long struct {
	number int // among those of its jobs
	blocks int
	weight float64
}

// course is how far the recursions of a task have come in a long sequence.
type course struct {
	past []float64 // Stride numbers a block: alpha of the row before it, or its logarithms; nothing in the first
	beta []float64 // of the last row of the block whose turn it is, or its logarithms
	logs bool
	turn turn
}

// manyRows is how many chunks of rows a sequence may have and not be cut.
const manyRows = 2

// layOut returns the jobs of the rows of t. Where more rows follow the last sequence may not have ended: then rows from rest on have no job, and belong
// before those.
func layOut(t *data.Table, chunk int, more bool) (j *jobs, rest int) {
	j = &jobs{by: map[int64]*job{}}
	n := t.N
	open := 0 // where the whole sequences begin that have no job yet
	shut := func(to int) {
		if to > open {
			j.back = append(j.back, &job{lo: open, hi: to})
		}
		open = to
	}
	for lo := 0; lo < n; {
		hi := sequenceEnd(t.Sequence, lo, n)
		switch last := more && hi == n; {
		case last:
			return j, open
		case hi-lo > manyRows*chunk:
			shut(lo)
			if w := sequenceWeight(t.W, lo, hi); w > 0 {
				j.cut(lo, hi, chunk, w)
			}
			open = hi
		case hi-open >= chunk:
			shut(hi)
		}
		lo = hi
	}
	shut(n)
	return j, n
}

// sequenceEnd returns where the sequence of row lo ends among n rows.
func sequenceEnd(sequence []int32, lo, n int) int {
	if sequence == nil {
		return n
	}
	hi := lo + 1
	for hi < n && sequence[hi] == sequence[lo] {
		hi++
	}
	return hi
}

// sequenceWeight returns the weight of a sequence: that of its rows, of which those without any cell may have the weight 0.
func sequenceWeight(w []float64, lo, hi int) float64 {
	if w == nil {
		return 1
	}
	return slices.Max(w[lo:hi])
}

// cut adds the blocks of a long sequence of a weight.
func (j *jobs) cut(lo, hi, chunk int, weight float64) {
	s := &long{number: len(j.long), blocks: (hi - lo + chunk - 1) / chunk, weight: weight}
	for at := range s.blocks {
		j.ahead = append(j.ahead, &job{lo: lo, hi: min(lo+chunk, hi), of: s, at: at})
		lo += chunk
	}
	j.long, j.back = append(j.long, s), append(j.back, j.ahead[len(j.ahead)-s.blocks:]...)
	slices.Reverse(j.back[len(j.back)-s.blocks:])
}

// number notes where the rows of each job begin in the table.
func (j *jobs) number(first int64) {
	for _, job := range j.back {
		j.by[first+int64(job.lo)] = job
	}
}

// courses are those of the tasks of a sweep in one long sequence.
type courses []course

// newCourses returns the courses of a sweep in each long sequence, ready for the run forward.
func (j *jobs) newCourses(bound []*mixture.Bound) []courses {
	all := make([]courses, len(j.long))
	for i, s := range j.long {
		all[i] = make(courses, len(bound))
		for t, b := range bound {
			all[i][t].past = make([]float64, s.blocks*b.Chain().Stride)
		}
	}
	return all
}

// turnBack readies the courses for the run back.
func (cs courses) turnBack(bound []*mixture.Bound) {
	for t := range cs {
		c := &cs[t]
		c.turn.next, c.beta = 0, make([]float64, bound[t].Chain().Stride)
		for i := range c.beta {
			if !c.logs {
				c.beta[i] = 1
			}
		}
	}
}

// guarded runs work. Where that fails, or panics, those who wait for its turn to pass go on.
func (cs courses) guarded(work func() error) error {
	whole := false
	defer func() {
		for t := range cs {
			if !whole {
				cs[t].turn.fail()
			}
		}
	}()
	err := work()
	whole = err == nil
	return err
}

// turn lets blocks pass in their order. The zero value is ready.
type turn struct {
	mu     sync.Mutex
	wake   *sync.Cond
	next   int
	failed bool
}

// in waits until the blocks before have passed, runs do unless one of them failed, and passes.
func (t *turn) in(at int, do func()) {
	t.mu.Lock()
	if t.wake == nil {
		t.wake = sync.NewCond(&t.mu)
	}
	for t.next < at && !t.failed {
		t.wake.Wait()
	}
	failed := t.failed
	t.mu.Unlock()
	if failed {
		return
	}
	do()
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next++
	t.wake.Broadcast()
}

// fail lets all go on that wait.
func (t *turn) fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
	if t.wake != nil {
		t.wake.Broadcast()
	}
}

// jobSource hands out the rows of jobs, one after another: a source for fold, whose blocks are those of the jobs whatever is asked for.
type jobSource struct {
	*data.Table
	list []*job
}

// Open implements data.Source.
func (s *jobSource) Open(context.Context) (data.Reader, error) {
	return &jobReader{s.Table, s.list}, nil
}

type jobReader struct {
	table *data.Table
	list  []*job
}

// Read implements data.Reader.
func (r *jobReader) Read(b *data.Block, _ int) error {
	if len(r.list) == 0 {
		*b = data.Block{}
		return io.EOF
	}
	*b = rowsOf(r.table, r.list[0].lo, r.list[0].hi)
	r.list = r.list[1:]
	return nil
}

// Close implements data.Reader.
func (r *jobReader) Close() error { return nil }

// rowsOf returns a view of the rows from lo to hi of a table.
func rowsOf(t *data.Table, lo, hi int) data.Block {
	b := data.Block{N: hi - lo, D: t.D, First: t.First + int64(lo)}
	if t.F64 != nil {
		b.F64 = t.F64[lo*t.D : hi*t.D]
	} else {
		b.F32 = t.F32[lo*t.D : hi*t.D]
	}
	if t.W != nil {
		b.W = t.W[lo:hi]
	}
	if t.Sequence != nil {
		b.Sequence = t.Sequence[lo:hi]
	}
	return b
}

// pieceChunks is how many chunks of a stream are read before they are swept.
const pieceChunks = 64

// pieces calls sweep with all rows, in order, as tables that hold whole sequences: rows in memory as they are, and those of a stream some at a
// time, of which a long sequence is held as a whole.
func (l *Local) pieces(ctx context.Context, sweep func(*data.Table, *jobs) error) error {
	if t, ok := l.src.(*data.Table); ok {
		if _, err := t.Open(ctx); err != nil {
			return err
		}
		l.laid.Do(func() {
			l.jobs, _ = layOut(t, l.chunk, false)
			l.jobs.number(t.First)
		})
		return sweep(t, l.jobs)
	}
	_, d := l.src.Shape()
	piece, due := &data.Table{D: d}, pieceChunks*l.chunk
	some := func(more bool) error {
		j, rest := layOut(piece, l.chunk, more)
		if j.number(piece.First); len(j.back) > 0 {
			if err := sweep(piece, j); err != nil {
				return err
			}
			left := rowsOf(piece, rest, piece.N)
			piece = &data.Table{D: d, First: left.First}
			join(piece, &left)
		}
		due = max(pieceChunks*l.chunk, 2*piece.N) // a sequence that goes on is not gone through again for every block
		return nil
	}
	err := data.EachBlock(ctx, l.src, func(b *data.Block) error {
		if join(piece, b); piece.N < due {
			return nil
		}
		return some(true)
	})
	if err != nil {
		return err
	}
	return some(false)
}

// join adds the rows of b to t.
func join(t *data.Table, b *data.Block) {
	t.F64, t.F32, t.Sequence = append(t.F64, b.F64...), append(t.F32, b.F32...), append(t.Sequence, b.Sequence...)
	t.W = append(t.W, b.W...)
	t.N += b.N
}
