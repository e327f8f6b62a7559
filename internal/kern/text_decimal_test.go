package kern

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// amid puts text between so many bytes that kernels may read.
func amid(text string) (b []byte, at int) {
	room := strings.Repeat("7", decimalRoom)
	return []byte(room + text + room), decimalRoom
}

// everyCell returns cells as programs write them, and others.
func everyCell(rng *rand.Rand, n int) []string {
	var cells []string
	for range n {
		v := rng.NormFloat64() * math.Pow(10, float64(rng.IntN(20)-10))
		switch rng.IntN(9) {
		case 0:
			cells = append(cells, fmt.Sprintf("%.17g", v))
		case 1:
			cells = append(cells, strconv.FormatFloat(v, 'f', rng.IntN(12), 64))
		case 2:
			cells = append(cells, strconv.FormatFloat(v, 'f', -1, 64))
		case 3:
			cells = append(cells, strconv.Itoa(rng.IntN(1<<uint(1+rng.IntN(62)))-rng.IntN(1000)))
		case 4:
			cells = append(cells, fmt.Sprintf("%d.%0*d", rng.IntN(3), 1+rng.IntN(28), rng.IntN(1e6)))
		case 5:
			cells = append(cells, fmt.Sprintf("%0*d", 1+rng.IntN(34), rng.IntN(1e9)))
		case 6:
			cells = append(cells, fmt.Sprintf("%d%09d.%d", rng.IntN(1e9), rng.IntN(1e9), rng.IntN(1e9)))
		case 7:
			b := make([]byte, rng.IntN(34))
			for i := range b {
				b[i] = "0123456789.-+e9 "[rng.IntN(16)]
			}
			cells = append(cells, string(b))
		default:
			cells = append(cells, []string{"0", "-0", "-0.0", "", "-", ".", "-.", ".5", "5.", "1.2.3", "NA", "1e5", "+1", "--1", "1-", "0.1", "9999999999999999999", "10000000000000000000",
				"0.00000000000000000000000000001", "1.00000000000000011102230246251565", "9007199254740991", "9007199254740993", "4503599627370496.5", "4503599627370497.5"}[rng.IntN(24)])
		}
	}
	return cells
}

// simple reports whether Decimals is to read a cell if no rounding forbids it, and its value.
func simple(cell string) (v float64, ok bool) {
	t := strings.TrimPrefix(cell, "-")
	if len(cell) > 31 || strings.Trim(t, "0123456789.") != "" || strings.Count(t, ".") > 1 {
		return 0, false
	}
	v, err := strconv.ParseFloat(cell, 64)
	_, tooLong := strconv.ParseUint(strings.ReplaceAll(t, ".", ""), 10, 64)
	return v, err == nil && tooLong == nil && math.Abs(v) < 1<<53
}

// A cell that is read has strconv's value, one that is not is of another form or among the few whose rounding takes more, and every level
// reads the same ones.
func TestDecimalsAreStrconvs(t *testing.T) {
	read, left := 0, 0
	everyLevel(t, func(t *testing.T) {
		rng := rand.New(rand.NewPCG(3, 4))
		for range 4000 {
			cells := everyCell(rng, 1+rng.IntN(6))
			ends := []string{"\n", "\r\n", "\rx", ";"}[rng.IntN(4)]
			b, at := amid(strings.Join(cells, ",") + ends)
			dst, intact := guarded(len(cells) + rng.IntN(2))
			n, end := Decimals(dst, b, at, ',', '.')
			intact(t)
			for i, cell := range cells {
				last := i == len(cells)-1
				want, ok := simple(cell)
				if i < n {
					at += len(cell)
					if !ok || last && ends[0] != '\n' && ends != "\r\n" || math.Float64bits(dst[i]) != math.Float64bits(want) {
						t.Fatalf("cell %d of %q%q: read as %v", i, cells, ends, dst[i])
					}
					if i == n-1 && end != at {
						t.Fatalf("%d cells of %q%q: ended at %d, want %d", n, cells, ends, end, at)
					}
					at++
					read++
				} else if i == n && ok && (!last || ends[0] == '\n' || ends == "\r\n") && len(cell)-strings.Index(cell+".", ".") <= 23 {
					left++ // for its rounding
				}
			}
		}
	})
	if left*25 > read {
		t.Errorf("%d numbers were left and %d read", left, read)
	}
}

// Every length, at every distance from either end of the text.
func TestDecimalsAtTheEndsOfText(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		for length := 1; length <= 40; length++ {
			cell := strings.Repeat("0", max(length-3, 0)) + "12345"[:min(length, 3)]
			want, _ := strconv.ParseFloat(cell, 64)
			for before := range 2 * decimalRoom {
				for _, after := range []int{0, 1, decimalRoom - length - 2, decimalRoom - length - 1, decimalRoom - length, decimalRoom} {
					b := []byte(strings.Repeat("9", before) + cell + ",\n" + strings.Repeat("9", max(after, 0)))
					var dst [2]float64
					n, end := Decimals(dst[:1:1], b, before, ',', '.')
					may := length <= 31 && before >= decimalRoom && before+decimalRoom <= len(b)
					if n == 1 != may || n == 1 && (dst[0] != want || end != before+length) || dst[1] != 0 {
						t.Fatalf("%q with %d bytes before and %d after: %d read, %v, end %d", cell, before, after, n, dst[0], end)
					}
				}
			}
		}
	})
}

func TestDecimalsAllocateNothing(t *testing.T) {
	everyLevel(t, func(t *testing.T) {
		b, at := amid("1.5,-2.25,0.12345678901234567\n")
		dst := make([]float64, 3)
		if n := testing.AllocsPerRun(10, func() { Decimals(dst, b, at, ',', '.') }); n != 0 {
			t.Errorf("%v allocations", n)
		}
		if !slices.Equal(dst, []float64{1.5, -2.25, 0.12345678901234567}) {
			t.Errorf("read %v", dst)
		}
	})
}

func FuzzDecimals(f *testing.F) {
	for _, s := range []string{"1.5,-0.1,1e23,7\n", "12345678901234567890,1\r\n", ".5,5.,.\n", "1,2\r3\n", "9007199254740993,1.00000000000000011102230246251565,0.3\n", ",,-,--1\n"} {
		f.Add(s, uint8(0))
		f.Add(strings.NewReplacer(",", ";", ".", ",").Replace(s), uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, dialect uint8) {
		delim, dec := ",;\t| -5"[dialect%7], ".,,.."[dialect%5]
		if dec == delim {
			dec = 0
		}
		b, at := amid(text + "\n")
		room := strings.Count(text, string(delim)) + 1
		var want []float64
		var wantEnd int
		for _, l := range Levels() {
			func() {
				defer Use(l)()
				dst, intact := guarded(room)
				n, end := Decimals(dst, b, at, delim, dec)
				intact(t)
				if l == Go {
					want, wantEnd = dst[:n], end
				} else if n != len(want) || n > 0 && end != wantEnd || !slices.EqualFunc(want, dst[:n], func(a, b float64) bool { return math.Float64bits(a) == math.Float64bits(b) }) {
					t.Fatalf("%q: %v read %v to %d, portable Go %v to %d", text, l, dst[:n], end, want, wantEnd)
				}
			}()
		}
		for _, v := range want {
			cell, rest, _ := strings.Cut(string(b[at:]), string(delim))
			if i := strings.IndexAny(cell, "\r\n"); i >= 0 {
				cell = cell[:i]
			}
			plain := strings.Replace(cell, string(rune(dec)), ".", 1)
			if exact, err := strconv.ParseFloat(plain, 64); delim-'0' > 9 && delim != '-' && (err != nil || math.Float64bits(exact) != math.Float64bits(v)) {
				t.Fatalf("%q of %q: %v, strconv %v, %v", cell, text, v, exact, err)
			}
			at = len(b) - len(rest)
		}
	})
}
