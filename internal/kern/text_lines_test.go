package kern

import (
	"bytes"
	"math/rand/v2"
	"testing"
)

// loopLines is Lines byte by byte.
func loopLines(b []byte, n int) (feeds int, plain bool) {
	plain = true
	for i, c := range b {
		if c == '\n' && i+1 < len(b) && (b[i+1] == '\n' || b[i+1] == '\r') {
			plain = false
		}
		if i >= n {
			continue
		}
		if c == '\n' {
			feeds++
		}
		if c == '"' || c == 0 {
			plain = false
		}
	}
	return feeds, plain
}

func checkLines(t *testing.T, b []byte, n int) {
	t.Helper()
	feeds, plain := loopLines(b, n)
	if gotFeeds, gotPlain := Lines(b, n); plain && gotFeeds != feeds || gotPlain != plain {
		t.Fatalf("%d of %d bytes, %q: %d line feeds, plain %v; want %d, %v", n, len(b), b, gotFeeds, gotPlain, feeds, plain)
	}
}

// Lines of every length, with every odd thing at every place.
func TestLinesOfEveryLength(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(9, 1))
		for n := range 200 {
			for beyond := range 3 {
				b := make([]byte, n+beyond+1)[1:] // not aligned
				for i := range b {
					if b[i] = byte('0' + rng.IntN(10)); i > 0 && b[i-1] != '\n' && rng.IntN(4) == 0 {
						b[i] = '\n'
					}
				}
				checkLines(t, b, n)
				for _, odd := range []string{"\"", "\x00", "\n", "\r", "\n\n", "\n\r\n", "\r\n"} {
					for range 8 {
						at := rng.IntN(len(b) + 1)
						changed := append(bytes.Clone(b[:at]), b[at:]...)
						copy(changed[at:], odd)
						checkLines(t, changed, n)
					}
				}
			}
		}
		long := bytes.Repeat([]byte("1,2\n"), 70_000) // more than a byte counts
		checkLines(t, long, len(long))
	})
}

func FuzzLines(f *testing.F) {
	f.Add([]byte("a,\"b\"\r\n\r\n1,2\n3,4\n"), uint8(1))
	f.Add(bytes.Repeat([]byte("1,2,3\n"), 40), uint8(2))
	f.Fuzz(func(t *testing.T, b []byte, beyond uint8) {
		for _, l := range Levels() {
			func() {
				defer Use(l)()
				checkLines(t, b, max(len(b)-int(beyond%3), 0))
			}()
		}
	})
}
