package data

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
)

// sequences are the sequences of a file, as a pass over its columns of sequences and times finds them.
type sequences struct {
	l       *loader
	plan    *plan
	dates   DateParser
	dated   bool             // times are dates, not numbers
	numbers map[string]int32 // of sequences, by name, in the order in which they begin in the file
	names   []string         // their names, by number

	last sequenceRow // the row before
}

// sequenceRow is what a row says of its place in a sequence.
type sequenceRow struct {
	sequence int32
	time     instant
	text     string // the time as it stands
	weight   float64
}

// instant is a time: a number, or days since 1970-01-01. Whole numbers that float64 does not hold have their last digits in whole.
type instant struct {
	value float64
	whole int64
}

// compare orders instants.
func (t instant) compare(o instant) int {
	return cmp.Or(cmp.Compare(t.value, o.value), cmp.Compare(t.whole, o.whole))
}

// exactWhole is the size from which on float64 does not hold every whole number.
const exactWhole = 1 << 53

// newSequences returns what reads the columns of sequences and times.
func (l *loader) newSequences() *sequences {
	wants := make([]want, len(l.cols.names))
	for _, c := range []int{l.sequence, l.time} {
		if c >= 0 {
			wants[c] |= text
		}
	}
	if l.weight >= 0 {
		wants[l.weight] |= number
	}
	return &sequences{l: l, plan: newPlan(wants), numbers: map[string]int32{}}
}

// read makes the pass, in the order of the file. row is given every row and the one before.
func (s *sequences) read(ctx context.Context, row func(i int64, now, last *sequenceRow) error) error {
	return s.l.cells.read(ctx, s.plan.wants, true, s.l.threads, func(b *batch) error {
		for i := range b.N {
			at := b.First + int64(i)
			now, err := s.row(b, i)
			if err == nil {
				err = row(at, &now, &s.last)
			}
			if e, ok := err.(*Error); ok && e.Row == 0 {
				e.Row = s.l.rowOf(at) + 1
				if b.Line != nil {
					e.Line = b.Line[i]
				}
			}
			if err != nil {
				return err
			}
			s.last = now
		}
		return nil
	})
}

// row reads row i of a batch.
func (s *sequences) row(b *batch, i int) (r sequenceRow, err error) {
	l, p := s.l, s.plan
	cell := func(c int, what string) (string, error) {
		t := strings.Trim(b.Text[i*p.texts+p.text[c]], " \t\r\n")
		if l.isMissing(c, t) {
			return "", columnError(l.file.name, l.cols.names[c], "has no value here, but every row needs %s; fill it in, or leave the row out of the file", what)
		}
		return t, nil
	}
	if l.sequence >= 0 {
		name, err := cell(l.sequence, "its sequence")
		if err != nil {
			err.(*Error).follows = true
			return r, err
		}
		if r.sequence, err = s.number(name); err != nil {
			return r, err
		}
	}
	if l.time >= 0 {
		if r.text, err = cell(l.time, "its time"); err != nil {
			err.(*Error).follows = true
			return r, err
		}
		if r.time, err = s.instant(r.text, b.First+int64(i)); err != nil {
			return r, err
		}
	}
	if l.weight >= 0 {
		r.weight = b.F64[i*p.numbers+p.number[l.weight]]
	}
	return r, nil
}

// number returns the number of a sequence, the next one for a name that is new.
func (s *sequences) number(name string) (int32, error) {
	n, known := s.numbers[name]
	if !known {
		if len(s.names) == math.MaxInt32 {
			return 0, fileError(s.l.file.name, "it has more than %s sequences", thousands(math.MaxInt32))
		}
		n, name = int32(len(s.names)), strings.Clone(name)
		s.numbers[name], s.names = n, append(s.names, name)
	}
	return n, nil
}

// instant reads a time: a number, or a date where the first one is none.
func (s *sequences) instant(cell string, row int64) (instant, error) {
	mark := byte('.')
	if t := s.l.file.text; t != nil {
		mark = t.decimal
	}
	v, isNumber := parseDecimal([]byte(cell), mark)
	days, isDate := 0.0, false
	if !isNumber || s.dated {
		days, isDate = s.dates.Parse(cell)
	}
	switch {
	case row == 0:
		s.dated = !isNumber
	case s.dated != !isNumber && (isNumber || isDate):
		what := []string{"a number", "a date"}
		if isDate {
			slices.Reverse(what)
		}
		return instant{}, columnError(s.l.file.name, s.l.cols.names[s.l.time], "%q is not %s, as the times before it are", cell, what[1])
	}
	switch {
	case isNumber && math.IsInf(v, 0):
		return instant{}, columnError(s.l.file.name, s.l.cols.names[s.l.time], "%q is not a finite number", cell)
	case isNumber && math.Abs(v) >= exactWhole:
		whole, _ := strconv.ParseInt(cell, 10, 64) // 0 for what is none: then the value decides
		return instant{v, whole}, nil
	case isNumber:
		return instant{value: v}, nil
	case isDate:
		return instant{value: days}, nil
	}
	return instant{}, columnError(s.l.file.name, s.l.cols.names[s.l.time], "%q is neither a number nor a %s", cell, aDate)
}

// name tells a sequence in a message: ` of sequence "u"`, and nothing where there is one.
func (s *sequences) name(lead string, number int32) string {
	if s.l.sequence < 0 {
		return ""
	}
	return fmt.Sprintf("%s sequence %q", lead, s.names[number])
}

// pair says where two rows are, in the order of the file: "lines 3 and 7", or "rows 2 and 6" where there are no lines. The line of the
// second one comes back too.
func (s *sequences) pair(ctx context.Context, a, b int64) (where string, line int64, err error) {
	a, b = min(a, b), max(a, b)
	lines := map[int64]int64{}
	err = s.l.cells.read(ctx, make([]want, len(s.l.cols.names)), false, 1, func(rows *batch) error {
		for _, r := range []int64{a, b} {
			if i := r - rows.First; rows.Line != nil && i >= 0 && i < int64(rows.N) {
				lines[r] = rows.Line[i]
			}
		}
		return nil
	})
	if len(lines) == 2 {
		return fmt.Sprintf("lines %d and %d", lines[a], lines[b]), lines[b], err
	}
	return fmt.Sprintf("rows %d and %d", s.l.rowOf(a)+1, s.l.rowOf(b)+1), 0, err
}

// apart is the error about two rows of a sequence, in a column, that cannot be.
func (s *sequences) apart(ctx context.Context, column int, a, b int64, format string, args ...any) error {
	where, line, err := s.pair(ctx, a, b)
	if err != nil {
		return err
	}
	e := columnError(s.l.file.name, s.l.cols.names[column], "%s %s", where, fmt.Sprintf(format, args...))
	e.Line, e.Row = line, s.l.rowOf(max(a, b))+1
	return e
}

// chain puts the rows of t in the order of their sequences, in which these begin in the file, and of their times, and numbers the sequences. What
// a row says of its place must be right: a sequence and a time for each, one row a time, and one weight for all rows of a sequence.
func (l *loader) chain(ctx context.Context, t *Table) error {
	const held = 4 + 16 + 8 // bytes a row: sequence, time, order
	if err := l.hold(int64(t.N)*held, "the rows and the order of their sequences"); err != nil {
		return err
	}
	l.blank(t.F64, t.F32, t.D)
	if l.o.Carry {
		if err := l.carry(ctx, t); err != nil {
			return err
		}
	}
	t.Sequence = make([]int32, t.N)
	if l.sequence < 0 && l.time < 0 && l.weight < 0 {
		return nil
	}
	times := make([]instant, t.N)
	s := l.newSequences()
	err := s.read(ctx, func(i int64, now, _ *sequenceRow) error {
		t.Sequence[i], times[i] = now.sequence, now.time
		return nil
	})
	if err != nil {
		return err
	}
	order := make([]int, t.N)
	for i := range order {
		order[i] = i
	}
	inOrder := func(a, b int) int {
		return cmp.Or(cmp.Compare(t.Sequence[a], t.Sequence[b]), times[a].compare(times[b]))
	}
	moved := !slices.IsSortedFunc(order, inOrder)
	if moved {
		slices.SortStableFunc(order, inOrder)
	}
	for i := 1; i < t.N; i++ {
		a, b := order[i-1], order[i]
		switch of := t.Sequence[b]; {
		case t.Sequence[a] != of:
		case l.time >= 0 && times[a].compare(times[b]) == 0:
			return s.sameTime(ctx, int64(a), int64(b), of, times[a])
		case t.W != nil && t.W[a] != t.W[b]:
			return s.uneven(ctx, int64(a), int64(b), of, t.W[a], t.W[b])
		}
	}
	l.info.Sequences = s.names
	if moved {
		t.permute(order)
	}
	return nil
}

// carry reads every cell of the file as it stands.
func (l *loader) carry(ctx context.Context, t *Table) error {
	const header = 16 // bytes of a text beside its own
	d := len(l.cols.names)
	if err := l.hold(int64(t.N)*int64(d)*header, "the rows and the texts of all columns"); err != nil {
		return err
	}
	wants := make([]want, d)
	for c := range wants {
		wants[c] = text
	}
	t.Cells = make([]string, t.N*d)
	return l.cells.read(ctx, wants, false, l.threads, func(b *batch) error {
		size := int64(0)
		for i, cell := range b.Text {
			t.Cells[int(b.First)*d+i] = cell
			size += int64(len(cell))
		}
		return l.hold(size, "the rows and the texts of all columns")
	})
}

// sameTime is the error about two rows of one time.
func (s *sequences) sameTime(ctx context.Context, a, b int64, of int32, at instant) error {
	when := strconv.FormatFloat(at.value, 'g', -1, 64)
	switch {
	case s.dated:
		when = FormatDate(at.value)
	case at.whole != 0:
		when = strconv.FormatInt(at.whole, 10)
	}
	return s.apart(ctx, s.l.time, a, b, "have the same time, %s%s; a sequence has one row a time%s", when, s.name(", in", of), s.l.oneSequence())
}

// oneSequence ends an error about rows that cannot be of one sequence, where nothing tells sequences apart.
func (l *loader) oneSequence() string {
	if l.sequence >= 0 {
		return ""
	}
	return "; name the column that tells sequences apart by --sequence"
}

// uneven is the error about two rows of a sequence that have other weights.
func (s *sequences) uneven(ctx context.Context, a, b int64, of int32, wa, wb float64) error {
	if a > b {
		wa, wb = wb, wa
	}
	return s.apart(ctx, s.l.weight, a, b, "have the weights %v and %v%s; all rows of a sequence have one weight, which says how often it counts", wa, wb, s.name(", but belong to", of))
}

// blank makes all cells of rows that lack one missing, where Options.Missing is drop: the rows of a chain keep their place.
func (l *loader) blank(f64 []float64, f32 []float32, d int) {
	if l.o.Missing != "drop" || d == 0 {
		return
	}
	for row := range slices.Chunk(f64, d) {
		if hasNaN(row) {
			for j := range row {
				row[j] = math.NaN()
			}
		}
	}
	for row := range slices.Chunk(f32, d) {
		if hasNaN(row) {
			for j := range row {
				row[j] = float32(math.NaN())
			}
		}
	}
}

// permute puts row order[i] in place i.
func (t *Table) permute(order []int) {
	if t.Row == nil {
		t.Row = make([]int64, t.N)
		for i := range t.Row {
			t.Row[i] = t.First + int64(i) + 1
		}
	}
	t.F64, t.F32, t.Cells = pickRows(t.F64, order, t.D), pickRows(t.F32, order, t.D), pickRows(t.Cells, order, len(t.Cells)/max(t.N, 1))
	t.W, t.Row, t.ID, t.Truth, t.Sequence = pick(t.W, order), pick(t.Row, order), pick(t.ID, order), pick(t.Truth, order), pick(t.Sequence, order)
}

// pickRows returns the rows, of d values, at the given indexes.
func pickRows[T any](s []T, order []int, d int) []T {
	if s == nil {
		return nil
	}
	out := make([]T, 0, len(s))
	for _, i := range order {
		out = append(out, s[i*d:(i+1)*d]...)
	}
	return out
}

// checkStream makes sure that the rows of a stream stand in the order of their sequences and times, which only rows in memory can be put in.
func (l *loader) checkStream(ctx context.Context) error {
	if l.sequence < 0 && l.time < 0 && l.weight < 0 {
		return nil
	}
	s := l.newSequences()
	err := s.read(ctx, func(i int64, now, last *sequenceRow) error {
		name := func(c int) (file, column string) { return l.file.name, l.cols.names[c] }
		switch of := now.sequence; {
		case i == 0 || of > last.sequence:
			return nil
		case of < last.sequence:
			file, column := name(l.sequence)
			return columnError(file, column, "sequence %q goes on here, after others: a stream needs the rows of a sequence together; sort the file, or leave out --stream", s.names[of])
		case l.weight >= 0 && now.weight != last.weight:
			file, column := name(l.weight)
			return columnError(file, column, "the weight is %v here and %v in the row before%s; all rows of a sequence have one weight, which says how often it counts", now.weight, last.weight, s.name(", of", of))
		case l.time < 0:
			return nil
		}
		file, column := name(l.time)
		switch order := now.time.compare(last.time); {
		case order == 0:
			return columnError(file, column, "two rows have the same time, %s%s: this line and the one before; a sequence has one row a time%s", now.text, s.name(", in", now.sequence), l.oneSequence())
		case order < 0:
			return columnError(file, column, "%s comes after %s%s: a stream needs rows in the order of time; sort the file, or leave out --stream", now.text, last.text, s.name(" in", now.sequence))
		}
		return nil
	})
	l.info.Sequences = s.names
	return err
}
