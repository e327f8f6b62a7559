package data

import (
	"math"
	"slices"
	"strings"

	txt "github.com/latent-go/latent/internal/text"
)

// Limits of what float32 may lose before it is said.
const (
	singleRows  = 1 << 16 // the first rows of the file, whose distinct values are counted
	singleCells = 1 << 20 // fewer rows where columns are many: 8 MB
	lostValues  = 0.01    // share of the distinct values that become equal to another one
	lostSpread  = 0.01    // error of a cell, in standard deviations of the column
)

// single keeps the first values of every candidate as float64, to see what float32 makes of them. It sees them in the pass
// that measures the columns, so that it costs no pass of its own, and a copy of them alone.
type single struct {
	rows   int64
	values [][]float64 // by candidate; NaN for no value
}

// newSingle makes room; nil where rows are not stored as float32, are float32 in the file, or are not read here.
func (l *loader) newSingle() *single {
	if _, elsewhere := l.file.cells.(*pieceFile); elsewhere || !l.o.Float32 || l.isSingle || l.o.Categories || len(l.chosen) == 0 { // levels are few
		return nil
	}
	s := &single{rows: min(l.n, singleRows, max(1, singleCells/int64(len(l.chosen)))), values: make([][]float64, len(l.chosen))}
	for j := range s.values {
		s.values[j] = make([]float64, s.rows)
	}
	return s
}

// put keeps the values of a batch. Batches have different rows.
func (s *single) put(b *batch, p *plan, chosen []int) {
	if s == nil || b.First >= s.rows {
		return
	}
	n := int(min(s.rows-b.First, int64(b.N)))
	for j, c := range chosen {
		if p.number[c] < 0 {
			continue // read in another pass
		}
		gather(s.values[j][b.First:], b.F64, n, p.numbers, []int{p.number[c]})
	}
}

// checkSingle refuses features that float32 cannot hold, and names those of which it loses something.
func (l *loader) checkSingle() error {
	if !l.o.Float32 || l.isSingle {
		return nil
	}
	var merged, spread []string
	for _, c := range l.features {
		s, name := &l.stats[c], l.cols.names[c]
		if s.n == 0 || l.isCategory(c) {
			continue
		}
		for _, v := range []float64{s.min, s.max} {
			if math.IsInf(float64(float32(v)), 0) {
				return columnError(l.file.name, name, "%v is too large for float32; leave out --float32, or --exclude %s", v, txt.ShellWord(name))
			}
		}
		if s.min < s.max && float32(s.min) == float32(s.max) {
			return columnError(l.file.name, name, "its numbers, %v to %v, are one and the same as float32; leave out --float32, or --exclude %s", s.min, s.max, txt.ShellWord(name))
		}
		switch before, after := l.distinctSingle(c); {
		case float64(before-after) > lostValues*float64(before):
			merged = append(merged, name)
		case halfStep(s) > lostSpread*s.sd():
			spread = append(spread, name)
		}
	}
	for _, m := range []struct {
		names      []string
		what, many string
	}{{merged, "has different values that become equal as float32", "have different values that become equal as float32"},
		{spread, "is rounded by more than a hundredth of its spread as float32", "are rounded by more than a hundredth of their spread as float32"}} {
		switch n := len(m.names); n {
		case 0:
		case 1:
			l.warn("column %q %s; leave out --float32, or --exclude %s", m.names[0], m.what, txt.ShellWord(m.names[0]))
		default:
			l.warn("columns %s %s; leave out --float32, or --exclude %s", quotedList(m.names, 6), m.many, txt.ShellWord(strings.Join(m.names, ",")))
		}
	}
	return nil
}

// halfStep is the largest error of a cell as float32.
func halfStep(s *columnStats) float64 {
	v := float32(math.Max(math.Abs(s.min), math.Abs(s.max)))
	return float64(math.Nextafter32(v, math.MaxFloat32)-v) / 2
}

// distinctSingle counts the distinct values of a candidate in the first rows, as float64 and as float32.
func (l *loader) distinctSingle(c int) (before, after int) {
	if l.single == nil {
		return 0, 0
	}
	v := l.single.values[slices.Index(l.chosen, c)]
	slices.Sort(v) // NaN comes first
	for i, x := range v {
		if x != x || i > 0 && x == v[i-1] {
			continue
		}
		before++
		if i == 0 || float32(x) != float32(v[i-1]) {
			after++
		}
	}
	return before, after
}
