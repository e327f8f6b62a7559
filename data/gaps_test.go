package data

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// sameCells reports whether two runs of cells are the same; NaN is like NaN.
func sameCells(a, b []float64) bool {
	for i := range a {
		if i >= len(b) || a[i] != b[i] && (a[i] == a[i] || b[i] == b[i]) {
			return false
		}
	}
	return len(a) == len(b)
}

func TestMissingModel(t *testing.T) {
	nan := math.NaN()
	text := "x,y\n1,\nNA,2\n,?\n"
	array := npyText(t, "<f8", []float64{1, nan, nan, 2, nan, nan}, 3)
	singles := npyText(t, "<f4", []float32{1, float32(nan), float32(nan), 2, float32(nan), float32(nan)}, 3)
	for name, in := range map[string]string{"csv": text, "npy": array, "npy of float32": singles} {
		for _, mixed := range []bool{false, true} {
			for _, o := range mixedWays(Options{Missing: "model"}) {
				o.Mixed, o.Float32, o.Stdin = mixed, o.Threads == 3, strings.NewReader(in)
				src, info, err := Load(context.Background(), "-", o)
				if err != nil {
					t.Fatal(name, err)
				}
				b := all(t, src, 2)
				for i, want := range []float64{1, nan, nan, 2, nan, nan} {
					if v := b.At(i/2, i%2); v != want && (v == v || want == want) {
						t.Errorf("%s: cell %d is %v, want %v", name, i, v, want)
					}
				}
				if info.MissingCells != 4 || info.Rows != 3 || info.Dropped != 0 {
					t.Errorf("%s: %+v", name, info)
				}
			}
		}
	}
}

func TestMissingModelOfCategories(t *testing.T) {
	got := levelsText(t, write(t, "f.csv", "x,y\nred,1\n,0\nblue,NA\n"), Options{Missing: "model"})
	if want := "[x y] [[blue red] [0 1]] [1 1 NaN 0 0 NaN] [] "; !strings.HasPrefix(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

// gapRow is a row of a random table, nil where a cell is missing.
type gapRow struct {
	X *float64 `parquet:"x,optional"`
	N *int64   `parquet:"n,optional"`
	G *string  `parquet:"g,optional"`
	B *bool    `parquet:"b,optional"`
}

func cellOf[T any](v *T) string {
	if v == nil {
		return ""
	}
	return fmt.Sprint(*v)
}

// TestFormatsAndWaysAgree reads random tables as CSV and as Parquet, in memory and as a stream, by one thread and by three: the
// cells are those that were written, and NaN where none was.
func TestFormatsAndWaysAgree(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for _, n := range []int{25, 300, 9000} {
		rows := make([]gapRow, n)
		var text strings.Builder
		text.WriteString("x,n,g,b\n")
		want := make([]float64, 0, 4*n)
		for i := range rows {
			x, k, g, b := random.NormFloat64(), int64(random.IntN(4)), random.IntN(3), random.IntN(2)
			name, yes := []string{"blue", "green", "red"}[g], b == 1
			r := gapRow{&x, &k, &name, &yes}
			cells := []float64{x, float64(k), float64(g), float64(b)}
			for j, p := range []func(){func() { r.X = nil }, func() { r.N = nil }, func() { r.G = nil }, func() { r.B = nil }} {
				if random.IntN(5) == 0 {
					p()
					cells[j] = math.NaN()
				}
			}
			rows[i] = r
			want = append(want, cells...)
			fmt.Fprintf(&text, "%s,%s,%s,%s\n", cellOf(r.X), cellOf(r.N), cellOf(r.G), cellOf(r.B))
		}
		var packed bytes.Buffer
		if err := parquet.Write(&packed, rows); err != nil {
			t.Fatal(err)
		}
		n := "number" // of 4 values: 25 rows are too few
		levels := "[[] [] [blue green red] [false true]]"
		if len(rows) > 25 {
			n, levels = "category", "[[] [0 1 2 3] [blue green red] [false true]]"
		}
		for _, in := range []string{text.String(), packed.String()} {
			for _, o := range mixedWays(Options{Missing: "model"}) {
				o.Stdin = strings.NewReader(in)
				src, info, err := Load(context.Background(), "-", o)
				if err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(info.Types, info.Levels); got != "[number "+n+" category category] "+levels {
					t.Fatalf("%s, %d rows: %s", info.Format, len(rows), got)
				}
				if got := all(t, src, 100); !sameCells(got.F64, want) {
					t.Errorf("%s, %d rows, %d threads, stream %v: other cells", info.Format, len(rows), o.Threads, o.Stream)
				}
			}
		}
	}
}

func TestMissingAdvice(t *testing.T) {
	five := "x,y,z\n1,2,3\n,2,3\n1,2,3\n1,,3\n1,2,3\n"
	for _, c := range []struct {
		name, in string
		o        Options
		want     string
	}{
		{"some rows", five, Options{}, "(2 cells in 2 rows are missing: x 1, y 1); use --missing model, --missing drop, or --exclude x,y"},
		{"all columns", "x,y\n1,2\n,2\n1,\n1,2\n", Options{}, "; use --missing model or --missing drop"},
		{"a model's columns", five, Options{Exact: []string{"x", "y"}}, "; use --missing model or --missing drop"},
		{"no complete row", "x,y\n1,\n,2\n", Options{}, "(2 cells in 2 rows are missing: x 1, y 1): no row is complete; use --missing model"},
		{"no complete row, one column with gaps", "x,y\n,2\n,3\n", Options{Columns: []string{"x,y"}}, ": no row is complete; use --exclude x"},
		{"no complete row, but a column without gaps", "x,y,z\n,2,1\n5,,2\n,3,1\n6,,2\n", Options{}, ": no row is complete; use --missing model or --exclude x,y"},
		{"few complete rows", "x,y\n1,2\n,2\n,2\n", Options{}, "; use --missing model, --exclude x, or --missing drop --allow-fewer, which leaves 1 of 3 rows"},
		{"few complete rows, gaps everywhere", "x,y\n1,2\n,2\n1,\n", Options{}, "; use --missing model, or --missing drop --allow-fewer, which leaves 1 of 3 rows"},
		{"a gap in the weight", "x,w\n1,2\n2,\n1,1\n", Options{Weight: "w"}, "every row needs a weight (1 cell in 1 row is missing); use --missing drop"},
		{"a gap in the weight too", "x,w\n,2\n2,\n1,1\n4,1\n", Options{Weight: "w"}, "w 1); use --missing drop"},
		{"few complete rows to keep", "x,y\n1,2\n,2\n,2\n", Options{Missing: "drop"}, "--missing drop would leave 1 of 3 rows (missing: x 2); use --missing model to keep all rows; use --exclude x, or --allow-fewer to go on with these rows"},
		{"no row to keep", "x,y\n1,\n,2\n", Options{Missing: "drop"}, "no row is complete: all 2 rows were dropped; use --missing model"},
	} {
		c.o.CanModel, c.o.Stdin = true, strings.NewReader(c.in)
		if _, _, err := Load(context.Background(), "-", c.o); err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("%s:\ngot  %v\nwant %s", c.name, err, c.want)
		}
	}
}

func TestProfileOfMixedColumns(t *testing.T) {
	in := "id,x,g,kind,note\n7,1.5,0,u,2024-01-31\n9,NA,1,v,2024-02-01\n8,1.5,0,u,2024-02-01\n5,2.5,1,NA,2024-02-02\n"
	r, err := Profile(context.Background(), write(t, "f.csv", in), Options{Mixed: true, Missing: "model"})
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"file":"f.csv","format":"csv","rows":4,"delimiter":",","decimal":".","header":true,"columns":[` +
		`{"name":"id","kind":"id","use":"ignored","why":"counter","missing":0,"non_finite":0,"distinct":4,"min":5,"max":9,"mean":7.25,"sd":1.707825127659933},` +
		`{"name":"x","kind":"number","use":"feature","why":"","type":"number","missing":1,"non_finite":0,"distinct":2,"min":1.5,"max":2.5,"mean":1.8333333333333333,"sd":0.5773502691896257},` +
		`{"name":"g","kind":"bits","use":"feature","why":"","type":"category","missing":0,"non_finite":0,"distinct":2,"min":0,"max":1,"mean":0.5,"sd":0.5773502691896257},` +
		`{"name":"kind","kind":"text","use":"feature","why":"","type":"category","missing":1,"non_finite":0,"distinct":2,"min":null,"max":null,"mean":null,"sd":null},` +
		`{"name":"note","kind":"text","use":"ignored","why":"dates","missing":0,"non_finite":0,"distinct":3,"min":null,"max":null,"mean":null,"sd":null}],` +
		`"incomplete_rows":2,"duplicate_rows":1,"warnings":["1 row is the same as one before in the 3 columns that are fitted","2 rows have at least one missing value"]}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r.MissingCells != 2 {
		t.Errorf("%d missing cells", r.MissingCells)
	}
}

func TestFirstMissing(t *testing.T) {
	nan := math.NaN()
	table := &Table{N: 3, D: 2, F64: []float64{nan, 1, 2, 3, 7, nan}, W: []float64{0, 1, 1}, Row: []int64{2, 4, 9}}
	for _, src := range []Source{table, &Table{N: 3, D: 2, F32: []float32{float32(nan), 1, 2, 3, 7, float32(nan)}, W: table.W, Row: table.Row}, Scaled(table, []float64{1, 1}, []float64{2, 2})} {
		if row, col, found, err := FirstMissing(context.Background(), src); row != 9 || col != 1 || !found || err != nil {
			t.Errorf("row %d, column %d, %v, %v", row, col, found, err)
		}
	}
	if _, _, found, err := FirstMissing(context.Background(), &Table{N: 1, D: 2, F64: []float64{1, 2}}); found || err != nil {
		t.Error(found, err)
	}
	if _, _, _, err := FirstMissing(context.Background(), nil); err == nil {
		t.Error("no source")
	}
	row, col, v, found, err := FirstCell(context.Background(), table, func(_ int, v float64) bool { return !(v < 5) })
	if row != 9 || col != 0 || v != 7 || !found || err != nil {
		t.Errorf("a missing cell is told as a wrong one: row %d, column %d, %v, %v, %v", row, col, v, found, err)
	}
}

func TestGapsPassThrough(t *testing.T) {
	nan := math.NaN()
	x := []float64{nan, 1, 0.25, nan}
	for _, src := range []Source{&Table{N: 2, D: 2, F64: x}, &Table{N: 2, D: 2, F32: []float32{float32(nan), 1, 0.25, float32(nan)}}} {
		checked, err := Checked(src)
		if err != nil || !sameCells(asFloat64(all(t, checked, 1)), x) {
			t.Errorf("checked: %v", err)
		}
		if got := all(t, Scaled(src, []float64{0, 1}, []float64{0.5, 2}), 1); !sameCells(got.F64, []float64{nan, 0, 0.5, nan}) {
			t.Errorf("scaled: %v", got.F64)
		}
		if got := all(t, Binarized(src, 0.5), 1); !sameCells(got.F64, []float64{nan, 1, 0, nan}) {
			t.Errorf("binarized: %v", got.F64)
		}
	}
}

func asFloat64(t *Table) []float64 {
	out := make([]float64, 0, t.N*t.D)
	for i := range t.N {
		for j := range t.D {
			out = append(out, t.At(i, j))
		}
	}
	return out
}
