package data

import (
	"math"
	"math/big"
	"strings"
)

// exactBelow is where float64 begins to skip whole numbers: below 2^53 it holds all of them.
const exactBelow = 1 << 53

// roundsDigits reports whether the float64 nearest to a plain decimal is another number than its digits say: v is that
// float64, not smaller than 2^53 in size. Numbers with an exponent are measurements of a stated precision: they never count.
func roundsDigits(cell []byte, dec byte, v float64) bool {
	if len(cell) > 0 && (cell[0] == '-' || cell[0] == '+') {
		cell = cell[1:]
	}
	whole, rest := cell, []byte(nil)
	for i, c := range cell {
		if c-'0' > 9 {
			if c != dec {
				return false
			}
			whole, rest = cell[:i], cell[i+1:]
			break
		}
	}
	lost := false
	for _, c := range rest {
		if c-'0' > 9 {
			return false
		}
		lost = lost || c != '0' // beyond 2^53 float64 has no fractions
	}
	return lost || !sameInteger(whole, math.Abs(v))
}

// sameInteger reports whether the digits spell v, a whole number that is not negative.
func sameInteger(digits []byte, v float64) bool {
	if len(digits) <= 19 { // below 10^19 < 2^64
		u := uint64(0)
		for _, c := range digits {
			u = u*10 + uint64(c-'0')
		}
		return holdsUint(u)
	}
	if math.IsInf(v, 0) {
		return true // an infinite number is refused in other words
	}
	exact, _ := new(big.Float).SetFloat64(v).Int(nil)
	return strings.TrimLeft(string(digits), "0") == exact.String()
}

// holdsUint reports whether float64 holds u exactly.
func holdsUint(u uint64) bool {
	v := float64(u)
	return v < 1<<64 && uint64(v) == u
}

// holdsInt reports whether float64 holds i exactly.
func holdsInt(i int64) bool {
	v := float64(i)
	return v < 1<<63 && int64(v) == i
}

// parseGrouped reads a whole cell, trimmed, as a number with points between thousands and perhaps a decimal comma:
// 2.500 and -1.234.567,89. The first group has one to three digits and does not begin with 0, all others have three.
// rounded reports whether float64 does not hold its digits.
func parseGrouped(cell []byte) (v float64, rounded, ok bool) {
	whole, ok := groupedForm(cell, '.', ',')
	if !ok {
		return 0, false, false
	}
	plain := make([]byte, 0, len(cell))
	for i, c := range cell {
		if c != '.' || i > whole {
			plain = append(plain, c)
		}
	}
	v, ok = parseDecimal(plain, ',')
	return v, ok && math.Abs(v) >= exactBelow && roundsDigits(plain, ',', v), ok && !math.IsInf(v, 0)
}

// groupedForm reports whether a cell is a number with mark between its thousands, once at least, and returns how many
// bytes its whole part has. After the decimal mark any digits may follow.
func groupedForm(cell []byte, mark, dec byte) (whole int, ok bool) {
	i := 0
	if i < len(cell) && (cell[0] == '-' || cell[0] == '+') {
		i++
	}
	start := i
	for i < len(cell) && cell[i]-'0' <= 9 {
		i++
	}
	if n := i - start; n < 1 || n > 3 || cell[start] == '0' {
		return 0, false
	}
	groups := 0
	for i < len(cell) && cell[i] == mark {
		if len(cell)-i < 4 || cell[i+1]-'0' > 9 || cell[i+2]-'0' > 9 || cell[i+3]-'0' > 9 {
			return 0, false
		}
		i += 4
		groups++
	}
	whole = i
	if i < len(cell) && cell[i] == dec {
		for i++; i < len(cell) && cell[i]-'0' <= 9; i++ {
		}
	}
	return whole, groups > 0 && i == len(cell)
}
