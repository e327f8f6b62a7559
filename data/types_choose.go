package data

import "context"

// chooseMixed takes the candidates that are features by their looks.
func (l *loader) chooseMixed() {
	var counters, ids, constants []int
	for _, c := range l.chosen {
		switch col := &l.info.Columns[c]; {
		case l.wanted[c]:
			l.features = append(l.features, c)
		case col.Kind == "empty":
		case l.isCounter(c):
			counters = append(counters, c)
		case l.isLongID(c):
			ids = append(ids, c)
		case col.Kind == "constant" || l.dict(c) != nil && !l.dict(c).full.Load() && l.dict(c).count() == 1:
			constants = append(constants, c)
		default:
			if why := l.whyNoLevels(c); why != "" {
				col.Why = why
				continue
			}
			l.features = append(l.features, c)
		}
	}
	l.leaveOut(counters, whyCounter, "id")
	l.leaveOut(ids, whyLongID, "id")
	l.leaveOut(constants, whyConstant, "constant")
}

// whyNoLevels is the reason for which a column of text is left out; "" for none.
func (l *loader) whyNoLevels(c int) string {
	if l.info.Columns[c].Kind != "text" {
		return ""
	}
	return l.whyNoCategory(c)
}

// typeByPlace gives features that were found by their place the types that the model has there.
func (l *loader) typeByPlace(ctx context.Context) error {
	again := map[Type][]int{}
	for j, c := range l.features {
		if l.o.ExactTypes == nil || l.types[c] == l.o.ExactTypes[j] {
			continue
		}
		t := l.o.ExactTypes[j]
		if l.isCategory(c) || t == Category {
			again[t] = append(again[t], c)
		}
		l.types[c] = t
	}
	for _, t := range []Type{Number, Category, Count} {
		if err := l.reread(ctx, again[t], t, nil); err != nil {
			return err
		}
	}
	return nil
}
