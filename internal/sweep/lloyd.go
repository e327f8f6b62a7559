package sweep

import (
	"context"
	"math"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/nearest"
)

// State is what the sweeps of one start of k-means leave for the next: labels and until when they stand, 8 N bytes, and sums, 16 k D
// bytes for each of up to 64 parts of the rows. The zero value is ready. It serves one sweep at a time.
type State = nearest.State

// lloyd is the short way of k-means over rows in memory. It is made at the first sweep that may take it.
type lloyd struct {
	mu     sync.Mutex
	looked bool
	engine *nearest.Engine // nil where the rows are not in memory

	unpaged bool // no file keeps labels between passes
}

// Sweep implements Sweeper. Tasks of k-means with a State are served by package nearest: their labels are those of a plain
// pass, and their sums are rounded once, so that rows in memory and rows from a file give the same bits.
func (l *Local) Sweep(ctx context.Context, tasks []Task) ([]*family.Stats, error) {
	stats := make([]*family.Stats, len(tasks))
	for _, serve := range []func(context.Context, []Task) ([]*family.Stats, error){l.chained, l.short, l.tally, l.pass} {
		var rest []Task
		for t := range tasks {
			if stats[t] == nil {
				rest = append(rest, tasks[t])
			}
		}
		if len(rest) == 0 {
			break
		}
		got, err := serve(ctx, rest)
		if err != nil {
			return nil, err
		}
		for t := range stats {
			if stats[t] == nil {
				stats[t], got = got[0], got[1:]
			}
		}
	}
	return stats, nil
}

// lloyd reports whether the task is a sweep of k-means that goes on from others.
func (t *Task) lloyd() bool {
	f, means := t.Mixture.Family.(family.KMeans)
	return means && f.Gaps == nil && t.State != nil && math.IsInf(t.Beta, 1)
}

func (t *Task) newStats() *family.Stats { return t.Mixture.NewStats(family.FarRows(t.Mixture.K)) }

// short returns the sums of the tasks that the engine can serve, all in one pass, and nil for any other.
func (l *Local) short(ctx context.Context, tasks []Task) ([]*family.Stats, error) {
	l.lloyd.mu.Lock()
	defer l.lloyd.mu.Unlock()
	stats := make([]*family.Stats, len(tasks))
	var at []int
	for i := range tasks {
		if tasks[i].lloyd() {
			at = append(at, i)
		}
	}
	if at == nil {
		return stats, nil
	}
	if !l.lloyd.looked {
		l.lloyd.looked, l.lloyd.engine = true, l.prepare(ctx)
	}
	if l.lloyd.engine == nil {
		return stats, ctx.Err()
	}
	near := make([]nearest.Task, len(at))
	for i, t := range at {
		near[i] = nearest.Task{State: tasks[t].State, Theta: tasks[t].Theta, K: tasks[t].Mixture.K, Stats: tasks[t].newStats()}
	}
	if err := l.lloyd.engine.Sweep(ctx, near); err != nil {
		return nil, err
	}
	for i, t := range at {
		if near[i].Done {
			stats[t] = near[i].Stats
		}
	}
	return stats, ctx.Err()
}

// tally serves the tasks of k-means whose rows are not in memory, or not fit for the engine, in one pass. It returns nil
// for any other, and where sums would overflow.
func (l *Local) tally(ctx context.Context, tasks []Task) ([]*family.Stats, error) {
	stats := make([]*family.Stats, len(tasks))
	var at []int
	for i := range tasks {
		if tasks[i].lloyd() {
			at = append(at, i)
		}
	}
	if at == nil {
		return stats, nil
	}
	own := make([]Task, len(at))
	for i, t := range at {
		own[i] = tasks[t]
	}
	total, ok, err := l.paged(ctx, own)
	if err != nil || !ok {
		return stats, err
	}
	if err := l.complete(ctx, own, total); err != nil {
		return stats, err
	}
	for i, t := range at {
		if s := tasks[t].newStats(); total[i].Fill(tasks[t].Theta, s) {
			stats[t] = s
		}
	}
	return stats, nil
}

// complete makes one more pass for the tasks whose tallies lack something, as those of engines on other machines may.
func (l *Local) complete(ctx context.Context, tasks []Task, total []*nearest.Tally) error {
	var again []Task
	var at []int
	for i, t := range tasks {
		if total[i].Wants(t.Theta, t.newStats()) {
			again, at = append(again, t), append(at, i)
		}
	}
	if again == nil {
		return nil
	}
	whole, ok, err := l.tallies(again, nil).run(ctx, l.src)
	for i, j := range at {
		if ok {
			total[j] = whole[i]
		}
	}
	return err
}

// states numbers the states of tasks.
func states(tasks []Task) []uint64 {
	ids := make([]uint64, len(tasks))
	for i, t := range tasks {
		ids[i] = t.State.ID()
	}
	return ids
}

// tallies returns what folds a pass for tasks of k-means. States, or on other machines their numbers, spare most of the work; without numbers the
// pass is a plain one.
func (l *Local) tallies(tasks []Task, states []uint64) *fold[[]*nearest.Tally] {
	scratch, pagers := make([]*nearest.Scratch, l.threads), make([]*nearest.Pager, l.threads)
	var spare pool[[]*nearest.Tally]
	return &fold[[]*nearest.Tally]{
		threads: l.threads, chunk: l.chunk, reuse: spare.put, merge: mergeTallies,
		job: &sweepJob{Origin: l.origin, Rows: l.rows, Tasks: wired(tasks), Means: true, States: states},
		fresh: func() []*nearest.Tally {
			s, ok := spare.get()
			for i, t := range tasks {
				if ok {
					s[i].Reset()
				} else {
					s = append(s, nearest.NewTally(t.Mixture.K, t.Mixture.D, family.FarRows(t.Mixture.K)))
				}
			}
			return s
		},
		work: func(id int, b *data.Block, acc []*nearest.Tally) error {
			if scratch[id] == nil {
				scratch[id] = nearest.NewScratch(b.D)
			}
			for i, t := range tasks {
				if states != nil && t.State != nil && t.State.Pages != nil {
					if pagers[id] == nil {
						pagers[id] = nearest.NewPager(b.D)
					}
					if err := pagers[id].Add(b, l.origin, t.State.Pages, acc[i]); err != nil {
						return err
					}
					continue
				}
				acc[i].Add(b, l.origin, t.Theta, scratch[id])
			}
			return nil
		},
	}
}

func mergeTallies(into, from []*nearest.Tally) {
	for i := range into {
		into[i].Merge(from[i])
	}
}

// prepare returns an engine over the rows, or nil.
func (l *Local) prepare(ctx context.Context) *nearest.Engine {
	table, ok := l.src.(*data.Table)
	if !ok || len(l.origin) != table.D || kern.Current() == kern.Go { // without vectors float32 is no faster than float64
		return nil
	}
	if _, err := table.Open(ctx); err != nil { // a plain pass will say what is wrong
		return nil
	}
	return nearest.New(table, l.origin, l.threads)
}
