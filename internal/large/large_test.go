package large

import (
	"testing"
	"unsafe"
)

// A slice has its length and nothing but zeros, and the large pages around it are whole ones that hold it and no others.
func TestMake(t *testing.T) {
	for _, n := range []int{0, 1, 1000, page/8 - 1, page / 8, page/8 + 1, page / 4, page + 5, 2*page - 1} {
		s := Make[float64](n)
		if len(s) != n {
			t.Fatalf("%d values, want %d", len(s), n)
		}
		for i, v := range s {
			if v != 0 {
				t.Fatalf("value %d of %d is %v", i, n, v)
			}
			s[i] = float64(i)
		}
		first, bytes := around(s)
		if small := 8*n < page; small != (bytes == 0) {
			t.Errorf("%d bytes lie in %d bytes of large pages", 8*n, bytes)
		}
		if bytes == 0 {
			continue
		}
		at := uintptr(unsafe.Pointer(&s[0]))
		end, last := at+uintptr(8*n), first+bytes
		if first%page != 0 || bytes%page != 0 || first > at || at-first >= page || last < end || last-end >= page {
			t.Errorf("%d values at %x to %x: %d bytes from %x", n, at, end, bytes, first)
		}
	}
}
