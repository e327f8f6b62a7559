package sweep

import (
	"context"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/interrupt"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/mixture"
)

// Task is one mixture at one parameter vector; a sweep serves any number of them with one pass over the rows.
type Task struct {
	Mixture *mixture.Mixture
	Theta   []float64
	Beta    float64 // inverse temperature of the E-step; +Inf means hard labels
	// State is what the sweeps of one start hand on to the next: with it k-means over rows in memory looks only at what
	// changed. nil means that the sweep stands alone. Any Theta may follow any other.
	State *State
}

// A Sweeper turns tasks into their sums. Where the rows are (memory, a file, many machines) changes no result.
type Sweeper interface {
	// Sweep makes one pass and returns the sums of each task. The caller owns them.
	Sweep(ctx context.Context, tasks []Task) ([]*family.Stats, error)
}

// Local sweeps a source on this machine.
type Local struct {
	src     data.Source
	origin  []float64
	threads int
	rows    int64
	chunk   int
	lloyd   lloyd
	boxes   boxRows
	bits    bitRows
	bases   baseRows

	patterns patternRows
	idle     idleWorkers

	laid sync.Once
	jobs *jobs // of sequences in memory
}

// NewLocal returns a sweeper over src. rows is the number of rows, as a Survey found it; origin, of length d, is
// subtracted from every row, so parameters are relative to it.
func NewLocal(src data.Source, rows int64, origin []float64, threads int) *Local {
	return &Local{src: src, origin: origin, threads: workers(threads), rows: rows, chunk: chunkRows(rows)}
}

// first returns how many rows stand before the first, where the rows are a part of a larger table.
func (l *Local) first() int64 {
	if t, ok := l.src.(*data.Table); ok {
		return t.First
	}
	return 0
}

// mostWorkers is how many goroutines a pass has at most, however many threads are asked for: each has memory of its own.
const mostWorkers = 1024

// workers returns how many goroutines a pass by so many threads has.
func workers(threads int) int { return min(max(threads, 1), mostWorkers) }

// worker is what one goroutine needs to turn a chunk into sums.
type worker struct {
	panel   *family.Panel
	scratch []*mixture.Scratch
	blocks  *blocks    // nil where no task leaves components out
	rows    *chainRows // nil but of hidden Markov models
}

// pass serves the tasks with one plain pass over the rows.
func (l *Local) pass(ctx context.Context, tasks []Task) ([]*family.Stats, error) {
	if _, remote := l.src.(data.Remote); remote { // factors of covariances are made there
		f := &fold[[]*family.Stats]{merge: mergeStats, job: &sweepJob{Origin: l.origin, Rows: l.rows, Tasks: wired(tasks)}}
		total, ok, err := f.run(ctx, l.src)
		if err == nil && !ok {
			total = newStats(tasks)
		}
		return total, err
	}
	return l.plain(ctx, tasks, func(f *fold[[]*family.Stats]) ([]*family.Stats, error) {
		total, ok, err := f.run(ctx, l.src)
		if err == nil && !ok {
			total = f.fresh()
		}
		return total, err
	})
}

// newStats returns empty sums of tasks that no row is added to.
func newStats(tasks []Task) []*family.Stats {
	s := make([]*family.Stats, len(tasks))
	for t := range s {
		s[t] = tasks[t].Mixture.NewStats(0)
	}
	return s
}

func mergeStats(into, from []*family.Stats) {
	for t := range into {
		into[t].Merge(from[t])
	}
}

// plain makes what folds a plain pass ready and calls run with it.
func (l *Local) plain(ctx context.Context, tasks []Task, run func(*fold[[]*family.Stats]) ([]*family.Stats, error)) (sums []*family.Stats, err error) {
	packer, end := l.packer(ctx, tasks)
	defer func() { end(err) }()
	bound, err := bind(ctx, tasks)
	if err != nil {
		return nil, err
	}
	stopped := stopper(ctx, tasks)
	bounded := bounded(bound)
	workers := l.idle.take(tasks, l.threads)
	var spare pool[[]*family.Stats]
	fresh := func() []*family.Stats {
		if s, ok := spare.get(); ok {
			for _, t := range s {
				t.Reset()
			}
			return s
		}
		s := make([]*family.Stats, len(tasks))
		for t := range s {
			s[t] = tasks[t].Mixture.NewStats(bound[t].FarMax())
		}
		return s
	}
	f := &fold[[]*family.Stats]{
		threads: l.threads, chunk: l.chunk, fresh: fresh, reuse: spare.put,
		work: func(id int, b *data.Block, acc []*family.Stats) error {
			if workers[id] == nil {
				workers[id] = newWorker(tasks)
				if bounded {
					workers[id].blocks = newBlocks(len(tasks), tasks[0].Mixture.D)
				}
			}
			w := workers[id]
			pack := func(p *family.Panel, lo int) { packer.pack(id, p, b, lo) }
			if w.probe(bound, b, pack) {
				if err := w.gather(acc, bound, b, pack, l.kept(b), stopped); err != nil {
					return err
				}
			} else {
				for lo := 0; lo < b.N; lo += kern.Rows {
					if err := stopped(); err != nil {
						return err
					}
					pack(w.panel, lo)
					for t := range bound {
						bound[t].Gather(acc[t], w.panel, w.scratch[t])
					}
				}
			}
			for t := range bound {
				bound[t].Flush(acc[t], w.scratch[t])
			}
			return nil
		},
		merge: mergeStats,
	}
	if sums, err = run(f); err == nil && !bounded {
		l.idle.put(tasks, workers)
	}
	return sums, err
}

// heavy is how many numbers the parameters of all tasks must have for a chunk of rows, or the preparation of a pass, to take
// long enough that an end of the context is looked for within.
const heavy = 20_000

// weight returns how many numbers the parameters of all tasks have.
func weight(tasks []Task) (n int) {
	for _, t := range tasks {
		n += len(t.Theta)
	}
	return n
}

// bind prepares the tasks. Factors of large matrices are left behind where ctx ends.
func bind(ctx context.Context, tasks []Task) ([]*mixture.Bound, error) {
	grace := interrupt.Grace
	if weight(tasks) < heavy {
		grace = -1
	}
	return interrupt.Run(ctx, grace, func() ([]*mixture.Bound, error) {
		bound := make([]*mixture.Bound, len(tasks))
		for t, task := range tasks {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			bound[t] = task.Mixture.Bind(task.Theta, task.Beta)
		}
		return bound, nil
	})
}

// stopper returns what a worker asks between the panels of a chunk.
func stopper(ctx context.Context, tasks []Task) func() error {
	if weight(tasks) < heavy {
		return func() error { return nil }
	}
	return ctx.Err
}

func newWorker(tasks []Task) *worker {
	w := &worker{scratch: make([]*mixture.Scratch, len(tasks))}
	if len(tasks) == 0 {
		return w
	}
	w.panel = newPanel(tasks[0].Mixture.D)
	for t := range tasks {
		m := tasks[t].Mixture
		if t > 0 && m.K == tasks[t-1].Mixture.K {
			w.scratch[t] = w.scratch[t-1].Sibling()
			continue
		}
		w.scratch[t] = mixture.NewScratch(m.K, m.D)
	}
	return w
}

func newPanel(d int) *family.Panel {
	return &family.Panel{D: d, X: make([]float64, d*kern.Rows, (d+family.Spare)*kern.Rows), W: make([]float64, kern.Rows)}
}

// ones are the weights of rows without.
var ones = func() (w [kern.Rows]float64) {
	for i := range w {
		w[i] = 1
	}
	return w
}()

// pack fills the panel with the rows of b from lo on.
func pack(p *family.Panel, b *data.Block, lo int, origin []float64) {
	n, d := min(kern.Rows, b.N-lo), b.D
	number(p, b, lo)
	if b.F64 != nil {
		kern.Pack(p.X, b.F64[lo*d:(lo+n)*d], origin, n, d)
	} else {
		kern.Pack(p.X, b.F32[lo*d:(lo+n)*d], origin, n, d)
	}
}

// number sets all but the cells of the panel.
func number(p *family.Panel, b *data.Block, lo int) {
	n := min(kern.Rows, b.N-lo)
	p.N, p.First = n, b.First+int64(lo)
	if b.W != nil {
		copy(p.W, b.W[lo:lo+n])
	} else {
		copy(p.W, ones[:n])
	}
	clear(p.W[n:])
}

// pool keeps accumulators between chunks.
type pool[A any] struct {
	mu   sync.Mutex
	free []A
}

func (p *pool[A]) get() (a A, ok bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if n := len(p.free); n > 0 {
		a, p.free = p.free[n-1], p.free[:n-1]
		return a, true
	}
	return a, false
}

func (p *pool[A]) put(a A) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free = append(p.free, a)
}
