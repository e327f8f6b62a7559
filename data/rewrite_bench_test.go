package data

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
)

// Copying 100,000 rows of text, of which every second has a cell to fill, and of which none has.
func BenchmarkRewrite(b *testing.B) {
	var text strings.Builder
	text.WriteString("id,x,y,z,note\n")
	for i := range 100_000 {
		fmt.Fprintf(&text, "%d,%d.25,,%d.125,\"a \"\"note\"\"\"\n", i, i%1000, i%77)
	}
	src, _, err := Load(context.Background(), "-", Options{Stdin: strings.NewReader(text.String()), Stream: true, Missing: "model", Exact: []string{"x", "y", "z"}})
	if err != nil {
		b.Fatal(err)
	}
	defer src.(io.Closer).Close()
	for _, every := range []int{2, 1 << 20} {
		b.Run(fmt.Sprint("every ", every), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for range b.N {
				r, err := NewRewriter(context.Background(), io.Discard, "csv", src, "")
				if err != nil || r.Next(1) != nil {
					b.Fatal(err)
				}
				cells := []NewCell{{1, 0.1234567890123}}
				for row := every; row <= 100_000; row += every {
					if _, err := r.Fill(int64(row), cells); err != nil {
						b.Fatal(err)
					}
				}
				if err := r.Close(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
