package data

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
)

// rawPart is a file of a table before its rows are known: what can be read at any offset, unpacked if it was packed.
type rawPart struct {
	name string
	r    io.ReaderAt
	size int64
}

// openParts opens files as one table. What is compressed is kept in one spool, which holds no more for many files than for one.
func openParts(ctx context.Context, name string, l fileList, o Options) (f *opened, err error) {
	files := &partFiles{lock: make(chan struct{}, 1)}
	spool := &spool{name: name, max: o.MaxMemory, spill: o.Stream}
	defer func() {
		if err != nil {
			err = cmp.Or(files.changed(), err)
			files.Close()
			spool.Close()
		}
	}()
	var raw []rawPart
	for _, path := range l.paths {
		p, err := files.add(path)
		if err != nil {
			return nil, err
		}
		r, err := unpackPart(ctx, p, spool, o)
		if err != nil {
			return nil, err
		}
		raw = append(raw, r)
	}
	raw, notes, format, err := formatOfParts(raw, o)
	if err != nil {
		return nil, err
	}
	f = &opened{name: name, format: format, files: []io.Closer{files, spool}, held: spool.held(), disks: files}
	f.parts = &parts{}
	if format == "csv" || format == "tsv" {
		err = f.textParts(ctx, raw, o)
	} else {
		err = f.binaryParts(ctx, raw, o)
	}
	if err != nil {
		return nil, err
	}
	f.notes = append(slices.Concat(l.notes, notes), f.notes...)
	f.cells = f.parts
	f.parts.number()
	return f, nil
}

// unpackPart returns the bytes of a file, from the end of the spool if it is packed.
func unpackPart(ctx context.Context, p *partFile, s *spool, o Options) (rawPart, error) {
	raw := rawPart{name: p.path, r: p, size: p.was.Size()}
	start := make([]byte, min(16, raw.size))
	if err := readFull(p, start, 0, p.path); err != nil || packed(start) == "" {
		return raw, err
	}
	in, done, err := unpacked(io.NewSectionReader(p, 0, raw.size), p.path, o.MaxMemory)
	if err != nil {
		return raw, err
	}
	from := s.size
	err = s.fill(ctx, in, func([]byte) (int, error) { return -1, nil })
	done()
	if err = unpackError(err, p.path, in, o.MaxMemory); err != nil {
		return raw, err
	}
	raw.size = s.size - from
	raw.r = io.NewSectionReader(s, from, raw.size)
	return raw, nil
}

// formatOfParts returns the format of all parts and those that hold anything: files of text without a byte are parts without rows.
func formatOfParts(raw []rawPart, o Options) (filled []rawPart, notes []string, format string, err error) {
	var empty []string
	for _, p := range raw {
		if p.size == 0 {
			empty = append(empty, p.name)
			continue
		}
		start := make([]byte, min(16, p.size))
		if err := readFull(p.r, start, 0, p.name); err != nil {
			return nil, nil, "", err
		}
		own, err := formatOf(start, p.name, o)
		if err != nil {
			return nil, nil, "", err
		}
		if format == "" {
			format = own
		}
		if own != format {
			return nil, nil, "", fileError(p.name, "it holds %s, but %s holds %s: the files of a table have one format", own, filled[0].name, format)
		}
		filled = append(filled, p)
	}
	switch {
	case len(empty) == 0:
	case len(filled) == 0:
		return nil, nil, "", fileError(empty[0], "the file is empty, and so are all parts of this table")
	case format != "csv" && format != "tsv":
		return nil, nil, "", fileError(empty[0], "the file is empty, but %s holds %s: it may have been cut short", filled[0].name, format)
	case len(empty) == 1:
		notes = append(notes, fmt.Sprintf("%s is empty (0 bytes)", empty[0]))
	default:
		notes = append(notes, fmt.Sprintf("%s are empty (0 bytes): %s and others", counted(int64(len(empty)), "part"), empty[0]))
	}
	return filled, notes, format, nil
}

// binaryParts opens the cells of arrays and Parquet files.
func (f *opened) binaryParts(ctx context.Context, raw []rawPart, o Options) error {
	o.Format = f.format
	for _, p := range raw {
		own, err := openReader(ctx, p.r, p.size, p.name, o)
		if err != nil {
			return err
		}
		if err := f.join(part{cells: own.cells, name: p.name}, f.format == "parquet"); err != nil {
			return err
		}
	}
	return f.checkTypes()
}

// textParts opens the cells of delimited text, which is written in one way in all parts: the one that their first rows together tell.
func (f *opened) textParts(ctx context.Context, raw []rawPart, o Options) error {
	h, err := headOfParts(raw)
	if err != nil {
		return err
	}
	d, err := detect(h, o)
	if err != nil {
		return err
	}
	if f.format = "csv"; d.delim == '\t' {
		f.format = "tsv"
	}
	var blank blankLines
	where := ""
	for _, p := range raw {
		h, err := readHead(p.r, p.size, p.name)
		if err != nil {
			return err
		}
		t, err := indexCSV(ctx, p.r, h, d, o)
		if err != nil {
			return err
		}
		if err := f.join(part{cells: t, name: p.name}, d.header); err != nil {
			return err
		}
		if blank.n += t.blank.n; where == "" && t.blank.n > 0 {
			where = fmt.Sprintf("%s, line %d", p.name, t.blank.at[0])
		}
	}
	f.text = &csvFile{name: f.name, dialect: d, columns: f.parts.columns}
	if blank.n > 0 {
		f.notes = append(f.notes, fmt.Sprintf("%s skipped (the first in %s)", counted(blank.n, "empty line"), where))
	}
	f.parts.decides = make([]int, len(f.parts.columns))
	return nil
}

// headOfParts is the beginning of the text that the parts would be as one file, with the names of the columns once.
func headOfParts(raw []rawPart) (*head, error) {
	var all *head
	var names []byte
	for i, p := range raw {
		h, err := readHead(p.r, p.size, p.name)
		if err != nil {
			return nil, err
		}
		line, rest, _ := bytes.Cut(h.text, []byte("\n"))
		if i == 0 {
			all, names = h, line
			all.text = slices.Clip(all.text)
		} else {
			if !sameWords(names, line) {
				rest = h.text
			}
			if n := len(all.text); n > 0 && all.text[n-1] != '\n' {
				all.text = append(all.text, '\n')
			}
			all.text = append(all.text, rest...)
		}
		if !h.whole || len(all.text) >= headSize {
			all.whole = h.whole && i == len(raw)-1
			return all, nil
		}
	}
	return all, nil
}

// sameWords reports whether two lines hold the same words, in any order: the names of columns in two parts.
func sameWords(a, b []byte) bool {
	words := func(line []byte) []string {
		w := strings.FieldsFunc(string(line), func(r rune) bool { return strings.ContainsRune(",;|\t \r\"", r) })
		slices.Sort(w)
		return w
	}
	return slices.Equal(words(a), words(b))
}

// join adds a part, whose columns must be those of the parts before it: by name where they have names, else by their number.
func (f *opened) join(t part, named bool) error {
	p := f.parts
	own := t.names()
	if len(p.list) == 0 {
		p.columns = own
	}
	switch first := p.list; {
	case len(first) == 0 || slices.Equal(own, p.columns):
	case !named:
		return fileError(t.name, "it has %s, but %s has %d: the files of a table have the same columns", counted(int64(len(own)), "column"), first[0].name, len(p.columns))
	default:
		var err error
		if t.order, err = orderOf(t.name, own, first[0].name, p.columns); err != nil {
			return err
		}
	}
	p.list = append(p.list, t)
	return nil
}

// orderOf returns where the columns of the table, which are those of the first part, stand in another one.
func orderOf(name string, own []string, firstName string, columns []string) ([]int, error) {
	refuse := func(column, why string) error {
		e := columnError(name, column, "%s %s: the files of a table have the same columns, by name and in any order", why, firstName)
		e.follows = true
		return e
	}
	at := make(map[string]int, len(own))
	for i, n := range own {
		n = cleanName(n)
		if _, twice := at[n]; twice {
			return nil, refuse(n, "is there twice, unlike in")
		}
		at[n] = i
	}
	order := make([]int, len(columns))
	missing := -1
	for c, n := range columns {
		i, ok := at[cleanName(n)]
		if !ok && missing < 0 {
			missing = c
		}
		order[c] = i
		delete(at, cleanName(n))
	}
	switch {
	case missing >= 0 && len(at) == len(own):
		return nil, fileError(name, "none of the columns of %s is in it: every file must begin with their names; if none has names, use --header no", firstName)
	case missing >= 0:
		return nil, refuse(cleanName(columns[missing]), "is not in this file, but in")
	}
	for _, n := range own {
		if _, more := at[cleanName(n)]; more {
			return nil, refuse(cleanName(n), "is in this file, but not in")
		}
	}
	return order, nil
}

// checkTypes settles which part says of what type a column is, and refuses columns of several: a part in which every cell of it is null
// says nothing.
func (f *opened) checkTypes() error {
	p := f.parts
	p.decides = make([]int, len(p.columns))
	for c, name := range p.columns {
		kind := ""
		for i, t := range p.list {
			file, ok := t.cells.(*parquetFile)
			if !ok {
				return nil
			}
			switch own := file.kindOf(t.columnOf(c)); {
			case own == "":
			case kind == "":
				kind, p.decides[c] = own, i
			case own != kind:
				return columnError(t.name, name, "its type is %s, but %s in %s: write it with one type", own, kind, p.list[p.decides[c]].name)
			}
		}
	}
	return nil
}
