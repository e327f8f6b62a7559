package data

import (
	"context"
	"fmt"
	"strings"
	"testing"
)

// unseenText loads rows of a model of a number and two categories in every way, and tells cells and what was not known.
func unseenText(t *testing.T, in string, levels ...[]string) string {
	t.Helper()
	first := ""
	o := Options{Missing: "model", Unseen: "missing", Exact: []string{"x", "g", "h"}, ExactTypes: []Type{Number, Category, Category}, Levels: append([][]string{nil}, levels...)}
	for i, o := range mixedWays(o) {
		o.Stdin = strings.NewReader(in)
		src, info, err := Load(context.Background(), "-", o)
		got := fmt.Sprint(err)
		if err == nil {
			b := all(t, src, 3)
			got = fmt.Sprint(b.F64[:min(len(b.F64), 30)], info.MissingCells, info.Unseen, info.Warnings)
		}
		if i == 0 {
			first = got
		} else if got != first {
			t.Errorf("%d threads, stream %v: %s, before that %s", o.Threads, o.Stream, got, first)
		}
	}
	return first
}

func TestUnseen(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"all known", "x,g,h\n1,a,1\n,b,2.0\n", "[1 0 0 NaN 1 1] 1 [] []"},
		{"some unknown", "x,g,h\n1,c,1\n2,b,3\n3,,03\n4,d,2\n", "[1 NaN 0 2 1 NaN 3 NaN NaN 4 NaN 1] 1 [{g 2 c} {h 2 3}] " +
			`[column "g": the model does not know the level of 2 cells, such as "c"; counted as missing column "h": the model does not know the level of 2 cells, such as "3"; counted as missing]`},
		{"by place", "1,a,9\n2,b,1\n", `[1 0 NaN 2 1 0] 0 [{h 1 9}]`},
	} {
		got := unseenText(t, c.in, []string{"a", "b"}, []string{"1", "2"})
		if c.name == "by place" { // without names, columns are called by their number
			c.want = strings.Replace(c.want, "{h", "{3", 1)
		}
		if !strings.HasPrefix(got, c.want) {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

// TestUnseenAmongMany: a known level is found however many others stand before it.
func TestUnseenAmongMany(t *testing.T) {
	var b strings.Builder
	b.WriteString("x,g,h\n1,n0,1\n")
	for i := range 3 * maxLevels {
		fmt.Fprintf(&b, "1,n%d,1\n", i)
	}
	b.WriteString("1,a,2\n1,b,1\n")
	for _, stream := range []bool{false, true} {
		src, info, err := Load(context.Background(), "-", Options{Mixed: true, Missing: "model", Unseen: "missing", Exact: []string{"x", "g", "h"}, ExactTypes: []Type{Number, Category, Category},
			Levels: [][]string{nil, {"a", "b"}, {"1", "2"}}, Stream: stream, Stdin: strings.NewReader(b.String())})
		if err != nil {
			t.Fatal(err)
		}
		rows := all(t, src, 1000)
		if n := len(rows.F64); fmt.Sprint(rows.F64[:3], rows.F64[n-6:], info.Unseen) != "[1 NaN 0] [1 0 1 1 1 0] [{g 30001 n0}]" {
			t.Error(rows.F64[:3], rows.F64[n-6:], info.Unseen)
		}
	}
}

func TestUnseenOfCategories(t *testing.T) {
	o := Options{Categories: true, Missing: "model", Unseen: "missing", Exact: []string{"g"}, Levels: [][]string{{"b", "a"}}, Stdin: strings.NewReader("g\na\nz\nb\n\"\"\n")}
	src, info, err := Load(context.Background(), "-", o)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(all(t, src, 9).F64, info.MissingCells, info.Unseen); got != "[1 NaN 0 NaN] 1 [{g 1 z}]" {
		t.Error(got)
	}
}
