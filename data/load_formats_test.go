package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"strings"
	"testing"
)

// npyText writes an NPY file of two columns by hand.
func npyText(t *testing.T, descr string, values any, n int) string {
	t.Helper()
	var b bytes.Buffer
	header := fmt.Sprintf("{'descr': '%s', 'fortran_order': False, 'shape': (%d, 2), }", descr, n)
	header += strings.Repeat(" ", 117-len(header)) + "\n" // 128 bytes with the first ten
	b.WriteString("\x93NUMPY\x01\x00")
	for _, v := range []any{uint16(len(header)), []byte(header), values} {
		if err := binary.Write(&b, binary.LittleEndian, v); err != nil {
			t.Fatal(err)
		}
	}
	return b.String()
}

func TestLoadNPY(t *testing.T) {
	whole := npyText(t, "<f8", []float64{1, 2, 3, 4, 5, 6}, 3)
	gap := npyText(t, "<f8", []float64{1, 2, math.NaN(), 4, 5, 6}, 3)
	inf := npyText(t, "<f8", []float64{1, 2, math.Inf(1), 4, 5, 6}, 3)
	single := npyText(t, "<f4", []float32{1, 2, 3, 4, 5, 6}, 3)
	singleGap := npyText(t, "<f4", []float32{1, 2, float32(math.NaN()), 4, 5, 6}, 3)
	var big []byte
	for v := range 6 {
		big = binary.BigEndian.AppendUint32(big, math.Float32bits(float32(v+1)))
	}
	swapped := npyText(t, ">f4", big, 3)
	for _, c := range []struct {
		name, in string
		o        Options
		want     string
	}{
		{"whole", whole, Options{}, "[1 2] [1 2 3 4 5 6] [] [1 2 3]"},
		{"one column", whole, Options{Columns: []string{"2"}}, "[2] [2 4 6] [] [1 2 3]"},
		{"other order", whole, Options{Columns: []string{"2,1"}}, "[2 1] [2 1 4 3 6 5] [] [1 2 3]"},
		{"first rows", whole, Options{Limit: 2}, "[1 2] [1 2 3 4] [] [1 2]"},
		{"as float32", whole, Options{Float32: true}, "[1 2] [] [1 2 3 4 5 6] [1 2 3]"},
		{"float32 stays", single, Options{}, "[1 2] [] [1 2 3 4 5 6] [1 2 3]"},
		{"float32 stays, one column", single, Options{Columns: []string{"2"}}, "[2] [] [2 4 6] [1 2 3]"},
		{"float32 stays, first rows", single, Options{Limit: 2}, "[1 2] [] [1 2 3 4] [1 2]"},
		{"float32 stays, without gaps", singleGap, Options{Missing: "drop"}, "[1 2] [] [1 2 5 6] [1 3]"},
		{"float32 of the other byte order", swapped, Options{}, "[1 2] [] [1 2 3 4 5 6] [1 2 3]"},
		{"weights", whole, Options{Weight: "1"}, "[2] [2 4 6] [] [1 2 3]"},
		{"gap dropped", gap, Options{Missing: "drop"}, "[1 2] [1 2 5 6] [] [1 3]"},
		{"gap", gap, Options{}, `f.npy: row 2, column "1" has no value here (1 cell in 1 row is missing); use --missing drop, or --exclude 1`},
		{"infinite", inf, Options{Missing: "drop"}, `f.npy: row 2, column "1": "+Inf" is not a finite number; use --exclude 1`},
		{"another width", whole, Options{Exact: []string{"1", "2", "3"}}, `f.npy: it has 2 number columns without names, but the model has 3: they cannot be told apart`},
		{"names by position", whole, Options{Exact: []string{"a", "b"}}, "[1 2] [1 2 3 4 5 6] [] [1 2 3]"},
	} {
		for _, stream := range []bool{false, true} {
			c.o.Stream = stream
			path := write(t, "f.npy", c.in)
			src, info, err := Load(context.Background(), path, c.o)
			got := ""
			if err != nil {
				got = err.Error()
			} else {
				b := all(t, src, 2)
				got = fmt.Sprint(info.Features, b.F64, b.F32, b.Row)
			}
			if got = strings.ReplaceAll(got, `"inf"`, `"+Inf"`); strings.ReplaceAll(got, "][", "] [") != c.want {
				t.Errorf("%s, stream %v: got %s", c.name, stream, got)
			}
		}
	}
}

// TestLoadDatasets reads every built-in set: its features are measurements, its truth comes unasked.
func TestLoadDatasets(t *testing.T) {
	src, info, err := Load(context.Background(), "@iris", Options{})
	if err != nil {
		t.Fatal(err)
	}
	if iris := src.(*Table); iris.N != 150 || iris.D != 4 || iris.Truth[0] == "" || iris.Truth[149] == iris.Truth[0] {
		t.Errorf("iris: %d x %d, %v", iris.N, iris.D, info.Features)
	}
	for _, d := range datasetList {
		src, info, err := Load(context.Background(), "@"+d.Name, Options{Missing: "drop"})
		if err != nil {
			t.Errorf("%s: %v", d.Name, err)
			continue
		}
		n, _ := src.Shape()
		if info.FileRows != int64(d.Rows) || len(info.Columns) != d.Columns || n+info.Dropped != info.FileRows || (src.(*Table).Truth != nil) != (d.Truth != "") {
			t.Errorf("%s: %d rows, %d columns, features %v", d.Name, info.FileRows, len(info.Columns), info.Features)
		}
		for _, f := range info.Features {
			if f == d.Truth {
				t.Errorf("%s: the truth is a feature", d.Name)
			}
		}
	}
	if _, _, err := Load(context.Background(), "@irish", Options{}); err == nil || err.Error() != "@irish: there is no built-in set of this name; see latent datasets" {
		t.Errorf("got %v", err)
	}
}
