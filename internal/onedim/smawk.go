package onedim

import (
	"context"
	"math"
)

// program is the dynamic program over m sorted values (Grønlund et al. 2017, section 2):
//
//	D_q(j) = min over c < j of D_q-1(c) + span(c, j)
//
// the least cost of the first j values in q clusters, the last of which is the values c, c+1, ..., j-1. As every cluster
// has a value, j runs from q to q + m - k alone: width = m - k + 1 of them, and as many c.
type program struct {
	span     func(i, j int) float64 // the least cost of the values i, ..., j-1 as one cluster
	capacity int                    // the number of choices that may be kept at once
	ctx      context.Context        // that ends it
	cuts     []int32                // the first value of every cluster but the first; the result

	layer                 // that being filled
	prev, best  []float64 // D_q-1 and D_q
	identity    []int32   // 0, 1, 2, ...
	scratch     []int32   // columns that reductions keep
	held        []float64 // values in a reduction
	table       []int32   // choices of all layers but the first and last, or of one
	mid, oldMid []int32   // instead of the table, where that would be too large
}

// layer is the matrix whose row minima are D_q. Its row r stands for j = end + r, its column s for c = end - 1 + s, and
// columns s > r are empty.
type layer struct {
	width, end int
	choice     []int32 // the column of the minimum of each row
}

func newProgram(span func(i, j int) float64, capacity, m, k int) *program {
	width := m - k + 1
	p := &program{span: span, capacity: capacity, cuts: make([]int32, k-1)}
	if k > 1 {
		p.prev, p.best = make([]float64, width), make([]float64, width)
	}
	if k > 2 {
		p.identity, p.scratch, p.held = make([]int32, width), make([]int32, 2*width), make([]float64, width)
		for s := range p.identity {
			p.identity[s] = int32(s)
		}
	}
	return p
}

// cut sets cuts, of length k - 1, to the best partition of the values from, ..., to-1 in k clusters. It reports false where
// the context ended first.
//
// Not always a table of all choices, which is 4 k m bytes. Where that is more than the capacity, each D_q(j) carries the
// cut in the middle of its partition; both sides of it are then problems of half as many clusters, so that all takes at
// most twice the time (Hirschberg 1975).
func (p *program) cut(from, to, k int, cuts []int32) bool {
	if k < 2 {
		return true
	}
	p.width = to - from - k + 1
	tabled := (k-2)*p.width <= p.capacity
	half, layers, at := k/2, k-2, 0
	if !tabled {
		layers = 1
	}
	p.reserve(layers)
	p.first(from)
	for q := 2; q < k; q++ {
		if p.ctx.Err() != nil {
			return false
		}
		if tabled {
			at = (q - 2) * p.width
		}
		p.end, p.choice = from+q, p.table[at:at+p.width]
		p.minima(0, 1, p.identity[:p.width], p.scratch)
		p.prev, p.best = p.best, p.prev
		if !tabled {
			p.carry(q - half - 1)
		}
	}
	p.end = from + k
	s := p.last()
	if tabled {
		for q := k; q >= 2; q-- { // the column of layer q is the row of layer q-1
			cuts[q-2] = int32(from + q - 1 + s)
			if q > 2 {
				s = int(p.table[(q-3)*p.width+s])
			}
		}
		return true
	}
	if k-half-1 > 0 {
		s = int(p.mid[s])
	}
	middle := from + half + s
	cuts[half-1] = int32(middle)
	return p.cut(from, middle, half, cuts[:half-1]) && p.cut(middle, to, k-half, cuts[half:])
}

// first sets prev to the cost of one cluster.
func (p *program) first(from int) {
	for r := range p.width {
		p.prev[r] = p.span(from, from+1+r)
	}
}

// last returns the best column of the last row, all that is asked of the last layer.
func (p *program) last() (s int) {
	least := math.Inf(1)
	for c := range p.width {
		if v := p.value(p.width-1, c); v < least {
			least, s = v, c
		}
	}
	return s
}

// reserve makes room for the choices of so many layers.
func (p *program) reserve(layers int) {
	if need := layers * p.width; need > len(p.table) {
		p.table = make([]int32, need)
	}
}

// carry follows the middle cut from one layer to the next; after is how many layers ago it was made: it is the choice
// of the layer where after is 0.
func (p *program) carry(after int) {
	if p.mid == nil {
		p.mid, p.oldMid = make([]int32, p.width), make([]int32, p.width)
	}
	p.mid, p.oldMid = p.oldMid, p.mid
	for r, s := range p.choice {
		switch {
		case after == 0:
			p.mid[r] = s
		case after > 0:
			p.mid[r] = p.oldMid[s]
		}
	}
}

func (p *program) value(r, s int) float64 {
	if s > r {
		return math.Inf(1)
	}
	return p.prev[s] + p.span(p.end-1+s, p.end+r)
}

// minima sets best and choice of the rows start, start+step, ..., by the method of Aggarwal, Klawe, Moran, Shor and Wilber
// (1987), known as SMAWK: the least column rises with the row, for if a column beats one to its left in some row, it does so
// in all rows below. Of equal columns the leftmost is taken. It computes O(rows + columns) values. scratch holds at least
// twice as many columns as there are rows.
func (p *program) minima(start, step int, columns, scratch []int32) {
	if start >= p.width {
		return
	}
	kept := p.reduce(start, step, columns, scratch)
	p.minima(start+step, 2*step, kept, scratch[len(kept):])
	at := 0
	for r := start; r < p.width; r += 2 * step { // between the choices of the rows above and below
		last := kept[len(kept)-1]
		if r+step < p.width {
			last = p.choice[r+step]
		}
		s := kept[at]
		least := p.value(r, int(s))
		for kept[at] != last {
			at++
			if v := p.value(r, int(kept[at])); v < least {
				least, s = v, kept[at]
			}
		}
		p.best[r], p.choice[r] = least, s
	}
}

// reduce returns, at the start of scratch, as many columns as there are rows or fewer, among them those of all minima.
// The column scratch[i] has lost to none in the rows from the i-th on, as far as has been compared; held[i] is its value in
// the i-th row.
func (p *program) reduce(start, step int, columns, scratch []int32) []int32 {
	rows, n := (p.width-1-start)/step+1, 0
	for _, c := range columns {
		for n > 0 && p.held[n-1] > p.value(start+(n-1)*step, int(c)) {
			n--
		}
		if n < rows {
			scratch[n], p.held[n] = c, p.value(start+n*step, int(c))
			n++
		}
	}
	return scratch[:n]
}
