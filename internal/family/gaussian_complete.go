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
// Where more cells are missing than are there, the factor is that of S_oo. With u = S_oo^-1 y_o the completed row is S_.o u, and
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
	work           []float64 // of laneInverse
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

// find returns the regression of the pattern mask, nil where nothing is missing. own takes one that is not kept.
func (f *completer) find(mask []uint64, own *regression) *regression {
	if missing(mask) == 0 {
		return nil
	}
	p := -1
	if f.gaps != nil {
		p = f.gaps.Find(mask)
	}
	if p < 0 || f.gaps.Rows(p) < 2 {
		f.regress(own, mask)
		return own
	}
	if r := f.known[p].Load(); r != nil {
		return r
	}
	if f.spent.Load() > mostKnown {
		f.regress(own, mask)
		return own
	}
	r := new(regression)
	f.regress(r, mask)
	if f.known[p].CompareAndSwap(nil, r) {
		f.spent.Add(int64(len(r.inverse) + len(r.add)))
	}
	return r
}

// regress sets r to the regression of a pattern.
func (f *completer) regress(r *regression, mask []uint64) {
	r.missing, r.there = r.missing[:0], r.there[:0]
	for j := range f.d {
		if mask[j/64]>>(j%64)&1 != 0 {
			r.missing = append(r.missing, int32(j))
		} else {
			r.there = append(r.there, int32(j))
		}
	}
	m, o, kp := len(r.missing), len(r.there), f.kp
	r.few = o < m
	of, from := r.missing, f.precision
	if r.few {
		of, from = r.there, f.variance
	}
	n := len(of)
	r.inverse, r.shift, r.hidden = grow(&r.inverse, n*n*kp), grow(&r.shift, kp), grow(&r.hidden, kp)
	for a, j := range of {
		for b, l := range of {
			copy(f.lane(r.inverse, a*n+b), f.lane(from, int(j)*f.d+int(l)))
		}
	}
	half := r.hidden
	laneInverse(r.inverse, half, grow(&r.work, n*kp), n, kp)
	for c, v := range half { // half the log determinant of P_mm, or of S_oo
		r.shift[c] = 0.5*float64(m)*log2Pi - v
		if r.few {
			r.shift[c] += f.logDet[c]
			v -= f.logDet[c]
		}
		r.hidden[c] = 0.5*float64(m)*(1+log2Pi) - v
	}
	r.at, r.add = r.at[:0], r.add[:0]
	if r.few {
		return
	}
	r.add = append(r.add, r.hidden...)
	r.at = append(r.at, int32(f.hiddenAt()))
	for a, j := range of {
		for b, l := range of[:a+1] {
			r.add = append(r.add, f.lane(r.inverse, a*n+b)...)
			r.at = append(r.at, int32(1+f.d+tri(int(j), int(l))))
		}
	}
}

// leastPivot is the smallest pivot, in units of its diagonal element, that rounding leaves of a matrix as ill-conditioned as float64
// holds.
const leastPivot = 0x1p-52

// laneInverse sets the n x n matrices v, one a lane, to their inverses and half to half the logarithms of their determinants. They must be
// positive definite. floor is memory for n lanes.
func laneInverse(v, half, floor []float64, n, kp int) {
	clear(half)
	at := func(a, b int) []float64 { return v[(a*n+b)*kp : (a*n+b)*kp+kp] }
	for a := range n {
		copy(floor[a*kp:(a+1)*kp], at(a, a))
	}
	for a := range n { // Cholesky, lower triangle; its diagonal inverted
		for b := range a + 1 {
			to := at(a, b)
			for m := range b {
				x, y := at(a, m), at(b, m)
				for c := range to {
					to[c] -= x[c] * y[c]
				}
			}
			if a == b {
				for c, x := range to {
					root := math.Sqrt(max(x, leastPivot*floor[a*kp+c]))
					half[c] += math.Log(root)
					to[c] = 1 / root
				}
				continue
			}
			for c, x := range at(b, b) {
				to[c] *= x
			}
		}
	}
	for a := range n { // L^-1 in place
		for b := range a {
			to := at(a, b)
			first := at(b, b)
			for c, x := range to {
				to[c] = x * first[c]
			}
			for m := b + 1; m < a; m++ {
				x, y := at(a, m), at(m, b)
				for c := range to {
					to[c] += x[c] * y[c]
				}
			}
			for c, x := range at(a, a) {
				to[c] *= -x
			}
		}
	}
	for a := range n { // L^-T L^-1
		for b := range a + 1 {
			to := at(b, a) // the upper triangle, which nobody reads yet
			last := at(a, a)
			x := at(a, b)
			if a == b {
				continue
			}
			for c := range to {
				to[c] = last[c] * x[c]
			}
			for m := a + 1; m < n; m++ {
				x, y := at(m, a), at(m, b)
				for c := range to {
					to[c] += x[c] * y[c]
				}
			}
		}
	}
	for a := range n {
		to := at(a, a)
		for c, x := range to {
			to[c] = x * x
		}
		for m := a + 1; m < n; m++ {
			for c, x := range at(m, a) {
				to[c] += x * x
			}
		}
	}
	for a := range n {
		for b := range a {
			copy(at(a, b), at(b, a))
		}
	}
}
