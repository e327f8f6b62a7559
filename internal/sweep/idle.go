package sweep

import (
	"slices"
	"sync"

	"github.com/latent-go/latent/internal/mixture"
)

// idleWorkers keeps the memory of workers from pass to pass: on a table of hundreds of rows a pass takes no longer than making it anew. Once a
// pass has ended without an error its workers hold no sums (see mixture.Bound.Flush).
type idleWorkers struct {
	mu   sync.Mutex
	sets []workerSet // the newest last
}

// workerSet is workers for the mixtures of some tasks, in their order.
type workerSet struct {
	of      []*mixture.Mixture
	workers []*worker
}

// mostIdle is how many sets are kept: candidates of a choice that climb side by side have one each.
const mostIdle = 4

// take returns workers for tasks, of which those that were never needed are nil.
func (w *idleWorkers) take(tasks []Task, threads int) []*worker {
	w.mu.Lock()
	defer w.mu.Unlock()
	for i, set := range w.sets {
		if slices.EqualFunc(set.of, tasks, func(m *mixture.Mixture, t Task) bool { return m == t.Mixture }) {
			w.sets = slices.Delete(w.sets, i, i+1)
			return set.workers
		}
	}
	return make([]*worker, threads)
}

// put keeps workers, but for those of large mixtures: their memory counts, and making it does not.
func (w *idleWorkers) put(tasks []Task, workers []*worker) {
	if weight(tasks) >= heavy {
		return
	}
	set := workerSet{workers: workers}
	for _, t := range tasks {
		set.of = append(set.of, t.Mixture)
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.sets) == mostIdle {
		w.sets = slices.Delete(w.sets, 0, 1)
	}
	w.sets = append(w.sets, set)
}
