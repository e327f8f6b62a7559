package kern

import (
	"encoding/binary"
	"math/bits"
)

// decimalRoom is how many bytes of text must stand on either side of a cell that Decimals reads, so that vectors can be loaded.
const decimalRoom = 34

// mostDecimals is how many numbers Decimals reads at a time: some 20 microseconds, since assembly cannot be preempted.
const mostDecimals = 4096

// Decimals reads numbers that stand side by side in text, dst[0] from the cell that starts at b[i]. It returns how many it has
// read and the index of the byte after the last of them, which is delim or the beginning of a line end: it goes on to the next cell
// until dst is full or 4096 are read, after the last cell of a line, and before a cell that it does not read. Of none it returns n = 0, and end
// means nothing.
//
// It reads cells of at most 31 bytes: digits, with at most one decimal mark dec and perhaps a minus in front, that spell less than
// 10^19 without the mark, and less than 2^53 with it; where they have more than 50 bits, one product must decide how they are
// rounded, and else no more than 22 of them follow the mark. They end in delim, LF or CRLF. Any other cell is for Decimal, and so are those within 34 bytes of an end of b.
func Decimals(dst []float64, b []byte, i int, delim, dec byte) (n, end int) {
	dst, pow := dst[:min(len(dst), mostDecimals)], powersOfTen()
	if n, end, ok := fastDecimals(dst, b, i, delim, dec, pow); ok {
		return n, end
	}
	for n < len(dst) && decimalRoom <= i && i <= len(b)-decimalRoom {
		minus := isMinus(b[i])
		man, fraction, e, ok := digits(b, i+int(minus), dec)
		if !ok || e-i > 31 {
			break
		}
		last := b[e] != delim
		if last && b[e] != '\n' && (b[e] != '\r' || b[e+1] != '\n') {
			break
		}
		if dst[n], ok = pow.below(man, fraction, minus); !ok {
			break
		}
		n, end, i = n+1, e, e+1
		if last {
			break
		}
	}
	return n, end
}

// Decimal reads the plain decimal that starts at b[i]: an optional sign, digits with at most one decimal mark,
// an optional exponent. It returns the correctly rounded value and the index of the byte after it. It does not
// say ok for what it cannot round itself: digits that spell 10^19 and more, far exponents, and a few halves.
// At least 8 bytes of b must follow any cell, so that words can be loaded.
func Decimal(b []byte, i int, dec byte) (v float64, end int, ok bool) {
	minus := isMinus(b[i])
	if i += int(minus); minus == 0 && b[i] == '+' {
		i++
	}
	man, fraction, i, ok := digits(b, i, dec)
	if !ok {
		return 0, i, false
	}
	exp := -fraction
	if b[i]|0x20 == 'e' {
		var e int
		if e, i, ok = exponent(b, i+1); !ok {
			return 0, i, false
		}
		exp += e
	}
	v, ok = powersOfTen().float(man, exp, minus)
	return v, i, ok
}

// isMinus returns 1 for '-' and 0 for any other byte, without a branch: signs are often random.
func isMinus(c byte) uint64 { return (uint64(c^'-') - 1) >> 63 }

// digits reads digits with at most one decimal mark from b[i] on: the number that they spell without it, if that is less than
// 10^19, and how many of them follow it. It takes eight at a time, and moves those of the last word to where they count, so that
// few branches depend on how many there are.
func digits(b []byte, i int, dec byte) (man uint64, fraction, end int, ok bool) {
	start := i
	man, i = run(b, i, 0)
	n := i - start
	if b[i] == dec {
		man, end = run(b, i+1, man)
		fraction = end - i - 1
		n, i = n+fraction, end
	}
	if n > 19 {
		man, ok = spelled(b[start:i])
		return man, fraction, i, ok && b[i]-'0' > 9 // run has read all
	}
	return man, fraction, i, n > 0
}

// run reads digits from b[i] on, at most 31 of them, as if they followed those of man. With more than 19 in all man is of no use.
func run(b []byte, i int, man uint64) (uint64, int) {
	w := digitsAt(b, i)
	for last := i + 24; w.run() == 8 && i < last; w = digitsAt(b, i) {
		man = man*1e8 + w.value()
		i += 8
	}
	n := w.run()
	return man*tens[n] + w.first(n), i + n
}

// spelled returns the number that digits and a decimal mark spell without the mark, if it is less than 10^19.
func spelled(b []byte) (man uint64, ok bool) {
	for _, c := range b {
		if c-'0' > 9 {
			continue
		}
		if man >= 1e18 {
			return 0, false
		}
		man = man*10 + uint64(c-'0')
	}
	return man, true
}

// exponent reads the digits of an exponent, with its sign, from b[i].
func exponent(b []byte, i int) (e, end int, ok bool) {
	neg := b[i] == '-'
	if neg || b[i] == '+' {
		i++
	}
	start := i
	for c := b[i] - '0'; c <= 9; c = b[i] - '0' {
		if e < 1e6 { // beyond any float64: the exact number no longer matters
			e = e*10 + int(c)
		}
		i++
	}
	if neg {
		e = -e
	}
	return e, i, i > start
}

// eight is eight bytes of text, the first one lowest, less '0': 0 to 9 where they are digits, and more where they are not.
type eight uint64

func digitsAt(b []byte, i int) eight {
	return eight(binary.LittleEndian.Uint64(b[i:]) ^ 0x3030303030303030)
}

// run returns how many of the bytes are digits before the first that is none.
func (w eight) run() int {
	other := (w&0x7F7F7F7F7F7F7F7F + 0x7676767676767676) | w // above 9: the highest bit is set
	return bits.TrailingZeros64(uint64(other&0x8080808080808080)) / 8
}

// value returns the number that eight digits spell.
func (w eight) value() uint64 {
	w = w*10 + w>>8 // pairs
	return uint64((w&0x000000FF000000FF)*(100+1000000<<32)+(w>>16&0x000000FF000000FF)*(1+10000<<32)) >> 32
}

// first returns the number that the first n digits spell, n below 8.
func (w eight) first(n int) uint64 { return (w << 8 << ((56 - 8*n) & 63)).value() } // zeros come in front

// tens are the powers of ten that go with the digits of a word.
var tens = [...]uint64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}
