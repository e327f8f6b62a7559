package data

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sort"

	"github.com/latent-go/latent/internal/par"
)

// parts is a table in several files: the rows of one follow those of the file before it. All have its columns and one format.
type parts struct {
	list    []part
	columns []string
	decides []int // by column, the part that says of which type its cells are, where a format has types
	n       int64
	last    int64 // rows that are read, the first ones
}

// part is the rows of one file.
type part struct {
	cells
	name  string
	first int64 // index of its first row in the table
	order []int // column of the table -> column of the file; nil where they are the same
	piece int   // the number of its first piece in the table
}

func (p *parts) names() []string { return p.columns }
func (p *parts) rows() int64     { return p.n }

// Close does nothing: whoever opened the files closes them.
func (p *parts) Close() error { return nil }

// cut keeps only the pieces with the first n rows.
func (p *parts) cut(n int64) { p.last = min(n, p.n) }

// number counts rows and pieces, when all parts are there.
func (p *parts) number() {
	for i := range p.list {
		t := &p.list[i]
		t.first, t.piece = p.n, p.pieceEnd(i-1)
		p.n += t.rows()
	}
	p.last = p.n
}

// pieceEnd returns the number after the last piece of part i; 0 for what is before the first part.
func (p *parts) pieceEnd(i int) int {
	if i < 0 {
		return 0
	}
	t := &p.list[i]
	switch f := t.cells.(type) {
	case pieced:
		return t.piece + f.pieces()
	case *parquetFile:
		return t.piece + len(f.first) - 1
	}
	return t.piece
}

// pieces implements pieced, as far as the rows that are read go.
func (p *parts) pieces() int {
	end := sort.Search(len(p.list), func(i int) bool { return p.list[i].first >= p.last })
	return p.pieceEnd(end - 1)
}

// partOf returns the part that has a piece.
func (p *parts) partOf(piece int) int {
	return sort.Search(len(p.list), func(i int) bool { return p.list[i].piece > piece }) - 1
}

// columnOf returns where column c of the table stands in a part.
func (t *part) columnOf(c int) int {
	if t.order == nil {
		return c
	}
	return t.order[c]
}

// single reports whether the cells of all parts are float32.
func (p *parts) single() bool {
	return !slices.ContainsFunc(p.list, func(t part) bool {
		f, ok := t.cells.(interface{ single() bool })
		return !ok || !f.single()
	})
}

// numeric reports whether the cells of a column are numbers by their type.
func (p *parts) numeric(c int) bool {
	t := &p.list[p.decides[c]]
	f, ok := t.cells.(interface{ numeric(column int) bool })
	return ok && f.numeric(t.columnOf(c))
}

// textual reports whether the cells of a column are text by their type.
func (p *parts) textual(c int) bool {
	t := &p.list[p.decides[c]]
	f, ok := t.cells.(interface{ textual(column int) bool })
	return ok && f.textual(t.columnOf(c))
}

// nested implements nested.
func (p *parts) nested(c int) bool {
	t := &p.list[p.decides[c]]
	f, ok := t.cells.(nested)
	return ok && f.nested(t.columnOf(c))
}

// read implements cells: the parts are read as one file with all their pieces would be.
func (p *parts) read(ctx context.Context, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	if _, ok := p.list[0].cells.(*parquetFile); !ok {
		return readPieces(ctx, p, wants, ordered, threads, yield)
	}
	for i := range p.list {
		t := &p.list[i]
		if err := t.cells.(*parquetFile).checkNestedText(t.wants(wants)); err != nil {
			return err
		}
	}
	group := func(i, threads int) error {
		t := &p.list[p.partOf(i)]
		from := t.turned(wants)
		return t.cells.(*parquetFile).readGroup(ctx, i-t.piece, t.wants(wants), threads, func(b *batch) error { return yield(from.turn(b)) })
	}
	groups := p.pieces()
	if !ordered && groups >= threads {
		return par.Try(threads, groups, func(i int) error { return group(i, 1) })
	}
	for i := range groups {
		if err := group(i, threads); err != nil {
			return err
		}
	}
	return nil
}

// reader implements pieced.
func (p *parts) reader(wants []want) pieceReader { return &partReader{p: p, wants: wants, at: -1} }

// partReader reads pieces of one part after another.
type partReader struct {
	p     *parts
	wants []want
	at    int // the part
	from  *turned
	r     pieceReader
}

// piece implements pieceReader.
func (r *partReader) piece(i int) (*batch, error) {
	if at := r.p.partOf(i); at != r.at {
		r.moveTo(at)
	}
	b, err := r.r.piece(i - r.p.list[r.at].piece)
	if err != nil {
		return nil, err
	}
	return r.from.turn(b), nil
}

// moveTo goes on with another part, in the same memory where its columns stand in the order of those of the table.
func (r *partReader) moveTo(at int) {
	t := &r.p.list[at]
	same := r.at >= 0 && r.p.list[r.at].order == nil && t.order == nil
	r.at, r.from = at, t.turned(r.wants)
	switch old := r.r.(type) {
	case *parser:
		if same {
			old.f = t.cells.(*csvFile)
			return
		}
	case *arrayReader:
		old.f = t.cells.(*arrayFile)
		return
	}
	r.r = t.cells.(pieced).reader(t.wants(r.wants))
}

// wants returns what a pass over the table wants of the columns of the file.
func (t *part) wants(wants []want) []want {
	if t.order == nil {
		return wants
	}
	own := make([]want, len(wants))
	for c, w := range wants {
		own[t.order[c]] = w
	}
	return own
}

// turned makes batches of a file batches of the table: other numbers of rows and, where columns stand in another order, another order.
type turned struct {
	first         int64
	order         []int // nil where columns stay
	table         []int // column of the file -> column of the table
	numbers, text []int // column of a batch of the table -> column of one of the file
}

// turned returns what turns batches that were read with wants of the table.
func (t *part) turned(wants []want) *turned {
	s := &turned{first: t.first, order: t.order}
	if t.order == nil {
		return s
	}
	s.table = make([]int, len(wants))
	own := newPlan(t.wants(wants))
	for c, w := range wants {
		at := t.order[c]
		s.table[at] = c
		if w&number != 0 {
			s.numbers = append(s.numbers, own.number[at])
		}
		if w&text != 0 {
			s.text = append(s.text, own.text[at])
		}
	}
	return s
}

// turn returns a batch of the table, which lives as long as b.
func (s *turned) turn(b *batch) *batch {
	b.First += s.first
	for i := range b.Bad {
		b.Bad[i].Row += s.first
	}
	if s.order == nil {
		return b
	}
	for i := range b.Bad {
		b.Bad[i].Column = s.table[b.Bad[i].Column]
	}
	sortBad(b.Bad)
	permute(b.F64, s.numbers)
	permute(b.Text, s.text)
	return b
}

// permute brings the cells of every row into another order: cell j becomes the one at from[j].
func permute[T any](rows []T, from []int) {
	d := len(from)
	row := make([]T, d)
	for i := 0; i+d <= len(rows) && d > 0; i += d {
		copy(row, rows[i:i+d])
		for j, k := range from {
			rows[i+j] = row[k]
		}
	}
}

// locate says of an error about a row of the table in which file and where in it the row is.
func (f *opened) locate(err error) error {
	var e *Error
	if f.parts == nil || !errors.As(err, &e) || e.File != f.name || e.Row <= 0 {
		return err
	}
	t := f.parts.partWith(e.Row - 1)
	in := *e
	in.File, in.Row = t.name, e.Row-t.first
	return &in
}

// partWith returns the part that has a row of the table, from 0.
func (p *parts) partWith(row int64) *part {
	i, _ := slices.BinarySearchFunc(p.list, row+1, func(t part, row int64) int { return cmp.Compare(t.first, row) })
	return &p.list[max(i-1, 0)]
}
