package ascent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Certificate says how far a point is from the optimum above it.
type Certificate struct {
	// Distance is Newton's decrement sqrt(g' I^-1 g), g the gradient and I the observed information: it bounds, in
	// standard errors, how far any parameter and any smooth function of them is from the optimum. NaN where it cannot
	// be told.
	Distance float64
	// Remaining is the free energy still to gain, Distance squared over 2, nats.
	Remaining float64
	// Curvature is the smallest eigenvalue of the observed information that was met, in units of the complete-data
	// information: 1 where nothing overlaps, 0 on a ridge, negative at a saddle. NaN where none was met.
	Curvature float64
	Method    Method
	Saddles   int    // saddles that the climb met and left before this point
	Why       string // why Distance is NaN
	// AtLeast tells that Distance is a lower bound: what was allowed to be spent did not settle it.
	AtLeast bool
}

// Method is how a certificate came about.
type Method string

// Information is conjugate gradients on the observed information.
const Information Method = "information"

// Constants of the certificate.
const (
	probe    = 1e-3 // length of the move that a product with the information differences over, standard errors
	products = 30   // products with the information allowed
	ridge    = 0.01 // curvature below which a point may be on a ridge, and the stop is tightened
	tight    = 1e-4 // the tightened stop, standard errors
	settled  = 0.03 // share of the squared distance that the last products may still add
)

// observed is the observed information at a point.
type observed struct {
	ctx  context.Context
	o    Objective
	at   *Point
	used int // sweeps
}

// times returns I v by the difference of two gradients, and an error of the objective.
func (b *observed) times(v []float64) ([]float64, error) {
	h := probe / b.at.Near.Length(v)
	theta := slices.Clone(b.at.Theta)
	axpy(theta, h, v)
	p, err := b.o.Eval(b.ctx, theta, b.at.Beta)
	b.used++
	if err != nil {
		return nil, err
	}
	y := make([]float64, len(v))
	for i := range y {
		if !b.at.Held[i] {
			y[i] = (b.at.Grad[i] - p.Grad[i]) / h
		}
	}
	return y, nil
}

// krylov is the outcome of conjugate gradients on I x = r.
type krylov struct {
	square    float64   // r' I^-1 r, from below
	curvature float64   // the smallest Ritz value of I in units of I_c; NaN without a product
	down      []float64 // a direction of length 1 in which I is not positive; nil if none was met
	steps     int
	settled   bool // square has settled
}

// solve runs conjugate gradients on I x = r, preconditioned by the complete-data information, until r' I^-1 r has
// settled, passes enough, or a direction of no positive curvature turns up. The coefficients are those of Lanczos'
// tridiagonal matrix, whose eigenvalues approach those of I in units of I_c from inside.
func (b *observed) solve(r []float64, enough float64, most int) (krylov, error) {
	k := krylov{curvature: unknown}
	n := len(r)
	r = slices.Clone(r)
	mask(r, b.at.Held)
	z, v := make([]float64, n), make([]float64, n)
	b.at.Near.Precondition(z, r)
	mask(z, b.at.Held)
	copy(v, z)
	rz := dot(r, z)
	first := rz
	var diagonal, beside []float64
	beta, before := 0.0, 0.0
	for rz > 1e-24*first && k.steps < most {
		y, err := b.times(v)
		if err != nil {
			return k, err
		}
		k.steps++
		vy, length := dot(v, y), b.at.Near.Length(v)
		if !(vy > 1e-7*length*length) { // differences of gradients are good to about 1e-7 of the metric
			k.curvature = min(vy/(length*length), lowest(diagonal, beside))
			k.down = v
			for i := range v {
				k.down[i] /= length
			}
			return k, nil
		}
		alpha := rz / vy
		diagonal = append(diagonal, 1/alpha)
		if k.steps > 1 {
			diagonal[k.steps-1] += beta / before
			beside = append(beside, math.Sqrt(beta)/before)
		}
		gain := alpha * rz
		k.square += gain
		axpy(r, -alpha, y)
		b.at.Near.Precondition(z, r)
		mask(z, b.at.Held)
		after := dot(r, z)
		beta, before = after/rz, alpha
		rz = after
		if k.square > enough || gain < settled*k.square && alpha*after < settled*k.square {
			k.settled = k.square <= enough
			break
		}
		for i := range v {
			v[i] = z[i] + beta*v[i]
		}
	}
	k.settled = k.settled || k.steps < most
	k.curvature = lowest(diagonal, beside)
	return k, nil
}

// lowest returns the smallest eigenvalue of a symmetric tridiagonal matrix, NaN of an empty one.
func lowest(diagonal, beside []float64) float64 {
	n := len(diagonal)
	if n == 0 {
		return unknown
	}
	s := mat.NewSymDense(n, nil)
	for i, v := range diagonal {
		s.SetSym(i, i, v)
		if i > 0 {
			s.SetSym(i, i-1, beside[i-1])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, false) {
		return unknown
	}
	return e.Values(nil)[0]
}

// certify looks at the surroundings of the point by at most most products. far is a distance beyond which the exact one
// does not matter. down is a direction in which the point is not a maximum, nil if none was met.
func (b *observed) certify(far float64, most int, normal func() float64) (c Certificate, down []float64, err error) {
	k, err := b.solve(b.at.Grad, far*far, most)
	if err != nil {
		return c, nil, err
	}
	c = Certificate{Method: Information, Curvature: k.curvature, AtLeast: !k.settled}
	if k.down == nil && k.steps <= 2 && most == products {
		// The gradient says next to nothing here, as where components are equal by symmetry. A random move that parts
		// components tells more.
		theta := slices.Clone(b.at.Theta)
		b.at.Near.Nudge(theta, normal)
		p, err := b.o.Eval(b.ctx, theta, b.at.Beta)
		b.used++
		if err != nil {
			return c, nil, err
		}
		r := make([]float64, len(theta))
		for i := range r {
			r[i] = b.at.Grad[i] - p.Grad[i]
		}
		random, err := b.solve(r, math.Inf(1), 10)
		if err != nil {
			return c, nil, err
		}
		k.down = random.down
		if !(c.Curvature <= random.curvature) {
			c.Curvature = random.curvature
		}
	}
	c.Distance = math.Hypot(math.Sqrt(k.square), b.at.Near.Length(drift(b.at)))
	c.Remaining = c.Distance * c.Distance / 2
	if k.down != nil {
		c.Distance, c.Remaining = unknown, unknown
		c.Why = "the log-likelihood curves upwards here: a saddle, or the slope before the last rise"
	}
	return c, k.down, nil
}
