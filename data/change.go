package data

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
)

// A Change puts columns on another scale before they are fitted: log, log1p, sqrt and logit each of the columns by itself; date, dmy and mdy
// count days from an origin (see DateColumn); geo makes of a latitude and a longitude in degrees the point of the unit sphere.
type Change struct {
	Kind    string   // one of ChangeKinds
	Columns []string // by name; of geo the latitude and the longitude
	Origin  float64  // of dates: the day that becomes 0, in days since 1970-01-01
}

// ChangeKinds returns the names that a change may have.
func ChangeKinds() []string {
	return []string{"log", "log1p", "sqrt", "logit", "date", "dmy", "mdy", "geo"}
}

// Dated reports whether columns are dates.
func (c *Change) Dated() bool { return c.Kind == "date" || c.Kind == "dmy" || c.Kind == "mdy" }

// ParseChanges reads 'log:price,area; sqrt:n; date:when; geo:lat,lon': kinds with their columns, separated by semicolons. A name
// with a comma or a semicolon in it stands in quotes. Columns may be there once only.
func ParseChanges(s string) ([]Change, error) {
	var list []Change
	for _, item := range splitOutsideQuotes(s, ';') {
		kind, names, ok := strings.Cut(item, ":")
		kind = strings.TrimSpace(kind)
		switch {
		case strings.TrimSpace(item) == "":
			continue
		case !ok:
			return nil, fmt.Errorf("%q is not a scale and its columns, such as log:price,area", strings.TrimSpace(item))
		case !slices.Contains(ChangeKinds(), kind):
			return nil, fmt.Errorf("%q is not known; choose one of %s", kind, strings.Join(ChangeKinds(), ", "))
		}
		if strings.TrimSpace(names) == "" {
			return nil, fmt.Errorf("%s names no column", kind)
		}
		fields, err := changeColumns(names)
		if err != nil {
			return nil, fmt.Errorf("%q is not a list of columns, such as %s:price,area", strings.TrimSpace(names), kind)
		}
		if err := (&Change{Kind: kind, Columns: fields}).check(); err != nil {
			return nil, err
		}
		list = append(list, Change{Kind: kind, Columns: fields})
	}
	if list == nil {
		return nil, errors.New("is empty; name scales and their columns, such as log:price,area")
	}
	return list, checkTwice(list)
}

// splitOutsideQuotes cuts s at each sep that stands in no quotes.
func splitOutsideQuotes(s string, sep rune) (parts []string) {
	quoted, from := false, 0
	for i, r := range s {
		switch {
		case r == '"':
			quoted = !quoted
		case r == sep && !quoted:
			parts, from = append(parts, s[from:i]), i+1
		}
	}
	return append(parts, s[from:])
}

// changeColumns reads a list of names with commas between.
func changeColumns(list string) (names []string, err error) {
	for _, name := range splitOutsideQuotes(list, ',') {
		if name = strings.TrimSpace(name); strings.HasPrefix(name, `"`) {
			if len(name) < 2 || !strings.HasSuffix(name, `"`) {
				return nil, errors.New("a quote is not closed")
			}
			name = strings.ReplaceAll(name[1:len(name)-1], `""`, `"`)
		}
		if name == "" {
			return nil, errors.New("a name is empty")
		}
		names = append(names, name)
	}
	return names, nil
}

// ChangeName writes the name of a column as ParseChanges reads it: in quotes where that is needed.
func ChangeName(name string) string {
	if name == "" || strings.TrimSpace(name) != name || strings.ContainsAny(name, "\",;") {
		return `"` + strings.ReplaceAll(name, `"`, `""`) + `"`
	}
	return name
}

// check wants a known kind with as many columns as it takes.
func (c *Change) check() error {
	switch {
	case !slices.Contains(ChangeKinds(), c.Kind):
		return fmt.Errorf("%q is not known; choose one of %s", c.Kind, strings.Join(ChangeKinds(), ", "))
	case len(c.Columns) == 0:
		return fmt.Errorf("%s names no column", c.Kind)
	case c.Kind == "geo" && len(c.Columns) != 2:
		return fmt.Errorf("geo takes two columns, latitude and longitude, such as geo:lat,lon; it has %d", len(c.Columns))
	case c.Dated() && !(c.Origin >= firstDay && c.Origin <= lastDay):
		return fmt.Errorf("%s has an origin outside of the years 1 to 9999", c.Kind)
	}
	return nil
}

// checkTwice refuses a column that is named twice.
func checkTwice(list []Change) error {
	seen := map[string]bool{}
	for _, c := range list {
		for _, name := range c.Columns {
			if seen[name] {
				return fmt.Errorf("names column %q twice; a column can be put on one scale", name)
			}
			seen[name] = true
		}
	}
	return nil
}

// curve is a scale of single numbers.
type curve struct {
	to, back func(float64) float64
	logSlope func(float64) float64 // logarithm of the derivative of to
	takes    func(float64) bool
	refuses  string // what is said of a number that it does not take
}

// curves are the scales of single numbers. sqrt has no finite slope at 0: there a density counts on the scale of the root.
var curves = map[string]*curve{
	"log": {math.Log, math.Exp, func(v float64) float64 { return -math.Log(v) },
		func(v float64) bool { return v > 0 }, "has no logarithm: log takes numbers above 0"},
	"log1p": {math.Log1p, math.Expm1, func(v float64) float64 { return -math.Log1p(v) },
		func(v float64) bool { return v > -1 }, "is not above -1, as log1p needs"},
	"sqrt": {math.Sqrt, func(y float64) float64 { return y * y }, func(v float64) float64 {
		if v == 0 {
			return 0
		}
		return -math.Ln2 - math.Log(v)/2
	}, func(v float64) bool { return v >= 0 }, "is below 0 and has no square root"},
	"logit": {func(v float64) float64 { return math.Log(v) - math.Log1p(-v) }, func(y float64) float64 { return 1 / (1 + math.Exp(-y)) },
		func(v float64) float64 { return -math.Log(v) - math.Log1p(-v) },
		func(v float64) bool { return v > 0 && v < 1 }, "is not between 0 and 1, as logit needs"},
}

// Changes are changes of the columns of a table, ready for its rows. They may be used by several goroutines at once.
type Changes struct {
	list    []Change
	columns []string // before
	names   []string // after
	taken   map[string]bool
	steps   []step
}

// step is what becomes of a column, or of two.
type step struct {
	kind   string // "" for a column that stays
	curve  *curve // nil without one
	origin float64
	at     int // the column, or the latitude
	other  int // the longitude
	to     int // the first column after; geo has three
}

// geoWidth is how many coordinates a place has.
const geoWidth = 3

// Bind looks the columns of changes up among those of a table. A name that is not there is an error, as is one that is there twice.
func Bind(list []Change, columns []string) (*Changes, error) {
	c := &Changes{list: list, columns: columns, taken: make(map[string]bool, len(columns))}
	of := make([]*Change, len(columns))
	partner := make([]int, len(columns))
	if err := checkTwice(list); err != nil {
		return nil, err
	}
	for i := range list {
		if err := list[i].check(); err != nil {
			return nil, err
		}
		var at []int
		for _, name := range list[i].Columns {
			j := slices.Index(columns, name)
			if j < 0 {
				const show = 4
				return nil, fmt.Errorf("names column %q, which is not among those that are fitted; the nearest names are %s", name, strings.Join(Nearest(name, columns, show), ", "))
			}
			of[j], at = &list[i], append(at, j)
		}
		if list[i].Kind == "geo" {
			partner[at[0]], partner[at[1]] = at[1], at[0]
		}
	}
	for j := range columns {
		c.add(of[j], j, partner[j])
	}
	return c, nil
}

// add makes the step of column j.
func (c *Changes) add(of *Change, j, other int) {
	s := step{at: j, to: len(c.names)}
	switch {
	case of == nil:
		c.name(c.columns[j])
	case of.Kind != "geo":
		s.kind, s.curve, s.origin = of.Kind, curves[of.Kind], of.Origin
		if of.Dated() {
			s.kind = "date"
		}
		c.name(s.kind + " " + c.columns[j])
	case other < j:
		return // its partner had made the step
	default:
		s.kind, s.at, s.other = "geo", slices.Index(c.columns, of.Columns[0]), slices.Index(c.columns, of.Columns[1])
		for _, axis := range []string{"x", "y", "z"} {
			c.name(axis + " of " + strings.Join(of.Columns, ","))
		}
	}
	c.steps = append(c.steps, s)
}

// name adds the name of a column after the changes, one of its own.
func (c *Changes) name(name string) {
	own := name
	for n := 2; c.taken[name]; n++ {
		name = fmt.Sprintf("%s_%d", own, n)
	}
	c.taken[name] = true
	c.names = append(c.names, name)
}
