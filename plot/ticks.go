package plot

import (
	"math"
	"strconv"
	"strings"

	"github.com/latent-go/latent/internal/text"
)

// tick is a place on an axis and what is written there.
type tick struct {
	value float64
	text  string
}

// linearTicks returns the multiples of a step of 1, 2 or 5 times a power of ten in lo..hi: no more than n + 1, but two at least.
func linearTicks(lo, hi float64, n int) []tick {
	if !(hi > lo) || n < 1 {
		return nil
	}
	step := roundStep((hi - lo) / float64(n))
	for i := 0; i < 3 && multiples(lo, hi, step) < 2; i++ {
		step = roundStep(step / 2.6)
	}
	first, count := math.Ceil(lo/step-1e-9), multiples(lo, hi, step)
	var out []tick
	for i := range min(count, n+8) {
		k := first + float64(i)
		out = append(out, tick{min(max(k*step, lo), hi) + 0, tickText(k*step, step, max(math.Abs(lo), math.Abs(hi)))})
	}
	return out
}

// multiples counts the multiples of step in lo..hi.
func multiples(lo, hi, step float64) int {
	return int(math.Floor(hi/step+1e-9) - math.Ceil(lo/step-1e-9) + 1)
}

// roundStep returns the least of 1, 2, 5 times a power of ten that is at least v, which is above 0.
func roundStep(v float64) float64 {
	p := math.Pow(10, math.Floor(math.Log10(v)))
	for _, m := range []float64{1, 2, 5} {
		if m*p >= v*(1-1e-9) {
			return m * p
		}
	}
	return 10 * p
}

// plain are the absolute values that are written out, not in powers of ten: those from 1e-6 to 1e15.
func plain(a float64) bool { return a >= 1e-6*(1-1e-9) && a < 1e15 }

// tickText writes a multiple of step with the decimals of step; as a power of ten where the largest value on the axis is far from 1.
func tickText(v, step, largest float64) string {
	places := exponent(largest) - exponent(step) // digits after the first one
	if !plain(largest) && places <= 3 {
		if math.Abs(v) < step/2 {
			return "0"
		}
		m, e, _ := strings.Cut(scientific(v, max(0, exponent(v)-exponent(step))), "e")
		if strings.Contains(m, ".") {
			m = strings.TrimRight(strings.TrimRight(m, "0"), ".")
		}
		return m + "e" + e
	}
	if math.Abs(v) < step/2 && exponent(step) < -3 {
		return "0"
	}
	return grouped(v, max(0, -exponent(step)))
}

// exponent is that of v's first digit.
func exponent(v float64) int { return int(math.Floor(math.Log10(math.Abs(v)) + 1e-9)) }

// logTicks returns powers of ten in lo..hi, thinned to some n; in a range of less than two powers 1, 2 and 5 times them, and where
// that gives fewer than two, multiples of a step.
func logTicks(lo, hi float64, n int) []tick {
	if !(hi > lo) || lo <= 0 || n < 1 {
		return nil
	}
	from, to := int(math.Ceil(math.Log10(lo)-1e-9)), int(math.Floor(math.Log10(hi)+1e-9))
	var out []tick
	if to-from >= 2 {
		for every := (to - from + n) / n; len(out) < 2; every-- { // two powers at least are in the range
			out = out[:0]
			for e := from; e <= to; e++ {
				if cycle(e, every) == 0 {
					v := math.Pow(10, float64(e))
					out = append(out, tick{min(max(v, lo), hi), logText(v, e)})
				}
			}
		}
		return out
	}
	for e := from - 1; e <= to; e++ {
		for _, m := range []float64{1, 2, 5} {
			if v := m * math.Pow(10, float64(e)); v >= lo*(1-1e-9) && v <= hi*(1+1e-9) {
				out = append(out, tick{min(max(v, lo), hi), logText(v, e)})
			}
		}
	}
	if len(out) < 2 || len(out) > n+1 {
		return linearTicks(lo, hi, n)
	}
	return out
}

func logText(v float64, e int) string {
	if !plain(v) {
		return scientific(v, 0)
	}
	return grouped(v, max(0, -e))
}

// grouped writes v with a true minus sign, and a comma between thousands from 10,000 on.
func grouped(v float64, decimals int) string {
	s := strconv.FormatFloat(math.Abs(v), 'f', decimals, 64)
	if whole, _, _ := strings.Cut(s, "."); len(whole) > 4 {
		s = text.Group(s)
	}
	if v < 0 && strings.Trim(s, "0.,") != "" {
		s = "−" + s
	}
	return s
}

// scientific writes v as 1.5e6 or 2e−5.
func scientific(v float64, digits int) string {
	m, e, _ := strings.Cut(strconv.FormatFloat(v, 'e', digits, 64), "e")
	n, _ := strconv.Atoi(e) // strconv wrote it
	return strings.ReplaceAll(m+"e"+strconv.Itoa(n), "-", "−")
}

// number writes v for a reader: four significant digits, all those before the point, and powers of ten where v is far from 1.
func number(v float64) string {
	a := math.Abs(v)
	switch {
	case a == 0:
		return "0"
	case !plain(a):
		return scientific(v, 2)
	}
	s := grouped(v, max(0, 3-exponent(v)))
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// measured writes v ± deviation, both to the second digit of the deviation.
func measured(v, deviation float64) string {
	if !(deviation > 0) || !usable(deviation) {
		return number(v)
	}
	places := 1 - exponent(deviation)
	if math.Abs(v) >= 1e15 || places > 12 {
		return text.PlusMinus(v, deviation)
	}
	return grouped(v, max(0, places)) + " ± " + grouped(deviation, max(0, places))
}

// usable says whether v can be drawn on a linear axis: differences of such values are finite.
func usable(v float64) bool { return math.Abs(v) <= 1e300 } // false for NaN
