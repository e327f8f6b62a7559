package data

import (
	"bytes"
	"slices"
	"strings"
)

// naTexts are the texts that count as missing beside the empty cell, in any case; nil for those of isMissing.
type naTexts struct {
	texts   []string
	numbers []float64 // those that spell numbers: what they are in files whose cells have no text
}

// newNA returns the texts that the options name; nil for the usual ones.
func newNA(o *Options) *naTexts {
	if !o.NASet && len(o.NA) == 0 {
		return nil
	}
	n := new(naTexts)
	for _, s := range o.NA {
		if s = strings.Trim(s, " \t\r\n"); s == "" || slices.Contains(n.texts, s) {
			continue
		}
		n.texts = append(n.texts, s)
		if v, ok := parseDecimal([]byte(s), '.'); ok {
			n.numbers = append(n.numbers, v)
		}
	}
	return n
}

// has reports whether a trimmed cell says that there is no value.
func (n *naTexts) has(cell []byte) bool {
	if n == nil {
		return isMissing(cell)
	}
	if len(cell) == 0 {
		return true
	}
	for _, s := range n.texts {
		if bytes.EqualFold(cell, []byte(s)) {
			return true
		}
	}
	return false
}

// hasNumber reports whether a number says that there is no value.
func (n *naTexts) hasNumber(v float64) bool { return n != nil && slices.Contains(n.numbers, v) }

// spellsNumber reports whether one of the texts is a number, with either decimal mark.
func (n *naTexts) spellsNumber() bool {
	return n != nil && slices.ContainsFunc(n.texts, func(s string) bool { return isNumber(s, '.') || isNumber(s, ',') })
}

// isNumeric reports whether the cells of a column are numbers by their type, which have no text of their own.
func (l *loader) isNumeric(c int) bool {
	n, ok := l.file.cells.(interface{ numeric(column int) bool })
	return ok && n.numeric(c)
}

// isMissing reports whether a text of a column, trimmed, says that there is no value.
func (l *loader) isMissing(c int, text string) bool {
	if l.na.has([]byte(text)) {
		return true
	}
	if l.na == nil || !l.isNumeric(c) {
		return false
	}
	v, ok := parseDecimal([]byte(text), '.')
	return ok && l.na.hasNumber(v)
}
