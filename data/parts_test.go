package data

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/klauspost/compress/gzip"
	"github.com/parquet-go/parquet-go"
)

// saleRow is a row of every type: numbers with gaps, a level, a number that looks like one until the last parts, a date, a weight and an id.
type saleRow struct {
	X      *float64
	Colour *string
	Stars  int64
	When   string
	Weight float64
	Name   string
}

func saleRows(n int) []saleRow {
	rows := make([]saleRow, n)
	for i := range rows {
		x, colour := math.Sin(float64(i))*float64(1+i%7), []string{"red", "green", "blue"}[i*i%3]
		r := saleRow{X: &x, Colour: &colour, Stars: int64(i % 3), When: fmt.Sprintf("2024-%02d-%02d", 1+i%12, 1+i%28), Weight: float64(i%5) / 4, Name: fmt.Sprintf("n%d", i)}
		if i%11 == 3 {
			r.X = nil
		}
		if i%17 == 5 {
			r.Colour = nil
		}
		if i > 9*n/10 {
			r.Stars = int64(i%9) * 7 // only now are there too many different ones for a category
		}
		rows[i] = r
	}
	return rows
}

// saleText is rows as CSV, with columns in another order where turned is set.
func saleText(rows []saleRow, turned bool) string {
	var b strings.Builder
	order := []int{0, 1, 2, 3, 4, 5}
	if turned {
		order = []int{5, 1, 4, 0, 3, 2}
	}
	put := func(cells ...string) {
		for i, c := range order {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(cells[c])
		}
		b.WriteByte('\n')
	}
	put("X", "Colour", "Stars", "When", "Weight", "Name")
	for _, r := range rows {
		x, colour := "", "NA"
		if r.X != nil {
			x = strconv.FormatFloat(*r.X, 'g', -1, 64)
		}
		if r.Colour != nil {
			colour = *r.Colour
		}
		put(x, colour, strconv.FormatInt(r.Stars, 10), r.When, strconv.FormatFloat(r.Weight, 'g', -1, 64), r.Name)
	}
	return b.String()
}

func saleParquet(t *testing.T, rows []saleRow) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[saleRow](&b, parquet.MaxRowsPerRowGroup(700))
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipped(t *testing.T, text string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write([]byte(text))
	w.Close()
	return b.String()
}

// inParts writes what part makes of each run of rows to a folder, and returns it. Some parts have no row, and some are small; a part of no bytes is left out.
func inParts(t *testing.T, n int, ext string, part func(lo, hi, number int) string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "sales")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	cuts := []int{0, 0, 3, 200, 200, n / 2, n - 1, n}
	for i, lo := range cuts[:len(cuts)-1] {
		text := part(lo, cuts[i+1], i)
		if text == "" {
			continue
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("part-%d.%s", i, ext)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"_SUCCESS", ".part-0.crc"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestPartsAreOneTable: rows, types, levels, gaps, weights, ids and dates of a table in parts are those of one file with the same rows, for
// every format, any number of threads, in memory and streamed.
func TestPartsAreOneTable(t *testing.T) {
	const n = 3000
	rows := saleRows(n)
	text := func(lo, hi, i int) string { return saleText(rows[lo:hi], i == 4) }
	x := make([]float64, 2*n)
	for i := range x {
		if x[i] = math.Cos(float64(i)); i%23 == 9 {
			x[i] = math.NaN()
		}
	}
	array := func(lo, hi, _ int) string {
		if lo == hi { // an array without rows is refused, in one file too
			return ""
		}
		return npyText(t, "<f8", x[2*lo:2*hi], hi-lo)
	}
	for _, c := range []struct {
		ext, whole string
		part       func(lo, hi, i int) string
	}{
		{"csv", saleText(rows, false), text},
		{"csv.gz", saleText(rows, false), func(lo, hi, i int) string { return zipped(t, text(lo, hi, i)) }},
		{"parquet", saleParquet(t, rows), func(lo, hi, _ int) string { return saleParquet(t, rows[lo:hi]) }},
		{"npy", array(0, n, 0), array},
	} {
		dir := inParts(t, n, c.ext, c.part)
		whole := write(t, "whole."+c.ext, c.whole)
		options := []Options{{Missing: "drop"}, {Missing: "model", Mixed: true}, {Missing: "drop", Limit: 400}, {Missing: "model", Sample: 600, Seed: 4}}
		if c.ext != "npy" {
			options = append(options, Options{Mixed: true, Missing: "model", ID: "Name", Weight: "Weight", Truth: "Colour", Dates: []DateColumn{{Name: "When"}}},
				Options{Categories: true, Missing: "drop", Exclude: []string{"When"}})
		}
		if testing.Short() { // the race detector takes ten times as long
			options = options[len(options)-2:]
		}
		for j, o := range options {
			for _, stream := range []bool{false, true} {
				for _, threads := range []int{1, 3} {
					o.Stream, o.Threads = stream, threads
					want, wanted := loaded(t, whole, o)
					for _, path := range []string{dir, filepath.Join(dir, "p*."+c.ext)} {
						got, info := loaded(t, path, o)
						if !reflect.DeepEqual(sameBits(got), sameBits(want)) {
							t.Errorf("%s, options %d, stream %v, %d threads: other rows", c.ext, j, stream, threads)
						}
						if !reflect.DeepEqual(found(info), found(wanted)) {
							t.Errorf("%s, options %d: got %+v, want %+v", c.ext, j, found(info), found(wanted))
						}
					}
				}
			}
		}
	}
}

func loaded(t *testing.T, path string, o Options) (*Table, *Info) {
	t.Helper()
	src, info, err := Load(context.Background(), path, o)
	if err != nil {
		t.Fatalf("%s: %v", filepath.Base(path), err)
	}
	rows := all(t, src, 777)
	if c, ok := src.(*stream); ok {
		if err := c.Close(); err != nil {
			t.Error(err)
		}
	}
	return rows, info
}

// sameBits is a table with numbers that compare, missing ones too.
func sameBits(t *Table) any {
	b := make([]uint64, len(t.F64))
	for i, v := range t.F64 {
		b[i] = math.Float64bits(v)
	}
	return []any{t.N, t.D, b, t.W, t.Row, t.ID, t.Truth}
}

// found is what was found out about a table, but for its name and the last bits of means, which depend on how rows are cut into batches.
func found(i *Info) any {
	f := *i
	f.Columns = slices.Clone(i.Columns)
	for j := range f.Columns {
		f.Columns[j].Mean, f.Columns[j].SD = 0, 0
	}
	f.Name, f.Files, f.file, f.files = "", 0, nil, nil
	return f
}

// TestPartsErrors: errors name the part, the line or row in it, and what to do.
func TestPartsErrors(t *testing.T) {
	good := "x,y\n1,2\n3,4\n"
	for _, c := range []struct {
		name  string
		parts []string
		o     Options
		want  string
	}{
		{"text", []string{good, "x,y\n5,6\nold,8\n" + strings.Repeat("1,1\n", 9)}, Options{}, `b.csv:3: column "x": "old" is not a number`},
		{"width", []string{good, "x,y\n5,6\n7\n"}, Options{}, "b.csv:3: 1 field, but the header has 2"},
		{"gap", []string{good, "x,y\n5,\n"}, Options{}, `b.csv:2: column "y" has no value here (1 cell in 1 row is missing); use --missing drop, or --exclude y`},
		{"weight", []string{good, "x,y\n5,-1\n"}, Options{Weight: "y"}, `b.csv:2: column "y": -1 is negative; a weight must not be`},
		{"missing column", []string{good, "x,z\n5,6\n"}, Options{}, `b.csv: column "y" is not in this file, but in DIR/a.csv: the files of a table have the same columns, by name and in any order`},
		{"further column", []string{good, "x,y,z\n5,6,7\n"}, Options{}, `b.csv: column "z" is in this file, but not in DIR/a.csv: the files`},
		{"no header", []string{good, "5,6\n"}, Options{}, "b.csv: none of the columns of DIR/a.csv is in it: every file must begin with their names; if none has names, use --header no"},
		{"other number", []string{"1,2\n3,4\n", "5,6,7\n"}, Options{}, "b.csv: it has 3 columns, but DIR/a.csv has 2: the files of a table have the same columns"},
		{"another format", []string{good, npyText(t, "<f8", []float64{1, 2}, 1)}, Options{}, "b.csv: it holds npy, but DIR/a.csv holds csv: the files of a table have one format"},
		{"cut short", []string{npyText(t, "<f8", []float64{1, 2}, 1), ""}, Options{}, "b.csv: the file is empty, but DIR/a.csv holds npy: it may have been cut short"},
		{"no rows", []string{"x,y\n", "x,y\n"}, Options{}, "DIR: no data rows below the header"},
		{"all empty", []string{"", ""}, Options{}, "a.csv: the file is empty, and so are all parts of this table"},
		{"damaged", []string{zipped(t, good), zipped(t, good)[:20]}, Options{}, "b.csv: the gzip data is damaged or cut short"},
		{"infinite", []string{npyText(t, "<f8", []float64{1, 2}, 1), npyText(t, "<f8", []float64{1, 2, 3, math.Inf(1)}, 2)}, Options{}, `b.csv: row 2, column "2": "inf" is not a finite number; use --exclude 2`},
	} {
		dir := t.TempDir()
		for i, text := range c.parts {
			if err := os.WriteFile(filepath.Join(dir, string(rune('a'+i))+".csv"), []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want := strings.ReplaceAll(c.want, "DIR", dir)
		if !strings.HasPrefix(want, dir) {
			want = dir + string(filepath.Separator) + want
		}
		_, _, err := Load(context.Background(), dir, c.o)
		if err == nil || !strings.HasPrefix(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, want %s", c.name, err, want)
		}
	}
}

// TestPartsOfOtherTypes: a column of Parquet files has one type, and says nothing where it is null.
func TestPartsOfOtherTypes(t *testing.T) {
	type number struct{ X, Y float64 }
	type whole struct {
		X float64
		Y int32
	}
	type word struct {
		X float64
		Y string
	}
	dir := t.TempDir()
	put := func(name string, w interface{ Close() error }, b *bytes.Buffer) {
		t.Helper()
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	var a, b, c bytes.Buffer
	w := parquet.NewGenericWriter[number](&a)
	w.Write([]number{{1, 2.5}})
	put("a", w, &a)
	i := parquet.NewGenericWriter[whole](&b)
	i.Write([]whole{{3, 4}})
	put("b", i, &b)
	got, _ := loaded(t, dir, Options{})
	if want := []float64{1, 2.5, 3, 4}; !slices.Equal(got.F64, want) {
		t.Errorf("got %v, want %v", got.F64, want)
	}
	s := parquet.NewGenericWriter[word](&c)
	s.Write([]word{{3, "4"}})
	put("c", s, &c)
	_, _, err := Load(context.Background(), dir, Options{})
	if want := `column "Y": its type is text, but number in `; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}

// TestPartsFound: what a path names.
func TestPartsFound(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"part-10.csv", "part-2.csv", "_SUCCESS", ".part-2.csv.crc", "_old.csv", "more/z.csv", "more/_temporary.csv", "s*r.csv", "k/year=2023/a.csv", "k/year=2024/a.csv"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		os.MkdirAll(filepath.Dir(path), 0o700)
		if err := os.WriteFile(path, []byte("x\n1\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		path, want, notes string
	}{
		{"part-2.csv", "part-2.csv", ""},
		{"p*.csv", "part-10.csv part-2.csv", ""},
		{"s*r.csv", "s*r.csv", ""}, // there is a file of this name
		{"*.csv", "part-10.csv part-2.csv s*r.csv", "left out 1 file (_old.csv)"},
		{"_*.csv", "_old.csv", ""},
		{"more", "more/z.csv", "left out 1 file (_temporary.csv)"},
		{"mor?", "more/z.csv", "left out 1 file"},
		{"k/year=*", "k/year=2023/a.csv k/year=2024/a.csv", "what the names of folders say is no column"},
		{"nothing*.csv", "no file matches this pattern", ""},
		{"k", "it holds the folder year=2023, and folders in folders are not read", ""},
		{"[", "as a pattern it cannot be read", ""},
		{"none.csv", "none.csv", ""}, // whoever opens it says that it is not there
	} {
		l, err := listFiles(filepath.Join(dir, c.path), nil)
		got := []string{}
		for _, p := range l.paths {
			p, _ = filepath.Rel(dir, p)
			got = append(got, filepath.ToSlash(p))
		}
		said := strings.Join(l.notes, " ")
		if err != nil {
			got = []string{err.Error()}
		}
		if !strings.Contains(strings.Join(got, " "), c.want) || err == nil && strings.Join(got, " ") != c.want || !strings.Contains(said, c.notes) || c.notes == "" && said != "" {
			t.Errorf("%s: got %v, said %q", c.path, got, said)
		}
	}
	if _, err := Parts(filepath.Join(dir, "part-2.csv"), filepath.Join(dir, "p*.csv")); err == nil || !strings.Contains(err.Error(), "named twice") {
		t.Errorf("a file named twice: %v", err)
	}
}

// TestManyParts: there may be more parts than a process may have open files, and no more than some are open at once.
func TestManyParts(t *testing.T) {
	dir := t.TempDir()
	const n = 500
	for i := range n {
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%03d.csv", i)), []byte(fmt.Sprintf("x\n%d\n", i)), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	src, info, err := Load(context.Background(), dir, Options{Stream: true, Columns: []string{"x"}})
	if err != nil {
		t.Fatal(err)
	}
	s := src.(*stream)
	defer s.Close()
	if info.Files != n || len(s.l.file.disks.open) > maxOpenParts+s.l.threads {
		t.Errorf("%d files, %d of them open", info.Files, len(s.l.file.disks.open))
	}
	for i, v := range all(t, src, 100).F64 {
		if v != float64(i) {
			t.Fatalf("row %d is %v", i, v)
		}
	}
	if file, line, err := Line(context.Background(), dir, Options{}, 42); err != nil || line != 2 || filepath.Base(file) != "041.csv" {
		t.Errorf("row 42 is in line %d of %s: %v", line, file, err)
	}
	// A part that is written to, or replaced, between two passes is an error that names it.
	part := filepath.Join(dir, "300.csv")
	if err := os.WriteFile(part+".new", []byte("x\n7\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(part+".new", part); err != nil {
		t.Fatal(err)
	}
	r, err := src.Open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var b Block
	for err == nil {
		err = r.Read(&b, 100)
	}
	if !strings.Contains(err.Error(), "300.csv: another file took its place") {
		t.Errorf("got %v", err)
	}
}
