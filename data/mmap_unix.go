//go:build unix

package data

import (
	"os"

	"golang.org/x/sys/unix"
)

// mapFile returns the first size bytes of f as read-only memory, and what releases it. The file may be closed
// before. Some file systems cannot map: they are read. A file that another program cuts short while it is mapped
// ends this one with a bus error, as it does every program that maps files.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	if size == 0 {
		return nil, func() error { return nil }, nil
	}
	b, err := unix.Mmap(int(f.Fd()), 0, size, unix.PROT_READ, unix.MAP_SHARED)
	if err != nil {
		return readAll(f, size)
	}
	return b, func() error { return unix.Munmap(b) }, nil
}
