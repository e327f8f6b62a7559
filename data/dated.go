package data

import (
	"context"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
)

// dated stands between a file and its reader: cells of columns of dates are read as text, and handed on as days since 1970-01-01.
type dated struct {
	cells
	order []string // of day and month by column of the file, "" for one that holds no dates
	na    *naTexts
}

// read implements cells.
func (d *dated) read(ctx context.Context, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	p := newWorded(wants, func(j int) bool { return d.order[j] != "" })
	if p.words == nil {
		return d.cells.read(ctx, wants, ordered, threads, yield)
	}
	workers := sync.Pool{New: func() any {
		w := &dateWorker{worded: p, na: d.na, parser: make([]DateParser, len(p.words))}
		for i, j := range p.words {
			w.parser[i].Order = d.order[j]
		}
		return w
	}}
	return d.cells.read(ctx, p.below, ordered, threads, func(b *batch) error {
		w := workers.Get().(*dateWorker)
		defer workers.Put(w)
		w.set(b)
		return yield(&w.out)
	})
}

// dateWorker turns batches into batches.
type dateWorker struct {
	*worded
	na     *naTexts
	parser []DateParser // by place among words
	out    batch
}

// set sets w.out to b with days in place of dates.
func (w *dateWorker) set(b *batch) {
	out, nums := &w.out, w.up.numbers
	out.First, out.N, out.Line = b.First, b.N, b.Line
	out.F64, out.Bad = resized(out.F64, b.N*nums), append(out.Bad[:0], b.Bad...)
	for i := range b.N {
		for at, j := range w.words {
			v, bad := w.date(&w.parser[at], w.word(b, i, j))
			if at := w.up.number[j]; at >= 0 {
				out.F64[i*nums+at] = v
			}
			if v != v {
				bad.Row, bad.Column = b.First+int64(i), j
				if b.Line != nil {
					bad.Line = b.Line[i]
				}
				out.Bad = append(out.Bad, bad)
			}
		}
		for _, j := range w.plain {
			out.F64[i*nums+w.up.number[j]] = b.F64[i*w.down.numbers+w.down.number[j]]
		}
	}
	sortBad(out.Bad)
	w.pass(out, b)
}

// date returns the days of a cell, or NaN and what it is instead.
func (w *dateWorker) date(p *DateParser, cell string) (float64, badCell) {
	cell = strings.Trim(cell, " \t\r\n")
	if _, kind, ok := classify([]byte(cell), '.', w.na); !ok && kind == missingCell {
		return math.NaN(), badCell{Kind: missingCell, Value: cut(cell)}
	}
	if days, ok := p.Parse(cell); ok {
		return days, badCell{}
	}
	return math.NaN(), badCell{Kind: textCell, Value: cut(cell)}
}

// readDates has the columns of Options.Dates read as such. Where those of a model are met by position, so are they.
func (l *loader) readDates() error {
	if len(l.o.Dates) == 0 {
		return nil
	}
	l.dates = make([]string, len(l.cols.names))
	for _, column := range l.o.Dates {
		name := column.Name
		c, ok := l.cols.lookUp(name)
		if at := slices.Index(l.o.Exact, name); !ok && at >= 0 && len(l.o.Exact) == len(l.dates) {
			c, ok = at, true
		}
		if !ok {
			return l.cols.unknown(name)
		}
		if l.dates[c] = column.Order; l.dates[c] == "" {
			l.dates[c] = "date"
		}
	}
	l.cells = &dated{cells: l.cells, order: l.dates, na: l.na}
	return nil
}

// isDate reports whether a column is one of dates.
func (l *loader) isDate(c int) bool { return l.dates != nil && l.dates[c] != "" }

// aDate is what a cell of a column of dates is.
const aDate = "date such as 2024-01-31 or 2024-01-31T12:30:00Z"

// otherOrder says which changes of scale read the first text of column c that is no date, where they can still be chosen.
func (l *loader) otherOrder(c int) string {
	if l.o.Exact != nil { // a model has chosen
		return ""
	}
	var told []string
	for _, order := range ordersOf(l.stats[c].firstText.Value) {
		told = append(told, fmt.Sprintf("%s:%s (%s)", order, ChangeName(l.cols.names[c]), map[string]string{"date": "any order", "dmy": "day first", "mdy": "month first"}[order]))
	}
	if told == nil {
		return ""
	}
	return "; --transform " + strings.Join(told, " or ") + " reads it"
}

// checkDates refuses the first cell that is no date, in a column that nobody would know for one of dates otherwise.
func (l *loader) checkDates() error {
	for c := range l.dates {
		if s := &l.stats[c]; l.dates[c] != "" && s.firstText.Row > 0 {
			return &Error{File: l.file.name, Line: s.firstText.Line, Row: s.firstText.Row, Column: l.cols.names[c], Msg: fmt.Sprintf("%q is not a %s%s", s.firstText.Value, aDate, l.otherOrder(c))}
		}
	}
	return nil
}
