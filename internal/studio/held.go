package studio

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/latent-go/latent/data"
)

// maxHeld is how many bytes of features stay in memory for marks, of all tables that are open together; of larger tables
// every picture reads the file again.
const maxHeld = 512 << 20

// options are those by which a fit reads the features that check named.
func (f *file) options() data.Options {
	names, types := f.features()
	o := data.Options{Mixed: true, Exact: names, Missing: "model", CanModel: true, AllowEmpty: true}
	for _, name := range types {
		t, err := data.ParseType(name)
		if err != nil {
			t = data.Number
		}
		o.ExactTypes = append(o.ExactTypes, t)
	}
	return o
}

// kept is a table that was read for its marks, and what was found out about it.
type kept struct {
	mu    sync.Mutex
	table *data.Table // nil where it was not read, or is too large
	bytes int64       // it counts for in Studio.held
	axes  []axis      // principal components
	laid  *laying     // the last layout with its CellOf, made or under way; nil for none
}

// laying is a layout that requests share. Nobody writes to it once it is made.
type laying struct {
	x, y  string
	bytes int64         // it counts for in Studio.held; under kept.mu
	made  chan struct{} // closed when the two below are set
	of    *layout
	err   error

	stop    context.CancelFunc
	waiting atomic.Int64 // requests; more come only while it is the last one
	passed  atomic.Bool  // it is no longer the last one
}

// idle stops a layout that is of no use to anybody: it is not the last one, and no request waits for it.
func (c *laying) idle() {
	if c.passed.Load() && c.waiting.Load() == 0 {
		c.stop()
	}
}

// laid returns the layout of a table of many rows with its CellOf. The last one is kept: the frames of a climb are all on the same axes. Which request
// began it does not matter: it goes on when that one is gone, unless others are asked for.
func (s *Studio) laid(ctx context.Context, f *file, x, y string) (*layout, error) {
	k := &f.rows
	k.mu.Lock()
	c := k.laid
	if c == nil || c.x != x || c.y != y {
		s.unlay(k)
		own, stop := context.WithCancel(s.ctx)
		c = &laying{x: x, y: y, made: make(chan struct{}), stop: stop}
		k.laid = c
		go s.lay(own, f, c)
	}
	c.waiting.Add(1)
	k.mu.Unlock()
	defer func() {
		c.waiting.Add(-1)
		c.idle()
	}()
	select {
	case <-c.made:
		return c.of, c.err
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// lay makes a layout, and keeps it where there is room.
func (s *Studio) lay(ctx context.Context, f *file, c *laying) {
	defer c.stop()
	defer close(c.made)
	c.of, c.err = s.layout(ctx, f, c.x, c.y, true)
	f.rows.mu.Lock()
	defer f.rows.mu.Unlock()
	switch {
	case f.rows.laid != c:
		return
	case c.err == nil:
		c.bytes = 4 * int64(len(c.of.CellOf))
	}
	if s.held.Add(c.bytes) > maxHeld || c.err != nil {
		s.unlay(&f.rows)
	}
}

// unlay lets go of the last layout of a table. k.mu is held.
func (s *Studio) unlay(k *kept) {
	c := k.laid
	if c == nil {
		return
	}
	k.laid = nil
	s.held.Add(-c.bytes)
	c.passed.Store(true)
	c.idle()
}

// features returns the rows of the features of a table: in memory where they fit.
func (s *Studio) features(ctx context.Context, f *file) (data.Source, error) {
	f.rows.mu.Lock()
	defer f.rows.mu.Unlock()
	if f.rows.table != nil {
		return f.rows.table, nil
	}
	o := f.options()
	need := 8 * f.looked.Rows * int64(len(o.Exact))
	hold := s.held.Add(need) <= maxHeld
	if !hold {
		s.held.Add(-need)
	}
	o.Stream = !hold
	src, _, err := data.Load(ctx, f.Path, o)
	table, ok := src.(*data.Table)
	if hold && (err != nil || !ok) {
		s.held.Add(-need)
	}
	if err != nil {
		return nil, err
	}
	if hold && ok {
		f.rows.table, f.rows.bytes = table, need
	}
	return src, nil
}

// drop lets go of the rows of a table that is no longer open.
func (s *Studio) drop(f *file) {
	f.rows.mu.Lock()
	defer f.rows.mu.Unlock()
	s.held.Add(-f.rows.bytes)
	f.rows.table, f.rows.bytes = nil, 0
	s.unlay(&f.rows)
}
