package data

import (
	"bytes"
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
)

// shelf holds pieces and serves their jobs one after another.
type shelf struct {
	from   []string
	bodies [][]byte
	built  [][]byte
}

func (s *shelf) Map(ctx context.Context, job []byte, from, to int) (answers [][]byte, err error) {
	for i := from; i < to; i++ {
		a, err := ServePiece(ctx, job, s.from[i], s.bodies[i], 2)
		if err != nil {
			return nil, err
		}
		answers = append(answers, a)
	}
	return answers, nil
}

func (s *shelf) Build(ctx context.Context, job []byte, stride int) (rows []int64, err error) {
	if s.built, err = s.Map(ctx, job, 0, len(s.bodies)); err != nil {
		return nil, err
	}
	for _, b := range s.built {
		rows = append(rows, int64(len(b)/stride))
	}
	return rows, nil
}

// cutText is a text in n pieces that end at line ends, as Spark reads lines. Pieces are numbered in another order than they stand in.
func cutText(text string, n int) *shelf {
	lines := strings.SplitAfter(strings.TrimSuffix(text, "\n")+"\n", "\n")
	s := &shelf{}
	at := 0
	for i := range n {
		part := strings.Join(lines[i*len(lines)/n:(i+1)*len(lines)/n], "")
		s.from = append(s.from, fmt.Sprintf("%d\t%d\tfile:/tmp/a.csv", n-i, at))
		s.bodies = append(s.bodies, []byte(part))
		at += len(part)
	}
	return s
}

// messy makes a table of numbers, counts, words, dates, gaps and a weight.
func messy(n int, r *rand.Rand) string {
	var b strings.Builder
	b.WriteString("id,x,kind,visits,day,grade,w,const\n")
	for i := range n {
		cell := func(s string) string {
			if r.IntN(20) == 0 {
				return []string{"", "NA", " "}[r.IntN(3)]
			}
			return s
		}
		fmt.Fprintf(&b, "r%d,%s,%s,%s,%s,%s,%d,7\n", i, cell(fmt.Sprintf("%.3f", r.NormFloat64())), cell([]string{"red", `"blue, dark"`, "green"}[r.IntN(3)]), cell(fmt.Sprint(r.IntN(40))),
			cell(fmt.Sprintf("2024-0%d-11", 1+r.IntN(9))), cell(fmt.Sprint(1+r.IntN(3))), 1+r.IntN(3))
	}
	return b.String()
}

func TestPiecesAreTheWholeFile(t *testing.T) {
	text := messy(3000, rand.New(rand.NewPCG(1, 2)))
	path := filepath.Join(t.TempDir(), "a.csv")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]Options{
		"numbers":    {Missing: "model", Columns: []string{"x", "visits"}},
		"by looks":   {Missing: "model"},
		"drop":       {Missing: "drop", AllowFewer: true, Weight: "w"},
		"mixed":      {Missing: "model", Mixed: true},
		"mixed drop": {Missing: "drop", Mixed: true, AllowFewer: true, Weight: "w"},
		"words":      {Missing: "model", Categories: true},
		"dates":      {Missing: "model", Dates: []DateColumn{{Name: "day"}}, Wanted: []string{"day"}},
		"float32":    {Missing: "model", Float32: true, Columns: []string{"x"}},
		"NA":         {Missing: "model", NA: []string{"red", "7", "NA"}, NASet: true, Mixed: true},
	} {
		t.Run(name, func(t *testing.T) {
			o.Stream = true
			src, want, err := Load(context.Background(), path, o)
			if err != nil {
				t.Fatal(err)
			}
			for _, n := range []int{1, 5, 17} {
				s := cutText(text, n)
				counts, layout, got, err := LoadPieces(context.Background(), s, PiecesInfo{Name: path, N: n, Format: "csv", Head: []byte(text[:min(len(text), 1<<16)])}, o)
				if err != nil {
					t.Fatal(err)
				}
				sameInfo(t, want, got)
				sameRows(t, src, s, counts, layout)
			}
		})
	}
}

// sameInfo compares what was found out; means and standard deviations are rounded by how rows are divided.
func sameInfo(t *testing.T, want, got *Info) {
	t.Helper()
	a, b := *want, *got
	a.file, b.file = nil, nil
	a.Columns, b.Columns = append([]Column(nil), a.Columns...), append([]Column(nil), b.Columns...)
	for i := range a.Columns {
		if i >= len(b.Columns) {
			break
		}
		x, y := &a.Columns[i], &b.Columns[i]
		if math.Abs(x.Mean-y.Mean) > 1e-9*(1+math.Abs(x.Mean)) || math.Abs(x.SD-y.SD) > 1e-9*(1+x.SD) {
			t.Errorf("column %s: mean %v and %v, standard deviation %v and %v", x.Name, x.Mean, y.Mean, x.SD, y.SD)
		}
		x.Mean, x.SD, y.Mean, y.SD = 0, 0, 0, 0
	}
	if !reflect.DeepEqual(a, b) {
		t.Errorf("of the file: %+v\nof its pieces: %+v", a, b)
	}
}

// sameRows compares the rows of a source with those that pieces gave.
func sameRows(t *testing.T, src Source, s *shelf, counts []int64, layout *Layout) {
	t.Helper()
	var all []byte
	total := int64(0)
	for i, b := range s.built {
		all, total = append(all, b...), total+counts[i]
	}
	table, err := layout.Table(all, 0)
	if err != nil {
		t.Fatal(err)
	}
	if n, d := src.Shape(); n != total || int64(table.N) != total || d != table.D {
		t.Fatalf("%d rows of %d columns became %d of %d", n, d, table.N, table.D)
	}
	at := 0
	err = EachBlock(context.Background(), src, func(b *Block) error {
		for i := range b.N {
			for j := range b.D {
				if x, y := b.At(i, j), table.At(at, j); x != y && (x == x || y == y) {
					t.Fatalf("row %d, column %d: %v became %v", at, j, x, y)
				}
			}
			if b.W != nil && b.W[i] != table.W[at] {
				t.Fatalf("row %d: weight %v became %v", at, b.W[i], table.W[at])
			}
			if table.Row != nil && table.Row[at] != b.Number(i) {
				t.Fatalf("row %d: number %d became %d", at, b.Number(i), table.Row[at])
			}
			at++
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func TestPiecesOfTypedCells(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	columns := []OutColumn{{"x", Float}, {"n", Int}, {"word", Text}}
	path := filepath.Join(t.TempDir(), "a.parquet")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	whole, err := Create(f, "parquet", columns)
	if err != nil {
		t.Fatal(err)
	}
	s := &shelf{}
	const n = 4
	for i := range n {
		var b bytes.Buffer
		piece, err := Create(&b, "cells", columns)
		if err != nil {
			t.Fatal(err)
		}
		for range 700 {
			x, k, w := r.NormFloat64(), int64(r.IntN(9)), []string{"a", "b", "c"}[r.IntN(3)]
			if r.IntN(9) == 0 {
				x = math.NaN()
			}
			for _, o := range []*Out{whole, piece} {
				o.Float(x)
				o.Int(k)
				o.Text(w)
				if err := o.End(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := piece.Close(); err != nil {
			t.Fatal(err)
		}
		s.from, s.bodies = append(s.from, fmt.Sprintf("%d\t\t", i)), append(s.bodies, b.Bytes())
	}
	if err := whole.Close(); err != nil {
		t.Fatal(err)
	}
	if err := f.Close(); err != nil {
		t.Fatal(err)
	}
	for _, o := range []Options{{Missing: "model", Stream: true}, {Missing: "model", Mixed: true, Stream: true}, {Missing: "drop", Stream: true}} {
		src, want, err := Load(context.Background(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		counts, layout, got, err := LoadPieces(context.Background(), s, PiecesInfo{Name: path, N: n, Format: "parquet", Columns: []string{"x", "n", "word"}, Types: "dis"}, o)
		if err != nil {
			t.Fatal(err)
		}
		sameInfo(t, want, got)
		sameRows(t, src, s, counts, layout)
	}
}

func TestPiecesTellWhere(t *testing.T) {
	for wrong, want := range map[string]string{
		"oops,1\n": `/tmp/a.csv:601: column "x": "oops" is not a number`,
		"7\n":      `/tmp/a.csv:601: 1 field, but the header has 2`,
	} {
		var b strings.Builder
		b.WriteString("x,y\n")
		for i := range 900 {
			fmt.Fprintf(&b, "%d.5,%d\n", i, i*i%77)
		}
		lines := strings.SplitAfter(b.String(), "\n")
		lines[600] = wrong
		s := cutText(strings.Join(lines, ""), 7)
		_, _, _, err := LoadPieces(context.Background(), s, PiecesInfo{Name: "a.csv", N: 7, Format: "csv", Head: []byte(lines[0] + lines[1] + lines[2])}, Options{Columns: []string{"x", "y"}})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("error %v; it should say %s", err, want)
		}
	}
}

// Spark leaves the first line of every file to us: one with other columns would give wrong rows without a word.
func TestPiecesOfFilesWithOtherColumnsAreRefused(t *testing.T) {
	s := &shelf{from: []string{"0\t0\tfile:/a.csv", "1\t0\tfile:/b.csv"}, bodies: [][]byte{[]byte("x,y\n1,2\n3,5\n"), []byte("y,x\n1,2\n4,3\n")}}
	_, _, _, err := LoadPieces(context.Background(), s, PiecesInfo{Name: "*.csv", N: 2, Format: "csv", Head: s.bodies[0]}, Options{})
	if err == nil || !strings.Contains(err.Error(), "/b.csv:1: its columns are not those of the first file") {
		t.Errorf("error %v", err)
	}
}
