package data

import (
	"context"
	"sync"
)

// cells is what every file format gives: a rectangle of named columns that can be read more than once.
// Which columns are wanted, what a missing cell means and which rows are kept is decided above it, once for all
// formats.
type cells interface {
	// names returns the column names; "1" to "d" where the file has none.
	names() []string
	// rows returns the number of data rows.
	rows() int64
	// read makes one pass and calls yield with batches of consecutive rows. want says, for every column of the
	// file, what to do with its cells. Unless ordered is set, yield may be called by several goroutines at once and
	// batches may come in any order; with it they come in row order from one goroutine at a time. The batch's
	// memory is reused after yield returns. The first error of yield ends the pass and is returned.
	read(ctx context.Context, want []want, ordered bool, threads int, yield func(*batch) error) error
	Close() error
}

// pieced is what formats offer whose rows stand in pieces that can be read apart: the same ones for any number of threads.
type pieced interface {
	// pieces returns how many there are, in the order of the rows.
	pieces() int
	// reader returns what reads them, for one goroutine.
	reader(wants []want) pieceReader
}

// pieceReader reads pieces of one file. The batch lives until the next call.
type pieceReader interface{ piece(i int) (*batch, error) }

// readPieces is the read of cells for formats with pieces. Where order matters, every worker holds one piece while it waits, so
// that look-ahead is bounded by their number.
func readPieces(ctx context.Context, f pieced, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	readers := sync.Pool{New: func() any { return f.reader(wants) }}
	return inTurns(f.pieces(), threads, ordered, func(i int, turn func(func() error) error) error {
		r := readers.Get().(pieceReader)
		defer readers.Put(r)
		var b *batch
		err := ctx.Err()
		if err == nil {
			b, err = r.piece(i)
		}
		return turn(func() error {
			if err != nil {
				return err
			}
			return yield(b)
		})
	})
}

// want says what a pass does with the cells of one column.
type want uint8

const (
	skip   want = 0      // not looked at (the number of fields in a line is still checked)
	count  want = 1 << 0 // looked at for its kind only: number, missing, text
	number want = 1 << 1 // parsed into batch.F64
	text   want = 1 << 2 // kept as it stands in batch.Text (both number and text may be wanted of one column: number|text)
)

// batch is a run of consecutive rows from one pass.
type batch struct {
	First int64     // index of the first row, from 0
	N     int       // rows
	Line  []int64   // the file line on which each row starts, from 1; nil for formats without lines
	F64   []float64 // N x (columns with number), row-major in file order; NaN where the cell is missing or bad
	Value []float64 // the same before categories became numbers, for statistics; nil where there is no difference
	Text  []string  // N x (columns with text), row-major in file order
	Bad   []badCell // the cells of looked-at columns that are not finite numbers, or that ask for a word, in row order
}

// badCell is a cell that is not a finite number, or one of which something must be said.
type badCell struct {
	Row    int64 // index of the row, from 0
	Line   int64 // its line in the file, from 1; 0 for formats without lines
	Column int   // index among all columns of the file
	Kind   cellKind
	Value  string // as it stands in the file, cut to 60 bytes
}

// cellKind is what a badCell is.
type cellKind uint8

const (
	missingCell  cellKind = iota // empty, NA, N/A, NaN, null or ?, in any case
	infiniteCell                 // inf, 1e999: a number without a finite float64
	textCell                     // anything else

	// The last two are finite numbers, with a value in batch.F64.

	roundedCell // beyond 2^53, and float64 does not hold its last digits
	groupedCell // with points between thousands, in a file of decimal commas
)
