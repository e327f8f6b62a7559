package data

import (
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
)

// Rows begin on the lines that a count of line ends outside quotes finds: after a header, empty lines and cells of several lines, in one
// chunk of the text or in many, compressed or not.
func TestLineOfARow(t *testing.T) {
	var text strings.Builder
	text.WriteString("a,b\n")
	want, line := []int64{}, int64(2)
	for i := range 90_000 {
		switch i % 7 {
		case 3:
			text.WriteString("\n")
			line++
		case 5:
			want = append(want, line)
			fmt.Fprintf(&text, "%d,\"x\ny\n\"\n", i)
			line += 3
			continue
		}
		want = append(want, line)
		fmt.Fprintf(&text, "%d,z\n", i)
		line++
	}
	plain := write(t, "f.csv", text.String())
	packed := plain + ".gz"
	if err := os.WriteFile(packed, gzipped([]byte(text.String())), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{plain, packed} {
		for _, row := range []int{1, 2, 3, 4, 5, 6, 7, 8, 40_000, 89_999, 90_000} {
			_, got, err := Line(context.Background(), path, Options{}, int64(row))
			if err != nil || got != want[row-1] {
				t.Errorf("%s: row %d begins on line %d, %v; want %d", path, row, got, err, want[row-1])
			}
		}
		for _, row := range []int64{-1, 0, 90_001} {
			if _, got, err := Line(context.Background(), path, Options{}, row); err != nil || got != 0 {
				t.Errorf("%s: row %d: line %d, %v", path, row, got, err)
			}
		}
	}
	if _, got, err := Line(context.Background(), "-", Options{Stdin: strings.NewReader("1\n")}, 1); err != nil || got != 0 {
		t.Errorf("standard input: line %d, %v", got, err)
	}
	if _, _, err := Line(context.Background(), "no_such_file.csv", Options{}, 1); err == nil {
		t.Error("there is no such file")
	}
}
