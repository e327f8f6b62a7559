package kern

import "bytes"

// Lines counts the line feeds of the first n bytes of b. The text is plain where these have no quote and no NUL, and no line feed in b is
// followed by another or by a carriage return, as at an empty line. Line feeds are counted where it is.
func Lines(b []byte, n int) (feeds int, plain bool) {
	feeds, done, plain := fastLines(b, n)
	if !plain {
		return 0, false
	}
	rest := b[done:]
	text := rest[:n-done]
	return feeds + bytes.Count(text, []byte{'\n'}), bytes.IndexByte(text, '"') < 0 && bytes.IndexByte(text, 0) < 0 &&
		!bytes.Contains(rest, []byte("\n\n")) && !bytes.Contains(rest, []byte("\n\r"))
}
