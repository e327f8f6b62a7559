package data

import (
	"encoding/binary"
	"io"
	"math/bits"
)

// idxTypes are the cell types of IDX files by the third byte of the file.
var idxTypes = map[byte]scalar{
	0x08: uint8Cell, 0x09: int8Cell, 0x0B: int16Cell, 0x0C: int32Cell, 0x0D: float32Cell, 0x0E: float64Cell,
}

// openIDX reads the format of the MNIST files (Y. LeCun, C. Cortes, C. Burges): two zero bytes, the type of the
// cells, the number of dimensions, their sizes, then the cells, all big-endian. The first dimension counts rows; all
// others together are the columns, the last one running fastest.
func openIDX(r io.ReaderAt, size int64, name string) (cells, error) {
	f, n, d, err := parseIDX(r, size, name)
	if err != nil {
		return nil, err
	}
	if err := f.sized(n, d, size); err != nil {
		return nil, err
	}
	return f, nil
}

// parseIDX reads the header: n rows of d cells.
func parseIDX(r io.ReaderAt, size int64, name string) (f *arrayFile, n, d uint64, err error) {
	head := make([]byte, min(4, size))
	if err := readFull(r, head, 0, name); err != nil {
		return nil, 0, 0, err
	}
	if len(head) < 4 || head[0] != 0 || head[1] != 0 {
		return nil, 0, 0, fileError(name, "not an IDX file: it does not start with two zero bytes, a type and a number of dimensions")
	}
	cell, ok := idxTypes[head[2]]
	if !ok {
		return nil, 0, 0, fileError(name, "the IDX cell type 0x%02X is not known", head[2])
	}
	dims := int(head[3])
	if dims == 0 {
		return nil, 0, 0, fileError(name, "an IDX file without dimensions holds no rows")
	}
	start := 4 + 4*dims
	if size < int64(start) {
		return nil, 0, 0, fileError(name, "the file ends in the IDX header: it is cut short")
	}
	head = make([]byte, start)
	if err := readFull(r, head, 0, name); err != nil {
		return nil, 0, 0, err
	}
	n, d = uint64(binary.BigEndian.Uint32(head[4:])), 1
	for i := 1; i < dims; i++ {
		over, product := bits.Mul64(d, uint64(binary.BigEndian.Uint32(head[4+4*i:])))
		if over != 0 {
			return nil, 0, 0, fileError(name, "its header says more columns than any file holds: it is damaged")
		}
		d = product
	}
	return &arrayFile{name: name, cell: cell, big: true, r: r, start: int64(start)}, n, d, nil
}
