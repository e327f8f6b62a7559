package score

import (
	"fmt"
	"math"
)

// An Agreement is the contingency table of two labellings of the same rows, filled row by row. The zero value is an
// empty table. It holds one number for each pair of labels seen, whatever the number of rows. Sums run in the order
// in which pairs were first seen, so the same rows in the same order give the same bits.
type Agreement[A, B comparable] struct {
	n     float64 // total weight
	first margin[A]
	other margin[B]
	cells []cell
	where map[[2]int]int // (first, other) to index in cells
}

// A margin is one labelling: its labels in order of appearance and the weight of each.
type margin[T comparable] struct {
	index map[T]int
	w     []float64
}

// A cell is the weight of the rows that carry label a of the first labelling and label b of the other.
type cell struct {
	a, b int
	w    float64
}

// add counts a row of weight w with this label, and returns the label's number.
func (m *margin[T]) add(label T, w float64) int {
	i, seen := m.index[label]
	if !seen {
		if m.index == nil {
			m.index = make(map[T]int)
		}
		i = len(m.w)
		m.index[label] = i
		m.w = append(m.w, 0)
	}
	m.w[i] += w
	return i
}

// entropy returns -Σ w_i/n ln(w_i/n), in nats.
func (m *margin[T]) entropy(n float64) float64 {
	if len(m.w) < 2 {
		return 0 // exactly, also where w/n rounds
	}
	var h float64
	for _, w := range m.w {
		h -= w / n * math.Log(w/n)
	}
	return h
}

// Add counts a row of weight w that the first labelling calls a and the second b. A row of weight 0 leaves no trace.
// A weight that is negative, infinite or not a number is refused and not counted.
func (t *Agreement[A, B]) Add(a A, b B, w float64) error {
	if !(w >= 0) || math.IsInf(w, 1) {
		return fmt.Errorf("weight %v of a row labelled %v and %v is not a finite number of at least 0", w, a, b)
	}
	if w == 0 {
		return nil
	}
	t.n += w
	key := [2]int{t.first.add(a, w), t.other.add(b, w)}
	i, seen := t.where[key]
	if !seen {
		if t.where == nil {
			t.where = make(map[[2]int]int)
		}
		i = len(t.cells)
		t.where[key] = i
		t.cells = append(t.cells, cell{a: key[0], b: key[1]})
	}
	t.cells[i].w += w
	return nil
}

// N returns the total weight of the rows added.
func (t *Agreement[A, B]) N() float64 { return t.n }

// Labels returns the labels of both labellings, in the order in which they were first seen.
func (t *Agreement[A, B]) Labels() (first []A, other []B) { return t.first.labels(), t.other.labels() }

// labels returns the labels by their numbers.
func (m *margin[T]) labels() []T {
	list := make([]T, len(m.w))
	for label, i := range m.index {
		list[i] = label
	}
	return list
}

// Count returns the weight of the rows that the first labelling calls a and the second b.
func (t *Agreement[A, B]) Count(a A, b B) float64 {
	i, seen := t.first.index[a]
	j, also := t.other.index[b]
	if !seen || !also {
		return 0
	}
	c, seen := t.where[[2]int{i, j}]
	if !seen {
		return 0
	}
	return t.cells[c].w
}

// ARI returns the adjusted Rand index: 1 for labellings that agree up to names, 0 on average for random ones with the
// same margins, below 0 for worse. Hubert and Arabie 1985.
//
// Labellings without a single pair on which they differ score 1: an empty table, one row, one cluster in both, every
// row alone in both. Weights count rows, so a cell holds w(w-1)/2 pairs; cells lighter than 1 hold none.
func (t *Agreement[A, B]) ARI() float64 {
	// Ordered pairs of rows by "together in the first" and "together in the second". Each is a sum of terms of one sign,
	// where Σ a_i² - Σ n_ij² would subtract large numbers; labellings that agree give exactly 0 in split and join.
	var both, split, join, neither float64
	for _, c := range t.cells {
		a, b := t.first.w[c.a], t.other.w[c.b]
		both += c.w * max(0, c.w-1)
		split += c.w * (a - c.w)
		join += c.w * (b - c.w)
		neither += c.w * (t.n - a - (b - c.w))
	}
	if split == 0 && join == 0 {
		return 1
	}
	neither = max(0, neither) // fractional weights may round below
	most := max(both, split, join, neither)
	both, split, join, neither = both/most, split/most, join/most, neither/most // so that no product overflows
	// The formula of the package comment, numerator and denominator multiplied out.
	below := (both+split)*(split+neither) + (both+join)*(join+neither)
	if below == 0 {
		return 0 // split and join underflow: rows of next to no weight differ
	}
	return 2 * (both*neither - split*join) / below
}

// information returns the mutual information of the two labellings in nats. It is exactly 0 where either has one label,
// and where it is too small to tell from rounding.
func (t *Agreement[A, B]) information() float64 {
	if len(t.first.w) < 2 || len(t.other.w) < 2 {
		return 0
	}
	var sum float64
	for _, c := range t.cells {
		// Not n·w over a·b: nothing overflows, and a cell that is all of its row or column loses no digit.
		a, b := t.first.w[c.a], t.other.w[c.b]
		sum += c.w / t.n * math.Log(c.w/a/(b/t.n))
	}
	// Terms cancel to within their own rounding, about 2^-52 each.
	if sum < 0x1p-52 {
		return 0
	}
	return sum
}

// NMI returns the mutual information of the labellings divided by the arithmetic mean of their entropies: 1 for
// labellings that agree up to names, 0 for independent ones. It is 1 where neither has more than one label (or there
// are no rows) and 0 where just one of them has.
func (t *Agreement[A, B]) NMI() float64 {
	h := (t.first.entropy(t.n) + t.other.entropy(t.n)) / 2
	if h == 0 {
		return 1
	}
	return min(1, t.information()/h)
}

// Homogeneity returns how far the clusters, the second labelling, each hold one class of the first: 1 - H(C|K)/H(C).
// It is 1 where there is one class or no row.
func (t *Agreement[A, B]) Homogeneity() float64 {
	h := t.first.entropy(t.n)
	if h == 0 {
		return 1
	}
	return min(1, t.information()/h)
}

// Completeness returns how far the classes, the first labelling, each fall into one cluster of the second:
// 1 - H(K|C)/H(K). It is 1 where there is one cluster or no row.
func (t *Agreement[A, B]) Completeness() float64 {
	h := t.other.entropy(t.n)
	if h == 0 {
		return 1
	}
	return min(1, t.information()/h)
}

// VMeasure returns the harmonic mean of Homogeneity and Completeness, 0 where both are 0. It equals NMI but for
// rounding.
func (t *Agreement[A, B]) VMeasure() float64 {
	h, c := t.Homogeneity(), t.Completeness()
	if h+c == 0 {
		return 0
	}
	return 2 * h * c / (h + c)
}
