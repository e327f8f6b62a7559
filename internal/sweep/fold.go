// Package sweep runs passes over the rows: the only expensive verb. A pass hands chunks of consecutive rows to
// workers and merges what they return in row order, so that every result is the same, to the last bit, for any
// number of threads.
package sweep

import (
	"context"
	"errors"
	"io"
	"math"
	"sync"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/par"
)

// chunkRows returns how many rows a chunk holds. It depends on the number of rows alone, never on threads: chunks decide
// how sums are rounded. Small data still give every core something to do.
func chunkRows(rows int64) int {
	if rows < 0 {
		rows = math.MaxInt64 // not known before reading: large
	}
	const least, most = 256, 2048
	n := rows / 64 / least * least
	return int(min(max(n, least), most))
}

// fold is one ordered, parallel pass. work turns a chunk into an accumulator; merge adds the accumulator of the rows
// that follow to the one before; emit, if set, sees every chunk's accumulator in row order before it is merged.
//
// Merging follows a binary counter: two neighbours of equal size become one of twice the size. The tree depends on
// the number of chunks only, rounding grows with its logarithm, and any aligned run of chunks could be folded
// elsewhere to the same bits.
type fold[A any] struct {
	threads int
	chunk   int
	fresh   func() A // a new or reset accumulator
	reuse   func(A)  // takes an accumulator that is no longer needed
	work    func(worker int, b *data.Block, acc A) error
	merge   func(into, from A)
	emit    func(acc A) error
}

type node[A any] struct {
	level int
	acc   A
}

// run makes the pass. ok is false where the source has no rows.
func (f *fold[A]) run(ctx context.Context, src data.Source) (total A, ok bool, err error) {
	reader, err := src.Open(ctx)
	if err != nil {
		return total, false, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	p := &pass[A]{fold: f, reader: reader, pending: map[int64]A{}}
	p.room = sync.NewCond(&p.mu)
	// Every worker reads until there is no more. They look at ctx themselves: a pass that it ended has an error.
	par.Do(context.Background(), f.threads, max(f.threads, 1), func(_, worker int) { p.guarded(ctx, worker) })
	if p.err != nil {
		return total, false, p.err
	}
	if len(p.stack) == 0 {
		return total, false, nil
	}
	for len(p.stack) > 1 {
		p.join()
	}
	return p.stack[0].acc, true, nil
}

// pass is the state of one run.
type pass[A any] struct {
	*fold[A]
	reading sync.Mutex // guards reader and next
	reader  data.Reader
	next    int64 // the chunk that is read next
	done    bool

	mu      sync.Mutex // guards the rest
	room    *sync.Cond
	merged  int64 // chunks merged so far
	pending map[int64]A
	stack   []node[A]
	err     error
}

// errPanicked ends the other workers where one has panicked.
var errPanicked = errors.New("a worker panicked")

// guarded is worker, whose panic, such as of a source that a program brought, ends all workers.
func (p *pass[A]) guarded(ctx context.Context, id int) {
	whole := false
	defer func() {
		if !whole {
			p.fail(errPanicked)
		}
	}()
	p.worker(ctx, id)
	whole = true
}

func (p *pass[A]) worker(ctx context.Context, id int) {
	b := new(data.Block)
	for {
		if p.emit != nil {
			b = new(data.Block) // emit may look at the rows after this worker has gone on
		}
		at, more := p.read(ctx, b)
		if !more {
			return
		}
		p.mu.Lock()
		for p.err == nil && at >= p.merged+int64(4*p.threads) { // a slow chunk must not let the others pile up
			p.room.Wait()
		}
		failed := p.err != nil
		p.mu.Unlock()
		if failed {
			return
		}
		acc := p.fresh()
		if err := p.work(id, b, acc); err != nil {
			p.fail(err)
			return
		}
		p.put(at, acc)
	}
}

// read takes the next chunk. Reading is serial: sources hand out views of memory, or read ahead on their own.
func (p *pass[A]) read(ctx context.Context, b *data.Block) (at int64, more bool) {
	p.reading.Lock()
	defer p.reading.Unlock()
	if p.done {
		return 0, false
	}
	err := ctx.Err()
	if err == nil {
		err = p.reader.Read(b, p.chunk)
	}
	if err != nil {
		p.done = true
		if err != io.EOF {
			p.fail(err)
		}
		return 0, false
	}
	at = p.next
	p.next++
	return at, true
}

func (p *pass[A]) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.err == nil {
		p.err = err
	}
	p.room.Broadcast()
}

// put files the accumulator of chunk at and merges all that are due.
func (p *pass[A]) put(at int64, acc A) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pending[at] = acc
	for {
		acc, ok := p.pending[p.merged]
		if !ok || p.err != nil {
			break
		}
		delete(p.pending, p.merged)
		p.merged++
		if p.emit != nil {
			if err := p.emit(acc); err != nil {
				p.err = err
			}
		}
		p.stack = append(p.stack, node[A]{acc: acc})
		for n := len(p.stack); n > 1 && p.stack[n-1].level == p.stack[n-2].level; n = len(p.stack) {
			p.join()
		}
	}
	p.room.Broadcast()
}

// join merges the top of the stack into its neighbour.
func (p *pass[A]) join() {
	n := len(p.stack)
	p.merge(p.stack[n-2].acc, p.stack[n-1].acc)
	p.stack[n-2].level++
	p.reuse(p.stack[n-1].acc)
	p.stack = p.stack[:n-1]
}
