package family

import "math"

// Mixed is the family of rows with columns of several kinds, which are independent of each other given the component: the parameters and
// the log densities of its parts stand side by side (Everitt 1988; Hunt and Jorgensen 1999).
//
// theta holds the parameters of the parts, one after another. Sums hold for each part the k weights of the rows that have a cell of it,
// and then the part's own sums.
type Mixed struct {
	Parts []Part
	Gaps  *Gaps // what cells are missing; nil for complete rows
}

// Part is a family of some of the columns, in their order.
type Part struct {
	Family  Family
	Columns []int
}

// d is how many columns the part has.
func (p *Part) d() int { return len(p.Columns) }

// WithGaps implements Incomplete. A part whose columns are never missing stays one for complete rows.
func (m Mixed) WithGaps(g *Gaps) Family {
	own := Mixed{Parts: make([]Part, len(m.Parts)), Gaps: g}
	for i, p := range m.Parts {
		if f, ok := p.Family.(Incomplete); ok {
			var some *Gaps
			if g != nil {
				some = g.Of(p.Columns)
			}
			p.Family = f.WithGaps(some)
		}
		own.Parts[i] = p
	}
	return own
}

// Patterns implements Incomplete.
func (m Mixed) Patterns() *Gaps { return m.Gaps }

// Name returns "mixed".
func (Mixed) Name() string { return "mixed" }

// Params returns the length of theta.
func (m Mixed) Params(k, _ int) (n int) {
	for _, p := range m.Parts {
		n += p.Family.Params(k, p.d())
	}
	return n
}

// Sums returns the length of Stats.Sum.
func (m Mixed) Sums(k, _ int) (n int) {
	for _, p := range m.Parts {
		n += k + p.Family.Sums(k, p.d())
	}
	return n
}

// Free returns what the parts charge together.
func (m Mixed) Free(k, _ int) (n int) {
	for _, p := range m.Parts {
		n += p.Family.Free(k, p.d())
	}
	return n
}

// Density returns true.
func (Mixed) Density() bool { return true }

// Each calls do with every part and the place of its parameters in theta.
func (m Mixed) Each(k int, do func(p *Part, from, to int)) {
	at := 0
	for i := range m.Parts {
		p := &m.Parts[i]
		n := p.Family.Params(k, p.d())
		do(p, at, at+n)
		at += n
	}
}

// each is Each with the sums of the part, which share memory with s.
func (m Mixed) each(s *Stats, do func(p *Part, from, to int, own *Stats)) {
	sums, i := 0, 0
	m.Each(s.K, func(p *Part, from, to int) {
		own := new(Stats)
		sums = m.share(own, s, i, sums)
		do(p, from, to, own)
		i++
	})
}

// share sets own to the sums of part i, which begin at place at of those of s, and returns where they end.
func (m Mixed) share(own, s *Stats, i, at int) (end int) {
	k, p := s.K, &m.Parts[i]
	end = at + k + p.Family.Sums(k, p.d())
	own.K, own.D, own.Rows, own.W, own.N, own.Sum = k, p.d(), s.Rows, s.W, s.Sum[at:at+k:at+k], s.Sum[at+k:end:end]
	return end
}

// MStep is that of every part.
func (m Mixed) MStep(next, theta []float64, s *Stats) {
	m.each(s, func(p *Part, from, to int, own *Stats) { p.Family.MStep(next[from:to], theta[from:to], own) })
}

// Expected is the sum of that of the parts.
func (m Mixed) Expected(next, theta []float64, s *Stats) (sum float64) {
	m.each(s, func(p *Part, from, to int, own *Stats) { sum += p.Family.Expected(next[from:to], theta[from:to], own) })
	return sum
}

// AtFloor tells which components sit on a floor in one of the parts.
func (m Mixed) AtFloor(theta []float64, k, _ int) []bool {
	at := make([]bool, k)
	m.Each(k, func(p *Part, from, to int) {
		for c, v := range p.Family.AtFloor(theta[from:to], k, p.d()) {
			at[c] = at[c] || v
		}
	})
	return at
}

// Flat implements Flattening.
func (m Mixed) Flat(next, theta []float64, s *Stats) []bool {
	flat := make([]bool, s.K)
	m.each(s, func(p *Part, from, to int, own *Stats) {
		if f, ok := p.Family.(Flattening); ok {
			for c, v := range f.Flat(next[from:to], theta[from:to], own) {
				flat[c] = flat[c] || v
			}
		}
	})
	return flat
}

// Grad implements Smooth, as do the following methods, part by part.
func (m Mixed) Grad(g, theta []float64, s *Stats) {
	m.each(s, func(p *Part, from, to int, own *Stats) { p.Family.(Smooth).Grad(g[from:to], theta[from:to], own) })
}

// Precondition implements Smooth.
func (m Mixed) Precondition(z, q, theta []float64, s *Stats) {
	m.each(s, func(p *Part, from, to int, own *Stats) {
		p.Family.(Smooth).Precondition(z[from:to], q[from:to], theta[from:to], own)
	})
}

// Multiply implements Smooth.
func (m Mixed) Multiply(q, z, theta []float64, s *Stats) {
	m.each(s, func(p *Part, from, to int, own *Stats) {
		p.Family.(Smooth).Multiply(q[from:to], z[from:to], theta[from:to], own)
	})
}

// SquaredLength implements Smooth.
func (m Mixed) SquaredLength(z, theta []float64, s *Stats) (sum float64) {
	m.each(s, func(p *Part, from, to int, own *Stats) {
		sum += p.Family.(Smooth).SquaredLength(z[from:to], theta[from:to], own)
	})
	return sum
}

// Reach implements Smooth.
func (m Mixed) Reach(z, theta []float64, k, _ int) (far float64) {
	m.Each(k, func(p *Part, from, to int) {
		far = max(far, p.Family.(Smooth).Reach(z[from:to], theta[from:to], k, p.d()))
	})
	return far
}

// Nudge implements Smooth.
func (m Mixed) Nudge(theta []float64, k, _ int, normal func() float64) {
	m.Each(k, func(p *Part, from, to int) { p.Family.(Smooth).Nudge(theta[from:to], k, p.d(), normal) })
}

// Apart implements Smooth.
func (m Mixed) Apart(theta []float64, a, b, k, _ int) float64 {
	sum := 0.0
	m.Each(k, func(p *Part, from, to int) {
		x := p.Family.(Smooth).Apart(theta[from:to], a, b, k, p.d())
		sum += x * x
	})
	return math.Sqrt(sum)
}

// Place implements Smooth.
func (m Mixed) Place(c, k, _ int, do func(from, to int)) {
	m.Each(k, func(p *Part, at, _ int) {
		p.Family.(Smooth).Place(c, k, p.d(), func(from, to int) { do(at+from, at+to) })
	})
}

// Project implements Smooth.
func (m Mixed) Project(theta []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) { p.Family.(Smooth).Project(theta[from:to], k, p.d()) })
}

// Held implements Smooth.
func (m Mixed) Held(held []bool, theta []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) { p.Family.(Smooth).Held(held[from:to], theta[from:to], k, p.d()) })
}

// Release implements Edged.
func (m Mixed) Release(held []bool, theta, next []float64, k, _ int) (some bool) {
	m.Each(k, func(p *Part, from, to int) {
		if f, ok := p.Family.(Edged); ok && f.Release(held[from:to], theta[from:to], next[from:to], k, p.d()) {
			some = true
		}
	})
	return some
}

// Inside implements Edged.
func (m Mixed) Inside(theta []float64, held []bool, g, weights []float64, k, _ int) (some bool) {
	m.Each(k, func(p *Part, from, to int) {
		if f, ok := p.Family.(Edged); ok && f.Inside(theta[from:to], held[from:to], g[from:to], weights, k, p.d()) {
			some = true
		}
	})
	return some
}

// Edges calls do with the places in theta of parameters that have an end of their range, where Edged holds them.
func (m Mixed) Edges(k int, do func(from, to int)) {
	m.Each(k, func(p *Part, from, to int) {
		if _, ok := p.Family.(Edged); ok {
			do(from, to)
		}
	})
}

// Groups implements Grouped.
func (m Mixed) Groups(k int, do func(from, to int)) {
	m.Each(k, func(p *Part, at, _ int) {
		if f, ok := p.Family.(Grouped); ok {
			f.Groups(k, func(from, to int) { do(at+from, at+to) })
		}
	})
}
