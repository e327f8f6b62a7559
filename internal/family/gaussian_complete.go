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

// leastPivot is the smallest pivot, in units of its diagonal element, that rounding leaves of a matrix as ill-conditioned as float64
// holds.
const leastPivot = 0x1p-52

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
	r.room(m, f.d, adds, (n*n+adds+2+n)*kp)
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
			f.copyLane(r.inverse[(a*n+b)*kp:], from[(int(j)*f.d+int(l))*kp:])
		}
	}
	pivots := cut(n)
	kern.LaneInverse(r.inverse, pivots, n, kp, leastPivot)
	for c := range r.hidden {
		v := halfLogDet(pivots, c, n, kp) // of P_mm, or of S_oo
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
			f.copyLane(to, r.inverse[(a*n+b)*kp:])
			to = to[kp:]
			r.at = append(r.at, int32(1+f.d+tri(int(j), int(l))))
		}
	}
}

// copyLane copies the lanes of a value.
func (f *completer) copyLane(to, from []float64) {
	for c := 0; c < f.kp; c += kern.Lanes {
		*(*[kern.Lanes]float64)(to[c:]) = *(*[kern.Lanes]float64)(from[c:])
	}
}

// halfLogDet returns half the logarithm of the product of the n pivots of component c. It takes a logarithm for four of them: none is so large or small
// that their product overflows, in units in which variances are about 1.
func halfLogDet(pivots []float64, c, n, kp int) (sum float64) {
	product := 1.0
	for a := range n {
		product *= pivots[a*kp+c]
		if a%4 == 3 || a == n-1 {
			sum += math.Log(product)
			product = 1
		}
	}
	return 0.5 * sum
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
