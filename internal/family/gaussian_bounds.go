package family

import (
	"math"
	"math/bits"

	"github.com/latent-go/latent/internal/kern"
)

// bounds is what a Gaussian kernel needs to bound its scores over boxes.
type bounds struct {
	reach []float64 // full: tiles of |W|, the sizes of the entries of inverse Cholesky factors
	round []float64 // k: relative rounding of squared whitened differences
	zero  []float64 // k x d zeros: no mean, no constant
}

// maxRound is the relative rounding of whitened differences from which on a component is not bounded.
const maxRound = 1e-4

// maxBounded is the number of columns up to which bounds are tried. The corners of a box of more are so far from its centre
// that next to nothing could be left out, and preparing the bounds takes d^3 operations a component.
const maxBounded = 16

// Bounded implements BoundedKernel.
func (f *fusedGaussian) Bounded() bool {
	b := f.b
	k, d := b.k, b.d
	if b.g.Shape == Tied { // its rows are whitened once for all components: there is less to save
		return false
	}
	if d > maxBounded {
		return false
	}
	if f.bound != nil {
		return true
	}
	f.bound = &bounds{round: make([]float64, k), zero: make([]float64, k*d)}
	t := kern.LowerTiles(d)
	if b.g.Shape == Full {
		f.bound.reach = make([]float64, len(f.every.tiles))
		for i, v := range f.every.tiles {
			f.bound.reach[i] = math.Abs(v)
		}
		f.bound.reach = f.bound.reach[:k*t]
	}
	for c := range k {
		f.bound.round[c] = 16 * float64(d+4) * 0x1p-53 * b.condition(c)
	}
	return true
}

// condition bounds | |W| |m| | / |W m| over all m by the norm of |W| |W^-1|, which says how much whitening with component
// c magnifies rounding. Without correlations it is 1.
func (b *gaussianKernel) condition(c int) float64 {
	if b.g.Shape.kind() != Full {
		return 1
	}
	d, w := b.d, b.g.scale(b.whiten, c, b.d)
	l := make([]float64, len(w)) // W^-1
	for j := range d {
		l[tri(j, j)] = 1 / w[tri(j, j)]
		for i := range j {
			t := 0.0
			for m := i; m < j; m++ {
				t += w[tri(j, m)] * l[tri(m, i)]
			}
			l[tri(j, i)] = -t / w[tri(j, j)]
		}
	}
	sum := 0.0
	for j := range d {
		for i := range j + 1 {
			t := 0.0
			for m := i; m <= j; m++ {
				t += math.Abs(w[tri(j, m)] * l[tri(m, i)])
			}
			sum += t * t
		}
	}
	return math.Sqrt(sum)
}

// Matter implements BoundedKernel. Of a row x in a box with centre m + v and half-widths h, |W (x - m)| is within r =
// | |W| h | of |W v|. With p = -|W v|^2/2 and q = -r^2/2 the score is thus within
//
//	shift + p + q -+ 2 sqrt(pq),   and 2 sqrt(pq) <= -ap - q/a   for any a > 0.
//
// A row adds to second moments its share times d^2 = |W (x - m)|^2, in units of the component's variances, and log d^2 <=
// d^2/400 + 5.
func (f *fusedGaussian) Matter(sets []uint64, boxes *Boxes, margin []float64, relax float64, g *Gathered) (pairs int) {
	k, n := f.b.k, boxes.N
	tmp := grow(&g.buffers().bounds, 2*k*kern.Rows)
	p, q := tmp[:k*kern.Rows], tmp[k*kern.Rows:]
	f.spans(p, q, boxes)
	least := f.least(p, q, n)
	words := (k + 63) / 64
	clear(sets[:n*words])
	slope, more := relax/200, 5*relax
	for c, shift := range f.every.shift {
		round := f.bound.round[c]
		far := 1 - 0.15 - slope - round // weights of p and q for a = 0.15 and 0.4
		near := 1 - 0.4 - slope - round
		above := shift + margin[c] + more
		if !(round <= maxRound) {
			above = math.Inf(1)
		}
		word, bit := c/64, c%64
		pc, qc := p[c*kern.Rows:][:n], q[c*kern.Rows:][:n]
		far1, near1 := 1/0.15-1+round, 1/0.4-1+round
		for i, u := range pc { // without branches, which nothing predicts
			v, b := qc[i], least[i&31]-above
			below := math.Float64bits(far*u-far1*v-b) | math.Float64bits(near*u-near1*v-b)
			sets[i*words+word] |= (^below >> 63) << bit
		}
	}
	for _, set := range sets[:n*words] {
		pairs += bits.OnesCount64(set)
	}
	return pairs
}

// spans sets p and q to what Matter calls so.
func (f *fusedGaussian) spans(p, q []float64, boxes *Boxes) {
	v, o, k, d := &f.every, f.bound, f.b.k, f.b.d
	switch f.b.g.Shape.kind() {
	case Full:
		kern.Whitened(p, boxes.Centre, v.mean, v.tiles, o.zero, d, k)
		kern.Whitened(q, boxes.Half, o.zero, o.reach, o.zero, d, k)
	case Diag:
		kern.Ellipses(p, boxes.Centre, v.mean, v.scale, o.zero, d, k)
		kern.Ellipses(q, boxes.Half, o.zero, v.scale, o.zero, d, k)
	default:
		kern.Spheres(p, boxes.Centre, v.mean, v.scale, o.zero, d, k)
		kern.Spheres(q, boxes.Half, o.zero, v.scale, o.zero, d, k)
	}
}

// least returns for each of n boxes a score, in nats, that some component gives every row at least.
func (f *fusedGaussian) least(p, q []float64, n int) (least [kern.Rows]float64) {
	var best [kern.Rows]int32
	for i := range least {
		least[i] = math.Inf(-1)
	}
	for c, shift := range f.every.shift {
		if !(f.bound.round[c] <= maxRound) {
			continue
		}
		pc, qc := p[c*kern.Rows:][:n], q[c*kern.Rows:][:n]
		for i, u := range pc {
			if s := shift + 1.5*u + 3*qc[i]; s > least[i] {
				least[i], best[i] = s, int32(c)
			}
		}
	}
	for i := range n {
		if c := int(best[i]); least[i] > math.Inf(-1) {
			u, v := p[c*kern.Rows+i], q[c*kern.Rows+i]
			least[i] = f.every.shift[c] + (1+2*f.bound.round[c])*(u+v-2*math.Sqrt(u*v))
		}
	}
	return least
}

// Means implements BoundedKernel.
func (f *fusedGaussian) Means(boxes *Boxes, from int) {
	d := f.b.d
	boxes.N = min(kern.Rows, f.b.k-from)
	clear(boxes.Half)
	for i := range boxes.N {
		for j, v := range f.b.mean[(from+i)*d : (from+i)*d+d] {
			boxes.Centre[j*kern.Rows+i] = v
		}
	}
}

// part is a fusedGaussian with some of its components. It lives in a Gathered.
type part struct {
	f *fusedGaussian
	chosen
	sum                 []float64 // their moments about the origin since Choose, laid out like fusedGaussian's with kern.Pad of their number
	in                  *Gathered
	means, shifts, tile []float64
}

// Choose implements BoundedKernel.
func (f *fusedGaussian) Choose(of []int, g *Gathered) FusedKernel {
	v, b, d := &g.part, f.b, f.b.d
	v.f, v.in, v.of = f, g, of
	k := len(of)
	v.mean, v.shift = grow(&g.part.means, k*d), grow(&g.part.shifts, k)
	t := kern.LowerTiles(d)
	v.tiles = grow(&g.part.tile, k*t)
	for l, c := range of {
		v.shift[l] = f.every.shift[c]
		copy(v.mean[l*d:l*d+d], f.every.mean[c*d:c*d+d])
		switch b.g.Shape.kind() {
		case Full:
			copy(v.tiles[l*t:l*t+t], f.every.tiles[c*t:c*t+t])
		case Diag:
			v.scale = append(v.scale[:l*d], f.every.scale[c*d:c*d+d]...)
		default:
			v.scale = append(v.scale[:l], f.every.scale[c])
		}
	}
	clear(grow(&v.sum, f.features()*kern.Pad(len(of))))
	return v
}

// features is how many features have moments about the origin.
func (f *fusedGaussian) features() int {
	if f.all {
		return 0
	}
	last := f.blocks[len(f.blocks)-1]
	return last.at + last.n
}

// Logits implements FusedKernel.
func (v *part) Logits(dst []float64, p *Panel, g *Gathered, ws *Workspace) {
	v.f.logits(dst, &v.chosen, p, g, ws)
}

// Gather implements FusedKernel.
func (v *part) Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	grow(&g.sum, v.f.size)
	v.f.gather(s, v.sum, v.of, p, q, factor, g, ws)
}

// Flush implements FusedKernel: it adds what v has to the sums of all components.
func (v *part) Flush(_ *Stats, g *Gathered) {
	to, from := grow(&g.sum, v.f.size), v.sum
	kp := kern.Pad(len(v.of))
	for range v.f.features() {
		for l, c := range v.of {
			to[c] += from[l]
		}
		to, from = to[v.f.kp:], from[kp:]
	}
}
