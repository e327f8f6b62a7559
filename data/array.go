package data

import (
	"context"
	"encoding/binary"
	"io"
	"math"
	"math/bits"
	"slices"
	"strconv"
	"unsafe"
)

// scalar is the type of the cells of an array file.
type scalar uint8

const (
	float64Cell scalar = iota
	float32Cell
	int8Cell
	int16Cell
	int32Cell
	int64Cell
	uint8Cell
	uint16Cell
	uint32Cell
	uint64Cell
	boolCell
)

// size returns the bytes of a cell.
func (s scalar) size() int {
	switch s {
	case float64Cell, int64Cell, uint64Cell:
		return 8
	case float32Cell, int32Cell, uint32Cell:
		return 4
	case int16Cell, uint16Cell:
		return 2
	}
	return 1
}

// maxColumns is how many columns an array may have: each has a name and statistics of its own, some hundred bytes.
const maxColumns = 10_000_000

// arrayFile is a rectangle of cells of one type that stand one after another: what NPY and IDX files hold.
type arrayFile struct {
	name    string
	n       int64
	d       int
	last    int64 // rows that are read, the first ones
	cell    scalar
	big     bool // the byte order of the file
	byCol   bool // Fortran order: a column after another
	columns []string
	r       io.ReaderAt
	start   int64 // offset of the first cell
	na      *naTexts
}

func (f *arrayFile) names() []string { return f.columns }
func (f *arrayFile) rows() int64     { return f.n }

// numeric reports that the cells of every column are numbers.
func (f *arrayFile) numeric(int) bool { return true }

// single reports whether the cells are float32.
func (f *arrayFile) single() bool { return f.cell == float32Cell }

// Close does nothing: whoever opened the file closes it.
func (f *arrayFile) Close() error { return nil }

// parseArray reads the header of an NPY or IDX file: all of the array but its cells, and how many rows of how many.
func parseArray(r io.ReaderAt, size int64, name string) (f *arrayFile, n, d uint64, err error) {
	var magic [1]byte
	if size > 0 {
		if err := readFull(r, magic[:], 0, name); err != nil {
			return nil, 0, 0, err
		}
	}
	if magic[0] == 0 {
		return parseIDX(r, size, name)
	}
	return parseNPY(r, size, name)
}

// end returns the offset at which a file with n rows of d cells ends.
func (f *arrayFile) end(n, d uint64) (int64, error) {
	over, cells := bits.Mul64(n, d)
	over2, need := bits.Mul64(cells, uint64(f.cell.size()))
	if over != 0 || over2 != 0 || need > math.MaxInt64-uint64(f.start) {
		return 0, fileError(f.name, "its header says %d rows of %d, which is more than any file holds: it is damaged", n, d)
	}
	return f.start + int64(need), nil
}

// sized checks that n rows of d cells fill a file of size bytes. The header is not believed before: nothing is allocated
// for rows that are not there.
func (f *arrayFile) sized(n, d uint64, size int64) error {
	if n == 0 || d == 0 {
		return fileError(f.name, "holds no cells: %d rows of %d", n, d)
	}
	end, err := f.end(n, d)
	if err != nil {
		return err
	}
	need, have := uint64(end-f.start), size-f.start
	if d > maxColumns {
		return fileError(f.name, "holds %s of %s columns, but a table may have %s: should rows be columns?", counted(int64(n), "row"), thousands(int64(d)), thousands(maxColumns))
	}
	switch {
	case int64(need) > have && f.byCol && d > 1:
		return fileError(f.name, "holds %d rows of %d in column order, %d bytes, but the file ends after %d of them: it is cut short", n, d, need, have)
	case int64(need) > have:
		return fileError(f.name, "holds %d rows of %d, but the file ends after %d: it is cut short", n, d, uint64(have)/(need/n))
	case int64(need) < have:
		return fileError(f.name, "holds %d rows of %d, but %d bytes follow after the last of them: it is damaged, or more than one array", n, d, have-int64(need))
	}
	f.n, f.d, f.last = int64(n), int(d), int64(n)
	f.columns = make([]string, d)
	for j := range f.columns {
		f.columns[j] = strconv.Itoa(j + 1)
	}
	return nil
}

// cut keeps only the first n rows.
func (f *arrayFile) cut(n int64) { f.last = min(n, f.last) }

// batchRows is the rows of a batch of arrays with d columns: 4,096, fewer where they would leave the second-level
// cache (65,536 cells of 8 bytes are 512 KB).
func batchRows(d int) int { return max(16, min(4096, 1<<16/max(1, d))) }

// read implements cells.
func (f *arrayFile) read(ctx context.Context, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	return readPieces(ctx, f, wants, ordered, threads, yield)
}

// pieces implements pieced.
func (f *arrayFile) pieces() int {
	per := int64(batchRows(f.d))
	return int((f.last + per - 1) / per)
}

func (f *arrayFile) reader(wants []want) pieceReader { return newArrayReader(f, wants) }

// piece implements pieceReader.
func (r *arrayReader) piece(i int) (*batch, error) {
	per := int64(batchRows(r.f.d))
	first := int64(i) * per
	err := r.fill(first, int(min(per, r.f.last-first)))
	return &r.batch, err
}

// arrayReader turns rows into batches. It belongs to one worker.
type arrayReader struct {
	f      *arrayFile
	wants  []want
	nums   int // columns with number
	all    bool
	looked bool // some column is wanted
	batch  batch
	buf    []byte    // the rows, in C order
	part   []byte    // a column of them, in Fortran order
	col    []float64 // one column that is only counted
}

func newArrayReader(f *arrayFile, wants []want) *arrayReader {
	r := &arrayReader{f: f, wants: wants}
	for _, w := range wants {
		if w&number != 0 {
			r.nums++
		}
		r.looked = r.looked || w != skip
	}
	r.all = r.nums == f.d
	return r
}

// fill makes the batch of n rows from the first one on.
func (r *arrayReader) fill(first int64, n int) error {
	f, b := r.f, &r.batch
	b.First, b.N, b.Bad = first, n, b.Bad[:0]
	b.F64, b.Text = resized(b.F64, n*r.nums), b.Text[:0]
	if !r.looked {
		return nil
	}
	raw, err := r.raw(first, n)
	if err != nil {
		return err
	}
	if !r.all || f.byCol {
		err = r.columns(raw, first, n)
	} else if !r.inPlace() {
		decode(b.F64, 1, raw, f.cell.size(), n*f.d, f.cell, f.big)
	}
	if err == nil {
		err = r.findBad(raw, first, n)
	}
	if err == nil {
		err = r.texts(raw, first, n)
	}
	if err == nil { // last, since it writes over rows that are read in place
		err = r.findNA(raw, first, n)
	}
	return err
}

// raw returns the bytes of n rows from the first on; nil in Fortran order, where they do not stand together.
func (r *arrayReader) raw(first int64, n int) ([]byte, error) {
	f, size := r.f, r.f.cell.size()
	if f.byCol {
		return nil, nil
	}
	if r.inPlace() {
		r.buf = bytesOf(r.batch.F64)
	} else {
		r.buf = resized(r.buf, n*f.d*size)
	}
	return r.buf, readFull(f.r, r.buf, f.start+first*int64(f.d*size), f.name)
}

// inPlace reports whether the rows of the file are those of the batch, so that they need not be decoded.
func (r *arrayReader) inPlace() bool {
	return r.all && !r.f.byCol && r.f.cell == float64Cell && !r.f.big && littleEndian
}

// littleEndian reports whether numbers in memory have the byte order of NPY's '<'.
var littleEndian = binary.NativeEndian.Uint16([]byte{1, 0}) == 1

// bytesOf returns the memory of x.
func bytesOf(x []float64) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(x))), 8*len(x))
}

// column returns the bytes of column j in n rows from the first on, and the distance from one cell to the next. They
// live until the next call.
func (r *arrayReader) column(raw []byte, j int, first int64, n int) ([]byte, int, error) {
	f, size := r.f, r.f.cell.size()
	if !f.byCol {
		return raw[j*size:], f.d * size, nil
	}
	r.part = resized(r.part, n*size)
	return r.part, size, readFull(f.r, r.part, f.start+(int64(j)*f.n+first)*int64(size), f.name)
}

// columns decodes the number columns one after another.
func (r *arrayReader) columns(raw []byte, first int64, n int) error {
	out := 0
	for j, w := range r.wants {
		if w&number == 0 {
			continue
		}
		b, step, err := r.column(raw, j, first, n)
		if err != nil {
			return err
		}
		decode(r.batch.F64[out:], r.nums, b, step, n, r.f.cell, r.f.big)
		out++
	}
	return nil
}

// findBad lists the cells of wanted columns that are not finite, or are integers that float64 does not hold.
func (r *arrayReader) findBad(raw []byte, first int64, n int) error {
	switch r.f.cell {
	case float64Cell, float32Cell:
	case int64Cell, uint64Cell:
		return r.findRounded(raw, first, n)
	default:
		return nil
	}
	b := &r.batch
	if r.all && allFinite(b.F64) {
		return nil
	}
	out := 0
	for j, w := range r.wants {
		if w == skip {
			continue
		}
		bytes, step, err := r.column(raw, j, first, n)
		if err != nil {
			return err
		}
		r.col = resized(r.col, n)
		decode(r.col, 1, bytes, step, n, r.f.cell, r.f.big)
		for i, v := range r.col {
			if v-v == 0 {
				continue
			}
			b.Bad = append(b.Bad, badNumber(first+int64(i), j, v))
			if w&number != 0 {
				b.F64[i*r.nums+out] = math.NaN()
			}
		}
		if w&number != 0 {
			out++
		}
	}
	sortBad(b.Bad)
	return nil
}

// findRounded lists the integers of number columns beyond 2^53 whose last digits float64 does not hold. Their values tell
// where to look, so that a column of small ones costs a comparison a cell.
func (r *arrayReader) findRounded(raw []byte, first int64, n int) error {
	f, b, size := r.f, &r.batch, r.f.cell.size()
	out := 0
	for j, w := range r.wants {
		if w&number == 0 {
			continue
		}
		var cells []byte
		var step int
		for i := range n {
			if math.Abs(b.F64[i*r.nums+out]) < exactBelow {
				continue
			}
			if cells == nil {
				var err error
				if cells, step, err = r.column(raw, j, first, n); err != nil {
					return err
				}
			}
			cell := cells[i*step : i*step+size]
			v := bitsOf(cell, f.big)
			if f.cell == int64Cell && !holdsInt(int64(v)) || f.cell == uint64Cell && !holdsUint(v) {
				b.Bad = append(b.Bad, badCell{Row: first + int64(i), Column: j, Kind: roundedCell, Value: cellText(cell, f.cell, f.big)})
			}
		}
		out++
	}
	sortBad(b.Bad)
	return nil
}

// texts writes out the cells of columns that are wanted as text, such as ids.
func (r *arrayReader) texts(raw []byte, first int64, n int) error {
	k, out := 0, 0
	for _, w := range r.wants {
		if w&text != 0 {
			k++
		}
	}
	if k == 0 {
		return nil
	}
	b := &r.batch
	b.Text = resized(b.Text, n*k)
	size := r.f.cell.size()
	for j, w := range r.wants {
		if w&text == 0 {
			continue
		}
		cells, step, err := r.column(raw, j, first, n)
		if err != nil {
			return err
		}
		for i := range n {
			b.Text[i*k+out] = cellText(cells[i*step:i*step+size], r.f.cell, r.f.big)
		}
		out++
	}
	return nil
}

// findNA lists the numbers of wanted columns that say that there is no value.
func (r *arrayReader) findNA(raw []byte, first int64, n int) error {
	f, b := r.f, &r.batch
	if f.na == nil || len(f.na.numbers) == 0 {
		return nil
	}
	var found []badCell
	out := 0
	for j, w := range r.wants {
		if w&(number|count) == 0 {
			continue
		}
		cells, step, err := r.column(raw, j, first, n)
		if err != nil {
			return err
		}
		r.col = resized(r.col, n)
		decode(r.col, 1, cells, step, n, f.cell, f.big)
		for i, v := range r.col {
			if !f.na.hasNumber(v) {
				continue
			}
			found = append(found, badCell{Row: first + int64(i), Column: j, Kind: missingCell})
			if w&number != 0 {
				b.F64[i*r.nums+out] = math.NaN()
			}
		}
		if w&number != 0 {
			out++
		}
	}
	if found != nil {
		isNA := make(map[[2]int64]bool, len(found))
		for _, c := range found {
			isNA[[2]int64{c.Row, int64(c.Column)}] = true
		}
		b.Bad = slices.DeleteFunc(b.Bad, func(c badCell) bool { return isNA[[2]int64{c.Row, int64(c.Column)}] }) // rounded ones
		b.Bad = append(b.Bad, found...)
		sortBad(b.Bad)
	}
	return nil
}
