// Package interrupt lets a caller go on when a context ends, even where the work at hand cannot look at it: the
// factorisation of a large matrix, or a loop inside a library.
package interrupt

import (
	"context"
	"time"
)

// Grace is how long work may go on after its context has ended before its caller leaves it. Work that looks at the context
// ends within it, and what it has come to is kept.
const Grace = 300 * time.Millisecond

// Run runs work and returns what it returns. If ctx ends and the work has not ended after a further grace, Run returns the
// error of ctx and leaves the work running: it must write to nothing that the caller looks at afterwards. With a negative
// grace Run waits however long it takes. A panic of the work is one of Run, in the goroutine of its caller.
func Run[T any](ctx context.Context, grace time.Duration, work func() (T, error)) (T, error) {
	if ctx.Done() == nil || grace < 0 {
		return work()
	}
	type outcome struct {
		value    T
		err      error
		panicked any
		whole    bool
	}
	done := make(chan outcome, 1)
	go func() {
		var o outcome
		defer func() {
			if !o.whole {
				o.panicked = recover()
			}
			done <- o
		}()
		o.value, o.err = work()
		o.whole = true
	}()
	finish := func(o outcome) (T, error) {
		if !o.whole {
			panic(o.panicked)
		}
		return o.value, o.err
	}
	select {
	case o := <-done:
		return finish(o)
	case <-ctx.Done():
	}
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case o := <-done:
		return finish(o)
	case <-late.C:
		var none T
		return none, ctx.Err()
	}
}
