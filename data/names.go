package data

import (
	"fmt"
	"strings"
	"unicode"
)

// cleanName returns the name of a column as people see it: without white space and characters of no width at its ends,
// inside with a blank for other kinds of white space, and without those characters of no width that join nothing.
func cleanName(name string) string {
	plain := name == strings.TrimSpace(name)
	for i := 0; i < len(name) && plain; i++ {
		plain = ' ' <= name[i] && name[i] < 0x7F
	}
	if plain {
		return name
	}
	atEnd := func(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) || isHidden(r) }
	name = strings.TrimFunc(name, atEnd)
	var b strings.Builder
	blank := false // the last character was an unusual one that became a blank
	for _, r := range name {
		switch joins := r == 0x200C || r == 0x200D; {
		case isHidden(r) && !joins:
		case r != ' ' && (unicode.IsSpace(r) || unicode.IsControl(r)):
			if !blank {
				b.WriteByte(' ')
			}
			blank = true
		default:
			b.WriteRune(r)
			blank = false
		}
	}
	return b.String()
}

// cleanNames cleans all names, and says of each that was another one before.
func cleanNames(names []string) (clean, notes []string) {
	clean = make([]string, len(names))
	for i, n := range names {
		if clean[i] = cleanName(n); clean[i] == n {
			continue
		}
		switch what := "blanks or other characters that cannot be seen"; {
		case clean[i] == "":
			notes = append(notes, fmt.Sprintf("the name of column %d is nothing but %s; it counts as a column without a name", i+1, what))
		default:
			notes = append(notes, fmt.Sprintf("the name of column %d (%+q) holds %s; it is read as %q", i+1, n, what, clean[i]))
		}
	}
	return clean, notes
}

// otherCase returns the names that differ from name in upper and lower case alone.
func otherCase(name string, names []string) []string {
	var out []string
	for _, n := range names {
		if n != name && strings.EqualFold(n, name) {
			out = append(out, n)
		}
	}
	return out
}
