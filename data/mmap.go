package data

import (
	"io"
	"os"
)

// readAll reads the first size bytes of f: what mapFile does where files cannot be mapped.
func readAll(f *os.File, size int) ([]byte, func() error, error) {
	b := make([]byte, size)
	if n, err := f.ReadAt(b, 0); n < size {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, err
	}
	return b, func() error { return nil }, nil
}
