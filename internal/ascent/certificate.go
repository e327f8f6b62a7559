package ascent

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Certificate says how far a point is from the optimum above it.
type Certificate struct {
	// Distance is Newton's decrement sqrt(g' I^-1 g), g the gradient and I the observed information: no parameter and no
	// smooth function of them is farther from the optimum, in standard errors, as long as I is that of the way there. Where
	// Whole is true it is told with a margin for what changes on the way; else I is known in some directions, and it is an
	// estimate. NaN where it cannot be told.
	Distance float64
	// Remaining is the free energy still to gain, Distance squared over 2, nats.
	Remaining float64
	// Curvature is the smallest eigenvalue of the observed information that was met, in units of the complete-data
	// information: 1 where nothing overlaps, 0 where the log-likelihood is flat, negative at a saddle. NaN where none was met.
	Curvature float64
	Method    Method
	Saddles   int    // saddles that the climb met and left before this point
	Why       string // why Distance is NaN
	// AtLeast tells that Distance is a lower bound: what was allowed to be spent did not settle it.
	AtLeast bool
	// Whole tells that every direction was looked at: Curvature is the smallest eigenvalue, not only the smallest met.
	Whole bool

	newton []float64 // Newton's step from the point, as far as it was solved for
	short  float64   // how far from the optimum of the quadratic model that leads, for what the solution was cut short by
	gain   float64   // free energy that it is to gain, nats
	pairs  *Memory   // the directions of the products, in the frame of the point

	flattest direction // of the smallest curvature met
}

// Method is how a certificate came about.
type Method string

// Information is conjugate gradients on the observed information.
const Information Method = "information"

// Constants of the certificate.
const (
	probe    = 1e-4 // length of the move that a product with the information differences over, standard errors
	wide     = 1e-3 // the same for differences of both sides, whose error is of second order
	products = 30   // products with the information allowed
	probes   = 10   // products allowed to the search for the least curvature
	ridge    = 0.01 // curvature below which a point may be on a ridge, and the stop is tightened
	level    = 1e-4 // curvature that the difference of two gradients cannot tell from 0
	tight    = 1e-4 // the tightened stop, standard errors
	// shallow is the share of the slope that Newton's step may leave where it was measured. Where the curvature falls off so
	// fast that a quarter is left, the slope has no zero there at all, and with 0.12 its zero is 1.16 steps away: within margin.
	shallow = 0.12
	settled = 0.03 // share of the squared distance that the last products may still add
	leftOf  = 0.1  // the same as a share of the squared tolerance, where Newton's step has led: it is added to the distance
)

// observed is the observed information at a point.
type observed struct {
	ctx     context.Context
	o       Objective
	at      *Point
	central bool // differences of both sides: two sweeps a product
	// memory is what is known of the information beside that of the complete data, and flattest the direction of the least curvature
	// known from elsewhere. Neither need be true: what is told is measured here.
	memory   Memory
	flattest direction
	// The squared distance has settled when what is missing is the given share of it, or as little as that.
	share, little float64
}

// times returns I v by the difference of two gradients, and an error of the objective.
func (b *observed) times(v []float64) ([]float64, error) {
	h, from := probe/b.at.Near.Length(v), b.at
	if b.central {
		h = wide / b.at.Near.Length(v)
		var err error
		if from, err = b.beside(-h, v); err != nil {
			return nil, err
		}
	}
	to, err := b.beside(h, v)
	if err != nil {
		return nil, err
	}
	if b.central {
		h *= 2
	}
	y := make([]float64, len(v))
	for i := range y {
		if !b.at.Held[i] { // Whole, since the probe may have crossed into what a floor holds
			y[i] = (from.Whole[i] - to.Whole[i]) / h
		}
	}
	return y, nil
}

// beside evaluates h times the move v away from the point.
func (b *observed) beside(h float64, v []float64) (*Point, error) {
	theta := slices.Clone(b.at.Theta)
	axpy(theta, h, v)
	return b.o.Eval(b.ctx, theta, b.at.Beta)
}

// krylov is the outcome of conjugate gradients on I x = r.
type krylov struct {
	square   float64   // r' I^-1 r, from below
	move     []float64 // I^-1 r
	flattest direction // of the smallest Ritz value of I in units of I_c
	down     []float64 // a direction of length 1 in which I is not positive; nil if none was met
	pairs    *Memory   // the directions and what I makes of them, in the frame of the point
	settled  bool      // square has settled
	missing  float64   // what r' H r over the least Ritz value says is still missing from square
}

// solve runs conjugate gradients on I x = r in the frame of the point, preconditioned by what the memory makes of the
// complete-data information, until r' I^-1 r has settled up to the given share, passes enough, or a direction of no positive
// curvature turns up. The coefficients are those of Lanczos' tridiagonal matrix, whose eigenvalues approach those of I in units
// of the preconditioner from inside.
func (b *observed) solve(r []float64, enough float64, most int) (krylov, error) {
	k, t := krylov{flattest: none, pairs: &Memory{}}, tridiagonal{}
	r = framed(b.at, r)
	mask(r, b.at.Held)
	z := b.memory.apply(b.at, r)
	v, move := slices.Clone(z), make([]float64, len(r))
	rz := dot(r, z)
	first, beta, before := rz, 0.0, 0.0
	for rz > 1e-24*first && len(k.pairs.s) < most {
		u := unframed(b.at, v)
		y, err := b.times(u)
		if err != nil {
			return k, err
		}
		y = framed(b.at, y)
		mask(y, b.at.Held)
		vy, length := dot(v, y), b.at.Near.Length(u)
		if !(vy > 1e-7*length*length) { // not positive, or too small for the difference of two gradients
			k.move, k.flattest = unframed(b.at, move), b.ritz(k.pairs)
			k.stop(u, vy, length)
			return k, nil
		}
		k.pairs.add(slices.Clone(v), y, vy)
		alpha := rz / vy
		t.add(alpha, beta, before)
		gain := alpha * rz
		k.square += gain
		axpy(move, alpha, v)
		axpy(r, -alpha, y)
		z = b.memory.apply(b.at, r)
		after := dot(r, z)
		beta, before, rz = after/rz, alpha, after
		// What is still missing from the square is at most r' H r over the least eigenvalue, which the Ritz value
		// stands for: a gain that is small once may be the calm before slow directions are found.
		low, _ := t.lowest()
		k.missing = after / low
		few := max(b.share*k.square, b.little)
		if k.square > enough || gain < few && alpha*after < few && k.missing < few {
			k.settled = k.square <= enough
			break
		}
		for i := range v {
			v[i] = z[i] + beta*v[i]
		}
	}
	if !(rz > 1e-24*first) { // what is left of r is rounding
		k.settled = k.square <= enough
	}
	k.move, k.flattest = unframed(b.at, move), b.ritz(k.pairs)
	return k, nil
}

// stop ends at the direction v of no positive curvature vy / length^2.
func (k *krylov) stop(v []float64, vy, length float64) {
	scale(v, 1/length)
	k.down = v
	if curvature := vy / (length * length); !(k.flattest.curvature <= curvature) { // NaN at the first product
		k.flattest = direction{v, curvature}
	}
}

// preconditioned returns I_c^-1 r, 0 where held.
func (b *observed) preconditioned(r []float64) []float64 {
	z := make([]float64, len(r))
	b.at.Near.Precondition(z, r)
	mask(z, b.at.Held)
	return z
}

// least searches for the direction of least curvature by Lanczos' method in the metric of the complete-data
// information, from the move u. It returns the smallest Ritz value and its vector, of length 1.
//
// The search must start from a move: the gradient there, I u, is blind along a ridge, and what components equal by
// symmetry have in common says nothing of how they might part.
func (b *observed) least(u []float64) (curvature float64, down []float64, err error) {
	near, n := b.at.Near, len(u)
	v, before := slices.Clone(u), make([]float64, n)
	mask(v, b.at.Held)
	beta := near.Length(v)
	if !(beta > 0) {
		return unknown, nil, nil
	}
	var moves [][]float64
	var t tridiagonal
	curvature = unknown
	for len(moves) < probes {
		for i := range v {
			v[i] /= beta
		}
		y, err := b.times(v)
		if err != nil {
			return unknown, nil, err
		}
		if len(moves) > 0 {
			t.beside = append(t.beside, beta)
		}
		moves, t.diagonal = append(moves, v), append(t.diagonal, dot(v, y))
		var weights []float64
		if curvature, weights = t.lowest(); weights == nil {
			return unknown, nil, nil
		}
		z := b.preconditioned(y)
		axpy(z, -t.diagonal[len(t.diagonal)-1], v)
		if len(moves) > 1 {
			axpy(z, -beta, before)
		}
		beta = near.Length(z)
		down = make([]float64, n)
		for i, m := range moves {
			axpy(down, weights[i], m)
		}
		if left := beta * math.Abs(weights[len(weights)-1]); left < 0.3*math.Abs(curvature) || left < level || beta < level {
			break // an eigenvalue is this near
		}
		before, v = v, z
	}
	return curvature, down, nil
}

// search looks for a direction that may lead up, beside the one already met, from a random move; where components have
// become the same, from one that parts them. It returns the least curvature it met, NaN if it did not look.
func (b *observed) search(met []float64, normal func() float64) (curvature float64, down []float64, err error) {
	u := slices.Clone(b.at.Theta)
	twins := b.at.Near.Part(u, normal)
	if !twins && met != nil {
		return unknown, met, nil
	}
	if !twins {
		b.at.Near.Nudge(u, normal)
	}
	axpy(u, -1, b.at.Theta)
	curvature, down, err = b.least(u)
	switch {
	case err != nil || !(curvature < level):
		return curvature, met, err
	case twins: // to shift weight between them is as flat as to part them, and leads nowhere
		return curvature, u, nil
	}
	return curvature, down, nil
}

// tridiagonal is the symmetric matrix of Lanczos' method.
type tridiagonal struct{ diagonal, beside []float64 }

// add adds the row that a step of conjugate gradients stands for: its own alpha, and beta and alpha of the step before.
func (t *tridiagonal) add(alpha, beta, before float64) {
	t.diagonal = append(t.diagonal, 1/alpha)
	if n := len(t.diagonal); n > 1 {
		t.diagonal[n-1] += beta / before
		t.beside = append(t.beside, math.Sqrt(beta)/before)
	}
}

// lowest returns the smallest eigenvalue and its vector; NaN and nil of an empty matrix, and of one that is not finite. It counts negative
// pivots: there are as many as eigenvalues below a shift (Golub and Van Loan 2013, section 8.4.1). All eigenvalues would take n^3 operations.
func (t *tridiagonal) lowest() (value float64, vector []float64) {
	n := len(t.diagonal)
	if n == 0 {
		return unknown, nil
	}
	below, above := math.Inf(1), math.Inf(1) // Gershgorin's bound, and that of a Rayleigh quotient
	for i, v := range t.diagonal {
		reach := 0.0
		if i > 0 {
			reach += math.Abs(t.beside[i-1])
		}
		if i < n-1 {
			reach += math.Abs(t.beside[i])
		}
		below, above = min(below, v-reach), min(above, v)
	}
	size := math.Abs(below) + math.Abs(above)
	if size-size != 0 {
		return unknown, nil
	}
	pivots := make([]float64, n)
	for below -= epsilon * size; above-below > epsilon*size; {
		if mid := below + (above-below)/2; t.pivots(pivots, mid) {
			below = mid
		} else {
			above = mid
		}
	}
	t.pivots(pivots, below)
	vector = make([]float64, n)
	for i := range vector {
		vector[i] = 1 / float64(i+1)
	}
	for range 3 { // inverse iteration; the shift is so near that the first solves for the vector where no other eigenvalue is as near
		t.solve(vector, pivots)
		scale(vector, 1/math.Sqrt(dot(vector, vector)))
	}
	return above, vector
}

// epsilon is the rounding of eigenvalues, relative to the largest entries.
const epsilon = 1e-15

// pivots sets p to the pivots of the matrix less shift times the identity, as far as they are positive. It reports whether all are.
func (t *tridiagonal) pivots(p []float64, shift float64) bool {
	for i, v := range t.diagonal {
		p[i] = v - shift
		if i > 0 {
			p[i] -= t.beside[i-1] / p[i-1] * t.beside[i-1]
		}
		if !(p[i] > 0) {
			return false
		}
	}
	return true
}

// solve sets x to the solution of the equations with these pivots and the right side x.
func (t *tridiagonal) solve(x, pivots []float64) {
	for i, b := range t.beside {
		x[i+1] -= b / pivots[i] * x[i]
	}
	for i := len(x) - 1; i >= 0; i-- {
		x[i] /= pivots[i]
		if i < len(x)-1 {
			x[i] -= t.beside[i] / pivots[i] * x[i+1]
		}
	}
}

// eigen returns the eigenvalues, the smallest first, and their vectors, a column each; nil of an empty matrix.
func (t *tridiagonal) eigen() (values []float64, vectors *mat.Dense) {
	n := len(t.diagonal)
	if n == 0 {
		return nil, nil
	}
	s := mat.NewSymDense(n, nil)
	for i, v := range t.diagonal {
		s.SetSym(i, i, v)
		if i > 0 {
			s.SetSym(i, i-1, t.beside[i-1])
		}
	}
	var e mat.EigenSym
	if !e.Factorize(s, true) {
		return nil, nil
	}
	vectors = new(mat.Dense)
	e.VectorsTo(vectors)
	return e.Values(nil), vectors
}

// upwards is why a distance is not known where a curvature is negative.
const upwards = "the log-likelihood curves upwards here: a saddle, or the slope before the last rise"

// certify looks at the surroundings of the point. tol is the distance asked for: how far the optimum is beyond three
// times that does not matter. most is how many products may be spent on the distance. Within tol the least curvature
// is searched for, unless normal is nil. down is a direction that may lead up though the gradient does not show it, nil
// if none was met.
func (b *observed) certify(tol, enough float64, most int, normal func() float64) (c Certificate, down []float64, err error) {
	k, err := b.solve(b.at.Grad, enough, most)
	if err != nil {
		return c, nil, err
	}
	c = Certificate{Method: Information, Curvature: k.flattest.curvature, AtLeast: !k.settled && k.down == nil, gain: k.square / 2, pairs: k.pairs, flattest: k.flattest}
	held := drift(b.at)
	c.Distance = math.Hypot(math.Sqrt(k.square), b.at.Near.Length(held))
	c.short = math.Sqrt(settled) * c.Distance
	if b.little > 0 { // the square need not have settled
		c.short = math.Sqrt(k.missing)
		c.Distance = math.Hypot(c.Distance, c.short)
	}
	c.newton = k.move
	axpy(c.newton, 1, held)
	down = k.down
	if normal != nil && c.Distance <= tol {
		least, err := b.again(&c)
		if err != nil {
			return c, nil, err
		}
		if down == nil {
			down = least
		}
		if c.Distance <= within(tol, c.Curvature) || math.IsInf(tol, 1) || down != nil { // else to be looked at again closer by
			low, least, err := b.search(down, normal)
			if err != nil {
				return c, nil, err
			}
			if low == low && !(c.Curvature <= low) {
				c.Curvature = low
			}
			down = least
		}
	}
	if k.down != nil && k.flattest.curvature < -level || c.Curvature < -level { // else flat: what there is to gain is elsewhere
		c.Distance = unknown
		c.Why = upwards
	}
	c.Remaining = c.Distance * c.Distance / 2
	return c, down, nil
}

// again measures the curvature in the direction that was the flattest elsewhere, if there it was less than what c has met. It returns
// the direction where that may lead up.
func (b *observed) again(c *Certificate) (down []float64, err error) {
	if !(b.flattest.curvature < 0.7*c.Curvature) {
		return nil, nil
	}
	v := slices.Clone(b.flattest.move)
	mask(v, b.at.Held)
	length := b.at.Near.Length(v)
	if !(length > 0) {
		return nil, nil
	}
	scale(v, 1/length)
	y, err := b.times(v)
	if err != nil {
		return nil, err
	}
	curvature := dot(v, y)
	if curvature < c.Curvature {
		c.Curvature, c.flattest = curvature, direction{v, curvature}
	}
	if curvature < level {
		down = v
	}
	return down, nil
}

// after returns the certificate of q, where Newton's step from the point of c has led. What is left is what the solution
// was cut short by, at most the share of settled, and where the surroundings bend: that is told by the gradient at q, which
// weighs at most 1 over the least curvature of what it weighs in the complete-data information.
func (c *Certificate) after(q *Point) Certificate {
	e := *c
	e.newton, e.gain, e.pairs = nil, 0, nil
	left := math.Hypot(q.Slope()/math.Sqrt(c.Curvature), q.Near.Length(drift(q)))
	if c.Whole {
		left *= margin
	} else {
		left = max(c.short, left)
	}
	if left < c.Distance { // not NaN
		e.Distance, e.Remaining = left, left*left/2
	}
	return e
}

// measured corrects the certificate of p by what was found at q, where Newton's step has led: the distance is that which the
// rise of F stands for, where that is more, and what is left at q, whose certificate is at. It returns false where q is not
// as close to the optimum by its gradient as a quadratic function would lead, up to what the solution was cut short by.
func (c *Certificate) measured(p, q *Point, at *Certificate) bool {
	if !(q.Slope() <= shallow*p.Slope() && at.Distance <= c.Distance/2) {
		return false
	}
	c.Distance = max(c.Distance, math.Sqrt(2*max(q.F-p.F, 0))) + at.Distance
	c.Remaining = c.Distance * c.Distance / 2
	return true
}
