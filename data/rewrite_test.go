package data

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// rewritten copies a table and fills every gap of the features with what value gives.
func rewritten(path string, o Options, format, lead string, copies int, value func(number, row int64, feature int) float64) (string, int, error) {
	ctx := context.Background()
	o.Stream, o.Missing = true, "model"
	src, _, err := Load(ctx, path, o)
	if err != nil {
		return "", 0, err
	}
	defer src.(io.Closer).Close()
	var out bytes.Buffer
	r, err := NewRewriter(ctx, &out, format, src, lead)
	if err != nil {
		return "", 0, err
	}
	filled := 0
	for number := int64(1); number <= int64(copies); number++ {
		if err := r.Next(number); err != nil {
			return "", 0, err
		}
		pass, err := src.Open(ctx)
		if err != nil {
			return "", 0, err
		}
		var b Block
		for pass.Read(&b, 100) == nil {
			for i := range b.N {
				var cells []NewCell
				for j := range b.D {
					if v := b.At(i, j); v != v {
						cells = append(cells, NewCell{j, value(number, b.Number(i), j)})
					}
				}
				if cells == nil {
					continue
				}
				n, err := r.Fill(b.Number(i), cells)
				if err != nil {
					return "", 0, err
				}
				filled += n
			}
		}
		pass.Close()
	}
	err = r.Close()
	return out.String(), filled, err
}

// A form is how a made table is written.
type form struct {
	delim, eol, decimal string
	header, bom, end    bool // end: the last line has its end
}

// made writes rows of an id, a number and a category in a form, in two ways: with gaps, and with 2.5 and "a b" in their place.
func made(rng *rand.Rand, f form, n int) (with, without string, gaps int) {
	pick := func(s ...string) string { return s[rng.IntN(len(s))] }
	var a, b strings.Builder
	both := func(s string) { a.WriteString(s); b.WriteString(s) }
	blank := func() string {
		if f.delim == " " {
			return ""
		}
		return pick("", "", "", " ", "  ")
	}
	gap := func(fill string) {
		empty := []string{"", "NA", `"NA"`, "nan", `""`, "?"}
		if f.delim == " " {
			empty = empty[1:]
		}
		before, after := blank(), blank()
		s := pick(empty...)
		if s == "" { // all blanks of an empty cell stand before it
			before, after = before+after, ""
		}
		a.WriteString(before + s + after)
		b.WriteString(before + fill + after)
		gaps++
	}
	number := "2" + f.decimal + "5"
	if f.delim == f.decimal {
		number = `"` + number + `"`
	}
	level := "a b"
	if f.delim == " " {
		level = `"a b"`
	}
	if f.bom {
		both("\xEF\xBB\xBF")
	}
	if f.header {
		both(pick("", f.eol, "\n"+f.eol) + strings.Join([]string{`"an id"`, "x", "g"}, f.delim) + f.eol)
	}
	for i := range n {
		if rng.IntN(10) == 0 {
			both(pick(f.eol, f.eol+f.eol))
		}
		both(pick("7", `"q""q"`, `"two`+f.eol+`lines"`, `"a`+f.delim+`b"`, "plain") + f.delim)
		if rng.IntN(4) == 0 && i > 4 {
			gap(number)
		} else if f.delim == f.decimal {
			both(blank() + pick("1", "-3", `"1`+f.decimal+`50"`, `"+7"`) + blank())
		} else {
			both(blank() + pick("1", "-3", "1"+f.decimal+"50", "0", `"12"`, "1e2") + blank())
		}
		both(f.delim)
		if rng.IntN(4) == 0 && i > 4 {
			gap(level)
		} else {
			both(blank() + pick(level, `"a b"`, `"z"`, "z", `"it""s"`) + blank())
		}
		if i+1 < n || f.end {
			both(f.eol)
		}
	}
	return a.String(), b.String(), gaps
}

// Text comes out as it went in, to the byte, but for the gaps: with any delimiter, line end, decimal mark, header, quotes, blanks and empty
// lines; from a file, compressed and from a pipe.
func TestTextIsCopiedToTheByte(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 1))
	rounds := 300
	if testing.Short() {
		rounds = 30
	}
	for round := range rounds {
		f := form{eol: "\n", decimal: ".", header: rng.IntN(2) == 0, bom: rng.IntN(3) == 0, end: rng.IntN(2) == 0}
		f.delim = []string{",", ";", "\t", "|", " "}[rng.IntN(5)]
		if rng.IntN(2) == 0 {
			f.eol = "\r\n"
		}
		if rng.IntN(3) == 0 {
			f.decimal = ","
		}
		n := 5 + rng.IntN(40)
		if round%50 == 0 {
			n = 40_000 // several spans
		}
		in, want, gaps := made(rng, f, n)
		o := Options{Mixed: true, Delimiter: f.delim, Decimal: f.decimal, Header: map[bool]string{true: "yes", false: "no"}[f.header], Exact: []string{"x", "g"},
			ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"z", "a b", `it"s`}}, Threads: 1 + rng.IntN(3)}
		if !f.header {
			o.Exact = []string{"2", "3"}
			o.ExactTypes = []Type{Number, Category}
		}
		path := filepath.Join(t.TempDir(), "in.csv")
		text := []byte(in)
		switch round % 3 {
		case 1:
			text = gzipped(text)
		case 2:
			o.Stdin, path = strings.NewReader(in), "-"
		}
		if path != "-" {
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
		}
		got, filled, err := rewritten(path, o, "csv", "", 1, func(_, _ int64, j int) float64 { return []float64{2.5, 1}[j] })
		if err != nil {
			t.Fatalf("%+v: %v\n%s", f, err, in[:min(len(in), 500)])
		}
		if got != want || filled != gaps {
			at := 0
			for at < len(got) && at < len(want) && got[at] == want[at] {
				at++
			}
			t.Fatalf("%+v: %d gaps, %d filled; from byte %d\n%q\nwant\n%q", f, gaps, filled, at, got[at:min(len(got), at+200)], want[at:min(len(want), at+200)])
		}
	}
}

// Copies stand one below the other under one header, each row after the number of its copy.
func TestCopiesBelowEachOther(t *testing.T) {
	value := func(number, row int64, _ int) float64 { return float64(number*100 + row) }
	for _, c := range []struct{ in, want string }{
		{"x,y\n1,\n,2\n", "draw,x,y\n1,1,101\n1,102,2\n2,1,201\n2,202,2\n"},
		{"\xEF\xBB\xBF\r\n x,y\r\n1,\r\n\r\n,2", "\xEF\xBB\xBF\r\ndraw, x,y\r\n1,1,101\r\n\r\n1,102,2\r\n2,1,201\r\n\r\n2,202,2"},
		{"x;y\n1,5;\n;2\n", "draw;x;y\n1;1,5;101\n1;102;2\n2;1,5;201\n2;202;2\n"},
		{"x y\n1 NA\n  ? 2 \n", "draw x y\n1 1 101\n1   102 2 \n2 1 201\n2   202 2 \n"},
		{"x,y\n1,2\n3,4", "draw,x,y\n1,1,2\n1,3,4\n2,1,2\n2,3,4"},
		{"x\n1\nNA\n", "draw,x\n1,1\n1,102\n2,1\n2,202\n"},
	} {
		got, _, err := rewritten("-", Options{Stdin: strings.NewReader(c.in), Exact: strings.Fields(strings.NewReplacer(",", " ", ";", " ").Replace(strings.SplitN(strings.TrimLeft(c.in, "\xEF\xBB\xBF\r\n "), "\n", 2)[0]))}, "csv", "draw", 2, value)
		if err != nil || got != c.want {
			t.Errorf("%q becomes %q, want %q; %v", c.in, got, c.want, err)
		}
	}
	o := Options{Stdin: strings.NewReader("1,\n,2\n"), Header: "no", Exact: []string{"1", "2"}}
	if got, _, err := rewritten("-", o, "csv", "draw", 2, value); err != nil || got != "1,1,101\n1,102,2\n2,1,201\n2,202,2\n" {
		t.Errorf("without a header: %q, %v", got, err)
	}
	o = Options{Stdin: strings.NewReader("x,y"), AllowEmpty: true, Exact: []string{"x", "y"}}
	if got, _, err := rewritten("-", o, "csv", "draw", 2, value); err != nil || got != "draw,x,y" {
		t.Errorf("without rows: %q, %v", got, err)
	}
}

// Only missing cells are filled: a level that the model does not know stays, and a code for missing values goes.
func TestOnlyGapsAreFilled(t *testing.T) {
	o := Options{Mixed: true, Unseen: "missing", Exact: []string{"g", "x"}, ExactTypes: []Type{Category, Number}, Levels: [][]string{{"a", "3,5"}, nil}, NA: []string{"-99", "none"}, NASet: true,
		Stdin: strings.NewReader("x,g,rest\n-99,mauve,-99\n4,none,\n5.0,a,NA\n,NA,\n")}
	got, filled, err := rewritten("-", o, "csv", "", 1, func(_, _ int64, j int) float64 { return 1 })
	if want := "x,g,rest\n1,mauve,-99\n4,\"3,5\",\n5.0,a,NA\n1,NA,\n"; err != nil || got != want || filled != 3 {
		t.Errorf("%d filled, %q, %v; want %q", filled, got, err, want)
	}
}

// Other formats are written cell by cell: numbers of features as numbers where the format has them.
func TestOtherFormatsAreCopiedByCells(t *testing.T) {
	csv := "x;id;g\n1,50;007;a\n;8;\n"
	o := Options{Mixed: true, Exact: []string{"x", "g"}, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"a", "b"}}}
	value := func(number, _ int64, j int) float64 {
		return []float64{0.5, 1}[j] * float64(number) / float64(max(1, number*int64(j)))
	}
	o.Stdin = strings.NewReader(csv)
	got, filled, err := rewritten("-", o, "parquet", "draw", 2, value)
	if err != nil || filled != 4 {
		t.Fatal(filled, err)
	}
	f, err := parquet.OpenFile(strings.NewReader(got), int64(len(got)))
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for _, g := range f.RowGroups() {
		r := g.Rows()
		buf := make([]parquet.Row, 9)
		n, _ := r.ReadRows(buf)
		for _, row := range buf[:n] {
			rows = append(rows, fmt.Sprintf("%v", row))
		}
		r.Close()
	}
	if want := "[1 1.5 007 a] [1 0.5 8 b] [2 1.5 007 a] [2 1 8 b]"; strings.Join(rows, " ") != want {
		t.Errorf("rows %v, want %s", rows, want)
	}
	if field := f.Schema().Fields()[1]; field.Type().Kind() != parquet.Double {
		t.Errorf("column %s holds %s", field.Name(), field.Type())
	}
	path := filepath.Join(t.TempDir(), "x.parquet")
	if err := os.WriteFile(path, []byte(got), 0o666); err != nil {
		t.Fatal(err)
	}
	if got, filled, err := rewritten(path, o, "csv", "", 1, value); err != nil || filled != 0 || got != "draw,x,id,g\n1,1.5,007,a\n1,0.5,8,b\n2,1.5,007,a\n2,1,8,b\n" {
		t.Errorf("Parquet becomes %q, %v", got, err)
	}
	if got, _, err := rewritten(path, o, "tsv", "", 1, value); err != nil || !strings.HasPrefix(got, "draw\tx\tid\tg\n1\t1.5\t007\ta\n") {
		t.Errorf("Parquet becomes %q, %v", got, err)
	}
	o.Stdin = strings.NewReader(csv)
	if _, _, err := rewritten("-", o, "npy", "", 1, value); err == nil || !strings.Contains(err.Error(), "is text, which NPY cannot hold") {
		t.Errorf("text in NPY: %v", err)
	}
}

// Arrays become arrays, also of float32 and of levels that are numbers, and text.
func TestArraysAreCopied(t *testing.T) {
	head := func(descr string, rows, cols int) string {
		h := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, %d), }", descr, rows, cols)
		h += strings.Repeat(" ", 117-len(h)) + "\n"
		return "\x93NUMPY\x01\x00" + string([]byte{byte(len(h)), 0}) + h
	}
	array := head("<f4", 2, 2) + "\xcd\xcc\xcc\x3d" + "\x00\x00\xc0\x7f" + "\x00\x00\xc0\x7f" + "\x00\x00\x80\x3f" // 0.1 NaN, NaN 1
	for format, want := range map[string]string{
		"csv": "1,2\n0.1,2\n2.5,1\n",
		"npy": head("<f8", 2, 2) + "\x00\x00\x00\xa0\x99\x99\xb9\x3f" + "\x00\x00\x00\x00\x00\x00\x00\x40" + "\x00\x00\x00\x00\x00\x00\x04\x40" + "\x00\x00\x00\x00\x00\x00\xf0\x3f",
	} {
		o := Options{Mixed: true, Exact: []string{"a", "b"}, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"1", "2"}}, Stdin: strings.NewReader(array)}
		got, filled, err := rewritten("-", o, format, "", 1, func(_, _ int64, j int) float64 { return []float64{2.5, 1}[j] })
		if err != nil || filled != 2 || got != want {
			t.Errorf("%s: %q, want %q, %v", format, got, want, err)
		}
	}
}

func TestWhatARewriterRefuses(t *testing.T) {
	ctx := context.Background()
	load := func(o Options) Source {
		o.Stdin = strings.NewReader("x,g\n1,a\n,b\n3,\n")
		o.Missing = "model"
		src, _, err := Load(ctx, "-", o)
		if err != nil {
			t.Fatal(err)
		}
		return src
	}
	var argument *ArgumentError
	for _, src := range []Source{load(Options{}), load(Options{Stream: true, Limit: 2}), &Table{}} {
		if _, err := NewRewriter(ctx, io.Discard, "csv", src, ""); !errors.As(err, &argument) {
			t.Errorf("error %v", err)
		}
	}
	src := load(Options{Mixed: true, Stream: true, Types: []TypeOf{{"g", Category}, {"x", Number}}})
	if _, err := NewRewriter(ctx, io.Discard, "xls", src, ""); err == nil {
		t.Error("xls is written")
	}
	for i, do := range []func(r *Rewriter) error{
		func(r *Rewriter) error { r.n = 0; _, err := r.Fill(1, nil); return err },
		func(r *Rewriter) error { _, err := r.Fill(0, nil); return err },
		func(r *Rewriter) error { _, err := r.Fill(4, nil); return err },
		func(r *Rewriter) error { r.Fill(2, nil); _, err := r.Fill(2, nil); return err },
		func(r *Rewriter) error { _, err := r.Fill(2, []NewCell{{2, 1}}); return err },
		func(r *Rewriter) error { _, err := r.Fill(3, []NewCell{{1, 2}}); return err },
		func(r *Rewriter) error { _, err := r.Fill(2, []NewCell{{0, nanOf()}}); return err },
	} {
		r, err := NewRewriter(ctx, io.Discard, "csv", src, "")
		if err != nil || r.Next(1) != nil {
			t.Fatal(err)
		}
		if err := do(r); !errors.As(err, &argument) {
			t.Errorf("%d: error %v", i, err)
		}
		if err := r.Close(); !errors.As(err, &argument) {
			t.Errorf("%d: the error is forgotten: %v", i, err)
		}
	}
}

// After the end there is nothing more to write.
func TestACopyEndsOnce(t *testing.T) {
	for _, end := range []func(*Rewriter) error{(*Rewriter).Close, func(r *Rewriter) error { r.Abort(); return nil }} {
		src, _, err := Load(context.Background(), "-", Options{Stdin: strings.NewReader("x\n1\n2\n"), Stream: true, Missing: "model"})
		if err != nil {
			t.Fatal(err)
		}
		var out bytes.Buffer
		r, err := NewRewriter(context.Background(), &out, "csv", src, "")
		if err != nil || r.Next(1) != nil || end(r) != nil {
			t.Fatal(err)
		}
		written := out.String()
		r.Abort()
		if r.Next(2) == nil || r.Close() == nil || out.String() != written {
			t.Errorf("a copy that was ended went on: %q", out.String())
		}
	}
}

func nanOf() float64 { v := 0.0; return v / v }

// What goes wrong with the output is told.
func TestARewriterTellsOfItsOutput(t *testing.T) {
	text := "x,y\n" + strings.Repeat("1,\n", 100_000)
	for _, format := range []string{"csv", "parquet"} {
		src, _, err := Load(context.Background(), "-", Options{Stdin: strings.NewReader(text), Stream: true, Missing: "model", Exact: []string{"x", "y"}})
		if err != nil {
			t.Fatal(err)
		}
		full := errors.New("no space left")
		r, err := NewRewriter(context.Background(), failingWriter{full}, format, src, "")
		if err != nil {
			t.Fatal(err)
		}
		if r.Next(1) == nil && r.Close() == nil {
			t.Errorf("%s: nothing is said", format)
		}
		if err := r.Close(); !errors.Is(err, full) {
			t.Errorf("%s: %v", format, err)
		}
	}
}

type failingWriter struct{ err error }

func (w failingWriter) Write([]byte) (int, error) { return 0, w.err }
