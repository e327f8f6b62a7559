package selection

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/latent-go/latent/internal/family"
	"github.com/latent-go/latent/internal/sweep"
)

// joint gathers the sweeps of several fits, so that one pass over the rows serves all of them. A pass starts when every fit that has not left
// waits for one. The sums of a fit do not depend on the others.
type joint struct {
	sweeper sweep.Sweeper
	mu      sync.Mutex
	live    int // fits that have not left
	waiting []*request
	best    float64 // criterion of the best candidate that has left; +Inf before
}

// request is a sweep that one fit waits for.
type request struct {
	order int
	tasks []sweep.Task
	stats []*family.Stats
	err   error
	best  float64 // best of joint when the pass began
	done  chan struct{}
}

// member makes the sweeps of one fit, by passes of a joint.
type member struct {
	*joint
	order int
	best  *float64 // best of joint when the last pass began, so that what a climb sees does not depend on timing
}

// Sweep implements sweep.Sweeper.
func (m member) Sweep(ctx context.Context, tasks []sweep.Task) ([]*family.Stats, error) {
	r := &request{order: m.order, tasks: tasks, done: make(chan struct{})}
	m.mu.Lock()
	m.waiting = append(m.waiting, r)
	m.serve(ctx)
	m.mu.Unlock()
	select {
	case <-r.done:
	case <-ctx.Done(): // the pass may take longer than anybody waits
		return nil, ctx.Err()
	}
	*m.best = r.best
	return r.stats, r.err
}

// leave tells that a fit asks for no more passes, and that it has reached value of the criterion.
func (j *joint) leave(ctx context.Context, value float64) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.best = min(j.best, value)
	j.live--
	j.serve(ctx)
}

// serve makes a pass if all fits that have not left wait for it. Its caller holds the lock, which no other fit needs meanwhile.
func (j *joint) serve(ctx context.Context) {
	if len(j.waiting) == 0 || len(j.waiting) < j.live {
		return
	}
	slices.SortFunc(j.waiting, func(a, b *request) int { return cmp.Compare(a.order, b.order) })
	var tasks []sweep.Task
	for _, r := range j.waiting {
		tasks = append(tasks, r.tasks...)
	}
	stats, err := j.sweeper.Sweep(ctx, tasks)
	for _, r := range j.waiting {
		r.best = j.best
		if r.err = err; err == nil {
			r.stats, stats = stats[:len(r.tasks):len(r.tasks)], stats[len(r.tasks):]
		}
		close(r.done)
	}
	j.waiting = nil
}
