package data

import (
	"context"
	"encoding/csv"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// naiveColumn is what a few lines make of one column: its type, levels and cells, NaN for a missing one.
type naiveColumn struct {
	typ    Type
	levels []string
	cells  []float64
	err    string // what is wrong with it; "" for nothing
}

// isInf reports whether a trimmed cell is an infinite number.
func isInf(s string) bool {
	v, err := strconv.ParseFloat(s, 64)
	return isDecimal.MatchString(s) && err != nil || math.IsInf(v, 0) && !isDecimal.MatchString(s)
}

// naiveType says what trimmed cells are, if nothing else does.
func naiveType(filled []string) Type {
	texts, whole := 0, true
	values := map[float64]bool{}
	for _, s := range filled {
		v, err := strconv.ParseFloat(s, 64)
		switch {
		case isInf(s):
			whole = false
		case !isDecimal.MatchString(s):
			texts++
			whole = false
		case err != nil || v != math.Floor(v) || math.Abs(v) >= 1<<53:
			whole = false
		default:
			values[v] = true
		}
	}
	bits := whole && len(values) == 2 && values[0] && values[1]
	if texts*2 > len(filled) || bits || whole && len(filled) > 0 && len(values) <= 5 && len(filled) >= 20*len(values) {
		return Category
	}
	return Number
}

// naiveMixed reads column j of records; given is its type, or nil.
func naiveMixed(t *testing.T, records [][]string, j int, given *Type) *naiveColumn {
	var filled []string
	for _, rec := range records {
		if s := strings.Trim(rec[j], " \t\r\n"); !isGap.MatchString(s) {
			filled = append(filled, s)
		}
	}
	c := &naiveColumn{typ: naiveType(filled)}
	if given != nil {
		c.typ = *given
	}
	if len(filled) == 0 {
		c.err = "has no value in any row"
		return c
	}
	texts := slices.ContainsFunc(filled, func(s string) bool { return !isDecimal.MatchString(s) && !isInf(s) })
	if c.typ == Category && !texts && slices.ContainsFunc(filled, isInf) {
		c.err = "is not a finite number"
	}
	numbers := !slices.ContainsFunc(filled, func(s string) bool { return !isDecimal.MatchString(s) })
	name := func(cell string) string {
		if v, _ := strconv.ParseFloat(strings.Trim(cell, " \t\r\n"), 64); numbers {
			if math.Abs(v) >= 1<<53 {
				t.Skip("a number that has a rule of its own")
			}
			return strconv.FormatFloat(v+0, 'g', -1, 64)
		}
		return strings.Trim(cell, " \t")
	}
	for _, rec := range records {
		if s := strings.Trim(rec[j], " \t\r\n"); c.typ == Category && !isGap.MatchString(s) && !slices.Contains(c.levels, name(rec[j])) {
			c.levels = append(c.levels, name(rec[j]))
		}
	}
	slices.SortFunc(c.levels, func(a, b string) int {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		if numbers && x != y {
			return map[bool]int{true: -1, false: 1}[x < y]
		}
		return strings.Compare(a, b)
	})
	for _, rec := range records {
		s := strings.Trim(rec[j], " \t\r\n")
		v, err := strconv.ParseFloat(s, 64)
		switch {
		case isGap.MatchString(s):
			v = math.NaN()
		case c.typ == Category:
			v = float64(slices.Index(c.levels, name(rec[j])))
		case !isDecimal.MatchString(s), err != nil:
			c.err = " is not a "
		case c.typ == Count && v == 1<<53:
			t.Skip("float64 does not tell whether this is 2^53")
		case c.typ == Count && (v < 0 || v > 1<<53 || v != math.Floor(v)):
			c.err = "is not a count"
		}
		c.cells = append(c.cells, v)
	}
	return c
}

// agrees compares what was read with what a few lines make of it.
func (c *naiveColumn) agrees(typ Type, levels []string, cells []float64) error {
	if typ != c.typ || len(levels) != len(c.levels) || len(cells) != len(c.cells) {
		return fmt.Errorf("%v %q %v", typ, levels, cells)
	}
	for i, l := range c.levels {
		a, errA := strconv.ParseFloat(levels[i], 64)
		b, errB := strconv.ParseFloat(l, 64)
		if levels[i] != l && (errA != nil || errB != nil || a != b) {
			return fmt.Errorf("%v %q %v", typ, levels, cells)
		}
	}
	for i, v := range c.cells {
		if cells[i] != v && (v == v || cells[i] == cells[i]) {
			return fmt.Errorf("%v %q %v", typ, levels, cells)
		}
	}
	return nil
}

func FuzzTypes(f *testing.F) {
	for _, s := range []string{"red,1\nblue,0\nred,1.0\n", "a,\nb,2\n", "1,x\n01,\nNA,z\n", "0,1\n1,2\n,3\n", "-1,3\n2.5,4\n", "\"a\nb\",1e3\nc,NA\n", "1,0x1\ninf,2\nz,2\n",
		strings.Repeat("1,5\n2,6\n", 25), "x,y\n2,3\n4,5\n", "9007199254740993,1\n,2\n", ",\n,\n"} {
		f.Add(s, uint8(0))
		f.Add(s, uint8(0x1b))
	}
	f.Fuzz(func(t *testing.T, text string, how uint8) {
		if len(text) > 2000 || strings.ContainsAny(text, "\r") || validText(text) != text || strings.Contains(text, "\xEF\xBB\xBF") {
			t.Skip("encoding/csv changes line ends")
		}
		if strings.Contains(text, `"`) && strings.ContainsAny(text, " \t") {
			t.Skip("encoding/csv does not tell whether white space was in quotes")
		}
		r := csv.NewReader(strings.NewReader(text))
		records, naiveErr := r.ReadAll()
		o := Options{Header: "no", Delimiter: ",", Decimal: ".", Format: "csv", Missing: "model", Columns: []string{"*"}}
		given := map[int]*Type{}
		for j := range 2 { // two bits a column: not given, or one of the three types
			if k := how >> (2 * j) & 3; k > 0 && len(records) > 0 && j < len(records[0]) {
				typ := Type(k - 1)
				given[j] = &typ
				o.Types = append(o.Types, TypeOf{strconv.Itoa(j + 1), typ})
			}
		}
		first, wrong := "", ""
		for i, o := range mixedWays(o) {
			o.Stdin = io.NopCloser(strings.NewReader(text))
			src, info, err := Load(context.Background(), "-", o)
			if i > 0 && fmt.Sprint(err) != first {
				t.Fatalf("%d threads, stream %v: %v, before that %s", o.Threads, o.Stream, err, first)
			}
			if first = fmt.Sprint(err); naiveErr != nil {
				continue
			}
			var got *Table
			if err == nil {
				got = all(t, src, 3)
			}
			for j := 0; len(records) > 0 && j < len(records[0]); j++ {
				want := naiveMixed(t, records, j, given[j])
				if want.err != "" {
					wrong = want.err
				}
				if err != nil {
					continue
				}
				cells := make([]float64, got.N)
				for i := range cells {
					cells[i] = got.At(i, j)
				}
				if e := want.agrees(info.Types[j], info.Levels[j], cells); e != nil {
					t.Fatalf("%d threads, stream %v, column %d: %v, naively %+v", o.Threads, o.Stream, j+1, e, want)
				}
			}
			if err == nil && wrong != "" {
				t.Fatalf("read, though a column %q", wrong)
			}
			if err != nil && wrong == "" && len(records) > 0 && strings.Contains(err.Error(), `" is not a `) {
				t.Fatalf("%v, though naively nothing is wrong", err)
			}
		}
	})
}
