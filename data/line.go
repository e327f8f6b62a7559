package data

import (
	"context"
	"errors"
)

// Line returns the line of a file on which a row begins, both from 1, by reading the file as Load does with these options; 0 where the file
// has no such row, or its format no lines. Standard input cannot be read again: of "-" it is 0.
func Line(ctx context.Context, path string, o Options, row int64) (int64, error) {
	if path == "-" {
		return 0, nil
	}
	l, err := newLoader(ctx, path, o)
	if err != nil {
		return 0, err
	}
	defer l.file.Close()
	line, found := int64(0), errors.New("found")
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
	return line, l.file.after(err)
}
