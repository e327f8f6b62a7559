package data

import (
	"encoding/binary"
	"math"
	"os"
	"slices"
	"strconv"
	"unsafe"
)

// npyFile is an array that numpy.save wrote: format versions 1 to 3, one or two dimensions of plain numbers.
// The form is that of NumPy Enhancement Proposal 1.
type npyFile struct {
	arrayFile
	body []byte // the cells
}

// openNPY maps the file in memory; f may be closed before the cells are.
func openNPY(f *os.File, name string) (cells, error) {
	info, err := f.Stat()
	if err != nil {
		return nil, fileError(name, "%v", err)
	}
	if info.Size() > math.MaxInt {
		return nil, fileError(name, "%d bytes are more than this machine can address", info.Size())
	}
	b, release, err := mapFile(f, int(info.Size()))
	if err != nil {
		return nil, fileError(name, "%v", err)
	}
	a, err := newNPY(b, name)
	if err != nil {
		release()
		return nil, err
	}
	a.closer = release
	return a, nil
}

// npyBytes reads an array that is in memory; b must not change until the cells are closed.
func npyBytes(b []byte, name string) (cells, error) {
	a, err := newNPY(b, name)
	if err != nil {
		return nil, err
	}
	return a, nil
}

func newNPY(b []byte, name string) (*npyFile, error) {
	head, body, err := splitNPY(b, name)
	if err != nil {
		return nil, err
	}
	h, err := parseNPYHeader(head)
	if err != nil {
		return nil, fileError(name, "the NPY header is damaged: %v", err)
	}
	a := &npyFile{arrayFile: arrayFile{name: name, inPlay: true}, body: body}
	if err := a.setType(h.descr); err != nil {
		return nil, err
	}
	n, d := uint64(0), uint64(1)
	switch len(h.shape) {
	case 1:
		n = h.shape[0]
	case 2:
		n, d = h.shape[0], h.shape[1]
	default:
		return nil, fileError(name, "holds an array of %d dimensions; rows and columns need 2 (or 1, for a single column): reshape it", len(h.shape))
	}
	a.byCol = h.fortran && n > 1 && d > 1 // else both orders are the same bytes
	if err := a.sized(n, d, int64(len(body))); err != nil {
		return nil, err
	}
	a.bytes = func(_ []byte, off int64, n int) ([]byte, error) { return body[off:][:n:n], nil }
	return a, nil
}

// splitNPY cuts a file in header text and cells.
func splitNPY(b []byte, name string) (head, body []byte, err error) {
	if len(b) < 10 || string(b[:6]) != "\x93NUMPY" {
		return nil, nil, fileError(name, "not an NPY file: it does not start with \\x93NUMPY")
	}
	start, length := 10, uint64(binary.LittleEndian.Uint16(b[8:]))
	switch b[6] {
	case 1:
	case 2, 3:
		if len(b) < 12 {
			return nil, nil, fileError(name, "the file ends in the NPY header: it is cut short")
		}
		start, length = 12, uint64(binary.LittleEndian.Uint32(b[8:]))
	default:
		return nil, nil, fileError(name, "NPY version %d is not known; save it with numpy.save", b[6])
	}
	if length > uint64(len(b)-start) {
		return nil, nil, fileError(name, "the file ends in the NPY header: it is cut short")
	}
	end := start + int(length)
	return b[start:end], b[end:], nil
}

// npyTypes are the cell types by the letter and size that NumPy writes.
var npyTypes = map[string]scalar{
	"f8": float64Cell, "f4": float32Cell,
	"i1": int8Cell, "i2": int16Cell, "i4": int32Cell, "i8": int64Cell,
	"u1": uint8Cell, "u2": uint16Cell, "u4": uint32Cell, "u8": uint64Cell,
	"b1": boolCell,
}

// setType takes NumPy's code for a cell type, such as "<f8".
func (a *npyFile) setType(descr string) error {
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

// littleEndian reports whether numbers in memory have the byte order of NPY's '<'.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// matrix returns the cells in place, row by row, where the file holds them as this machine does. The slices are
// read-only memory and valid until Close. Cells may be NaN or infinite.
func (a *npyFile) matrix() (f64 []float64, f32 []float32, ok bool) {
	if a.byCol || !littleEndian || a.big || len(a.body) == 0 {
		return nil, nil, false
	}
	p := unsafe.Pointer(unsafe.SliceData(a.body))
	n := len(a.body) / a.cell.size()
	switch {
	case uintptr(p)%uintptr(a.cell.size()) != 0:
		return nil, nil, false
	case a.cell == float64Cell:
		return slices.Clip(unsafe.Slice((*float64)(p), n)), nil, true
	case a.cell == float32Cell:
		return nil, slices.Clip(unsafe.Slice((*float32)(p), n)), true
	}
	return nil, nil, false
}

// Close releases the memory. Views of it must no longer be used.
func (a *npyFile) Close() error {
	a.body = nil
	return a.arrayFile.Close()
}
