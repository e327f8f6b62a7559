package data

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
)

// mixedWays are the ways to read a file of columns of every type, which must all give the same rows.
func mixedWays(o Options) []Options {
	var out []Options
	for _, threads := range []int{1, 3} {
		for _, stream := range []bool{false, true} {
			o.Mixed, o.Threads, o.Stream = true, threads, stream
			out = append(out, o)
		}
	}
	return out
}

// mixedText loads a file in every way and tells features, types, levels, cells, row numbers and what was left out.
func mixedText(t *testing.T, in string, o Options) string {
	t.Helper()
	first := ""
	for i, o := range mixedWays(o) {
		o.Stdin = strings.NewReader(in)
		src, info, err := Load(context.Background(), "-", o)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			b := all(t, src, 2)
			got = fmt.Sprint(info.Features, info.Types, info.Levels, b.F64, b.F32, b.Row, info.LeftOut())
		}
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("%d threads, stream %v: got %s, before that %s", o.Threads, o.Stream, got, first)
		}
	}
	return first
}

func TestMixed(t *testing.T) {
	for _, c := range []struct {
		name, in string
		o        Options
		want     string // what mixedText starts with
	}{
		{"text and numbers", "x,g\n1.5,b\n2,a\n3,b\n", Options{}, "[x g] [number category] [[] [a b]] [1.5 1 2 0 3 1] [] [1 2 3] []"},
		{"missing cells stay", "x,g\n1.5,\nNA,a\n3,b\n", Options{Missing: "model"}, "[x g] [number category] [[] [a b]] [1.5 NaN NaN 0 3 1]"},
		{"their rows are dropped", "x,g\n1.5,\nNA,a\n3,b\n", Options{Missing: "drop", AllowFewer: true}, "[x g] [number category] [[] [b]] [3 0] [] [3]"},
		{"bits are categories", "x,g\n1,0\n2,1\n4,\n", Options{Missing: "model"}, "[x g] [number category] [[] [0 1]] [1 0 2 1 4 NaN]"},
		{"a type that is given", "x,g\n1,0\n2,1\n4,0\n", Options{Types: []TypeOf{{"g", Number}, {"x", Count}}}, "[x g] [count number] [[] []] [1 0 2 1 4 0]"},
		{"no such column", "size,g\n1,0\n2,1\n4,0\n", Options{Types: []TypeOf{{"sise", Number}}}, `column "sise" is not in standard input; its columns are: size, g`},
		{"an empty column", "x,g\n1.5,\n2,\n3,\n", Options{Missing: "model"}, "[x] [number] [[]] [1.5 2 3] [] [1 2 3] [g (empty)]"},
		{"an empty column that is named", "x,g\n1.5,\n2,\n3,\n", Options{Missing: "model", Columns: []string{"x,g"}}, `standard input: column "g" has no value in any row; use --exclude g`},
		{"no cell at all", "x,g\n,\nNA,\n", Options{Missing: "model"}, `standard input: no column is left to work with: x (empty), g (empty)`},
		{"a model's columns", "g,x\nb,\nb,2\n", Options{Missing: "model", Exact: []string{"x", "g"}, ExactTypes: []Type{Number, Category}, Levels: [][]string{nil, {"c", "b"}}},
			"[x g] [number category] [[] [c b]] [NaN 1 2 1]"},
	} {
		if got := mixedText(t, c.in, c.o); !strings.HasPrefix(strings.TrimPrefix(got, "standard input: :"), c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestMissingModel(t *testing.T) {
	for _, float32s := range []bool{false, true} {
		for _, stream := range []bool{false, true} {
			o := Options{Missing: "model", Stream: stream, Float32: float32s, Stdin: strings.NewReader("x,y\n1,\n,2\n,\n")}
			src, info, err := Load(context.Background(), "-", o)
			if err != nil {
				t.Fatal(err)
			}
			b := all(t, src, 2)
			for i, want := range []float64{1, math.NaN(), math.NaN(), 2, math.NaN(), math.NaN()} {
				if v := b.At(i/2, i%2); v != want && (v == v || want == want) {
					t.Errorf("cell %d is %v, want %v", i, v, want)
				}
			}
			if info.MissingCells != 4 || info.Rows != 3 || info.Dropped != 0 {
				t.Errorf("%+v", info)
			}
		}
	}
}
