//go:build !purego

package kern

func fastDecimals(dst []float64, b []byte, i int, delim, dec byte, pow *powers) (n, end int, ok bool) {
	if level == Go || len(dst) == 0 || i < decimalRoom {
		return 0, 0, false
	}
	n, end = decimalsAVX2(&dst[0], len(dst), &b[0], i, len(b)-decimalRoom, delim, dec, &pow.down[0].mantissa)
	return n, end, true
}

func fastMarks(dst []uint64, b []byte, c byte) bool {
	if level == Go || len(dst) == 0 {
		return false
	}
	marksAVX2(&dst[0], &b[0], len(dst), c)
	return true
}

// linesAtOnce is how many words are looked at before it is seen that the text is not plain.
const linesAtOnce = 64

func fastLines(b []byte, n int) (feeds, done int, plain bool) {
	for words := min(n, len(b)-1) / 64; words > 0 && level != Go; {
		some := min(words, linesAtOnce)
		more, odd := linesAVX2(&b[done], some)
		if feeds, done, words = feeds+more, done+64*some, words-some; odd != 0 {
			return feeds, done, false
		}
	}
	return feeds, done, true
}
