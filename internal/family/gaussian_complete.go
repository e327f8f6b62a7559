package family

import (
	"math"
	"sync/atomic"

	"github.com/latent-go/latent/internal/kern"
)

// completer scores and gathers rows with gaps for full covariances. What is missing of a row, m, is completed by its conditional mean in
// each component. With P = S^-1 the precision and y the difference from the mean, 0 where it is missing, that is -V (P y)_m, V = P_mm^-1
// the conditional covariance; the squared distance of the cells that are there, o, is that of the completed row, and
// log |S_oo| = log |S| + log |P_mm|. So a pattern costs one factor, as large as its gaps, and a row what a complete one does.
//
// Where many more cells are missing than are there, the factor is that of S_oo. With u = S_oo^-1 y_o the completed row is S_.o u, and
// sum r (y y' + V) is N S + S (sum r (u u' - S_oo^-1)) S: sums of the cells that are there.
//
// Values of the k components lie together, kern.Pad(k) of them: see kern.LaneNorms.
type completer struct {
	b         *gaussianKernel
	k, kp, d  int
	mean      []float64 // d lanes
	white     []float64 // packed lower triangles of lanes: inverse Cholesky factors
	precision []float64 // d x d lanes
	variance  []float64 // d x d lanes: covariances
	logDet    []float64 // lanes: half of the logarithm of their determinants
	order     []int32   // 0 to d-1

	gaps  *Gaps
	known []atomic.Pointer[regression] // by pattern
	spent atomic.Int64                 // numbers that they hold
}

// fewFrom is how many times more cells must be missing than are there for sums of the cells that are there to pay: they cost a d x d product
// for every run of rows.
const fewFrom = 2

// mostKnown is how many numbers the regressions of patterns may hold, 16 MB: those of further patterns are made again for each row.
const mostKnown = 1 << 21

// regression is what a pattern of missing cells needs of the parameters.
type regression struct {
	missing, there []int32
	few            bool      // fewer cells are there than are missing
	inverse        []float64 // m x m lanes: V; or, few, o x o lanes: S_oo^-1
	add            []float64 // lanes that a row of responsibility 1 adds to the sums beside its moments; nil where few
	at             []int32   // where in the sums
	shift          []float64 // lanes: what is added to the constants of complete rows
	hidden         []float64 // lanes: entropy of what is missing, nats
	columns        []int32   // memory of the lists
	numbers, free  []float64 // memory of the lanes, and what is free of it
}

// completer returns what completes rows by the parameters of b.
func (b *gaussianKernel) completer() *completer {
	b.filler.Do(func() { b.fill = newCompleter(b) })
	return b.fill
}

func newCompleter(b *gaussianKernel) *completer {
	k, d, kp := b.k, b.d, kern.Pad(b.k)
	f := &completer{b: b, k: k, kp: kp, d: d, gaps: b.g.Gaps, mean: make([]float64, d*kp), white: make([]float64, d*(d+1)/2*kp),
		precision: make([]float64, d*d*kp), variance: make([]float64, d*d*kp), logDet: make([]float64, kp), order: make([]int32, d)}
	for j := range f.order {
		f.order[j] = int32(j)
	}
	factor := make([]float64, d*(d+1)/2)
	for c := range kp {
		if c >= k { // lanes without a component: a unit matrix
			for j := range d {
				f.precision[(j*d+j)*kp+c], f.variance[(j*d+j)*kp+c] = 1, 1
			}
			continue
		}
		w := b.g.scale(b.whiten, c, d)
		for j, v := range b.mean[c*d : c*d+d] {
			f.mean[j*kp+c] = v
			f.logDet[c] -= math.Log(w[tri(j, j)])
		}
		for i, v := range w {
			f.white[i*kp+c] = v
		}
		invertLower(factor, w, d)
		for j := range d {
			for l := range j + 1 {
				p, v := 0.0, 0.0
				for m := j; m < d; m++ {
					p += w[tri(m, j)] * w[tri(m, l)]
				}
				for m := range l + 1 {
					v += factor[tri(j, m)] * factor[tri(l, m)]
				}
				f.precision[(j*d+l)*kp+c], f.precision[(l*d+j)*kp+c] = p, p
				f.variance[(j*d+l)*kp+c], f.variance[(l*d+j)*kp+c] = v, v
			}
		}
	}
	if f.gaps != nil {
		f.known = make([]atomic.Pointer[regression], f.gaps.Len())
	}
	return f
}

// invertLower sets l to the inverse of the packed lower triangle w.
func invertLower(l, w []float64, d int) {
	for j := range d {
		inv := 1 / w[tri(j, j)]
		l[tri(j, j)] = inv
		for a := range j {
			t := 0.0
			for m := a; m < j; m++ {
				t += w[tri(j, m)] * l[tri(m, a)]
			}
			l[tri(j, a)] = -inv * t
		}
	}
}

// lane returns the lanes of value i.
func (f *completer) lane(v []float64, i int) []float64 { return v[i*f.kp : i*f.kp+f.kp : i*f.kp+f.kp] }

// find returns the regression of a row with the pattern p of the table, or another one with the pattern mask where p is Unknown; nil where
// nothing is missing. own takes one that is not kept.
func (f *completer) find(p int32, mask []uint64, own *regression) *regression {
	if p == Complete {
		return nil
	}
	if p == Unknown {
		f.regress(own, mask)
		return own
	}
	if r := f.known[p].Load(); r != nil {
		return r
	}
	if f.gaps.Rows(int(p)) < 2 || f.spent.Load() > mostKnown {
		f.regress(own, f.gaps.Mask(int(p)))
		return own
	}
	r := new(regression)
	f.regress(r, f.gaps.Mask(int(p)))
	if f.known[p].CompareAndSwap(nil, r) {
		f.spent.Add(int64(len(r.numbers)))
	}
	return r
}

// regress sets r to the regression of a pattern.
func (f *completer) regress(r *regression, mask []uint64) {
	kp, m := f.kp, missing(mask)
	o := f.d - m
	r.few = fewFrom*o < m
	of, from, n, adds := &r.missing, f.precision, m, 1+m*(m+1)/2
	if r.few {
		of, from, n, adds = &r.there, f.variance, o, 0
	}
	r.room(m, f.d, adds, (n*n+adds+2)*kp+n*kern.Lanes)
	cut := func(lanes int) (v []float64) {
		v, r.free = r.free[:lanes*kp:lanes*kp], r.free[lanes*kp:]
		return v
	}
	r.inverse, r.add, r.shift, r.hidden = cut(n*n), cut(adds), cut(1), cut(1)
	for j := range f.d {
		if mask[j/64]>>(j%64)&1 != 0 {
			r.missing = append(r.missing, int32(j))
		} else {
			r.there = append(r.there, int32(j))
		}
	}
	for a, j := range *of {
		for b, l := range (*of)[:a+1] {
			copy(f.lane(r.inverse, a*n+b), f.lane(from, int(j)*f.d+int(l)))
		}
	}
	laneInverse(r.inverse, r.hidden, r.free, n, kp)
	for c, v := range r.hidden { // half the log determinant of P_mm, or of S_oo
		r.shift[c] = 0.5*float64(m)*log2Pi - v
		if r.few {
			r.shift[c] += f.logDet[c]
			v -= f.logDet[c]
		}
		r.hidden[c] = 0.5*float64(m)*(1+log2Pi) - v
	}
	if r.few {
		return
	}
	copy(r.add, r.hidden)
	r.at = append(r.at, int32(f.hiddenAt()))
	to := r.add[kp:]
	for a, j := range r.missing {
		for b, l := range r.missing[:a+1] {
			copy(to, f.lane(r.inverse, a*n+b))
			to = to[kp:]
			r.at = append(r.at, int32(1+f.d+tri(int(j), int(l))))
		}
	}
}

// room makes room in r for the lists of d columns, of which m are missing, and so many places, and for numbers.
func (r *regression) room(m, d, places, numbers int) {
	if cap(r.columns) < d+places {
		r.columns = make([]int32, d+places)
	}
	columns := r.columns[:d+places]
	r.missing, r.there, r.at = columns[:0:m], columns[m:m:d], columns[d:d]
	if cap(r.numbers) < numbers {
		r.numbers = make([]float64, numbers)
	}
	r.free = r.numbers[:numbers]
}

// leastPivot is the smallest pivot, in units of its diagonal element, that rounding leaves of a matrix as ill-conditioned as float64
// holds.
const leastPivot = 0x1p-52

// laneInverse sets the n x n matrices v, one a lane, to their inverses and half to half the logarithms of their determinants. They must be
// positive definite. floor is memory for n lanes of eight.
func laneInverse(v, half, floor []float64, n, kp int) {
	for c := 0; c < kp; c += kern.Lanes { // of eight components at a time
		x := lanesOf{v[c:], n, kp}
		for a := range n {
			*(*lanes8)(floor[a*kern.Lanes:]) = *x.at(a, a)
		}
		x.factor((*lanes8)(half[c:]), floor)
		x.invert()
	}
}

// lanes8 are a value of eight components.
type lanes8 [kern.Lanes]float64

// lanesOf are n x n matrices of eight components of kp.
type lanesOf struct {
	v     []float64
	n, kp int
}

func (x lanesOf) at(a, b int) *lanes8 { return (*lanes8)(x.v[(a*x.n+b)*x.kp:]) }

// factor sets the lower triangles to the Cholesky factors, their diagonals inverted, and half to the logarithms of their determinants.
func (x lanesOf) factor(half *lanes8, floor []float64) {
	*half = lanes8{}
	product := lanes8{1, 1, 1, 1, 1, 1, 1, 1}
	for a := range x.n {
		for b := range a {
			to, first := x.at(a, b), x.at(b, b)
			for m := range b {
				less(to, x.at(a, m), x.at(b, m))
			}
			for c := range to {
				to[c] *= first[c]
			}
		}
		to, least := x.at(a, a), (*lanes8)(floor[a*kern.Lanes:])
		for m := range a {
			less(to, x.at(a, m), x.at(a, m))
		}
		for c, v := range to {
			root := math.Sqrt(max(v, leastPivot*least[c]))
			product[c] *= root
			to[c] = 1 / root
		}
		if a%4 == 3 || a == x.n-1 { // a logarithm for four pivots
			for c, v := range product {
				half[c] += math.Log(v)
				product[c] = 1
			}
		}
	}
}

// invert sets the matrices to the inverses of those whose factors they are.
func (x lanesOf) invert() {
	n := x.n
	for a := range n { // L^-1 in place
		last := x.at(a, a)
		for b := range a {
			to, first := x.at(a, b), x.at(b, b)
			for c := range to {
				to[c] *= first[c]
			}
			for m := b + 1; m < a; m++ {
				more(to, x.at(a, m), x.at(m, b))
			}
			for c := range to {
				to[c] *= -last[c]
			}
		}
	}
	for a := range n { // L^-T L^-1, first in the upper triangle, which nobody reads yet
		last := x.at(a, a)
		for b := range a {
			to, v := x.at(b, a), x.at(a, b)
			for c := range to {
				to[c] = last[c] * v[c]
			}
			for m := a + 1; m < n; m++ {
				more(to, x.at(m, a), x.at(m, b))
			}
		}
	}
	for a := range n {
		to := x.at(a, a)
		for c, v := range to {
			to[c] = v * v
		}
		for m := a + 1; m < n; m++ {
			more(to, x.at(m, a), x.at(m, a))
		}
	}
	for a := range n {
		for b := range a {
			*x.at(a, b) = *x.at(b, a)
		}
	}
}

// more adds x y to sum, and less takes it off.
func more(sum, x, y *lanes8) {
	for c := range sum {
		sum[c] += x[c] * y[c]
	}
}

func less(sum, x, y *lanes8) {
	for c := range sum {
		sum[c] -= x[c] * y[c]
	}
}
