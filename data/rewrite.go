package data

import (
	"context"
	"errors"
	"fmt"
	"io"
)

// A Rewriter copies a table that Load has read, with values in the place of missing cells. A text file comes out as it is to the byte, but
// for these cells: its quotes, blanks, numbers, line ends and the order of its columns stay. Other files, and text that is to become
// another format, are written cell by cell.
//
//	r, err := data.NewRewriter(ctx, w, "csv", src, "")
//	defer r.Abort()
//	err = r.Next(1)
//	for ... {
//		n, err := r.Fill(row, cells) // rows in rising order; those that are left out stay as they are
//	}
//	err = r.Close()
//
// It holds a chunk of the file, whatever the number of rows and of copies. It is used by one goroutine at a time.
type Rewriter struct {
	l   *loader
	to  copier
	n   int   // copies that were begun
	row int64 // the last that was filled, in this copy
	err error // the first; it stays
}

// A NewCell is what stands in the place of a missing cell.
type NewCell struct {
	Column int     // feature, from 0
	Value  float64 // as a Block would hold it: of a category the index of its level
}

// copier is how the cells of a format are copied.
type copier interface {
	// next begins a copy of all rows, when the copy before has ended. lead is what its rows begin with.
	next(lead int64) error
	// fill copies the rows before row i, from 0, and then this with other cells. It returns how many of these were missing in the file.
	fill(i int64, cells []NewCell) (int, error)
	// end copies the rows that are left.
	end() error
	// close writes what is held back.
	close() error
	// release lets go of what a copy that was not ended holds.
	release()
}

// NewRewriter returns a writer of copies of the file that src reads, which must come from Load with Options.Stream and with all of its rows,
// in one of the formats of Create; of a text file csv and tsv are its own form, whatever separates its cells; several files are written cell by cell. With a name for it, a
// column of the numbers given to Next comes first.
func NewRewriter(ctx context.Context, w io.Writer, format string, src Source, lead string) (*Rewriter, error) {
	if err := CheckContext(ctx); err != nil {
		return nil, err
	}
	s, ok := src.(*stream)
	if !ok || s.l.info.Part != "" || s.drop {
		return nil, &ArgumentError{"src", "is no source of all rows that Load made with Stream; only the file of such a one can be copied"}
	}
	r := &Rewriter{l: s.l}
	if f := s.l.file.text; f != nil && s.l.file.parts == nil && (format == "csv" || format == "tsv") {
		r.to = newTextCopy(ctx, w, s.l, lead)
		return r, nil
	}
	to, err := newCellCopy(ctx, w, format, s.l, lead)
	if err != nil {
		return nil, err
	}
	r.to = to
	return r, nil
}

// Next ends the copy before, if there is one, and begins another below it. A header is written once. number is what the leading column
// holds, where there is one.
func (r *Rewriter) Next(number int64) error {
	return r.keep(func() error {
		if r.n > 0 {
			if err := r.to.end(); err != nil {
				return err
			}
		}
		r.n++
		r.row = 0
		return r.to.next(number)
	})
}

// Fill writes the rows that come before a row, as they are, and then this one with values in the place of missing cells. row is its number
// in the file, from 1, and higher than that of the call before; the cells are in the order of the features or any other. A cell that is not
// missing in the file, as a level that the model does not know, stays as it is. It returns how many cells were filled.
func (r *Rewriter) Fill(row int64, cells []NewCell) (filled int, err error) {
	err = r.keep(func() error {
		switch {
		case r.n == 0:
			return &ArgumentError{"row", "comes before a copy was begun; call Next first"}
		case row <= r.row || row > r.l.n:
			return &ArgumentError{"row", fmt.Sprintf("is %d, after row %d of %d; rows must come in rising order", row, r.row, r.l.n)}
		}
		for _, c := range cells {
			if c.Column < 0 || c.Column >= len(r.l.features) {
				return &ArgumentError{"cells", fmt.Sprintf("have column %d, but there are %d features", c.Column, len(r.l.features))}
			}
			if names := r.l.levelsOf(c.Column); c.Value-c.Value != 0 || names != nil && !(c.Value >= 0 && c.Value < float64(len(names))) {
				return &ArgumentError{"cells", fmt.Sprintf("have %v in column %d, which cannot be", c.Value, c.Column)}
			}
		}
		r.row = row
		filled, err = r.to.fill(row-1, cells)
		return err
	})
	return filled, err
}

// Close ends the last copy and writes what is held back, unless there was an error. It closes neither the writer nor the source.
func (r *Rewriter) Close() error {
	defer r.to.release()
	err := r.keep(func() error {
		if r.n > 0 {
			if err := r.to.end(); err != nil {
				return err
			}
		}
		return r.to.close()
	})
	if err == nil {
		r.err = errRewritten
	}
	return err
}

// Abort leaves a copy where it is. After Close it does nothing.
func (r *Rewriter) Abort() {
	r.to.release()
	if r.err == nil {
		r.err = errRewritten
	}
}

// errRewritten is what calls meet after Close or Abort.
var errRewritten = errors.New("the copy was closed")

// keep does something unless there was an error before. That the file was changed is the cause of what else is wrong with it.
func (r *Rewriter) keep(do func() error) error {
	if r.err == nil {
		if err := do(); err != nil {
			r.err = r.l.file.after(err)
		}
	}
	return r.err
}

// levelsOf returns the names of the levels of a feature; nil where it is no category.
func (l *loader) levelsOf(feature int) []string {
	if l.info.Levels == nil {
		return nil
	}
	return l.info.Levels[feature]
}

// appendValue appends a new value of a feature as the file would have it: a level by its name, a number with its decimal mark.
func (l *loader) appendValue(b []byte, feature int, v float64) []byte {
	if names := l.levelsOf(feature); names != nil {
		return append(b, names[int(v)]...)
	}
	if l.isDate(l.features[feature]) {
		return append(b, FormatDate(v)...)
	}
	from := len(b)
	b = appendFloat(b, v, 64)
	if mark := l.decimal(); mark != '.' {
		for i := from; i < len(b); i++ {
			if b[i] == '.' {
				b[i] = mark
			}
		}
	}
	return b
}
