package data

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// Reasons for which a column is no category.
const (
	whyIdentifier = "identifier"
	whyDifferent  = "mostly different values"
	whyFractions  = "fractions"
	whyNested     = "lists or groups"
)

var (
	whyMany     = "over " + thousands(maxLevels) + " different values"
	whyNumerous = fmt.Sprintf("over %d different numbers", maxNumbers)
)

const (
	// maxNumbers is how many different whole numbers a column of categories has unless it is named: ages and counts
	// have more, codes and grades fewer.
	maxNumbers = 50
	// fewRows is the number of filled cells below which a column of different values may yet be one of categories.
	fewRows = 20
)

// chooseCategories takes the candidates that are categories by their looks:
//
//   - columns of text, unless more than half of 20 or more filled cells are different (names, identifiers);
//   - columns of whole numbers, 0 and 1 included, with at most 50 different ones, under the same condition.
//
// Columns with fractions or more than 10,000 different values are left out, and, while others remain, counters and
// constant columns. In a built-in set, numbers that are no measurements are no categories either.
func (l *loader) chooseCategories() {
	var counters, constants []int
	for _, c := range l.chosen {
		col := &l.info.Columns[c]
		switch why := l.whyNoCategory(c); {
		case col.Kind == "empty":
		case l.isCounter(c):
			counters = append(counters, c)
		case why == whyConstant:
			constants = append(constants, c)
		case why != "":
			col.Why = why
		default:
			l.features = append(l.features, c)
		}
	}
	l.leaveOut(counters, whyCounter, "id")
	l.leaveOut(constants, whyConstant, "constant")
}

// whyNoCategory is the reason for which a column is left out unless it is named; "" for a column of categories.
func (l *loader) whyNoCategory(c int) string {
	d, s := l.dict(c), &l.stats[c]
	isText := l.info.Columns[c].Kind == "text"
	filled, levels := l.n-s.missing, int64(d.count())
	switch {
	case !isText && slices.Contains(l.file.notFeatures, l.cols.names[c]):
		return whyNoFeature
	case d.full.Load():
		return whyMany
	case levels == 1:
		return whyConstant
	case !isText && !s.integers:
		return whyFractions
	case !isText && levels > maxNumbers:
		return whyNumerous
	case filled >= fewRows && levels == filled:
		return whyIdentifier
	case filled >= fewRows && levels*2 > filled:
		return whyDifferent
	}
	return ""
}

// isNested reports whether a column holds lists or groups.
func (l *loader) isNested(c int) bool {
	n, ok := l.file.cells.(nested)
	return ok && n.nested(c)
}

// checkCategories refuses features that cannot be categories: those with too many levels, and infinite numbers among
// numbers.
func (l *loader) checkCategories() error {
	if l.o.Levels != nil {
		return nil // what a model does not know is refused later, in other words
	}
	var worst *Error
	for _, c := range l.categoriesOf(l.features) {
		s, name := &l.stats[c], l.cols.names[c]
		if l.dict(c).full.Load() {
			return columnError(l.file.name, name, "it has more than %s different values, too many for categories%s, or put them in groups first",
				thousands(maxLevels), l.without("; use", name))
		}
		if p := s.firstInfinite; s.texts == 0 && p.Row > 0 && (worst == nil || p.Row < worst.Row) {
			worst = &Error{File: l.file.name, Line: p.Line, Row: p.Row, Column: name,
				Msg: fmt.Sprintf("%q is not a finite number%s", p.Value, l.without("; use", name))}
		}
	}
	if worst != nil {
		return worst
	}
	return nil
}

// checkLevels refuses the first cell whose level the model does not know.
func (l *loader) checkLevels(ctx context.Context, sets []*levelSet, seen [][]bool) error {
	known, full := true, -1
	for j, c := range l.features {
		d := l.dict(c)
		if d == nil {
			continue
		}
		for i := range d.words {
			if seen[j] == nil || seen[j][i] {
				_, ok := sets[j].find(&d.words[i])
				known = known && ok
			}
		}
		if d.full.Load() {
			known, full = false, c
		}
	}
	if known {
		return nil
	}
	if err := l.firstUnknown(ctx, sets); err != nil || full < 0 {
		return err
	}
	return columnError(l.file.name, l.cols.names[full], "the levels of the model are written in more than %s ways", thousands(maxLevels))
}

// firstUnknown looks for the first cell whose level is not in the sets: by rows, then by the order of the features. It
// is for the message alone, so that nobody has to remember where every word stood.
func (l *loader) firstUnknown(ctx context.Context, sets []*levelSet) error {
	wants := l.featureWants()
	for _, c := range l.categoriesOf(l.features) {
		wants[c] = text
	}
	p := newPlan(wants)
	var found *Error
	err := l.cells.read(ctx, wants, true, l.threads, func(b *batch) error {
		gaps := missingRows(b) // in what is no category
		if l.keepsGaps() {
			clear(gaps)
		}
		for i := range b.N {
			if found = l.unknownIn(b, i, p, sets); found != nil && !gaps[b.First+int64(i)] {
				return errEnough
			}
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return found
	}
	return err
}

// unknownIn is the error of row i of a batch; nil if all levels are known or a cell is missing, so that the row is
// dropped.
func (l *loader) unknownIn(b *batch, i int, p *plan, sets []*levelSet) *Error {
	var found *Error
	for j, c := range l.features {
		if l.dict(c) == nil {
			continue
		}
		w := l.dict(c).read(b.Text[i*p.texts+p.text[c]])
		if w.isMissing() {
			if l.keepsGaps() {
				continue
			}
			return nil
		}
		if _, ok := sets[j].find(&w); ok || found != nil {
			continue
		}
		found = &Error{File: l.file.name, Row: l.rowOf(b.First+int64(i)) + 1, Column: l.cols.names[c],
			Msg: fmt.Sprintf("%q is not %s the model knows (%s)", cut(w.text), oneOf(len(sets[j].names)), sets[j].list())}
		if b.Line != nil {
			found.Line = b.Line[i]
		}
	}
	return found
}

func oneOf(levels int) string {
	if levels == 1 {
		return "the one level"
	}
	return fmt.Sprintf("one of the %s levels", thousands(int64(levels)))
}
