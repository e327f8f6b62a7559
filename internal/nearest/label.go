package nearest

import (
	"math/bits"
	"slices"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/kern"
)

// leastSquare is the least squared distance that surely has full precision: a sum of squares below it may have lost some of them.
const leastSquare = 0x1p-1015

// Centres are fixed centres by which rows are labelled. They are read-only, and serve many Labellers at once.
type Centres struct {
	k, d    int
	origin  []float64
	theta   []float64
	mu      []float64 // rows are compared relative to this point: the mean of the centres
	centres centres
}

// NewCentres returns k centres, theta, k x d relative to origin. It returns nil where float32 does not hold their squares, and without
// vectors, where it is no faster than float64.
func NewCentres(theta, origin []float64, k, d int) *Centres {
	if kern.Current() == kern.Go || k < 1 || d < 1 || d > mostColumns {
		return nil
	}
	c := &Centres{k: k, d: d, origin: origin, theta: theta, mu: make([]float64, d)}
	for i, v := range theta[:k*d] {
		c.mu[i%d] += v / float64(k)
	}
	if !c.centres.set(theta, c.mu, k, d, width(false)) {
		return nil
	}
	c.centres.denseTiles(theta, k, d)
	return c
}

// A Labeller is the memory of one goroutine that labels rows.
type Labeller struct {
	c     *Centres
	w     *worker
	table data.Table
	room  int       // panels that are packed at a time
	x     []float32 // room x d x kern.Rows
	norm  []float32 // room x kern.Rows: at least the length of each row

	wide   []float64          // d x kern.Rows: a panel relative to the origin
	length [kern.Rows]float64 // of its rows relative to mu
	none   []int32            // the labels so far: none
}

// Labeller returns the memory of one goroutine.
func (c *Centres) Labeller() *Labeller {
	l := &Labeller{c: c}
	l.w = newWorker(&Engine{t: &l.table, d: c.d, origin: c.origin, mu: c.mu})
	l.w.j = &job{k: c.k, centres: &c.centres}
	l.room = max(min(callWork/(c.centres.slots()*c.d), batch), 1)
	l.wide = make([]float64, c.d*kern.Rows)
	l.x, l.norm, l.none = make([]float32, l.room*c.d*kern.Rows), make([]float32, l.room*kern.Rows), make([]int32, l.room*kern.Rows)
	return l
}

// Label sets dst[i] to the nearest centre of row i of b, the lowest of equals: the label of plain float64 arithmetic, as a State has it. It
// reports false, and dst means nothing, where b lacks a value or has one whose square float32 does not hold, and where squares of
// distances to two centres vanish.
func (l *Labeller) Label(dst []int32, b *data.Block) bool {
	l.table = data.Table{N: b.N, D: b.D, F64: b.F64, F32: b.F32}
	step := l.room * kern.Rows
	for lo := 0; lo < b.N; lo += step {
		n := min(step, b.N-lo)
		var held bool
		if b.F64 != nil {
			held = pack(l, b.F64[lo*b.D:], n)
		} else {
			held = pack(l, b.F32[lo*b.D:], n)
		}
		if !held || !l.compare(dst[lo:lo+n], lo) {
			return false
		}
	}
	return true
}

// LabelAndMeasure is Label, and sets dist[i] to the squared distance of row i to that centre: sum_j (x_j - origin_j - c_j)^2, one term after
// the other.
func (l *Labeller) LabelAndMeasure(dst []int32, dist []float64, b *data.Block) bool {
	if !l.Label(dst, b) {
		return false
	}
	if b.F64 != nil {
		measure(dist, dst, b.F64, l.c)
	} else {
		measure(dist, dst, b.F32, l.c)
	}
	return true
}

// measure sets dist to the squared distances of rows from the centres of their labels.
func measure[T float32 | float64](dist []float64, label []int32, x []T, c *Centres) {
	d := c.d
	origin := c.origin[:d]
	for i, at := range label {
		row, centre, sum := x[i*d:i*d+d], c.theta[int(at)*d:int(at)*d+d], 0.0
		for j, v := range row {
			t := float64(v) - origin[j] - centre[j]
			sum += float64(t * t)
		}
		dist[i] = sum
	}
}

// compare labels the rows that are packed, of which the first is row lo of the block.
func (l *Labeller) compare(dst []int32, lo int) bool {
	w, c, d, n := l.w, &l.c.centres, l.c.d, len(dst)
	panels := (n + kern.Rows - 1) / kern.Rows
	tiles := max(callWork/(c.w*d*panels), 1) // all of them, unless there is but one panel
	for t := 0; t < c.tiles; t += tiles {
		end := min(t+tiles, c.tiles)
		kern.Dense(l.x, c.dense[t*(d+2)*c.w:end*(d+2)*c.w], l.norm, &c.coef, w.state[:1], l.none, w.got, w.flags, d, c.w, end-t, panels, t > 0)
	}
	copy(dst, w.got)
	for p := range panels {
		for near := w.flags[2*p] & validOf(n-p*kern.Rows); near != 0; near &= near - 1 {
			r := p*kern.Rows + bits.TrailingZeros32(near)
			dst[r] = w.settle(lo + r)
			if w.dist[dst[r]] < leastSquare && l.crowded(int(dst[r])) {
				return false
			}
		}
	}
	return true
}

// crowded reports whether the row that was settled at centre c may be as near to another one, but for squares that vanish.
func (l *Labeller) crowded(c int) bool {
	theta, d := l.c.theta, l.c.d
	for q, v := range l.w.dist[:l.c.k] {
		if v < 8*leastSquare && !slices.Equal(theta[q*d:q*d+d], theta[c*d:c*d+d]) {
			return true
		}
	}
	return false
}

// pack makes panels of n rows of x, relative to mu, and reports whether float32 holds their squares.
func pack[T float32 | float64](l *Labeller, x []T, n int) bool {
	d, held := l.c.d, true
	for lo := 0; lo < n; lo += kern.Rows {
		rows := min(kern.Rows, n-lo)
		kern.Pack(l.wide, x[lo*d:(lo+rows)*d], l.c.origin, rows, d)
		kern.Narrow(l.x[lo*d:], &l.length, l.wide, l.c.mu)
		for i, v := range l.length[:rows] {
			l.norm[lo+i] = float32(v * up)
			held = held && v < largest
		}
	}
	return held
}
