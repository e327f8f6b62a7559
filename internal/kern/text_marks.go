package kern

import "encoding/binary"

// Marks sets bit i%64 of dst[i/64] where b[i] is c, and all others of len(b)/64 words, rounded up, to 0.
func Marks(dst []uint64, b []byte, c byte) {
	dst = dst[:(len(b)+63)/64]
	whole := len(b) / 64
	if !fastMarks(dst[:whole], b, c) {
		for w := range whole {
			dst[w] = 0
			for i := 0; i < 64; i += 8 {
				dst[w] |= marks(binary.LittleEndian.Uint64(b[64*w+i:]), c) << i
			}
		}
	}
	if whole < len(dst) {
		dst[whole] = 0
		for i, v := range b[64*whole:] {
			if v == c {
				dst[whole] |= 1 << i
			}
		}
	}
}

// marks returns a bit for each of eight bytes, the first one lowest, that is c.
func marks(w uint64, c byte) uint64 {
	w ^= 0x0101010101010101 * uint64(c)
	other := w&0x7F7F7F7F7F7F7F7F + 0x7F7F7F7F7F7F7F7F | w // the highest bit of a byte is set where it is not 0
	return (^other & 0x8080808080808080 >> 7) * 0x0102040810204080 >> 56
}
