package data

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

func TestBlankLinesAreNamed(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a,b\n1,2\n3,4\n", ""},
		{"a,b\n1,2\n3,4", ""},
		{"a,b\n1,2\n\n3,4\n", "1 empty line skipped (line 3)"},
		{"a,b\r\n1,2\r\n\r\n3,4", "1 empty line skipped (line 3)"},
		{"\n\na,b\n1,2\n3,4\n", "2 empty lines skipped (lines 1, 2)"},
		{"a,b\n\n1,2\n3,4\n\n\n", "3 empty lines skipped (lines 2, 5, 6)"},
		{"a,b\n\n\n1,2\n3,4\n", "2 empty lines skipped (lines 2, 3)"},
		{"a,b,c\n1,2,\"x\n\ny\"\n3,4,z\n", ""},
		{"a,b,c\n1,2,\"x\n\ny\"\n\n3,4,z\n", "1 empty line skipped (line 5)"},
		{"a\n1\n\n2\n", "1 empty line skipped (line 3); a missing value must be written NA in a file of one column"},
		{"a,b\n1,2\n" + strings.Repeat("\n", 12) + "3,4\n", "12 empty lines skipped (lines 3, 4, 5, 6, 7, 8, 9, 10, ...)"},
	} {
		info, table := loadText(t, c.text, Options{Threads: 1})
		if got := strings.Join(info.Warnings, "\n"); got != c.want || table.N != 2 {
			t.Errorf("%q: %d rows, warnings %q, want %q", c.text, table.N, got, c.want)
		}
	}
}

// TestBlankLinesInChunks compares with a walk over the bytes, on text of several chunks with quotes across their borders.
func TestBlankLinesInChunks(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	for range 6 {
		var b bytes.Buffer
		b.WriteString("a,b,c\n")
		for b.Len() < 3*chunkSize {
			switch rng.IntN(50_000) {
			case 0:
				b.WriteString(strings.Repeat("\n", 1+rng.IntN(3)))
			case 1:
				fmt.Fprintf(&b, "1,2,\"%s\"\n", strings.Repeat("x\n\n", rng.IntN(chunkSize/3)))
			default:
				b.WriteString("1,2,x\n")
			}
		}
		var want blankLines
		line, in := int64(1), false
		text := b.Bytes()
		for i, c := range text {
			switch c {
			case '"':
				in = !in
			case '\n':
				if line++; !in && i+1 < len(text) && text[i+1] == '\n' {
					want.add(line)
				}
			}
		}
		f, err := openCSV(context.Background(), bytes.NewReader(text), int64(len(text)), "t.csv", Options{Threads: 2})
		if err != nil {
			t.Fatal(err)
		}
		if f.blank.n != want.n || !slices.Equal(f.blank.at, want.at) {
			t.Errorf("got %v, want %v", f.blank, want)
		}
	}
}
