package data

import (
	"bytes"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// dialect is how a text file is written.
type dialect struct {
	delim   byte // ' ' stands for any run of spaces and tabs
	decimal byte
	header  bool // the first line holds names
	guessed bool // header was decided by looking
	notes   []string
}

// head is the beginning of a text file.
type head struct {
	name  string
	text  []byte // from the first line that is not empty
	start int64  // its offset in the file
	line  int64  // its line, from 1
	size  int64  // of the file
	whole bool   // text reaches the end of the file
}

const (
	headSize = 256 << 10
	headRows = 200
	maxLine  = 1 << 28 // no line is longer: a quote that is never closed must not bring the whole file into memory
)

// readHead reads enough of the text to decide on its dialect: two whole lines at least.
func readHead(r io.ReaderAt, size int64, name string) (*head, error) {
	for n := int64(headSize); ; n *= 4 {
		buf := make([]byte, min(n, size))
		if err := readFull(r, buf, 0, name); err != nil {
			return nil, err
		}
		if err := refuseBinary(buf, name); err != nil {
			return nil, err
		}
		h := &head{name: name, line: 1, size: size, whole: n >= size}
		h.text = bytes.TrimPrefix(buf, []byte("\xEF\xBB\xBF"))
		for len(h.text) > 0 && blankLine(h.text, h.whole) {
			i := bytes.IndexByte(h.text, '\n')
			h.text, h.line = h.text[max(i, 0)+1:], h.line+1
		}
		h.start = int64(len(buf) - len(h.text))
		if h.whole && len(h.text) == 0 {
			return nil, fileError(name, "the file is empty")
		}
		if h.whole || wholeLines(h.text) >= 2 {
			if i := bytes.IndexByte(h.text, '\r'); i >= 0 && i+1 < len(h.text) && bytes.IndexByte(h.text, '\n') < 0 {
				return nil, fileError(name, "its lines end in CR alone; save it with LF or CRLF line ends")
			}
			return h, nil
		}
		if n >= maxLine {
			return nil, lineError(name, h.line, "the first two lines are longer than %d MB: is a quote never closed?", maxLine>>20)
		}
	}
}

// refuseBinary names what cannot be read as a table of text.
func refuseBinary(buf []byte, name string) error {
	has := func(mark string) bool { return bytes.HasPrefix(buf, []byte(mark)) }
	nul := bytes.IndexByte(buf, 0)
	if what := foreign(buf); what != "" {
		return fileError(name, "%s", what)
	}
	switch {
	case has("\xFF\xFE") || has("\xFE\xFF") || nul >= 0 && utf16Pattern(buf):
		return fileError(name, "UTF-16 text; save it as UTF-8")
	case nul >= 0:
		return fileError(name, "byte %d is NUL: this is not a text file; give --format if it is of another kind", nul+1)
	}
	return nil
}

// utf16Pattern reports whether every other byte is NUL in most places, as in ASCII text written as UTF-16.
func utf16Pattern(buf []byte) bool {
	buf = buf[:min(len(buf), 4096)&^1]
	var nul [2]int
	for i, c := range buf {
		if c == 0 {
			nul[i&1]++
		}
	}
	most, least := max(nul[0], nul[1]), min(nul[0], nul[1])
	return len(buf) > 0 && most*4 >= len(buf) && least*20 <= len(buf)
}

// wholeLines counts line ends outside quotes, as far as 2.
func wholeLines(text []byte) int {
	n, in := 0, false
	for _, c := range text {
		switch {
		case c == '"':
			in = !in
		case c == '\n' && !in:
			if n++; n == 2 {
				return n
			}
		}
	}
	return n
}

// detect decides on what the options leave open.
func detect(h *head, o Options) (dialect, error) {
	var d dialect
	var err error
	na := newNA(&o)
	if d.delim, err = parseDelimiter(o.Delimiter); err != nil {
		return d, err
	}
	if d.decimal, err = parseDecimalMark(o.Decimal); err != nil {
		return d, err
	}
	if d.delim == 0 && o.Format == "tsv" {
		d.delim = '\t'
	}
	if err := refuseWide(h, d.delim, o.MaxMemory); err != nil {
		return d, err
	}
	if d.delim == 0 {
		d.delim = guessDelimiter(h, d.decimal)
	}
	rows := splitHead(h, d.delim)
	if d.decimal == d.delim && !hasCommas(rows) { // in quotes, a comma may be both
		return d, fileError("", "the delimiter and the decimal mark are both %q", d.delim)
	}
	if d.decimal == 0 {
		if d.decimal, d.notes, err = guessDecimal(h.name, rows, d.delim, na); err != nil {
			return d, err
		}
	}
	switch o.Header {
	case "yes":
		d.header = true
	case "no":
	case "", "auto":
		d.guessed = true
		d.header = guessHeader(rows, d.decimal, o.Exact, na)
		if !d.header && looksLikeNames(rows, d.decimal) {
			d.notes = append(d.notes, "the first line holds numbers only and was read as data; --header yes takes it as names")
		}
	default:
		return d, fileError("", "header %q is not one of auto, yes, no", o.Header)
	}
	return d, nil
}

// refuseWide refuses text whose first line has more columns than memory can hold, before it is cut into cells. Signs inside
// quotes are none, and of the signs that may stand between cells the one that is there most often counts.
func refuseWide(h *head, delim byte, most int64) error {
	if most <= 0 || int64(len(h.text)) < most/columnCost {
		return nil // not one sign for each column
	}
	var signs [256]int64
	quoted := false
	for _, c := range h.text {
		if c == '"' {
			quoted = !quoted
		}
		if c == '\n' && !quoted {
			break
		}
		if !quoted {
			signs[c]++
		}
	}
	widest := signs[delim]
	if delim == 0 {
		widest = max(signs[','], signs[';'], signs['\t'], signs['|'])
	}
	if n := widest + 1; n > most/columnCost {
		return &MemoryError{File: h.name, What: counted(n, "column"), Need: n * columnCost, Max: most, Stream: true}
	}
	return nil
}

// parseDelimiter reads the option; 0 means undecided.
func parseDelimiter(s string) (byte, error) {
	switch strings.ToLower(s) {
	case "", "auto":
		return 0, nil
	case "tab", `\t`:
		return '\t', nil
	case "space":
		return ' ', nil
	case "comma":
		return ',', nil
	case "semicolon":
		return ';', nil
	case "pipe":
		return '|', nil
	}
	if len(s) != 1 || strings.ContainsAny(s, "\"\r\n\x00+-.0123456789") || s[0] >= utf8.RuneSelf || s[0]|0x20 >= 'a' && s[0]|0x20 <= 'z' {
		return 0, fileError("", "delimiter %q is not one of comma, semicolon, tab, pipe, space or another single sign", s)
	}
	return s[0], nil
}

// parseDecimalMark reads the option; 0 means undecided.
func parseDecimalMark(s string) (byte, error) {
	switch strings.ToLower(s) {
	case "", "auto":
		return 0, nil
	case ".", "point":
		return '.', nil
	case ",", "comma":
		return ',', nil
	}
	return 0, fileError("", "decimal mark %q is neither . nor ,", s)
}

// splitHead cuts the first rows into cells. It forgives everything: errors are for the real pass.
func splitHead(h *head, delim byte) [][]string {
	var rows [][]string
	var row []string
	b := h.text
	for i := 0; i < len(b) && len(rows) < headRows; {
		if len(row) == 0 && (b[i] == '\n' || b[i] == '\r' && i+1 < len(b) && b[i+1] == '\n') {
			i++
			continue
		}
		cell, end := looseCell(b, i, delim)
		row = append(row, cell)
		i = end
		if delim == ' ' {
			for i < len(b) && isSpace(b[i]) {
				i++
			}
		}
		switch {
		case i >= len(b):
			if h.whole {
				rows = append(rows, row)
			}
			return rows
		case b[i] == '\n':
			rows, row = append(rows, row), nil
			i++
		case delim != ' ':
			i++
			if i == len(b) && h.whole { // an empty last cell
				return append(rows, append(row, ""))
			}
		}
	}
	return rows
}

// looseCell returns the cell at b[i], without white space and quotes around it, and the index of what ends it.
func looseCell(b []byte, i int, delim byte) (cell string, end int) {
	for i < len(b) && isSpace(b[i]) && b[i] != delim || delim == ' ' && i < len(b) && isSpace(b[i]) {
		i++
	}
	start := i
	if i < len(b) && b[i] == '"' {
		for i++; i < len(b); i++ {
			if b[i] != '"' {
				continue
			}
			if i+1 < len(b) && b[i+1] == '"' {
				i++
				continue
			}
			break
		}
	}
	for i < len(b) && b[i] != delim && b[i] != '\n' && !(delim == ' ' && b[i] == '\t') {
		i++
	}
	cell = strings.Trim(string(b[start:i]), " \t\r")
	if len(cell) >= 2 && cell[0] == '"' && cell[len(cell)-1] == '"' {
		cell = strings.TrimSpace(strings.ReplaceAll(cell[1:len(cell)-1], `""`, `"`))
	}
	return cell, i
}

// guessDelimiter takes the sign that cuts most rows into the same number of cells, two at least, and gives the most
// numbers. Text without any is a single column, which a comma reads as well as anything.
func guessDelimiter(h *head, decimal byte) byte {
	best, bestScore, tabs := byte(','), 0.0, false
	if decimal == ',' {
		best = ';' // a single column of decimal commas
	}
	for _, delim := range []byte{',', ';', '\t', '|', ' '} {
		rows := splitHead(h, delim)
		if delim == decimal && !hasCommas(rows) {
			continue
		}
		same, numbers := consistency(rows, delim, decimal)
		tabs = tabs || delim == '\t' && same == 1
		if delim == ' ' && (tabs || numbers < 0.3) { // spaces inside the cells of tabbed text, or plain words
			continue
		}
		if score := same * same * (0.5 + 0.5*numbers); score > bestScore {
			best, bestScore = delim, score
		}
	}
	return best
}

// consistency returns the share of rows that have the commonest number of cells, 0 where that is one cell, and the
// share of cells that are numbers.
func consistency(rows [][]string, delim, decimal byte) (same, numbers float64) {
	widths := map[int]int{}
	cells, numeric := 0, 0
	for _, r := range rows {
		widths[len(r)]++
		cells += len(r)
		for _, c := range r {
			if isNumber(c, '.') && decimal != ',' || (delim != ',' || decimal == ',') && decimal != '.' && isNumber(c, ',') {
				numeric++
			}
		}
	}
	width, most := 0, 0
	for w, n := range widths {
		if n > most || n == most && w > width {
			width, most = w, n
		}
	}
	if width < 2 {
		return 0, 0
	}
	return float64(most) / float64(len(rows)), float64(numeric) / float64(cells)
}

// isNumber reports whether a cell is a number under a decimal mark. Beside decimal commas, points may stand between
// thousands.
func isNumber(cell string, dec byte) bool {
	if dec == ',' {
		if _, ok := groupedForm([]byte(cell), '.', ','); ok {
			return true
		}
	}
	return plainDecimal([]byte(cell), dec)
}

// guessHeader says whether the first row holds names.
//
// A text over a column of numbers is a name, and so is a first row of nothing but texts, unless one of them appears
// again below it. A row with numbers and texts over columns of the same kinds (5.1,setosa) is data, unless its
// numbers look like names (country,2019,2020) and its texts do not appear again.
func guessHeader(rows [][]string, dec byte, exact []string, na *naTexts) bool {
	if len(rows) == 0 {
		return false
	}
	first := rows[0]
	if containsAll(first, exact) && !isCount(exact) {
		return true
	}
	texts, numbers, again := 0, 0, false
	for j, c := range first {
		switch cellIsText(c, dec, na) {
		case false:
			if isNumber(c, dec) && !na.has([]byte(c)) {
				numbers++
			}
		case true:
			texts++
			number, repeated := below(rows[1:], j, c, dec, na)
			if number {
				return true
			}
			again = again || repeated
		}
	}
	switch {
	case texts == 0 || again:
		return false
	case numbers == 0:
		return true
	}
	return evenSteps(first, dec)
}

// below looks at the cells of column j under the first row: are most of the filled ones numbers, and is one the
// same as the first row's?
func below(rows [][]string, j int, first string, dec byte, na *naTexts) (number, again bool) {
	numbers, texts := 0, 0
	for _, r := range rows {
		if j >= len(r) {
			continue
		}
		switch {
		case na.has([]byte(r[j])):
		case isNumber(r[j], dec):
			numbers++
		case cellIsText(r[j], dec, na):
			texts++
			again = again || r[j] == first
		}
	}
	return numbers > texts, again
}

// looksLikeNames reports whether a first row of numbers could as well be names, as years are.
func looksLikeNames(rows [][]string, dec byte) bool {
	if len(rows) < 2 {
		return false
	}
	for _, c := range rows[0] {
		if !isNumber(c, dec) {
			return false
		}
	}
	return evenSteps(rows[0], dec)
}

// evenSteps reports whether the numbers of a row are integers that rise by equal steps, as years and codes do: three
// of them at least, or two that could be years.
func evenSteps(row []string, dec byte) bool {
	n, last, step, years := 0, 0, 0, true
	for _, c := range row {
		if !isNumber(c, dec) {
			continue
		}
		v, err := strconv.Atoi(c)
		if err != nil || n == 1 && v <= last || n > 1 && v-last != step {
			return false
		}
		n, last, step, years = n+1, v, v-last, years && 1500 <= v && v <= 2200
	}
	return n >= 3 || n == 2 && years
}

func cellIsText(c string, dec byte, na *naTexts) bool {
	b := []byte(c)
	return !na.has(b) && !isNumber(c, dec) && !isInfinity(b)
}

// containsAll reports whether every name is a cell of the row, apart from what nobody sees; false for no names.
func containsAll(row, names []string) bool {
	have := make(map[string]bool, len(row))
	for _, c := range row {
		have[cleanName(c)] = true
	}
	for _, n := range names {
		if !have[cleanName(n)] {
			return false
		}
	}
	return len(names) > 0
}

// isCount reports whether the names are 1, 2, 3 ...: those of a file without a header.
func isCount(names []string) bool {
	for i, n := range names {
		if n != strconv.Itoa(i+1) {
			return false
		}
	}
	return true
}

// numbered returns the names of d columns without a header.
func numbered(d int) []string {
	names := make([]string, d)
	for i := range names {
		names[i] = strconv.Itoa(i + 1)
	}
	return names
}
