package data

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// Days are counted from 1970-01-01, as Unix time is; these are the first and the end of the last that a date may be.
const (
	firstDay = -719162.0 // 0001-01-01
	lastDay  = 2932897.0 // after 9999-12-31
)

// dateForms are the texts that are read as dates: ISO 8601, apart or without separators, with a blank for the T too, and forms in which
// no two readers take another number for the day: days before months with points between, and months by their English names.
var dateForms = dateLayouts()

func dateLayouts() (layouts []string) {
	days := []string{"2006-1-2", "2006/1/2", "2.1.2006", "2 January 2006", "2 Jan 2006", "2-Jan-2006", "January 2, 2006", "Jan 2, 2006", "20060102"}
	times := []string{"", "T15:04:05", " 15:04:05", "T15:04", " 15:04", "T150405"}
	zones := []string{"", "Z07:00", "-0700", "-07", " Z07:00"}
	for _, day := range days {
		for _, clock := range times {
			for _, zone := range zones {
				if clock != "" || zone == "" {
					layouts = append(layouts, day+clock+zone)
				}
			}
		}
	}
	return append(layouts, "2006-01", "2006-002")
}

// ParseDate returns a date, or a date and a time, as days since the beginning of 1970-01-01: 2024-01-31 or 2024-01-31T12:30:00Z, as ISO 8601 has them,
// 31.1.2024, 31 Jan 2024 or Jan 31, 2024. A time without a zone is one of UTC.
func ParseDate(s string) (days float64, ok bool) { return new(dateParser).parse(s) }

// isDate reports whether s is a date for ParseDate.
func isDate(s string) bool {
	_, ok := ParseDate(s)
	return ok
}

// dateParser tries the form of the date before it first: a column has one form as a rule.
type dateParser struct{ last int }

func (p *dateParser) parse(s string) (days float64, ok bool) {
	s = strings.TrimSpace(s)
	for n := -1; n < len(dateForms); n++ {
		at := n
		if n < 0 {
			at = p.last
		}
		if t, err := time.Parse(dateForms[at], s); err == nil {
			p.last, days = at, daysOf(t)
			return days, days >= firstDay && days < lastDay
		}
	}
	return 0, false
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
