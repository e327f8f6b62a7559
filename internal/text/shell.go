package text

import (
	"strings"
	"unicode"
)

// ShellWord returns a word as it must be typed in a POSIX shell to arrive unchanged: as it stands, or in single quotes
// where it is empty or holds a character that the shell, or the reader's eye, would take for something else.
func ShellWord(word string) string {
	plain := word != ""
	for i, r := range word {
		switch {
		case r < unicode.MaxASCII && ('a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9'):
		case strings.ContainsRune("_-./:,%+@", r):
		case r == '=' && i > 0: // zsh expands a leading one
		case r > unicode.MaxASCII && unicode.IsLetter(r):
		default:
			plain = false
		}
	}
	if plain {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
