package data

import (
	"context"
	"fmt"
	"io"
	"math"

	"github.com/parquet-go/parquet-go"

	"github.com/latent-go/latent/internal/par"
)

// read implements cells. Row groups are read by several goroutines at once; one group, or groups whose order
// matters, are read with the columns shared out among them.
func (f *parquetFile) read(ctx context.Context, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	if err := f.checkNestedText(wants); err != nil {
		return err
	}
	groups := len(f.first) - 1
	if !ordered && groups >= threads {
		return par.Try(threads, groups, func(g int) error { return f.readGroup(ctx, g, wants, 1, yield) })
	}
	for g := range groups {
		if err := f.readGroup(ctx, g, wants, threads, yield); err != nil {
			return err
		}
	}
	return nil
}

// checkNestedText refuses to write lists or groups as text.
func (f *parquetFile) checkNestedText(wants []want) error {
	for j, c := range f.columns {
		if c.kind == parquetNested && wants[j]&text != 0 {
			return columnError(f.name, c.name, "it holds lists or groups, which cannot be written in one cell; unnest it or leave it out")
		}
	}
	return nil
}

// readGroup reads one row group in batches.
func (f *parquetFile) readGroup(ctx context.Context, g int, wants []want, threads int, yield func(*batch) error) error {
	cursors, nums, texts := f.cursors(g, wants)
	defer func() {
		for _, c := range cursors {
			c.close()
		}
	}()
	// More rows than elsewhere, since the work of a batch may be split again. Not fewer for one thread: batches decide
	// how sums are rounded.
	per := 4 * int64(batchRows(nums+texts))
	var b batch
	for at := f.first[g]; at < f.first[g+1]; at += int64(b.N) {
		if err := ctx.Err(); err != nil {
			return err
		}
		b.First, b.N = at, int(min(per, f.first[g+1]-at))
		b.F64, b.Text, b.Bad = resized(b.F64, b.N*nums), resized(b.Text, b.N*texts), b.Bad[:0]
		err := par.Try(threads, len(cursors), func(i int) error { return cursors[i].fill(&b, nums, texts) })
		if err != nil {
			return err
		}
		from := 0
		for _, c := range cursors {
			if len(c.bad) > 0 {
				b.Bad = append(b.Bad, c.bad...)
				from++
			}
		}
		if from > 1 {
			sortBad(b.Bad)
		}
		if err := yield(&b); err != nil {
			return err
		}
	}
	return nil
}

// cursors opens the wanted columns of a row group.
func (f *parquetFile) cursors(g int, wants []want) (cs []*parquetCursor, nums, texts int) {
	for j := range f.columns {
		w := wants[j]
		if w == skip {
			continue
		}
		c := &parquetCursor{f: f, col: &f.columns[j], j: j, group: g, want: w, num: nums, text: texts}
		if w&number != 0 {
			nums++
		}
		if w&text != 0 {
			texts++
		}
		cs = append(cs, c)
	}
	return cs, nums, texts
}

// parquetCursor goes through the cells of one column of one row group.
type parquetCursor struct {
	f         *parquetFile
	col       *parquetColumn
	j, group  int
	want      want
	num, text int // where its cells go in a row of batch.F64 and batch.Text

	pages parquet.Pages
	cells parquetCells // the page at hand
	base  parquetCells // its cells without nulls
	pos   int          // cells of the page that are used up
	dict  parquet.Dictionary
	words parquetCells // the dictionary's
	bad   []badCell    // of the batch
}

// fill sets the cursor's column in the next b.N rows.
func (c *parquetCursor) fill(b *batch, nums, texts int) error {
	c.bad = c.bad[:0]
	for i := 0; i < b.N; {
		if c.pos == len(c.cells.num) {
			if err := c.next(b.N - i); err != nil {
				return err
			}
			continue
		}
		n := min(b.N-i, len(c.cells.num)-c.pos)
		c.copy(b, i, n, nums, texts)
		i, c.pos = i+n, c.pos+n
	}
	return nil
}

// copy sets n rows from row i of the batch on.
func (c *parquetCursor) copy(b *batch, i, n, nums, texts int) {
	num, state := c.cells.num[c.pos:c.pos+n], c.cells.state[c.pos:c.pos+n]
	if c.want&number != 0 {
		for r, v := range num {
			b.F64[(i+r)*nums+c.num] = v
		}
	}
	if c.want&text != 0 {
		for r, s := range c.cells.text[c.pos : c.pos+n] {
			b.Text[(i+r)*texts+c.text] = s
		}
	}
	if c.want&(number|count) == 0 {
		return
	}
	na := c.f.na
	if !c.f.numeric(c.j) {
		na = nil
	}
	for r, s := range state {
		if na != nil && s != isNull && na.hasNumber(num[r]) {
			num[r], s = math.NaN(), isNull
			if c.want&number != 0 {
				b.F64[(i+r)*nums+c.num] = math.NaN()
			}
		}
		if s == isFinite {
			continue
		}
		bad := badNumber(b.First+int64(i+r), c.j, num[r])
		bad.Kind = cellKind(s - 1)
		switch {
		case len(c.cells.text) > 0:
			bad.Value = cut(c.cells.text[c.pos+r])
		case s == isRounded:
			bad.Value = c.rounded()
		case math.IsNaN(num[r]):
			bad.Value = ""
		}
		c.bad = append(c.bad, bad)
		if c.want&number != 0 && s != isRounded {
			b.F64[(i+r)*nums+c.num] = math.NaN()
		}
	}
}

// rounded returns the digits of an integer that float64 does not hold: the first of the page or of its dictionary.
func (c *parquetCursor) rounded() string {
	if c.cells.rounded != "" {
		return c.cells.rounded
	}
	return c.words.rounded
}

// cut shortens a cell to 60 bytes, whole characters only.
func cut(s string) string {
	if len(s) <= 60 {
		return s
	}
	n := 60
	for n > 56 && s[n]&0xC0 == 0x80 {
		n--
	}
	return s[:n]
}

// next decodes the next page. Columns without pages of their own get n cells.
func (c *parquetCursor) next(n int) error {
	c.pos = 0
	c.cells.reset()
	switch c.col.kind {
	case parquetNull:
		c.cells.nulls(n)
		return nil
	case parquetNested:
		for range n {
			c.cells.other("a list or group")
		}
		return nil
	}
	err := c.f.guard(c.page)
	if err == nil {
		return nil
	}
	return columnError(c.f.name, c.col.name, "row group %d cannot be read: %v", c.group+1, plain(err))
}

// plain takes the file's name out of an error that gets it again.
func plain(err error) error {
	if e, ok := err.(*Error); ok {
		return fmt.Errorf("%s", e.Msg)
	}
	return err
}

// nulls appends n missing cells.
func (p *parquetCells) nulls(n int) {
	for range n {
		p.num, p.state, p.text = append(p.num, math.NaN()), append(p.state, isNull), append(p.text, "")
	}
}

// page reads and decodes a page.
func (c *parquetCursor) page() error {
	if c.pages == nil {
		if err := c.f.checkPacked(c.group, c.col.leaf); err != nil {
			return err
		}
		c.pages = c.f.file.RowGroups()[c.group].ColumnChunks()[c.col.leaf].Pages()
	}
	page, err := c.pages.ReadPage()
	if err == io.EOF {
		return fmt.Errorf("its pages end early: the file is damaged")
	}
	if err != nil {
		return err
	}
	defer parquet.Release(page)
	c.base.reset()
	if d := page.Dictionary(); d != nil {
		err = c.lookUp(page, d)
	} else {
		err = c.base.appendPage(page, c.col, c.want&text != 0, c.f.na)
	}
	if err != nil {
		return err
	}
	return c.place(page.DefinitionLevels())
}

// lookUp sets the base cells of a page that holds indexes into a dictionary.
func (c *parquetCursor) lookUp(page parquet.Page, d parquet.Dictionary) error {
	if c.dict != d {
		c.words = parquetCells{}
		if err := c.words.appendPage(d.Page(), c.col, c.want&text != 0, c.f.na); err != nil {
			return err
		}
		c.dict = d
	}
	w, b := &c.words, &c.base
	withText := len(w.text) > 0
	data := page.Data()
	for _, i := range data.Int32() {
		if uint(i) >= uint(len(w.num)) {
			return fmt.Errorf("a cell is not in the dictionary: the file is damaged")
		}
		b.num, b.state = append(b.num, w.num[i]), append(b.state, w.state[i])
		if withText {
			b.text = append(b.text, w.text[i])
		}
	}
	return nil
}

// place sets the cells of the page: the base cells, with nulls between them where the levels say so.
func (c *parquetCursor) place(levels []byte) error {
	b, p := &c.base, &c.cells
	if len(levels) == 0 {
		*b, *p = *p, *b
		return nil
	}
	p.rounded = b.rounded
	at := 0
	withText := len(b.text) > 0 || c.want&text != 0 || !c.col.kind.isNumber()
	for _, l := range levels {
		if l != c.col.maxDef {
			p.num, p.state = append(p.num, math.NaN()), append(p.state, isNull)
			if withText {
				p.text = append(p.text, "")
			}
			continue
		}
		if at >= len(b.num) {
			return fmt.Errorf("a page ends early: the file is damaged")
		}
		p.num, p.state = append(p.num, b.num[at]), append(p.state, b.state[at])
		if withText {
			p.text = append(p.text, b.text[at])
		}
		at++
	}
	return nil
}

func (c *parquetCursor) close() {
	if c.pages != nil {
		c.f.guard(c.pages.Close)
	}
}

// notEOF is err, or nil at the end.
func notEOF(err error) error {
	if err == io.EOF {
		return nil
	}
	return err
}
