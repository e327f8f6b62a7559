package data

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// ways are the ways to read a file, which must all give the same rows.
func ways(o Options) []Options {
	var out []Options
	for _, threads := range []int{1, 3} {
		for _, stream := range []bool{false, true} {
			o.Categories, o.Threads, o.Stream = true, threads, stream
			out = append(out, o)
		}
	}
	return out
}

// levelsText loads a file in every way and tells features, levels, codes, row numbers and what was left out.
func levelsText(t *testing.T, path string, o Options) string {
	t.Helper()
	first := ""
	for i, o := range ways(o) {
		src, info, err := Load(context.Background(), path, o)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			b := all(t, src, 2)
			got = fmt.Sprint(info.Features, info.Levels, b.F64, b.F32, b.Row, info.LeftOut())
		}
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("%s: %d threads, stream %v: got %s, before that %s", path, o.Threads, o.Stream, got, first)
		}
	}
	return first
}

// column is a column called x of the values that f gives for n rows, beside one called y of 0 and 1.
func column(n int, f func(i int) string) string {
	var b strings.Builder
	b.WriteString("x,y\n")
	for i := range n {
		fmt.Fprintf(&b, "%s,%d\n", f(i), i*i/3%2)
	}
	return b.String()
}

func TestCategories(t *testing.T) {
	for _, c := range []struct {
		name, in string
		o        Options
		want     string // what levelsText starts with
	}{
		{"texts in the order of their bytes", "size,b\nsmall,1\nLarge,0\n\"é\",1\nsmall,1\n", Options{},
			"[size b] [[Large small é] [0 1]] [1 1 0 0 2 1 1 1] [] [1 2 3 4] []"},
		{"numbers in numeric order", "x\n10\n9\n-1\n9\n", Options{}, "[x] [[-1 9 10]] [2 1 0 1]"},
		{"equal numbers are one level", "x,y\n1,a\n1.0,b\n01,a\n+1e0,a\n-0,a\n0,a\n", Options{}, "[x y] [[0 1] [a b]] [1 0 1 1 1 0 1 0 0 0 0 0]"},
		{"numbers beside texts are texts", "x,y\n1,a\n1.0,b\nz,a\nz,a\ninf,a\n", Options{}, "[x y] [[1 1.0 inf z] [a b]] [0 0 1 1 3 0 3 0 2 0]"},
		{"white space", "x,y\n red ,a\nred,b\n\" red\",a\n\" NA \",b\n", Options{Missing: "drop"}, "[x y] [[ red red] [a b]] [1 0 1 1 0 0] [] [1 2 3]"},
		{"levels of dropped rows", "x,y\nred,1\nblue,\ngreen,0\n?,2\n", Options{Missing: "drop"}, "[x y] [[green red] [0 1]] [1 1 0 0] [] [1 3]"},
		{"a text in a dropped row", "x,y\n1,1\n1.0,0\nn,\n2,1\n", Options{Missing: "drop"}, "[x y] [[1 2] [0 1]] [0 1 0 0 1 1] [] [1 2 4]"},
		{"decimal comma", "x;y\n0,5;a\n1,5;b\n0,50;b\n", Options{Columns: []string{"x"}}, "[x] [[0.5 1.5]] [0 1 0]"},
		{"Latin-1", "x,y\n\xe9,1\né,1\nz,0\n", Options{}, "[x y] [[z é] [0 1]] [1 1 1 1 0 0]"},
		{"large whole numbers", "x,y\n9007199254740993,1\n9007199254740992,0\n+09007199254740993,0\n", Options{}, "[x y] [[9007199254740992 9007199254740993] [0 1]] [1 1 0 0 1 0]"},
		{"first rows", "x,y\nb,1\nc,0\na,1\n", Options{Limit: 2}, "[x y] [[b c] [0 1]] [0 1 1 0] [] [1 2]"},
		{"float32", "x,y\nb,1\nc,0\n", Options{Float32: true}, "[x y] [[b c] [0 1]] [] [0 1 1 0]"},
		{"constants", "x,y,z\nb,1,7\nc,1,7\n", Options{}, "[x] [[b c]] [0 1] [] [1 2] [y (constant) z (constant)]"},
		{"constant text", "x,y\nb,1\nb,0\n", Options{}, "[y] [[0 1]] [1 0] [] [1 2] [x (constant)]"},
		{"constants alone", "x,y\nb,1\n", Options{}, "[x y] [[b] [1]] [0 0]"},
		{"named constant", "x,y\nb,1\nb,0\n", Options{Columns: []string{"x"}}, "[x] [[b]] [0 0]"},
		{"excluded, id, truth, weight", "x,i,w,t,z\na,u,1,v,5\nb,u,2,v,6\n", Options{Exclude: []string{"z"}, ID: "i", Weight: "w", Truth: "t"},
			"[x] [[a b]] [0 1] [] [1 2] [z (excluded)]"},
		{"id column", "id,x\n7,a\n5,b\n6,a\n", Options{}, "[x] [[a b]] [0 1 0] [] [1 2 3] [id (counter)]"},
		{"id column with repeats", "id,x\n7,a\n5,b\n7,a\n", Options{}, "[id x] [[5 7] [a b]]"},
		{"fractions", "x,y\n1.5,a\n2.5,b\n", Options{}, "[y] [[a b]] [0 1] [] [1 2] [x (fractions)]"},
		{"fractions that are named", "x,y\n1.5,a\n0.25,b\n", Options{Columns: []string{"x"}}, "[x] [[0.25 1.5]] [1 0]"},
		{"empty column", "x,y\n,a\n,b\n", Options{}, "[y] [[a b]] [0 1] [] [1 2] [x (empty)]"},
		{"19 different texts", column(19, func(i int) string { return fmt.Sprint("k", i) }), Options{}, "[x y] [[k0 k1 k10 k11"},
		{"20 different texts", column(20, func(i int) string { return fmt.Sprint("k", i) }), Options{}, "[y] [[0 1]]"},
		{"half of them different", column(20, func(i int) string { return fmt.Sprint("k", i/2) }), Options{}, "[x y] [[k0 k1 k2 "},
		{"model order", "b,z,a\nu,9,v\nw,9,v\n", Options{Exact: []string{"a", "b"}, Levels: [][]string{{"x", "v"}, {"w", "u", "t"}}},
			"[a b] [[x v] [w u t]] [1 1 1 0]"},
		{"numbers of a model", "x\n1.0\n01\n2.50\n", Options{Exact: []string{"x"}, Levels: [][]string{{"2.5", "1", "0"}}}, "[x] [[2.5 1 0]] [1 1 0]"},
		{"numbers as a hand wrote them", "x\n1\n2.5\n", Options{Exact: []string{"x"}, Levels: [][]string{{"2.50", "1.0"}}}, "[x] [[2.50 1.0]] [1 0]"},
		{"model without names", "a,u\nb,u\nb,u\n", Options{Exact: []string{"x", "y"}, Levels: [][]string{{"a", "b"}, {"t", "u"}}}, "[1 2] [[a b] [t u]] [0 1 1 1 1 1]"},
		{"unknown in a dropped row", "x,y\na,1\nq,\n", Options{Missing: "drop", Exact: []string{"x", "y"}, Levels: [][]string{{"a"}, {"1"}}}, "[x y] [[a] [1]] [0 0] [] [1]"},
		{"no rows", "x,y\n", Options{Exact: []string{"y"}, Levels: [][]string{{"a", "b"}}, AllowEmpty: true}, "[y] [[a b]] []"},
	} {
		if got := levelsText(t, write(t, "f.csv", c.in), c.o); !strings.HasPrefix(strings.ReplaceAll(got, "][", "] ["), c.want) {
			t.Errorf("%s: got %s", c.name, got)
		}
	}
}

// TestCategoriesLeftOut says why columns are not taken unasked: all of them can be named.
func TestCategoriesLeftOut(t *testing.T) {
	for _, c := range []struct {
		why   string
		n     int
		value func(i int) string
	}{
		{"identifier", 20, func(i int) string { return fmt.Sprint("k", i) }},
		{"mostly different values", 20, func(i int) string { return fmt.Sprint("k", min(i, 10)) }},
		{"mostly different values", 40, func(i int) string { return fmt.Sprint(min(i, 20) * 7 % 41) }},
		{"over 50 different numbers", 200, func(i int) string { return fmt.Sprint(i % 51) }},
		{"fractions", 40, func(i int) string { return fmt.Sprint(float64(i%4) / 2) }},
		{"counter", 20, func(i int) string { return fmt.Sprint(i) }},
		{"constant", 20, func(i int) string { return "k" }},
	} {
		path := write(t, "f.csv", column(c.n, c.value))
		if got := levelsText(t, path, Options{}); !strings.HasPrefix(got, "[y] [[0 1]]") && !strings.HasPrefix(got, "[y][[0 1]]") || !strings.HasSuffix(got, "[x ("+c.why+")]") {
			t.Errorf("%s: got %s", c.why, got)
		}
		if got := levelsText(t, path, Options{Columns: []string{"x"}}); !strings.HasPrefix(got, "[x]") {
			t.Errorf("%s, named: got %s", c.why, got)
		}
	}
	if got := levelsText(t, write(t, "f.csv", column(200, func(i int) string { return fmt.Sprint(i % 50) })), Options{}); !strings.HasPrefix(got, "[x y]") {
		t.Errorf("50 different numbers: got %s", got)
	}
}

func TestCategoriesErrors(t *testing.T) {
	colours := Options{Exact: []string{"x"}, Levels: [][]string{{"red", "green", "blue"}}}
	many := Options{Exact: []string{"x"}, Levels: [][]string{strings.Split("a b c d e f g h i j", " ")}}
	for _, c := range []struct {
		in   string
		o    Options
		want string
	}{
		{"x,y\nred,1\n\"pur\nple\",2\npurple,3\n", Options{Exact: []string{"x"}, Levels: [][]string{{"red", "pur\nple"}}},
			`f.csv:5: column "x": "purple" is not one of the 2 levels the model knows (red, "pur\nple")`},
		{"x,y\nred,1\npurple,2\npink,2\n", colours, `f.csv:3: column "x": "purple" is not one of the 3 levels the model knows (red, green, blue)`},
		{"x,y\ninf,2\n", colours, `f.csv:2: column "x": "inf" is not one of the 3 levels the model knows (red, green, blue)`},
		{"x,y\n7,2\n", many, `f.csv:2: column "x": "7" is not one of the 10 levels the model knows (a, b, c, d, e, f, g, h, ...)`},
		{"x,y\n7,2\n", Options{Exact: []string{"x"}, Levels: [][]string{{"1"}}}, `f.csv:2: column "x": "7" is not the one level the model knows (1)`},
		{"x,y\na,1\n,2\nb,1\n", Options{}, `f.csv:3: column "x" has no value here (1 cell in 1 row is missing); use --missing drop, or --exclude x`},
		{"x,y\na,1\n,2\n", Options{Exact: []string{"x"}, Levels: [][]string{{"a"}}}, `f.csv:3: column "x" has no value here (1 cell in 1 row is missing); use --missing drop, or fill the cells first by another model (latent impute)`},
		{"x,y\n1,1\ninf,2\n", Options{}, `f.csv:3: column "x": "inf" is not a finite number; use --exclude x`},
		{"x,y\n1.5,2.5\n2,1\n", Options{}, `f.csv: no column is left to work with: x (fractions), y (fractions)`},
		{"a,b,c\nu,v,w\n", Options{Exact: []string{"x", "y"}, Levels: [][]string{{"a"}, {"b"}}}, `column "x" is not in f.csv; its columns are: a, b, c`},
		{"a,b,c\na,b,c\n", Options{Header: "no", Exact: []string{"x", "y"}, Levels: [][]string{{"a"}, {"b"}}}, `f.csv: it has 3 columns without names, but the model has 2: they cannot be told apart`},
		{"x\na\n", Options{Exact: []string{"x"}, Levels: [][]string{{"a"}, {"b"}}}, `levels are given for 2 columns, but the model has 1`},
		{"x\na\n", Options{Exact: []string{"x"}, Levels: [][]string{{"a", "a"}}}, `column "x": the level "a" is there twice`},
		{"x\na\n", Options{Exact: []string{"x"}, Levels: [][]string{{}}}, `column "x": 0 levels; there must be 1 to 10,000`},
	} {
		if got := levelsText(t, write(t, "f.csv", c.in), c.o); got != c.want {
			t.Errorf("%.20q: got %s\nwant %s", c.in, got, c.want)
		}
	}
	_, _, err := Load(context.Background(), "f.csv", colours)
	if err == nil || err.Error() != "levels are given, but columns are not read as categories" {
		t.Errorf("levels without categories: %v", err)
	}
}

// TestCategoriesLimit is about the 10,000 levels that a column may have.
func TestCategoriesLimit(t *testing.T) {
	in := column(30000, func(i int) string { return fmt.Sprint("k", i%10000) })
	path := write(t, "f.csv", in)
	_, info, err := Load(context.Background(), path, Options{Categories: true})
	if err != nil || len(info.Levels) != 2 || len(info.Levels[0]) != 10000 {
		t.Errorf("10,000 levels: %v", err)
	}
	path = write(t, "f.csv", in+"z,1\n")
	if got := levelsText(t, path, Options{}); !strings.HasSuffix(got, "[x (over 10,000 different values)]") {
		t.Errorf("one more: got %.200s", got)
	}
	want := `f.csv: column "x": it has more than 10,000 different values, too many for categories; use --exclude x, or put them in groups first`
	if got := levelsText(t, path, Options{Columns: []string{"x"}}); got != want {
		t.Errorf("named: got %.200s", got)
	}
	names := make([]string, 10000)
	for i := range names {
		names[i] = fmt.Sprint("k", i)
	}
	if got := levelsText(t, path, Options{Exact: []string{"x"}, Levels: [][]string{names}}); !strings.HasPrefix(got, `f.csv:30002: column "x": "z" is not one of the 10,000 levels`) {
		t.Errorf("unknown to a model: got %.200s", got)
	}
	path = write(t, "f.csv", "x,y\n,1\n"+column(10001, func(i int) string { return fmt.Sprint("k", i) })[4:])
	if got := levelsText(t, path, Options{Missing: "drop", Exact: []string{"x"}, Levels: [][]string{names}}); !strings.HasPrefix(got, `f.csv:10003: column "x": "k10000" is not one of the 10,000 levels`) {
		t.Errorf("unknown to a model beside a missing value: got %.200s", got)
	}
	path = write(t, "f.csv", "x,y\n,1\n"+column(101*101, func(i int) string { return strings.Repeat("0", i%101) + "1." + strings.Repeat("0", i/101) })[4:])
	want = `column "x": the levels of the model are written in more than 10,000 ways`
	if got := levelsText(t, path, Options{Missing: "drop", Exact: []string{"x"}, Levels: [][]string{{"1"}}}); !strings.HasSuffix(got, want) {
		t.Errorf("written in many ways beside a missing value: got %.200s", got)
	}
}

// TestCategoriesFormats reads one table in every format.
func TestCategoriesFormats(t *testing.T) {
	type row struct {
		Kind  string  `parquet:"kind"`
		Grade int64   `parquet:"grade"`
		Real  float64 `parquet:"real"`
		Yes   bool    `parquet:"yes"`
		Many  []int64 `parquet:"many,list"`
	}
	rows := []row{{"b", 10, 2, true, nil}, {"a", 9, 1, false, nil}, {"b", 10, 1, false, nil}}
	const text = "kind\tgrade\treal\tyes\nb\t10\t2.0\ttrue\na\t9\t1.0\tfalse\nb\t10\t1.0\tfalse\n"
	const want = "[kind grade real yes][[a b] [9 10] [1 2] [false true]][1 1 1 1 0 0 0 0 1 1 0 0] [] [1 2 3]"
	var gz bytes.Buffer
	z := gzip.NewWriter(&gz)
	io.WriteString(z, text)
	z.Close()
	dir := t.TempDir()
	file := func(name, content string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	parq := filepath.Join(dir, "f.parquet")
	if err := parquet.WriteFile(parq, rows, parquet.MaxRowsPerRowGroup(2)); err != nil {
		t.Fatal(err)
	}
	plain := func(s string) string { return strings.NewReplacer("] [[", "][[", "]] [", "]][").Replace(s) }
	for _, path := range []string{file("f.tsv", text), file("f.tsv.gz", gz.String()), parq} {
		got := levelsText(t, path, Options{})
		if !strings.HasPrefix(plain(got), want) {
			t.Errorf("%s: got %s", path, got)
		}
		if path == parq && !strings.HasSuffix(got, "[many (lists or groups)]") {
			t.Errorf("a column of lists: got %s", got)
		}
	}
	whole := npyText(t, "<i8", []int64{10, 1, -9, 0, 10, 0}, 3)
	floats := npyText(t, "<f4", []float32{10, 1, -9, 0, 10, 0}, 3)
	for _, in := range []string{whole, floats} {
		if got := plain(levelsText(t, file("f.npy", in), Options{})); !strings.HasPrefix(got, "[1 2][[-9 10] [0 1]][1 1 0 0 1 0] [] [1 2 3]") {
			t.Errorf("NPY: got %s", got)
		}
	}
	gap := npyText(t, "<f8", []float64{0.5, 1, -9, 0, nan(), 0}, 3)
	if got := plain(levelsText(t, file("f.npy", gap), Options{Columns: []string{"1"}, Missing: "drop"})); !strings.HasPrefix(got, "[1][[-9 0.5]][1 0] [] [1 2]") {
		t.Errorf("NPY with a gap: got %s", got)
	}
	path := file("f.npy", whole)
	if got := levelsText(t, path, Options{Exact: []string{"a", "b"}, Levels: [][]string{{"10", "7"}, {"0", "1"}}}); got != path+`: row 2, column "1": "-9" is not one of the 2 levels the model knows (10, 7)` {
		t.Errorf("NPY, unknown level: got %s", got)
	}
	idx := string([]byte{0, 0, 8, 2, 0, 0, 0, 3, 0, 0, 0, 2, 200, 1, 30, 0, 200, 0})
	if got := plain(levelsText(t, file("f.idx", idx), Options{})); !strings.HasPrefix(got, "[1 2][[30 200] [0 1]][1 1 0 0 1 0] [] [1 2 3]") {
		t.Errorf("IDX: got %s", got)
	}
}

func nan() float64 { var zero float64; return zero / zero }

func TestCategoriesOfDatasets(t *testing.T) {
	if got := levelsText(t, "@penguins", Options{Missing: "drop"}); !strings.HasPrefix(strings.ReplaceAll(got, "][", "] ["), "[island sex] [[Biscoe Dream Torgersen] [female male]] [2 1 2 0") {
		t.Errorf("penguins: got %.200s", got)
	}
	_, info, err := Load(context.Background(), "@digits", Options{Categories: true})
	if err != nil || len(info.Features) != 61 || fmt.Sprint(info.Levels[1]) != "[0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16]" {
		t.Errorf("digits: %v, %v", info, err)
	}
}

// TestCategoriesCarry wants the cells of the file beside their codes, as a command that appends labels does.
func TestCategoriesCarry(t *testing.T) {
	src, _, err := Load(context.Background(), write(t, "f.csv", "x,n,y\nb,1.50,1\na,2.50,0\n"), Options{Categories: true, Stream: true, Carry: true})
	if err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b Block
	if err := r.Read(&b, 5); err != nil || fmt.Sprint(b.F64, b.Cells) != "[1 1 0 0] [b 1.50 1 a 2.50 0]" {
		t.Errorf("got %v %v, %v", b.F64, b.Cells, err)
	}
}

// manyCategories is a file of several chunks.
func manyCategories(rows int) string {
	rng := rand.New(rand.NewPCG(9, 10))
	var b strings.Builder
	b.WriteString("word,grade,bit,w\n")
	for range rows {
		word := fmt.Sprintf("\"a much longer word, with a comma and %d at the end of it\"", rng.IntN(300))
		if rng.IntN(40) == 0 {
			word = "NA"
		}
		fmt.Fprintf(&b, "%s,%s,%d,%d\n", word, []string{"1", "1.0", "2", "10", "-3"}[rng.IntN(5)], rng.IntN(2), rng.IntN(3)+1)
	}
	return b.String()
}

// TestCategoriesThreads wants the same rows from any number of threads, in memory and streamed, whole and sampled,
// and those that a naive reader makes.
func TestCategoriesThreads(t *testing.T) {
	text := manyCategories(30000)
	path := write(t, "f.csv", text)
	naive := naiveCategories(t, strings.SplitAfterN(text, "\n", 2)[1], 3)
	for _, o := range []Options{{}, {Sample: 5000, Seed: 3}, {Limit: 20001}, {Float32: true}} {
		o.Missing, o.Weight = "drop", "w"
		want := ""
		for _, o := range ways(o) {
			src, info, err := Load(context.Background(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			rows := all(t, src, 777)
			info.file = nil // an address
			got := fmt.Sprint(*rows, *info)
			if want == "" {
				want = got
			}
			if got != want {
				t.Errorf("%d threads, stream %v: another result", o.Threads, o.Stream)
			}
			if o.Limit+o.Sample == 0 && !o.Float32 && (!slices.Equal(rows.F64, naive.codes) || len(rows.W) != rows.N) {
				t.Errorf("%d threads, stream %v: not the codes of encoding/csv", o.Threads, o.Stream)
			}
		}
	}
}

func TestProfileOfCategories(t *testing.T) {
	r, err := Profile(context.Background(), write(t, "f.csv", "x,n,y\nb,1.5,1\na,1.5,0\nb,2.5,1.0\n"), Options{Categories: true})
	if err != nil || r.Err != nil {
		t.Fatal(err, r)
	}
	got := fmt.Sprint(r.Features, r.Levels, r.Distinct, r.DuplicateRows, r.LeftOut(), r.Columns[0].Kind, r.Columns[2].Kind)
	if got != "[x y] [[a b] [0 1]] [2 2 2] 1 [n (fractions)]textbits" {
		t.Errorf("got %s", got)
	}
	for _, in := range []string{"x,y\na,1\n,2\nb,1\n", "x,y\n1,1\ninf,2\n", "x,y\n1.5,2.5\n2,1\n"} {
		_, _, want := Load(context.Background(), write(t, "f.csv", in), Options{Categories: true})
		r, err := Profile(context.Background(), "f.csv", Options{Categories: true})
		if err != nil || want == nil || r.Err == nil || r.Err.Error() != want.Error() {
			t.Errorf("%q: check says %v %v, fit %v", in, r, err, want)
		}
	}
}
