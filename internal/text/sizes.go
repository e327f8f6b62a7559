package text

import (
	"math"
	"strconv"
)

// Whole writes a whole number with commas between its thousands.
func Whole(v float64) string { return Group(strconv.FormatFloat(math.Round(v), 'f', 0, 64)) }

// Gigabytes writes a number of bytes.
func Gigabytes(v float64) string { return Whole(math.Max(v/(1<<30), 1)) + " GB" }

// Duration writes a number of seconds in the unit that suits it.
func Duration(s float64) string {
	switch {
	case s < 5400:
		return Whole(s/60) + " minutes"
	case s < 2*86400:
		return Whole(s/3600) + " hours"
	}
	return Whole(s/86400) + " days"
}

// Rows says how many rows there are, and where their weights are not all 1 how many rows those count for.
func Rows(n int64, weight float64) string {
	s := Count(n, "row")
	if weight != float64(n) {
		s += " of weight " + Group(single(weight))
	}
	return s
}

// RowsAre is Rows with its verb.
func RowsAre(n int64, weight float64) string { return Rows(n, weight) + Form(n, " is", " are") }
