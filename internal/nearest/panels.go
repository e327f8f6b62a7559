package nearest

import (
	"context"
	"math"

	"github.com/latent-go/latent/internal/kern"
	"github.com/latent-go/latent/internal/large"
)

// up is a factor that covers a few roundings to float32, upwards.
const up = 1 + 1e-6

// packParts is how many runs of rows the first look is summed over: fixed, for the same bits on any number of threads.
const packParts = 64

// totals are what a first look at the rows finds.
type totals struct {
	top    float64 // the largest |x - mu| of a cell
	used   int64   // rows of positive weight
	weight float64
	square float64 // sum of w |x - origin|^2
}

// look is totals in the making, of a run of rows.
type look struct {
	top              float64
	used             int64
	hi, lo, whi, wlo float64
	_                [64]byte // the next is another worker's
}

// each calls f with every row relative to mu, its square and the largest size of its cells, and sums up what the rows hold.
func (e *Engine) each(f func(i int, z []float64, square, top float64)) {
	parts := make([]look, packParts)
	e.run(context.Background(), packParts, func(w *worker, part int) {
		s := &parts[part]
		first, last := e.rowsOf(e.span(part, packParts))
		for i := first; i < last; i++ {
			q, square, top := w.deviations(i)
			s.add(e.weightOf(i), q, top)
			f(i, w.y, square, top)
		}
	})
	var t look
	for i := range parts {
		t.merge(&parts[i])
	}
	e.looked, e.totals = t, t.totals()
}

// deviations sets w.y to row i relative to mu. It returns the squares of the row and of that, and the largest size of a cell of that.
func (w *worker) deviations(i int) (row, square, top float64) {
	e := w.e
	if e.t.F64 != nil {
		return kern.Deviations(w.y, e.t.F64[i*e.d:i*e.d+e.d], e.origin, e.mu)
	}
	return kern.Deviations(w.y, e.t.F32[i*e.d:i*e.d+e.d], e.origin, e.mu)
}

// add takes in a row of weight w, square q and largest cell top.
func (s *look) add(w, q, top float64) {
	s.top = max(s.top, top)
	if w > 0 {
		s.used++
		s.whi, s.wlo = kern.TwoSum(s.whi, s.wlo, w)
		s.hi, s.lo = kern.TwoSum(s.hi, s.lo, w*q)
	}
}

// merge adds the rows that follow.
func (s *look) merge(o *look) {
	s.top, s.used = max(s.top, o.top), s.used+o.used
	s.hi, s.lo = kern.TwoSum(s.hi, s.lo+o.lo, o.hi)
	s.whi, s.wlo = kern.TwoSum(s.whi, s.wlo+o.wlo, o.whi)
}

func (s *look) totals() totals {
	return totals{top: s.top, used: s.used, weight: s.whi + s.wlo, square: s.hi + s.lo}
}

// densePanels are the rows relative to mu, in float32.
type densePanels struct {
	x    []float32 // panels x D x kern.Rows
	norm []float32 // panels x kern.Rows: at least the length of each row
}

// pack fills panels; rows beyond the last are 0.
func (e *Engine) pack() *densePanels {
	p := &densePanels{x: large.Make[float32](e.panels * e.d * kern.Rows), norm: large.Make[float32](e.panels * kern.Rows)}
	e.each(func(i int, z []float64, square, _ float64) {
		i = e.laneOf(i)
		x := p.x[i/kern.Rows*e.d*kern.Rows+i%kern.Rows:]
		x = x[:(len(z)-1)*kern.Rows+1]
		for j, v := range z {
			x[j*kern.Rows] = float32(v)
		}
		p.norm[i] = float32(math.Sqrt(square) * up)
	})
	return p
}

// intPanels are the rows relative to mu in steps of their own: x - mu = s u + e, u integers. Bytes leave one centre to three
// to a row; words, at twice the price, hardly ever two.
type intPanels struct {
	words  bool
	groups int // of 4 columns in bytes, of 2 in words
	zero   int // the byte of 0: a byte is u + zero
	// top and most are the largest integers of a row and of a centre: half of kern.MostByte and 127, or any word. long is the length,
	// in steps, that a row of either may have: that of words keeps the sum of their products within an int32. sum is what
	// kern.MostByte leaves for the sum of four integers of a centre, or 0.
	top, most, long, sum float64

	q   []uint8   // panels x groups x kern.Rows x 4, as kern.Integers wants them
	row []float32 // panels x 4 x kern.Rows
}

func newIntPanels(words bool, d int) *intPanels {
	if words {
		// The product of the lengths of two rows of integers is at least the sum of their products (Cauchy-Schwarz), whatever columns it is over.
		// Rounding to integers adds at most half a step a column.
		return &intPanels{words: true, groups: (d + 1) / 2, top: 1<<15 - 1, most: 1<<15 - 1, long: math.Sqrt(1<<31-1) - math.Sqrt(float64(d))/2 - 1}
	}
	most := kern.MostByte()
	p := &intPanels{groups: (d + 3) / 4, zero: (most + 1) / 2, top: float64(most / 2), most: 127, long: math.Inf(1)}
	if most < 255 {
		p.sum = float64((1<<15 - 1) / most)
	}
	return p
}

// quantise fills panels; rows beyond the last are 0.
func (e *Engine) quantise(words bool) *intPanels {
	p := newIntPanels(words, e.d)
	p.q, p.row = large.Make[uint8](e.panels*p.groups*4*kern.Rows), large.Make[float32](e.panels*4*kern.Rows)
	// Two roundings may decide beside that to integers: those of the plain loop, and of scores in float32. Both are bounded
	// by the square of the row's length here and by a term of the centres in intTile.
	plain := float64(e.d+4)*0x1p-51 + 0x1p-20
	e.each(func(i int, z []float64, square, top float64) {
		s := float32(max(top/p.top, math.Sqrt(square)/p.long) * up)
		if s == 0 {
			s = 1
		}
		q := p.q[i/kern.Rows*p.groups*4*kern.Rows+i%kern.Rows*4:]
		miss, kept := kern.Quantise(q, z, float64(s), p.words, p.zero)
		miss, kept = math.Sqrt(miss), float64(s)*math.Sqrt(kept)
		row := p.row[i/kern.Rows*4*kern.Rows+i%kern.Rows:]
		row[0] = 2 * s
		row[kern.Rows] = float32((miss+kept)*(miss+kept)*plain*up + 1e-36)
		row[2*kern.Rows] = float32(2*miss*up + 0x1p-50*kept)
		row[3*kern.Rows] = float32(2 * kept * up)
	})
	return p
}
