package kern

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"testing"
)

// loopMarks is Marks byte by byte.
func loopMarks(b []byte, c byte) []uint64 {
	m := make([]uint64, (len(b)+63)/64)
	for i, v := range b {
		if v == c {
			m[i/64] |= 1 << (i % 64)
		}
	}
	return m
}

func TestMarksOfEveryLength(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(7, 8))
		for n := range 300 {
			b := make([]byte, n+1)[1:] // not aligned
			for i := range b {
				b[i] = byte(rng.IntN(4) * 127)
			}
			for _, c := range []byte{0, 127, 254, '\n'} {
				got := slices.Repeat([]uint64{7}, n/64+2)
				Marks(got, b, c)
				want := loopMarks(b, c)
				if !slices.Equal(got[:len(want)], want) || got[len(want)] != 7 {
					t.Fatalf("%d bytes, %d: %x, want %x", n, c, got, want)
				}
			}
		}
	})
}

func FuzzMarks(f *testing.F) {
	f.Add([]byte("a,\"b\"\r\n"), byte('"'))
	f.Add(bytes.Repeat([]byte{0x80, 0, 0x81, 0xFF}, 40), byte(0x80))
	f.Fuzz(func(t *testing.T, b []byte, c byte) {
		want := loopMarks(b, c)
		for _, l := range Levels() {
			func() {
				defer Use(l)()
				got := make([]uint64, len(want))
				if Marks(got, b, c); !slices.Equal(got, want) {
					t.Fatalf("%v: %x, want %x", l, got, want)
				}
			}()
		}
	})
}
