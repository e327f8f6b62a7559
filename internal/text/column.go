package text

import (
	"math"
	"strconv"
	"strings"
)

// Digits of a column.
const (
	spreadDigits = 3    // digits of a column's spread that its numbers show; one more where that is not longer than four digits of the numbers
	mostDigits   = 17   // significant digits that tell any two float64 apart
	ownDigits    = 10   // significant digits of a number that nothing is known of
	fewest       = 4    // significant digits of a number that stands alone
	rounding     = 16   // units in the last place by which numbers that ought to be equal may differ
	alike        = 1e-6 // share of the spread below which two numbers of a column may read the same
	smallest     = 9    // numbers below 10 to the minus this are written in powers of ten, as those from 1e15 on are
)

// Column decides how many digits the numbers of one column of data need: as many as its values lie apart, not as many as
// they are long. 1600000001 and 1600000301 differ in their eighth digit, so all ten are written; 6.5446 and 5.9151 are told
// apart by four.
type Column struct {
	decimals   int // digits after the point
	scientific bool
	mantissa   int // digits after the point of a number in powers of ten
	spread     float64
	noise      float64 // differences that rounding makes
	alone      bool    // nothing is known of the spread
	grouped    bool    // commas stand between thousands
}

// NewColumn decides the digits of values. spread is about the width of the range in which the column's rows lie, such as four
// standard deviations; 0 where it is not known: then the range of the values counts.
func NewColumn(spread float64, values ...float64) Column {
	largest, lo, hi := 0.0, math.Inf(1), math.Inf(-1)
	for _, v := range values {
		if !math.IsInf(v, 0) && v == v {
			largest, lo, hi = max(largest, math.Abs(v)), min(lo, v), max(hi, v)
		}
	}
	c := Column{noise: rounding * ulp(largest), grouped: largest >= 9999.5}
	if spread > 0 && !math.IsInf(spread, 1) {
		c.spread = spread
	}
	if wide := hi - lo; wide > c.spread && !math.IsInf(wide, 1) {
		c.spread = wide
	}
	if c.spread <= c.noise {
		c.alone = true
		return c
	}
	first, size := exponent(c.spread), exponent(largest)
	least := spreadDigits - 1 - first
	c.decimals = min(max(fewest-1-size, least), least+1, mostDigits-1-size)
	if largest == 0 {
		c.decimals = least
	}
	c.mantissa = min(max(size+c.decimals, fewest-1), mostDigits-1)
	whole := size + 1
	switch {
	case largest == 0:
	case size >= 15 && c.mantissa+6 < whole+max(c.decimals, 0), size < -smallest:
		c.scientific = true
	}
	c.decimals = max(c.decimals, 0)
	return c
}

// Text writes one number of the column, without zeros at its end where it is what it reads.
func (c Column) Text(v float64) string { return c.group(c.write(v, 0, c.spare(v))) }

// group puts commas between the thousands of a column's number where some of its numbers have five digits before the point: four are read
// at a glance, and years are never written otherwise.
func (c Column) group(s string) string {
	if !c.grouped {
		return s
	}
	return Group(s)
}

// Texts writes numbers of the column that stand below each other. Two that differ read differently, unless they differ by
// rounding or by less than a millionth of the spread. What is not 0 does not read 0: below 0.0001 it may read "<0.001".
func (c Column) Texts(values []float64) []string {
	out := c.rounded(values)
	apart(values, out, func(v float64, more int) string { return c.write(v, more, 0) }, c.differ)
	for i, s := range out {
		out[i] = c.group(s)
	}
	return out
}

// Rounded writes numbers as Texts does, but two that differ may read the same.
func (c Column) Rounded(values []float64) []string {
	out := c.rounded(values)
	for i, s := range out {
		out[i] = c.group(s)
	}
	return out
}

// rounded writes numbers without commas.
func (c Column) rounded(values []float64) []string {
	spare := mostDigits
	for _, v := range values {
		spare = min(spare, c.spare(v))
	}
	out := make([]string, len(values))
	for i, v := range values {
		out[i] = c.write(v, 0, spare)
		if v == 0 || math.Abs(v) <= c.noise || !readsZero(out[i]) {
			continue
		}
		if math.Abs(v) < 1e-4 { // a small one among large ones
			out[i] = c.bound(v)
			continue
		}
		out[i] = strconv.FormatFloat(v, 'g', 2, 64)
		for more := 1; off(out[i], v) > 0.05 || strings.Contains(out[i], "e"); more++ {
			out[i] = c.write(v, more, 0)
		}
	}
	return out
}

// bound writes of a number that reads 0 in the column's digits that it is nearer to 0 than their last.
func (c Column) bound(v float64) string {
	unit := strconv.FormatFloat(math.Pow(10, -float64(c.decimals)), 'f', c.decimals, 64)
	if v < 0 {
		return ">-" + unit
	}
	return "<" + unit
}

// differ reports whether two numbers of the column are not to read the same.
func (c Column) differ(a, b float64) bool {
	d := math.Abs(a - b)
	return d > c.noise && (d > alike*c.spread || d > 1e-3*max(math.Abs(a), math.Abs(b)))
}

// Numbers writes the numbers of a column that stand below each other, as NewColumn and Texts say.
func Numbers(values []float64, spread float64) []string {
	return NewColumn(spread, values...).Texts(values)
}

// write writes v with more digits than the column needs, or without some of them.
func (c Column) write(v float64, more, less int) string {
	switch {
	case math.IsInf(v, 0) || v != v:
		return strconv.FormatFloat(v, 'g', -1, 64)
	case v == 0:
		v = 0 // never -0
	}
	switch {
	case c.alone:
		return single(v)
	case c.scientific && v != 0:
		return strconv.FormatFloat(v, 'e', min(c.mantissa+more, mostDigits-1), 64)
	}
	s := strconv.FormatFloat(v, 'f', max(c.decimals+more-less, 0), 64)
	if readsZero(s) {
		s = strings.TrimPrefix(s, "-")
	}
	return s
}

// spare returns how many of v's decimals are zeros that say nothing, because v is what is left without them.
func (c Column) spare(v float64) int {
	if v != v || math.IsInf(v, 0) {
		return c.decimals // it has none
	}
	if c.alone || c.scientific {
		return 0
	}
	s := strconv.FormatFloat(v, 'f', c.decimals, 64)
	n := 0
	for n < c.decimals && s[len(s)-1-n] == '0' {
		n++
	}
	if read, _ := strconv.ParseFloat(s, 64); math.Abs(read-v) > max(c.noise, rounding*ulp(v)) { // it was rounded
		return 0
	}
	return n
}

// Short writes a number that stands alone with four significant digits, more where the part before the point has more. It is in powers of
// ten only from 1e15 on and below 1e-9.
func Short(v float64) string {
	a := math.Abs(v)
	switch {
	case v == 0:
		return "0"
	case a >= 1e15 || a < 1e-9 || v != v:
		return strconv.FormatFloat(v, 'g', fewest, 64)
	case a >= 1e7:
		return Whole(v)
	case a >= 1000:
		return Group(strconv.FormatFloat(v, 'f', 1, 64))
	}
	return strconv.FormatFloat(v, 'f', fewest-1-exponent(v), 64)
}

// Decimals writes a number with so many decimals, and commas between its thousands. From 1e15 on it is in powers of ten.
func Decimals(v float64, decimals int) string {
	if a := math.Abs(v); a >= 1e15 || v != v {
		return strconv.FormatFloat(v, 'g', 6, 64)
	}
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if readsZero(s) {
		s = strings.TrimPrefix(s, "-")
	}
	return Group(s)
}

// Significant writes a number with so many significant digits, all that it has where they are 0, and no zeros at its end. The part before the point
// is in full, with commas between its thousands; numbers from 1e15 on and below 1e-9 are in powers of ten.
func Significant(v float64, digits int) string {
	a := math.Abs(v)
	switch {
	case digits == 0:
		digits = -1
	case a >= math.Pow10(digits-1) && a < 1e15:
		return Whole(v)
	default:
		v, _ = strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64) // what was written can be read
	}
	if v != 0 && a < 1e-9 || a >= 1e15 || v != v {
		return strconv.FormatFloat(v, 'g', digits, 64)
	}
	return Group(strconv.FormatFloat(v+0, 'f', -1, 64)) // -0 is 0
}

// single writes a number of which nothing else is known: whole where it is a number of few digits, and by Short elsewhere, but
// with the whole part in full.
func single(v float64) string {
	if s := strconv.FormatFloat(v, 'g', ownDigits, 64); v != 0 && !strings.Contains(s, "e") {
		if read, _ := strconv.ParseFloat(s, 64); math.Abs(read-v) <= rounding*ulp(v) {
			return s
		}
	}
	return Short(v)
}

// PlusMinus writes an estimate and its standard error, both to the second digit of the error: what lies beyond it is not known.
func PlusMinus(v, se float64) string {
	if math.IsInf(se, 0) {
		return Short(v) + " ± " + Short(se)
	}
	digits := 1 - exponent(se)
	if largest := max(math.Abs(v), se); digits > 12 || largest >= 1e15 {
		mantissa := min(max(digits+exponent(largest), 1), mostDigits-1)
		return strconv.FormatFloat(v, 'e', mantissa, 64) + " ± " + strconv.FormatFloat(se, 'e', 1, 64)
	}
	digits = max(digits, 0)
	return Group(strconv.FormatFloat(v, 'f', digits, 64)) + " ± " + Group(strconv.FormatFloat(se, 'f', digits, 64))
}

// exponent is that of v's first digit.
func exponent(v float64) int {
	if v == 0 {
		return 0
	}
	return int(math.Floor(math.Log10(math.Abs(v))))
}

// ulp is the distance of |v| from the next larger float64.
func ulp(v float64) float64 {
	v = math.Abs(v)
	if next := math.Nextafter(v, math.Inf(1)); !math.IsInf(next, 1) {
		return next - v
	}
	return 0
}

// off returns by which share of v a text is off.
func off(s string, v float64) float64 {
	read, _ := strconv.ParseFloat(s, 64)
	return math.Abs(read-v) / math.Abs(v)
}

// readsZero reports whether a text shows no digit but 0.
func readsZero(s string) bool { return strings.Trim(s, "-+0.") == "" }
