package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"
)

// write makes a file and moves into its directory, so that messages have its bare name.
func write(t *testing.T, name, text string) string {
	t.Helper()
	t.Chdir(t.TempDir())
	if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	return name
}

// all reads a whole source in runs of n rows.
func all(t *testing.T, src Source, n int) *Table {
	t.Helper()
	_, d := src.Shape()
	out := &Table{D: d}
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b Block
	for {
		err := r.Read(&b, n)
		if err == io.EOF && b.N == 0 {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		if b.First != int64(out.N) {
			t.Fatalf("block starts at %d, not %d", b.First, out.N)
		}
		for i := range b.N {
			row := b.First + int64(i) + 1
			if b.Row != nil {
				row = b.Row[i]
			}
			out.Row = append(out.Row, row)
		}
		out.N += b.N
		out.F64, out.F32, out.W = append(out.F64, b.F64...), append(out.F32, b.F32...), append(out.W, b.W...)
		out.ID, out.Truth = append(out.ID, b.ID...), append(out.Truth, b.Truth...)
	}
}

const gaps = "x,y\n1,10\n,11\nNA,12\nnan,13\n?,14\n2,15\n"

func TestLoad(t *testing.T) {
	twenty := "n,x,c\n"
	for i := range 20 {
		twenty += fmt.Sprintf("%d,%d,7\n", i+1, i*i%7)
	}
	for _, c := range []struct {
		name, in string
		o        Options
		want     string // features, rows, cells, row numbers
		left     string
	}{
		{"plain", "a,b\n1,2\n3,4\n", Options{}, "[a b] 2 [1 2 3 4] [1 2]", ""},
		{"missing rows dropped", gaps, Options{Missing: "drop", Columns: []string{"x,y"}}, "[x y] 2 [1 10 2 15] [1 6]", ""},
		{"gaps in a column that is left out", gaps, Options{Exclude: []string{"x"}}, "[y] 6 [10 11 12 13 14 15] [1 2 3 4 5 6]", "x (excluded)"},
		{"decimal comma", "a;b\n0,125;7,5\n2,375;6\n0,5;8,25\n", Options{}, "[a b] 3 [0.125 7.5 2.375 6 0.5 8.25] [1 2 3]", ""},
		{"decimal comma, alone", "x\n1,5\n2,5\n", Options{Decimal: ","}, "[x] 2 [1.5 2.5] [1 2]", ""},
		{"years as names", "2019,2020,2021\n1,2,3\n4,5,6\n", Options{Header: "yes"}, "[2019 2020 2021] 2 [1 2 3 4 5 6] [1 2]", ""},
		{"years as data", "2019,2020\n1,2\n4,5\n", Options{Header: "no"}, "[1 2] 3 [2019 2020 1 2 4 5] [1 2 3]", ""},
		{"years beside texts", "country,2019,2020\nFrance,1,2\nSpain,3,4\n", Options{}, "[2019 2020] 2 [1 2 3 4] [1 2]", "country (text)"},
		{"texts without names", "5.1,setosa\n4.9,setosa\n5,other\n", Options{}, "[1] 3 [5.1 4.9 5] [1 2 3]", "2 (text)"},
		{"R row names", "\"\",\"a\",\"b\"\n\"1\",5,6\n\"2\",7,8\n", Options{}, "[a b] 2 [5 6 7 8] [1 2]", "unnamed (counter)"},
		{"counter and constant", twenty, Options{Limit: 20}, "[x] 20", "n (counter), c (constant)"},
		{"a counter that was asked for", twenty, Options{Columns: []string{"c", "n"}, Limit: 2}, "[c n] 2 [7 1 7 2] [1 2]", ""},
		{"a counter alone", "id\n3\n1\n2\n", Options{}, "[id] 3 [3 1 2] [1 2 3]", ""},
		{"a column called id", "id,x\n3,1\n1,1.5\n2,2\n", Options{}, "[x] 3 [1 1.5 2] [1 2 3]", "id (counter)"},
		{"a column called id with repeats", "id,x\n3,1\n1,1.5\n3,2\n", Options{}, "[id x] 3 [3 1 1 1.5 3 2] [1 2 3]", ""},
		{"constants alone", "a,b\n1,2\n", Options{}, "[a b] 1 [1 2] [1]", ""},
		{"empty column", "a,b\n1,\n2,\n", Options{}, "[a] 2 [1 2] [1 2]", "b (empty)"},
		{"model order", "b,z,a\n0,9,50\n", Options{Exact: []string{"a", "b"}}, "[a b] 1 [50 0] [1]", ""},
		{"model without names", "1,2,Anna\n3,4,Bob\n", Options{Exact: []string{"u", "v"}}, "[1 2] 2 [1 2 3 4] [1 2]", "3 (text)"},
		{"no rows", "a,b\n", Options{Exact: []string{"b", "a"}, AllowEmpty: true}, "[b a] 0 [] []", ""},
	} {
		for _, stream := range []bool{false, true} {
			c.o.Stream = stream
			src, info, err := Load(context.Background(), write(t, "f.csv", c.in), c.o)
			if err != nil {
				t.Errorf("%s: %v", c.name, err)
				continue
			}
			got := all(t, src, 2)
			out := fmt.Sprint(info.Features, " ", got.N, " ", got.F64, " ", got.Row)
			if !strings.HasPrefix(out, c.want) || strings.Join(info.LeftOut(), ", ") != c.left {
				t.Errorf("%s, stream %v: got %s, left out %v", c.name, stream, out, info.LeftOut())
			}
			if info.Rows != int64(got.N) {
				t.Errorf("%s: Info has %d rows, the source %d", c.name, info.Rows, got.N)
			}
		}
	}
}

func TestLoadErrors(t *testing.T) {
	ages := "age,x\n" + strings.Repeat("30,1\n40,2\n", 58) + "n/a1,3\n"
	for _, c := range []struct {
		in   string
		o    Options
		want string
	}{
		{gaps, Options{}, `f.csv:3: column "x" has no value here (4 cells in 4 rows are missing); use --exclude x, or --missing drop --allow-fewer, which leaves 2 of 6 rows`},
		{gaps + "inf,16\n", Options{}, `f.csv:8: column "x": "inf" is not a finite number; use --exclude x`},
		{gaps + "1e999,16\n", Options{Missing: "drop"}, `f.csv:8: column "x": "1e999" is not a finite number; use --exclude x`},
		{ages, Options{}, `f.csv:118: column "age": "n/a1" is not a number; use --exclude age`},
		{"a,b\n1,2\n5,6\n", Options{Header: "no"}, `f.csv:1: column "1": "a" is not a number; if line 1 holds names, use --header yes`},
		{"a,b\n1,s\n2,t\n", Options{Columns: []string{"b"}}, `f.csv:2: column "b": "s" is not a number; use --exclude b`},
		{"x\n0\n1\n", Options{Columns: []string{"y"}}, `column "y" is not in f.csv; its columns are: x`},
		{"x\n0\n1\n", Options{Truth: "kind"}, `column "kind" is not in f.csv; its columns are: x`},
		{"a\n1\n", Options{Exact: []string{"a", "b"}}, `column "b" is not in f.csv; its columns are: a`},
		{"A,b\n1,2\n", Options{Exact: []string{"a", "b"}}, `column "a" is not in f.csv; "A" differs from it in upper and lower case only; its columns are: A, b`},
		{"1,2,3\n4,5,6\n", Options{Exact: []string{"1", "2"}}, `f.csv: it has 3 number columns without names, but the model has 2: they cannot be told apart`},
		{"x,w\n0,1\n2,-1\n", Options{Weight: "w"}, `f.csv:3: column "w": -1 is negative; a weight must not be`},
		{"x,w\n0,1\n2,inf\n", Options{Weight: "w"}, `f.csv:3: column "w": "inf" is not a finite number; a weight must be`},
		{"x,w\n0,1\n2,many\n", Options{Weight: "w"}, `f.csv:3: column "w": "many" is not a number; a weight must be`},
		{"x,w\n0,1\n2,nan\n5,1\n", Options{Weight: "w"}, `f.csv:3: column "w" has no value here, but every row needs a weight (1 cell in 1 row is missing); use --missing drop`},
		{"x,w\n0,0\n2,0\n", Options{Weight: "w"}, `f.csv: column "w": all weights are 0`},
		{"x,w\n0,0\n,1\n", Options{Weight: "w", Missing: "drop"}, `f.csv: column "w": all weights of complete rows are 0`},
		{"a,b\n", Options{}, `f.csv: no data rows below the header`},
		{"a,b\nx,y\nz,y\n", Options{}, `f.csv: no column is left to work with: a (text), b (text)`},
		{"a,b\n1,\n,2\n", Options{Missing: "drop"}, `f.csv: no row is complete: all 2 rows were dropped`},
		{"a,b\n1e300,1\n2,3\n", Options{Float32: true}, `f.csv: column "a": 1e+300 is too large for float32; leave out --float32, or --exclude a`},
		{"a\n1\n", Options{Missing: "zero"}, `missing "zero" is not one of error, drop, model`},
		{"a\n1\n", Options{Header: "maybe"}, `header "maybe" is not one of auto, yes, no`},
		{"a\n1\n", Options{Delimiter: "ab"}, `delimiter "ab" is not one of comma, semicolon, tab, pipe, space or another single sign`},
		{"a\n1\n", Options{Format: "xls"}, `f.csv: format "xls" is not one of csv, tsv, npy, idx, parquet`},
		{"PK\x03\x04", Options{}, `f.csv: a zip archive (npz or a spreadsheet); save the table in it as CSV, NPY or Parquet`},
	} {
		for _, stream := range []bool{false, true} {
			if c.o.Stream = stream; stream && strings.Contains(c.want, "weights of complete") {
				continue // known only after the pass
			}
			_, _, err := Load(context.Background(), write(t, "f.csv", c.in), c.o)
			var typed *Error
			if err == nil || err.Error() != c.want || !errors.As(err, &typed) {
				t.Errorf("%.20q: got %v\nwant %s", c.in, err, c.want)
			}
		}
	}
	if _, _, err := Load(context.Background(), "nothing.csv", Options{}); err == nil || err.Error() != "nothing.csv: there is no such file" {
		t.Errorf("got %v", err)
	}
	t.Chdir(t.TempDir())
	if _, _, err := Load(context.Background(), ".", Options{}); err == nil || err.Error() != ".: there is no file of rows in this folder" {
		t.Errorf("got %v", err)
	}
}

func TestRoles(t *testing.T) {
	in := "name,x,w,kind\nr1,1,2,a\nr2,,1,b\nr3,3,0.5,a\n"
	for _, stream := range []bool{false, true} {
		src, info, err := Load(context.Background(), write(t, "f.csv", in), Options{ID: "name", Weight: "w", Truth: "kind", Missing: "drop", Stream: stream})
		if err != nil {
			t.Fatal(err)
		}
		got := all(t, src, 10)
		if s := fmt.Sprint(got.F64, got.W, got.ID, got.Truth, got.Row, info.Dropped); s != "[1 3] [2 0.5] [r1 r3] [a a] [1 3] 1" {
			t.Errorf("got %s", s)
		}
		uses := ""
		for _, c := range info.Columns {
			uses += c.Name + ":" + c.Kind + ":" + c.Use + " "
		}
		if uses != "name:id:id x:number:feature w:number:weight kind:text:truth " {
			t.Errorf("got %s", uses)
		}
	}
}

// TestPacked reads one text in every wrapping, from a file and from standard input.
func TestPacked(t *testing.T) {
	const in = "a,b\n1,2\n3,4\n"
	var gz, zs bytes.Buffer
	for _, part := range []string{in[:6], in[6:]} { // two members, two frames
		z := gzip.NewWriter(&gz)
		io.WriteString(z, part)
		z.Close()
		s, err := zstd.NewWriter(&zs)
		if err != nil {
			t.Fatal(err)
		}
		io.WriteString(s, part)
		s.Close()
	}
	for name, text := range map[string]string{"plain": in, "gzip": gz.String(), "zstd": zs.String()} {
		for _, path := range []string{write(t, "f.bin", text), "-"} {
			src, _, err := Load(context.Background(), path, Options{Stdin: strings.NewReader(text)})
			if err != nil {
				t.Errorf("%s from %s: %v", name, path, err)
			} else if got := src.(*Table); fmt.Sprint(got.F64) != "[1 2 3 4]" {
				t.Errorf("%s from %s: %v", name, path, got.F64)
			}
		}
	}
	cut := gz.String()[:gz.Len()-5]
	if _, _, err := Load(context.Background(), write(t, "f.csv.gz", cut), Options{}); err == nil || !strings.Contains(err.Error(), "f.csv.gz: the gzip data is damaged or cut short") {
		t.Errorf("got %v", err)
	}
}

// mixed is a file of several chunks with gaps, texts, weights and a counter.
func mixed(rows int) string {
	rng := rand.New(rand.NewPCG(5, 6))
	var b strings.Builder
	b.WriteString("n,x,kind,y,w\n")
	for i := range rows {
		x := fmt.Sprint(rng.NormFloat64()*10 + 1e6)
		if rng.IntN(50) == 0 {
			x = "NA"
		}
		fmt.Fprintf(&b, "%d,%s,\"k,%d\",%v,%d\n", i, x, rng.IntN(3), rng.ExpFloat64(), rng.IntN(4))
	}
	return b.String()
}

// TestThreads wants the same bytes from any number of threads, in memory and streamed, whole and sampled.
func TestThreads(t *testing.T) {
	rows := 60000
	if testing.Short() { // the race detector takes ten times as long
		rows = 40000
	}
	path := write(t, "f.csv", mixed(rows))
	for _, o := range []Options{{}, {Sample: 5000, Seed: 3}, {Limit: 30001}, {Float32: true}} {
		o.Missing, o.Weight, o.Truth = "drop", "w", "kind"
		want, counts := "", []int{1, 2, 3, 7}
		if testing.Short() {
			counts = []int{1, 3}
		}
		for _, threads := range counts {
			for _, stream := range []bool{false, true} {
				o.Threads, o.Stream = threads, stream
				src, info, err := Load(context.Background(), path, o)
				if err != nil {
					t.Fatal(err)
				}
				if n, _ := src.Shape(); n != info.Rows {
					t.Errorf("%d rows, Info has %d", n, info.Rows)
				}
				info.file = nil // an address
				got := fmt.Sprint(*all(t, src, 777), *info)
				if want == "" {
					want = got
				}
				if got != want {
					t.Errorf("%d threads, stream %v: another result", threads, stream)
				}
			}
		}
	}
}

// TestStatistics compares with sums taken in two passes over the rows.
func TestStatistics(t *testing.T) {
	src, info, err := Load(context.Background(), write(t, "f.csv", mixed(60000)), Options{Missing: "drop", Columns: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	x := src.(*Table).F64
	mean, ss := 0.0, 0.0
	for _, v := range x {
		mean += v / float64(len(x))
	}
	for _, v := range x {
		ss += (v - mean) * (v - mean)
	}
	c := info.Columns[1]
	sd := math.Sqrt(ss / float64(len(x)-1))
	if math.Abs(c.Mean-mean) > 1e-6 || math.Abs(c.SD/sd-1) > 1e-9 || c.Min != slices.Min(x) || c.Max != slices.Max(x) {
		t.Errorf("got %v %v %v %v, want %v %v", c.Mean, c.SD, c.Min, c.Max, mean, sd)
	}
	if c.Numbers != int64(len(x)) || c.Missing != 60000-c.Numbers {
		t.Errorf("got %+v", c)
	}
}

func TestSample(t *testing.T) {
	path := write(t, "f.csv", mixed(1000))
	src, info, err := Load(context.Background(), path, Options{Columns: []string{"n"}, Limit: 500, Sample: 100, Seed: 9})
	if err != nil {
		t.Fatal(err)
	}
	got := src.(*Table)
	if got.N != 100 || info.FileRows != 1000 || len(info.Warnings) != 1 || info.Warnings[0] != "read 100 of 1,000 rows (a random sample)" {
		t.Errorf("%d rows, %d in the file, %q", got.N, info.FileRows, info.Warnings)
	}
	for i, r := range got.Row {
		if got.F64[i] != float64(r-1) || r > 500 || i > 0 && r <= got.Row[i-1] {
			t.Fatalf("row %d is file row %d with n = %v", i, r, got.F64[i])
		}
	}
	counts := make([]int, 10)
	for seed := range uint64(20000) {
		for _, r := range sampleRows(10, 3, seed) {
			counts[r]++
		}
	}
	for r, n := range counts { // 6000 expected, standard deviation 65
		if n < 5700 || n > 6300 {
			t.Errorf("row %d was drawn %d times of 20000, 6000 expected", r, n)
		}
	}
}

// TestStreamCancelled closes passes early: no worker may be left behind, and the next pass is whole.
func TestStreamCancelled(t *testing.T) {
	src, _, err := Load(context.Background(), write(t, "f.csv", mixed(60000)), Options{Stream: true, Missing: "drop", Threads: 3})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	r, err := src.Open(ctx)
	if err != nil {
		t.Fatal(err)
	}
	var b Block
	if err := r.Read(&b, 10); err != nil || b.N != 10 {
		t.Fatal(b.N, err)
	}
	cancel()
	for err == nil {
		err = r.Read(&b, 10000)
	}
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
	r.Close()
	if n, _ := src.Shape(); int64(all(t, src, 1000).N) != n {
		t.Error("the second pass is short")
	}
	if err := src.(io.Closer).Close(); err != nil {
		t.Error(err)
	}
}

func TestLoadMissingDirectory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "no", "f.csv")
	if _, _, err := Load(context.Background(), path, Options{}); err == nil || !strings.HasPrefix(err.Error(), path) {
		t.Errorf("got %v", err)
	}
}

// TestTooManyRows has a file that says more rows than any memory holds.
func TestTooManyRows(t *testing.T) {
	l := &loader{file: &opened{name: "f.parquet"}, cols: newColumnSet("f.parquet", []string{"a", "b"}), chosen: []int{0, 1}, n: math.MaxInt / 20}
	l.o.MaxMemory = addressable
	p := newPlan([]want{number, number})
	if err := l.allocate(p); err == nil || !strings.HasPrefix(err.Error(), "f.parquet: ") || !strings.Contains(err.Error(), " rows of 2 columns take ") {
		t.Errorf("got %v", err)
	}
	l.used.Store(0)
	l.o.Stream = true
	if err := l.allocate(p); err != nil {
		t.Error(err)
	}
}
