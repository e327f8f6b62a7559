// Package data brings rows to the engine: what a run of rows is, where rows come from, and the readers of every
// file format.
//
// Rows are observations and columns are variables. All matrices are row-major: cell (i, j) of an N x D matrix is
// at index i*D+j. A cell is a finite number, or NaN where its value is missing: readers hand out NaN only where
// Options.Missing is model, and refuse infinite numbers always. What takes no gaps refuses them.
package data

import (
	"context"
	"fmt"
	"io"
	"math"
)

// A Block is a run of consecutive rows of a Source. A cell that is NaN has no value.
//
// Exactly one of F64 and F32 is set (both are nil only when N is 0 or D is 0). The slices belong to whoever filled
// the block: a reader may hand out views of its own memory, so callers only read them, and only until the next Read.
type Block struct {
	N, D int
	F64  []float64 // N x D
	F32  []float32 // N x D
	W    []float64 // N row weights, finite and >= 0; nil means all 1

	// Sequence is the number of each row's sequence among those of the source, from 0 and 1 more where a new one begins: rows of one sequence
	// follow each other in their order in time. nil where rows are no sequences.
	Sequence []int32

	First int64     // index of the first row among the rows of the source, from 0
	Row   []int64   // number of each row in the file, from 1, before any was dropped; nil means First+i+1
	ID    []string  // what the id column holds; nil without one
	Truth []string  // what the truth column holds, "" for a missing cell; nil without one
	Slope []float64 // N: what changes of scale add to the log density of each row (Changes.LogSlope); nil where there were none
	Cells []string  // N x (columns of the file): every cell as it stands; nil unless Options.Carry asked for it
}

// At returns cell (i, j).
func (b *Block) At(i, j int) float64 {
	if b.F64 != nil {
		return b.F64[i*b.D+j]
	}
	return float64(b.F32[i*b.D+j])
}

// Empty reports whether row i has no cell: all are NaN.
func (b *Block) Empty(i int) bool {
	for j := range b.D {
		if v := b.At(i, j); v == v {
			return false
		}
	}
	return true
}

// Weight returns the weight of row i.
func (b *Block) Weight(i int) float64 {
	if b.W == nil {
		return 1
	}
	return b.W[i]
}

// Number returns the number of row i in the file, from 1.
func (b *Block) Number(i int) int64 {
	if b.Row == nil {
		return b.First + int64(i) + 1
	}
	return b.Row[i]
}

// A Source holds rows that can be read any number of times, always in the same order. Their cells are finite, or NaN where
// a value is missing; FirstMissing looks for one.
type Source interface {
	// Shape returns the number of rows and columns; rows is -1 where it is not known before reading.
	Shape() (rows int64, cols int)
	// Open starts a pass over the rows. Several passes may be open at once.
	Open(ctx context.Context) (Reader, error)
}

// A Reader is one pass over the rows of a Source. It is used by one goroutine at a time.
type Reader interface {
	// Read fills b with the next n rows, fewer only at the end. It returns io.EOF, and b.N = 0, when none are
	// left. b is the zero Block or one that this reader has filled before, whose memory it may then use again.
	Read(b *Block, n int) error
	Close() error
}

// A Table is a matrix in memory: a Source whose rows can also be reached by number.
// Exactly one of F64 and F32 is set; NaN in it is a missing cell. The zero value is an empty table.
type Table struct {
	N, D int
	F64  []float64 // N x D
	F32  []float32 // N x D
	W    []float64 // N row weights; nil means all 1

	Sequence []int32 // N numbers of sequences, as in Block; nil where rows are no sequences

	Row   []int64  // number of each row in the file, from 1; nil means First+i+1
	ID    []string // N ids; nil without an id column
	Truth []string // N values of the truth column, "" for a missing one; nil without one
	Cells []string // N x (columns of the file), as in Block; nil unless Options.Carry asked for it

	First int64 // rows before the first, where the table is a part of a larger one; 0 of a whole one
}

// Shape returns the number of rows and columns.
func (t *Table) Shape() (rows int64, cols int) { return int64(t.N), t.D }

// Open starts a pass over the rows. Blocks are views of the table: nothing is copied. A table whose slices do not have
// the lengths they say above is an *ArgumentError.
func (t *Table) Open(context.Context) (Reader, error) {
	if err := t.check(); err != nil {
		return nil, err
	}
	return &tableReader{t: t}, nil
}

// check refuses slices of other lengths than the table says.
func (t *Table) check() error {
	if t.N < 0 || t.D < 0 || t.D > 0 && t.N > math.MaxInt/t.D {
		return &ArgumentError{"the table", fmt.Sprintf("has %d rows of %d columns", t.N, t.D)}
	}
	if t.F64 != nil && len(t.F32) > 0 {
		return &ArgumentError{"the table", "holds both float64 and float32 values; it can hold one of them"}
	}
	if len(t.F64)+len(t.F32) != t.N*t.D {
		return &ArgumentError{"the table", fmt.Sprintf("holds %d values, but %d rows of %d columns are %d", len(t.F64)+len(t.F32), t.N, t.D, t.N*t.D)}
	}
	for _, s := range []struct {
		what string
		n    int
		none bool
	}{
		{"row weights", len(t.W), t.W == nil}, {"row numbers", len(t.Row), t.Row == nil},
		{"ids", len(t.ID), t.ID == nil}, {"values of the truth column", len(t.Truth), t.Truth == nil},
		{"numbers of sequences", len(t.Sequence), t.Sequence == nil},
	} {
		if !s.none && s.n != t.N {
			return &ArgumentError{"the table", fmt.Sprintf("holds %d %s for %d rows", s.n, s.what, t.N)}
		}
	}
	if t.Cells != nil && (t.N == 0 || len(t.Cells)%t.N != 0) {
		return &ArgumentError{"the table", fmt.Sprintf("holds %d cells as they stand, which are not as many for each of %d rows", len(t.Cells), t.N)}
	}
	return t.checkSequences()
}

// checkSequences refuses numbers of sequences that neither stay nor rise by 1.
func (t *Table) checkSequences() error {
	for i, s := range t.Sequence {
		switch {
		case i == 0 && s >= 0 && (s == 0 || t.First > 0):
		case i > 0 && (s == t.Sequence[i-1] || s == t.Sequence[i-1]+1):
		case i == 0:
			return &ArgumentError{"the table", fmt.Sprintf("begins with sequence %d; sequences are numbered from 0", s)}
		default:
			return &ArgumentError{"the table", fmt.Sprintf("has sequence %d after sequence %d in row %d; rows of a sequence stand together, and sequences are numbered in order",
				s, t.Sequence[i-1], t.First+int64(i)+1)}
		}
	}
	return nil
}

// At returns cell (i, j).
func (t *Table) At(i, j int) float64 {
	if t.F64 != nil {
		return t.F64[i*t.D+j]
	}
	return float64(t.F32[i*t.D+j])
}

// Rows sets dst, len(idx) x D, to the rows numbered idx (from 0).
func (t *Table) Rows(dst []float64, idx []int64) {
	for r, i := range idx {
		for j := range t.D {
			dst[r*t.D+j] = t.At(int(i), j)
		}
	}
}

type tableReader struct {
	t    *Table
	next int
}

func (r *tableReader) Read(b *Block, n int) error {
	lo, t := r.next, r.t
	hi := min(lo+n, t.N)
	*b = Block{N: hi - lo, D: t.D, First: t.First + int64(lo)}
	if lo == hi {
		return io.EOF
	}
	r.next = hi
	b.F64, b.F32 = rows(t.F64, lo, hi, t.D), rows(t.F32, lo, hi, t.D)
	b.W, b.Sequence = rows(t.W, lo, hi, 1), rows(t.Sequence, lo, hi, 1)
	b.Row, b.ID, b.Truth = rows(t.Row, lo, hi, 1), rows(t.ID, lo, hi, 1), rows(t.Truth, lo, hi, 1)
	if t.Cells != nil {
		b.Cells = rows(t.Cells, lo, hi, len(t.Cells)/t.N)
	}
	return nil
}

func (r *tableReader) Close() error { return nil }

func rows[T any](s []T, lo, hi, d int) []T {
	if s == nil {
		return nil
	}
	return s[lo*d : hi*d : hi*d]
}
