package family

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
)

// completed is one worker's panel of completed rows, and the sums since the last flush.
type completed struct {
	of    *completer // whose sums they are; nil where there are none
	sum   []float64
	row   [kern.Rows]*regression // of each row; nil for complete ones
	own   [kern.Rows]regression  // of patterns that are not kept
	place [kern.Rows]int         // of a row in y and norm, or in u and near where its regression has few cells
	whole int                    // rows in y

	y, u       []float64 // d lanes a row: differences from the means, completed; S_oo^-1 y_o
	norm, near []float64 // lanes a row: squared distances
	q          []float64 // lanes a row: responsibilities
	masks      []uint64
	pattern    [kern.Rows]int32
	x          []float64 // cells of a row
	t, v       []float64 // d lanes
	move       []float64 // what a row with few cells adds to the sums
	at         []int32   // and where
}

// Where in the sums, in lanes: weight, first and second moments of completed rows; the entropy of what is missing; then, of rows with few
// cells, the weight, sum r u and sum r (u u' - S_oo^-1).
func (f *completer) hiddenAt() int { return 1 + f.d + f.d*(f.d+1)/2 }
func (f *completer) fewAt() int    { return f.hiddenAt() + 1 }
func (f *completer) lanes() int    { return f.fewAt() + 1 + f.d + f.d*(f.d+1)/2 }

// complete completes the rows of p in g.
func (f *completer) complete(p *Panel, g *Gathered) {
	if g.done == nil {
		g.done = new(completed)
	}
	w, d, kp, words := g.done, f.d, f.kp, (f.d+63)/64
	pattern := p.Pattern
	if known := pattern != nil && f.gaps != nil; !known || slices.Contains(pattern, Unknown) {
		if len(w.masks) < kern.Rows*words {
			w.masks = make([]uint64, kern.Rows*words)
		}
		p.masks(w.masks, words)
		if !known {
			pattern = f.number(w, words)
		}
	}
	y, u, near := grow(&w.y, kern.Rows*d*kp), grow(&w.u, kern.Rows*d*kp), grow(&w.near, kern.Rows*kp)
	x := grow(&w.x, d)
	grow(&w.t, d*kp)
	grow(&w.v, d*kp)
	few := 0
	w.whole = 0
	for i := range p.N {
		for j := range x {
			x[j] = p.X[j*kern.Rows+i]
		}
		r := f.find(pattern[i], w.maskOf(i, words), &w.own[i])
		w.row[i] = r
		if r != nil && r.few {
			w.place[i] = few
			f.solve(u[few*d*kp:(few+1)*d*kp], f.lane(near, few), x, r, w)
			few++
			continue
		}
		w.place[i] = w.whole
		f.fillIn(y[w.whole*d*kp:(w.whole+1)*d*kp], x, r, w)
		w.whole++
	}
	kern.LaneNorms(grow(&w.norm, kern.Rows*kp), y, f.white, w.whole, d, kp)
}

// number returns the patterns of the rows with the masks of w.
func (f *completer) number(w *completed, words int) []int32 {
	for i := range w.pattern {
		mask := w.maskOf(i, words)
		switch {
		case missing(mask) == 0:
			w.pattern[i] = Complete
		case f.gaps == nil:
			w.pattern[i] = Unknown
		default:
			if w.pattern[i] = int32(f.gaps.Find(mask)); w.pattern[i] < 0 {
				w.pattern[i] = Unknown
			}
		}
	}
	return w.pattern[:]
}

// maskOf returns the mask of row i, which means nothing where all patterns are known.
func (w *completed) maskOf(i, words int) []uint64 {
	if w.masks == nil {
		return nil
	}
	return w.masks[i*words : (i+1)*words]
}

// fillIn sets y to the differences of the row x from the means, completed.
func (f *completer) fillIn(y, x []float64, r *regression, w *completed) {
	kern.LaneDeviations(y, x, f.mean, f.d, f.kp)
	if r == nil {
		return
	}
	m := len(r.missing)
	kern.LaneProduct(w.t[:m*f.kp], f.precision, y, r.missing, f.d, f.kp)
	kern.LaneProduct(w.v[:m*f.kp], r.inverse, w.t[:m*f.kp], f.order[:m], m, f.kp)
	for a, j := range r.missing {
		to := f.lane(y, int(j))
		for c, s := range f.lane(w.v, a) {
			to[c] = -s
		}
	}
}

// solve sets u to S_oo^-1 y_o for the row x, of which few cells are there, and near to its squared distances.
func (f *completer) solve(u, near, x []float64, r *regression, w *completed) {
	o, kp := len(r.there), f.kp
	for a, j := range r.there {
		to := f.lane(w.t, a)
		for c, m := range f.lane(f.mean, int(j)) {
			to[c] = x[j] - m
		}
	}
	kern.LaneProduct(u[:o*kp], r.inverse, w.t[:o*kp], f.order[:o], o, kp)
	clear(near)
	for a := range o {
		y := f.lane(w.t, a)
		for c, v := range f.lane(u, a) {
			near[c] += v * y[c]
		}
	}
}

// score sets dst to the constants of b and the log densities of the cells that are there.
func (f *completer) score(dst []float64, p *Panel, g *Gathered) {
	f.complete(p, g)
	w := g.done
	for i := range p.N {
		r := w.row[i]
		norm := f.lane(w.norm, w.place[i])
		if r != nil && r.few {
			norm = f.lane(w.near, w.place[i])
		}
		for c, constant := range f.b.shift {
			v := norm[c]
			if !(v <= math.MaxFloat64) {
				v = math.MaxFloat64
			}
			if r != nil {
				constant += r.shift[c]
			}
			dst[c*kern.Rows+i] = constant - 0.5*v
		}
	}
	for c := range f.k {
		clear(dst[c*kern.Rows+p.N : (c+1)*kern.Rows])
	}
}

// gather adds the panel that was completed last to the sums in g, with the responsibilities factor[i] q[c*kern.Rows+i]; nil is a factor of 1.
func (f *completer) gather(p *Panel, q, factor []float64, g *Gathered) {
	w, d, kp := g.done, f.d, f.kp
	sum := grow(&w.sum, f.lanes()*kp)
	w.of = f
	lanes := grow(&w.q, kern.Rows*kp)
	clear(lanes)
	for i := range p.N {
		r := w.row[i]
		few := r != nil && r.few
		to := f.lane(lanes, w.place[i])
		if few { // from the end
			to = f.lane(lanes, kern.Rows-1-w.place[i])
		}
		some := false
		for c := range f.k {
			to[c] = q[c*kern.Rows+i]
			if factor != nil {
				to[c] *= factor[i]
			}
			some = some || to[c] != 0
		}
		switch {
		case !some && !few: // however far it is
			clear(w.y[w.place[i]*d*kp : (w.place[i]+1)*d*kp])
		case !some || r == nil:
		case few:
			f.gatherFew(sum, to, w.u[w.place[i]*d*kp:], r, w)
		default:
			kern.LaneScatter(sum, r.add, to, r.at, kp)
		}
	}
	kern.LaneMoments(sum, w.y, lanes, w.whole, d, kp)
}

// gatherFew adds a row with few cells.
func (f *completer) gatherFew(sum, q, u []float64, r *regression, w *completed) {
	o, kp, at := len(r.there), f.kp, f.fewAt()
	n := 2 + o + o*(o+1)/2
	move := grow(&w.move, n*kp)
	w.at = append(w.at[:0], int32(f.hiddenAt()), int32(at))
	copy(move, r.hidden)
	for c := range kp {
		move[kp+c] = 1
	}
	copy(move[2*kp:], u[:o*kp])
	to := move[(2+o)*kp:]
	for _, j := range r.there {
		w.at = append(w.at, int32(at+1)+j)
	}
	for a, j := range r.there {
		for b, l := range r.there[:a+1] {
			x, y, p := f.lane(u, a), f.lane(u, b), f.lane(r.inverse, a*o+b)
			for c := range x {
				to[c] = x[c]*y[c] - p[c]
			}
			to = to[kp:]
			w.at = append(w.at, int32(at+1+f.d+tri(int(j), int(l))))
		}
	}
	kern.LaneScatter(sum, move, q, w.at, kp)
}

// flush adds to s what was gathered in g, and empties it.
func (f *completer) flush(s *Stats, g *Gathered) {
	w, k, d := g.done, f.k, f.d
	if w.of != f {
		return
	}
	w.of = nil
	sum := w.sum[:f.lanes()*f.kp]
	second, few := f.b.g.second(s), f.fewAt()
	for c := range k {
		at := func(i int) float64 { return sum[i*f.kp+c] }
		q := f.b.g.scale(second, c, d)
		s.N[c] += at(0)
		for j := range d {
			s.Sum[c*d+j] += at(1 + j)
		}
		for i := range d * (d + 1) / 2 {
			q[i] += at(1 + d + i)
		}
		if h := f.b.g.Params(k, d); len(s.Sum) > h {
			s.Sum[h] += at(f.hiddenAt())
		}
		if n := at(few); n != 0 {
			s.N[c] += n
			f.flushFew(s.Sum[c*d:c*d+d], q, n, sum[(few+1)*f.kp:], c)
		}
	}
	clear(sum)
}

// flushFew adds S (sum r u) to the first moments and n S + S G S to the second, G = sum r (u u' - S_oo^-1).
func (f *completer) flushFew(moments, q []float64, n float64, sum []float64, c int) {
	d := f.d
	s := func(j, l int) float64 { return f.variance[(j*d+l)*f.kp+c] }
	g := func(j, l int) float64 { return sum[(d+tri(max(j, l), min(j, l)))*f.kp+c] }
	row := make([]float64, d)
	for j := range d {
		for l := range d {
			moments[j] += s(j, l) * sum[l*f.kp+c]
		}
		for l := range row {
			row[l] = 0
			for m := range d {
				row[l] += s(j, m) * g(m, l)
			}
		}
		for l := range j + 1 {
			t := n * s(j, l)
			for m := range d {
				t += row[m] * s(m, l)
			}
			q[tri(j, l)] += t
		}
	}
}
