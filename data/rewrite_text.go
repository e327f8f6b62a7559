package data

import (
	"bufio"
	"bytes"
	"context"
	"io"
	"strconv"
)

// textCopy copies delimited text byte by byte, but for the cells that are filled. It walks over the spans of whole rows that are known from
// reading, one in memory at a time; spans in which nothing changes are not looked at.
type textCopy struct {
	ctx   context.Context
	l     *loader
	f     *csvFile
	p     *parser // its buffer holds the span, and it finds the cells
	w     *bufio.Writer
	name  string // of the leading column; "" for none
	lead  []byte // what each row begins with: its number and a delimiter; nil for nothing
	begun bool   // the header is written
	last  byte   // the last byte that was written

	span int   // the next one
	off  int64 // where the text goes on after the buffer
	n, i int   // bytes in the buffer, and how many are written
	row  int64 // the next row, from 0
	rows int64 // how many of the buffer are not written

	cells []*NewCell // of the row that is filled, by column of the file
	text  []byte
	chunk []byte // what is copied without a look
}

func newTextCopy(ctx context.Context, w io.Writer, l *loader, lead string) *textCopy {
	f := l.file.text
	return &textCopy{ctx: ctx, l: l, f: f, p: newParser(f, make([]want, len(f.columns))), w: bufio.NewWriterSize(w, flushAt), name: lead, cells: make([]*NewCell, len(f.columns))}
}

// write writes a piece.
func (c *textCopy) write(b []byte) error {
	if len(b) == 0 {
		return nil
	}
	c.last = b[len(b)-1]
	_, err := c.w.Write(b)
	return err
}

// raw copies the text between two offsets.
func (c *textCopy) raw(from, to int64) error {
	for from < to {
		if err := c.ctx.Err(); err != nil {
			return err
		}
		c.chunk = resized(c.chunk, int(min(to-from, chunkSize)))
		if err := readFull(c.f.r, c.chunk, from, c.f.name); err != nil {
			return err
		}
		if err := c.write(c.chunk); err != nil {
			return err
		}
		from += int64(len(c.chunk))
	}
	return nil
}

func (c *textCopy) next(number int64) error {
	first := c.f.size
	if len(c.f.spans) > 0 {
		first = c.f.spans[0].off
	}
	if !c.begun {
		c.begun = true
		if err := c.head(first); err != nil {
			return err
		}
	} else if c.f.n > 0 && c.last != '\n' {
		end, err := c.lineEnd()
		if err == nil {
			err = c.write(end)
		}
		if err != nil {
			return err
		}
	}
	if c.name != "" {
		c.lead = append(strconv.AppendInt(c.lead[:0], number, 10), c.f.delim)
	}
	c.span, c.off, c.n, c.i, c.row, c.rows = 0, first, 0, 0, 0, 0
	return nil
}

// head writes what stands before the first row, at an offset: marks and empty lines, and the header.
func (c *textCopy) head(first int64) error {
	if err := c.raw(0, c.f.start); err != nil {
		return err
	}
	if c.name != "" && c.f.header {
		if err := c.write(append(appendCell(nil, c.name, c.f.delim, false), c.f.delim)); err != nil {
			return err
		}
	}
	return c.raw(c.f.start, first)
}

// lineEnd returns how the first line ends: what stands between the last row of a copy and the first of the next where the file ends
// without one.
func (c *textCopy) lineEnd() ([]byte, error) {
	if c.last == '\r' {
		return []byte("\n"), nil
	}
	b := make([]byte, min(c.f.size-c.f.start, headSize))
	if err := readFull(c.f.r, b, c.f.start, c.f.name); err != nil {
		return nil, err
	}
	quoted := false
	for i, v := range b {
		switch {
		case v == '"':
			quoted = !quoted
		case v == '\n' && !quoted && i > 0 && b[i-1] == '\r':
			return []byte("\r\n"), nil
		case v == '\n' && !quoted:
			return []byte("\n"), nil
		}
	}
	return []byte("\n"), nil
}

// load reads the next span.
func (c *textCopy) load() error {
	if err := c.ctx.Err(); err != nil {
		return err
	}
	s := c.f.spans[c.span]
	if err := c.raw(c.off, s.off); err != nil {
		return err
	}
	n := int(s.end - s.off)
	c.p.buf = resized(c.p.buf, n+len(tail))
	if err := readFull(c.f.r, c.p.buf[:n], s.off, c.f.name); err != nil {
		return err
	}
	copy(c.p.buf[n:], tail[:])
	c.span, c.off, c.n, c.i, c.row, c.rows = c.span+1, s.end, n, 0, s.row, s.rows
	return nil
}

// changed is the error where the text is not what it was when it was read.
func (c *textCopy) changed() error {
	return fileError(c.f.name, "the file was changed while it was read")
}

// blanks returns where the row begins that follows in the buffer, after empty lines.
func (c *textCopy) blanks() (int, error) {
	i, buf := c.i, c.p.buf
	for i < c.n && (buf[i] == '\n' || buf[i] == '\r' && buf[i+1] == '\n') {
		i++
	}
	if i >= c.n {
		return 0, c.changed()
	}
	return i, nil
}

// rowEnd returns the end of the row that begins at p.buf[i]: after its line end, which is outside quotes.
func (c *textCopy) rowEnd(i int) int {
	buf, quotes := c.p.buf, 0
	for {
		n := bytes.IndexByte(buf[i:], '\n') // there is one at least, in the tail
		quotes += bytes.Count(buf[i:i+n], []byte{'"'})
		if i += n + 1; quotes%2 == 0 || i > c.n {
			return min(i, c.n)
		}
	}
}

// rowsTo writes the rows of the buffer before row i.
func (c *textCopy) rowsTo(i int64) error {
	from := c.i
	for ; c.row < i; c.row, c.rows = c.row+1, c.rows-1 {
		start, err := c.blanks()
		if err != nil {
			return err
		}
		if c.lead != nil {
			if err := c.write(c.p.buf[from:start]); err != nil {
				return err
			}
			if err := c.write(c.lead); err != nil {
				return err
			}
			from = start
		}
		c.i = c.rowEnd(start)
	}
	return c.write(c.p.buf[from:c.i])
}

// finish writes what is left of the buffer.
func (c *textCopy) finish() error {
	if c.lead != nil {
		if err := c.rowsTo(c.row + c.rows); err != nil {
			return err
		}
	}
	err := c.write(c.p.buf[c.i:c.n])
	c.row, c.rows, c.i = c.row+c.rows, 0, c.n
	return err
}

func (c *textCopy) fill(i int64, cells []NewCell) (int, error) {
	for i >= c.row+c.rows {
		if err := c.finish(); err != nil {
			return 0, err
		}
		if c.span == len(c.f.spans) {
			return 0, c.changed()
		}
		if s := c.f.spans[c.span]; c.lead == nil && i >= s.row+s.rows {
			if err := c.raw(c.off, s.end); err != nil {
				return 0, err
			}
			c.span, c.off, c.n, c.i, c.row = c.span+1, s.end, 0, 0, s.row+s.rows
			continue
		}
		if err := c.load(); err != nil {
			return 0, err
		}
	}
	if err := c.rowsTo(i); err != nil {
		return 0, err
	}
	return c.rewrite(cells)
}

// rewrite writes the next row with other cells, and returns how many were missing.
func (c *textCopy) rewrite(cells []NewCell) (filled int, err error) {
	start, err := c.blanks()
	if err != nil {
		return 0, err
	}
	end, p := c.rowEnd(start), c.p
	if err := c.write(p.buf[c.i:start]); err != nil {
		return 0, err
	}
	if err := c.write(c.lead); err != nil {
		return 0, err
	}
	left := 0
	for k := range cells {
		j := c.l.features[cells[k].Column]
		if c.cells[j] == nil {
			left++
		}
		c.cells[j] = &cells[k]
	}
	defer clear(c.cells)
	c.text = c.text[:0]
	from, at := start, start
	for j := 0; left > 0; j++ {
		if p.strict {
			at = skipBlanks(p.buf, at)
		}
		if j == len(c.cells) || at > end {
			return 0, c.changed()
		}
		cell, quoted, next, _, err := p.content(at, 0, j)
		if err != nil {
			return 0, err
		}
		if n := c.cells[j]; n != nil {
			left--
			if c.l.na.has(bytes.Trim(cell, " \t\r\n")) {
				lo, hi := c.bounds(at, next, len(cell), quoted)
				c.text = c.appendCell(append(c.text, p.buf[from:lo]...), n)
				from = hi
				filled++
			}
		}
		if at = next; !p.strict {
			at++
		}
	}
	c.text = append(c.text, p.buf[from:end]...)
	c.i, c.row, c.rows = end, c.row+1, c.rows-1
	return filled, c.write(c.text)
}

// appendCell appends a new cell, in quotes where it must be: a level that needs them, or a number with a decimal mark that separates cells too.
func (c *textCopy) appendCell(b []byte, n *NewCell) []byte {
	if names := c.l.levelsOf(n.Column); names != nil {
		return appendCell(b, names[int(n.Value)], c.f.delim, len(c.cells) == 1)
	}
	from := len(b)
	b = c.l.appendValue(b, n.Column, n.Value)
	if bytes.IndexByte(b[from:], c.f.delim) < 0 {
		return b
	}
	return appendCell(b[:from], string(b[from:]), c.f.delim, false)
}

// bounds returns where the content of a cell between two places of the buffer begins and ends: without the blanks around it, with its
// quotes. n is the length of the content where it is not quoted.
func (c *textCopy) bounds(at, next, n int, quoted bool) (lo, hi int) {
	buf := c.p.buf
	for lo = at; lo < next && isSpace(buf[lo]); lo++ {
	}
	if !quoted {
		return lo, lo + n
	}
	for hi = next; isSpace(buf[hi-1]); hi-- {
	}
	return lo, hi
}

func (c *textCopy) end() error {
	if err := c.finish(); err != nil {
		return err
	}
	for c.lead != nil && c.span < len(c.f.spans) {
		if err := c.load(); err != nil {
			return err
		}
		if err := c.finish(); err != nil {
			return err
		}
	}
	err := c.raw(c.off, c.f.size)
	c.span, c.off = len(c.f.spans), c.f.size
	return err
}

func (c *textCopy) close() error { return c.w.Flush() }

func (c *textCopy) release() {}
