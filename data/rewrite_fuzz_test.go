package data

import (
	"context"
	"io"
	"slices"
	"strings"
	"testing"
)

// cellsOf reads every cell of a text as it stands, by another pass than the one that copies, and which cells of the features are missing.
func cellsOf(o Options) (cells []string, gaps map[int]int, src Source, info *Info, err error) {
	o.Stream, o.Carry, o.Missing, o.AllowEmpty = true, true, "model", true
	src, info, err = Load(context.Background(), "-", o)
	if err != nil {
		return nil, nil, nil, nil, err
	}
	gaps = map[int]int{} // cell -> feature
	r, err := src.Open(context.Background())
	if err != nil {
		return nil, nil, nil, nil, err
	}
	defer r.Close()
	d := len(info.Columns)
	var b Block
	for {
		if err := r.Read(&b, 50); err == io.EOF {
			return cells, gaps, src, info, nil
		} else if err != nil {
			return nil, nil, nil, nil, err
		}
		for i := range b.N {
			for j, name := range info.Features {
				if v := b.At(i, j); v != v {
					gaps[len(cells)+slices.IndexFunc(info.Columns, func(c Column) bool { return c.Name == name })] = j
				}
			}
			cells = append(cells, b.Cells[i*d:(i+1)*d]...)
		}
	}
}

// Whatever the text, a table without gaps comes out as it went in; where there are gaps, they are filled and all other cells stay. Two
// copies have every cell twice.
func FuzzRewrite(f *testing.F) {
	for _, s := range []string{"x,y\n1,2\n3,4\n", "x,y\n1,\n,4", "a;b\r\n1,5;\"NA\"\r\n\r\n2;x\r\n3;y", "\xEF\xBB\xBF1 2\n  NA 3 \n4 ?\n", "x\n1\n\"\"\n2\n", "g,x\n\"a\nb\",1\n\"\",2\n\"a\"\"b\", NA \nc,3\n", "x\ty\n1\t\n \t2\n3\tnull\n"} {
		f.Add(s, byte(0))
		f.Add(s, byte(5))
	}
	f.Fuzz(func(t *testing.T, in string, how byte) {
		o := Options{Mixed: how&1 == 0, MaxMemory: 64 << 20, Threads: 1 + int(how>>1&1)}
		if how&4 != 0 {
			o.NA, o.NASet = []string{"7", "x"}, true
		}
		o.Stdin = strings.NewReader(in)
		was, gaps, src, info, err := cellsOf(o)
		if err != nil {
			return
		}
		defer src.(io.Closer).Close()
		copied := func(lead string, copies int) string {
			var out strings.Builder
			r, err := NewRewriter(context.Background(), &out, "csv", src, lead)
			if err != nil {
				t.Fatal(err)
			}
			for n := range copies {
				if err := r.Next(int64(n)); err != nil {
					t.Fatal(err)
				}
				for row := range len(was) / len(info.Columns) {
					var cells []NewCell
					for c := range info.Columns {
						if j, ok := gaps[row*len(info.Columns)+c]; ok {
							cells = append(cells, NewCell{j, float64(1 - min(1, len(src.(*stream).l.levelsOf(j))))})
						}
					}
					if cells == nil {
						continue
					}
					if n, err := r.Fill(int64(row+1), cells); err != nil || n != len(cells) {
						t.Fatalf("row %d: %d of %d cells, %v", row+1, n, len(cells), err)
					}
				}
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			return out.String()
		}
		once := copied("", 1)
		if len(gaps) == 0 && once != in {
			t.Fatalf("%q becomes %q", in, once)
		}
		read := func(text string) (all []string) {
			s, _, err := Load(context.Background(), "-", Options{Delimiter: info.Delimiter, Decimal: info.Decimal, Header: map[bool]string{true: "yes", false: "no"}[info.Header], Stream: true, Carry: true,
				Categories: true, Columns: []string{"1"}, NASet: true, NA: []string{"no text"}, Missing: "model", AllowEmpty: true, MaxMemory: o.MaxMemory, Stdin: strings.NewReader(text)})
			if err != nil {
				return nil // the first column has more levels than there may be, or is empty
			}
			defer s.(io.Closer).Close()
			r, err := s.Open(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			defer r.Close()
			var b Block
			for r.Read(&b, 99) == nil {
				all = append(all, b.Cells...)
			}
			return all
		}
		want := slices.Clone(was)
		for at, j := range gaps {
			want[at] = "1"
			if names := src.(*stream).l.levelsOf(j); names != nil {
				want[at] = names[0]
			}
		}
		if got := read(once); got != nil && !slices.EqualFunc(got, want, func(a, b string) bool { return a == b || validText(a) == b }) {
			t.Fatalf("%q becomes %q, which reads as %q, want %q", in, once, got, want)
		}
		d := len(info.Columns)
		var twice []string
		for n := range 2 {
			for row := range slices.Chunk(want, d) {
				twice = append(append(twice, string('0'+rune(n))), row...)
			}
		}
		if got := read(copied("draw", 2)); got != nil && !slices.EqualFunc(got, twice, func(a, b string) bool { return a == b || validText(a) == b }) {
			t.Fatalf("%q twice reads as %q, want %q", in, got, twice)
		}
	})
}
