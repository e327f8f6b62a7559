package main

import (
	"bytes"
	"io"
)

// printable writes text without control characters, those of new lines apart: names come from files, and a terminal obeys
// escape codes. Each stands as a question mark.
type printable struct{ w io.Writer }

func (p printable) Write(b []byte) (int, error) {
	if bytes.ContainsFunc(b, control) {
		plain := bytes.Map(func(c rune) rune {
			if control(c) {
				return '?'
			}
			return c
		}, b)
		_, err := p.w.Write(plain)
		return len(b), err
	}
	return p.w.Write(b)
}

func control(c rune) bool { return c < ' ' && c != '\n' || c >= 0x7f && c < 0xa0 }
