package data

import (
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"github.com/latent-go/latent/internal/kern"
)

// padded puts a cell where the scanner finds one: a line end after it, and room for word loads.
func padded(cell string) []byte { return append([]byte(cell), tail[:]...) }

// TestScanNumberBits compares the scanner with strconv on the forms that programs write.
func TestScanNumberBits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	scanned := 0
	for i := range 200000 {
		v := math.Float64frombits(rng.Uint64())
		switch i % 4 {
		case 0:
			v = rng.NormFloat64() * 1e3
		case 1:
			v = float64(rng.IntN(2000)-1000) / 64
		case 2:
			v = rng.ExpFloat64() * math.Pow(10, float64(rng.IntN(60)-30))
		}
		if math.IsNaN(v) || math.IsInf(v, 0) {
			continue
		}
		s := strconv.FormatFloat(v, "gef"[i%3], -1, 64)
		if len(s) > 40 {
			continue
		}
		got, end, ok := kern.Decimal(padded(s), 0, '.')
		if !ok {
			got, ok = parseDecimal([]byte(s), '.')
			end = len(s)
		} else {
			scanned++
		}
		if !ok || end != len(s) || math.Float64bits(got) != math.Float64bits(v) {
			t.Fatalf("%s: got %v, %v, end %d", s, got, ok, end)
		}
	}
	if scanned < 100000 {
		t.Errorf("only %d numbers took the fast way", scanned)
	}
}

func TestClassify(t *testing.T) {
	for _, c := range []struct {
		cell   string
		dec    byte
		v      float64
		kind   cellKind
		finite bool
	}{
		{"1.25", '.', 1.25, 0, true}, {"1,25", ',', 1.25, 0, true}, {"+.5", '.', 0.5, 0, true}, {"5.", '.', 5, 0, true},
		{"1e-400", '.', 0, 0, true}, {"4.9e-324", '.', 4.9e-324, 0, true}, {"-0", '.', math.Copysign(0, -1), 0, true},
		{"123456789012345678901234567890", '.', 123456789012345678901234567890, 0, true},
		{"0.00000000000000000000000000012345678901234567", '.', 0.00000000000000000000000000012345678901234567, 0, true},
		{"9007199254740993", '.', 9007199254740992, 0, true}, {"1e22", '.', 1e22, 0, true}, {"1E5", '.', 1e5, 0, true},
		{"", '.', 0, missingCell, false}, {"NA", '.', 0, missingCell, false}, {"n/a", '.', 0, missingCell, false},
		{"nAn", '.', 0, missingCell, false}, {"Null", '.', 0, missingCell, false}, {"?", '.', 0, missingCell, false},
		{"inf", '.', 0, infiniteCell, false}, {"-Inf", '.', 0, infiniteCell, false}, {"+INFINITY", '.', 0, infiniteCell, false},
		{"1e999", '.', 0, infiniteCell, false}, {"1e308", '.', 1e308, 0, true},
		{"1_000", '.', 0, textCell, false}, {"0x1p-2", '.', 0, textCell, false}, {"1,000", '.', 0, textCell, false},
		{"1.5", ',', 0, textCell, false}, {"1e", '.', 0, textCell, false}, {".", '.', 0, textCell, false},
		{"-", '.', 0, textCell, false}, {"1 2", '.', 0, textCell, false}, {"e5", '.', 0, textCell, false}, {"n/a1", '.', 0, textCell, false},
	} {
		v, kind, finite := classify([]byte(c.cell), c.dec, nil)
		if finite != c.finite || !finite && kind != c.kind || finite && math.Float64bits(v) != math.Float64bits(c.v) {
			t.Errorf("%q: got %v %v %v, want %v %v %v", c.cell, v, kind, finite, c.v, c.kind, c.finite)
		}
		got, end, ok := kern.Decimal(padded(c.cell), 0, c.dec)
		if ok && end == len(c.cell) && (!c.finite || math.Float64bits(got) != math.Float64bits(c.v)) {
			t.Errorf("%q: the fast way gave %v", c.cell, got)
		}
	}
}

func FuzzNumber(f *testing.F) {
	for _, s := range []string{"1.5", "-0.1", "1e23", "12345678901234567890", "8.988465674311580e307", "1_0", "0x1p3", "9007199254740993", "5e-324", "1e", "+", "1.00000000000000011102230246251565", "1" + strings.Repeat("0", 64) + "."} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		want, err := strconv.ParseFloat(s, 64)
		got, end, ok := kern.Decimal(padded(s), 0, '.')
		if ok && end == len(s) {
			if err != nil || math.Float64bits(got) != math.Float64bits(want) {
				t.Fatalf("%q: fast %v, strconv %v, %v", s, got, want, err)
			}
		}
		if v, ok := parseDecimal([]byte(s), '.'); ok && math.Float64bits(v) != math.Float64bits(want) {
			t.Fatalf("%q: %v, strconv %v", s, v, want)
		}
	})
}
