package data

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/latent-go/latent/internal/large"
)

// store is where the rows of a pass go: candidates for features side by side, and the columns with a part.
type store struct {
	f64   []float64
	f32   []float32
	width int
	w     []float64
	id    []string
	truth []string
}

// errEnough ends a pass early; it is no failure.
var errEnough = errors.New("enough rows")

// measure makes the pass that learns the statistics of every column and, unless rows are streamed, stores the
// candidates.
func (l *loader) measure(ctx context.Context) error {
	probablyText, err := l.probe(ctx)
	if err != nil {
		return err
	}
	if !l.explicit && !l.o.Mixed {
		l.chosen = slices.DeleteFunc(l.chosen, func(c int) bool { return probablyText[c] && !l.wanted[c] })
	}
	if err := l.guessTypes(ctx); err != nil {
		return err
	}
	l.categorize(l.chosen)
	p := newPlan(l.measureWants(probablyText))
	if err := l.allocate(p); err != nil {
		return err
	}
	l.single = l.newSingle()
	few := l.newFew(l.open())
	stats, err := l.readMeasuring(ctx, p, few, func(b *batch) error {
		l.put(b, p)
		l.single.put(b, p, l.chosen)
		return l.holdTexts(b)
	})
	if l.stats = stats; err != nil {
		return err
	}
	return l.findTypes(ctx, few)
}

// readMeasuring is a pass that learns what stands in columns, and adds to few: those of categories give the numbers that their words spell too. yield
// is shown the rows where they are read here.
func (l *loader) readMeasuring(ctx context.Context, p *plan, few map[int]*fewValues, yield func(*batch) error) ([]columnStats, error) {
	m := newMerger(len(p.wants))
	if f, ok := l.file.cells.(*pieceFile); ok {
		return m.total, f.measure(ctx, l, p, m.total, few)
	}
	if l.words != nil {
		l.words.measuring = true
		defer func() { l.words.measuring = false }()
	}
	err := l.cells.read(ctx, p.wants, false, l.threads, func(b *batch) error {
		m.add(b.First, statsOf(m.fresh(), b, p, l.rowOf))
		addFew(few, b, p)
		return yield(b)
	})
	return m.total, err
}

// probeRows is how many rows probe looks at: of a fixed number, so that it finds the same however rows are shared out among files.
const probeRows = 4096

// probe looks at the first rows to guess which columns hold text, so that they need not be parsed as numbers. A
// wrong guess costs nothing: a column of mostly numbers with a text in it is an error anyway, and one that turns out
// to be text later on is left out then.
func (l *loader) probe(ctx context.Context) ([]bool, error) {
	guess := make([]bool, len(l.cols.names))
	if l.n == 0 || l.file.isArray() || l.o.Categories || l.o.Mixed || l.explicit && !l.wide {
		return guess, nil
	}
	wants := make([]want, len(guess))
	for c := range wants {
		wants[c] = count
	}
	texts, missing, rows := make([]int, len(guess)), make([]int, len(guess)), 0
	err := l.cells.read(ctx, wants, true, 1, func(b *batch) error {
		rows += int(min(int64(b.N), probeRows-b.First))
		for i := range b.Bad {
			if b.Bad[i].Row >= probeRows {
				break
			}
			switch b.Bad[i].Kind {
			case textCell:
				texts[b.Bad[i].Column]++
			case missingCell:
				missing[b.Bad[i].Column]++
			}
		}
		if rows < probeRows {
			return nil
		}
		return errEnough
	})
	if err != nil && !errors.Is(err, errEnough) {
		return nil, err
	}
	for c := range guess {
		guess[c] = texts[c]*2 > rows-missing[c]
	}
	return guess, nil
}

// measureWants says what the measuring pass does with each column.
func (l *loader) measureWants(probablyText []bool) []want {
	wants := make([]want, len(l.cols.names))
	for c := range wants {
		switch {
		case l.wide && !probablyText[c]:
			wants[c] = number
		case l.wide, probablyText[c] && !l.explicit && !l.excluded[c]:
			wants[c] = count
		}
	}
	for _, c := range l.chosen {
		wants[c] = number
	}
	if l.weight >= 0 {
		wants[l.weight] = number
	}
	if l.truth >= 0 {
		wants[l.truth] |= count // its kind is worth telling, even where its values are not kept
	}
	if !l.o.Stream && !l.wide {
		for _, c := range []int{l.id, l.truth} {
			if c >= 0 {
				wants[c] |= text
			}
		}
	}
	return wants
}

// afford refuses rows that would take more memory than may be used, before there is room made for any. named columns are
// held as float64 beside the rows for a while.
func (l *loader) afford(p *plan, named int64, inMemory bool) error {
	d, size, texts := int64(len(l.chosen)), int64(8), int64(0)
	if l.o.Float32 {
		size = 4
	}
	switch {
	case l.wide: // see Report.look: numbers column by column, and a hash a row
		d, size, named = int64(p.numbers)+1, 8, 0
	case !inMemory:
		d = 0
	default:
		size += int64(l.o.Spare)
		for _, c := range []int{l.id, l.truth} {
			if c >= 0 {
				texts++
			}
		}
		if l.weight >= 0 {
			named++
		}
	}
	what := fmt.Sprintf("%s of %s", counted(l.n, "row"), counted(max(d, named), "column"))
	return l.hold(l.file.held+int64(len(l.cols.names))*columnCost+needed(l.n, d, size, texts)+needed(l.n, named, 8, 0), what)
}

// hold counts bytes that are about to be held, and refuses those that would be too many.
func (l *loader) hold(bytes int64, what string) error {
	if sum := l.used.Add(bytes); sum > l.o.MaxMemory {
		return &MemoryError{File: l.file.name, What: what, Need: sum, Max: l.o.MaxMemory, Stream: l.o.Stream || l.wide}
	}
	return nil
}

// holdTexts counts the texts of a batch, which stay in memory where ids or known groups are kept.
func (l *loader) holdTexts(b *batch) error {
	if l.store.id == nil && l.store.truth == nil {
		return nil
	}
	n := int64(0)
	for _, t := range b.Text {
		n += int64(len(t))
	}
	return l.hold(n, "the rows and the texts in columns that are no numbers")
}

// allocate makes room for what the pass stores, if it may have that much.
func (l *loader) allocate(p *plan) error {
	var named []int
	for _, c := range l.chosen {
		if !l.explicit && !l.o.Categories && !l.o.Mixed && calledCounter(l.cols.names[c]) {
			named = append(named, c)
		}
	}
	inMemory := !l.o.Stream && !l.wide
	if err := l.afford(p, int64(len(named)), inMemory); err != nil {
		return err
	}
	n := int(l.n)
	if _, elsewhere := l.file.cells.(*pieceFile); elsewhere {
		return nil
	}
	for _, c := range named {
		l.named[c] = make([]float64, n)
	}
	if !inMemory {
		return nil
	}
	s := &l.store
	s.width = len(l.chosen)
	if l.o.Float32 {
		s.f32 = large.Make[float32](n * s.width)
	} else {
		s.f64 = large.Make[float64](n * s.width)
	}
	if l.weight >= 0 {
		s.w = large.Make[float64](n)
	}
	if l.id >= 0 {
		s.id = make([]string, n)
	}
	if l.truth >= 0 {
		s.truth = make([]string, n)
	}
	return nil
}

// put stores a batch. Batches have different rows, so that no two calls touch the same memory.
func (l *loader) put(b *batch, p *plan) {
	s, first := &l.store, int(b.First)
	for c, dst := range l.named {
		gather(dst[first:first+b.N], b.F64, b.N, p.numbers, []int{p.number[c]})
	}
	from := make([]int, len(l.chosen))
	for j, c := range l.chosen {
		from[j] = p.number[c]
	}
	if s.f64 != nil {
		gather(s.f64[first*s.width:], b.F64, b.N, p.numbers, from)
	}
	if s.f32 != nil {
		gather(s.f32[first*s.width:], b.F64, b.N, p.numbers, from)
	}
	if s.w != nil {
		gather(s.w[first:], b.F64, b.N, p.numbers, []int{p.number[l.weight]})
	}
	for i := range b.N {
		if s.id != nil {
			s.id[first+i] = b.Text[i*p.texts+p.text[l.id]]
		}
		if s.truth != nil {
			s.truth[first+i] = l.known(b.Text[i*p.texts+p.text[l.truth]])
		}
	}
}

// known returns a cell of the truth column as it stands; "" for one that says that there is no value.
func (l *loader) known(cell string) string {
	if l.isMissing(l.truth, strings.Trim(cell, " \t\r\n")) {
		return ""
	}
	return cell
}

// gather copies the columns from of n rows of src, which are stride wide, side by side to dst.
func gather[D, S float32 | float64](dst []D, src []S, n, stride int, from []int) {
	whole := len(from) == stride
	for j, c := range from {
		whole = whole && j == c
	}
	if whole {
		for i, v := range src[:n*stride] {
			dst[i] = D(v)
		}
		return
	}
	k := 0
	for i := range n {
		row := src[i*stride : (i+1)*stride]
		for _, c := range from {
			dst[k] = D(row[c])
			k++
		}
	}
}

// calledCounter reports whether a name is one that people give to row numbers.
func calledCounter(name string) bool {
	switch strings.ToLower(strings.TrimSpace(name)) {
	case "id", "index", "row":
		return true
	}
	return false
}
