package data

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"
)

// everyKind has a column of every kind that is read.
type everyKind struct {
	F64   float64  `parquet:"f64"`
	F32   float32  `parquet:"f32"`
	I32   int32    `parquet:"i32"`
	I64   int64    `parquet:"i64,delta"`
	U32   uint32   `parquet:"u32"`
	U64   uint64   `parquet:"u64"`
	B     bool     `parquet:"b"`
	Opt   *float64 `parquet:"opt,optional"`
	Dict  *float64 `parquet:"dict,optional,dict"`
	Word  string   `parquet:"word,dict"`
	Digit string   `parquet:"digit"`
	Date  int32    `parquet:"date,date"`
	Time  int64    `parquet:"time,timestamp(millisecond)"`
	Dec   int64    `parquet:"dec,decimal(2:10)"`
	Many  []int64  `parquet:"many,list"`
}

var everyKindNames = []string{"f64", "f32", "i32", "i64", "u32", "u64", "b", "opt", "dict", "word", "digit", "date", "time", "dec", "many"}

func everyKindRow(i int) everyKind {
	m := everyKind{
		F64: float64(i) / 4, F32: float32(i) / 8, I32: int32(-i), I64: int64(i) << 20, U32: math.MaxUint32 - uint32(i), U64: math.MaxUint64,
		B: i%3 == 0, Word: fmt.Sprintf("w%d", i%5), Digit: fmt.Sprint(i % 10), Date: int32(i), Time: int64(i) * 1000, Dec: int64(i) - 50, Many: []int64{int64(i), 2},
	}
	if i%4 != 0 {
		v := float64(i)
		m.Opt = &v
	}
	if i%7 != 0 {
		v := float64(i % 11)
		m.Dict = &v
	}
	return m
}

func everyKindFile(t testing.TB, n, perGroup int, options ...parquet.WriterOption) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := parquet.NewGenericWriter[everyKind](&buf, append(options, parquet.MaxRowsPerRowGroup(int64(perGroup)), parquet.PageBufferSize(4096))...)
	for i := range n {
		if _, err := w.Write([]everyKind{everyKindRow(i)}); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestParquetKinds(t *testing.T) {
	const n = 1501
	for _, o := range []struct {
		codec   compress.Codec
		version int
	}{{&parquet.Snappy, 2}, {&parquet.Zstd, 1}, {&parquet.Uncompressed, 1}, {&parquet.Gzip, 2}, {&parquet.Brotli, 2}, {&parquet.Snappy, 1}} {
		b := everyKindFile(t, n, 600, parquet.Compression(o.codec), parquet.DataPageVersion(o.version))
		c, err := openParquet(bytes.NewReader(b), int64(len(b)), "x.parquet")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(c.names(), everyKindNames) || c.rows() != n {
			t.Fatalf("%d rows of %q", c.rows(), c.names())
		}
		for _, threads := range []int{1, 3} {
			for _, ordered := range []bool{true, false} {
				f64, _, bad := readCells(t, c, number, ordered, threads)
				checkEveryKind(t, f64, bad, n)
			}
		}
		wants := make([]want, len(everyKindNames))
		for i := range wants[:14] {
			wants[i] = text
		}
		_, texts, bad := readWants(t, c, wants, true, 2)
		if len(bad) != 0 {
			t.Errorf("text alone: %v", bad)
		}
		want := []string{"0.25", "0.125", "-1", "1048576", "4294967294", "18446744073709551615", "false", "1", "1", "w1", "1", "1970-01-02", "1970-01-01T00:00:01Z", "-0.49"}
		if got := texts[14:28]; !slices.Equal(got, want) {
			t.Errorf("row 2 as text:\n got %q\nwant %q", got, want)
		}
		if texts[7] != "" || texts[8] != "" {
			t.Errorf("null as text: %q %q", texts[7], texts[8])
		}
		wants[14] = text
		err = c.read(context.Background(), wants, true, 1, func(*batch) error { return nil })
		if err == nil || !strings.Contains(err.Error(), `column "many": it holds lists or groups`) {
			t.Errorf("a list as text: %v", err)
		}
	}
}

// checkEveryKind compares the numbers and the bad cells of n rows with everyKindRow.
func checkEveryKind(t *testing.T, f64 []float64, bad []badCell, n int) {
	t.Helper()
	k, at := len(everyKindNames), 0
	for i := range n {
		m := everyKindRow(i)
		b := 0.0
		if m.B {
			b = 1
		}
		want := []float64{m.F64, float64(m.F32), float64(m.I32), float64(m.I64), float64(m.U32), float64(m.U64), b,
			math.NaN(), math.NaN(), math.NaN(), float64(i % 10), math.NaN(), math.NaN(), float64(i-50) / 100, math.NaN()}
		wantBad := []badCell{{Column: 5, Kind: roundedCell, Value: "18446744073709551615"}} // 2^64 as a float64
		if m.Opt != nil {
			want[7] = *m.Opt
		} else {
			wantBad = append(wantBad, badCell{Column: 7, Kind: missingCell})
		}
		if m.Dict != nil {
			want[8] = *m.Dict
		} else {
			wantBad = append(wantBad, badCell{Column: 8, Kind: missingCell})
		}
		wantBad = append(wantBad, badCell{Column: 9, Kind: textCell, Value: m.Word}, badCell{Column: 11, Kind: textCell},
			badCell{Column: 12, Kind: textCell}, badCell{Column: 14, Kind: textCell, Value: "a list or group"})
		for j, v := range want {
			if got := f64[i*k+j]; got != v && !(v != v && got != got) {
				t.Fatalf("%s: row %d, %s: got %v, want %v", t.Name(), i, everyKindNames[j], got, v)
			}
		}
		for _, w := range wantBad {
			if at >= len(bad) {
				t.Fatal("bad cells end early")
			}
			got := bad[at]
			at++
			w.Row = int64(i)
			if w.Value == "" && w.Kind == textCell {
				w.Value = got.Value
			}
			if got != w {
				t.Fatalf("bad cell: got %v, want %v", got, w)
			}
		}
	}
	if at != len(bad) {
		t.Fatalf("%d bad cells, want %d", len(bad), at)
	}
}

// TestParquetCodecs reads pages of the usual size whose cells cannot be compressed, and such that can.
func TestParquetCodecs(t *testing.T) {
	type row struct {
		Random  float64 `parquet:"random,plain"`
		Regular float64 `parquet:"regular,plain"`
	}
	rows := make([]row, 50000)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range rows {
		rows[i] = row{r.Float64(), float64(i / 100)}
	}
	for _, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Brotli} {
		for version := 1; version <= 2; version++ {
			var buf bytes.Buffer
			if err := parquet.Write(&buf, rows, parquet.Compression(codec), parquet.DataPageVersion(version)); err != nil {
				t.Fatal(err)
			}
			c, err := openParquet(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "x.parquet")
			if err != nil {
				t.Fatal(err)
			}
			f64, _, _ := readCells(t, c, number, false, 2)
			for i, want := range rows {
				if f64[2*i] != want.Random || f64[2*i+1] != want.Regular {
					t.Fatalf("%s, version %d, row %d: got %v, want %v", codec, version, i, f64[2*i:2*i+2], want)
				}
			}
		}
	}
}

func TestParquetText(t *testing.T) {
	type row struct {
		X string `parquet:"x"`
	}
	in := []row{{"1.5"}, {" 2 "}, {"NA"}, {""}, {"inf"}, {"1e999"}, {"0x10"}, {"1_000"}, {"x"}, {strings.Repeat("é", 40)}}
	var buf bytes.Buffer
	if err := parquet.Write(&buf, in); err != nil {
		t.Fatal(err)
	}
	c, err := openParquet(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "x.parquet")
	if err != nil {
		t.Fatal(err)
	}
	f64, _, bad := readCells(t, c, number, true, 1)
	if f64[0] != 1.5 || f64[1] != 2 {
		t.Errorf("numbers: %v", f64)
	}
	want := []badCell{{Row: 2, Kind: missingCell, Value: "NA"}, {Row: 3, Kind: missingCell}, {Row: 4, Kind: infiniteCell, Value: "inf"},
		{Row: 5, Kind: infiniteCell, Value: "1e999"}, {Row: 6, Kind: textCell, Value: "0x10"}, {Row: 7, Kind: textCell, Value: "1_000"},
		{Row: 8, Kind: textCell, Value: "x"}, {Row: 9, Kind: textCell, Value: strings.Repeat("é", 30)}}
	if !slices.Equal(bad, want) {
		t.Errorf("got %v\nwant %v", bad, want)
	}
}

// TestParquetLatin1 reads bytes that are not UTF-8, which no JSON could hold, as Latin-1.
func TestParquetLatin1(t *testing.T) {
	type row struct {
		Plain string `parquet:"plain"`
		Dict  string `parquet:"dict,dict"`
	}
	var buf bytes.Buffer
	if err := parquet.Write(&buf, []row{{"caf\xe9", "\xfcber"}, {"café", "\xc3"}, {"\xa9", "über"}}); err != nil {
		t.Fatal(err)
	}
	c, err := openParquet(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "x.parquet")
	if err != nil {
		t.Fatal(err)
	}
	_, texts, bad := readCells(t, c, number|text, true, 1)
	if want := []string{"café", "über", "café", "Ã", "©", "über"}; !slices.Equal(texts, want) || bad[0].Value != "café" {
		t.Errorf("got %q, %v", texts, bad)
	}
}

func TestParquetNotFinite(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
	}
	var buf bytes.Buffer
	if err := parquet.Write(&buf, []row{{1}, {math.NaN()}, {math.Inf(-1)}}); err != nil {
		t.Fatal(err)
	}
	c, err := openParquet(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "x.parquet")
	if err != nil {
		t.Fatal(err)
	}
	_, _, bad := readCells(t, c, number, true, 1)
	if len(bad) != 2 || bad[0].Kind != missingCell || bad[1] != (badCell{Row: 2, Kind: infiniteCell, Value: "-inf"}) {
		t.Errorf("got %v", bad)
	}
}

func TestParquetRefused(t *testing.T) {
	b := everyKindFile(t, 100, 50)
	type lists struct {
		A []int64 `parquet:"a"`
	}
	var nested bytes.Buffer
	if err := parquet.Write(&nested, []lists{{A: []int64{1}}}); err != nil {
		t.Fatal(err)
	}
	lz4 := everyKindFile(t, 100, 50, parquet.Compression(&parquet.Lz4Raw))
	footer := slices.Clone(b)
	copy(footer[len(footer)-8:], "\xFF\xFF\xFF\x7F")
	for _, c := range []struct {
		name string
		in   []byte
		want string
	}{
		{"empty", nil, "not a Parquet file"},
		{"other", []byte("a,b\n1,2\n3,4\n5,6\n"), "does not start with PAR1"},
		{"cut", b[:len(b)-100], "does not end with PAR1: it is cut short"},
		{"footer", footer, "says its footer has 2147483647 bytes"},
		{"lz4", lz4, `column "f64": it is compressed with LZ4`},
		{"nested", nested.Bytes(), "all columns hold lists or groups"},
		{"missing middle", append(slices.Clone(b[:4]), b[1000:]...), "damaged"},
	} {
		got, err := openParquet(bytes.NewReader(c.in), int64(len(c.in)), "x.parquet")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.parquet: ") {
			t.Errorf("%s: got %v, %v, want %q", c.name, got, err, c.want)
		}
	}
}

func TestHalfFloat(t *testing.T) {
	for h, want := range map[uint16]float64{0x3C00: 1, 0xC000: -2, 0x7BFF: 65504, 0x0001: 0x1p-24, 0x0400: 0x1p-14, 0x7C00: math.Inf(1), 0xFC00: math.Inf(-1), 0x3555: 0.333251953125} {
		if got := halfFloat(h); got != want {
			t.Errorf("%04x: got %v, want %v", h, got, want)
		}
	}
}

func TestDecimalText(t *testing.T) {
	for _, c := range []struct {
		digits string
		scale  int
		want   string
	}{{"5", 0, "5"}, {"5", 2, "0.05"}, {"-5", 1, "-0.5"}, {"12345", 3, "12.345"}, {"-12345", 5, "-0.12345"}} {
		if got := decimalText(c.digits, c.scale); got != c.want {
			t.Errorf("%s, %d: got %s, want %s", c.digits, c.scale, got, c.want)
		}
	}
}

func FuzzParquet(f *testing.F) {
	f.Add(everyKindFile(f, 5, 3))
	f.Add(everyKindFile(f, 3, 10, parquet.DataPageVersion(1), parquet.Compression(&parquet.Gzip)))
	f.Fuzz(func(t *testing.T, b []byte) {
		c, err := openParquet(bytes.NewReader(b), int64(len(b)), "x.parquet")
		if err != nil || c.rows() > 1<<20 {
			return
		}
		// Whatever the cells are: an error or rows, no panic.
		_ = c.read(context.Background(), slices.Repeat([]want{number}, len(c.names())), false, 2, func(*batch) error { return nil })
	})
}

// A column of lists is left out and does not keep a file from being looked at.
func TestProfileOfLists(t *testing.T) {
	type row struct {
		X float64 `parquet:"x"`
		L []int64 `parquet:"l,list"`
	}
	path := filepath.Join(t.TempDir(), "lists.parquet")
	if err := parquet.WriteFile(path, []row{{1, []int64{1}}, {2, nil}, {4, []int64{2, 3}}}); err != nil {
		t.Fatal(err)
	}
	r, err := Profile(context.Background(), path, Options{})
	if err != nil || r.Err != nil {
		t.Fatal(err, r)
	}
	if !slices.Equal(r.Features, []string{"x"}) || r.Columns[1].Use != "ignored" || r.Distinct[0] != 3 {
		t.Errorf("features %v, the list is %q, %d distinct", r.Features, r.Columns[1].Use, r.Distinct[0])
	}
}

// TestParquetThreads wants the same statistics, to the last bit, from any number of threads: of one row group, whose
// columns are shared out, and of several.
func TestParquetThreads(t *testing.T) {
	type row struct{ X, Y float64 }
	rng := rand.New(rand.NewPCG(7, 8))
	rows := make([]row, 20000)
	for i := range rows {
		rows[i] = row{rng.NormFloat64() + 1e3, rng.ExpFloat64()}
	}
	for _, perGroup := range []int64{20000, 6000} {
		path := filepath.Join(t.TempDir(), "f.parquet")
		if err := parquet.WriteFile(path, rows, parquet.MaxRowsPerRowGroup(perGroup)); err != nil {
			t.Fatal(err)
		}
		want := ""
		for _, threads := range []int{1, 2, 3, 7} {
			r, err := Profile(context.Background(), path, Options{Threads: threads})
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprint(r.Columns); want == "" {
				want = got
			} else if got != want {
				t.Errorf("%d rows a group, %d threads: another result", perGroup, threads)
			}
		}
	}
}
