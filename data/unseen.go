package data

import "context"

// countUnseen counts the cells whose level the model does not know, and has their words stand for a missing cell.
func (l *loader) countUnseen(ctx context.Context, sets []*levelSet) error {
	for j, c := range l.features {
		if d := l.dict(c); d == nil || !d.full.Load() {
			continue
		}
		// Words that the model knows may not have found room among the others.
		l.categorize([]int{c})
		l.dict(c).known = sets[j]
		if err := l.readAgain(ctx, []int{c}, nil); err != nil {
			return err
		}
		if l.dict(c).full.Load() {
			return columnError(l.file.name, l.cols.names[c], "the levels of the model are written in more than %s ways", thousands(maxLevels))
		}
	}
	unknown := map[int]*UnseenLevels{} // by feature
	for j, c := range l.features {
		if d := l.dict(c); d != nil && (d.unseen.Load() || !d.within(sets[j])) {
			unknown[j] = &UnseenLevels{Column: l.cols.names[c]}
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	if err := l.lookForUnseen(ctx, sets, unknown); err != nil {
		return err
	}
	for j := range l.features {
		if u := unknown[j]; u != nil && u.Cells > 0 {
			l.info.Unseen = append(l.info.Unseen, *u)
			l.warn("column %q: the model does not know the level of %s, such as %q; counted as missing", u.Column, counted(u.Cells, "cell"), u.Example)
		}
	}
	return nil
}

// within reports whether every word has its level in a set.
func (d *dictionary) within(s *levelSet) bool {
	for i := range d.words {
		if _, ok := s.find(&d.words[i]); !ok {
			return false
		}
	}
	return true
}

// lookForUnseen makes the pass that counts the cells whose level is not in the sets, for the features of found.
func (l *loader) lookForUnseen(ctx context.Context, sets []*levelSet, found map[int]*UnseenLevels) error {
	wants := make([]want, len(l.cols.names))
	for j := range found {
		wants[l.features[j]] = text
	}
	p := newPlan(wants)
	return l.cells.read(ctx, wants, true, l.threads, func(b *batch) error {
		for j, u := range found {
			d, at := l.dict(l.features[j]), p.text[l.features[j]]
			for i := range b.N {
				w := d.read(b.Text[i*p.texts+at])
				if _, ok := sets[j].find(&w); ok || w.isMissing() {
					continue
				}
				if u.Cells++; u.Cells == 1 {
					u.Example = validText(cut(w.text))
				}
			}
		}
		return nil
	})
}
