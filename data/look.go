package data

import (
	"fmt"
	"slices"
	"strings"
	"unicode"
)

// look is what the texts of a column look like, where they are numbers or dates in a form that is not read.
type look struct {
	what   string // "amounts of money"
	advice string // what to do
	such   string // the first text of this look
}

// String returns "amounts of money such as "$29.85"; write plain numbers".
func (k look) String() string { return fmt.Sprintf("%s such as %q; %s", k.what, cut(k.such), k.advice) }

// writePlain is what to do about numbers with something around them.
const writePlain = "write plain numbers"

// looksLike returns the look that more than half of the texts have.
func looksLike(samples []string, dec byte) (look, bool) {
	count := map[string]int{}
	first := map[string]look{}
	for _, s := range samples {
		k, ok := lookOf(s, dec)
		if !ok {
			continue
		}
		if count[k.what]++; count[k.what] == 1 {
			first[k.what] = k
		}
	}
	if count[decimalCommas] > 0 { // beside 0,7 the comma of 1,250 is no mark between thousands
		count[decimalCommas] += count[thousandsCommas]
		count[thousandsCommas] = 0
	}
	for what, n := range count {
		if n*2 > len(samples) {
			return first[what], true
		}
	}
	return look{}, false
}

// Looks that are told apart by the cells beside them.
const (
	decimalCommas   = "numbers with decimal commas"
	thousandsCommas = "numbers with commas between thousands"
)

// lookOf says what one text looks like; dec is the decimal mark of the file.
func lookOf(cell string, dec byte) (look, bool) {
	s := strings.Trim(cell, " \t\r\n")
	k := look{such: cell, advice: writePlain}
	if clean := visible(s); clean != s && isNumber(clean, dec) {
		k.what, k.advice = "numbers with characters that cannot be seen", "remove them"
		return k, true
	}
	s = strings.NewReplacer("％", "%", "\uFF0D", "-").Replace(visible(s))
	switch rest, percent, money := bare(s); {
	case isNumber(s, dec):
		return k, false
	case anyDate(s):
		if k.what, k.advice = "dates or times", "write them as numbers, such as days or hours"; isDate(s) {
			k.advice = "--transform " + strings.Join(ordersOf(s), ":COLUMN or ") + ":COLUMN fits them as days"
		}
	case percent && signedLike(rest):
		k.what = "percentages"
	case money && signedLike(strings.TrimSpace(strings.TrimRight(rest, "KMBkmb"))):
		k.what = "amounts of money"
	case dec != ',' && commaGroups().MatchString(s):
		k.what = thousandsCommas
	case dec != ',' && isNumber(s, ','):
		k.what, k.advice = decimalCommas, "use --decimal ,"
	case dec != '.' && isNumber(s, '.'):
		k.what, k.advice = "numbers with decimal points", "use --decimal ."
	case numberLike(s):
		k.what = "numbers with marks between thousands"
	case numberLike(otherSign(s)):
		k.what = "numbers whose sign is not written as -"
	default:
		n := numberStart(s)
		unit := strings.TrimLeft(s[n:], " ")
		if n == 0 || !isNumber(s[:n], dec) || !isUnit(unit, len(s)-n > len(unit)) {
			return k, false
		}
		k.what = fmt.Sprintf("numbers with a unit (%s)", unit)
	}
	return k, true
}

// visible returns s with plain blanks for all kinds of white space and without characters that have no width.
func visible(s string) string {
	return strings.Trim(strings.Map(func(r rune) rune {
		switch {
		case isHidden(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, s), " ")
}

// isHidden reports whether a character has no width and no meaning: zero-width spaces and joiners, the byte order mark, the
// soft hyphen, marks of direction.
func isHidden(r rune) bool {
	switch {
	case r >= 0x200B && r <= 0x200F, r >= 0x202A && r <= 0x202E, r >= 0x2060 && r <= 0x2064, r == 0xFEFF, r == 0xAD, r == 0x180E:
		return true
	}
	return false
}

// currencies are the codes and short names of money that have no sign of their own.
var currencies = map[string]bool{"EUR": true, "USD": true, "GBP": true, "CHF": true, "JPY": true, "CNY": true, "INR": true, "CAD": true, "AUD": true, "NZD": true,
	"SEK": true, "NOK": true, "DKK": true, "PLN": true, "CZK": true, "HUF": true, "RUB": true, "BRL": true, "MXN": true, "ZAR": true, "KRW": true, "TRY": true,
	"SGD": true, "HKD": true, "RS": true, "RS.": true, "KR": true, "ZŁ": true, "KČ": true, "FR": true, "FR.": true, "R$": true, "US$": true,
	"A$": true, "AU$": true, "C$": true, "CA$": true, "HK$": true, "NT$": true, "NZ$": true, "S$": true}

// bare takes a sign of money or per cent from around a number.
func bare(s string) (rest string, percent, money bool) {
	if strings.HasPrefix(s, "(") && strings.HasSuffix(s, "%)") {
		return s[:len(s)-2] + ")", true, false
	}
	if r := strings.TrimPrefix(s, "%"); r != s {
		return strings.TrimSpace(r), true, false
	}
	if r := strings.TrimRight(s, "%‰"); r != s {
		return strings.TrimSpace(r), true, false
	}
	sign := ""
	if strings.HasPrefix(s, "-") || strings.HasPrefix(s, "+") || strings.HasPrefix(s, "(") {
		sign, s = s[:1], strings.TrimSpace(s[1:])
	}
	isSign := func(r rune) bool { return unicode.Is(unicode.Sc, r) }
	if r := strings.TrimFunc(s, isSign); r != s {
		return sign + strings.TrimSpace(r), false, true
	}
	digits := func(r rune) bool { return unicode.IsDigit(r) || strings.ContainsRune("+-(", r) }
	if i := strings.IndexFunc(s, digits); i > 0 && currencies[strings.ToUpper(strings.TrimSpace(s[:i]))] {
		return sign + s[i:], false, true
	}
	if i := strings.LastIndexFunc(s, unicode.IsDigit); i >= 0 && currencies[strings.ToUpper(strings.TrimSpace(s[i+1:]))] {
		return sign + s[:i+1], false, true
	}
	return s, false, false
}

// Numbers with marks between their thousands: commas, also in the Indian way (12,34,567), or blanks, apostrophes and
// underscores, with either decimal mark.
var (
	commaGroups = pattern(`^[-+]?(?:[1-9]\d{0,2}(?:,\d{3})+|[1-9]\d?(?:,\d{2})+,\d{3})(?:\.\d*)?$`)
	otherGroups = pattern(`^[-+]?[1-9]\d{0,2}(?:(?: \d{3})+|(?:['’]\d{3})+|(?:_\d{3})+)(?:[.,]\d*)?$`)
)

// numberLike reports whether a text is a number with either decimal mark, or with marks between thousands.
func numberLike(s string) bool {
	return isNumber(s, '.') || isNumber(s, ',') || commaGroups().MatchString(s) || otherGroups().MatchString(s)
}

// signedLike is numberLike for a number whose sign may stand in another way.
func signedLike(s string) bool { return numberLike(s) || numberLike(otherSign(s)) }

// otherSign writes a sign that stands behind, in brackets or as the mathematical minus as a plain one.
func otherSign(s string) string {
	switch {
	case strings.HasPrefix(s, "−"), strings.HasPrefix(s, "–"):
		_, rest, _ := strings.Cut(s, string([]rune(s)[0]))
		return "-" + strings.TrimSpace(rest)
	case strings.HasSuffix(s, "-"):
		return "-" + strings.TrimSpace(strings.TrimSuffix(s, "-"))
	case strings.HasPrefix(s, "(") && strings.HasSuffix(s, ")"):
		return "-" + s[1:len(s)-1]
	}
	return ""
}

// numberStart returns how many bytes at the start of s can be part of a plain number.
func numberStart(s string) int {
	n := 0
	for n < len(s) && strings.IndexByte("+-.,0123456789", s[n]) >= 0 {
		n++
	}
	return n
}

// isUnit reports whether what follows a number can be a unit: a few letters after a blank, or one of those that are written
// without, of two letters at least, since a single one may be a slip (4l for 41).
func isUnit(s string, apart bool) bool {
	letters := 0
	for _, r := range s {
		if !unicode.IsLetter(r) && !strings.ContainsRune("°µ/²³.", r) {
			return false
		}
		letters++
	}
	if letters == 0 || letters > 8 {
		return false
	}
	switch strings.ToLower(s) {
	case "mm", "cm", "km", "mg", "kg", "lb", "lbs", "oz", "ml", "ms", "min", "hrs", "°c", "°f", "°", "ft", "mi", "mph", "km/h", "kb", "mb", "gb", "kw", "hz":
		return true
	}
	return apart
}

// Dates and times as people write them. Years have four digits, or two beside a day and a month.
var (
	numericDate = pattern(`^(?:` + strings.Join([]string{
		`\d{4}[-/.]\d{1,2}(?:[-/.]\d{1,2})?(?:[ T]\d{1,2}:\d{2}.*)?`,                                                            // 2024-01-31, 2024/1, 2024-01-31T12:00Z
		`\d{1,2}[-/.]\d{1,2}[-/.](?:\d{4}|\d{2})(?:,? \d{1,2}:\d{2}.*)?`,                                                        // 31.1.2024, 1/31/24 12:00
		`\d{1,3}:\d{2}(?::\d{2}(?:[.,]\d+)?)?(?: ?[aApP]\.?[mM]\.?)?`,                                                           // 12:30, 12:30:15.5, 1:30 pm
		`\d{4}[-/ ]?(?:Q[1-4]|W\d{2}(?:-\d)?)`, `Q[1-4][-/ ]\d{4}`, `\d{4}:\d{2}:\d{2} .*`, `(?:0?[1-9]|1[0-2])/(?:19|20)\d{2}`, // 2024Q1, 2024-W05, 01/2024
		`\d{4}-\d{2}-\d{2}T\d{6}Z?`, `\d{8}T\d{6}Z?`, // 20240131T120000
	}, "|") + `)$`)
	namedDate = pattern(`^(?i:` + strings.Join([]string{
		`(?:\pL{2,10}\.?,? )?\d{1,2}\.?[- /](\pL{3,10})\.?[- ,/]+(?:\d{4}|\d{2})(?: \d{1,2}:.*)?`, // Wed, 31 Jan 2024; 31-Jan-24
		`(?:\pL{2,10}\.?,? )?(\pL{3,10})\.? \d{1,2},? \d{4}(?:,? \d{1,2}:.*)?`,                    // Jan 31, 2024
		`(\pL{3,10})\.?[- ]\d{4}`, `(\pL{3,10})-\d{2}`, `\d{1,2}-(\pL{3,10})`, // Jan 2024, Jan-24, 24-Jan
	}, "|") + `)$`)
)

// monthStarts are how the names of months begin, in the languages of the commonest tables.
var monthStarts = strings.Fields("jan feb mar apr may jun jul aug sep oct nov dec mär mai okt dez fév avr aoû déc ene abr ago dic gen mag giu lug set ott")

// anyDate reports whether a text is a date or a time.
func anyDate(s string) bool {
	if numericDate().MatchString(s) {
		return !isNumber(s, '.') // 2024.5
	}
	m := namedDate().FindStringSubmatch(s)
	if m == nil {
		return false
	}
	month := strings.ToLower(strings.Join(m[1:], "")) // one of the groups has matched
	return slices.ContainsFunc(monthStarts, func(start string) bool { return strings.HasPrefix(month, start) })
}
