package data

import "slices"

// table makes a Table of what the measuring pass stored.
func (l *loader) table() (*Table, error) {
	t := &Table{D: len(l.features), W: l.store.w, ID: l.store.id, Truth: l.store.truth}
	keep := l.complete()
	n := len(keep)
	if keep == nil {
		n = int(l.n)
	}
	t.N = n
	s := &l.store
	if s.f32 != nil {
		t.F32 = take(s.f32, s.width, l.places(), n, keep)
	} else {
		t.F64 = take(s.f64, s.width, l.places(), n, keep)
	}
	if keep != nil {
		t.W, t.ID, t.Truth = pick(t.W, keep), pick(t.ID, keep), pick(t.Truth, keep)
	}
	t.Row = l.rowNumbers(keep)
	l.noteRows(int64(t.N))
	if err := l.checkKept(int64(t.N)); err != nil {
		return nil, err
	}
	if t.W != nil && t.N > 0 && !slices.ContainsFunc(t.W, func(w float64) bool { return w > 0 }) {
		return nil, columnError(l.file.name, l.cols.names[l.weight], "all weights of complete rows are 0")
	}
	return t, nil
}

// noteRows notes that n rows are kept.
func (l *loader) noteRows(n int64) {
	l.info.Rows, l.info.Dropped = n, l.n-n
	if l.keepsGaps() {
		l.info.MissingCells = l.missingCells()
	}
	if l.info.Dropped > 0 {
		l.warn("dropped %s of %s with a missing value", thousands(l.info.Dropped), counted(l.n, "row"))
	}
}

// places returns where the features are among the stored columns.
func (l *loader) places() []int {
	at := make([]int, len(l.cols.names))
	for i, c := range l.chosen {
		at[c] = i
	}
	out := make([]int, len(l.features))
	for j, c := range l.features {
		out[j] = at[c]
	}
	return out
}

// complete returns the indexes of the rows without a missing value; nil for all of them.
func (l *loader) complete() []int {
	cols, missing := l.features, int64(0)
	for _, c := range cols {
		missing += l.stats[c].missing
	}
	if l.weight >= 0 {
		missing += l.stats[l.weight].missing
	}
	if missing == 0 || l.keepsGaps() {
		return nil
	}
	s, places := &l.store, l.places()
	at := func(i, j int) float64 {
		if s.f32 != nil {
			return float64(s.f32[i*s.width+places[j]])
		}
		return s.f64[i*s.width+places[j]]
	}
	keep := []int{}
	for i := range int(l.n) {
		whole := s.w == nil || s.w[i] == s.w[i]
		for j := 0; whole && j < len(cols); j++ {
			v := at(i, j)
			whole = v == v
		}
		if whole {
			keep = append(keep, i)
		}
	}
	return keep
}

// rowNumbers returns the file's numbers of the kept rows; nil where they run from 1.
func (l *loader) rowNumbers(keep []int) []int64 {
	if keep == nil && (l.picked == nil || l.picked.sel == nil) {
		return nil
	}
	if keep == nil {
		out := make([]int64, l.n)
		for i := range out {
			out[i] = l.rowOf(int64(i)) + 1
		}
		return out
	}
	out := make([]int64, len(keep))
	for i, r := range keep {
		out[i] = l.rowOf(int64(r)) + 1
	}
	return out
}

// take leaves in rows, which is stride wide, columns cols of the rows keep (nil: the first n), side by side. Rows only
// move forward, and each is set aside before its place is written.
func take[T float32 | float64](rows []T, stride int, cols []int, n int, keep []int) []T {
	d := len(cols)
	inOrder := d == stride
	for j, c := range cols {
		inOrder = inOrder && j == c
	}
	if inOrder && keep == nil {
		return rows[: n*d : n*d]
	}
	row := make([]T, stride)
	for i := range n {
		r := i
		if keep != nil {
			r = keep[i]
		}
		copy(row, rows[r*stride:(r+1)*stride])
		for j, c := range cols {
			rows[i*d+j] = row[c]
		}
	}
	return rows[: n*d : n*d]
}

// pick returns the values at the given indexes.
func pick[T any](s []T, keep []int) []T {
	if s == nil {
		return nil
	}
	out := make([]T, len(keep))
	for i, k := range keep {
		out[i] = s[k]
	}
	return out
}
