//go:build !linux

package large

// advise does nothing: this system has no such advice, or gives large pages by itself.
func advise(first, bytes uintptr) {}
