package family

import "math"

// Limits of Newton's method.
const (
	axesSteps    = 1000  // in one M-step
	axesJudged   = 30    // of a start, before it is judged
	axesFar      = 0.3   // angle of the longest step
	axesRounding = 1e-14 // what the cost may seem to rise by, beside 1 and itself
	axesFlat     = 1e-20 // what is nothing to fall by
)

// newton turns the axes by Newton's method until a step has no angle larger than tol, or nothing to gain: pairs alone creep
// where more than two axes have to turn together. Steps are kept within a radius in which the model holds. Where a
// component is flat to the floor the cost falls along a narrow valley that winds, and a few hundred steps may be needed. It
// reports whether the axes have settled within so many steps: what is left the next M-steps do.
func (p *commonAxes) newton(tol float64, steps int) bool {
	cost, radius := p.cost(), 1.0
	if math.IsNaN(cost) {
		return false
	}
	var h *quadraticModel
	for range steps {
		if h == nil {
			h = p.quadratic()
		}
		t := h.step(radius)
		_, _, angle := largest(t.w, p.d)
		if !(angle <= axesFar) {
			radius = min(radius, t.size) * max(0.1, min(0.9, axesFar/angle))
			continue
		}
		before := *p
		p.by(t.w)
		after := p.cost()
		fell := cost - after
		if p.equal {
			fell = -math.Expm1(after - cost) // the model is of the volume, the cost its logarithm
		}
		if !(fell >= t.falls/10-axesRounding*(1+math.Abs(cost))) {
			*p = before
			radius = t.size / 4
			continue
		}
		if t.edge && fell > t.falls*3/4 {
			radius *= 2
		}
		if h, cost = nil, after; !t.edge && (angle <= tol || t.falls <= axesFlat) {
			return true
		}
	}
	return false
}

// by turns the axes by W. What is off the diagonal of D' S D stays as small as it is: to start from S again would round it
// in units of S.
func (p *commonAxes) by(w []float64) {
	d, turn := p.d, newRotation(w, p.d).axes
	axes, b, half := make([]float64, d*d), make([]float64, len(p.b)), make([]float64, d*d)
	transposedTimes(axes, turn, p.axes, d)
	for c := range p.n {
		clear(half)
		transposedTimes(half, turn, p.b[c*d*d:(c+1)*d*d], d)
		for a := range d {
			to := b[(c*d+a)*d : (c*d+a)*d+d]
			for l, v := range half[a*d : a*d+d] {
				for e, t := range turn[l*d : l*d+d] {
					to[e] += v * t
				}
			}
		}
	}
	p.axes, p.b = axes, b
}

// transposedTimes adds T' A to out.
func transposedTimes(out, t, a []float64, d int) {
	for j := range d {
		for l, f := range t[j*d : j*d+d] {
			to := out[l*d : l*d+d]
			for i, v := range a[j*d : j*d+d] {
				to[i] += f * v
			}
		}
	}
}
