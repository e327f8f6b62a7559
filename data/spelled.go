package data

import "strings"

// Spelled returns what a cell, as Options.Carry hands it out, says in the file that f tells of: the number that it spells, or that
// it has no value. A text is neither.
func (f *Info) Spelled(cell string) (v float64, number, missing bool) {
	text := []byte(strings.Trim(cell, " \t\r\n"))
	mark := byte('.')
	if f.Decimal == "," {
		mark = ','
	}
	if f.na.has(text) {
		return 0, false, true
	}
	v, ok := parseDecimal(text, mark)
	if !ok && mark == ',' {
		v, _, ok = parseGrouped(text)
	}
	return v, ok, ok && f.na.hasNumber(v) && f.Delimiter == ""
}
