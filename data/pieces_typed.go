package data

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
)

// typedPiece is the cells of a piece that are stored by their types, judged as those of a Parquet file.
type typedPiece struct {
	file    *parquetFile // its columns
	columns []parquetCells
	n       int
}

// kinds are the letters of PiecesInfo.Types.
var kinds = map[byte]parquetKind{'d': parquetDouble, 'f': parquetFloat, 'i': parquetInt, 'm': parquetBigDecimal, 'b': parquetBool, 's': parquetText, 't': parquetDate, 'n': parquetNested}

// readTyped reads the cells that are wanted, by column; the others are passed over.
func readTyped(name string, columns []string, types string, na *naTexts, body []byte, wants []want) (*typedPiece, error) {
	t := &typedPiece{file: &parquetFile{name: name, na: na}, columns: make([]parquetCells, len(types))}
	for j := range types {
		t.file.columns = append(t.file.columns, parquetColumn{name: columns[j], kind: kinds[types[j]]})
	}
	r := typedReader{b: body}
	for len(r.b) > 0 && !r.short {
		for j := range types {
			if j < len(wants) && wants[j] != skip {
				r.cell(&t.columns[j], &t.file.columns[j], types[j], wants[j]&text != 0, na)
			} else {
				r.pass(types[j])
			}
		}
		t.n++
	}
	if r.short {
		return nil, fileError(name, "a piece of it ends early: what another machine sent is damaged")
	}
	return t, nil
}

// typedReader takes cells from the front of b.
type typedReader struct {
	b     []byte
	short bool
}

func (r *typedReader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short, r.b = true, nil
		return make([]byte, min(max(n, 0), 8))
	}
	own := r.b[:n]
	r.b = r.b[n:]
	return own
}

// pass goes over a cell.
func (r *typedReader) pass(letter byte) {
	if letter == 'n' || r.take(1)[0] == 0 {
		return
	}
	switch letter {
	case 'd', 'i':
		r.take(8)
	case 'f':
		r.take(4)
	case 'b':
		r.take(1)
	default:
		r.take(int(binary.BigEndian.Uint32(r.take(4))))
	}
}

// cell appends the next cell to p, with its text where that is wanted, or it is one.
func (r *typedReader) cell(p *parquetCells, c *parquetColumn, letter byte, withText bool, na *naTexts) {
	if letter == 'n' {
		p.other("a list or group")
		return
	}
	if r.take(1)[0] == 0 {
		p.num, p.state = append(p.num, math.NaN()), append(p.state, isNull)
		if withText || !c.kind.isNumber() {
			p.text = append(p.text, "")
		}
		return
	}
	written := ""
	switch letter {
	case 'd', 'f':
		v, bits := 0.0, 64
		if letter == 'd' {
			v = math.Float64frombits(binary.BigEndian.Uint64(r.take(8)))
		} else {
			v, bits = float64(math.Float32frombits(binary.BigEndian.Uint32(r.take(4)))), 32
		}
		if p.number(v); withText {
			written = floatText(v, bits)
		}
	case 'i':
		v := int64(binary.BigEndian.Uint64(r.take(8)))
		p.whole(v, uint64(v), c, withText)
		return
	case 'b':
		v := r.take(1)[0]
		p.number(float64(v))
		written = strconv.FormatBool(v != 0)
	case 'm':
		written = string(r.take(int(binary.BigEndian.Uint32(r.take(4)))))
		v, _ := strconv.ParseFloat(written, 64) // beyond float64 it is infinite
		p.number(v)
		p.roundDecimal(func() string { return written })
	case 's':
		p.word(string(r.take(int(binary.BigEndian.Uint32(r.take(4))))), na)
		return
	default:
		p.other(string(r.take(int(binary.BigEndian.Uint32(r.take(4))))))
		return
	}
	if withText {
		p.text = append(p.text, written)
	}
}

func (t *typedPiece) names() []string {
	var names []string
	for i := range t.file.columns {
		names = append(names, t.file.columns[i].name)
	}
	return names
}

func (t *typedPiece) rows() int64  { return int64(t.n) }
func (t *typedPiece) Close() error { return nil }

// read implements cells.
func (t *typedPiece) read(ctx context.Context, wants []want, _ bool, _ int, yield func(*batch) error) error {
	var cursors []*parquetCursor
	nums, texts := 0, 0
	for j, w := range wants {
		if w == skip {
			continue
		}
		if t.file.columns[j].kind == parquetNested && w&text != 0 {
			return columnError(t.file.name, t.file.columns[j].name, "it holds lists or groups, which cannot be written in one cell; unnest it or leave it out")
		}
		cursors = append(cursors, &parquetCursor{f: t.file, col: &t.file.columns[j], j: j, want: w, num: nums, text: texts, cells: t.columns[j]})
		if w&number != 0 {
			nums++
		}
		if w&text != 0 {
			texts++
		}
	}
	var b batch
	for at := 0; at < t.n; at += b.N {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.First, b.N = int64(at), min(batchRows(nums+texts), t.n-at)
		b.F64, b.Text, b.Bad = resized(b.F64, b.N*nums), resized(b.Text, b.N*texts), b.Bad[:0]
		for _, c := range cursors {
			c.bad, c.pos = c.bad[:0], at
			c.copy(&b, 0, b.N, nums, texts)
			b.Bad = append(b.Bad, c.bad...)
		}
		sortBad(b.Bad)
		if err := yield(&b); err != nil {
			return err
		}
	}
	return nil
}
