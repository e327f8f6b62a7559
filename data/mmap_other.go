//go:build !unix

package data

import "os"

// mapFile returns the first size bytes of f in memory, and what releases it.
func mapFile(f *os.File, size int) ([]byte, func() error, error) { return readAll(f, size) }
