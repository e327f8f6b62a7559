package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

// readCells makes a pass and puts the batches together in row order.
func readCells(t testing.TB, c cells, w want, ordered bool, threads int) (f64 []float64, texts []string, bad []badCell) {
	t.Helper()
	wants := make([]want, len(c.names()))
	for i := range wants {
		wants[i] = w
	}
	return readWants(t, c, wants, ordered, threads)
}

// npyBytes opens an array that is in memory.
func npyBytes(b []byte, name string) (cells, error) {
	return openNPY(bytes.NewReader(b), int64(len(b)), name)
}

func readWants(t testing.TB, c cells, wants []want, ordered bool, threads int) (f64 []float64, texts []string, bad []badCell) {
	t.Helper()
	var mu sync.Mutex
	var got []batch
	next := int64(0)
	err := c.read(context.Background(), wants, ordered, threads, func(b *batch) error {
		mu.Lock()
		defer mu.Unlock()
		if ordered && b.First != next {
			return fmt.Errorf("batch from row %d, want %d", b.First, next)
		}
		next += int64(b.N)
		got = append(got, batch{First: b.First, N: b.N, F64: slices.Clone(b.F64), Text: slices.Clone(b.Text), Bad: slices.Clone(b.Bad)})
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	slices.SortFunc(got, func(a, b batch) int { return int(a.First - b.First) })
	row := int64(0)
	for _, b := range got {
		if b.First != row {
			t.Fatalf("batch from row %d, want %d", b.First, row)
		}
		row += int64(b.N)
		f64, texts, bad = append(f64, b.F64...), append(texts, b.Text...), append(bad, b.Bad...)
	}
	if row != c.rows() {
		t.Fatalf("%d rows read, %d promised", row, c.rows())
	}
	return f64, texts, bad
}

// npy writes an array by hand: version 1, 2 or 3.
func npy(version byte, header string, body ...byte) []byte {
	b := []byte{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0}
	if version == 1 {
		b = append(b, byte(len(header)), byte(len(header)>>8))
	} else {
		b = append(b, byte(len(header)), byte(len(header)>>8), 0, 0)
	}
	return append(append(b, header...), body...)
}

func npyHead(descr, order, shape string) string {
	return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }    \n"
}

func TestNPYTypes(t *testing.T) {
	for _, c := range []struct {
		descr string
		body  []byte
		want  []float64
		text  []string
	}{
		// 1 and -2, written down from the definition of each type.
		{"<f8", []byte{0, 0, 0, 0, 0, 0, 0xF0, 0x3F, 0, 0, 0, 0, 0, 0, 0, 0xC0}, []float64{1, -2}, []string{"1", "-2"}},
		{">f8", []byte{0x3F, 0xF0, 0, 0, 0, 0, 0, 0, 0xC0, 0, 0, 0, 0, 0, 0, 0}, []float64{1, -2}, []string{"1", "-2"}},
		{"<f4", []byte{0, 0, 0x80, 0x3F, 0, 0, 0, 0xC0}, []float64{1, -2}, []string{"1", "-2"}},
		{">f4", []byte{0x3F, 0x80, 0, 0, 0xC0, 0, 0, 0}, []float64{1, -2}, []string{"1", "-2"}},
		{"|i1", []byte{1, 0xFE}, []float64{1, -2}, []string{"1", "-2"}},
		{"<i2", []byte{1, 0, 0xFE, 0xFF}, []float64{1, -2}, []string{"1", "-2"}},
		{">i2", []byte{0, 1, 0xFF, 0xFE}, []float64{1, -2}, []string{"1", "-2"}},
		{"<i4", []byte{1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF}, []float64{1, -2}, []string{"1", "-2"}},
		{">i4", []byte{0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}, []float64{1, -2}, []string{"1", "-2"}},
		{"<i8", []byte{1, 0, 0, 0, 0, 0, 0x20, 0, 0xFE, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, []float64{9007199254740992, -2}, []string{"9007199254740993", "-2"}},
		{">i8", []byte{0, 0, 0, 0, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFE}, []float64{1, -2}, []string{"1", "-2"}},
		{"|u1", []byte{1, 0xFE}, []float64{1, 254}, []string{"1", "254"}},
		{"<u2", []byte{1, 0, 0xFE, 0xFF}, []float64{1, 65534}, []string{"1", "65534"}},
		{">u2", []byte{0, 1, 0xFF, 0xFE}, []float64{1, 65534}, []string{"1", "65534"}},
		{"<u4", []byte{1, 0, 0, 0, 0xFE, 0xFF, 0xFF, 0xFF}, []float64{1, 4294967294}, []string{"1", "4294967294"}},
		{">u4", []byte{0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}, []float64{1, 4294967294}, []string{"1", "4294967294"}},
		{"<u8", []byte{1, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF}, []float64{1, 18446744073709551616}, []string{"1", "18446744073709551615"}},
		{">u8", []byte{0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 1, 0}, []float64{1, 256}, []string{"1", "256"}},
		{"|b1", []byte{1, 0}, []float64{1, 0}, []string{"1", "0"}},
		{"|b1", []byte{0xFF, 0}, []float64{1, 0}, []string{"1", "0"}},
	} {
		a, err := npyBytes(npy(1, npyHead(c.descr, "False", "(2,)"), c.body...), "x.npy")
		if err != nil {
			t.Fatalf("%s: %v", c.descr, err)
		}
		f64, texts, bad := readCells(t, a, number|text, true, 1)
		var rounded []badCell // where the number, written out, is not what the bytes say
		for i, v := range c.want {
			if digits := strconv.FormatFloat(v, 'f', 0, 64); digits != c.text[i] {
				rounded = append(rounded, badCell{Row: int64(i), Kind: roundedCell, Value: c.text[i]})
			}
		}
		if !slices.Equal(f64, c.want) || !slices.Equal(texts, c.text) || !slices.Equal(bad, rounded) {
			t.Errorf("%s: got %v %q %v, want %v %q %v", c.descr, f64, texts, bad, c.want, c.text, rounded)
		}
		if n := a.names(); len(n) != 1 || n[0] != "1" || a.rows() != 2 {
			t.Errorf("%s: %d rows of %q", c.descr, a.rows(), n)
		}
	}
}

func TestNPYOrders(t *testing.T) {
	// The matrix 1 2 3 / 4 5 6 in both orders and all versions.
	for _, version := range []byte{1, 2, 3} {
		for order, body := range map[string][]byte{"False": {1, 2, 3, 4, 5, 6}, "True": {1, 4, 2, 5, 3, 6}} {
			a, err := npyBytes(npy(version, npyHead("|u1", order, "(2, 3)"), body...), "x.npy")
			if err != nil {
				t.Fatal(err)
			}
			if got, _, _ := readCells(t, a, number, false, 2); !slices.Equal(got, []float64{1, 2, 3, 4, 5, 6}) {
				t.Errorf("order %s: %v", order, got)
			}
			got, texts, _ := readWants(t, a, []want{number, skip, text}, true, 1)
			if !slices.Equal(got, []float64{1, 4}) || !slices.Equal(texts, []string{"3", "6"}) {
				t.Errorf("order %s, some columns: %v %q", order, got, texts)
			}
		}
	}
}

func TestNPYNotFinite(t *testing.T) {
	body := make([]byte, 0, 64)
	for _, v := range []float64{1, math.NaN(), math.Inf(1), 2, 3, math.Inf(-1)} {
		body = binary.LittleEndian.AppendUint64(body, math.Float64bits(v))
	}
	a, err := npyBytes(npy(1, npyHead("<f8", "False", "(3, 2)"), body...), "x.npy")
	if err != nil {
		t.Fatal(err)
	}
	want := []badCell{
		{Row: 0, Column: 1, Kind: missingCell, Value: "nan"},
		{Row: 1, Column: 0, Kind: infiniteCell, Value: "inf"},
		{Row: 2, Column: 1, Kind: infiniteCell, Value: "-inf"},
	}
	f64, _, bad := readCells(t, a, number, true, 1)
	if !slices.Equal(bad, want) {
		t.Errorf("got %v, want %v", bad, want)
	}
	for i, v := range f64 {
		if isBad := i == 1 || i == 2 || i == 5; isBad != math.IsNaN(v) {
			t.Errorf("cell %d is %v", i, v)
		}
	}
	if _, _, bad := readCells(t, a, count, true, 1); !slices.Equal(bad, want) {
		t.Errorf("counted: got %v, want %v", bad, want)
	}
}

func TestNPYRefused(t *testing.T) {
	ten := npyHead("<f8", "False", "(10, 3)")
	for _, c := range []struct{ name, in, want string }{
		{"empty", "", "not an NPY file"},
		{"version", string(npy(9, ten)), "NPY version 9 is not known"},
		{"cut in header", string(npy(1, ten)[:30]), "the file ends in the NPY header"},
		{"short", string(npy(1, ten, make([]byte, 4*24+5)...)), "holds 10 rows of 3, but the file ends after 4"},
		{"short, by column", string(npy(1, npyHead("<f8", "True", "(10, 3)"), make([]byte, 100)...)), "10 rows of 3 in column order, 240 bytes, but the file ends after 100"},
		{"long", string(npy(1, ten, make([]byte, 241)...)), "1 bytes follow after the last"},
		{"absurd", string(npy(1, npyHead("<f8", "False", "(1000000000000, 3)"), 1)), "holds 1000000000000 rows of 3, but the file ends after 0"},
		{"overflow", string(npy(1, npyHead("<f8", "False", "(9000000000000000000, 9000000000000000000)"), 1)), "more than any file holds"},
		{"too big a size", string(npy(1, npyHead("<f8", "False", "(99999999999999999999,)"), 1)), "a size is beyond any file"},
		{"no rows", string(npy(1, npyHead("<f8", "False", "(0, 1000000000000)"))), "holds no cells: 0 rows"},
		{"3-D", string(npy(1, npyHead("<f8", "False", "(1, 1, 1)"), 1)), "an array of 3 dimensions"},
		{"0-D", string(npy(1, npyHead("<f8", "False", "()"), 1)), "an array of 0 dimensions"},
		{"complex", string(npy(1, npyHead("<c16", "False", "(1,)"), 1)), "holds complex numbers"},
		{"object", string(npy(1, npyHead("|O", "False", "(1,)"), 1)), "holds Python objects"},
		{"half", string(npy(1, npyHead("<f2", "False", "(1,)"), 1)), `floats of type "<f2"`},
		{"text", string(npy(1, npyHead("<U5", "False", "(1,)"), 1)), "holds text"},
		{"dates", string(npy(1, npyHead("<M8[ns]", "False", "(1,)"), 1)), "holds dates or times"},
		{"order", string(npy(1, npyHead("=f8", "False", "(1,)"), 1)), `floats of type "=f8"`},
		{"structured", string(npy(1, "{'descr': [('x', '<f8'), ('y', '<i4', (2,))], 'fortran_order': False, 'shape': (1,), }", 1)), "structured array"},
		{"no shape", string(npy(1, "{'descr': '<f8', 'fortran_order': False}", 1)), `"shape" is missing`},
		{"twice", string(npy(1, "{'shape': (1,), 'shape': (1,)}", 1)), "stands there twice"},
		{"key", string(npy(1, "{'colour': 1}", 1)), `"colour" is not a key`},
		{"trailing", string(npy(1, npyHead("|u1", "False", "(1,)")+"x", 1)), "text follows"},
		{"bool", string(npy(1, npyHead("|u1", "Maybe", "(1,)"), 1)), "not True or False"},
	} {
		a, err := npyBytes([]byte(c.in), "x.npy")
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), "x.npy: ") || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: got %v, %v, want %q", c.name, a, err, c.want)
		}
	}
}

// TestArrayBatches checks many batches, from several goroutines, against the rule the cells were made by.
func TestArrayBatches(t *testing.T) {
	const n, d = 30011, 7
	var c, fortran []byte
	for i := range n {
		for j := range d {
			c = binary.BigEndian.AppendUint32(c, uint32(i*d+j))
		}
	}
	for j := range d {
		for i := range n {
			fortran = binary.BigEndian.AppendUint32(fortran, uint32(i*d+j))
		}
	}
	idx := append([]byte{0, 0, 0x0C, 2, 0, 0, 0x75, 0x3B, 0, 0, 0, 7}, c...)
	open := map[string]func() (cells, error){
		"c": func() (cells, error) { return npyBytes(npy(1, npyHead(">i4", "False", "(30011, 7)"), c...), "x.npy") },
		"fortran": func() (cells, error) {
			return npyBytes(npy(1, npyHead(">i4", "True", "(30011, 7)"), fortran...), "x.npy")
		},
		"idx": func() (cells, error) { return openIDX(bytes.NewReader(idx), int64(len(idx)), "x.idx") },
	}
	for name, o := range open {
		a, err := o()
		if err != nil {
			t.Fatal(err)
		}
		for _, threads := range []int{1, 3} {
			for _, ordered := range []bool{true, false} {
				got, _, _ := readCells(t, a, number, ordered, threads)
				for i, v := range got {
					if v != float64(i) {
						t.Fatalf("%s: cell %d is %v", name, i, v)
					}
				}
				got, _, _ = readWants(t, a, []want{skip, number, count, skip, skip, number, skip}, ordered, threads)
				for i, v := range got {
					if want := float64(i/2*d + 1 + 4*(i%2)); v != want {
						t.Fatalf("%s: cell %d is %v, want %v", name, i, v, want)
					}
				}
			}
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if err := a.read(ctx, make([]want, d), true, 2, func(*batch) error { return nil }); err != context.Canceled {
			t.Errorf("%s: after cancel: %v", name, err)
		}
		stop := fmt.Errorf("stop")
		for _, ordered := range []bool{true, false} {
			if err := a.read(context.Background(), make([]want, d), ordered, 2, func(*batch) error { return stop }); err != stop {
				t.Errorf("%s: error of yield: %v", name, err)
			}
		}
	}
}

func TestIDX(t *testing.T) {
	for _, c := range []struct {
		in   []byte
		d    int
		want []float64
	}{
		{[]byte{0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 255}, 1, []float64{7, 0, 255}},
		{[]byte{0, 0, 9, 2, 0, 0, 0, 1, 0, 0, 0, 2, 0xFF, 0x80}, 2, []float64{-1, -128}},
		{[]byte{0, 0, 0x0B, 1, 0, 0, 0, 2, 1, 0, 0xFF, 0xFE}, 1, []float64{256, -2}},
		{[]byte{0, 0, 0x0C, 1, 0, 0, 0, 1, 0xFF, 0xFF, 0xFF, 0xFE}, 1, []float64{-2}},
		{[]byte{0, 0, 0x0D, 1, 0, 0, 0, 1, 0xC0, 0, 0, 0}, 1, []float64{-2}},
		{[]byte{0, 0, 0x0E, 1, 0, 0, 0, 1, 0xC0, 0, 0, 0, 0, 0, 0, 0}, 1, []float64{-2}},
		// Two pictures of 2 x 2: one row each.
		{[]byte{0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 2, 0, 0, 0, 2, 1, 2, 3, 4, 5, 6, 7, 8}, 4, []float64{1, 2, 3, 4, 5, 6, 7, 8}},
	} {
		a, err := openIDX(bytes.NewReader(c.in), int64(len(c.in)), "x.idx")
		if err != nil {
			t.Fatalf("%v: %v", c.in, err)
		}
		got, _, _ := readCells(t, a, number, true, 2)
		if !slices.Equal(got, c.want) || len(a.names()) != c.d {
			t.Errorf("%v: got %v of %q", c.in, got, a.names())
		}
	}
	for _, c := range []struct{ in, want string }{
		{"", "not an IDX file"},
		{"\x00\x00\x08", "not an IDX file"},
		{"\x00\x00\x07\x01\x00\x00\x00\x01\x00", "cell type 0x07"},
		{"\x00\x00\x08\x00", "without dimensions"},
		{"\x00\x00\x08\x02\x00\x00\x00\x01", "ends in the IDX header"},
		{"\x00\x00\x08\x02\x00\x00\x00\x0A\x00\x00\x00\x03\x01\x02\x03\x04", "holds 10 rows of 3, but the file ends after 1"},
		{"\x00\x00\x0E\x03\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "more than any file holds"},
		{"\x00\x00\x08\x04\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF", "more columns than any file holds"},
		{"\x00\x00\x08\x01\x00\x00\x00\x01\x01\x02", "1 bytes follow"},
		{"\x00\x00\x08\x02\x00\x00\x00\x00\xFF\xFF\xFF\xFF", "holds no cells"},
		{"\x00\x00\x08\x02\x00\x00\x00\x01\x00\x98\x96\x81" + strings.Repeat("\x01", 10_000_001), "holds 1 row of 10,000,001 columns, but a table may have 10,000,000: should rows be columns?"},
	} {
		a, err := openIDX(strings.NewReader(c.in), int64(len(c.in)), "x.idx")
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: got %v, %v, want %q", c.in, a, err, c.want)
		}
	}
}

func FuzzNPY(f *testing.F) {
	f.Add(npy(1, npyHead("<f8", "False", "(1, 1)"), make([]byte, 8)...))
	f.Add(npy(2, npyHead(">i2", "True", "(2, 3)"), make([]byte, 12)...))
	f.Add(npy(1, "{'descr': [('x', '<f8')], 'fortran_order': False, 'shape': (1,), }", 1))
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := npyBytes(b, "x.npy")
		if err != nil {
			return
		}
		if a.rows()*int64(len(a.names())) > int64(len(b)) {
			t.Fatalf("%d rows of %d in %d bytes", a.rows(), len(a.names()), len(b))
		}
		readCells(t, a, number|text, false, 2)
	})
}

func FuzzIDX(f *testing.F) {
	f.Add([]byte{0, 0, 8, 1, 0, 0, 0, 3, 7, 0, 255})
	f.Add([]byte{0, 0, 0x0D, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0xC0, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		a, err := openIDX(bytes.NewReader(b), int64(len(b)), "x.idx")
		if err != nil {
			return
		}
		if a.rows()*int64(len(a.names())) > int64(len(b)) {
			t.Fatalf("%d rows of %d in %d bytes", a.rows(), len(a.names()), len(b))
		}
		readCells(t, a, number|text, false, 2)
	})
}
