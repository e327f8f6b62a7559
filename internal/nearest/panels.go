package nearest

import (
	"context"
	"encoding/binary"
	"math"

	"github.com/latent-go/latent/internal/kern"
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
			e.row(w.y, i)
			q, square, top := shift(w.y, e.mu)
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

// shift takes mu off a row. It returns the square of the row before and after, and the largest size of a cell after. Sums side by side
// do not wait for each other.
func shift(y, mu []float64) (before, after, top float64) {
	mu = mu[:len(y)]
	var q0, q1, q2, q3, r0, r1, r2, r3 float64
	var t0, t1 uint64 // sizes compare as their bits do
	j := 0
	for ; j+4 <= len(y); j += 4 {
		p, m := y[j:j+4:j+4], mu[j:j+4:j+4]
		a, b, c, d := p[0], p[1], p[2], p[3]
		q0 += a * a
		q1 += b * b
		q2 += c * c
		q3 += d * d
		a, b, c, d = a-m[0], b-m[1], c-m[2], d-m[3]
		r0 += a * a
		r1 += b * b
		r2 += c * c
		r3 += d * d
		p[0], p[1], p[2], p[3] = a, b, c, d
		t0 = max(t0, math.Float64bits(math.Abs(a)), math.Float64bits(math.Abs(b)))
		t1 = max(t1, math.Float64bits(math.Abs(c)), math.Float64bits(math.Abs(d)))
	}
	for ; j < len(y); j++ {
		q0 += y[j] * y[j]
		y[j] -= mu[j]
		r0 += y[j] * y[j]
		t0 = max(t0, math.Float64bits(math.Abs(y[j])))
	}
	return (q0 + q1) + (q2 + q3), (r0 + r1) + (r2 + r3), math.Float64frombits(max(t0, t1))
}

// densePanels are the rows relative to mu, in float32.
type densePanels struct {
	x    []float32 // panels x D x kern.Rows
	norm []float32 // panels x kern.Rows: at least the length of each row
}

// pack fills panels; rows beyond the last are 0.
func (e *Engine) pack() *densePanels {
	p := &densePanels{x: make([]float32, e.panels*e.d*kern.Rows), norm: make([]float32, e.panels*kern.Rows)}
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
	p.q, p.row = make([]uint8, e.panels*p.groups*4*kern.Rows), make([]float32, e.panels*4*kern.Rows)
	// Two roundings may decide beside that to integers: those of the plain loop, and of scores in float32. Both are bounded
	// by the square of the row's length here and by a term of the centres in intTile.
	plain := float64(e.d+4)*0x1p-51 + 0x1p-20
	e.each(func(i int, z []float64, square, top float64) {
		s := float32(max(top/p.top, math.Sqrt(square)/p.long) * up)
		if s == 0 {
			s = 1
		}
		miss, kept := p.set(z, i, float64(s))
		miss, kept = math.Sqrt(miss), float64(s)*math.Sqrt(kept)
		row := p.row[i/kern.Rows*4*kern.Rows+i%kern.Rows:]
		row[0] = 2 * s
		row[kern.Rows] = float32((miss+kept)*(miss+kept)*plain*up + 1e-36)
		row[2*kern.Rows] = float32(2*miss*up + 0x1p-50*kept)
		row[3*kern.Rows] = float32(2 * kept * up)
	})
	return p
}

// magic turns a number of less than 2^51 into the nearest integer by adding and subtracting it; in between the integer
// stands in the low bits.
const magic = 3 << 51

// set writes row i in steps of s and returns the sums of squares of what is missed and of the integers.
func (p *intPanels) set(z []float64, i int, s float64) (miss, kept float64) {
	q := p.q[i/kern.Rows*p.groups*4*kern.Rows+i%kern.Rows*4:]
	if p.words {
		return setWords(q, z, s)
	}
	return setBytes(q, z, s, magic+float64(p.zero))
}

// setBytes is set for bytes. magic is that and the byte of 0, so that bytes stand in the low bits.
func setBytes(q []uint8, z []float64, s, magic float64) (miss, kept float64) {
	inv := 1 / s
	var m0, m1, k0, k1 float64
	for ; len(z) >= 4; z = z[4:] {
		a, b, c, d := z[0]*inv+magic, z[1]*inv+magic, z[2]*inv+magic, z[3]*inv+magic
		binary.LittleEndian.PutUint32(q, uint32(uint8(math.Float64bits(a)))|uint32(uint8(math.Float64bits(b)))<<8|
			uint32(uint8(math.Float64bits(c)))<<16|uint32(uint8(math.Float64bits(d)))<<24)
		a, b, c, d = a-magic, b-magic, c-magic, d-magic
		k0 += a*a + c*c
		k1 += b*b + d*d
		a, b, c, d = z[0]-s*a, z[1]-s*b, z[2]-s*c, z[3]-s*d
		m0 += a*a + c*c
		m1 += b*b + d*d
		q = q[min(4*kern.Rows, len(q)):]
	}
	for j, v := range z {
		u := v*inv + magic
		q[j] = uint8(math.Float64bits(u))
		u -= magic
		k0 += u * u
		m0 += (v - s*u) * (v - s*u)
	}
	return m0 + m1, k0 + k1
}

func setWords(q []uint8, z []float64, s float64) (miss, kept float64) {
	inv := 1 / s
	var m0, m1, k0, k1 float64
	for ; len(z) >= 2; z = z[2:] {
		a, b := z[0]*inv+magic, z[1]*inv+magic
		binary.LittleEndian.PutUint32(q, uint32(uint16(math.Float64bits(a)))|uint32(uint16(math.Float64bits(b)))<<16)
		a, b = a-magic, b-magic
		k0 += a * a
		k1 += b * b
		a, b = z[0]-s*a, z[1]-s*b
		m0 += a * a
		m1 += b * b
		q = q[min(4*kern.Rows, len(q)):]
	}
	for _, v := range z {
		u := v*inv + magic
		binary.LittleEndian.PutUint16(q, uint16(math.Float64bits(u)))
		u -= magic
		k0 += u * u
		m0 += (v - s*u) * (v - s*u)
	}
	return m0 + m1, k0 + k1
}
