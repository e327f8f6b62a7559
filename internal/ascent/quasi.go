package ascent

import (
	"context"
	"fmt"
	"iter"
	"math"
	"slices"
)

// BFGS climbs by the quasi-Newton method of Broyden, Fletcher, Goldfarb and Shanno with a strong Wolfe line search
// (Nocedal and Wright 2006, algorithm 6.1), in the coordinates of Chart. It keeps a matrix of parameters times
// parameters.
type BFGS struct {
	Chart   Chart // nil means the parameters themselves
	MaxIter int   // accepted steps allowed; 0 evaluates the start
}

// MaxBFGS is the largest number of parameters that BFGS takes: its matrix is 72 MB then, and every step goes over it
// several times.
const MaxBFGS = 3000

// Steps implements Driver. The step's Distance is the decrement in the driver's own matrix, sqrt(g' H g).
func (b BFGS) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	if p := len(theta); p > MaxBFGS {
		return func(yield func(Step, error) bool) {
			yield(Step{}, fmt.Errorf("bfgs keeps a matrix of %d x %d numbers; use lbfgs for more than %d parameters", p, p, MaxBFGS))
		}
	}
	return quasi{b.Chart, b.MaxIter, &dense{}}.steps(ctx, o, theta)
}

// LBFGS is BFGS that keeps the last few moves in place of a matrix (Nocedal 1980; Nocedal and Wright 2006, algorithm
// 7.5), in the coordinates of Chart.
type LBFGS struct {
	Chart   Chart // nil means the parameters themselves
	Memory  int   // moves kept; 0 means 10
	MaxIter int   // accepted steps allowed; 0 evaluates the start
}

// Steps implements Driver. The step's Distance is the decrement in the driver's own matrix, sqrt(g' H g).
func (l LBFGS) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	most := l.Memory
	if most == 0 {
		most = 10
	}
	return quasi{l.Chart, l.MaxIter, &limited{most: most}}.steps(ctx, o, theta)
}

// quasiLeft is the share of the slope that a line search may leave: most first trials pass (Nocedal and Wright 2006).
const quasiLeft = 0.9

// inverse approximates the inverse of the observed information.
type inverse interface {
	// times returns H q, q itself while nothing is known.
	times(q []float64) []float64
	// learn takes a move and the fall of the gradient over it, s.y > 0.
	learn(s, y []float64, sy float64)
	forget()
	known() bool
}

// quasi is the climb that BFGS and L-BFGS share.
type quasi struct {
	chart   Chart
	maxIter int
	h       inverse
}

func (q quasi) steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		q.h.forget()
		c := newCharted(ctx, o, q.chart, q.maxIter, yield)
		if !c.start(theta) {
			return
		}
		for {
			to, _, found, ok := c.search(q.direction(c), quasiLeft)
			if !ok {
				return
			}
			if !found { // forget, and let EM step
				q.h.forget()
				if !c.em() {
					return
				}
				continue
			}
			q.learn(c.here, to)
			if !c.move(to, q.decrement(to)) || c.holds() && !q.em(c) {
				return
			}
		}
	}
}

// em takes the EM step and learns from it.
func (q quasi) em(c *charted) bool {
	from := c.here
	ok := c.em()
	q.learn(from, c.here)
	return ok
}

// direction returns the move to search along: H g, or the gradient as long as the complete-data information says.
func (q quasi) direction(c *charted) []float64 {
	z := q.h.times(c.here.g)
	if !(dot(z, c.here.g) > 0) {
		q.h.forget()
		copy(z, c.here.g)
	}
	if q.h.known() {
		return z
	}
	step := c.cauchy(z)
	for i := range z {
		z[i] *= step
	}
	return z
}

// learn remembers the move from a to b.
func (q quasi) learn(a, b place) {
	if !slices.Equal(a.Held, b.Held) {
		q.h.forget()
		return
	}
	s, y := make([]float64, len(a.l)), make([]float64, len(a.l))
	for i := range s {
		if !a.Held[i] {
			s[i], y[i] = b.l[i]-a.l[i], a.g[i]-b.g[i]
		}
	}
	if sy := dot(s, y); sy > 1e-10*math.Sqrt(dot(s, s)*dot(y, y)) {
		q.h.learn(s, y, sy)
	}
}

// decrement returns sqrt(g' H g) at p, NaN while H is not known.
func (q quasi) decrement(p place) float64 {
	if !q.h.known() {
		return unknown
	}
	d := math.Sqrt(max(dot(p.g, q.h.times(p.g)), 0))
	return math.Hypot(d, p.Near.Length(drift(p.Point)))
}

// dense is the matrix of BFGS. It starts as the identity times s.y / y.y of the first move.
type dense struct {
	h []float64 // p x p, symmetric; nil while nothing is known
}

func (m *dense) forget()     { m.h = nil }
func (m *dense) known() bool { return m.h != nil }

func (m *dense) times(q []float64) []float64 {
	if m.h == nil {
		return slices.Clone(q)
	}
	z := make([]float64, len(q))
	for i := range z {
		z[i] = dot(m.h[i*len(q):(i+1)*len(q)], q)
	}
	return z
}

// learn sets H to (I - s y'/sy) H (I - y s'/sy) + s s'/sy (Nocedal and Wright 2006, eq. 6.17).
func (m *dense) learn(s, y []float64, sy float64) {
	p := len(s)
	if m.h == nil {
		m.h = make([]float64, p*p)
		for i := range p {
			m.h[i*p+i] = sy / dot(y, y)
		}
	}
	hy := m.times(y)
	f := (1 + dot(y, hy)/sy) / sy
	for i := range p {
		row, a, b := m.h[i*p:(i+1)*p], f*s[i]-hy[i]/sy, s[i]/sy
		for j := range row {
			row[j] += a*s[j] - b*hy[j]
		}
	}
}

// limited is the two-loop recursion of L-BFGS, its first matrix the identity times s.y / y.y of the last move.
type limited struct {
	most int
	s, y [][]float64
	sy   []float64
}

func (m *limited) forget()     { m.s, m.y, m.sy = nil, nil, nil }
func (m *limited) known() bool { return len(m.s) > 0 }

func (m *limited) times(q []float64) []float64 {
	z := slices.Clone(q)
	n := len(m.s)
	if n == 0 {
		return z
	}
	alpha := make([]float64, n)
	for i := n - 1; i >= 0; i-- {
		alpha[i] = dot(m.s[i], z) / m.sy[i]
		axpy(z, -alpha[i], m.y[i])
	}
	scale := m.sy[n-1] / dot(m.y[n-1], m.y[n-1])
	for i := range z {
		z[i] *= scale
	}
	for i := range m.s {
		axpy(z, alpha[i]-dot(m.y[i], z)/m.sy[i], m.s[i])
	}
	return z
}

func (m *limited) learn(s, y []float64, sy float64) {
	m.s, m.y, m.sy = append(m.s, s), append(m.y, y), append(m.sy, sy)
	if len(m.s) > m.most {
		m.s, m.y, m.sy = m.s[1:], m.y[1:], m.sy[1:]
	}
}
