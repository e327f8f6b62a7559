package data

import (
	"math"
	"strconv"
	"strings"
)

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
