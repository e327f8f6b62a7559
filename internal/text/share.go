package text

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// certain is the distance from 0 or 1 below which a probability is only said to be that near.
const certain = 1e-6

// Share writes a share, a probability or a p-value with a number of decimals: more where it would read 0 or 1 and is neither,
// "<1e-6" and ">0.999999" where it is within a millionth of them.
func Share(v float64, decimals int) string {
	s := strconv.FormatFloat(v+0, 'f', decimals, 64) // -0 is 0
	switch {
	case v > 0 && v < certain:
		return "<1e-6"
	case v < 1 && v > 1-certain:
		return ">0.999999"
	case v > 0 && readsZero(s):
		return strconv.FormatFloat(v, 'f', 1-exponent(v), 64)
	case v < 1 && v > 0.5 && strings.HasPrefix(s, "1"):
		return strconv.FormatFloat(v, 'f', -exponent(1-v), 64)
	}
	return s
}

// P writes a p-value: three decimals, below 0.01 two digits, without zeros at the end; more where it would read 0 or 1 and is neither.
func P(v float64) string {
	s := Share(v, 3)
	if v >= certain && v < 0.01 {
		s = strconv.FormatFloat(v, 'f', 1-exponent(v), 64)
	}
	if strings.Contains(s, ".") {
		s = strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// Percent writes a share in percent with one decimal, without rounding it to 0 or to 100.
func Percent(share float64) string {
	switch s := strconv.FormatFloat(100*share, 'f', 1, 64); {
	case s == "100.0" && share < 1:
		return "over 99.9 %"
	case s == "0.0" && share > 0:
		return "under 0.1 %"
	default:
		return s + " %"
	}
}

// WholePercent writes a share in per cent without decimals and without the sign, and without rounding it to 0 or to 100: "<1", ">99". What lies within
// a billionth of 0 or 1 is that but for rounding. NaN is "-".
func WholePercent(share float64) string {
	switch s := strconv.FormatFloat(100*share+0, 'f', 0, 64); {
	case share != share:
		return "-"
	case s == "100" && share < 1-1e-9:
		return ">99"
	case s == "0" && share > 1e-9:
		return "<1"
	default:
		return s
	}
}

// Percents writes shares that stand below each other in percent, with a number of decimals: two digits below 1 %, more where one would read
// 100 and is less, "<0.0001 %" and ">99.9999 %" within a millionth of 0 and 1.
func Percents(values []float64, decimals int) []string {
	out := make([]string, len(values))
	for i, v := range values {
		s := strconv.FormatFloat(100*v+0, 'f', decimals, 64) // -0 is 0
		switch {
		case v > 0 && v < certain:
			s = "<0.0001"
		case v < 1 && v > 1-certain:
			s = ">99.9999"
		case v > 0 && v < 0.01:
			s = strconv.FormatFloat(100*v, 'f', max(1-exponent(100*v), decimals), 64)
		case v < 1 && strings.HasPrefix(s, "100"):
			s = strconv.FormatFloat(100*v, 'f', -exponent(100*(1-v)), 64)
		}
		out[i] = s + " %"
	}
	return out
}

// Shares writes probabilities that stand below each other, each as Share does. Two that differ by more than a millionth read
// differently.
func Shares(values []float64, decimals int) []string {
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = Share(v, decimals)
	}
	apart(values, out, func(v float64, more int) string { return Share(v, decimals+more) },
		func(a, b float64) bool { return math.Abs(a-b) > alike })
	return out
}

// Criteria writes values of a criterion, which are compared by their differences: with a number of decimals, one more for all
// where two would read the same and differ by more than tolerance, and as many as it takes for those that would do so still.
// NaN is no value.
func Criteria(values []float64, decimals int, tolerance float64) []string {
	write := func(v float64, more int) string { return strconv.FormatFloat(v, 'f', decimals+more, 64) }
	differ := func(a, b float64) bool {
		return math.Abs(a-b) > max(tolerance, rounding*ulp(max(math.Abs(a), math.Abs(b))))
	}
	out := make([]string, len(values))
	for try := range 2 {
		for i, v := range values {
			out[i] = write(v, try)
		}
		first := slices.Clone(out)
		if apart(values, out, write, differ); slices.Equal(out, first) {
			break
		}
	}
	for i, s := range out {
		out[i] = Group(s)
	}
	return out
}

// Difference writes how far one value is from another, with its sign and a number of decimals: more where it would read 0 and
// is above tolerance.
func Difference(v float64, decimals int, tolerance float64) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if readsZero(s) && math.Abs(v) > tolerance {
		s = strconv.FormatFloat(math.Abs(v), 'f', -exponent(v), 64)
	}
	if v < 0 && !readsZero(s) {
		return Group("-" + s)
	}
	return Group("+" + s)
}

// apart writes those of values anew that read the same as another from which they differ, with more and more digits.
func apart(values []float64, out []string, write func(v float64, more int) string, differ func(a, b float64) bool) {
	for more := 1; more <= mostDigits; more++ {
		same := map[string][]int{}
		for i, s := range out {
			same[s] = append(same[s], i)
		}
		again := false
		for _, group := range same {
			lo, hi := math.Inf(1), math.Inf(-1)
			for _, i := range group {
				if v := values[i]; v == v {
					lo, hi = min(lo, v), max(hi, v)
				}
			}
			if !(hi > lo) || !differ(lo, hi) {
				continue
			}
			again = true
			for _, i := range group {
				out[i] = write(values[i], more)
			}
		}
		if !again {
			return
		}
	}
}
