package data

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	txt "github.com/latent-go/latent/internal/text"
)

// keepsGaps reports whether missing cells of features are handed out, as NaN: those of a chain are, since a row that is dropped keeps its place.
func (l *loader) keepsGaps() bool {
	return l.o.Missing == "model" || l.o.Chain && l.o.Missing == "drop"
}

// gaps returns the features, and the weight, that lack values: those with most gaps first.
func (l *loader) gaps() (all []gap) {
	cols := slices.Clone(l.features)
	if l.weight >= 0 {
		cols = append(cols, l.weight)
	}
	for _, c := range cols {
		if n := l.stats[c].missing; n > 0 {
			all = append(all, gap{c, n})
		}
	}
	slices.SortStableFunc(all, func(a, b gap) int { return cmp.Compare(b.cells, a.cells) })
	return all
}

// checkMissing refuses missing values unless their rows are to be dropped.
func (l *loader) checkMissing(ctx context.Context) error {
	if l.keepsGaps() {
		return l.checkGaps()
	}
	gaps := l.gaps()
	if len(gaps) == 0 || l.o.Missing == "drop" {
		return nil
	}
	var first *Error
	var cols []int
	total := int64(0)
	for _, g := range gaps {
		cols = append(cols, g.column)
		total += g.cells
		p := l.stats[g.column].firstMissing
		// Of columns with a gap in one row, the first in the file is told.
		if first == nil || p.Row < first.Row || p.Row == first.Row && g.column < slices.Index(l.cols.names, first.Column) {
			first = &Error{File: l.file.name, Line: p.Line, Row: p.Row, Column: l.cols.names[g.column], follows: true}
		}
	}
	rows, err := l.incomplete(ctx, cols)
	if err != nil {
		return err
	}
	lost := fmt.Sprintf("%s in %s missing", counted(total, "cell"), areRows(rows, total))
	if len(gaps) > 1 {
		lost += ": " + l.listGaps(gaps)
	}
	first.Msg = fmt.Sprintf("has no value here%s", l.gapAdvice(first, lost, l.withoutGaps(gaps), rows))
	return first
}

// gapAdvice says what is missing, lost, and what to do about it: the rows left, or not, the columns to exclude, or for a model that takes whole rows
// of just these columns that another may fill them.
func (l *loader) gapAdvice(first *Error, lost, exclude string, rows int64) string {
	weight := l.weight >= 0 && l.stats[l.weight].missing > 0
	model := ""
	if l.modelHelps() {
		model = "--missing model, "
		if exclude == "" {
			model = "--missing model or "
		}
	}
	fill := l.o.Exact != nil && model == "" && !weight
	const filled = "fill the cells first by another model (latent impute)"
	switch kept := l.n - rows; {
	case kept == 0 && fill:
		return fmt.Sprintf(" (%s): no row is complete; %s", lost, filled)
	case kept == 0 && exclude == "" && model == "":
		return fmt.Sprintf(" (%s): no row is complete", lost)
	case kept == 0 && exclude == "":
		return fmt.Sprintf(" (%s): no row is complete; use --missing model", lost)
	case kept == 0:
		return fmt.Sprintf(" (%s): no row is complete; use %s%s", lost, strings.Replace(model, ", ", " or ", 1), exclude)
	case l.tooFew(kept) && fill:
		return fmt.Sprintf(" (%s); %s, or use --missing drop --allow-fewer, which leaves %s of %s", lost, filled, thousands(kept), counted(l.n, "row"))
	case l.tooFew(kept) && exclude == "" && model == "":
		return fmt.Sprintf(" (%s); --missing drop --allow-fewer would leave %s of %s", lost, thousands(kept), counted(l.n, "row"))
	case l.tooFew(kept) && exclude == "":
		return fmt.Sprintf(" (%s); use --missing model, or --missing drop --allow-fewer, which leaves %s of %s", lost, thousands(kept), counted(l.n, "row"))
	case l.tooFew(kept):
		return fmt.Sprintf(" (%s); use %s%s, or --missing drop --allow-fewer, which leaves %s of %s", lost, model, exclude, thousands(kept), counted(l.n, "row"))
	case weight && first.Column == l.cols.names[l.weight]:
		return fmt.Sprintf(", but every row needs a weight (%s); use --missing drop", lost)
	case fill:
		return fmt.Sprintf(" (%s); use --missing drop, or %s", lost, filled)
	case exclude == "":
		return fmt.Sprintf(" (%s); use %s--missing drop", lost, model)
	}
	return fmt.Sprintf(" (%s); use %s--missing drop, or %s", lost, model, exclude)
}

// modelHelps reports whether the rows would be taken with Missing model: every row has its weight, and every feature a value.
func (l *loader) modelHelps() bool {
	if !l.o.CanModel || l.weight >= 0 && l.stats[l.weight].missing > 0 {
		return false
	}
	return l.o.Exact != nil || !slices.ContainsFunc(l.features, func(c int) bool { return l.stats[c].missing == l.n })
}

// mostListed is how many columns an error counts the gaps of.
const mostListed = 10

// listGaps says how many gaps each column has.
func (l *loader) listGaps(gaps []gap) string {
	var parts []string
	for i, g := range gaps {
		if i == mostListed {
			parts = append(parts, fmt.Sprintf("and %d more columns", len(gaps)-i))
			break
		}
		parts = append(parts, fmt.Sprintf("%s %s", l.cols.names[g.column], thousands(g.cells)))
	}
	return strings.Join(parts, ", ")
}

// withoutGaps is the advice to leave out the columns with gaps, those with most first; "" where nothing would be left, and for
// those who need exactly these columns or the weight.
func (l *loader) withoutGaps(gaps []gap) string {
	if l.o.Exact != nil {
		return ""
	}
	var names []string
	for _, g := range gaps {
		if g.column != l.weight {
			names = append(names, l.cols.names[g.column])
		}
	}
	if len(names) == 0 || len(names) == len(l.features) {
		return ""
	}
	return "--exclude " + txt.ShellWord(strings.Join(names, ","))
}

// knownRows is the number of rows below which a table whose columns were named is taken to be known to its reader.
const knownRows = 20

// tooFew reports whether dropping rows that lack a value would leave less than half of the rows. Those of sequences keep their place.
func (l *loader) tooFew(kept int64) bool {
	if l.o.Chain {
		return false
	}
	named := l.o.Columns != nil || l.o.Exact != nil
	return 2*kept < l.n && !(named && l.n < knownRows)
}

// checkKept refuses what --missing drop leaves where that is nothing, or less than half of the rows.
func (l *loader) checkKept(kept int64) error {
	switch {
	case kept == 0 && (l.o.AllowEmpty || l.n == 0): // an empty file is told of elsewhere
		return nil
	case kept == 0:
		advice := ""
		if l.modelHelps() {
			advice = "; use --missing model"
		}
		return fileError(l.file.name, "no row is complete: all %s were dropped%s", counted(l.n, "row"), advice)
	case l.o.AllowFewer || !l.tooFew(kept):
		return nil
	}
	gaps := l.gaps()
	msg := fmt.Sprintf("--missing drop would leave %s of %s (missing: %s); ", thousands(kept), counted(l.n, "row"), l.listGaps(gaps))
	if l.modelHelps() {
		msg += "use --missing model to keep all rows; "
	}
	if exclude := l.withoutGaps(gaps); exclude != "" {
		return fileError(l.file.name, "%suse %s, or --allow-fewer to go on with these rows", msg, exclude)
	}
	return fileError(l.file.name, "%suse --allow-fewer to go on with these rows", msg)
}

func areRows(rows, cells int64) string {
	if cells == 1 {
		return counted(rows, "row") + " is"
	}
	return counted(rows, "row") + " are"
}

// incomplete counts the rows in which one of the columns has no value.
func (l *loader) incomplete(ctx context.Context, cols []int) (int64, error) {
	wants := make([]want, len(l.cols.names))
	for _, c := range cols {
		wants[c] = count
	}
	rows := int64(0)
	err := l.cells.read(ctx, wants, true, l.threads, func(b *batch) error {
		last := int64(-1)
		for i := range b.Bad {
			if bad := &b.Bad[i]; bad.Kind == missingCell && bad.Row != last && wants[bad.Column] != skip {
				rows++
				last = bad.Row
			}
		}
		return nil
	})
	return rows, err
}

// missingCells counts the cells of features without a value.
func (l *loader) missingCells() (n int64) {
	for _, c := range l.features {
		n += l.stats[c].missing
	}
	return n
}

// checkGaps refuses the gaps that no model takes: a row without a weight, and a column without any value that was named. What
// is labelled by a model may lack columns.
func (l *loader) checkGaps() error {
	if l.weight >= 0 && l.stats[l.weight].missing > 0 {
		p := l.stats[l.weight].firstMissing
		e := columnError(l.file.name, l.cols.names[l.weight], "has no value here, but every row needs a weight (%s); fill it in, where 0 leaves a row out",
			plural(l.stats[l.weight].missing, "row lacks it", "rows lack it"))
		e.Line, e.Row, e.follows = p.Line, p.Row, true
		return e
	}
	if l.o.Exact != nil {
		return nil
	}
	for _, c := range l.features {
		if l.n > 0 && l.stats[c].missing == l.n {
			e := columnError(l.file.name, l.cols.names[c], "has no value in any row%s", l.without("; use", l.cols.names[c]))
			e.follows = true
			return e
		}
	}
	return nil
}
