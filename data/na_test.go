package data

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

func TestNA(t *testing.T) {
	for _, c := range []struct {
		name, in string
		na       []string
		o        Options
		want     string // what mixedText starts with
	}{
		{"a code among numbers", "x,y\n1.5,-99\n-99,2\n-99.0,-990\n", []string{"-99"}, Options{}, "[x y] [number number] [[] []] [1.5 NaN NaN 2 -99 -990]"},
		{"a code among categories", "x,g\n1.5,-9\n2,a\n3,b\n", []string{"-9"}, Options{}, "[x g] [number category] [[] [a b]] [1.5 NaN 2 0 3 1]"},
		{"a code among bits", "x,g\n1.5,-9\n2,1\n3,0\n", []string{"-9"}, Options{}, "[x g] [number category] [[] [0 1]] [1.5 NaN 2 1 3 0]"},
		{"in any case, and in quotes", "x,y\n1.5,Missing\n2,\" MISSING \"\n3,4\n2,5\n3,7\n", []string{" missing"}, Options{}, "[x y] [number number] [[] []] [1.5 NaN 2 NaN 3 4"},
		{"the usual texts no more", "x,g\n1.5,NA\n2,a\n?,b\n3,b\n", []string{"-"}, Options{}, `standard input:4: column "x": "?" is not a number`},
		{"the usual texts as levels", "x,g\n1.5,NA\n2,a\n3,\n", nil, Options{}, "[x g] [number category] [[] [NA a]] [1.5 0 2 1 3 NaN]"},
		{"an empty entry", "x,g\n1.5,NA\n2,a\n3,\n", []string{""}, Options{}, "[x g] [number category] [[] [NA a]] [1.5 0 2 1 3 NaN]"},
		{"with an exponent", "x,y\n1e3,1e3\n2,7\n3,1000\n", []string{"1E3"}, Options{}, "[x y] [number number] [[] []] [NaN NaN 2 7 3 1000]"},
		{"with a decimal comma", "x;y\n1,5;-9,9\n2,5;2\n0,5;-9,90\n", []string{"-9,9"}, Options{}, "[x y] [number number] [[] []] [1.5 NaN 2.5 2 0.5 -9.9]"},
		{"of points between thousands", "x;y\n1,5;1.000\n2,5;2\n0,5;1000\n", []string{"1.000"}, Options{}, "[x y] [number number] [[] []] [1.5 NaN 2.5 2 0.5 1000]"},
		{"a number beyond 2^53", "x,y\n1.5,99999999999999999\n2,5\n3,9\n", []string{"99999999999999999"}, Options{}, "[x y] [number number] [[] []] [1.5 NaN 2 5 3 9] [] [1 2 3] []"},
		{"words in the first line", "none,1\nx,2\nz,3\nnone,4.5\n", []string{"none"}, Options{}, "[1 2] [category number] [[x z] []] [NaN 1 0 2 1 3 NaN 4.5]"},
		{"codes below a name", "id_of,x\n-9,1\n-9,1.5\n-9,2\nb,2\n", []string{"-9"}, Options{}, "[x] [number] [[]] [1 1.5 2 2] [] [1 2 3 4] [id_of (constant)]"},
		{"dropped", "x,g\n1.5,-9\n2,a\n3,b\n", []string{"-9"}, Options{Missing: "drop"}, "[x g] [number category] [[] [a b]] [2 0 3 1] [] [2 3]"},
		{"an error", "x,y\n1.5,-9\n2,5\n3,6\n", []string{"-9"}, Options{Missing: "error"}, `standard input:2: column "y" has no value here`},
		{"a weight", "x,w\n1.5,-9\n2,1\n3,2\n", []string{"-9"}, Options{Weight: "w"}, `standard input:2: column "w" has no value here, but every row needs a weight`},
	} {
		c.o.NA, c.o.NASet = c.na, true
		if c.o.Missing == "" {
			c.o.Missing = "model"
		}
		if got := mixedText(t, c.in, c.o); !strings.HasPrefix(got, c.want) {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestNAOfTruth: a known group that says that there is none is none.
func TestNAOfTruth(t *testing.T) {
	for _, stream := range []bool{false, true} {
		src, _, err := Load(context.Background(), "-", Options{Truth: "g", NA: []string{"none"}, Stream: stream, Stdin: strings.NewReader("x,g\n1,a\n2,None\n3,NA\n")})
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%q", all(t, src, 2).Truth); got != `["a" "" "NA"]` {
			t.Error(got)
		}
	}
}

// TestNAOfNumbers: cells that have no text are compared as numbers, and texts in Parquet as texts.
func TestNAOfNumbers(t *testing.T) {
	type row struct {
		F float64 `parquet:"f"`
		I int64   `parquet:"i"`
		D float64 `parquet:"d,dict"`
		S string  `parquet:"s"`
		B bool    `parquet:"b"`
	}
	var packed bytes.Buffer
	if err := parquet.Write(&packed, []row{{-99, 1, 2.5, "-99", true}, {1.5, -99, -99, "a", false}, {2.5, 7, 0.5, "-99.0", true}, {3, 1 << 62, 3.5, "a", true}}); err != nil {
		t.Fatal(err)
	}
	o := Options{Missing: "model", NA: []string{"-99.0", "false"}}
	want := "[f i d s b] [number number number category category] [[] [] [] [-99 a] [true]] [NaN 1 2.5 0 0 1.5 NaN NaN 1 NaN 2.5 7 0.5 NaN 0 3 4.611686018427388e+18 3.5 1 0]"
	o.Columns = []string{"*"}
	if got := mixedText(t, packed.String(), o); !strings.HasPrefix(got, want) {
		t.Errorf("Parquet:\ngot  %s\nwant %s", got, want)
	}
	o.Types = []TypeOf{{"i", Category}}
	want = "[f i d s b] [number category number category category] [[] [1 7 4611686018427387904] [] [-99 a] [true]] [NaN 0 2.5 0 0 1.5 NaN"
	if got := mixedText(t, packed.String(), o); !strings.HasPrefix(got, want) {
		t.Errorf("Parquet, numbers as categories:\ngot  %s\nwant %s", got, want)
	}
	o = Options{Missing: "model", NA: []string{"-99"}}
	for name, in := range map[string]string{"float64": npyText(t, "<f8", []float64{1, -99, -99, 3, 4, 5}, 3), "int16": npyText(t, "<i2", []int16{1, -99, -99, 3, 4, 5}, 3), "big": npyText(t, ">i2", []byte{0, 1, 255, 157, 255, 157, 0, 3, 0, 4, 0, 5}, 3)} {
		if got := mixedText(t, in, o); !strings.HasPrefix(got, "[1 2] [number number] [[] []] [1 NaN NaN 3 4 5]") {
			t.Errorf("%s: %s", name, got)
		}
	}
	wide := npyText(t, "<i8", []int64{1, 1<<63 - 1, 1<<53 + 1, 3, 4, 5}, 3)
	if got := mixedText(t, wide, Options{Missing: "model", NA: []string{"9223372036854775807"}, Columns: []string{"*"}}); !strings.HasPrefix(got, "[1 2] [number number] [[] []] [1 NaN 9.007199254740992e+15 3 4 5]") {
		t.Error(got)
	}
	o.Types = []TypeOf{{"2", Category}}
	if got := mixedText(t, npyText(t, "<i2", []int16{1, -99, -99, 3, 4, 5}, 3), o); !strings.HasPrefix(got, "[1 2] [number category] [[] [3 5]] [1 NaN NaN 0 4 1]") {
		t.Error(got)
	}
}

// TestNAInCarriedCells: what stands in the file is handed on as it stands.
func TestNAInCarriedCells(t *testing.T) {
	for _, in := range []string{"1,-99\n-99,3\n", npyText(t, "<f8", []float64{1, -99, -99, 3}, 2)} {
		src, _, err := Load(context.Background(), "-", Options{Header: "no", Missing: "model", NA: []string{"-99"}, Stream: true, Carry: true, Stdin: strings.NewReader(in)})
		if err != nil {
			t.Fatal(err)
		}
		r, err := src.Open(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		var b Block
		if err := r.Read(&b, 10); err != nil || fmt.Sprint(b.Cells, b.F64) != "[1 -99 -99 3] [1 NaN NaN 3]" {
			t.Error(b.Cells, b.F64, err)
		}
		r.Close()
	}
}

// TestNAIsAnEmptyCell reads random tables with codes and with empty cells in their place: the rows are the same.
func TestNAIsAnEmptyCell(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	for _, cells := range [][]string{{"1.5", "2", "-99", "-990", "-9.9e1", "7"}, {"1", "0", "-99"}, {"red", "-99", "none", "NA", "12"}, {"-99", "None", "x-99"}} {
		for _, na := range [][]string{{"-99"}, {"none", "-99"}, {"none"}, nil} {
			var coded, empty strings.Builder
			for range 200 {
				for j := range 3 {
					cell := cells[random.IntN(len(cells))]
					gap := cell
					if slices.ContainsFunc(na, func(s string) bool { return strings.EqualFold(s, cell) }) {
						gap = ""
					}
					fmt.Fprintf(&coded, "%s%s", cell, []string{",", ",", "\n"}[j])
					fmt.Fprintf(&empty, "%s%s", gap, []string{",", ",", "\n"}[j])
				}
			}
			o := Options{Missing: "model", Header: "no", Columns: []string{"*"}, NA: na, NASet: true}
			if a, b := mixedText(t, coded.String(), o), mixedText(t, empty.String(), o); a != b {
				t.Errorf("%q missing among %q:\n%.300s\nempty:\n%.300s", na, cells, a, b)
			}
		}
	}
}
