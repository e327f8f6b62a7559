package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// maxCancel is the largest squared distance of a mean from the origin, in the component's own standard deviations, at which
// moments are taken about the origin; beyond, they are taken about the mean. At the limit they are good to about 1e-10 of
// the component's variances.
const maxCancel = 1e6

// fusedGaussian scores by differences that are whitened before they are squared, so nothing cancels. Moments it takes
// about the origin, of features of the row that all components share, so that they are one matrix product
//
//	S_cf = sum_i r_ic t_f(x_i),   t = 1, x_j and x_j x_l (full), x_j^2 (diag) or |x|^2 (spherical).
//
// Where components share a covariance their second moments are needed in total only, which no responsibility changes.
// maxCancel says for which components a shift to their means loses too much: those have sums about their own means.
type fusedGaussian struct {
	b      *gaussianKernel // with the logarithms of mixing weights in its constants
	every  chosen          // all components
	kp     int             // kern.Pad(k)
	blocks []block         // runs of features that fit in cache
	most   int             // features of the largest
	own    []bool          // components with sums about their own means
	all    bool            // all are
	few    bool            // kern.AccumulateFew gathers them
	fewOwn bool            // kern.AccumulateFew gathers those with sums about their own means
	total  int             // where in Gathered.sum second moments of all components together start (shared shapes)
	at     []int           // where those of a component about its own mean start
	size   int             // of Gathered.sum
	bound  *bounds         // what Bounds needs; nil where Bounded has not been asked
}

// chosen are the parameters of some components one after the other, as the kernels read them.
type chosen struct {
	of     []int     // the components, ascending
	mean   []float64 // k x d, k of them being chosen
	shift  []float64 // k: the constants of the log densities
	tiles  []float64 // full: inverse Cholesky factors packed by kern.TileLower
	scale  []float64 // diag: k x d inverse standard deviations; spherical: k inverse variances
	centre []float64 // tied: k x d whitened means, nil where rows are whitened for each component
}

// block is a run of n features from place at on: those of the variables [from, to), and 1 and x if it is the first.
type block struct{ at, n, from, to int }

// maxSquare is the largest cell whose squares surely add up.
const maxSquare = 1e140

// mostFewOwn is the number of columns up to which kern.AccumulateFew gathers moments about a component's own mean.
const mostFewOwn = 8

// maxFew is how many sums, in rows of kern.Lanes, are partial sums by rows: more would not stay in the first cache.
const maxFew = 512

const blockFeatures = 80 // 20 KB of a panel

// momentsApart reports whether second moments of d columns are taken of each of k components about its own mean, and not of products of columns that all
// components share: those fill vectors with components, of which few leave half of each empty, and with many columns the sums of all components pass through memory
// for every panel. Measured on Zen 5: a sweep took 0.5 to 0.9 of the time from 20 columns on with up to 4 components, and 0.6 to 0.9 from 200 columns on.
func momentsApart(k, d int) bool { return d >= 20 && 2*k <= kern.Pad(k) || d >= 200 }

// Fuse implements Fusable.
func (b *gaussianKernel) Fuse(logw []float64) FusedKernel {
	if b.g.cellwise() {
		return b.fuseCells(logw)
	}
	k, d := b.k, b.d
	weighted := &gaussianKernel{g: b.g, k: k, d: d, mean: b.mean, whiten: b.whiten, shift: make([]float64, k), theta: b.theta}
	f := &fusedGaussian{b: weighted, kp: kern.Pad(k), own: make([]bool, k), all: true, at: make([]int, k)}
	f.every = chosen{of: make([]int, k), mean: b.mean, shift: weighted.shift}
	v := &f.every
	tight, apart := false, b.g.Shape == Full && momentsApart(k, d)
	for c := range k {
		v.of[c] = c
		weighted.shift[c] = b.shift[c] + logw[c]
		f.own[c] = apart || !(b.cancellation(c) <= maxCancel)
		tight = tight || f.own[c]
		f.all = f.all && f.own[c]
	}
	if b.g.Shape.Shared() && tight { // one total cannot be about two points
		f.all = true
		for c := range f.own {
			f.own[c] = true
		}
	}
	switch b.g.Shape.kind() {
	case Full:
		z, t := b.g.Shape.Size(d), kern.LowerTiles(d)
		v.tiles = make([]float64, b.g.Shape.Count(k)*t)
		for c := range b.g.Shape.Count(k) {
			kern.TileLower(v.tiles[c*t:c*t+t], b.whiten[c*z:c*z+z], d)
		}
		if b.g.Shape.Shared() && !f.all {
			for c := range k {
				for j := range d {
					v.centre = append(v.centre, b.g.row(b.whiten, b.mean[c*d:c*d+d], j))
				}
				v.scale = append(v.scale, 1)
			}
		}
	case Diag:
		for c := range k {
			v.scale = append(v.scale, b.g.scale(b.whiten, c, d)...)
		}
	default:
		for c := range k {
			w := b.g.scale(b.whiten, c, d)[0]
			v.scale = append(v.scale, w*w)
		}
	}
	f.plan()
	f.few = k <= kern.Few && !tight && !b.g.Shape.Shared() && f.size <= maxFew
	return f
}

// Totals implements TotalKernel: second moments that components share are taken over all of them together.
func (f *fusedGaussian) Totals() bool { return f.b.g.Shape.Shared() && !f.all }

// cancellation returns sum_i (sum_j |W_ij m_j|)^2 for component c, a bound on what a shift of its moments from the origin
// to its mean m takes off again, in units of what is left. Correlations within the component are no reason to take moments
// about the mean: they are rounded alike there.
func (b *gaussianKernel) cancellation(c int) (sum float64) {
	d := b.d
	m, w := b.mean[c*d:c*d+d], b.g.scale(b.whiten, c, d)
	for i, v := range m {
		var unit, t float64
		switch b.g.Shape.kind() {
		case Full:
			unit = w[tri(i, i)]
			for j := range i {
				t += math.Abs(w[tri(i, j)] * m[j])
			}
		case Diag:
			unit = w[i]
		default:
			unit = w[0]
		}
		if !(unit > 1e-140 && unit < 1e140) { // squares would leave the range of float64
			return math.Inf(1)
		}
		t += math.Abs(unit * v)
		sum += t * t
	}
	return sum
}

// plan cuts the features into blocks and lays out the sums.
func (f *fusedGaussian) plan() {
	shape, d := f.b.g.Shape, f.b.d
	square := d * kern.Lanes // second moments in total
	switch shape.kind() {
	case Full:
		square = (d + 1) * kern.Pad(d)
	case Spherical:
		square = kern.Lanes
	}
	if !f.all {
		f.cut()
		last := f.blocks[len(f.blocks)-1]
		for _, e := range f.blocks {
			f.most = max(f.most, e.n)
		}
		f.size = (last.at + last.n) * f.kp
		if shape.Shared() {
			f.total = f.size
			f.size += square
		}
	}
	f.fewOwn = !f.all && shape == Full && d <= mostFewOwn
	if f.fewOwn {
		square = (1 + d + d*(d+1)/2) * kern.Lanes
	}
	for c, own := range f.own {
		if own && shape.kind() == Full {
			f.at[c] = f.size
			f.size += square
		}
	}
}

// cut fills blocks.
func (f *fusedGaussian) cut() {
	shape, d := f.b.g.Shape, f.b.d
	now := block{n: 1 + d}
	grow := func(n, to int) {
		if now.n+n > blockFeatures {
			f.blocks = append(f.blocks, now)
			now = block{at: now.at + now.n, from: now.to}
		}
		now.n += n
		now.to = to
	}
	switch {
	case shape.Shared():
	case shape.kind() == Full:
		for j := range d {
			grow(j+1, j+1)
		}
	case shape.kind() == Diag:
		grow(d, d)
	default:
		grow(1, d)
	}
	f.blocks = append(f.blocks, now)
}

// fill sets t to the features of block e.
func (f *fusedGaussian) fill(t []float64, e block, x []float64) {
	d := f.b.d
	if e.at == 0 {
		for i := range kern.Rows {
			t[i] = 1
		}
		copy(t[kern.Rows:], x[:d*kern.Rows])
		t = t[(1+d)*kern.Rows:]
	}
	switch {
	case e.from == e.to:
	case f.b.g.Shape.kind() == Full:
		kern.Products(t, x, e.from, e.to)
	case f.b.g.Shape.kind() == Diag:
		kern.SquareRows(t, x, d)
	default:
		kern.Norms(t, x, d)
	}
}

// Logits implements FusedKernel.
func (f *fusedGaussian) Logits(dst []float64, p *Panel, g *Gathered, ws *Workspace) {
	if p.Holes {
		f.b.completer().score(dst, p, g)
		return
	}
	f.logits(dst, &f.every, p, g, ws)
}

// logits is Logits of the components v.
func (f *fusedGaussian) logits(dst []float64, v *chosen, p *Panel, g *Gathered, ws *Workspace) {
	b, shape := f.b, f.b.g.Shape
	k, d := len(v.of), b.d
	switch {
	case shape == Full && kern.Current() == kern.Go: // plain loops had better keep what they have whitened
		for l, c := range v.of {
			b.score(dst[l*kern.Rows:l*kern.Rows+kern.Rows], p, c, ws)
		}
	case shape == Full:
		kern.Whitened(dst, p.X, v.mean, v.tiles, v.shift, d, k)
	case v.centre != nil:
		y := grow(&g.buffers().white, d*kern.Rows)
		kern.WhitenTiles(y, p.X, v.tiles, d)
		kern.Spheres(dst, y, v.centre, v.scale, v.shift, d, k)
	case shape == Tied:
		for c := range k {
			kern.Whitened(dst[c*kern.Rows:], p.X, v.mean[c*d:], v.tiles, v.shift[c:], d, 1)
		}
	case shape.kind() == Diag:
		kern.Ellipses(dst, p.X, v.mean, v.scale, v.shift, d, k)
	default:
		kern.Spheres(dst, p.X, v.mean, v.scale, v.shift, d, k)
	}
}

// Gather implements FusedKernel.
func (f *fusedGaussian) Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	if p.Holes {
		f.b.completer().gather(p, q, factor, g)
		return
	}
	sum := grow(&g.sum, f.size)
	f.gather(s, sum, f.every.of, p, q, factor, g, ws)
}

// gather is Gather of the components of. sum takes their moments about the origin, the rest goes to g.sum.
func (f *fusedGaussian) gather(s *Stats, sum []float64, of []int, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	buf, k := g.buffers(), len(of)
	kp := kern.Pad(k)
	if !f.all {
		if !(kern.Largest(p.X, p.D) < maxSquare) {
			f.plain(s, of, p, q, factor, ws)
			return
		}
		t := grow(&buf.features, f.most*kern.Rows)
		if f.few {
			f.gatherFew(t, p, q, factor, g)
			return
		}
		r := grow(&buf.shares, kern.Rows*kp)
		kern.Share(r, q[:kp*kern.Rows], factor, k)
		for _, e := range f.blocks {
			f.fill(t, e, p.X)
			kern.Accumulate(sum[e.at*kp:], t, r, e.n, k)
		}
		if f.b.g.Shape.Shared() {
			f.gatherTotal(p, g)
			return
		}
	}
	for l, c := range of {
		if f.own[c] {
			f.gatherOwn(s, p, c, times(grow(&buf.rows, kern.Rows), q[l*kern.Rows:], factor), g, ws)
		}
	}
}

// gatherFew is Gather for few components: vectors of rows instead of components.
func (f *fusedGaussian) gatherFew(t []float64, p *Panel, q, factor []float64, g *Gathered) {
	k := f.b.k
	sum := grow(&g.few, f.size*kern.Lanes)
	for _, e := range f.blocks {
		f.fill(t, e, p.X)
		kern.AccumulateFew(sum[e.at*k*kern.Lanes:], t, q, factor, e.n, k)
	}
}

// times sets rc to the products of q and factor.
func times(rc, q, factor []float64) []float64 {
	for i := range rc {
		rc[i] = q[i] * factor[i]
	}
	return rc
}

// plain is Gather about the means, of which a row of weight 0 is no part however far away it is.
func (f *fusedGaussian) plain(s *Stats, of []int, p *Panel, q, factor []float64, ws *Workspace) {
	for l, c := range of {
		rc := q[l*kern.Rows : l*kern.Rows+kern.Rows]
		if times(rc, rc, factor); !zero(rc) {
			f.b.add(s, p, rc, c, ws)
		}
	}
}

// gatherOwn adds the rows with weights rc to the sums of component c about its own mean.
func (f *fusedGaussian) gatherOwn(s *Stats, p *Panel, c int, rc []float64, g *Gathered, ws *Workspace) {
	b := f.b
	switch {
	case zero(rc):
	case f.fewOwn:
		f.fewMoments(g.sum[f.at[c]:], p, c, rc, g)
	case b.g.Shape.kind() == Full:
		for _, v := range rc {
			s.N[c] += v
		}
		y := grow(&g.buf.centred, (kern.Pad(b.d)+1)*kern.Rows)
		kern.Centre(y, p.X, b.mean[c*b.d:c*b.d+b.d])
		f.second(g.sum[f.at[c]:], y, rc, g)
	default:
		b.add(s, p, rc, c, ws)
	}
}

// fewMoments adds 1, y and the products of y = x - m with weights rc to sum, kern.Lanes partial sums of each.
func (f *fusedGaussian) fewMoments(sum []float64, p *Panel, c int, rc []float64, g *Gathered) {
	d := f.b.d
	n := 1 + d + d*(d+1)/2
	t := grow(&g.buf.features, n*kern.Rows)
	for i := range kern.Rows {
		t[i] = 1
	}
	y := t[kern.Rows:]
	kern.Centre(y, p.X, f.b.mean[c*d:c*d+d])
	kern.Products(y[d*kern.Rows:], y, 0, d)
	kern.AccumulateFew(sum[:n*kern.Lanes], t, rc, t[:kern.Rows], n, 1)
}

// second adds the first and second moments of the d variables y with weights w to sum, laid out as kern.Lower has it. y
// has memory for kern.Pad(d)+1 variables.
func (f *fusedGaussian) second(sum, y, w []float64, g *Gathered) {
	d := f.b.d
	dp := kern.Pad(d)
	for i := range kern.Rows {
		y[d*kern.Rows+i] = 1
	}
	r := grow(&g.buf.weighted, kern.Rows*dp)
	kern.Share(r, y[:dp*kern.Rows], w, d)
	kern.Lower(sum[:(d+1)*dp], y[:(d+1)*kern.Rows], r, d)
}

// gatherTotal adds the second moments of all rows about the origin.
func (f *fusedGaussian) gatherTotal(p *Panel, g *Gathered) {
	d := f.b.d
	y := grow(&g.buf.centred, (kern.Pad(d)+1)*kern.Rows)
	sum, n := g.sum[f.total:], d
	switch f.b.g.Shape.kind() {
	case Full:
		copy(y, p.X[:d*kern.Rows])
		f.second(sum, y, p.W, g)
		return
	case Diag:
		kern.SquareRows(y, p.X, d)
	default:
		kern.Norms(y, p.X, d)
		n = 1
	}
	r := grow(&g.buf.weighted, kern.Rows*kern.Lanes)
	for i, w := range p.W[:kern.Rows] {
		r[i*kern.Lanes] = w
	}
	kern.Accumulate(sum[:n*kern.Lanes], y[:n*kern.Rows], r, n, 1)
}
