package family

// Other coordinates of Mixed: those of the parts that have any, and theta elsewhere.

// Factor implements Factored.
func (m Mixed) Factor(l, theta []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) {
		if f, ok := p.Family.(Factored); ok {
			f.Factor(l[from:to], theta[from:to], k, p.d())
		} else {
			copy(l[from:to], theta[from:to])
		}
	})
}

// Unfactor implements Factored.
func (m Mixed) Unfactor(theta, l []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) {
		if f, ok := p.Family.(Factored); ok {
			f.Unfactor(theta[from:to], l[from:to], k, p.d())
		} else {
			copy(theta[from:to], l[from:to])
		}
	})
}

// FactorGrad implements Factored.
func (m Mixed) FactorGrad(gl, g, theta []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) {
		if f, ok := p.Family.(Factored); ok {
			f.FactorGrad(gl[from:to], g[from:to], theta[from:to], k, p.d())
		} else {
			copy(gl[from:to], g[from:to])
		}
	})
}

// Turned implements Curved: some part has a frame of its own.
func (m Mixed) Turned() bool {
	for _, p := range m.Parts {
		if f, ok := p.Family.(Curved); ok && f.Turned() {
			return true
		}
	}
	return false
}

// Framed implements Curved.
func (m Mixed) Framed(f, g, theta []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) {
		if c, ok := p.Family.(Curved); ok {
			c.Framed(f[from:to], g[from:to], theta[from:to], k, p.d())
		} else {
			copy(f[from:to], g[from:to])
		}
	})
}

// PreconditionFramed implements Curved.
func (m Mixed) PreconditionFramed(z, q, theta []float64, s *Stats) {
	m.each(s, func(p *Part, from, to int, own *Stats) {
		if c, ok := p.Family.(Curved); ok {
			c.PreconditionFramed(z[from:to], q[from:to], theta[from:to], own)
		} else {
			p.Family.(Smooth).Precondition(z[from:to], q[from:to], theta[from:to], own)
		}
	})
}

// Unframed implements Curved.
func (m Mixed) Unframed(z, w, theta []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) {
		if c, ok := p.Family.(Curved); ok {
			c.Unframed(z[from:to], w[from:to], theta[from:to], k, p.d())
		} else {
			copy(z[from:to], w[from:to])
		}
	})
}

// Along implements Curved.
func (m Mixed) Along(next, w, theta []float64, k, _ int) {
	m.Each(k, func(p *Part, from, to int) {
		if c, ok := p.Family.(Curved); ok {
			c.Along(next[from:to], w[from:to], theta[from:to], k, p.d())
			return
		}
		for i := from; i < to; i++ {
			next[i] = theta[i] + w[i]
		}
	})
}

// Between implements Curved.
func (m Mixed) Between(w, next, theta []float64, k, _ int) bool {
	ok := true
	m.Each(k, func(p *Part, from, to int) {
		if c, curved := p.Family.(Curved); curved {
			ok = c.Between(w[from:to], next[from:to], theta[from:to], k, p.d()) && ok
			return
		}
		for i := from; i < to; i++ {
			w[i] = next[i] - theta[i]
		}
	})
	return ok
}
