package text

import (
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestColumnsShowHowFarValuesLieApart(t *testing.T) {
	near := math.Nextafter(0.3, 1)
	for _, c := range []struct {
		what   string
		spread float64
		values []float64
		want   string
	}{
		{"lengths of petals", 7, []float64{5.4797, 1.462, 4.2021}, "5.480 1.462 4.202"},
		{"widths of petals", 3, []float64{1.98543, 0.246, 1.29695}, "1.985 0.246 1.297"},
		{"latitudes", 0.004, []float64{48.13712, 48.13912}, "48.13712 48.13912"},
		{"one longitude, told twice", 3e-5, []float64{11.575420000000001, 11.57542}, "11.57542 11.57542"},
		{"seconds since 1970", 600, []float64{1600000001, 1600000301}, "1,600,000,001 1,600,000,301"},
		{"whole numbers and their means", 6, []float64{2, 4.5}, "2.0 4.5"},
		{"whole numbers", 4, []float64{2, 5, 3}, "2 5 3"},
		{"means that are not quite whole", 4, []float64{2, 3.00004}, "2.000 3.000"},
		{"grams", 3200, []float64{4992.857, 3735.714}, "4993 3736"},
		{"millimetres around 200", 56, []float64{217.2353, 190.1}, "217.2 190.1"},
		{"without a spread: that of the values", 0, []float64{1600000000.5, 1600000100.25}, "1,600,000,000.5 1,600,000,100.2"},
		{"one value of which nothing is known", 0, []float64{48.13711}, "48.13711"},
		{"one large value", 0, []float64{1600000000}, "1,600,000,000"},
		{"one long value", 0, []float64{1600000000.0 + 1.0/3}, "1,600,000,000"},
		{"a third", 0, []float64{1.0 / 3}, "0.3333"},
		{"equal but for the last bit", 0, []float64{0.3, near}, "0.3 0.3"},
		{"equal but for the last bit, with their spread", near - 0.3, []float64{0.3, near}, "0.3 0.3"},
		{"a few hundred units in the last place", 0, []float64{1, 1 + 300*0x1p-52}, "1.0000000000000000 1.0000000000000666"},
		{"magnitudes apart", 0, []float64{0.001, 0.002, 1000}, "0.001 0.002 1000"},
		{"a small one among large ones", 0, []float64{0.004, 7000}, "0.004 7000"},
		{"a very small one among others", 4, []float64{2.4e-7, 0.3141, 2.5}, "<0.001 0.314 2.500"},
		{"what rounding left of 0", 4, []float64{1.2e-17, 2}, "0 2"},
		{"negative, about 0", 4, []float64{-1e-17, -1.5}, "0.0 -1.5"},
		{"close together, in a wide column", 4, []float64{5.00613, 5.00638, 7.125}, "5.0061 5.0064 7.125"},
		{"very small ones among others", 4, []float64{-2.4e-7, 3.1e-5, 2.5}, ">-0.001 <0.001 2.500"},
		{"years", 40, []float64{1994.25, 2007}, "1994.2 2007.0"},
		{"incomes", 8e6, []float64{14532100.25, 9800}, "14,532,100 9,800"},
		{"smaller still", 0, []float64{1.25e-12, 3e-12}, "1.250e-12 3.000e-12"},
		{"tiny", 0, []float64{1.25e-7, 3e-7}, "0.000000125 0.000000300"},
		{"huge", 0, []float64{1.25e20, 3e20}, "1.250e+20 3.000e+20"},
		{"huge and close", 0, []float64{1e15, 1e15 + 8}, "1,000,000,000,000,000 1,000,000,000,000,008"},
		{"all 0", 0, []float64{0, 0}, "0 0"},
		{"0 in a spread", 2, []float64{0, math.Copysign(0, -1)}, "0 0"},
		{"no numbers", 1, []float64{math.NaN(), math.Inf(1), 1.5}, "NaN +Inf 1.5"},
	} {
		if got := strings.Join(Numbers(c.values, c.spread), " "); got != c.want {
			t.Errorf("%s: %s, not %s", c.what, got, c.want)
		}
	}
}

// A column that is moved by an offset is told apart as before, and every number that is told is the nearest with its digits.
func TestAnOffsetHidesNoDifference(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.SampledFrom([]float64{0, 48.125, -1 << 20, 1600000000, 1 << 40}).Draw(t, "offset")
		step := math.Ldexp(1, rapid.IntRange(-6, 8).Draw(t, "step")) // 64 units in the last place of the largest offset, and more
		n := rapid.SliceOfN(rapid.IntRange(-500, 500), 2, 8).Draw(t, "values")
		values := make([]float64, len(n))
		for i, v := range n {
			values[i] = offset + step*float64(v)
		}
		told := Numbers(values, 0)
		for i, s := range told {
			s = strings.ReplaceAll(s, ",", "")
			read, err := strconv.ParseFloat(s, 64)
			if err != nil {
				t.Fatal(err)
			}
			for j := range told[:i] {
				if (n[i] == n[j]) != (told[i] == told[j]) {
					t.Fatalf("%v and %v read %s and %s", values[i], values[j], s, told[j])
				}
			}
			digits := 0
			if _, after, ok := strings.Cut(s, "."); ok {
				digits = len(after)
			}
			if off := math.Abs(read - values[i]); off > 0.500001*math.Pow(10, -float64(digits))+1e-12*math.Abs(offset) {
				t.Fatalf("%v reads %s", values[i], s)
			}
		}
	})
}

func TestSharesAreNotRoundedAway(t *testing.T) {
	for _, c := range []struct {
		v    float64
		want string
	}{
		{0, "0.000"}, {1, "1.000"}, {0.5, "0.500"}, {0.0004, "0.00040"}, {0.00049999, "0.00050"}, {0.0005, "0.001"}, {1e-6, "0.0000010"}, {1e-9, "<1e-6"}, {5e-324, "<1e-6"},
		{0.9994, "0.999"}, {0.9996, "0.9996"}, {0.99996, "0.99996"}, {1 - 1e-12, ">0.999999"},
	} {
		if got := Share(c.v, 3); got != c.want && !(c.v == 0.0005 && got == "0.00050") {
			t.Errorf("%v reads %s, not %s", c.v, got, c.want)
		}
	}
	if got := strings.Join(Shares([]float64{0.0011, 0.0013, 0.5}, 3), " "); got != "0.0011 0.0013 0.500" {
		t.Errorf("two probabilities of a thousandth read %s", got)
	}
}

func TestSharesInPercent(t *testing.T) {
	if got := strings.Join(Percents([]float64{0, 1, 2.0 / 3, 0.0004, 0.99996, 1e-9, 1 - 1e-12, math.Copysign(0, -1)}, 1), ", "); got != "0.0 %, 100.0 %, 66.7 %, 0.040 %, 99.996 %, <0.0001 %, >99.9999 %, 0.0 %" {
		t.Error(got)
	}
	if got := strings.Join(Percents([]float64{0.5001, 0.5003, 0.0011, 0.0013}, 0), ", "); got != "50 %, 50 %, 0.11 %, 0.13 %" {
		t.Error(got)
	}
}

func TestNumbersThatStandAlone(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 14500000: "14,500,000", 1.2345e14: "123,450,000,000,000", 2e15: "2e+15", 12345.67: "12,345.7", 0.00001234: "0.00001234", -0.5: "-0.5000", 2e-10: "2e-10"} {
		if got := Short(v); got != want {
			t.Errorf("%v reads %s, not %s", v, got, want)
		}
	}
	for v, want := range map[float64]string{-1126.31594: "-1,126.32", -0.001: "0.00", 1e14: "100,000,000,000,000.00", -7e17: "-7e+17"} {
		if got := Decimals(v, 2); got != want {
			t.Errorf("%v reads %s, not %s", v, got, want)
		}
	}
}

func TestSignificantDigitsWithoutPowersOfTen(t *testing.T) {
	for _, c := range []struct {
		v      float64
		digits int
		want   string
	}{
		{1126.3158, 8, "1,126.3158"}, {-5762.09361234, 8, "-5,762.0936"}, {13.87, 2, "14"}, {0.00012345, 2, "0.00012"}, {1234567.8, 3, "1,234,568"}, {0.1, 6, "0.1"}, {999.7, 3, "1,000"}, {99.97, 3, "100"},
		{1e-5, 0, "0.00001"}, {2.5e6, 0, "2,500,000"}, {127.5, 0, "127.5"}, {0, 3, "0"}, {math.Copysign(0, -1), 3, "0"}, {2.5e-12, 2, "2.5e-12"}, {2.5e17, 2, "2.5e+17"}, {2e17, 0, "2e+17"}, {math.NaN(), 3, "NaN"}, {math.Inf(1), 0, "+Inf"},
	} {
		if got := Significant(c.v, c.digits); got != c.want {
			t.Errorf("%v with %d digits reads %s, not %s", c.v, c.digits, got, c.want)
		}
	}
}

func TestCriteriaThatDifferReadDifferently(t *testing.T) {
	if got := strings.Join(Criteria([]float64{1602.84, 1602.81, 1700.06, 1602.84 + 1e-12}, 1, 1e-6), " "); got != "1,602.84 1,602.81 1,700.06 1,602.84" {
		t.Error(got)
	}
	for _, c := range []struct {
		v    float64
		want string
	}{{0.03, "+0.03"}, {0.004, "+0.004"}, {12.34, "+12.3"}, {-12.34, "-12.3"}, {0, "+0.0"}, {1e-9, "+0.0"}, {-0.02, "-0.02"}} {
		if got := Difference(c.v, 1, 1e-6); got != c.want {
			t.Errorf("a difference of %v reads %s", c.v, got)
		}
	}
}

func TestPValues(t *testing.T) {
	for v, want := range map[float64]string{0.05: "0.05", 1: "1", 0: "0", 0.001: "0.001", 0.0004: "0.0004", 0.00094: "0.00094", 0.00999: "0.01", 0.0123: "0.012", 1e-5: "0.00001", 0.9996: "0.9996", 0.12345: "0.123"} {
		if got := P(v); got != want {
			t.Errorf("%v reads %s, not %s", v, got, want)
		}
	}
}

func TestOneMoreDecimalIsForAll(t *testing.T) {
	if got := strings.Join(Criteria([]float64{734.0391, 734.0364, 12.5}, 1, 1e-6), " "); got != "734.039 734.036 12.50" {
		t.Error(got)
	}
	if got := strings.Join(Criteria([]float64{734.1, 734.3, math.NaN()}, 1, 1e-6), " "); got != "734.1 734.3 NaN" {
		t.Error(got)
	}
}

func TestStandardErrors(t *testing.T) {
	for _, c := range []struct {
		v, se float64
		want  string
	}{
		{6.5446, 0.09123, "6.545 ± 0.091"}, {1600000001, 173, "1,600,000,001 ± 173"}, {1600000001.25, 0.82, "1,600,000,001.25 ± 0.82"}, {48.13712, 8.2e-6, "48.1371200 ± 0.0000082"},
		{1.25e20, 3e18, "1.250e+20 ± 3.0e+18"}, {2e-15, 3e-16, "2.00e-15 ± 3.0e-16"}, {0, 0.5, "0.00 ± 0.50"},
	} {
		if got := PlusMinus(c.v, c.se); got != c.want {
			t.Errorf("%v and %v read %s, not %s", c.v, c.se, got, c.want)
		}
	}
}

func TestCountsAndPlurals(t *testing.T) {
	for _, c := range []struct {
		n    int64
		noun string
		want string
	}{
		{1, "row", "1 row"}, {0, "row", "0 rows"}, {3000, "row", "3,000 rows"}, {-1234567, "row", "-1,234,567 rows"}, {2, "category", "2 categories"}, {2, "day", "2 days"},
		{2, "optimum", "2 optima"}, {2, "sample of rows", "2 samples of rows"}, {1, "sample of rows", "1 sample of rows"}, {2, "bootstrap sample", "2 bootstrap samples"}, {2, "mass", "2 masses"}, {2, "local optimum", "2 local optima"},
	} {
		if got := Count(c.n, c.noun); got != c.want {
			t.Errorf("%s, not %s", got, c.want)
		}
	}
	if got := There(1, "row") + ", " + There(3, "row"); got != "there is 1 row, there are 3 rows" {
		t.Error(got)
	}
	if got := Are(1, "row") + ", " + Are(2, "row"); got != "1 row is, 2 rows are" {
		t.Error(got)
	}
}

// A weight of -0, which a file may hold, has no sign.
func TestAShareOfMinusZeroIsZero(t *testing.T) {
	if got := Share(math.Copysign(0, -1), 3); got != "0.000" {
		t.Errorf("-0 is written as %s", got)
	}
}

func TestList(t *testing.T) {
	for want, words := range map[string][]string{"": nil, "a": {"a"}, "a or b": {"a", "b"}, "a, b or c": {"a", "b", "c"}} {
		if got := List(words, "or"); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// Where numbers stand beside others that tell them apart, two that differ may read the same.
func TestRoundedNumbersMayReadTheSame(t *testing.T) {
	c := NewColumn(10, 15.14, 12.62)
	if got := c.Rounded([]float64{1.8214, 1.8231, 2}); !slices.Equal(got, []string{"1.82", "1.82", "2.00"}) {
		t.Errorf("%q", got)
	}
	if got := c.Texts([]float64{1.8214, 1.8231}); got[0] == got[1] {
		t.Errorf("%q", got)
	}
}

func TestWholePercents(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 1: "100", 0.004: "<1", 0.996: ">99", 0.25: "25", 1e-12: "0", 1 - 1e-12: "100", 0.014: "1", 0.99: "99"} {
		if got := WholePercent(v); got != want {
			t.Errorf("%v reads %s, not %s", v, got, want)
		}
	}
}
