package data

import (
	"context"
	"errors"
	"fmt"
	"math"

	txt "github.com/latent-go/latent/internal/text"
)

// aCount is what a cell of a column of counts is.
const aCount = "count (a whole number from 0 to 2^53)"

// checkCounts refuses the first cell of a column of counts that is none, by rows and then by the order of the features. The
// pass that looks for it is for the message alone.
func (l *loader) checkCounts(ctx context.Context) error {
	var cols []int
	wrong := false
	for _, c := range l.features {
		if s := &l.stats[c]; l.types[c] == Count && s.n > 0 {
			cols = append(cols, c)
			wrong = wrong || s.min < 0 || s.max > exactBelow || !s.integers || s.rounded > 0
		}
	}
	if !wrong {
		return nil
	}
	wants := make([]want, len(l.cols.names))
	for _, c := range cols {
		wants[c] = number | text
	}
	p := newPlan(wants)
	var found *Error
	err := l.cells.read(ctx, wants, true, l.threads, func(b *batch) error {
		if found = l.wrongCount(b, p, cols); found != nil {
			return errEnough
		}
		return nil
	})
	if errors.Is(err, errEnough) {
		return found
	}
	return err
}

// wrongCount is the error of the first cell of a batch that is no count; nil for none.
func (l *loader) wrongCount(b *batch, p *plan, cols []int) *Error {
	rounded := map[[2]int64]bool{}
	for _, bad := range b.Bad {
		if bad.Kind == roundedCell {
			rounded[[2]int64{bad.Row, int64(bad.Column)}] = true
		}
	}
	for i := range b.N {
		for _, c := range cols {
			row := b.First + int64(i)
			v := b.F64[i*p.numbers+p.number[c]]
			if v != v || v >= 0 && v <= exactBelow && v == math.Floor(v) && !rounded[[2]int64{row, int64(c)}] {
				continue
			}
			cell := b.Text[i*p.texts+p.text[c]]
			e := &Error{File: l.file.name, Row: l.rowOf(row) + 1, Column: l.cols.names[c], Msg: fmt.Sprintf("%q is not a %s%s", cut(cell), aCount, l.asNumber(c))}
			if b.Line != nil {
				e.Line = b.Line[i]
			}
			return e
		}
	}
	return nil
}

// asNumber is the advice to read a column as one of numbers, or to leave it out; none for those who need exactly these columns.
func (l *loader) asNumber(c int) string {
	if l.o.Exact != nil {
		return ""
	}
	return fmt.Sprintf("; use --types %s, or --exclude %s", txt.ShellWord(l.cols.names[c]+"=number"), txt.ShellWord(l.cols.names[c]))
}

// otherwise is the advice for a text in a column of numbers: to leave the column out or, where columns may be of every type, to
// read it as categories or to say that the text stands for no value.
func (l *loader) otherwise(c int, text string) string {
	name := l.cols.names[c]
	if !l.o.Mixed || l.o.Exact != nil {
		return l.without("; use", name)
	}
	const short = 20
	na := ""
	if len(text) <= short {
		na = fmt.Sprintf(", --na %s if it stands for no value", txt.ShellWord(text))
	}
	return fmt.Sprintf("; use --types %s%s, or --exclude %s", txt.ShellWord(name+"=category"), na, txt.ShellWord(name))
}
