package data

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
