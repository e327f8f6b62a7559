package family

import (
	"math"

	"github.com/latent-go/latent/internal/kern"
)

// fusedCells is fusedGaussian for rows with gaps where columns are independent within a component. A cell that is there scores by a
// difference, and moments are sums of the features 1 and, for each column, x, x^2 and whether there is an x, with 0 for what is missing.
type fusedCells struct {
	b      *gaussianKernel
	shift  []float64 // k: the constants of complete rows and the logarithms of mixing weights
	logw   []float64 // k: the latter alone
	scale  []float64 // k x d inverse standard deviations
	twice  []float64 // k x d: minus twice the constant of a column
	kp     int       // kern.Pad(k)
	own    []bool    // components with sums about their own means: see maxCancel
	all    bool      // all are
	some   bool      // some are
	few    bool      // kern.AccumulateFew gathers the others
	blocks []block   // runs of features that fit in cache
}

// columnFeatures is how many features a column has.
const columnFeatures = 3

// fuseCells returns nil where squares of what is missing might leave the range of float64.
func (b *gaussianKernel) fuseCells(logw []float64) FusedKernel {
	k, d := b.k, b.d
	f := &fusedCells{b: b, shift: make([]float64, k), logw: logw, kp: kern.Pad(k), own: make([]bool, k), all: true, scale: make([]float64, 0, k*d), twice: make([]float64, 0, k*d)}
	for c := range k {
		off := b.cancellation(c)
		if !(off < math.Inf(1)) {
			return nil
		}
		f.own[c] = off > maxCancel
		f.some, f.all = f.some || f.own[c], f.all && f.own[c]
		f.shift[c] = b.shift[c] + logw[c]
		w := b.g.scale(b.whiten, c, d)
		for j := range d {
			v := w[min(j, len(w)-1)]
			f.scale, f.twice = append(f.scale, v), append(f.twice, log2Pi-2*math.Log(v))
		}
	}
	for now := (block{n: 1}); now.from < d; now = (block{at: now.at + now.n, from: now.to}) {
		now.to = min(now.from+(blockFeatures-now.n)/columnFeatures, d)
		now.n += columnFeatures * (now.to - now.from)
		f.blocks = append(f.blocks, now)
	}
	f.few = k <= kern.Few && !f.some && f.features()*f.kp <= maxFew
	return f
}

// features returns how many there are of a row.
func (f *fusedCells) features() int { return 1 + columnFeatures*f.b.d }

// Logits implements FusedKernel.
func (f *fusedCells) Logits(dst []float64, p *Panel, _ *Gathered, ws *Workspace) {
	k, d := f.b.k, f.b.d
	if p.Holes {
		kern.MaskedEllipses(dst, p.cells(), p.Mask, f.b.mean, f.scale, f.twice, f.logw, d, k)
		return
	}
	kern.Ellipses(dst, p.X, f.b.mean, f.scale, f.shift, d, k)
}

// Gather implements FusedKernel.
func (f *fusedCells) Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	together := !f.all
	if together {
		x := p.cells()
		if together = kern.Largest(x, f.b.d) < maxSquare; together {
			f.gather(x, p.Mask, q, factor, g)
		}
	}
	rows := grow(&g.buffers().rows, kern.Rows)
	for c, own := range f.own {
		if own || !together {
			if rc := times(rows, q[c*kern.Rows:], factor); !zero(rc) {
				f.b.addCell(s, p, rc, c, ws)
			}
		}
	}
}

// gather adds the features of the cells x.
func (f *fusedCells) gather(x, mask, q, factor []float64, g *Gathered) {
	buf, k, n := g.buffers(), f.b.k, f.features()
	t := grow(&buf.features, min(n, blockFeatures)*kern.Rows)
	if f.few {
		sum := grow(&g.few, n*k*kern.Lanes)
		for _, e := range f.blocks {
			f.fill(t, e, x, mask)
			kern.AccumulateFew(sum[e.at*k*kern.Lanes:], t, q, factor, e.n, k)
		}
		return
	}
	sum, r := grow(&g.sum, n*f.kp), grow(&buf.shares, kern.Rows*f.kp)
	kern.Share(r, q[:f.kp*kern.Rows], factor, k)
	for _, e := range f.blocks {
		f.fill(t, e, x, mask)
		kern.Accumulate(sum[e.at*f.kp:], t, r, e.n, k)
	}
}

// fill sets t to the features of block e: those of a kind of all its columns one after the other.
func (f *fusedCells) fill(t []float64, e block, x, mask []float64) {
	if e.at == 0 {
		for i := range kern.Rows {
			t[i] = 1
		}
		t = t[kern.Rows:]
	}
	n := (e.to - e.from) * kern.Rows
	x, mask = x[e.from*kern.Rows:e.to*kern.Rows], mask[e.from*kern.Rows:e.to*kern.Rows]
	copy(t, x)
	kern.SquareRows(t[n:], x, e.to-e.from)
	copy(t[2*n:], mask)
}

// Flush implements FusedKernel. It turns moments about the origin into moments about the means, as that of fusedGaussian does.
func (f *fusedCells) Flush(s *Stats, g *Gathered) {
	sum := g.sum
	if f.few {
		sum = g.few
	}
	if len(sum) == 0 { // nothing was gathered
		return
	}
	for _, e := range f.blocks {
		for c, own := range f.own {
			if !own {
				f.flush(s, sum, e, c)
			}
		}
	}
	clear(sum)
}

// flush is Flush of block e of component c.
func (f *fusedCells) flush(s *Stats, sum []float64, e block, c int) {
	k, d := f.b.k, f.b.d
	at := func(j int) float64 {
		if f.few {
			return kern.Sum(sum[(e.at*k+c*e.n+j)*kern.Lanes:])
		}
		return sum[(e.at+j)*f.kp+c]
	}
	from, wide := 0, e.to-e.from
	if e.at == 0 {
		s.N[c] += at(0)
		from = 1
	}
	squares, weights := f.b.g.scale(f.b.g.second(s), c, d), f.b.g.cellWeights(s)
	for j := range wide {
		place, m := c*d+e.from+j, f.b.mean[c*d+e.from+j]
		total, square, n := at(from+j), at(from+wide+j), at(from+2*wide+j)
		moved := total - n*m
		weights[place] += n
		s.Sum[place] += moved
		squares[min(e.from+j, len(squares)-1)] += square - m*total - m*moved
	}
}
