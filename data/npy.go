package data

import (
	"encoding/binary"
	"io"
	"strconv"
)

// openNPY reads an array that numpy.save wrote: format versions 1 to 3, one or two dimensions of plain numbers.
// The form is that of NumPy Enhancement Proposal 1. Cells are read anew in every pass, and never mapped: a mapped file
// that another program cuts short would end this one with a bus error, and one that it writes to would change the rows
// of a fit that is under way.
func openNPY(r io.ReaderAt, size int64, name string) (cells, error) {
	f, n, d, err := parseNPY(r, size, name)
	if err != nil {
		return nil, err
	}
	if err := f.sized(n, d, size); err != nil {
		return nil, err
	}
	return f, nil
}

// parseNPY reads the header: n rows of d cells.
func parseNPY(r io.ReaderAt, size int64, name string) (f *arrayFile, n, d uint64, err error) {
	head, start, err := npyHeaderText(r, size, name)
	if err != nil {
		return nil, 0, 0, err
	}
	h, err := parseNPYHeader(head)
	if err != nil {
		return nil, 0, 0, fileError(name, "the NPY header is damaged: %v", err)
	}
	f = &arrayFile{name: name, r: r, start: start}
	if err := f.setType(h.descr); err != nil {
		return nil, 0, 0, err
	}
	switch d = 1; len(h.shape) {
	case 1:
		n = h.shape[0]
	case 2:
		n, d = h.shape[0], h.shape[1]
	default:
		return nil, 0, 0, fileError(name, "holds an array of %d dimensions; rows and columns need 2 (or 1, for a single column): reshape it", len(h.shape))
	}
	f.byCol = h.fortran && n > 1 && d > 1 // else both orders are the same bytes
	return f, n, d, nil
}

// maxNPYHeader is the longest text of a header that is read. NumPy writes 64 bytes, of plain types some hundred at most.
const maxNPYHeader = 1 << 20

// npyHeaderText returns the text of the header and the offset of the first cell.
func npyHeaderText(r io.ReaderAt, size int64, name string) (text []byte, cells int64, err error) {
	b := make([]byte, min(12, size))
	if err := readFull(r, b, 0, name); err != nil {
		return nil, 0, err
	}
	if len(b) < 10 || string(b[:6]) != "\x93NUMPY" {
		return nil, 0, fileError(name, "not an NPY file: it does not start with \\x93NUMPY")
	}
	start, length := int64(10), int64(binary.LittleEndian.Uint16(b[8:]))
	switch b[6] {
	case 1:
	case 2, 3:
		if len(b) < 12 {
			return nil, 0, fileError(name, "the file ends in the NPY header: it is cut short")
		}
		start, length = 12, int64(binary.LittleEndian.Uint32(b[8:]))
	default:
		return nil, 0, fileError(name, "NPY version %d is not known; save it with numpy.save", b[6])
	}
	if length > size-start {
		return nil, 0, fileError(name, "the file ends in the NPY header: it is cut short")
	}
	if length > maxNPYHeader {
		return nil, 0, fileError(name, "the NPY header says it has %s bytes; save the array with numpy.save", thousands(length))
	}
	text = make([]byte, length)
	return text, start + length, readFull(r, text, start, name)
}

// npyTypes are the cell types by the letter and size that NumPy writes.
var npyTypes = map[string]scalar{
	"f8": float64Cell, "f4": float32Cell,
	"i1": int8Cell, "i2": int16Cell, "i4": int32Cell, "i8": int64Cell,
	"u1": uint8Cell, "u2": uint16Cell, "u4": uint32Cell, "u8": uint64Cell,
	"b1": boolCell,
}

// setType takes NumPy's code for a cell type, such as "<f8".
func (a *arrayFile) setType(descr string) error {
	refuse := func(what string) error {
		return fileError(a.name, "holds %s; save it as plain numbers, for example x.astype(\"float64\")", what)
	}
	if descr == "" {
		return refuse("a structured array, with names and types of its own for every column")
	}
	order, code := descr[0], descr[1:]
	cell, ok := npyTypes[code]
	if ok && (order == '<' || order == '>' || order == '|' && cell.size() == 1) {
		a.cell, a.big = cell, order == '>' && cell.size() > 1
		return nil
	}
	if code == "" {
		code = "?"
	}
	switch code[0] {
	case 'O':
		return refuse("Python objects")
	case 'c':
		return refuse("complex numbers")
	case 'S', 'U', 'a':
		return refuse("text")
	case 'M', 'm':
		return refuse("dates or times")
	case 'f':
		return refuse("floats of type " + strconv.Quote(descr))
	}
	return refuse("cells of type " + strconv.Quote(descr))
}
