package data

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

// The limits are those of the group and of all above it; "max" is none, and what is not there is passed over.
func TestGroupLimits(t *testing.T) {
	files := map[string]string{
		"/c/memory.max": "max\n", "/c/a/memory.max": "2000\n", "/c/a/b/memory.max": "3000\n",
		"/c/memory/x/memory.limit_in_bytes": "500", "/c/memory/memory.limit_in_bytes": "9223372036854771712",
	}
	read := func(path string) ([]byte, error) {
		if s, ok := files[path]; ok {
			return []byte(s), nil
		}
		return nil, os.ErrNotExist
	}
	for _, c := range []struct{ groups, want string }{
		{"0::/a/b\n", "[3000 2000]"},
		{"0::/a/none\n", "[2000]"},
		{"0::/\n", "[]"},
		{"0::/../..\n", "[]"},
		{"5:cpu,memory:/x\n4:cpuset:/a\n", "[500 9223372036854771712]"},
		{"damaged", "[]"},
	} {
		if got := fmt.Sprint(groupLimits(c.groups, "/c", read)); got != c.want {
			t.Errorf("%q: %s, want %s", c.groups, got, c.want)
		}
	}
	if n := DefaultMaxMemory(); n < 1<<20 || n > 1<<50 {
		t.Errorf("half of the memory of this machine is %d bytes", n)
	}
}

// What is taken grows by what is mapped.
func TestTaken(t *testing.T) {
	addresses, private := taken()
	if private <= 0 || addresses < private {
		t.Fatalf("%d bytes of addresses, %d private", addresses, private)
	}
	const size = 512 << 20
	held, err := unix.Mmap(-1, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		t.Fatal(err)
	}
	if now, own := taken(); now < addresses+size/2 || own < private+size/2 {
		t.Errorf("%d bytes of addresses before, %d with %d more; %d and %d private", addresses, now, size, private, own)
	}
	if err := unix.Munmap(held); err != nil {
		t.Error(err)
	}
}
