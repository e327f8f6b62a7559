package text

import (
	"strconv"
	"strings"
)

// Thousands writes n with a comma between thousands.
func Thousands(n int64) string {
	return Group(strconv.FormatInt(n, 10))
}

// Group puts a comma between the thousands of a number that is written already, one in powers of ten apart.
func Group(s string) string {
	from := 0
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") {
		from = 1
	}
	to := from
	for to < len(s) && s[to] >= '0' && s[to] <= '9' {
		to++
	}
	if strings.ContainsAny(s[to:], "e") {
		return s
	}
	for i := to - 3; i > from; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// Count writes how many of a noun there are: "1 row", "3,000 rows". The noun is given for one; a phrase takes its plural at
// its first word's end where it goes on with "of", "that", "on", "in" or "with", and at its end elsewhere: "sample of rows"
// becomes "samples of rows", "bootstrap sample" becomes "bootstrap samples".
func Count[N ~int | ~int64](n N, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return Thousands(int64(n)) + " " + Plural(noun)
}

// Are is Count with the verb that belongs to it: "1 row is", "3 rows are".
func Are[N ~int | ~int64](n N, noun string) string {
	return Count(n, noun) + " " + Form(n, "is", "are")
}

// Form returns one where n is 1, and many elsewhere.
func Form[N ~int | ~int64](n N, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// irregular are the plurals that no ending makes.
var irregular = map[string]string{"optimum": "optima", "maximum": "maxima", "axis": "axes"}

// Plural returns the plural of a noun or of a phrase, as Count describes it.
func Plural(noun string) string {
	for _, joint := range []string{" of ", " that ", " on ", " in ", " with "} {
		if head, rest, ok := strings.Cut(noun, joint); ok {
			return Plural(head) + joint + rest
		}
	}
	head, last := "", noun
	if at := strings.LastIndexByte(noun, ' '); at >= 0 {
		head, last = noun[:at+1], noun[at+1:]
	}
	if many, ok := irregular[last]; ok {
		return head + many
	}
	if stem, ok := strings.CutSuffix(last, "y"); ok && stem != "" && !strings.ContainsRune("aeiou", rune(stem[len(stem)-1])) {
		return head + stem + "ies"
	}
	for _, hiss := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(last, hiss) {
			return head + last + "es"
		}
	}
	return head + last + "s"
}

// There says how many of a noun there are in a sentence: "there is 1 row", "there are 3 rows".
func There[N ~int | ~int64](n N, noun string) string {
	return "there " + Form(n, "is", "are") + " " + Count(n, noun)
}

// List writes words with commas between them, and a joint such as "and" before the last.
func List(words []string, joint string) string {
	last := len(words) - 1
	if last < 1 {
		return strings.Join(words, "")
	}
	return strings.Join(words[:last], ", ") + " " + joint + " " + words[last]
}
