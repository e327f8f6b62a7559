package data

import "bytes"

// enough ends the reading of what comes only once where Options.Limit wants no more of it: text after the last row that is
// wanted and one more, since the first line may hold names; arrays after the last row that is wanted. Parquet files, which
// say at their end what they hold, and arrays in Fortran order are read whole.
type enough struct {
	name string
	o    Options
	s    *spool

	format  string // text, array, or whole for what is read whole; "" as long as it is not known
	text    rowCounter
	claimed int64 // bytes that an array says it has; 0 as long as its header is not whole
	wanted  int64 // of them
	more    bool  // reading of text ended before its end was seen
}

// look implements the question of spool.fill.
func (e *enough) look(b []byte) (int, error) {
	if e.o.Limit <= 0 || e.format == "whole" {
		return -1, nil
	}
	if e.format == "" {
		if e.s.size+int64(len(b)) < 16 { // too few to tell by, but lines of text count
			if start := append(e.first(1), b...); start[0] < ' ' && start[0] != '\n' || start[0] == 0x93 {
				return -1, nil
			}
			return e.lines(b), nil
		}
		if err := e.tell(b); err != nil {
			return 0, err
		}
	}
	switch e.format {
	case "text":
		return e.lines(b), nil
	case "array":
		return e.cells(b), nil
	}
	return -1, nil
}

// tell finds out the format from the first 16 bytes, of which b has the last.
func (e *enough) tell(b []byte) error {
	start := append(e.first(16), b...)
	format, err := formatOf(start[:16], e.name, e.o)
	if err != nil {
		return err
	}
	switch format {
	case "npy", "idx":
		e.format = "array"
	case "parquet":
		e.format = "whole"
	default:
		e.format = "text"
	}
	return nil
}

// first returns at most n of the first bytes that are kept.
func (e *enough) first(n int64) []byte {
	b := make([]byte, min(n, e.s.size))
	e.s.ReadAt(b, 0)
	return b
}

// lines returns how much of b is wanted; -1 for all of it and more.
func (e *enough) lines(b []byte) int {
	n := e.text.until(b, e.o.Limit+1)
	e.more = e.more || n >= 0
	return n
}

// cells is lines for arrays. Their headers are short: what is kept is read anew until the header is whole.
func (e *enough) cells(b []byte) int {
	if e.claimed == 0 {
		head := append(e.first(maxNPYHeader), b...)
		a, n, d, err := parseArray(bytes.NewReader(head), int64(len(head)), e.name)
		switch {
		case err != nil && len(head) <= maxNPYHeader:
			return -1 // the rest of it may be to come
		case err == nil:
			e.claimed, err = a.end(n, d)
		}
		if err != nil || a.byCol || n <= uint64(e.o.Limit) {
			e.claimed, e.format = 0, "whole" // where it is wrong, its reader will say so
			return -1
		}
		e.wanted = a.start + e.o.Limit*int64(d)*int64(a.cell.size())
	}
	if n := e.wanted - e.s.size; n <= int64(len(b)) {
		return int(max(0, n))
	}
	return -1
}

// rowCounter counts the rows of text as its readers do: a row ends with a line end outside quotes, and empty lines are none.
type rowCounter struct {
	rows   int64
	quoted bool
	filled bool // the line has a byte
}

// until goes on with b and returns how much of it there is up to the end of row n, -1 if b ends before.
func (c *rowCounter) until(b []byte, n int64) int {
	for i, ch := range b {
		switch {
		case ch == '"':
			c.quoted, c.filled = !c.quoted, true
		case ch == '\n' && !c.quoted:
			if c.filled {
				c.rows++
			}
			if c.filled = false; c.rows >= n {
				return i + 1
			}
		case ch != '\r':
			c.filled = true
		}
	}
	return -1
}
