package data

import (
	"context"
	"fmt"
	"strings"
)

// More reasons for which a column is no feature, where columns of every type are taken.
const (
	whyDates    = "dates"
	whyFreeText = "free text"
)

const (
	// manyLevels is how many different texts make a column suspect: it needs cellsAText cells for each of them, and
	// no sentences. Each level is a parameter of every component.
	manyLevels = 50
	cellsAText = 10
	// proseWords is how many words the texts of a column have on average, from which on they are sentences.
	proseWords = 4
	// dateShare is the share of a column's different texts that look like a date or a time where the others are slips.
	dateShare = 0.9
)

// chooseMixed takes the candidates that are features by their looks, and those whose type is given. Left out are
//
//   - empty columns;
//   - while others remain, counters (see isCounter; text and whole numbers called id, index or row are among them), whole
//     numbers beyond 2^53 that look like identifiers, and constant columns;
//   - columns of text that are dates or times, identifiers, sentences, or too many different texts (see whyNoLevels).
func (l *loader) chooseMixed() {
	var counters, longIDs, ids, constants []int
	for _, c := range l.chosen {
		col := &l.info.Columns[c]
		why := l.whyNoLevels(c)
		switch {
		case l.wanted[c]:
			l.features = append(l.features, c)
		case col.Kind == "empty":
		case l.isCounter(c):
			counters = append(counters, c)
		case l.isLongID(c):
			longIDs = append(longIDs, c)
		case col.Kind == "constant", why == whyConstant:
			constants = append(constants, c)
		case why == whyIdentifier && l.filled(c) < fewRows:
			ids = append(ids, c)
		case why != "":
			col.Why = why + l.suchTexts(c, why)
		default:
			l.features = append(l.features, c)
		}
	}
	l.leaveOut(counters, whyCounter, "id")
	l.leaveOut(longIDs, whyLongID, "id")
	l.leaveOut(ids, whyIdentifier, "text")
	l.leaveOut(constants, whyConstant, "constant")
}

// filled returns the cells of a column that have a value.
func (l *loader) filled(c int) int64 { return l.n - l.stats[c].missing }

// whyNoLevels is the reason for which a column of text is left out; "" for none:
//
//   - dates or times, nearly all of its different texts;
//   - a single text;
//   - sentences that differ in most rows, or more than 50 of them ("free text");
//   - different texts in all rows ("identifier"), or in more than half of 20 or more filled cells;
//   - more than 10,000 different texts, or more than 50 with fewer than 10 filled cells for each.
func (l *loader) whyNoLevels(c int) string {
	d := l.dict(c)
	if l.info.Columns[c].Kind != "text" || d == nil {
		return ""
	}
	texts := l.textsOf(c)
	filled, levels, full := l.filled(c), int64(d.count()), d.full.Load()
	different := full || filled >= fewRows && levels*2 > filled
	switch {
	case mostlyDates(texts):
		return whyDates
	case levels == 1:
		return whyConstant
	case (different || levels > manyLevels) && isProse(texts):
		return whyFreeText
	case full:
		return whyMany
	case levels == filled && filled > 2:
		return whyIdentifier
	case different:
		return whyDifferent
	case levels > manyLevels && filled < cellsAText*levels:
		return fmt.Sprintf("%s different texts in %s", thousands(levels), counted(filled, "row"))
	}
	return ""
}

// suchTexts adds to the reason why a column is left out what its texts look like, where they are numbers in a form that is
// not read.
func (l *loader) suchTexts(c int, why string) string {
	if k, ok := looksLike(l.stats[c].samples, l.decimal()); ok && why != whyDates {
		return ": " + k.String()
	}
	return ""
}

// textsOf returns the different texts of a column or, where they are too many to be held, its first ones.
func (l *loader) textsOf(c int) []string {
	d := l.dict(c)
	if d.full.Load() { // which words are in it depends on timing
		return l.stats[c].samples
	}
	texts := make([]string, len(d.words))
	for i := range texts {
		texts[i] = d.words[i].text
	}
	return texts
}

// isProse reports whether texts are sentences, rather than names.
func isProse(texts []string) bool {
	words := 0
	for _, s := range texts {
		words += len(strings.Fields(s))
	}
	return words >= proseWords*len(texts)
}

// mostlyDates reports whether texts are dates or times, all but a few.
func mostlyDates(texts []string) bool {
	dates := 0
	for _, s := range texts {
		if s = visible(s); anyDate(s) || moreDates().MatchString(s) {
			dates++
		}
	}
	return dates > 0 && float64(dates) >= dateShare*float64(len(texts))
}

// moreDates are dates and times in further notations.
var moreDates = pattern(`^(?i:` + strings.Join([]string{
	`\d{4}-\d{3}`,                     // 2024-031, ISO 8601 by the day of the year
	`T?\d{1,2}:\d{2}(?::\d{2})?Z?`,    // T12:30
	`\d{4}-\d{2}-\d{2}T\d{2}Z?`,       // 2024-01-31T12
	`\d{4}年\d{1,2}月(?:\d{1,2}日)?`,     // 2024年1月31日
	`\d{4}년 ?\d{1,2}월(?: ?\d{1,2}일)?`, // 2024년 1월 31일
	`(?:mon|tue|wed|thu|fri|sat|sun)\w* [a-z]{3} +\d{1,2} \d{1,2}:\d{2}:\d{2}(?: \w+)? \d{4}`, // Wed Jan 31 12:00:00 2024
	`(?:mon|tue|wed|thu|fri|sat|sun)[a-z]*,? \d{4}-\d{2}-\d{2}`,                               // Wed 2024-01-31
}, "|") + `)$`)

// typeByPlace gives features that were found by their place the types that the model has there.
func (l *loader) typeByPlace(ctx context.Context) error {
	if !l.o.Mixed || l.o.ExactTypes == nil {
		return nil
	}
	var words, numbers []int
	for j, c := range l.features {
		switch t := l.o.ExactTypes[j]; {
		case t == Category && !l.isCategory(c):
			words = append(words, c)
		case t != Category && l.isCategory(c):
			numbers = append(numbers, c)
		}
	}
	if err := l.reread(ctx, words, Category, nil); err != nil {
		return err
	}
	if err := l.reread(ctx, numbers, Number, nil); err != nil {
		return err
	}
	for j, c := range l.features {
		l.types[c] = l.o.ExactTypes[j]
	}
	return nil
}

// adviseTexts warns of features that are read as categories though their texts are numbers in a form that is not read.
func (l *loader) adviseTexts() {
	for _, c := range l.features {
		if !l.isCategory(c) || l.given[c] || l.o.Exact != nil {
			continue
		}
		if k, ok := looksLike(l.stats[c].samples, l.decimal()); ok {
			l.warn("column %q is read as categories: its texts look like %s", l.cols.names[c], k)
		}
	}
}
