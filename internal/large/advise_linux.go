package large

import "golang.org/x/sys/unix"

// advise asks for large pages in so many bytes from first. What else lies in them may get them too. A kernel without them returns an error, which
// changes nothing.
func advise(first, bytes uintptr) {
	unix.Syscall(unix.SYS_MADVISE, first, bytes, unix.MADV_HUGEPAGE)
}
