package family

import "github.com/latent-go/latent/internal/kern"

// mixedKernel scores a row by the sum of its parts.
type mixedKernel struct {
	family Mixed
	theta  []float64
	k      int
	parts  []Kernel
}

// Bind implements Family.
func (m Mixed) Bind(theta []float64, k, d int) Kernel {
	b := &mixedKernel{family: m, theta: append([]float64(nil), theta[:m.Params(k, d)]...), k: k}
	m.Each(k, func(p *Part, from, to int) { b.parts = append(b.parts, p.Family.Bind(b.theta[from:to], k, p.d())) })
	return b
}

// partScratch is the memory of one worker for one part.
type partScratch struct {
	panel           Panel
	x, mask, filled []float64 // of the panel, where its columns do not lie together
	pattern         [kern.Rows]int32
	factor          []float64 // of the rows that have a cell of the part
	some            bool      // some row has none
	stats           Stats
	ws              *Workspace
}

// scratch returns the memory of part i, with the panel's columns of it.
func (m *Mixed) scratch(i int, p *Panel, ws *Workspace) *partScratch {
	for len(ws.parts) <= i {
		ws.parts = append(ws.parts, nil)
	}
	part := &m.Parts[i]
	w := ws.parts[i]
	if w == nil {
		w = &partScratch{ws: NewWorkspace(part.d())}
		ws.parts[i] = w
	}
	own := &w.panel
	own.N, own.D, own.W, own.First = p.N, part.d(), p.W, p.First
	own.X = columnsOf(&w.x, p.X, part.Columns)
	own.Holes, own.Pattern, w.some = false, nil, false
	if m.Gaps == nil {
		return w
	}
	own.Mask = columnsOf(&w.mask, p.Mask, part.Columns)
	own.Filled = columnsOf(&w.filled, p.Filled, part.Columns)
	if p.Holes {
		w.look()
	}
	if g := PatternsOf(part.Family); own.Holes && p.Pattern != nil && g != nil && g.part != nil {
		for i, of := range p.Pattern {
			if w.pattern[i] = of; of >= 0 {
				w.pattern[i] = g.part[of]
			}
		}
		own.Pattern = w.pattern[:]
	}
	return w
}

// columnsOf returns some columns of x, by variables: x itself where they lie together, else a copy in buf.
func columnsOf(buf *[]float64, x []float64, columns []int) []float64 {
	together := true
	for i, j := range columns {
		together = together && j == columns[0]+i
	}
	if n := len(columns) * kern.Rows; together {
		from := columns[0] * kern.Rows
		return x[from : from+n : from+n]
	}
	to := grow(buf, len(columns)*kern.Rows)
	for i, j := range columns {
		copy(to[i*kern.Rows:(i+1)*kern.Rows], x[j*kern.Rows:(j+1)*kern.Rows])
	}
	return to
}

// look notes whether cells of the part are missing, and which rows have any.
func (w *partScratch) look() {
	if w.factor == nil {
		w.factor = make([]float64, kern.Rows)
	}
	clear(w.factor)
	for at, there := range w.panel.Mask {
		if i := at % kern.Rows; there != 0 {
			w.factor[i] = 1
		} else if i < w.panel.N {
			w.panel.Holes = true
		}
	}
	for _, f := range w.factor[:w.panel.N] {
		w.some = w.some || f == 0
	}
}

// Score implements Kernel.
func (b *mixedKernel) Score(dst []float64, p *Panel, ws *Workspace) {
	own := dst[:b.k*kern.Rows]
	for i, kernel := range b.parts {
		w := b.family.scratch(i, p, ws)
		if i > 0 {
			own = grow(&ws.scores, b.k*kern.Rows)
		}
		kernel.Score(own, &w.panel, w.ws)
		addScores(dst, own, i)
	}
}

// addScores adds the scores of part i to dst, where those of the first part stand already.
func addScores(dst, own []float64, i int) {
	if i == 0 {
		return
	}
	for at, v := range own {
		dst[at] += v
	}
}

// Add implements Kernel.
func (b *mixedKernel) Add(s *Stats, p *Panel, r []float64, ws *Workspace) {
	at := 0
	for c := range b.k {
		s.N[c] += kern.First(nil, nil, r[c*kern.Rows:])
	}
	for i, kernel := range b.parts {
		w := b.family.scratch(i, p, ws)
		at = b.family.share(&w.stats, s, i, at)
		kernel.Add(&w.stats, &w.panel, w.having(r, b.k, &ws.shares), w.ws)
	}
}

// having returns the responsibilities r of the rows that have a cell of the part, 0 for the others.
func (w *partScratch) having(r []float64, k int, buf *[]float64) []float64 {
	if !w.some {
		return r
	}
	own := grow(buf, k*kern.Rows)
	for at := range own {
		own[at] = r[at] * w.factor[at%kern.Rows]
	}
	return own
}

// RowGrad implements GradKernel.
func (b *mixedKernel) RowGrad(g []float64, p *Panel, r []float64, ws *Workspace) {
	i := 0
	b.family.Each(b.k, func(_ *Part, from, to int) {
		w := b.family.scratch(i, p, ws)
		b.parts[i].(GradKernel).RowGrad(g[from*kern.Rows:to*kern.Rows], &w.panel, w.having(r, b.k, &ws.shares), w.ws)
		i++
	})
}

// Fuse implements Fusable.
func (b *mixedKernel) Fuse(logw []float64) FusedKernel {
	f := &fusedMixed{mixedKernel: b, fused: make([]FusedKernel, len(b.parts)), logw: logw}
	zero := make([]float64, b.k)
	for i, kernel := range b.parts {
		if kernel, ok := kernel.(Fusable); ok {
			f.fused[i] = kernel.Fuse(zero)
		}
	}
	return f
}

// fusedMixed runs the fused forms of the parts that have one.
type fusedMixed struct {
	*mixedKernel
	fused []FusedKernel // nil where a part has none
	logw  []float64
}

// gathered returns what part i has gathered.
func (g *Gathered) gathered(i int) *Gathered {
	for len(g.parts) <= i {
		g.parts = append(g.parts, new(Gathered))
	}
	return g.parts[i]
}

// Logits implements FusedKernel.
func (f *fusedMixed) Logits(dst []float64, p *Panel, g *Gathered, ws *Workspace) {
	own := dst[:f.k*kern.Rows]
	for i, kernel := range f.fused {
		w := f.family.scratch(i, p, ws)
		if i > 0 {
			own = grow(&ws.scores, f.k*kern.Rows)
		}
		if kernel != nil {
			kernel.Logits(own, &w.panel, g.gathered(i), w.ws)
		} else {
			f.parts[i].Score(own, &w.panel, w.ws)
		}
		addScores(dst, own, i)
	}
	for c, lw := range f.logw {
		for i := range kern.Rows {
			dst[c*kern.Rows+i] += lw
		}
	}
}

// Gather implements FusedKernel.
func (f *fusedMixed) Gather(s *Stats, p *Panel, q, factor []float64, g *Gathered, ws *Workspace) {
	k := f.k
	at, shares := 0, grow(&ws.scores, kern.Pad(k)*kern.Rows)
	for c := range k {
		sum := 0.0
		for i, v := range q[c*kern.Rows : c*kern.Rows+kern.Rows] {
			sum += v * factor[i]
		}
		s.N[c] += sum
	}
	for i, kernel := range f.fused {
		w := f.family.scratch(i, p, ws)
		at = f.family.share(&w.stats, s, i, at)
		copy(shares, q[:len(shares)]) // the part may overwrite them
		of := factor
		if w.some {
			of = times(grow(&ws.shares, kern.Rows), w.factor, factor)
		}
		if kernel != nil {
			kernel.Gather(&w.stats, &w.panel, shares, of, g.gathered(i), w.ws)
			continue
		}
		for c := range k {
			times(shares[c*kern.Rows:c*kern.Rows+kern.Rows], shares[c*kern.Rows:], of)
		}
		f.parts[i].Add(&w.stats, &w.panel, shares, w.ws)
	}
}

// Flush implements FusedKernel.
func (f *fusedMixed) Flush(s *Stats, g *Gathered) {
	at := 0
	for i, kernel := range f.fused {
		own := new(Stats)
		at = f.family.share(own, s, i, at)
		if kernel != nil {
			kernel.Flush(own, g.gathered(i))
		}
	}
}
