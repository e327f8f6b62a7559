package data

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
	"unicode"
)

// Days are counted from 1970-01-01, as Unix time is; these are the first and the end of the last that a date may be.
const (
	firstDay = -719162.0 // 0001-01-01
	lastDay  = 2932897.0 // after 9999-12-31
)

// DateColumn is a column of dates.
type DateColumn struct {
	Name string
	// Order is that of day and month in dates of three numbers of which the year comes last, such as 1/2/2024: dmy or mdy. Without one,
	// "" or "date", such dates are refused, but for those with points between, which have the day first.
	Order string
}

// DatesOf returns the columns of changes that are dates.
func DatesOf(list []Change) (dates []DateColumn) {
	for _, c := range list {
		if !c.Dated() {
			continue
		}
		for _, name := range c.Columns {
			dates = append(dates, DateColumn{name, c.Kind})
		}
	}
	return dates
}

// dateForms are the texts that are read as dates, by the order of day and month: ISO 8601, apart or without separators, with a blank for the
// T too, and forms in which no two readers take another number for the day: days before months with points between, and months by their names. Years of two digits, which a known order makes readable, are those from 1969 to 2068, as POSIX has them.
var dateForms = sync.OnceValue(func() map[string][]string {
	return map[string][]string{
		"date": dateLayouts("2.1.2006"),
		"dmy":  dateLayouts("2.1.2006", "2/1/2006", "2-1-2006", "2.1.06", "2/1/06", "2-1-06"),
		"mdy":  dateLayouts("1/2/2006", "1-2-2006", "1.2.2006", "1/2/06", "1-2-06", "1.2.06"),
	}
})

// dateLayouts returns the layouts of dates, some of them given, with and without times.
func dateLayouts(days ...string) (layouts []string) {
	days = append([]string{"2006-1-2", "2006/1/2", "2006.1.2", "20060102"}, days...)
	days = append(days, "2 January 2006", "2 Jan 2006", "2. January 2006", "2. Jan 2006", "2-Jan-2006", "2/Jan/2006", "2 Jan 06", "2-Jan-06", "2/Jan/06", "January 2, 2006", "Jan 2, 2006", "January 2 2006", "Jan 2 2006", "2006年1月2日", "2006년 1월 2일", "2006년1월2일")
	clocks := []string{"", "T15:04:05", " 15:04:05", "T15:04", " 15:04", "T150405", "T15", " 3:04:05 PM", " 3:04 PM", ", 15:04:05", ", 15:04", ", 3:04 PM", ":15:04:05"}
	zones := []string{"", "Z07:00", "-0700", "-07", " Z07:00", " -0700"}
	for _, day := range days {
		for _, clock := range clocks {
			for _, zone := range zones {
				if clock != "" || zone == "" {
					layouts = append(layouts, day+clock+zone)
				}
			}
		}
	}
	return append(layouts, "Jan 2 15:04:05 2006", "2006-01", "2006/1", "2006-002", "01/2006", "1/2006", "January 2006", "Jan 2006", "Jan-2006", "2006年1月", "2006년 1월", "2006:01:02 15:04:05")
}

// ParseDate returns a date, or a date and a time, as days since the beginning of 1970-01-01: 2024-01-31 or 2024-01-31T12:30:00Z, as ISO 8601 has them,
// 31.1.2024, 31 Jan 2024, 31. Januar 2024, Jan 31, 2024, or Wed, 31 Jan 2024 12:30:00 GMT. A month, a week (2024-W05) and a quarter (2024-Q1) are their first day. A time
// without a zone is one of UTC. order is that of DateColumn.
func ParseDate(s, order string) (days float64, ok bool) {
	return (&DateParser{Order: order}).Parse(s)
}

// isDate reports whether s is a date in some order of day and month.
func isDate(s string) bool { return len(ordersOf(s)) > 0 }

// ordersOf returns the orders of day and month, of those that Change has kinds for, in which s is a date; date alone where it needs none.
func ordersOf(s string) (orders []string) {
	if s = visible(s); !anyDate(s) && !moreDates().MatchString(s) {
		return nil
	}
	if _, ok := ParseDate(s, "date"); ok {
		return []string{"date"}
	}
	for _, order := range []string{"dmy", "mdy"} {
		if _, ok := ParseDate(s, order); ok {
			orders = append(orders, order)
		}
	}
	return orders
}

// dateKinds returns the kinds of Change that read all of texts: one, or dmy and mdy where nothing tells them apart; none where some text is no date.
func dateKinds(texts []string) []string {
	kinds := []string{"date", "dmy", "mdy"}
	for _, s := range texts {
		orders := ordersOf(s)
		if slices.Contains(orders, "date") { // in any order
			continue
		}
		kinds = slices.DeleteFunc(kinds, func(k string) bool { return !slices.Contains(orders, k) })
	}
	if slices.Contains(kinds, "date") {
		return kinds[:1]
	}
	return kinds
}

// DateParser parses the dates of a column as ParseDate does. It tries the form of the date before first: a column has one form as a rule, and to
// try all takes a thousand times as long. It is for one goroutine at a time.
type DateParser struct {
	Order string // of day and month, as in DateColumn
	way   dateWay
	last  int // the form, of forms that time.Parse knows
}

// dateWay is what is done to a text before its form is looked up.
type dateWay int

const (
	dateAsItStands dateWay = iota
	dateRewritten
	dateFirstDay // a quarter or a week, which has no form
	dateWays
)

// What may stand before and behind a date, and is told another way.
var (
	weekday  = pattern(`^(?i:mon|tue|tues|wed|wednes|thu|thur|thurs|fri|sat|satur|sun)(?i:day)?\.?,? +`)
	inUTC    = pattern(` (?:GMT|UTC)$`)
	halfDay  = pattern(` ?([aApP])\.?[mM]\.?$`)
	manyGaps = pattern(`  +`)
	monthly  = pattern(`\pL{3,}\.?`)
	quarter  = pattern(`^(?:(\d{4})[-/ ]?Q([1-4])|Q([1-4])[-/ ](\d{4}))$`)
	week     = pattern(`^(\d{4})-?W(\d{2})(?:-?([1-7]))?$`)
)

// Parse returns the days since 1970-01-01 of a date.
func (p *DateParser) Parse(s string) (days float64, ok bool) {
	s = strings.TrimSpace(s)
	if s == "" || !strings.ContainsFunc(s, unicode.IsDigit) {
		return 0, false
	}
	forms := dateForms()[cmp.Or(p.Order, "date")]
	if days, ok = p.by(p.way, s, forms[p.last:p.last+1]); ok {
		return days, true
	}
	for way := range dateWays {
		if days, ok = p.by(way, s, forms); ok {
			return days, true
		}
	}
	return 0, false
}

// by parses a date in one way, in one of some forms of the column's order.
func (p *DateParser) by(way dateWay, s string, forms []string) (days float64, ok bool) {
	if way == dateFirstDay {
		if days, ok = firstOf(s); ok {
			p.way = way
		}
		return days, ok
	}
	if way == dateRewritten {
		plain := rewrittenDate(s)
		if plain == s {
			return 0, false
		}
		s = plain
	}
	for at, form := range forms {
		if t, err := time.Parse(form, s); err == nil {
			if p.way = way; len(forms) > 1 {
				p.last = at
			}
			return inYears(t)
		}
	}
	return 0, false
}

// months has the beginnings of names of months that are not those of English, and the English names.
var months = map[string]string{"mär": "Mar", "mai": "May", "okt": "Oct", "dez": "Dec", "fév": "Feb", "avr": "Apr", "aoû": "Aug", "déc": "Dec", "ene": "Jan", "abr": "Apr", "ago": "Aug",
	"dic": "Dec", "gen": "Jan", "mag": "May", "giu": "Jun", "lug": "Jul", "set": "Sep", "ott": "Oct"}

// inEnglish returns the name of a month in English, cut to three letters, and other words as they are.
func inEnglish(word string) string {
	letters := []rune(strings.ToLower(word))
	start := string(letters[:3])
	if m, ok := months[start]; ok {
		return m
	}
	if slices.Contains(monthStarts, start) {
		return strings.ToUpper(start[:1]) + start[1:]
	}
	return word
}

// rewrittenDate returns a date without its weekday, with its month in English, in UTC as ISO 8601 has it, and with the halves of a day in capitals.
func rewrittenDate(s string) string {
	s = weekday().ReplaceAllString(manyGaps().ReplaceAllString(s, " "), "")
	s = inUTC().ReplaceAllString(monthly().ReplaceAllStringFunc(s, inEnglish), "Z")
	if m := halfDay().FindStringSubmatchIndex(s); m != nil {
		s = s[:m[0]] + " " + strings.ToUpper(s[m[2]:m[3]]) + "M"
	}
	return s
}

// firstOf returns the first day of a quarter or of a week (ISO 8601).
func firstOf(s string) (days float64, ok bool) {
	number := func(s string) int {
		n, _ := strconv.Atoi(s) // "" is 0
		return n
	}
	if m := quarter().FindStringSubmatch(s); m != nil {
		year, q := number(m[1]+m[4]), number(m[2]+m[3])
		return inYears(time.Date(year, time.Month(3*q-2), 1, 0, 0, 0, 0, time.UTC))
	}
	if m := week().FindStringSubmatch(s); m != nil {
		year, n, day := number(m[1]), number(m[2]), max(number(m[3]), 1)
		fourth := time.Date(year, 1, 4, 0, 0, 0, 0, time.UTC) // always in week 1
		monday := fourth.AddDate(0, 0, -(int(fourth.Weekday())+6)%7)
		t := monday.AddDate(0, 0, 7*(n-1)+day-1)
		if y, w := t.ISOWeek(); y == year && w == n {
			return inYears(t)
		}
	}
	return 0, false
}

// inYears returns the days of t, where they are those of a date.
func inYears(t time.Time) (days float64, ok bool) {
	days = daysOf(t)
	return days, days >= firstDay && days < lastDay
}

const (
	secondsADay = 86400
	nanosADay   = secondsADay * 1e9
)

// daysOf returns the days since 1970-01-01.
func daysOf(t time.Time) float64 {
	sec := t.Unix()
	day := math.Floor(float64(sec) / secondsADay)
	return day + (float64(sec-int64(day)*secondsADay)*1e9+float64(t.Nanosecond()))/nanosADay
}

// FormatDate writes days since 1970-01-01 as a date, 2024-01-31, with the time in UTC where it is not midnight, to a second:
// 2024-01-31T12:30:00Z. What lies outside of the years 1 to 9999 is written as a number of days.
func FormatDate(days float64) string {
	seconds := math.Round(days * secondsADay)
	if !(seconds >= firstDay*secondsADay && seconds < lastDay*secondsADay) {
		return fmt.Sprintf("day %s of 1970", floatText(days, 64))
	}
	t := time.Unix(int64(seconds), 0).UTC()
	if math.Mod(seconds, secondsADay) == 0 {
		return t.Format("2006-01-02")
	}
	return t.Format("2006-01-02T15:04:05Z")
}

// DateText writes days since 1970-01-01 as FormatDate does, and where rows lie in a range of width days, or where that is 0 and not known, to what tells them
// apart: to the day from ten days on.
func DateText(days, width float64) string {
	const toTheDay = 10
	if !(width > 0 && width < toTheDay) {
		days = math.Round(days)
	}
	return FormatDate(days)
}
