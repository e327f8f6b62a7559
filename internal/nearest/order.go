package nearest

import (
	"context"
	"math"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/large"
)

// order is how rows are laid out in panels, where not as they come. A lane is a row's place: panel and row of it. Rows of one label side by
// side share the centres that may be nearest, and lists of their panels are shorter. Rows are laid out once. Those of a part are others from
// then on: what its sums hold of rows that have left it is what the sums of other parts lack, so that the sums over all parts are as they were.
type order struct {
	row, lane []int32 // of a lane and of a row
}

// orderedColumns is the number of columns up to which rows are laid out by label. It takes a copy of all rows. With 128 columns and 256 centres
// that was 0.9 of a sweep, and 60 sweeps took 0.96 of their time at level avx2 and as long at avx512.
const orderedColumns = 64

// sortable reports whether rows may be laid out by label.
func (e *Engine) sortable() bool {
	return e.order == nil && e.ints != nil && e.d <= orderedColumns && e.n <= math.MaxInt32
}

// rowOf returns the row of a lane.
func (e *Engine) rowOf(lane int) int {
	if e.order == nil {
		return lane
	}
	return int(e.order.row[lane])
}

// laneOf returns the lane of a row.
func (e *Engine) laneOf(row int) int {
	if e.order == nil {
		return row
	}
	return int(e.order.lane[row])
}

// rangeRows is how many rows of a label a range has at least, on average, where there are several: two panels of them.
const rangeRows = 64

// sort lays rows out by the labels of st, which are in the order of rows, within a label by their distance from mu, and where that is nearly the same
// as they come: what centres may come nearer to the rows of a panel goes by the longest of them. Where rows are many they stay within ranges, as
// many as st has parts or fewer, so that those of a panel lie near each other in memory.
func (e *Engine) sort(st *State) {
	o := &order{row: large.Make[int32](e.panels * kern.Rows), lane: large.Make[int32](e.panels * kern.Rows)}
	ranges := len(st.part)
	for ranges > 1 && e.n < ranges*st.k*rangeRows {
		ranges /= 2
	}
	e.run(context.Background(), ranges, func(_ *worker, r int) {
		lo, hi := e.span(r, ranges)
		first, last := e.rowsOf(lo, hi)
		e.sortRange(o, st.label, first, last, st.k)
		for i := last; i < hi*kern.Rows; i++ { // what follows the last row stays where it is
			o.row[i] = int32(i)
		}
		for lane := first; lane < hi*kern.Rows; lane++ {
			o.lane[o.row[lane]] = int32(lane)
		}
	})
	e.rearrange(o.row)
	e.order = o
}

// sortRange lays out rows first to last.
func (e *Engine) sortRange(o *order, label []int32, first, last, k int) {
	length := func(i int) int { // the sign, the exponent and 6 bits more of its double
		row := e.ints.row[i/kern.Rows*4*kern.Rows+i%kern.Rows:]
		return int(math.Float32bits(row[2*kern.Rows]+row[3*kern.Rows]) >> 17)
	}
	byLength := o.lane[first:last]
	next := starts(first, last, 1<<15, length)
	for i := first; i < last; i++ {
		at := &next[length(i)]
		byLength[*at] = int32(i)
		*at++
	}
	next = starts(first, last, k, func(i int) int { return int(label[i]) })
	for _, i := range byLength {
		at := &next[label[i]]
		o.row[first+int(*at)] = i
		*at++
	}
}

// starts returns where those of each key begin when rows first to last are sorted by keys below most.
func starts(first, last, most int, key func(i int) int) []int32 {
	at := make([]int32, most+1)
	for i := first; i < last; i++ {
		at[key(i)+1]++
	}
	for c := range most {
		at[c+1] += at[c]
	}
	return at
}

// rearrange puts the rows where row says.
func (e *Engine) rearrange(row []int32) {
	p := e.ints
	words, lines := float32s(p.q), p.groups+4
	rows := make([]float32, len(row)*lines) // one after the other: a row is then fetched at once
	e.run(context.Background(), packParts, func(_ *worker, part int) {
		for panel, hi := e.span(part, packParts); panel < hi; panel++ {
			to := rows[panel*kern.Rows*lines:]
			fromPanel(to, words[panel*p.groups*kern.Rows:], p.groups, lines)
			fromPanel(to[p.groups:], p.row[panel*4*kern.Rows:], 4, lines)
		}
	})
	e.run(context.Background(), packParts, func(_ *worker, part int) {
		lo, hi := e.span(part, packParts)
		for lane := lo * kern.Rows; lane < hi*kern.Rows; lane++ {
			from := rows[int(row[lane])*lines:][:lines]
			toPanel(words[lane/kern.Rows*p.groups*kern.Rows+lane%kern.Rows:], from[:p.groups])
			toPanel(p.row[lane/kern.Rows*4*kern.Rows+lane%kern.Rows:], from[p.groups:])
		}
	})
}

// fromPanel copies the rows of a panel of so many columns to rows of so many numbers each.
func fromPanel(rows, panel []float32, columns, each int) {
	for j := range columns {
		for i, v := range panel[j*kern.Rows:][:kern.Rows] {
			rows[i*each+j] = v
		}
	}
}

// toPanel copies a row to its place in a panel, of which x begins there.
func toPanel(x, row []float32) {
	x = x[:(len(row)-1)*kern.Rows+1]
	for j, v := range row {
		x[j*kern.Rows] = v
	}
}

// follow brings what the state knows of rows into the order of the engine's lanes. It reports false where they were in another order than that
// they come in.
func (st *State) follow(o *order) bool {
	if o == st.order {
		return true
	}
	if st.order != nil {
		return false
	}
	label := append([]int32(nil), st.label...)
	for lane, row := range o.row {
		st.label[lane] = label[row]
	}
	if st.bounds.due != nil {
		due := append([]float32(nil), st.bounds.due...)
		for lane, row := range o.row {
			st.bounds.due[lane] = due[row]
		}
	}
	st.lists, st.order = lists{mode: st.lists.mode, share: st.lists.share}, o
	if st.lists.mode == bounding {
		st.lists.mode = filling
	}
	return true
}
