package data

import (
	"encoding/binary"
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
	"sync"
)

// scanNumber reads the plain decimal that starts at b[i]: an optional sign, digits with at most one decimal mark,
// an optional exponent. It returns the correctly rounded value and the index of the byte after it. It does not
// say ok for what it cannot round itself (over 19 digits, far exponents): parseDecimal does the rest.
// At least 8 bytes of b must follow any cell, so that words can be loaded.
func scanNumber(b []byte, i int, dec byte, pow *powers) (v float64, end int, ok bool) {
	neg := b[i] == '-'
	if neg || b[i] == '+' {
		i++
	}
	start := i
	var man uint64
	for c := b[i] - '0'; c <= 9; c = b[i] - '0' {
		man = man*10 + uint64(c)
		i++
	}
	digits, significant, exp := i-start, i-start, 0
	if b[i] == dec {
		i++
		point := i
		if man == 0 && digits <= 19 { // zeros in front take no room in man, which more digits could have overflowed to 0
			significant = 0
			for b[i] == '0' {
				i++
			}
		}
		first := i
		for {
			w := binary.LittleEndian.Uint64(b[i:])
			if !eightDigits(w) {
				break
			}
			man = man*1e8 + eightDigitValue(w)
			i += 8
			if i-first > 24 {
				break
			}
		}
		for c := b[i] - '0'; c <= 9; c = b[i] - '0' {
			man = man*10 + uint64(c)
			i++
		}
		significant += i - first
		digits += i - point
		exp = point - i
	}
	if digits == 0 || significant > 19 {
		return 0, i, false
	}
	if b[i]|0x20 == 'e' {
		var e int
		if e, i, ok = scanExponent(b, i+1); !ok {
			return 0, i, false
		}
		exp += e
	}
	v, ok = pow.float(man, exp, neg)
	return v, i, ok
}

// scanExponent reads the digits of an exponent, with its sign, from b[i].
func scanExponent(b []byte, i int) (e, end int, ok bool) {
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

// eightDigits reports whether all eight bytes of w are ASCII digits.
func eightDigits(w uint64) bool {
	return (w&0xF0F0F0F0F0F0F0F0)|((w+0x0606060606060606)&0xF0F0F0F0F0F0F0F0)>>4 == 0x3333333333333333
}

// eightDigitValue returns the number that eight ASCII digits spell, the first one in the lowest byte.
func eightDigitValue(w uint64) uint64 {
	w -= 0x3030303030303030
	w = w*10 + w>>8 // pairs
	return ((w&0x000000FF000000FF)*(100+1000000<<32) + (w>>16&0x000000FF000000FF)*(1+10000<<32)) >> 32
}

// powers holds 10^e for the exponents that occur in practice, as 128-bit mantissas cut off after the last bit and
// with the highest bit set. Beyond them strconv does the work.
type powers struct {
	hi, lo [2*maxPower + 1]uint64
}

const maxPower = 64

// powersOfTen makes the table on first use: 129 divisions of big numbers, some 50 microseconds.
var powersOfTen = sync.OnceValue(func() *powers {
	p, ten := new(powers), big.NewInt(10)
	for e := -maxPower; e <= maxPower; e++ {
		m := new(big.Int).Exp(ten, big.NewInt(int64(max(e, -e))), nil)
		if e < 0 {
			m.Quo(new(big.Int).Lsh(big.NewInt(1), 512), m)
		}
		if shift := m.BitLen() - 128; shift > 0 {
			m.Rsh(m, uint(shift))
		} else {
			m.Lsh(m, uint(-shift))
		}
		p.lo[e+maxPower] = new(big.Int).And(m, new(big.Int).SetUint64(math.MaxUint64)).Uint64()
		p.hi[e+maxPower] = m.Rsh(m, 64).Uint64()
	}
	return p
})

// smallPowers are the powers of ten that are exact float64 values.
var smallPowers = [...]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
	1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// float returns man * 10^exp, correctly rounded; not ok where that needs more than 128 bits or is not a normal
// number. Small cases take one exact operation (Clinger 1990), the rest Eisel and Lemire's method (Lemire 2021,
// "Number parsing at a gigabyte per second", section 5).
func (p *powers) float(man uint64, exp int, neg bool) (float64, bool) {
	if man < 1<<53 && -22 <= exp && exp <= 22 {
		v := float64(man)
		if exp < 0 {
			v /= smallPowers[-exp]
		} else {
			v *= smallPowers[exp]
		}
		if neg {
			v = -v
		}
		return v, true
	}
	if exp < -maxPower || exp > maxPower || man == 0 {
		return 0, false
	}
	lead := bits.LeadingZeros64(man)
	man <<= uint(lead)
	exp2 := uint64(217706*exp>>16+64+1023) - uint64(lead) // 217706/2^16 = log2(10)
	hi, lo := bits.Mul64(man, p.hi[exp+maxPower])
	if hi&0x1FF == 0x1FF && lo+man < man { // the cut-off bits could matter: take the lower half in
		yHi, yLo := bits.Mul64(man, p.lo[exp+maxPower])
		mid, carry := bits.Add64(lo, yHi, 0)
		top := hi + carry
		if top&0x1FF == 0x1FF && mid+1 == 0 && yLo+man < man {
			return 0, false
		}
		hi, lo = top, mid
	}
	msb := hi >> 63
	m := hi >> (msb + 9) // 54 bits
	exp2 -= 1 ^ msb
	if lo == 0 && hi&0x1FF == 0 && m&3 == 1 { // perhaps exactly half-way
		return 0, false
	}
	m += m & 1
	m >>= 1
	if m>>53 > 0 {
		m >>= 1
		exp2++
	}
	if exp2-1 >= 0x7FF-1 { // zero, subnormal or infinite
		return 0, false
	}
	b := exp2<<52 | m&(1<<52-1)
	if neg {
		b |= 1 << 63
	}
	return math.Float64frombits(b), true
}

// parseDecimal reads a whole cell, trimmed, as a plain decimal. A number beyond float64 comes back infinite.
func parseDecimal(cell []byte, dec byte) (v float64, ok bool) {
	if !plainDecimal(cell, dec) {
		return 0, false
	}
	s := string(cell)
	if dec != '.' {
		s = strings.Replace(s, string(dec), ".", 1)
	}
	v, _ = strconv.ParseFloat(s, 64) // the form is known to be right; the only error left is the range
	return v, true
}

// plainDecimal reports whether the cell has the form of a plain decimal. strconv alone would also take 0x1p-2, 1_000
// and Inf.
func plainDecimal(cell []byte, dec byte) bool {
	i, digits := 0, 0
	run := func() {
		for i < len(cell) && cell[i]-'0' <= 9 {
			i++
			digits++
		}
	}
	sign := func() {
		if i < len(cell) && (cell[i] == '-' || cell[i] == '+') {
			i++
		}
	}
	sign()
	run()
	if i < len(cell) && cell[i] == dec {
		i++
		run()
	}
	if digits == 0 {
		return false
	}
	if i < len(cell) && cell[i]|0x20 == 'e' {
		i++
		sign()
		digits = 0
		run()
		if digits == 0 {
			return false
		}
	}
	return i == len(cell)
}

// classify says what a trimmed cell is. The value is set for finite numbers only.
func classify(cell []byte, dec byte, na *naTexts) (v float64, kind cellKind, finite bool) {
	if na.has(cell) {
		return math.NaN(), missingCell, false
	}
	v, ok := parseDecimal(cell, dec)
	switch {
	case !ok && isInfinity(cell), ok && math.IsInf(v, 0):
		return math.NaN(), infiniteCell, false
	case !ok:
		return math.NaN(), textCell, false
	}
	return v, 0, true
}

// isMissing reports whether a trimmed cell says that there is no value, where Options.NA does not say how.
func isMissing(cell []byte) bool {
	switch len(cell) {
	case 0:
		return true
	case 1:
		return cell[0] == '?'
	case 2:
		return foldEqual(cell, "na")
	case 3:
		return foldEqual(cell, "n/a") || foldEqual(cell, "nan")
	case 4:
		return foldEqual(cell, "null")
	}
	return false
}

// isInfinity reports whether a trimmed cell names an infinite number.
func isInfinity(cell []byte) bool {
	if len(cell) > 0 && (cell[0] == '-' || cell[0] == '+') {
		cell = cell[1:]
	}
	return foldEqual(cell, "inf") || foldEqual(cell, "infinity")
}

// foldEqual compares a cell with a lower-case ASCII word, in any case.
func foldEqual(cell []byte, word string) bool {
	if len(cell) != len(word) {
		return false
	}
	for i, c := range cell {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		if c != word[i] {
			return false
		}
	}
	return true
}
