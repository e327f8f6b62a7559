package nearest

import (
	"math"
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
	none  []int32   // the labels so far: none
}

// Labeller returns the memory of one goroutine.
func (c *Centres) Labeller() *Labeller {
	l := &Labeller{c: c}
	l.w = newWorker(&Engine{t: &l.table, d: c.d, origin: c.origin, mu: c.mu})
	l.w.j = &job{k: c.k, centres: &c.centres}
	l.room = max(min(callWork/(c.centres.slots()*c.d), batch), 1)
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
	y, d := l.w.y, l.c.d
	for i := range b.N {
		l.w.e.row(y, i)
		dist[i] = plain(y, l.c.theta[int(dst[i])*d:])
	}
	return true
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

// pack makes panels of n rows of x, relative to mu, and reports whether float32 holds their squares. What follows them in the last panel is
// left as it is.
func pack[T float32 | float64](l *Labeller, x []T, n int) bool {
	d, most := l.c.d, uint64(0) // sizes compare as their bits do, and NaN is the largest
	origin, mu := l.c.origin[:d], l.c.mu[:d]
	for i := range n {
		row, to := x[i*d:i*d+d], l.x[i/kern.Rows*d*kern.Rows+i%kern.Rows:]
		var q [2]float64 // two sums do not wait for each other
		for j, v := range row {
			z := float64(v) - origin[j] - mu[j]
			to[j*kern.Rows] = float32(z)
			q[j&1] += z * z
			most = max(most, math.Float64bits(z)&^(1<<63))
		}
		l.norm[i] = float32(math.Sqrt(q[0]+q[1]) * up)
	}
	return most < math.Float64bits(largest)
}
