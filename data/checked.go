package data

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"sync"
)

// ArgumentError is an argument that no call can use, such as a nil context.
type ArgumentError struct {
	Name, Reason string
}

// Error names the argument and says what is wrong with it.
func (e *ArgumentError) Error() string { return e.Name + " " + e.Reason }

// SourceError is a promise of Source, Reader or Block that a source does not keep.
type SourceError struct {
	Row    int64 // rows that were read before, in the pass that shows it
	Reason string
}

// Error says what is wrong, and after how many rows.
func (e *SourceError) Error() string {
	if e.Row == 0 {
		return "the source " + e.Reason
	}
	return fmt.Sprintf("the source %s, after %s", e.Reason, counted(e.Row, "row"))
}

// CheckContext returns an *ArgumentError for a nil context.
func CheckContext(ctx context.Context) error {
	if ctx == nil {
		return &ArgumentError{"ctx", "is nil; context.Background() never ends"}
	}
	return nil
}

// Checked returns src with every block held to what Source, Reader and Block promise. A block whose slices do not have the
// lengths they should, another type of numbers than before, more or fewer rows than announced or than the pass before had,
// and a reader that goes on without rows and without an error are a *SourceError of Read. Blocks with fewer rows than asked
// for are filled up, and First is counted. A *Table is returned as it is, and checked at once, since all of it is in memory; so is
// a Remote, of which every part is one. A nil source is an *ArgumentError.
func Checked(src Source) (Source, error) {
	if src == nil || reflect.ValueOf(src).Kind() == reflect.Pointer && reflect.ValueOf(src).IsNil() {
		return nil, &ArgumentError{"src", "is nil; it must be a source of rows, such as data.FromRows makes"}
	}
	switch s := src.(type) {
	case *checked:
		return s, nil
	case *Table:
		return s, s.check()
	case Remote: // its parts are tables
		return s, nil
	}
	rows, cols := src.Shape()
	if rows < -1 || cols < 0 {
		return nil, &SourceError{Reason: fmt.Sprintf("announces %d rows of %d columns", rows, cols)}
	}
	return &checked{Source: src, d: cols, rows: rows}, nil
}

// checked is a source whose blocks are looked at.
type checked struct {
	Source
	d int

	mu     sync.Mutex
	rows   int64        // -1 where they are not known yet
	number reflect.Kind // of the cells: Float64 or Float32, Invalid before the first
}

func (s *checked) Open(ctx context.Context) (Reader, error) {
	if err := CheckContext(ctx); err != nil {
		return nil, err
	}
	r, err := s.Source.Open(ctx)
	if err == nil && r == nil {
		err = &SourceError{Reason: "opens a pass without a reader and without an error"}
	}
	if err != nil {
		return nil, err
	}
	return &checkedReader{ctx: ctx, s: s, r: r}, nil
}

// checkedReader is one pass over a checked source.
type checkedReader struct {
	ctx  context.Context
	s    *checked
	r    Reader
	read int64 // rows so far
	over bool  // the reader below has said io.EOF
	more Block // what fills up a short block
}

// emptyReads is how many times in a row a reader may return no rows without an error.
const emptyReads = 100

func (r *checkedReader) Read(b *Block, n int) error {
	first := r.read
	if err := r.next(b, n); err != nil {
		return err
	}
	for own := false; b.N < n && !r.over; {
		if err := r.next(&r.more, n-b.N); err == io.EOF {
			break
		} else if err != nil {
			return err
		}
		if !own {
			own = true
			*b = b.clone(n)
		}
		b.append(&r.more)
	}
	b.First = first
	return nil
}

func (r *checkedReader) Close() error { return r.r.Close() }

// next reads the next rows, at most n.
func (r *checkedReader) next(b *Block, n int) error {
	if r.over {
		*b = Block{}
		return io.EOF
	}
	for range emptyReads {
		if err := r.ctx.Err(); err != nil {
			return err
		}
		b.N = 0 // of the read before: a reader that forgets to set it has read nothing
		err := r.r.Read(b, n)
		if err == io.EOF {
			r.over, *b = true, Block{}
			return r.ended()
		}
		if err != nil {
			return err
		}
		if b.N == 0 {
			continue
		}
		if err := r.fits(b, n); err != nil {
			return err
		}
		r.read += int64(b.N)
		return nil
	}
	return r.broken("returned no rows %d times in a row, and neither an error nor io.EOF", emptyReads)
}

func (r *checkedReader) broken(format string, a ...any) error {
	return &SourceError{Row: r.read, Reason: fmt.Sprintf(format, a...)}
}

// ended takes the end of the pass.
func (r *checkedReader) ended() error {
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.rows >= 0 && r.read != r.s.rows {
		return r.broken("ended, but it has %d rows by what it announces or by a pass before", r.s.rows)
	}
	r.s.rows = r.read
	return io.EOF
}

// fits checks a block of which n rows were asked for.
func (r *checkedReader) fits(b *Block, n int) error {
	switch {
	case b.N < 0 || b.N > n:
		return r.broken("returned %d rows where %d were asked for", b.N, n)
	case b.D != r.s.d:
		return r.broken("returned a block of %d columns, but it has %d", b.D, r.s.d)
	}
	if err := b.check(); err != nil {
		return r.broken("returned a block of %d rows and %d columns with %s", b.N, b.D, err)
	}
	number := reflect.Float64
	if b.F64 == nil {
		number = reflect.Float32
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	switch {
	case b.D > 0 && r.s.number != reflect.Invalid && number != r.s.number:
		return r.broken("returned %ss where it returned %ss before", number, r.s.number)
	case r.s.rows >= 0 && r.read+int64(b.N) > r.s.rows:
		return r.broken("has more rows than the %d that it announces or that a pass before had", r.s.rows)
	}
	r.s.number = number
	return nil
}

// check returns what is wrong with the lengths of the block's slices.
func (b *Block) check() error {
	cells := b.N * b.D
	switch {
	case b.F64 != nil && b.F32 != nil:
		return fmt.Errorf("both float64 and float32 cells")
	case b.F64 != nil && len(b.F64) != cells || b.F64 == nil && len(b.F32) != cells:
		return fmt.Errorf("%d cells", len(b.F64)+len(b.F32))
	}
	for _, s := range []struct {
		what string
		n    int
		none bool
	}{{"weights", len(b.W), b.W == nil}, {"row numbers", len(b.Row), b.Row == nil}, {"ids", len(b.ID), b.ID == nil}, {"values of the truth column", len(b.Truth), b.Truth == nil}, {"slopes", len(b.Slope), b.Slope == nil},
		{"numbers of sequences", len(b.Sequence), b.Sequence == nil}} {
		if !s.none && s.n != b.N {
			return fmt.Errorf("%d %s", s.n, s.what)
		}
	}
	return nil
}

// clone returns a copy of the block in memory of its own, with room for n rows.
func (b *Block) clone(n int) Block {
	return Block{
		N: b.N, D: b.D, First: b.First, F64: grown(b.F64, n*b.D), F32: grown(b.F32, n*b.D), W: grown(b.W, n), Sequence: grown(b.Sequence, n),
		Row: grown(b.Row, n), ID: grown(b.ID, n), Truth: grown(b.Truth, n), Slope: grown(b.Slope, n), Cells: grown(b.Cells, n),
	}
}

// grown returns a copy of s with room for n values; nil of nil.
func grown[T any](s []T, n int) []T {
	if s == nil {
		return nil
	}
	return append(make([]T, 0, max(n, len(s))), s...)
}

// append adds the rows of o. What only one of the two has is filled in: weights of 1, row numbers in order.
func (b *Block) append(o *Block) {
	if b.W != nil || o.W != nil {
		b.W = filled(b.W, b.N, b.Weight, o.W, o.N, o.Weight)
	}
	if b.Row != nil || o.Row != nil {
		b.Row = filled(b.Row, b.N, b.Number, o.Row, o.N, o.Number)
	}
	b.F64, b.F32 = append(b.F64, o.F64...), append(b.F32, o.F32...)
	b.ID, b.Truth, b.Slope, b.Cells = append(b.ID, o.ID...), append(b.Truth, o.Truth...), append(b.Slope, o.Slope...), append(b.Cells, o.Cells...)
	b.Sequence = append(b.Sequence, o.Sequence...)
	b.N += o.N
}

// filled returns the n values a and the m values o after each other; where one is nil its values are what at gives.
func filled[T any](a []T, n int, atA func(int) T, o []T, m int, atO func(int) T) []T {
	for i := len(a); i < n; i++ {
		a = append(a, atA(i))
	}
	for i := range m {
		if o != nil {
			a = append(a, o[i])
		} else {
			a = append(a, atO(i))
		}
	}
	return a
}
