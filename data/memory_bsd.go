//go:build darwin || freebsd

package data

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// systemMemory returns the memory of the machine in bytes, if it is known.
func systemMemory() []int64 {
	name := "hw.physmem"
	if runtime.GOOS == "darwin" {
		name = "hw.memsize"
	}
	n, err := unix.SysctlUint64(name)
	if err != nil {
		return nil
	}
	return []int64{int64(n)}
}
