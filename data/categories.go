package data

import (
	"context"
	"sync"
)

// categories stands between a file and its reader: cells of columns with a dictionary are read as text, and handed on
// as numbers, those of their words or, once the dictionary is settled, of their levels.
type categories struct {
	cells
	file      string
	dict      []*dictionary // by column of the file; nil for a column that is no candidate
	measuring bool          // batches have the values that numbers spell too, and bad cells of every kind
}

// coding is what one pass does.
type coding struct {
	*worded
	k *categories
}

// read implements cells.
func (k *categories) read(ctx context.Context, wants []want, ordered bool, threads int, yield func(*batch) error) error {
	c := &coding{newWorded(wants, func(j int) bool { return k.dict[j] != nil }), k}
	coders := sync.Pool{New: func() any { return newCoder(c) }}
	return k.cells.read(ctx, c.below, ordered, threads, func(b *batch) error {
		coder := coders.Get().(*coder)
		defer coders.Put(coder)
		if err := coder.code(b); err != nil {
			return err
		}
		return yield(&coder.out)
	})
}

// coder turns batches into batches. It belongs to one worker, which asks the shared dictionary once for every word.
type coder struct {
	*coding
	seen []map[string]word // by column; nil where it is settled
	out  batch
}

func newCoder(c *coding) *coder {
	r := &coder{coding: c, seen: make([]map[string]word, len(c.k.dict))}
	for _, j := range c.words {
		if !c.k.dict[j].settled {
			r.seen[j] = map[string]word{}
		}
	}
	return r
}

// code sets r.out to b with numbers in place of words.
func (r *coder) code(b *batch) error {
	out, nums := &r.out, r.up.numbers
	out.First, out.N, out.Line = b.First, b.N, b.Line
	out.F64, out.Bad = resized(out.F64, b.N*nums), append(out.Bad[:0], b.Bad...)
	if r.k.measuring {
		out.Value = resized(out.Value, b.N*nums)
	}
	for i := range b.N {
		for _, j := range r.words {
			w, err := r.look(j, r.word(b, i, j))
			if err != nil {
				return err
			}
			if at := r.up.number[j]; at >= 0 {
				out.F64[i*nums+at] = w.code
				if r.k.measuring {
					out.Value[i*nums+at] = w.value
				}
			}
			if w.isMissing() || r.k.measuring && w.value != w.value {
				r.bad(b, i, j, &w)
			}
		}
		for _, j := range r.plain {
			v := b.F64[i*r.down.numbers+r.down.number[j]]
			out.F64[i*nums+r.up.number[j]] = v
			if r.k.measuring {
				out.Value[i*nums+r.up.number[j]] = v
			}
		}
	}
	if !r.k.measuring && len(b.Bad) > 0 { // statistics need the order of rows within a column only
		sortBad(out.Bad)
	}
	r.pass(out, b)
	return nil
}

// bad lists a cell that is not a finite number.
func (r *coder) bad(b *batch, i, j int, w *word) {
	c := badCell{Row: b.First + int64(i), Column: j, Kind: w.kind, Value: cut(w.text)}
	if b.Line != nil {
		c.Line = b.Line[i]
	}
	r.out.Bad = append(r.out.Bad, c)
}

// look returns what a text in column j is.
func (r *coder) look(j int, text string) (word, error) {
	d := r.k.dict[j]
	if d.settled {
		if i, ok := d.at[text]; ok {
			return d.words[i], nil
		}
		w := d.read(text)
		if !w.isMissing() && d.known == nil {
			return w, columnError(r.k.file, r.k.names()[j], "%q was not in it before: the file was changed while it was read", cut(text))
		}
		return w, nil
	}
	if w, ok := r.seen[j][text]; ok {
		return w, nil
	}
	w := d.learn(text)
	if w.code == w.code {
		r.seen[j][w.text] = w
	}
	return w, nil
}

// categorize makes room for the words of those of the columns that are read as categories. The others have none.
func (l *loader) categorize(cols []int) {
	if l.words == nil {
		if len(l.categoriesOf(cols)) == 0 {
			return
		}
		l.words = &categories{cells: l.cells, file: l.file.name, dict: make([]*dictionary, len(l.cols.names))}
		l.cells = l.words
	}
	byType, _ := l.file.cells.(interface{ textual(column int) bool })
	for _, c := range cols {
		l.words.dict[c] = nil
		if l.isCategory(c) {
			isText := byType != nil && byType.textual(c)
			l.words.dict[c] = &dictionary{decimal: l.decimal(), na: l.na, numeric: l.isNumeric(c), isText: isText, at: map[string]int{}}
		}
	}
}

// dict returns the dictionary of a column; nil without one.
func (l *loader) dict(c int) *dictionary {
	if l.words == nil {
		return nil
	}
	return l.words.dict[c]
}

// settle fixes the levels of the features: those the model knows, or those that stand in the rows that are kept.
func (l *loader) settle(ctx context.Context) error {
	if l.o.Mixed {
		l.info.Levels = make([][]string, len(l.features))
	}
	if l.words == nil {
		return nil
	}
	seen, err := l.wordsOfCompleteRows(ctx)
	if err != nil {
		return err
	}
	sets := make([]*levelSet, len(l.features))
	for j, c := range l.features {
		switch d := l.dict(c); {
		case d == nil:
		case l.o.Levels == nil:
			sets[j] = d.levels(seen[j])
		default:
			sets[j] = givenLevels(l.o.Levels[j])
		}
	}
	switch {
	case l.o.Unseen == "missing":
		err = l.countUnseen(ctx, sets)
	case l.o.Levels != nil:
		err = l.checkLevels(ctx, sets, seen)
	}
	if err != nil {
		return err
	}
	l.info.Levels = make([][]string, len(l.features))
	for j, c := range l.features {
		if sets[j] != nil {
			l.dict(c).settle(sets[j])
			l.info.Levels[j] = sets[j].names
		}
	}
	l.recode()
	return nil
}

// wordsOfCompleteRows marks, for each feature, the words in rows that are kept; nil where no row is dropped.
func (l *loader) wordsOfCompleteRows(ctx context.Context) ([][]bool, error) {
	seen := make([][]bool, len(l.features))
	if !l.drops() {
		return seen, nil
	}
	for j, c := range l.features {
		if d := l.dict(c); d != nil {
			seen[j] = make([]bool, len(d.words))
		}
	}
	p := newPlan(l.featureWants())
	var mu sync.Mutex
	err := l.cells.read(ctx, p.wants, false, l.threads, func(b *batch) error {
		mu.Lock()
		defer mu.Unlock()
		gaps := missingRows(b)
		for i := range b.N {
			if gaps[b.First+int64(i)] {
				continue
			}
			for j, c := range l.features {
				// Not a number in a column of too many words, or where the file was changed since.
				if v := b.F64[i*p.numbers+p.number[c]]; v >= 0 && v < float64(len(seen[j])) {
					seen[j][int(v)] = true
				}
			}
		}
		return nil
	})
	return seen, err
}

// drops reports whether some row has a missing value and is left out for it.
func (l *loader) drops() bool {
	if l.keepsGaps() {
		return false
	}
	missing := int64(0)
	for _, c := range l.features {
		missing += l.stats[c].missing
	}
	if l.weight >= 0 {
		missing += l.stats[l.weight].missing
	}
	return missing > 0
}

// featureWants asks for the features and the weight as numbers.
func (l *loader) featureWants() []want {
	wants := make([]want, len(l.cols.names))
	for _, c := range l.features {
		wants[c] = number
	}
	if l.weight >= 0 {
		wants[l.weight] = number
	}
	return wants
}

// missingRows are the rows of a batch in which a cell is missing.
func missingRows(b *batch) map[int64]bool {
	gaps := map[int64]bool{}
	for i := range b.Bad {
		if b.Bad[i].Kind == missingCell {
			gaps[b.Bad[i].Row] = true
		}
	}
	return gaps
}

// recode puts the numbers of levels in place of those of words in the rows that are stored.
func (l *loader) recode() {
	s := &l.store
	if s.f64 == nil && s.f32 == nil {
		return
	}
	for j, place := range l.places() {
		d := l.dict(l.features[j])
		if d == nil {
			continue
		}
		words := d.words
		for i := place; i < len(s.f64); i += s.width {
			if v := s.f64[i]; v == v {
				s.f64[i] = words[int(v)].code
			}
		}
		for i := place; i < len(s.f32); i += s.width {
			if v := s.f32[i]; v == v {
				s.f32[i] = float32(words[int(v)].code)
			}
		}
	}
}

// count returns the number of levels in all rows that were read.
func (d *dictionary) count() int { return len(d.levels(nil).names) }
