package data

import (
	"errors"
	"sync"

	"github.com/latent-go/latent/internal/par"
)

// inTurns is par.Try for work of which the last part may have to pass in order: work calls turn once with it.
func inTurns(n, threads int, ordered bool, work func(i int, turn func(func() error) error) error) error {
	if !ordered {
		return par.Try(threads, n, func(i int) error {
			return work(i, func(last func() error) error { return last() })
		})
	}
	order := newTurns()
	return par.Try(threads, n, func(i int) error {
		whole := false
		defer func() {
			if !whole { // nobody waits for the turn of a piece that panicked
				order.done(i, errPanicked)
			}
		}()
		err := work(i, func(last func() error) error {
			if err := order.wait(i); err != nil {
				return err
			}
			err := last()
			order.done(i, err)
			return err
		})
		whole = true
		return err
	})
}

// errPanicked ends the pieces that wait where one has panicked.
var errPanicked = errors.New("a worker panicked")

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
