package data

import (
	"fmt"
	"strings"

	txt "github.com/latent-go/latent/internal/text"
)

// An Error says what is wrong with a file, where, and what to do about it. Parts that are not known are zero.
type Error struct {
	File   string
	Line   int64 // line in the file, from 1
	Row    int64 // data row, from 1; printed only for formats without lines
	Column string
	Msg    string

	// follows is set when Msg continues the name of the column: `column "x" has no value here`.
	follows bool
}

// Error returns `file:line: column "x": msg`, with the parts that are set.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString(e.File)
	switch {
	case e.Line > 0:
		fmt.Fprintf(&b, ":%d: ", e.Line)
	case e.Row > 0:
		fmt.Fprintf(&b, ": row %d, ", e.Row)
	case e.File != "":
		b.WriteString(": ")
	}
	if e.Column != "" {
		fmt.Fprintf(&b, "column %q", e.Column)
		if e.follows {
			b.WriteByte(' ')
		} else {
			b.WriteString(": ")
		}
	}
	b.WriteString(e.Msg)
	return b.String()
}

// fileError is an Error about a whole file.
func fileError(name, format string, args ...any) *Error {
	return &Error{File: name, Msg: fmt.Sprintf(format, args...)}
}

// lineError is an Error about a line.
func lineError(name string, line int64, format string, args ...any) *Error {
	return &Error{File: name, Line: line, Msg: fmt.Sprintf(format, args...)}
}

// columnError is an Error about a column as a whole.
func columnError(name, column, format string, args ...any) *Error {
	return &Error{File: name, Column: column, Msg: fmt.Sprintf(format, args...)}
}

// counted returns "1 row" or "3,000 rows".
func counted(n int64, noun string) string { return txt.Count(n, noun) }

// plural returns n with the words for one or for many.
func plural(n int64, one, many string) string {
	return thousands(n) + " " + txt.Form(n, one, many)
}

// thousands writes 3000000 as "3,000,000".
func thousands(n int64) string { return txt.Thousands(n) }
