package data

import (
	"context"
	"io"
	"strings"
	"sync"
)

// stream is a Source that reads the file again in every pass.
type stream struct {
	l     *loader
	plan  *plan
	from  []int // features -> columns of batch.F64
	carry bool  // hand out every cell as text too
	drop  bool
	n     int64
	close sync.Once
}

// stream makes the Source; it knows its number of rows.
func (l *loader) stream(ctx context.Context) (Source, error) {
	s := l.newStream(l.o.Carry)
	cols := l.features
	if l.weight >= 0 {
		cols = append(cols[:len(cols):len(cols)], l.weight)
	}
	for _, c := range cols {
		s.drop = s.drop || l.stats[c].missing > 0 && !l.keepsGaps()
	}
	if s.drop {
		gone, err := l.incomplete(ctx, cols)
		if err != nil {
			return nil, err
		}
		s.n -= gone
	}
	l.noteRows(s.n)
	if err := l.checkKept(s.n); err != nil {
		return nil, err
	}
	if l.o.Chain {
		if err := l.checkStream(ctx); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// newStream returns a source of all rows, with their cells as text if carry is set.
func (l *loader) newStream(carry bool) *stream {
	wants := make([]want, len(l.cols.names))
	for _, c := range l.features {
		wants[c] |= number
	}
	if l.weight >= 0 {
		wants[l.weight] |= number
	}
	for c := range wants {
		if carry || c == l.id || c == l.truth || c == l.sequence {
			wants[c] |= text
		}
	}
	s := &stream{l: l, plan: newPlan(wants), carry: carry, n: l.n}
	for _, c := range l.features {
		s.from = append(s.from, s.plan.number[c])
	}
	return s
}

// Shape returns the number of rows that are kept and of columns.
func (s *stream) Shape() (rows int64, cols int) { return s.n, len(s.from) }

// Close closes the file. No pass may be open.
func (s *stream) Close() error {
	var err error
	s.close.Do(func() { err = s.l.file.Close() })
	return err
}

// lookAhead is how many parsed batches may wait for the reader of a stream.
const lookAhead = 2

// Open starts a pass: workers parse ahead of the reader, by a few batches.
func (s *stream) Open(ctx context.Context) (Reader, error) {
	ctx, cancel := context.WithCancel(ctx)
	r := &streamReader{s: s, ctx: ctx, cancel: cancel, ready: make(chan *Block, lookAhead), free: make(chan *Block, lookAhead+2)}
	r.workers.Go(func() {
		defer close(r.ready)
		var count sequenceCount
		r.err = s.l.cells.read(ctx, s.plan.wants, true, s.l.threads, func(b *batch) error {
			var p *Block
			select {
			case p = <-r.free:
			default:
				p = new(Block)
			}
			s.convert(p, b, &count)
			select {
			case r.ready <- p:
				return nil
			case <-ctx.Done():
				return ctx.Err()
			}
		})
		r.err = s.l.file.after(r.err)
	})
	return r, nil
}

// sequenceCount numbers the sequences of the rows that come one after the other.
type sequenceCount struct {
	name   string
	number int32
	begun  bool
}

// of returns the number of the sequence of the next row.
func (c *sequenceCount) of(name string) int32 {
	if c.begun && name != c.name {
		c.number++
	}
	if !c.begun || name != c.name {
		c.name, c.begun = strings.Clone(name), true
	}
	return c.number
}

// convert sets p to the complete rows of a batch.
func (s *stream) convert(p *Block, b *batch, count *sequenceCount) {
	l, pl, d := s.l, s.plan, len(s.from)
	*p = Block{D: d, F64: p.F64[:0], F32: p.F32[:0], W: p.W[:0], Row: p.Row[:0], ID: p.ID[:0], Truth: p.Truth[:0], Cells: p.Cells[:0], Sequence: p.Sequence[:0]}
	for i := range b.N {
		row := b.F64[i*pl.numbers : (i+1)*pl.numbers]
		if s.drop && hasNaN(row) {
			continue
		}
		for _, c := range s.from {
			if l.o.Float32 {
				p.F32 = append(p.F32, float32(row[c]))
			} else {
				p.F64 = append(p.F64, row[c])
			}
		}
		p.Row = append(p.Row, l.rowOf(b.First+int64(i))+1)
		if l.weight >= 0 {
			p.W = append(p.W, row[pl.number[l.weight]])
		}
		if l.id >= 0 {
			p.ID = append(p.ID, b.Text[i*pl.texts+pl.text[l.id]])
		}
		if l.truth >= 0 {
			p.Truth = append(p.Truth, l.known(b.Text[i*pl.texts+pl.text[l.truth]]))
		}
		if l.o.Chain {
			name := ""
			if l.sequence >= 0 {
				name = strings.Trim(b.Text[i*pl.texts+pl.text[l.sequence]], " \t\r\n")
			}
			p.Sequence = append(p.Sequence, count.of(name))
		}
		if s.carry {
			p.Cells = append(p.Cells, b.Text[i*pl.texts:(i+1)*pl.texts]...)
		}
		p.N++
	}
	if l.o.Chain {
		l.blank(p.F64, p.F32, d)
	}
}

func hasNaN[T float32 | float64](row []T) bool {
	for _, v := range row {
		if v != v {
			return true
		}
	}
	return false
}

// streamReader is a pass over a stream.
type streamReader struct {
	s       *stream
	ctx     context.Context
	cancel  context.CancelFunc
	workers sync.WaitGroup
	ready   chan *Block
	free    chan *Block
	err     error // of the workers; set before ready is closed
	now     *Block
	at      int
	next    int64
}

// Read implements Reader.
func (r *streamReader) Read(b *Block, n int) error {
	if err := r.ctx.Err(); err != nil { // even if the rows parsed ahead would last to the end
		*b = Block{}
		return err
	}
	*b = Block{D: len(r.s.from), First: r.next, F64: b.F64[:0], F32: b.F32[:0], W: b.W[:0], Row: b.Row[:0], ID: b.ID[:0], Truth: b.Truth[:0], Cells: b.Cells[:0], Sequence: b.Sequence[:0]}
	for b.N < n {
		if r.now == nil || r.at == r.now.N {
			if !r.turn() {
				break
			}
			continue
		}
		k := min(n-b.N, r.now.N-r.at)
		p, lo, hi, d := r.now, r.at, r.at+k, b.D
		b.F64, b.F32 = append(b.F64, rows(p.F64, lo, hi, width(p.F64, d))...), append(b.F32, rows(p.F32, lo, hi, width(p.F32, d))...)
		b.W, b.Row = append(b.W, rows(p.W, lo, hi, width(p.W, 1))...), append(b.Row, rows(p.Row, lo, hi, 1)...)
		b.ID, b.Truth = append(b.ID, rows(p.ID, lo, hi, width(p.ID, 1))...), append(b.Truth, rows(p.Truth, lo, hi, width(p.Truth, 1))...)
		b.Cells = append(b.Cells, rows(p.Cells, lo, hi, width(p.Cells, r.s.plan.texts))...)
		b.Sequence = append(b.Sequence, rows(p.Sequence, lo, hi, width(p.Sequence, 1))...)
		b.N, r.at = b.N+k, hi
	}
	r.next += int64(b.N)
	r.trim(b)
	if b.N < n && r.err != nil {
		return r.err
	}
	if b.N == 0 && n > 0 {
		return io.EOF
	}
	return nil
}

// width is 0 for a column that is not there, so that rows cuts nothing out of it.
func width[T any](s []T, d int) int {
	if len(s) == 0 {
		return 0
	}
	return d
}

// trim sets the parts that this source does not have to nil, as the contract wants.
func (r *streamReader) trim(b *Block) {
	l := r.s.l
	if l.o.Float32 {
		b.F64 = nil
	} else {
		b.F32 = nil
	}
	if l.weight < 0 {
		b.W = nil
	}
	if l.id < 0 {
		b.ID = nil
	}
	if l.truth < 0 {
		b.Truth = nil
	}
	if !l.o.Chain {
		b.Sequence = nil
	}
	if !r.s.carry {
		b.Cells = nil
	}
}

// turn takes the next parsed batch; false at the end.
func (r *streamReader) turn() bool {
	if r.now != nil {
		select {
		case r.free <- r.now:
		default:
		}
		r.now = nil
	}
	p, ok := <-r.ready
	if !ok {
		return false
	}
	r.now, r.at = p, 0
	return true
}

// Close ends the pass and waits for its workers.
func (r *streamReader) Close() error {
	r.cancel()
	r.workers.Wait()
	return nil
}
