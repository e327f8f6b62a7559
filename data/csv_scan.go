package data

import (
	"bytes"
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
)

// parser turns one span of text after another into batches. It belongs to one worker.
type parser struct {
	f       *csvFile
	want    []want
	numbers int       // columns with number
	texts   int       // columns with text
	run     []int     // of each column, how many that want number alone begin with it; 0 where blanks are the delimiter
	stop    [256]bool // bytes that end the quick walk over an unquoted cell
	strict  bool      // blanks between cells are the delimiter
	plain   byte      // the decimal mark of cells without quotes; 0 for none, where it is the delimiter too

	buf   []byte // the span, then a line end and room for word loads
	arena []byte // texts of the batch; they become one string
	ends  []textRange
	bad   []textRange // values of batch.Bad, in the same order
	cell  []byte      // room for a quoted cell without its doubled quotes
	batch batch
}

// maybeNA marks a column of numbers some of which say that there is no value, so that each is looked at twice.
const maybeNA want = 1 << 7

// textRange is a piece of parser.arena.
type textRange struct{ from, to int }

// tail follows the text of a span in memory: a line end that stops every scan, and room for word loads.
var tail = [16]byte{'\n'}

func newParser(f *csvFile, wants []want) *parser {
	p := &parser{f: f, want: wants, run: make([]int, len(wants)+1), strict: f.delim == ' ', plain: f.decimal}
	if f.decimal == f.delim {
		p.plain = 0
	}
	if f.na.spellsNumber() {
		p.want = slices.Clone(wants)
	}
	for j, w := range wants {
		if w&number != 0 {
			p.numbers++
		}
		if w == number && f.na.spellsNumber() {
			p.want[j] |= maybeNA
		}
		if w&text != 0 {
			p.texts++
		}
	}
	for j := len(wants) - 1; j >= 0 && !p.strict; j-- {
		if p.want[j] == number {
			p.run[j] = p.run[j+1] + 1
		}
	}
	p.stop[f.delim], p.stop['\n'], p.stop['"'] = true, true, true
	if p.strict {
		p.stop['\t'] = true
	}
	return p
}

// maxSpan is the largest span that is parsed: the lines of a chunk and one of the greatest length.
const maxSpan = maxLine + chunkSize

// parse reads and parses a span. The batch it returns lives until the next call.
func (p *parser) parse(s span) (*batch, error) {
	n := int(min(s.end-s.off, maxSpan))
	if cap(p.buf) < n+len(tail) {
		p.buf = make([]byte, n+len(tail), n+n/16+len(tail))
	}
	p.buf = p.buf[:n+len(tail)]
	if err := readFull(p.f.r, p.buf[:n], s.off, p.f.name); err != nil {
		return nil, err
	}
	copy(p.buf[n:], tail[:])
	rows := int(s.rows)
	b := &p.batch
	b.First, b.N = s.row, rows
	b.F64 = resized(b.F64, rows*p.numbers)
	b.Line = resized(b.Line, rows)
	b.Bad, p.bad, p.ends, p.arena = b.Bad[:0], p.bad[:0], p.ends[:0], p.arena[:0]
	if err := p.rows(n, s); err != nil {
		return nil, err
	}
	if int64(n) < s.end-s.off {
		return nil, lineError(p.f.name, s.line, "this line, or one that follows it closely, is longer than %d MB: is a quote never closed?", maxLine>>20)
	}
	p.setTexts()
	return b, nil
}

// setTexts turns the gathered bytes into strings: one allocation a batch, shared by all its cells.
func (p *parser) setTexts() {
	b := &p.batch
	all := string(p.arena)
	b.Text = resized(b.Text, len(p.ends))
	for i, r := range p.ends {
		b.Text[i] = all[r.from:r.to]
	}
	for i, r := range p.bad {
		b.Bad[i].Value = all[r.from:r.to]
	}
}

// rows parses n bytes of p.buf.
func (p *parser) rows(n int, s span) error {
	buf, line, out := p.buf, s.line, 0
	for r, i := 0, 0; ; r++ {
		for i < n && (buf[i] == '\n' || buf[i] == '\r' && buf[i+1] == '\n') {
			if buf[i] == '\n' {
				line++
			}
			i++
		}
		if i >= n {
			if r != p.batch.N {
				return lineError(p.f.name, line, "a quote in the wrong place hides line ends")
			}
			return nil
		}
		if r >= p.batch.N {
			return lineError(p.f.name, line, "a quote in the wrong place hides line ends")
		}
		p.batch.Line[r] = line
		var err error
		if i, line, err = p.row(i, line, s.row+int64(r), out); err != nil {
			return err
		}
		out += p.numbers
	}
}

// row parses the row at p.buf[i], which starts on the given line, and stores its numbers from batch.F64[out]. It
// returns where the next row starts, and its line.
func (p *parser) row(i int, line, row int64, out int) (next int, nextLine int64, err error) {
	buf, delim, dec, d := p.buf, p.f.delim, p.plain, len(p.want)
	first := line
	if p.strict {
		i = skipBlanks(buf, i)
	}
	odd := false // the kernel left the cell in hand
	for j := 0; ; j++ {
		if j == d {
			return 0, 0, p.widthError(i, first, j)
		}
		w, done := p.want[j], false
		if n := p.run[j]; n > 0 && !odd {
			read, end := kern.Decimals(p.batch.F64[out:out+n], buf, i, delim, dec)
			if odd = read < n; read > 0 {
				i, j, out, done = end, j+read-1, out+read, true
			}
		}
		if !done && w == number {
			odd = false
			var end int
			if end, done = p.plainNumber(i, line, row, j, out); done {
				i, out = end, out+1
			}
		}
		if !done {
			if i, line, err = p.anyCell(i, line, row, j, &out); err != nil {
				return 0, 0, err
			}
		}
		if p.strict {
			i = skipBlanks(buf, i)
		}
		switch c := buf[i]; {
		case c == delim && !p.strict:
			i++
			continue
		case c == '\r' && buf[i+1] == '\n':
			i++
			fallthrough
		case c == '\n':
			if j+1 != d {
				return 0, 0, p.widthError(i, first, j+1)
			}
			return i + 1, line + 1, nil
		}
	}
}

// plainNumber stores a number without quotes or blanks around it in batch.F64[out]; done is false for any other cell.
func (p *parser) plainNumber(i int, line, row int64, j, out int) (end int, done bool) {
	v, end, ok := kern.Decimal(p.buf, i, p.plain)
	if !ok || !p.atEnd(end) {
		return 0, false
	}
	if math.Abs(v) >= exactBelow && roundsDigits(p.buf[i:end], p.plain, v) {
		p.note(row, line, j, roundedCell, p.buf[i:end])
	}
	p.batch.F64[out] = v
	return end, true
}

// atEnd reports whether a cell can end before p.buf[i].
func (p *parser) atEnd(i int) bool {
	c := p.buf[i]
	return c == p.f.delim || c == '\n' || c == '\r' && p.buf[i+1] == '\n' || p.strict && c == '\t'
}

// anyCell parses what is not a plain number in its simplest form, or is wanted as something else.
func (p *parser) anyCell(i int, line, row int64, j int, out *int) (next int, nextLine int64, err error) {
	if p.want[j] == number|maybeNA {
		v, end, ok := kern.Decimal(p.buf, i, p.plain)
		if ok && p.atEnd(end) && math.Abs(v) < exactBelow && !p.f.na.has(p.buf[i:end]) {
			p.batch.F64[*out] = v
			*out++
			return end, line, nil
		}
	}
	cell, quoted, next, nextLine, err := p.content(i, line, j)
	w := p.want[j]
	if err != nil || w == skip {
		return next, nextLine, err
	}
	if w&text != 0 {
		p.ends = append(p.ends, p.keep(cell, len(cell)))
	}
	if w&(number|count) == 0 {
		return next, nextLine, nil
	}
	plain := cell
	if quoted {
		plain = bytes.Trim(cell, " \t\r\n")
	}
	v, kind, special := p.judge(plain)
	if w&number != 0 {
		p.batch.F64[*out] = v
		*out++
	}
	if special {
		p.note(row, line, j, kind, cell)
	}
	return next, nextLine, nil
}

// judge says what a trimmed cell is. It is special if it is not a finite number, or if something must be said of it.
func (p *parser) judge(cell []byte) (v float64, kind cellKind, special bool) {
	v, kind, finite := classify(cell, p.f.decimal, p.f.na)
	if finite {
		return v, roundedCell, math.Abs(v) >= exactBelow && roundsDigits(cell, p.f.decimal, v)
	}
	if kind == textCell && p.f.decimal == ',' {
		if g, rounded, ok := parseGrouped(cell); ok {
			if rounded {
				return g, roundedCell, true
			}
			return g, groupedCell, true
		}
	}
	return v, kind, true
}

// note lists a cell in batch.Bad.
func (p *parser) note(row, line int64, j int, kind cellKind, cell []byte) {
	p.batch.Bad = append(p.batch.Bad, badCell{Row: row, Line: line, Column: j, Kind: kind})
	p.bad = append(p.bad, p.keep(cell, 60))
}

// keep copies at most limit bytes of a cell to the arena, whole characters only.
func (p *parser) keep(cell []byte, limit int) textRange {
	if len(cell) > limit {
		for limit > 0 && cell[limit]&0xC0 == 0x80 {
			limit--
		}
		cell = cell[:limit]
	}
	from := len(p.arena)
	p.arena = append(p.arena, cell...)
	return textRange{from, len(p.arena)}
}

// content finds the cell at p.buf[i]: trimmed where it is not quoted, as it stands between the quotes where it is.
// next is at the delimiter or line end after it.
func (p *parser) content(i int, line int64, j int) (cell []byte, quoted bool, next int, nextLine int64, err error) {
	buf, start := p.buf, i
	for p.isBlank(buf[i]) {
		i++
	}
	if buf[i] == '"' {
		cell, next, nextLine, err = p.quotedCell(i, line, j)
		return cell, true, next, nextLine, err
	}
	for !p.stop[buf[i]] {
		i++
	}
	if buf[i] == '"' {
		return nil, false, 0, 0, p.cellError(line, j, `a quote inside an unquoted cell; put the whole cell in quotes and double the quotes inside`)
	}
	end := i
	if buf[i] == '\n' && end > start && buf[end-1] == '\r' {
		end--
		i--
	}
	for start < end && isSpace(buf[start]) {
		start++
	}
	for end > start && isSpace(buf[end-1]) {
		end--
	}
	return buf[start:end], false, i, line, nil
}

// quotedCell reads the cell whose opening quote is p.buf[i].
func (p *parser) quotedCell(i int, line int64, j int) (cell []byte, next int, nextLine int64, err error) {
	buf, n := p.buf, len(p.buf)-len(tail)
	opened := line
	start := i + 1
	p.cell = p.cell[:0]
	doubled := false
	for i = start; ; {
		q := bytes.IndexByte(buf[i:n], '"')
		if q < 0 {
			return nil, 0, 0, p.cellError(opened, j, "the quote that opens this cell is never closed")
		}
		line += int64(bytes.Count(buf[i:i+q], []byte{'\n'}))
		i += q + 1
		if buf[i] != '"' || i >= n {
			break
		}
		p.cell = append(p.cell, buf[start:i]...)
		i++
		start, doubled = i, true
	}
	cell = buf[start : i-1]
	if doubled {
		p.cell = append(p.cell, cell...)
		cell = p.cell
	}
	for p.isBlank(buf[i]) {
		i++
	}
	if !p.atEnd(i) {
		return nil, 0, 0, p.cellError(line, j, `text after the quote that closes a cell; write a quote inside a quoted cell twice`)
	}
	return cell, i, line, nil
}

// isBlank reports whether c is white space beside a cell, rather than the delimiter.
func (p *parser) isBlank(c byte) bool { return isSpace(c) && c != p.f.delim && !p.strict }

func isSpace(c byte) bool { return c == ' ' || c == '\t' }

func skipBlanks(buf []byte, i int) int {
	for isSpace(buf[i]) {
		i++
	}
	return i
}

// cellError is an error at a cell.
func (p *parser) cellError(line int64, j int, msg string) error {
	return &Error{File: p.f.name, Line: line, Column: cleanName(p.f.columns[j]), Msg: msg}
}

// widthError says that a row has another number of fields than the first line. The row has have fields before i,
// and more if p.buf[i] is not after its end.
func (p *parser) widthError(i int, line int64, have int) error {
	d := len(p.want)
	if have == d { // count the rest, for the message
		for more := true; more; {
			have++
			var err error
			if p.strict {
				i = skipBlanks(p.buf, i)
			}
			if _, _, i, _, err = p.content(i, line, d-1); err != nil {
				return err
			}
			if p.strict {
				i = skipBlanks(p.buf, i)
			}
			more = !(p.buf[i] == '\n' || p.buf[i] == '\r' && p.buf[i+1] == '\n')
			if more && !p.strict {
				i++
			}
		}
	}
	what := "header"
	if !p.f.header {
		what = "first row"
	}
	return lineError(p.f.name, line, "%s, but the %s has %d", counted(int64(have), "field"), what, d)
}

// resized returns a slice of n values, reusing s where it is large enough.
func resized[T any](s []T, n int) []T {
	if cap(s) < n {
		return make([]T, n, n+n/8)
	}
	return s[:n]
}
