package family

import (
	"math"
	"slices"

	"github.com/latent-go/latent/internal/kern"
)

// studentKernel scores by the Gaussian kernel of the base without its constants, which gives -delta/2, and turns that into tails.
type studentKernel struct {
	base  Kernel          // of the base
	plain *gaussianKernel // its densities, without constants
	tail  tails
	g     Student
	slope []float64 // dofSlope of each component
	k, d  int
	own   int           // numbers of the sums that are laid out as the base's
	cells *studentCells // with gaps
	theta []float64     // with gaps: the parameters
}

// tails are what turns squared distances into log densities of t: k of each, as kern.Tails has them.
type tails struct {
	shift, half, inverse, ratio []float64
	dof                         []float64
}

// Bind factorises the scales.
func (g Student) Bind(theta []float64, k, d int) Kernel {
	b := &studentKernel{base: g.base().Bind(g.Scales(theta, k), k, d), g: g, k: k, d: d, own: g.sums().Params(k, d), slope: make([]float64, k)}
	switch base := b.base.(type) {
	case *gaussianKernel:
		b.plain = base
	case *parsimoniousKernel:
		b.plain = base.Kernel.(*gaussianKernel)
	}
	shift, n := b.plain.shift, float64(d)
	b.plain.shift = make([]float64, k)
	t := &b.tail
	for c, v := range g.Dofs(theta, k) {
		t.dof = append(t.dof, v)
		t.shift = append(t.shift, shift[c]+logGammaRatio(v/2, n/2)-n/2*math.Log(v/2))
		t.half = append(t.half, (v+n)/2)
		t.inverse = append(t.inverse, 1/v)
		t.ratio = append(t.ratio, (v+n)/v)
		b.slope[c] = dofSlope(v, n)
	}
	if g.Gaps != nil {
		b.cells, b.theta = g.cells(theta, k, d), slices.Clone(theta)
	}
	return b
}

// tailRows is scratch memory for the tails of the rows of one panel, and the sums of the panels since the last Flush.
type tailRows struct {
	of    *Panel // whose u and log are here, nil where there are none
	first int64
	u     []float64 // k x kern.Rows: the expectation of the hidden variable
	log   []float64 // k x kern.Rows: log(1 + delta/v)
	score []float64 // k x kern.Rows
	sum   []float64 // k x 2 x kern.Lanes: sums of r and of r log
	row   []float64 // kern.Rows: sum of r u over the components
	panel Panel     // the panel with those for row weights
	gaps  gapRow    // of rows with missing cells
	inner Stats     // sums of the base
	into  *Stats    // whose part they are since the last Flush
}

// fit makes room for k components.
func (h *tailRows) fit(k int) *tailRows {
	if len(h.u) < k*kern.Rows {
		v := make([]float64, (3*k+1)*kern.Rows)
		h.u, h.log, h.score, h.row = v[:k*kern.Rows], v[k*kern.Rows:2*k*kern.Rows], v[2*k*kern.Rows:3*k*kern.Rows], v[3*k*kern.Rows:]
	}
	return h
}

func (w *Workspace) tailRows(k int) *tailRows {
	if w.tails == nil {
		w.tails = new(tailRows)
	}
	return w.tails.fit(k)
}

// Score implements Kernel.
func (b *studentKernel) Score(dst []float64, p *Panel, ws *Workspace) {
	h := ws.tailRows(b.k)
	if p.Holes {
		b.scoreCells(dst, p, h)
		return
	}
	b.plain.Score(dst, p, ws)
	b.tail.of(dst, h.u, h.log, b.k)
}

// of turns the k scores -delta/2 of each row into log densities.
func (t *tails) of(s, u, log []float64, k int) {
	kern.Tails(s, u, log, t.shift, t.half, t.inverse, t.ratio, k)
}

// Add implements Kernel.
func (b *studentKernel) Add(s *Stats, p *Panel, r []float64, ws *Workspace) {
	h := ws.tailRows(b.k)
	if p.Holes {
		b.addCells(s, p, r, h)
		return
	}
	b.Score(h.score, p, ws)
	u, logs := b.g.hiddenSums(s)
	for c := range b.k {
		at, n, sum := c*kern.Rows, 0.0, 0.0
		for i, v := range r[at : at+kern.Rows] {
			if v != 0 {
				n += v
				sum += v * h.log[at+i]
			}
			h.score[at+i] = v * h.u[at+i]
		}
		b.count(s, logs, c, n, sum)
	}
	h.inner = Stats{K: b.k, D: b.d, N: u, Sum: b.g.moments(s)}
	b.plain.Add(&h.inner, p, h.score, ws)
}

// count adds the weight n of complete rows to component c, and sum, n times the mean of log(1 + delta/v).
func (b *studentKernel) count(s *Stats, logs []float64, c int, n, sum float64) {
	s.N[c] += n
	logs[c] += n*math.Log(b.tail.ratio[c]) - sum
	if b.cells != nil {
		s.Sum[len(s.Sum)-1] += n*b.tail.shift[c] - b.tail.half[c]*sum
	}
}

// RowGrad implements GradKernel: that of the base for the weights r u, whose constant is that of r.
func (b *studentKernel) RowGrad(g []float64, p *Panel, r []float64, ws *Workspace) {
	if p.Holes {
		rowGradsByPass(g, b.g, b, b.theta, b.k, p, r, ws)
		return
	}
	h := ws.tailRows(b.k)
	b.Score(h.score, p, ws)
	for i, v := range h.u[:b.k*kern.Rows] {
		h.score[i] = r[i] * v
	}
	b.base.(GradKernel).RowGrad(g, p, h.score, ws)
	params := b.g.base().Params(b.k, b.d)
	free := b.g.free(b.k)
	clear(g[params*kern.Rows : (params+free)*kern.Rows])
	for c := range b.k {
		rc := r[c*kern.Rows : c*kern.Rows+kern.Rows]
		b.g.eachVolume(c, b.k, b.d, func(at int, slope float64) {
			for i, v := range rc {
				g[at*kern.Rows+i] += (h.score[c*kern.Rows+i] - v) * slope / 2
			}
		})
		if free == 0 {
			continue
		}
		to, ratio := g[(params+min(c, free-1))*kern.Rows:], math.Log(b.tail.ratio[c])
		for i, v := range rc {
			if v != 0 {
				at := c*kern.Rows + i
				to[i] += v * b.tail.dof[c] / 2 * (b.slope[c] + ratio - h.log[at] - h.u[at])
			}
		}
	}
}

// fusedStudent is the fused kernel of the base around the tails.
type fusedStudent struct {
	*studentKernel
	inner *fusedGaussian
	tail  tails // with the logarithms of mixing weights in the shift
}

// Fuse implements Fusable.
func (b *studentKernel) Fuse(logw []float64) FusedKernel {
	f := &fusedStudent{studentKernel: b, inner: b.plain.Fuse(make([]float64, b.k)).(*fusedGaussian), tail: b.tail}
	f.tail.shift = make([]float64, b.k)
	for c, w := range logw {
		f.tail.shift[c] = b.tail.shift[c] + w
	}
	return f
}

// tailRows returns g's memory for k components.
func (g *Gathered) tailRows(k int) *tailRows {
	if g.tails == nil {
		g.tails = new(tailRows)
	}
	g.tails.fit(k)
	grow(&g.tails.sum, 2*k*kern.Lanes)
	return g.tails
}

// Logits implements FusedKernel. What Gather needs of the panel stays in g.
func (f *fusedStudent) Logits(dst []float64, p *Panel, g *Gathered, ws *Workspace) {
	h := g.tailRows(f.k)
	if p.Holes {
		f.scoreCells(dst, p, h)
		for c := range f.k {
			for i := range p.N {
				dst[c*kern.Rows+i] += f.tail.shift[c] - f.studentKernel.tail.shift[c]
			}
		}
		return
	}
	f.inner.Logits(dst, p, g, ws)
	f.tail.of(dst, h.u, h.log, f.k)
	h.of, h.first = p, p.First
}

// Gather implements FusedKernel.
func (f *fusedStudent) Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	h, k := g.tailRows(f.k), f.k
	if p.Holes {
		for i := range q[:k*kern.Rows] {
			q[i] *= factor[i%kern.Rows]
		}
		f.addCells(s, p, q, h)
		return
	}
	if h.of != p || h.first != p.First { // responsibilities of other origin
		f.Logits(h.score, p, g, ws)
	}
	h.of = nil
	clear(h.row)
	kern.Weigh(h.sum, h.row, q, factor, h.u, h.log, k)
	if h.into != s {
		h.inner, h.into = f.innerOf(s), s
	}
	if f.g.Shape.Shared() { // second moments are needed in total: a row counts by the sum of r u over its components
		h.panel = *p
		h.panel.W = h.row
		p = &h.panel
	}
	f.inner.Gather(&h.inner, p, q, factor, g, ws)
}

// innerOf returns the base's sums in s.
func (f *fusedStudent) innerOf(s *Stats) Stats {
	return Stats{K: f.k, D: f.d, N: s.Sum[f.own : f.own+f.k], Sum: s.Sum[:f.own]}
}

// Flush implements FusedKernel.
func (f *fusedStudent) Flush(s *Stats, g *Gathered) {
	h, k := g.tailRows(f.k), f.k
	_, logs := f.g.hiddenSums(s)
	h.inner, h.into = f.innerOf(s), nil
	f.inner.Flush(&h.inner, g)
	for c := range k {
		f.count(s, logs, c, kern.Sum(h.sum[2*c*kern.Lanes:]), kern.Sum(h.sum[(2*c+1)*kern.Lanes:]))
	}
	clear(h.sum[:2*k*kern.Lanes])
}
