package par

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// Every piece is done once, by a worker below the number of threads, and no two pieces have a worker at the same time.
func TestEveryPieceIsDoneOnce(t *testing.T) {
	for _, threads := range []int{-1, 0, 1, 2, 3, 8} {
		for _, n := range []int{0, 1, 2, 7, 1000} {
			times := make([]atomic.Int32, n)
			busy := make([]atomic.Bool, max(threads, 1))
			err := Do(context.Background(), threads, n, func(worker, i int) {
				if !busy[worker].CompareAndSwap(false, true) {
					t.Errorf("worker %d has two pieces", worker)
				}
				times[i].Add(1)
				busy[worker].Store(false)
			})
			if err != nil {
				t.Error(err)
			}
			for i := range times {
				if c := times[i].Load(); c != 1 {
					t.Errorf("%d threads: piece %d of %d was done %d times", threads, i, n, c)
				}
			}
		}
	}
}

// As many pieces as there are threads are done at once: each waits for the others here.
func TestThreadsWorkSideBySide(t *testing.T) {
	const threads = 5
	var all sync.WaitGroup
	all.Add(threads)
	done := make(chan struct{})
	go func() {
		defer close(done)
		Do(context.Background(), threads, threads, func(int, int) { all.Done(); all.Wait() })
	}()
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatal("pieces wait for each other")
	}
}

// A crew takes no memory for a call, and works again after a panic and after the end of a context.
func TestACrewIsCalledAgain(t *testing.T) {
	c := NewCrew(4)
	var sum atomic.Int64
	add := func(_, i int) { sum.Add(int64(i)) }
	background := context.Background()
	if a := testing.AllocsPerRun(100, func() { c.Do(background, 10, add) }); a > 0 {
		t.Errorf("%v allocations", a)
	}
	ended, cancel := context.WithCancel(background)
	cancel()
	if err := c.Do(ended, 10, add); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	func() {
		defer func() { recover() }()
		c.Do(background, 10, func(int, int) { panic("broken") })
		t.Error("no panic")
	}()
	sum.Store(0)
	if err := c.Do(background, 10, add); err != nil || sum.Load() != 45 {
		t.Errorf("%v, sum %d", err, sum.Load())
	}
}

// One worker does the pieces in order, in the goroutine of the caller, whose deferred calls see it.
func TestOneWorkerKeepsTheOrder(t *testing.T) {
	var order []int
	Do(context.Background(), 1, 5, func(_, i int) { order = append(order, i) }) // the race detector would see another goroutine
	if fmt.Sprint(order) != "[0 1 2 3 4]" {
		t.Errorf("order %v", order)
	}
}

// Nothing is begun once the context has ended.
func TestDoEndsWithItsContext(t *testing.T) {
	for _, threads := range []int{1, 4} {
		ctx, cancel := context.WithCancel(context.Background())
		var n atomic.Int32
		err := Do(ctx, threads, 1000, func(_, i int) {
			if n.Add(1); i == 10 {
				cancel()
			}
		})
		if !errors.Is(err, context.Canceled) || n.Load() < 11 || threads == 1 && n.Load() != 11 {
			t.Errorf("%d threads: %v after %d pieces", threads, err, n.Load())
		}
		n.Store(0)
		if err := Do(ctx, threads, 1000, func(int, int) { n.Add(1) }); !errors.Is(err, context.Canceled) || n.Load() != 0 {
			t.Errorf("%d threads: %v after %d pieces that begin too late", threads, err, n.Load())
		}
	}
}

// A panic of any worker is one of Do, with its value, after all workers have ended; no further piece is begun.
func TestPanicsOfWorkersAreTheCallers(t *testing.T) {
	for _, threads := range []int{1, 2, 8} {
		for _, at := range []int{0, 1, 500} {
			var running, after atomic.Int32
			broken := make(chan struct{})
			func() {
				defer func() {
					if v := recover(); v != "broken" {
						t.Errorf("%d threads: recovered %v", threads, v)
					}
				}()
				Do(context.Background(), threads, 1000, func(_, i int) {
					running.Add(1)
					defer running.Add(-1)
					if i == at {
						close(broken)
						panic("broken")
					}
					if i > at {
						<-broken
						time.Sleep(time.Millisecond)
						after.Add(1)
					}
				})
				t.Error("no panic")
			}()
			if running.Load() != 0 {
				t.Errorf("%d threads: %d pieces go on", threads, running.Load())
			}
			if after.Load() > 400 {
				t.Errorf("%d threads: %d pieces after the panic", threads, after.Load())
			}
		}
	}
}

// Of several errors that of the lowest number comes back, whatever the number of threads and whichever came first.
func TestTheErrorOfTheLowestNumberComesBack(t *testing.T) {
	for _, threads := range []int{1, 2, 8} {
		for range 50 {
			second := make(chan struct{})
			err := Try(threads, 100, func(i int) error {
				switch i {
				case 3:
					if threads > 1 {
						<-second // number 4 fails first
					}
					return errors.New("3")
				case 4:
					close(second)
					return errors.New("4")
				}
				return nil
			})
			if err == nil || err.Error() != "3" {
				t.Fatalf("%d threads: %v", threads, err)
			}
		}
		var n atomic.Int32
		if err := Try(threads, 50, func(int) error { n.Add(1); return nil }); err != nil || n.Load() != 50 {
			t.Errorf("%d threads: %v after %d pieces", threads, err, n.Load())
		}
	}
}
