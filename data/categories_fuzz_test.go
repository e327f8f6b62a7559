package data

import (
	"context"
	"encoding/csv"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// naive is what a few lines make of a table: the first d columns of complete rows.
type naive struct {
	codes  []float64
	levels [][]string
	rows   int
}

var (
	isDecimal = regexp.MustCompile(`^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$`)
	isGap     = regexp.MustCompile(`(?i)^(|na|n/a|nan|null|\?)$`)
)

func naiveCategories(t *testing.T, text string, d int) *naive {
	t.Helper()
	r := csv.NewReader(strings.NewReader(text))
	records, err := r.ReadAll()
	if err != nil {
		t.Skip(err)
	}
	var kept [][]string
	for _, rec := range records {
		gap := false
		for j := range rec[:d] {
			rec[j] = strings.Trim(rec[j], " \t")
			gap = gap || isGap.MatchString(strings.Trim(rec[j], " \t\r\n"))
		}
		if !gap {
			kept = append(kept, rec[:d])
		}
	}
	out := &naive{codes: make([]float64, len(kept)*d), rows: len(kept)}
	for j := range d {
		numbers := true
		for _, rec := range kept {
			numbers = numbers && isDecimal.MatchString(strings.Trim(rec[j], " \t\r\n"))
		}
		name := func(cell string) string {
			if v, err := strconv.ParseFloat(strings.Trim(cell, " \t\r\n"), 64); numbers {
				if v >= 1<<53 || v <= -1<<53 || err != nil {
					t.Skip("a number that has a rule of its own")
				}
				return strconv.FormatFloat(v+0, 'g', -1, 64)
			}
			return cell
		}
		var levels []string
		for _, rec := range kept {
			if n := name(rec[j]); !slices.Contains(levels, n) {
				levels = append(levels, n)
			}
		}
		slices.SortFunc(levels, func(a, b string) int {
			if !numbers {
				return strings.Compare(a, b)
			}
			x, _ := strconv.ParseFloat(a, 64)
			y, _ := strconv.ParseFloat(b, 64)
			if x < y {
				return -1
			}
			return 1
		})
		at := map[string]int{}
		for i, l := range levels {
			at[l] = i
		}
		for i, rec := range kept {
			out.codes[i*d+j] = float64(at[name(rec[j])])
		}
		out.levels = append(out.levels, levels)
	}
	return out
}

func FuzzCategories(f *testing.F) {
	for _, s := range []string{"red,1\nblue,0\nred,1.0\n", "a,\nb,2\n", "1,x\n01,y\n1e0,z\n", "\"a\nb\",1\nc,NA\n", "-0,1\n0,1\n", "x\ny\n", "é,1\n\"a\"\"b\",2\n", "1,0x1\ninf,2\nz,2\n", `"0,"`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if len(text) > 2000 || strings.ContainsAny(text, "\r") || validText(text) != text || strings.Contains(text, "\xEF\xBB\xBF") {
			t.Skip("encoding/csv changes line ends")
		}
		if strings.Contains(text, `"`) && strings.ContainsAny(text, " \t") {
			t.Skip("encoding/csv does not tell whether white space was in quotes")
		}
		first := ""
		for _, o := range ways(Options{Header: "no", Delimiter: ",", Decimal: ".", Format: "csv", Missing: "drop", Columns: []string{"*"}}) {
			o.Stdin = strings.NewReader(text)
			src, info, err := Load(context.Background(), "-", o)
			if err != nil {
				if first == "" {
					first = err.Error()
				}
				if err.Error() != first {
					t.Fatalf("%d threads, stream %v: %v, before that %s", o.Threads, o.Stream, err, first)
				}
				continue
			}
			got := all(t, src, 3)
			want := naiveCategories(t, text, got.D)
			if got.N != want.rows || !slices.Equal(got.F64, want.codes) {
				t.Fatalf("%d threads, stream %v: %v %v, naively %v %v", o.Threads, o.Stream, got.F64, info.Levels, want.codes, want.levels)
			}
			for j := range want.levels {
				if len(info.Levels[j]) != len(want.levels[j]) {
					t.Fatalf("levels %q, naively %q", info.Levels[j], want.levels[j])
				}
				for i, l := range want.levels[j] {
					a, errA := strconv.ParseFloat(info.Levels[j][i], 64)
					b, errB := strconv.ParseFloat(l, 64)
					if info.Levels[j][i] != l && (errA != nil || errB != nil || a != b) {
						t.Fatalf("levels %q, naively %q", info.Levels[j], want.levels[j])
					}
				}
			}
		}
	})
}
