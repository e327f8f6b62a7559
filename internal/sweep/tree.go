package sweep

import "github.com/latent-go/latent/internal/transit"

// node is the sum of the 2^level chunks from chunk at on, of which at is a multiple.
type node[A any] struct {
	at    int64
	level int
	acc   A
}

// Tree adds up accumulators by a binary counter: nodes in row order, of which those that are neighbours of one level are joined.
type Tree[A any] struct {
	Merge func(into, from A) // adds the accumulator of the rows that follow
	Reuse func(A)            // takes one that is no longer needed; may be nil
	stack []node[A]
}

// Push adds the sum of the 2^level chunks from chunk at on, a multiple of 2^level. They are those that follow.
func (t *Tree[A]) Push(at int64, level int, acc A) {
	t.stack = append(t.stack, node[A]{at, level, acc})
	for i := len(t.stack); i > 1; i = len(t.stack) {
		a, b := &t.stack[i-2], &t.stack[i-1]
		if a.level != b.level || a.at>>a.level&1 != 0 {
			return
		}
		t.join()
	}
}

// join merges the last node into the one before.
func (t *Tree[A]) join() {
	n := len(t.stack)
	t.Merge(t.stack[n-2].acc, t.stack[n-1].acc)
	t.stack[n-2].level++
	if t.Reuse != nil {
		t.Reuse(t.stack[n-1].acc)
	}
	t.stack = t.stack[:n-1]
}

// Total returns the sum of all nodes. ok is false where there are none.
func (t *Tree[A]) Total() (acc A, ok bool) {
	for len(t.stack) > 1 {
		t.join()
	}
	if len(t.stack) == 0 {
		return acc, false
	}
	return t.stack[0].acc, true
}

// Nodes returns what cannot be joined without the rows around, encoded.
func (t *Tree[A]) Nodes() ([]Node, error) {
	list := make([]Node, len(t.stack))
	for i, n := range t.stack {
		own, err := NodeOf(n.acc)
		if err != nil {
			return nil, err
		}
		list[i] = Node{n.at, n.level, own.Body}
	}
	return list, nil
}

// Add pushes nodes that another machine has encoded.
func (t *Tree[A]) Add(nodes []Node) error {
	for _, n := range nodes {
		var acc A
		if err := transit.Decode(n.Body, &acc); err != nil {
			return err
		}
		t.Push(n.At, n.Level, acc)
	}
	return nil
}

// Runs adds up numbers of rows that come one after another, in runs of 2,048 rows whose sums are joined as those of a pass are: so they are the
// same bits where parts of the rows are added up elsewhere.
type Runs[A any] struct {
	New func() A // an empty accumulator
	Tree[A]
	run  A
	next int64 // the row after the last; 0 before the first
}

// At returns the accumulator of the run that holds a row. Rows come in their order, by their index among all.
func (r *Runs[A]) At(row int64) A {
	if r.next == 0 || row%mostChunk == 0 {
		r.Close()
		r.run = r.New()
	}
	r.next = row + 1
	return r.run
}

// Close ends the run under way, for Nodes and Total.
func (r *Runs[A]) Close() {
	if r.next > 0 {
		r.Push((r.next-1)/mostChunk, 0, r.run)
	}
	r.next = 0
}
