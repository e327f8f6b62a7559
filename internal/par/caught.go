package par

import "sync/atomic"

// Caught keeps the first panic of several goroutines for the one that waits for them, whose caller can recover it. A
// goroutine defers Catch; who has waited for all calls Raise. The zero value is ready.
type Caught struct {
	first atomic.Pointer[any]
}

// Catch ends a panic of the goroutine that deferred it, and keeps its value.
func (c *Caught) Catch() {
	if v := recover(); v != nil {
		kept := v // not &v: that would take memory without a panic too
		c.first.CompareAndSwap(nil, &kept)
	}
}

// Any reports whether there was a panic.
func (c *Caught) Any() bool { return c.first.Load() != nil }

// Raise panics with the first value that was caught, if there is one.
func (c *Caught) Raise() {
	if v := c.first.Load(); v != nil {
		panic(*v)
	}
}
