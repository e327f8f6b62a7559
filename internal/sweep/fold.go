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
	const least = 256
	n := rows / 64 / least * least
	return int(min(max(n, least), mostChunk))
}

// mostChunk is how many rows a chunk of many rows holds. Every chunk holds a multiple of 256 rows.
const mostChunk = 2048

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
	job     Job // the same pass, for rows on other machines; nil brings the rows here
}

// run makes the pass. ok is false where the source has no rows.
func (f *fold[A]) run(ctx context.Context, src data.Source) (total A, ok bool, err error) {
	t := &Tree[A]{Merge: f.merge}
	if r, remote := src.(data.Remote); remote && f.job != nil {
		var nodes []Node
		if nodes, err = Send(ctx, r, f.job); err == nil {
			err = t.Add(nodes)
		}
	} else {
		t, err = f.tree(ctx, src, 0)
	}
	if err != nil {
		return total, false, err
	}
	total, ok = t.Total()
	return total, ok, nil
}

// tree makes the pass over rows of which the first begins chunk number first, and returns what cannot be joined without those around them.
func (f *fold[A]) tree(ctx context.Context, src data.Source, first int64) (t *Tree[A], err error) {
	reader, err := src.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, reader.Close()) }()
	p := &pass[A]{fold: f, reader: reader, pending: map[int64]A{}, first: first, tree: Tree[A]{Merge: f.merge, Reuse: f.reuse}}
	p.room = sync.NewCond(&p.mu)
	// Every worker reads until there is no more. They look at ctx themselves: a pass that it ended has an error.
	par.Do(context.Background(), f.threads, max(f.threads, 1), func(_, worker int) { p.guarded(ctx, worker) })
	return &p.tree, p.err
}

// pass is the state of one run.
type pass[A any] struct {
	*fold[A]
	reading sync.Mutex // guards reader and next
	reader  data.Reader
	next    int64 // the chunk that is read next
	done    bool
	first   int64 // the number of the first chunk

	mu      sync.Mutex // guards the rest
	room    *sync.Cond
	merged  int64 // chunks merged so far
	pending map[int64]A
	tree    Tree[A]
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
		p.tree.Push(p.first+p.merged-1, 0, acc)
	}
	p.room.Broadcast()
}
