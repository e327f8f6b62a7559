package family

import "math"

// The metric of turns W = D' dD about the axes of the point depends on the lengths of the axes alone, and these change
// slowly. In the coordinates of Cayley's transform it goes round with the axes: where variances are many orders of magnitude
// apart a turn between two axes that are alike mixes stiff directions with loose ones, and what was learned of the curvature
// at one point is wrong at the next. So moves are remembered as turns, and made as D cay(W), which keeps W: the tangent there
// is the same.

// Turned implements Curved.
func (g Parsimonious) Turned() bool { return g.turned() }

// rotations calls f for every set of directions with its place in theta.
func (g Parsimonious) rotations(theta []float64, k, d int, f func(r *rotation, from, to int)) {
	l := g.layout(k, d)
	if l.turns == 0 {
		return
	}
	for at := l.directions; at < l.end; at += l.turns {
		f(newRotation(theta[at:at+l.turns], d), at, at+l.turns)
	}
}

// Framed implements Curved.
func (g Parsimonious) Framed(f, grad, theta []float64, k, d int) {
	copy(f, grad)
	g.rotations(theta, k, d, func(r *rotation, from, to int) { copy(f[from:to], r.push(grad[from:to])) })
}

// Unframed implements Curved.
func (g Parsimonious) Unframed(z, w, theta []float64, k, d int) {
	copy(z, w)
	g.rotations(theta, k, d, func(r *rotation, from, to int) { copy(z[from:to], r.move(w[from:to])) })
}

// Along implements Curved.
func (g Parsimonious) Along(next, w, theta []float64, k, d int) {
	for i, v := range theta {
		next[i] = v + w[i]
	}
	g.rotations(theta, k, d, func(r *rotation, from, to int) {
		copy(next[from:to], theta[from:to])
		if axes := r.by(w[from:to]); axes != nil {
			coordinatesOf(next[from:to], axes, d)
			if _, _, size := largest(next[from:to], d); !(size <= farCayley) {
				smallest(next[from:to], axes, d)
			}
		}
	})
}

// Between implements Curved.
func (g Parsimonious) Between(w, next, theta []float64, k, d int) bool {
	from := g.layout(k, d).directions
	for i, v := range theta[:from] {
		w[i] = next[i] - v
	}
	same := true
	g.rotations(theta, k, d, func(r *rotation, from, to int) {
		want := r.by(w[from:to])
		if want == nil {
			want = r.axes
		}
		for i, v := range newRotation(next[from:to], d).axes {
			same = same && math.Abs(v-want[i]) < 1e-6 // else axes have changed their signs
		}
	})
	return same
}

// by returns the axes turned by w, D cay(W); nil where w is 0.
func (r *rotation) by(w []float64) []float64 {
	if _, _, size := largest(w, r.d); size == 0 {
		return nil
	}
	d, turn, axes := r.d, newRotation(w, r.d).axes, make([]float64, r.d*r.d)
	for j := range d {
		row := axes[j*d : j*d+d]
		for m := range d {
			v := r.axes[j*d+m]
			for a, t := range turn[m*d : m*d+d] {
				row[a] += v * t
			}
		}
	}
	return axes
}
