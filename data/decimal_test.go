package data

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestPointsBetweenThousands reads files in which a mark may stand between thousands. Means are of the numbers as a person
// reads them.
func TestPointsBetweenThousands(t *testing.T) {
	type want map[string]float64
	for _, c := range []struct {
		name, text string
		o          Options
		decimal    string
		mean       want   // of the columns that are read
		left       string // the column that is left out
		warning    string // "" for none
	}{
		{"beside decimal commas", "netto;satz\n2.500;0,7\n12.750;1,9\n3.125;2,5\n40.000;0,4\n", Options{}, ",", want{"netto": 14593.75, "satz": 1.375}, "", `"netto" has points between thousands: "2.500" is read as 2500`},
		{"the same, told", "netto;satz\n2.500;0,7\n12.750;1,9\n3.125;2,5\n40.000;0,4\n", Options{Decimal: ","}, ",", want{"netto": 14593.75, "satz": 1.375}, "", `"netto" has points`},
		{"more columns with points", "a;b;c;satz\n2.500;1.000;7.125;0,7\n12.750;2.000;8.125;1,9\n", Options{}, ",", want{"a": 7625, "b": 1500, "c": 7625, "satz": 1.3}, "", `"c" has points`},
		{"some without points", "netto;satz\n950;0,7\n1.050;1,9\n-2.000;2,5\n", Options{}, ",", want{"netto": 0, "satz": 1.7}, "", `"1.050" is read as 1050`},
		{"points and decimals in one cell", "betrag\n1.234,5\n999,5\n-1.000.234,25\n", Options{Delimiter: ";"}, ",", want{"betrag": -332666.75}, "", `"1.234,5" is read as 1234.5`},
		{"millions", "netto;n\n1.234.500;1\n950.000;2\n", Options{}, ",", want{"netto": 1092250, "n": 1.5}, "", `"1.234.500" is read as 1234500`},
		{"told, and nothing to see it by", "a;b\n2.500;1\n3.500;2\n", Options{Decimal: ","}, ",", want{"a": 3000, "b": 1.5}, "", `"2.500" is read as 2500`},
		{"in quotes between commas", "\"netto\",\"satz\"\n\"2.500\",\"0,5\"\n\"3.500\",\"1,5\"\n", Options{}, ",", want{"netto": 3000, "satz": 1}, "", `"2.500" is read as 2500`},
		{"the same, told", "\"netto\",\"satz\"\n\"2.500\",\"0,5\"\n\"3.500\",\"1,5\"\n", Options{Decimal: ","}, ",", want{"netto": 3000, "satz": 1}, "", `"2.500" is read as 2500`},
		{"tabs", "netto\tsatz\n2.500\t0,5\n3.500\t1,5\n", Options{}, ",", want{"netto": 3000, "satz": 1}, "", `"2.500" is read as 2500`},
		{"three decimals", "x;y\n0,125;7,5\n2,375;6\n0,5;8,25\n", Options{}, ",", want{"x": 1, "y": 7.25}, "", ""},
		{"the mirror image", "net;rate\n\"2,500\";0.5\n\"12,750\";1.5\n", Options{}, ".", want{"rate": 1}, "net", ""},
		{"English between commas", "net,rate\n\"2,500\",2\n\"12,750\",4\n", Options{}, ".", want{"rate": 3}, "net", ""},
		{"points alone, between commas", "a,b\n2.500,1\n3.500,2\n", Options{}, ".", want{"a": 3, "b": 1.5}, "", ""},
		{"points alone, between semicolons", "a;b\n2.500;1\n3.500;2\n", Options{}, ".", want{"a": 3, "b": 1.5}, "", `2.500 in column "a" is read as decimals; if its mark stands between thousands, use --decimal ,`},
		{"commas alone", "a;b\n2,500;1\n3,500;2\n", Options{}, ",", want{"a": 3, "b": 1.5}, "", `2,500 in column "a" is read as decimals`},
		{"both marks for decimals", "a;b;c\n1.5;0,5;1\n2.25;1,5;2\n", Options{}, ",", want{"b": 1, "c": 1.5}, "a", `the columns differ in their decimal mark: "a" has points (1.5), "b" has commas (0,5)`},
		{"both marks, told", "a;b;c\n1.5;0,5;1\n2.5;1,5;2\n", Options{Decimal: "."}, ".", want{"a": 2, "c": 1.5}, "b", ""},
	} {
		c.o.Threads = 1
		info, table := loadText(t, c.text, c.o)
		if info.Decimal != c.decimal {
			t.Errorf("%s: decimal %q, want %q", c.name, info.Decimal, c.decimal)
		}
		if len(info.Features) != len(c.mean) {
			t.Errorf("%s: features %q, want %v", c.name, info.Features, c.mean)
		}
		for j, f := range info.Features {
			mean := 0.0
			for i := range table.N {
				mean += table.At(i, j) / float64(table.N)
			}
			if w, ok := c.mean[f]; !ok || math.Abs(mean-w) > 1e-9 {
				t.Errorf("%s: column %s has mean %v, want %v", c.name, f, mean, w)
			}
		}
		if left := strings.Join(info.LeftOut(), ";"); !strings.Contains(left, c.left) || c.left != "" && !strings.Contains(left, "text: numbers with") {
			t.Errorf("%s: left out %q, want %q with what it looks like", c.name, left, c.left)
		}
		if got := strings.Join(info.Warnings, "\n"); !strings.Contains(got, c.warning) || c.warning == "" && got != "" {
			t.Errorf("%s: warnings %q, want %q", c.name, got, c.warning)
		}
	}
}

func loadText(t *testing.T, text string, o Options) (*Info, *Table) {
	t.Helper()
	src, info, err := Load(context.Background(), write(t, "t.csv", text), o)
	if err != nil {
		t.Fatalf("%q: %v", text, err)
	}
	return info, src.(*Table)
}

// TestMarksThatCannotBeToldApart: 2.500 and 1,125 may be 2500 and 1.125, or 2.5 and 1125.
func TestMarksThatCannotBeToldApart(t *testing.T) {
	_, _, err := Load(context.Background(), write(t, "t.csv", "net;rate\n2.500;1,125\n12.750;3,250\n"), Options{})
	if err == nil || !strings.Contains(err.Error(), `2.500 in column "net", 1,125 in column "rate"; use --decimal . or --decimal ,`) {
		t.Errorf("got %v", err)
	}
}

// TestGroupedNumbers compares with the definition: without its points, the cell is a number with a decimal comma.
func TestGroupedNumbers(t *testing.T) {
	for _, c := range []struct {
		cell string
		v    float64
		ok   bool
	}{
		{"2.500", 2500, true}, {"-1.234.567,89", -1234567.89, true}, {"+999.999", 999999, true}, {"1.000,", 1000, true}, {"12.345,5", 12345.5, true},
		{"0.125", 0, false}, {"012.500", 0, false}, {"2500", 0, false}, {"2.50", 0, false}, {"2.5000", 0, false}, {"1234.500", 0, false}, {"1.23.456", 0, false},
		{"1.234,5.6", 0, false}, {"1.234e3", 0, false}, {".250", 0, false}, {"1..250", 0, false}, {"", 0, false}, {"-", 0, false}, {"1.2a4", 0, false}, {"1.234 ", 0, false},
	} {
		if v, _, ok := parseGrouped([]byte(c.cell)); ok != c.ok || ok && v != c.v {
			t.Errorf("%q: got %v, %v, want %v, %v", c.cell, v, ok, c.v, c.ok)
		}
	}
}

// TestRoundedDigits compares with exact arithmetic: digits are lost where the float64, as a whole number, is another one.
func TestRoundedDigits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	cells := []string{"9007199254740992", "9007199254740993", "-9007199254740993", "9007199254740993.0", "9007199254740992.5", "9007199254740994.000", "18446744073709551615", "18446744073709551616",
		"9223372036854775807", "9223372036854775808", "100000000000000000000000", "10000000000000000000000", "00009007199254740993", "9999999999999999999", "123456789012345678901234567890"}
	for range 2000 {
		cells = append(cells, fmt.Sprint(exactBelow+rng.Uint64N(1<<63)), fmt.Sprint(exactBelow+rng.Uint64N(1<<8)), fmt.Sprintf("%d%09d", rng.Uint64(), rng.IntN(1e9)))
	}
	lost, kept := 0, 0
	for _, cell := range cells {
		v, ok := parseDecimal([]byte(cell), '.')
		exact, known := new(big.Rat).SetString(cell)
		if !ok || !known {
			t.Fatalf("%q is no number", cell)
		}
		want := exact.Cmp(new(big.Rat).SetFloat64(v)) != 0
		if want {
			lost++
		} else {
			kept++
		}
		if got := roundsDigits([]byte(cell), '.', v); got != want {
			t.Errorf("%s: got %v, want %v", cell, got, want)
		}
	}
	if lost < 100 || kept < 100 {
		t.Errorf("%d cells lose digits, %d do not: the test looks at one kind only", lost, kept)
	}
	for _, cell := range []string{"1.5e300", "9007199254740993e0", "1e25"} { // a precision is stated
		if v, _ := parseDecimal([]byte(cell), '.'); roundsDigits([]byte(cell), '.', v) {
			t.Errorf("%s counts as a long integer", cell)
		}
	}
}
