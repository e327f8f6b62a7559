package data

import "slices"

// worded is a pass in which some columns are read as text for the numbers that it stands for: categories and dates.
type worded struct {
	below    []want // what the file is asked for, by column
	up, down *plan  // what the caller of the pass wants, and what the file is asked for
	words    []int  // columns that are read as text for their numbers
	plain    []int  // columns that are numbers already
	texts    []int  // columns whose text the caller wants
}

// newWorded plans a pass for what its caller wants. is says which columns stand for numbers by their words.
func newWorded(wants []want, is func(column int) bool) *worded {
	w := &worded{below: slices.Clone(wants), up: newPlan(wants)}
	for j, x := range wants {
		switch {
		case x&(number|count) == 0:
		case is(j):
			w.below[j] = text
			w.words = append(w.words, j)
		case x&number != 0:
			w.plain = append(w.plain, j)
		}
		if x&text != 0 {
			w.texts = append(w.texts, j)
		}
	}
	w.down = newPlan(w.below)
	return w
}

// word returns the text of column j in row i of b, which the file has read.
func (w *worded) word(b *batch, i, j int) string { return b.Text[i*w.down.texts+w.down.text[j]] }

// pass hands the texts of b on that the caller wants.
func (w *worded) pass(out, b *batch) {
	if out.Text = b.Text; w.up.texts == w.down.texts {
		return
	}
	out.Text = make([]string, b.N*w.up.texts)
	for i := range b.N {
		for _, j := range w.texts {
			out.Text[i*w.up.texts+w.up.text[j]] = w.word(b, i, j)
		}
	}
}
