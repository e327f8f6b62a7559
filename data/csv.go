package data

import (
	"context"
	"io"
)

// csvFile is delimited text: rows of cells, of which some are numbers. The text is never held in memory as a whole;
// workers read spans of it from r.
//
// The form is RFC 4180 with any one-byte delimiter: quoted cells may hold delimiters, line ends and doubled quotes;
// lines end in LF or CRLF; empty lines are skipped; white space around a cell is not part of it.
type csvFile struct {
	name string
	r    io.ReaderAt
	na   *naTexts
	dialect
	columns []string
	start   int64 // offset of the first line that is not empty
	body    int64 // offset after the header, or start without one
	size    int64
	spans   []span
	n       int64
	blank   blankLines
}

// openCSV finds out how the text is written and where its rows are.
func openCSV(ctx context.Context, r io.ReaderAt, size int64, name string, o Options) (*csvFile, error) {
	h, err := readHead(r, size, name)
	if err != nil {
		return nil, err
	}
	d, err := detect(h, o)
	if err != nil {
		return nil, err
	}
	return indexCSV(ctx, r, h, d, o)
}

// indexCSV finds the rows of text that begins with h and is written as d says.
func indexCSV(ctx context.Context, r io.ReaderAt, h *head, d dialect, o Options) (*csvFile, error) {
	f := &csvFile{name: h.name, r: r, na: newNA(&o), dialect: d, size: h.size}
	first, err := f.firstRow(h)
	if err != nil {
		return nil, err
	}
	from, line := h.start, h.line
	if f.header {
		f.columns = headerNames(first.cells)
		from, line = first.next, first.nextLine
	} else {
		f.columns = numbered(len(first.cells))
	}
	f.start, f.body = h.start, from
	index, err := indexText(ctx, r, f.name, from, f.size, line, max(1, o.Threads))
	if err != nil {
		return nil, err
	}
	f.spans, f.n = index.spans, index.rows
	for l := int64(1); l < h.line; l++ { // before the first line of all
		f.blank.add(l)
	}
	for _, l := range index.blank.at {
		f.blank.add(l)
	}
	f.blank.n += index.blank.n - int64(len(index.blank.at))
	return f, nil
}

// firstRow parses the first line with the decided dialect; its errors are the user's.
func (f *csvFile) firstRow(h *head) (firstRow, error) {
	p := newParser(f, nil)
	p.buf = append(append(p.buf, h.text...), tail[:]...)
	f.columns = []string{""}
	var row firstRow
	i, line := 0, h.line
	for {
		if p.strict {
			i = skipBlanks(p.buf, i)
		}
		cell, quoted, next, nextLine, err := p.content(i, line, 0)
		if err != nil {
			return row, err
		}
		row.cells = append(row.cells, string(cell))
		row.quoted = append(row.quoted, quoted)
		i, line = next, nextLine
		if p.strict {
			i = skipBlanks(p.buf, i)
		}
		if p.buf[i] == '\r' && p.buf[i+1] == '\n' {
			i++
		}
		if p.buf[i] == '\n' {
			row.next, row.nextLine = min(h.start+int64(i)+1, h.size), line+1
			return row, nil
		}
		if !p.strict {
			i++
		}
	}
}

// firstRow is the first line of the text, parsed.
type firstRow struct {
	cells    []string
	quoted   []bool
	next     int64 // offset of the next line
	nextLine int64
}

// headerNames makes column names of the first line. Text in another encoding than UTF-8 is taken for Latin-1, so
// that names can always be printed and stored.
func headerNames(cells []string) []string {
	names := make([]string, len(cells))
	for i, c := range cells {
		names[i] = validText(c)
	}
	return names
}

func (f *csvFile) names() []string { return f.columns }
func (f *csvFile) rows() int64     { return f.n }

// Close does nothing: whoever opened the text closes it.
func (f *csvFile) Close() error { return nil }

// read implements cells.
func (f *csvFile) read(ctx context.Context, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	return readPieces(ctx, f, wants, ordered, threads, yield)
}

// pieces implements pieced: they are the spans.
func (f *csvFile) pieces() int { return len(f.spans) }

func (f *csvFile) reader(wants []want) pieceReader { return newParser(f, wants) }

// piece implements pieceReader.
func (p *parser) piece(i int) (*batch, error) { return p.parse(p.f.spans[i]) }

// cut keeps only the spans with the first n rows, and perhaps a few more in the last of them.
func (f *csvFile) cut(n int64) {
	for i, s := range f.spans {
		if s.row >= n {
			f.spans = f.spans[:i]
			return
		}
	}
}
