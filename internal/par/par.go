// Package par shares numbered pieces of work among goroutines.
package par

import (
	"context"
	"sync"
	"sync/atomic"
)

// Do calls work(worker, i) for every i from 0 to n-1 and returns when all calls are over. At most threads goroutines make the
// calls, each with a worker number of its own from 0; the caller's is one of them. Pieces are begun in the order of i, and a
// worker that is free takes the next.
//
// When ctx ends no further piece is begun, and Do returns the error of ctx. When a piece panics no further one is begun
// either, and Do panics with the first value once all workers have ended.
func Do(ctx context.Context, threads, n int, work func(worker, i int)) error {
	if threads = min(threads, n); threads > 1 {
		return NewCrew(threads).Do(ctx, n, work)
	}
	for i := 0; i < n && ctx.Err() == nil; i++ {
		work(0, i)
	}
	return ctx.Err()
}

// A Crew is workers that are called again and again, without memory for each call. Its Do may not be called while another
// call goes on.
type Crew struct {
	ctx    context.Context
	n      int
	work   func(worker, i int)
	next   atomic.Int64
	caught Caught
	wg     sync.WaitGroup
	others []func() // what the goroutines of workers 1, 2, ... do
}

// NewCrew returns a crew of so many workers, at least one.
func NewCrew(threads int) *Crew {
	c := &Crew{}
	for worker := 1; worker < threads; worker++ {
		c.others = append(c.others, func() {
			defer c.wg.Done()
			c.pieces(worker)
		})
	}
	return c
}

// Do is the function Do with the workers of the crew.
func (c *Crew) Do(ctx context.Context, n int, work func(worker, i int)) error {
	c.ctx, c.n, c.work, c.caught = ctx, n, work, Caught{}
	c.next.Store(0)
	others := c.others[:min(len(c.others), max(n-1, 0))]
	c.wg.Add(len(others))
	for _, other := range others {
		go other()
	}
	c.pieces(0)
	c.wg.Wait()
	c.caught.Raise()
	return ctx.Err()
}

// pieces does one piece after another while there are any.
func (c *Crew) pieces(worker int) {
	defer c.caught.Catch()
	for c.ctx.Err() == nil && !c.caught.Any() {
		i := int(c.next.Add(1)) - 1
		if i >= c.n {
			return
		}
		c.work(worker, i)
	}
}

// Try is Do for work that may fail: no piece is begun after an error. It returns the error of the lowest number that has one,
// which does not depend on the number of threads.
func Try(threads, n int, work func(i int) error) error {
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	var mu sync.Mutex
	var first error
	lowest := n
	Do(ctx, threads, n, func(_, i int) {
		if err := work(i); err != nil {
			stop()
			mu.Lock()
			defer mu.Unlock()
			if i < lowest {
				first, lowest = err, i
			}
		}
	})
	return first
}
