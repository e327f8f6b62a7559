package data

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Type is what the cells of a feature are.
type Type uint8

const (
	Number   Type = iota // a measurement
	Category             // the index of a level, from 0 in the order of Info.Levels
	Count                // how many: a whole number from 0 to 2^53
)

var typeNames = []string{"number", "category", "count"}

// String returns "number", "category" or "count".
func (t Type) String() string {
	if int(t) < len(typeNames) {
		return typeNames[t]
	}
	return fmt.Sprintf("Type(%d)", t)
}

// ParseType returns the type of this name; an error for any other text names the choices.
func ParseType(s string) (Type, error) {
	if i := slices.Index(typeNames, s); i >= 0 {
		return Type(i), nil
	}
	return 0, fmt.Errorf("type %q is not one of %s", s, strings.Join(typeNames, ", "))
}

// MarshalText writes a type by its name, as JSON has it.
func (t Type) MarshalText() ([]byte, error) {
	if int(t) >= len(typeNames) {
		return nil, fmt.Errorf("type %d has no name", t)
	}
	return []byte(typeNames[t]), nil
}

// UnmarshalText is ParseType.
func (t *Type) UnmarshalText(b []byte) (err error) {
	*t, err = ParseType(string(b))
	return err
}

// TypeOf gives a column its type.
type TypeOf struct {
	Column string // by its exact name
	Type   Type
}

const (
	// fewNumbers is how many different whole numbers a column may have that is taken for one of categories: grades and answers
	// on a scale have fewer, counts and ages more.
	fewNumbers = 5
	// cellsALevel is how many filled cells such a column has for each of them, on average. In a short table few different
	// numbers prove nothing.
	cellsALevel = 20
)

// giveTypes sets the types of columns as far as the options settle them.
func (l *loader) giveTypes() error {
	n := len(l.cols.names)
	l.types, l.given, l.wanted = make([]Type, n), make([]bool, n), make([]bool, n)
	if !l.o.Mixed {
		for c := range l.types {
			l.given[c] = true
			if l.o.Categories {
				l.types[c] = Category
			}
		}
		for _, name := range l.o.Wanted {
			c, err := l.cols.find(name)
			if err != nil {
				return err
			}
			l.wanted[c] = true
		}
		return nil
	}
	for _, t := range l.o.Types {
		c, err := l.cols.find(t.Column)
		if err != nil {
			return err
		}
		if l.given[c] && l.types[c] != t.Type {
			return columnError(l.file.name, l.cols.names[c], "its type is given twice, as %s and as %s", l.types[c], t.Type)
		}
		l.types[c], l.given[c] = t.Type, true
	}
	return nil
}

// wantTyped makes features of the columns whose type is given, whatever they look like. Columns that were named leave the
// others out.
func (l *loader) wantTyped() {
	for _, t := range l.o.Types {
		c, _ := l.cols.lookUp(t.Column)
		switch name := l.cols.names[c]; {
		case l.hasRole(c):
			l.warn("column %q is the %s and is not fitted, though --types names it", name, l.role(c))
		case l.excluded[c]:
			l.warn("column %q is excluded and is not fitted, though --types names it", name)
		case l.explicit && !slices.Contains(l.chosen, c):
			l.warn("column %q is not among the columns that were chosen and is not fitted, though --types names it", name)
		default:
			l.wanted[c] = true
			if !slices.Contains(l.chosen, c) {
				l.chosen = append(l.chosen, c)
			}
		}
	}
	if !l.explicit {
		slices.Sort(l.chosen)
	}
}

// isCategory reports whether the cells of a column are read as categories.
func (l *loader) isCategory(c int) bool { return l.types[c] == Category }

// categoriesOf returns those of the columns that are read as categories.
func (l *loader) categoriesOf(cols []int) (out []int) {
	for _, c := range cols {
		if l.isCategory(c) {
			out = append(out, c)
		}
	}
	return out
}

// open returns the candidates whose type is still to be found.
func (l *loader) open() (out []int) {
	for _, c := range l.chosen {
		if !l.given[c] {
			out = append(out, c)
		}
	}
	return out
}

// fewValues collects the different numbers of a column, one more than fewNumbers at most. How many there are does not depend
// on the order in which batches come.
type fewValues struct {
	full   atomic.Bool
	mu     sync.Mutex
	values []float64
}

// add looks at n numbers, stride apart; NaN is none.
func (f *fewValues) add(x []float64, stride, n int) {
	if f.full.Load() {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := 0; i < n && len(f.values) <= fewNumbers; i++ {
		if v := x[i*stride]; v == v && !slices.Contains(f.values, v) {
			f.values = append(f.values, v)
		}
	}
	f.full.Store(len(f.values) > fewNumbers)
}

// newFew makes room for the different values of the columns whose type is open.
func (l *loader) newFew(cols []int) map[int]*fewValues {
	few := map[int]*fewValues{}
	for _, c := range cols {
		few[c] = new(fewValues)
	}
	return few
}

// addFew looks at the numbers of a batch.
func addFew(few map[int]*fewValues, b *batch, p *plan) {
	x := b.F64
	if b.Value != nil {
		x = b.Value
	}
	for c, f := range few {
		if b.N > 0 {
			f.add(x[p.number[c]:], p.numbers, b.N)
		}
	}
}

// typeOf says what a column is by its cells:
//
//   - a category, if most filled cells are text;
//   - a category, if all are 0 or 1, or whole numbers of at most fewNumbers different values with cellsALevel cells for each;
//   - a number otherwise.
//
// Nothing but its type says that a column counts something, and the models differ: counts are declared.
func typeOf(s *columnStats, few *fewValues, filled int64) Type {
	different := int64(len(few.values))
	switch {
	case s.texts*2 > filled:
		return Category
	case filled == 0 || s.n != filled || !s.integers || s.rounded > 0:
		return Number
	case s.bits && s.min != s.max, different <= fewNumbers && filled >= cellsALevel*different:
		return Category
	}
	return Number
}

// guessTypes looks at the first rows to guess how each column should be read in the pass that measures all of them. A wrong
// guess costs another pass over its column.
func (l *loader) guessTypes(ctx context.Context) error {
	open := l.open()
	if l.n == 0 || len(open) == 0 {
		return nil
	}
	m, rows := newMerger(len(l.cols.names)), int64(0)
	few := l.newFew(open)
	p := newPlan(l.numbersOf(open))
	err := l.cells.read(ctx, p.wants, true, 1, func(b *batch) error {
		m.add(b.First, statsOf(m.fresh(), b, p, l.rowOf))
		addFew(few, b, p)
		if rows += int64(b.N); rows < headRows {
			return nil
		}
		return errEnough
	})
	if err != nil && err != errEnough {
		return err
	}
	for _, c := range open {
		s := &m.total[c]
		filled := rows - s.missing
		if l.decimal() == ',' && s.texts*2 <= filled {
			continue // points between thousands are read in numbers alone
		}
		l.types[c] = typeOf(s, few[c], filled)
	}
	return nil
}

// findTypes settles the types that are open, now that all rows were seen, and reads columns again that were read as
// something else.
func (l *loader) findTypes(ctx context.Context, few map[int]*fewValues) error {
	open := l.open()
	found := func(c int) Type { return typeOf(&l.stats[c], few[c], l.filled(c)) }
	var numbers, words []int
	for _, c := range open {
		if l.isCategory(c) && found(c) != Category {
			numbers = append(numbers, c)
		}
	}
	if err := l.reread(ctx, numbers, Number, few); err != nil {
		return err
	}
	for _, c := range open {
		if !l.isCategory(c) && found(c) == Category {
			words = append(words, c)
		}
	}
	return l.reread(ctx, words, Category, few)
}

// numbersOf asks for some columns as numbers.
func (l *loader) numbersOf(cols []int) []want {
	wants := make([]want, len(l.cols.names))
	for _, c := range cols {
		wants[c] = number
	}
	return wants
}

// reread reads candidates once more, as another type.
func (l *loader) reread(ctx context.Context, cols []int, t Type, few map[int]*fewValues) error {
	if len(cols) == 0 {
		return nil
	}
	for _, c := range cols {
		if few[c] != nil {
			few[c] = new(fewValues)
		}
		l.types[c] = t
	}
	l.categorize(cols)
	return l.readAgain(ctx, cols, few)
}

// readAgain reads candidates once more: what is stored and known of them is replaced.
func (l *loader) readAgain(ctx context.Context, cols []int, few map[int]*fewValues) error {
	p := newPlan(l.numbersOf(cols))
	fewOf := map[int]*fewValues{}
	for _, c := range cols {
		if few[c] != nil {
			fewOf[c] = few[c]
		}
	}
	stats, err := l.readMeasuring(ctx, p, fewOf, func(b *batch) error {
		l.putAgain(b, p, cols)
		l.single.put(b, p, l.chosen)
		return nil
	})
	for _, c := range cols {
		l.stats[c] = stats[c]
	}
	return err
}

// putAgain stores columns of a batch over what was stored for them before.
func (l *loader) putAgain(b *batch, p *plan, cols []int) {
	s, first := &l.store, int(b.First)
	for _, c := range cols {
		place, from := slices.Index(l.chosen, c), p.number[c]
		for i := range b.N {
			v := b.F64[i*p.numbers+from]
			if s.f64 != nil {
				s.f64[(first+i)*s.width+place] = v
			}
			if s.f32 != nil {
				s.f32[(first+i)*s.width+place] = float32(v)
			}
		}
	}
}
