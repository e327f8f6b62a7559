package sweep

import (
	"context"

	"github.com/latent-go/latent/data"
)

// Reduction is a pass for sums of a package's own: ordered and parallel like a sweep, with the same bits for any number of
// threads.
type Reduction[A any] struct {
	Rows    int64 // of the source, as a Survey found them: they decide the chunks
	Threads int
	New     func() A // an empty accumulator
	Clear   func(A)  // empties one for use again
	// Add adds a chunk of rows to acc. Calls with one number of worker, from 0, do not overlap. b is valid during the call.
	Add   func(worker int, b *data.Block, acc A) error
	Merge func(into, from A) // adds the accumulator of the rows that follow
	// Job is the same pass for rows on other machines, whose accumulators encoding/gob sends; nil brings the rows here.
	Job Job
}

// Run makes the pass and returns the accumulator of all rows, which the caller owns; an empty one where there are none.
func (r *Reduction[A]) Run(ctx context.Context, src data.Source) (A, error) {
	total, ok, err := r.fold().run(ctx, src)
	if err == nil && !ok {
		total = r.New()
	}
	return total, err
}

// Nodes makes the pass over a part of the rows, for a Job.
func (r *Reduction[A]) Nodes(ctx context.Context, src *data.Table) ([]Node, error) {
	return nodes(ctx, r.fold(), src)
}

func (r *Reduction[A]) fold() *fold[A] {
	var spare pool[A]
	return &fold[A]{
		threads: workers(r.Threads), chunk: chunkRows(r.Rows), reuse: spare.put, work: r.Add, merge: r.Merge, job: r.Job,
		fresh: func() A {
			if a, ok := spare.get(); ok {
				r.Clear(a)
				return a
			}
			return r.New()
		},
	}
}
