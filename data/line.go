package data

import (
	"cmp"
	"context"
	"errors"
)

// Line returns the file in which a row of a table is, by its path or Options.Name, and the line of it on which the row begins, both from 1,
// by reading the table as Load does with these options; 0 where there is no such row, or the format has no lines. Standard input cannot be
// read again: of "-" it is 0.
func Line(ctx context.Context, path string, o Options, row int64) (file string, line int64, err error) {
	if path == "-" {
		return cmp.Or(o.Name, StandardInput), 0, nil
	}
	l, err := newLoader(ctx, path, o)
	if err != nil {
		return "", 0, err
	}
	defer l.file.Close()
	found := errors.New("found")
	err = l.file.read(ctx, make([]want, len(l.file.names())), false, l.threads, func(b *batch) error {
		if i := row - 1 - b.First; b.Line != nil && i >= 0 && i < int64(b.N) {
			line = b.Line[i]
			return found
		}
		return nil
	})
	if errors.Is(err, found) {
		err = nil
	}
	if file = l.file.name; l.file.parts != nil {
		file = l.file.parts.partWith(row - 1).name
	}
	return file, line, l.file.after(err)
}
