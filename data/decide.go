package data

import (
	"context"
	"fmt"
	"slices"

	txt "github.com/latent-go/latent/internal/text"
)

// Reasons for which a column is no feature.
const (
	whyText      = "text"
	whyEmpty     = "empty"
	whyConstant  = "constant"
	whyCounter   = "counter"
	whyExcluded  = "excluded"
	whyUnchosen  = "not chosen"
	whyNoFeature = "not a measurement"
	whyLongID    = "identifier beyond 2^53"
)

// decide chooses the features, now that the columns are known, and describes every column.
func (l *loader) decide(ctx context.Context) error {
	l.describe()
	if err := l.checkWeight(); err != nil {
		return err
	}
	if err := l.checkDates(); err != nil {
		return err
	}
	switch {
	case l.explicit, l.n == 0:
		l.features = slices.Clone(l.chosen)
	case l.o.Categories:
		l.chooseCategories()
	case l.o.Mixed:
		l.chooseMixed()
	default:
		l.chooseDefault()
	}
	if l.positional {
		if err := l.checkWidth(); err != nil {
			return err
		}
		if err := l.typeByPlace(ctx); err != nil {
			return err
		}
	}
	for _, c := range l.features {
		l.info.Columns[c].Use, l.info.Columns[c].Why = "feature", ""
		l.info.Features = append(l.info.Features, l.cols.names[c])
		if l.o.Mixed {
			l.info.Types = append(l.info.Types, l.types[c])
			l.info.Columns[c].Type = l.types[c].String()
		}
	}
	l.advise()
	if err := l.checkCategories(); err != nil {
		return err
	}
	if err := l.checkCells(); err != nil {
		return err
	}
	if err := l.checkCounts(ctx); err != nil {
		return err
	}
	if len(l.features) == 0 {
		return fileError(l.file.name, "no column is left to work with%s", l.leftOut())
	}
	return nil
}

// leftOut is the end of a message: what the columns are that were left out.
func (l *loader) leftOut() string {
	out := ""
	for i, c := range l.info.Columns {
		if i == 8 {
			return out + ", ..."
		}
		why := c.Why
		if c.Use != "ignored" {
			why = c.Use
		}
		if i == 0 {
			out = ": "
		} else {
			out += ", "
		}
		out += fmt.Sprintf("%s (%s)", c.Name, why)
	}
	return out
}

// describe fills Info.Columns from the statistics.
func (l *loader) describe() {
	for c, name := range l.cols.names {
		s := &l.stats[c]
		col := Column{Name: name, Use: "ignored", Missing: s.missing, NonFinite: s.infinite, Numbers: s.n}
		if s.n > 0 {
			col.Min, col.Max, col.Mean, col.SD = s.min, s.max, s.mean, s.sd()
		}
		col.Kind = l.kind(s)
		switch {
		case c == l.weight:
			col.Use = "weight"
		case c == l.truth:
			col.Use = "truth"
		case c == l.sequence || c == l.time:
			col.Use = l.role(c)
		case c == l.id:
			col.Use, col.Kind = "id", "id"
		case l.excluded[c]:
			col.Why = whyExcluded
		case (l.o.Categories || l.o.Mixed) && l.isNested(c) && !l.explicit:
			col.Why = whyNested
		case slices.Contains(l.file.notFeatures, name) && !l.explicit:
			col.Why = whyNoFeature
		case l.explicit:
			col.Why = whyUnchosen
		case col.Kind == "text" && !l.o.Categories && !l.o.Mixed:
			col.Why = l.whyText(c)
		case col.Kind == "text" || col.Kind == "empty" || col.Kind == "constant":
			col.Why = col.Kind
		}
		l.info.Columns = append(l.info.Columns, col)
	}
}

// kind says what a column holds; "" if it was not looked at.
func (l *loader) kind(s *columnStats) string {
	filled := l.n - s.missing
	switch {
	case s.texts*2 > filled:
		return "text"
	case filled == 0 && l.n > 0:
		return "empty"
	case s.n == 0:
		return ""
	case s.min == s.max && s.n == filled:
		return "constant"
	case s.bits && s.n == filled:
		return "bits"
	}
	return "number"
}

// chooseDefault takes the candidates that hold numbers. Counters and constant columns are left out, but only while
// others remain.
func (l *loader) chooseDefault() {
	var counters, constants, ids []int
	for _, c := range l.chosen {
		switch col := &l.info.Columns[c]; {
		case l.wanted[c]:
			l.features = append(l.features, c)
		case col.Kind == "text" || col.Kind == "empty":
		case l.isCounter(c):
			counters = append(counters, c)
		case l.isLongID(c):
			ids = append(ids, c)
		case col.Kind == "constant":
			constants = append(constants, c)
		default:
			l.features = append(l.features, c)
		}
	}
	l.leaveOut(counters, whyCounter, "id")
	l.leaveOut(ids, whyLongID, "id")
	l.leaveOut(constants, whyConstant, "constant")
}

// leaveOut says why columns are no features; they are the features where there would be none otherwise.
func (l *loader) leaveOut(cols []int, why, kind string) {
	if len(l.features) == 0 {
		l.features = cols
		return
	}
	for _, c := range cols {
		l.info.Columns[c].Why, l.info.Columns[c].Kind = why, kind
	}
}

// isCounter reports whether a column numbers the rows: it runs 0..n-1 or 1..n over 20 rows or more, or has no name
// under a header, or is called id, index or row and its integers are all different.
func (l *loader) isCounter(c int) bool {
	s := &l.stats[c]
	switch {
	case l.cols.unnamed[c] && l.info.Header:
		return true
	case l.o.Mixed && calledCounter(l.cols.names[c]):
		return l.info.Columns[c].Kind == "text" || s.n > 0 && s.integers
	case s.n != l.n || !s.integers:
		return false
	case l.n >= 20 && (s.from0 && s.first == 0 || s.from1 && s.first == 1) && s.rising:
		return true
	case !calledCounter(l.cols.names[c]):
		return false
	case s.rising:
		return true
	case l.o.Categories:
		d := l.dict(c)
		return d.full.Load() || int64(d.count()) == l.n
	}
	v := l.named[c]
	slices.Sort(v)
	for i := 1; i < len(v); i++ {
		if v[i] == v[i-1] {
			return false
		}
	}
	return true
}

// checkWidth takes the columns of a model by position: their number must be the model's, with or without counters
// and constants.
func (l *loader) checkWidth() error {
	want := len(l.o.Exact)
	words := l.o.Categories || l.o.Mixed
	if len(l.features) == want && !words {
		return nil
	}
	var all []int
	for _, c := range l.chosen {
		if k := l.info.Columns[c].Kind; (k != "text" || words) && k != "empty" || l.n == 0 {
			all = append(all, c)
		}
	}
	if l.keepsGaps() && len(l.chosen) == want {
		all = l.chosen // some may be empty
	}
	if len(all) != want && len(l.features) == want {
		return nil // the looks of the values told which ones they are
	}
	if len(all) != want {
		noun := "number column"
		if words {
			noun = "column"
		}
		return fileError(l.file.name, "it has %s without names, but the model has %d: they cannot be told apart",
			counted(int64(len(all)), noun), want)
	}
	l.features = all
	return nil
}

// checkWeight refuses weights that are no weights.
func (l *loader) checkWeight() error {
	if l.weight < 0 || l.n == 0 {
		return nil
	}
	name, s := l.cols.names[l.weight], &l.stats[l.weight]
	at := func(p spot, msg string) error {
		return &Error{File: l.file.name, Line: p.Line, Row: p.Row, Column: name, Msg: msg}
	}
	switch {
	case s.texts > 0:
		return at(s.firstText, fmt.Sprintf("%q is not a number; a weight must be", s.firstText.Value))
	case s.infinite > 0:
		return at(s.firstInfinite, fmt.Sprintf("%q is not a finite number; a weight must be", s.firstInfinite.Value))
	case s.n > 0 && s.min < 0:
		return at(spot{Row: l.rowOf(s.minRow) + 1, Line: s.minLine}, fmt.Sprintf("%v is negative; a weight must not be", s.min))
	case s.n > 0 && s.max == 0:
		return columnError(l.file.name, name, "all weights are 0")
	case s.n == 0:
		return columnError(l.file.name, name, "there is no weight in it")
	}
	return nil
}

// checkCells refuses the first cell of a feature that no mode can take: text or an infinite number.
func (l *loader) checkCells() error {
	var worst *Error
	consider := func(c int, p spot, msg string) {
		if p.Row > 0 && (worst == nil || p.Row < worst.Row) {
			worst = &Error{File: l.file.name, Line: p.Line, Row: p.Row, Column: l.cols.names[c], Msg: msg}
		}
	}
	for _, c := range l.features {
		if l.isCategory(c) {
			continue
		}
		s, name, what := &l.stats[c], l.cols.names[c], "number"
		if l.types[c] == Count {
			what = aCount
		}
		if t := l.file.text; t != nil && !t.header && s.firstText.Row == 1 {
			consider(c, s.firstText, fmt.Sprintf("%q is not a %s; if line %d holds names, use --header yes", s.firstText.Value, what, s.firstText.Line))
		}
		consider(c, s.firstText, fmt.Sprintf("%q is not a %s%s%s", s.firstText.Value, what, l.howWritten(s.firstText.Value), l.otherwise(c, s.firstText.Value)))
		consider(c, s.firstInfinite, fmt.Sprintf("%q is not a finite number%s", s.firstInfinite.Value, l.without("; use", name)))
	}
	if worst != nil {
		return worst
	}
	return l.checkSingle()
}

// gap is a column with cells that have no value, and how many.
type gap struct {
	column int
	cells  int64
}

// without is the advice to leave a column out, which those who need exactly these columns cannot follow.
func (l *loader) without(lead, column string) string {
	if l.o.Exact != nil {
		return ""
	}
	return lead + " --exclude " + txt.ShellWord(column)
}
