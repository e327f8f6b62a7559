package data

import (
	"sync"
	"sync/atomic"
)

// inParallel calls work(0) to work(n-1) on up to threads goroutines, handing the numbers out in order. It returns
// the error of the lowest number that has one, whatever the number of threads.
func inParallel(n, threads int, work func(int) error) error {
	threads = max(1, min(threads, n))
	var next atomic.Int64
	var stop atomic.Bool
	var mu sync.Mutex
	var first error
	at := n
	run := func() {
		for !stop.Load() {
			i := int(next.Add(1)) - 1
			if i >= n {
				return
			}
			if err := work(i); err != nil {
				stop.Store(true)
				mu.Lock()
				if i < at {
					first, at = err, i
				}
				mu.Unlock()
			}
		}
	}
	var wg sync.WaitGroup
	for range threads - 1 {
		wg.Go(run)
	}
	run()
	wg.Wait()
	return first
}

// inTurns is inParallel for work of which the last part may have to pass in order: work calls turn once with it.
func inTurns(n, threads int, ordered bool, work func(i int, turn func(func() error) error) error) error {
	if !ordered {
		return inParallel(n, threads, func(i int) error {
			return work(i, func(last func() error) error { return last() })
		})
	}
	order := newTurns()
	return inParallel(n, threads, func(i int) error {
		return work(i, func(last func() error) error {
			if err := order.wait(i); err != nil {
				return err
			}
			err := last()
			order.done(i, err)
			return err
		})
	})
}

// turns lets numbered pieces of work pass one after another.
type turns struct {
	mu   sync.Mutex
	cond *sync.Cond
	next int
	err  error
}

func newTurns() *turns {
	t := &turns{}
	t.cond = sync.NewCond(&t.mu)
	return t
}

// wait returns when all pieces before i are done, with the error of one of them if there was any.
func (t *turns) wait(i int) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.next != i && t.err == nil {
		t.cond.Wait()
	}
	return t.err
}

func (t *turns) done(i int, err error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.next = i + 1
	if t.err == nil {
		t.err = err
	}
	t.cond.Broadcast()
}
