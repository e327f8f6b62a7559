package data

import (
	"bytes"
	"encoding/binary"
	"encoding/csv"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

var outColumns = []OutColumn{{"row", Int}, {"p, of 1", Float}, {"name", Text}}

func writeRows(t testing.TB, w io.Writer, format string, cols []OutColumn, rows [][]any) {
	t.Helper()
	o, err := Create(w, format, cols)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range rows {
		for _, v := range r {
			switch v := v.(type) {
			case int:
				o.Int(int64(v))
			case float64:
				o.Float(v)
			case string:
				o.Text(v)
			}
		}
		if err := o.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	if err := o.Close(); err == nil || !errors.Is(err, errClosed) {
		t.Error("second Close:", err)
	}
}

func TestWriteCSV(t *testing.T) {
	rows := [][]any{{1, 0.1, "plain"}, {-2, math.NaN(), `say "hi"`}, {3, 1e-5, "a,b"}, {4, 5.1, " x"}, {5, math.Inf(-1), "two\nlines"}, {6, 1e6, ""}, {7, 1e300, "é"}, {8, 123456789.0, "x\ty"}}
	want := "row,\"p, of 1\",name\n1,0.1,plain\n-2,,\"say \"\"hi\"\"\"\n3,1e-05,\"a,b\"\n4,5.1,\" x\"\n5,-inf,\"two\nlines\"\n6,1000000,\n7,1e+300,é\n8,123456789,x\ty\n"
	var b bytes.Buffer
	writeRows(t, &b, "csv", outColumns, rows)
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
	b.Reset()
	writeRows(t, &b, "tsv", outColumns, rows[7:])
	if want := "row\tp, of 1\tname\n8\t123456789\t\"x\ty\"\n"; b.String() != want {
		t.Errorf("got %q, want %q", b.String(), want)
	}
	b.Reset()
	writeRows(t, &b, "csv", []OutColumn{{"x", Float}}, [][]any{{1.0}, {math.NaN()}, {2.0}})
	if want := "x\n1\n\"\"\n2\n"; b.String() != want {
		t.Errorf("one column: got %q, want %q", b.String(), want)
	}
}

// TestWriteCSVExact reads back numbers of all sizes with another parser.
func TestWriteCSVExact(t *testing.T) {
	var in []float64
	for bits := uint64(0x3FF123456789ABCD); len(in) < 20000; bits = bits*6364136223846793005 + 1442695040888963407 {
		if v := math.Float64frombits(bits); v-v == 0 {
			in = append(in, v)
		}
	}
	in = append(in, 0, math.Copysign(0, -1), math.MaxFloat64, math.SmallestNonzeroFloat64, 1e15, 1e-4, 999999999999999.9)
	var b bytes.Buffer
	o, err := Create(&b, "csv", []OutColumn{{"x", Float}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range in {
		o.Float(v)
		if err := o.End(); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.Close(); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&b).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range records[1:] {
		v, ok := parseDecimal([]byte(r[0]), '.')
		if !ok || math.Float64bits(v) != math.Float64bits(in[i]) {
			t.Fatalf("%v came back as %s", in[i], r[0])
		}
	}
}

func TestWriteNPY(t *testing.T) {
	cols := []OutColumn{{"a", Int}, {"b", Float}}
	rows := [][]any{{1, 0.5}, {2, math.Inf(1)}, {3, 7}}
	check := func(what string, b []byte) {
		t.Helper()
		text := "{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2), }"
		want := append([]byte("\x93NUMPY\x01\x00\x76\x00"), text...) // 118 bytes of header text
		want = append(want, bytes.Repeat([]byte{' '}, 127-len(want))...)
		want = append(want, '\n')
		for _, v := range []float64{1, 0.5, 2, math.Inf(1), 3, 7} {
			want = binary.LittleEndian.AppendUint64(want, math.Float64bits(v))
		}
		if !bytes.Equal(b, want) {
			t.Errorf("%s:\n got %q\nwant %q", what, b, want)
		}
	}
	var b bytes.Buffer
	writeRows(t, &b, "npy", cols, rows)
	check("held in memory", b.Bytes())

	path := filepath.Join(t.TempDir(), "x.npy")
	if err := oneFile(path, func(f *Output) error { writeRows(t, f, "npy", cols, rows); return nil }); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	check("in a file", got)

	f, err := os.OpenFile(filepath.Join(t.TempDir(), "y.npy"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	o, err := Create(f, "npy", cols)
	if err != nil {
		t.Fatal(err)
	}
	o.Int(1)
	o.Int(1)
	o.End()
	if err := o.Close(); err == nil || !strings.Contains(err.Error(), "appending only") {
		t.Error("appending:", err)
	}
	if _, err := Create(&b, "npy", outColumns); err == nil || !strings.Contains(err.Error(), `column "name" is text`) {
		t.Error("text:", err)
	}
}

func TestWriteParquet(t *testing.T) {
	cols := []OutColumn{{"z", Int}, {"a, b", Float}, {"", Text}, {"m", Float}}
	var rows [][]any
	for i := range 1000 {
		rows = append(rows, []any{i, float64(i) / 8, strings.Repeat("x", i%3), i})
	}
	var b bytes.Buffer
	writeRows(t, &b, "parquet", cols, rows)
	c, err := openParquet(bytes.NewReader(b.Bytes()), int64(b.Len()), "x.parquet")
	if err != nil {
		t.Fatal(err)
	}
	if got := c.names(); !slices.Equal(got, []string{"z", "a, b", "", "m"}) || c.rows() != 1000 {
		t.Fatalf("%d rows of %q", c.rows(), got)
	}
	f64, texts, bad := readWants(t, c, []want{number, number, text, number}, true, 1)
	for i := range 1000 {
		if f64[3*i] != float64(i) || f64[3*i+1] != float64(i)/8 || f64[3*i+2] != float64(i) || texts[i] != rows[i][2] {
			t.Fatalf("row %d: %v %q", i, f64[3*i:3*i+3], texts[i])
		}
	}
	if len(bad) > 0 {
		t.Error(bad)
	}
	if _, err := Create(&b, "parquet", []OutColumn{{"x", Int}, {"x", Int}}); err == nil || !strings.Contains(err.Error(), `two columns are called "x"`) {
		t.Error("same names:", err)
	}
}

func TestWriteWrong(t *testing.T) {
	for _, c := range []struct {
		name string
		do   func(o *Out)
		want string
	}{
		{"too few", func(o *Out) { o.Int(1); o.End() }, "row 1 has 1 cells for 3 columns"},
		{"too many", func(o *Out) { o.Int(1); o.Float(1); o.Text(""); o.Int(1); o.End() }, "row 1 has more cells than the 3 columns"},
		{"kind", func(o *Out) { o.Int(1); o.Text("x"); o.Text(""); o.End() }, `row 1: column "p, of 1" holds numbers, not text`},
		{"not ended", func(o *Out) { o.Int(1) }, "row 1 was not ended"},
	} {
		o, err := Create(io.Discard, "csv", outColumns)
		if err != nil {
			t.Fatal(err)
		}
		c.do(o)
		if err := o.Close(); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", c.name, err, c.want)
		}
	}
	if _, err := Create(io.Discard, "xlsx", outColumns); err == nil {
		t.Error("an unknown format is taken")
	}
	if _, err := Create(io.Discard, "csv", nil); err == nil {
		t.Error("no columns are taken")
	}
	full := errors.New("disk full")
	o, err := Create(failing{full}, "csv", outColumns[:1])
	if err != nil {
		t.Fatal(err)
	}
	for range 100000 {
		o.Int(123456)
		err = o.End()
	}
	if !errors.Is(err, full) || !errors.Is(o.Close(), full) {
		t.Error("the writer's error is lost")
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

func TestFormatOf(t *testing.T) {
	for path, want := range map[string]string{"a.csv": "csv", "a.TSV": "tsv", "x/b.npy": "npy", "c.parquet": "parquet", "labels": "csv", "a.b/c": "csv", "a.xlsx": ""} {
		if got, err := FormatOf(path); got != want || (err == nil) != (want != "") {
			t.Errorf("%s: %q, %v", path, got, err)
		}
	}
}

func BenchmarkWrite(b *testing.B) {
	cols := make([]OutColumn, 16)
	vals := make([]float64, 16)
	for j := range cols {
		cols[j] = OutColumn{string(rune('a' + j)), Float}
		vals[j] = math.Sin(float64(j) + 0.3)
	}
	for _, format := range []string{"csv", "npy", "parquet"} {
		b.Run(format, func(b *testing.B) {
			f, err := os.Create(filepath.Join(b.TempDir(), "x"))
			if err != nil {
				b.Fatal(err)
			}
			defer f.Close()
			o, err := Create(f, format, cols)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(16 * 8)
			for b.Loop() {
				o.Floats(vals)
				if err := o.End(); err != nil {
					b.Fatal(err)
				}
			}
			if err := o.Close(); err != nil {
				b.Fatal(err)
			}
		})
	}
}

// TestTextComesBackToTheByte: what a cell holds comes out of each format as it went in; in Parquet, which has UTF-8 only,
// what is not UTF-8 as the reader takes it.
func TestTextComesBackToTheByte(t *testing.T) {
	cells := []string{`he said "no"`, "a\r\nb", "a\nb", "a\rb", "=1+1", " x ", "\tx", "a,b", "a;b", "-", "", "\"", "\"\"", "007", "größe", "gr\xF6\xDFe", "\u00a0", "+1", "@x", "NA", "1,889.50", "\ufeff"}
	for _, format := range []string{"csv", "tsv", "parquet"} {
		var buf bytes.Buffer
		o, err := Create(&buf, format, []OutColumn{{Name: "cell", Kind: Text}, {Name: "x"}})
		if err != nil {
			t.Fatal(err)
		}
		for i, c := range cells {
			o.Text(c)
			o.Int(int64(i))
			if err := o.End(); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Close(); err != nil {
			t.Fatal(err)
		}
		src, _, err := Load(t.Context(), write(t, "t."+format, buf.String()), Options{ID: "cell"})
		if err != nil {
			t.Fatalf("%s: %v", format, err)
		}
		for i, got := range src.(*Table).ID {
			want := cells[i]
			if format == "parquet" {
				want = validText(want)
			}
			if got != want {
				t.Errorf("%s: %q comes back as %q", format, cells[i], got)
			}
		}
	}
}

// Rows that end alike are those that are written cell by cell, in every format, also where the number of cells so far is another.
func TestRowsThatEndAlike(t *testing.T) {
	for _, format := range []string{"csv", "tsv", "npy", "parquet", "cells"} {
		var plain, alike bytes.Buffer
		cols := []OutColumn{{"row", Int}, {"label", Int}, {"p", Float}}
		writeRows(t, &plain, format, cols, [][]any{{1, 7, 0.5}, {2, -8, math.NaN()}, {3, 7, 0.5}})
		o, err := Create(&alike, format, cols)
		if err != nil {
			t.Fatal(err)
		}
		end := o.Ending(1, func() { o.Int(7); o.Float(0.5) })
		other := o.Ending(1, func() { o.Int(-8); o.Float(math.NaN()) })
		for i, f := range []func() error{end, other, end} {
			o.Int(int64(i) + 1)
			if err := f(); err != nil {
				t.Fatal(err)
			}
		}
		if err := o.Close(); err != nil || !bytes.Equal(plain.Bytes(), alike.Bytes()) {
			t.Errorf("%s: %v, %q, want %q", format, err, alike.String(), plain.String())
		}
	}
	for want, cells := range map[string]int{"row 1 has 1 cells for 2 columns": 0, "row 1 has more cells than the 2 columns": 2} {
		var b bytes.Buffer
		o, err := Create(&b, "csv", []OutColumn{{"row", Int}, {"label", Int}})
		if err != nil {
			t.Fatal(err)
		}
		end := o.Ending(1, func() { o.Int(7) })
		for range cells {
			o.Int(1)
		}
		if err := end(); err == nil || err.Error() != want {
			t.Errorf("%d cells before: %v, want %s", cells, err, want)
		}
	}
}
