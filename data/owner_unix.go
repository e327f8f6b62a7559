//go:build unix

package data

import (
	"os"

	"golang.org/x/sys/unix"
)

// tryOwn makes this process the owner of the file at path, for as long as the file it returns is open: the system lets go
// of what a process owned when it ends, however it ends. It returns nil where another process is the owner, or where the
// file system knows no owners.
func tryOwn(path string) *os.File {
	f, err := os.OpenFile(path, os.O_RDWR|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil
	}
	if unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) == nil {
		a, errA := f.Stat()
		b, errB := os.Lstat(path)
		if errA == nil && errB == nil && a.Mode().IsRegular() && os.SameFile(a, b) {
			return f
		}
	}
	f.Close()
	return nil
}
