// Package large makes long slices of numbers whose memory Linux is asked to give in large pages. With pages of 4096 bytes a pass over many
// megabytes waits for the addresses of pages as well as for the data, and first touching them asks the system 512 times as often.
package large

import "unsafe"

// page is the size of a large page on amd64, and on arm64 with pages of 4096 bytes.
const page = 2 << 20

// Number is what slices are made of: nothing that points anywhere.
type Number interface {
	~int8 | ~uint8 | ~int16 | ~int32 | ~float32 | ~float64
}

// Make is make([]T, n): n zeros. Where they take a large page or more, the system is asked for large pages for all of them; it may refuse, and
// nothing but speed depends on it.
func Make[T Number](n int) []T {
	s := make([]T, n)
	if first, bytes := around(s); bytes > 0 {
		advise(first, bytes)
	}
	return s
}

// around returns the address and length of the large pages that s lies in, or 0 where it takes less than one.
func around[T Number](s []T) (first, bytes uintptr) {
	size := uintptr(len(s)) * unsafe.Sizeof(*new(T))
	if size < page {
		return 0, 0
	}
	at := uintptr(unsafe.Pointer(&s[0]))
	first = at &^ (page - 1)
	return first, (at + size - first + page - 1) &^ (page - 1)
}
