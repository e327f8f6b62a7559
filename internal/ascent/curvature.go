package ascent

import (
	"context"
	"iter"
	"math"
	"slices"

	"gonum.org/v1/gonum/floats"

	"github.com/latent-go/latent/internal/rng"
)

// spectrum is Lanczos' method for a symmetric matrix in the metric of a Geometry, whose moves are all kept and made
// orthogonal to each other. Run until the space is exhausted it has every eigenvalue, so that none can be missed.
type spectrum struct {
	near  Geometry
	held  []bool
	times func(v []float64) ([]float64, error) // the matrix times a move: 0 where held

	moves, duals [][]float64 // orthonormal moves, and the gradient that belongs to each: the metric times it
	t            tridiagonal
	next, dual   []float64 // what the matrix makes of the last move beside all that there are, not yet of length 1
	beside       float64   // its length
}

// exhausted is the curvature below which what a product adds to the moves is taken for its rounding.
const exhausted = level / 10

// begin sets the next move to u, or to what of u is not spanned yet. It returns false where that is nothing.
func (s *spectrum) begin(u []float64) bool {
	r := make([]float64, len(u))
	s.near.Multiply(r, u)
	return s.beginDual(r)
}

// beginDual is begin for the move whose gradient is r.
func (s *spectrum) beginDual(r []float64) bool {
	s.next, s.dual = make([]float64, len(r)), slices.Clone(r)
	mask(s.dual, s.held)
	s.raise()
	whole := dot(s.next, s.dual)
	s.orthogonalise()
	left := dot(s.next, s.dual)
	s.beside = 0 // the matrix does not link it to the moves before
	if !(left > 1e-12*whole) {
		return false
	}
	s.scale(math.Sqrt(left))
	return true
}

// raise sets the next move to that whose gradient is dual.
func (s *spectrum) raise() {
	s.near.Precondition(s.next, s.dual)
	mask(s.next, s.held)
}

// orthogonalise takes the moves out of the next one, twice for rounding. It does so in the gradients alone: were the moves
// taken along by the same numbers, the two would drift apart by a factor at every step.
func (s *spectrum) orthogonalise() {
	s.project()
	s.raise()
	length, square := s.near.Length(s.next), dot(s.next, s.dual)
	if square > 0 && math.Abs(length*length-square) > astray*square {
		s.near.Multiply(s.dual, s.next)
		mask(s.dual, s.held)
		s.project()
		s.raise()
	}
}

// astray is by what share the square of a length, told by the gradient, may differ from that told by the metric. Beyond, the
// gradient holds something that is none: where only the differences of parameters count, a constant that is nothing but
// rounding. It too would grow by a factor at every step.
const astray = 1e-6

// project takes the gradients of the moves out of dual.
func (s *spectrum) project() {
	for range 2 {
		for i, v := range s.moves {
			floats.AddScaled(s.dual, -floats.Dot(v, s.dual), s.duals[i])
		}
	}
}

func (s *spectrum) scale(length float64) {
	for i := range s.next {
		s.next[i] /= length
		s.dual[i] /= length
	}
}

// step multiplies the matrix with the next move. It returns false when the moves so far span all that the matrix makes of
// them.
func (s *spectrum) step() (more bool, err error) {
	y, err := s.times(s.next)
	if err != nil {
		return false, err
	}
	if len(s.moves) > 0 {
		s.t.beside = append(s.t.beside, s.beside)
	}
	s.moves, s.duals = append(s.moves, s.next), append(s.duals, s.dual)
	s.t.diagonal = append(s.t.diagonal, dot(s.next, y))
	s.next, s.dual = make([]float64, len(y)), y
	s.orthogonalise()
	s.beside = math.Sqrt(max(dot(s.next, s.dual), 0))
	if !(s.beside > exhausted) {
		return false, nil
	}
	s.scale(s.beside)
	return true, nil
}

// run multiplies up to n times in all, until the space is exhausted.
func (s *spectrum) run(n int) error {
	for more := true; more && len(s.moves) < n; {
		var err error
		if more, err = s.step(); err != nil {
			return err
		}
	}
	return nil
}

// direction returns the move with such components in the moves.
func (s *spectrum) direction(shares []float64) []float64 {
	v := make([]float64, len(s.moves[0]))
	for j, m := range s.moves {
		axpy(v, shares[j], m)
	}
	return v
}

// LeastCurvature returns the smallest eigenvalue of a symmetric matrix in units of the metric near, on the parameters that
// are not held (nil: none), and its direction, of length 1. times multiplies the matrix with a move of n parameters; it is
// called n times at most. normal returns standard normal numbers. It returns NaN and nil where everything is held, and the
// error of times.
func LeastCurvature(near Geometry, n int, held []bool, times func(v []float64) ([]float64, error), normal func() float64) (float64, []float64, error) {
	s := &spectrum{near: near, held: held, times: times}
	if err := s.whole(n, normal); err != nil || len(s.moves) == 0 {
		return unknown, nil, err
	}
	value, vector := s.t.lowest()
	if vector == nil {
		return unknown, nil, nil
	}
	return value, s.direction(vector), nil
}

// whole runs from a random move of n parameters until the space is exhausted. The move has a part along every parameter, and
// all parts are equally long: so it contains every direction, in any units, also one along few parameters, such as a rotation of one
// component.
func (s *spectrum) whole(n int, normal func() float64) error {
	u, e := make([]float64, n), make([]float64, n)
	for i := range u {
		e[i] = 1
		if one := s.near.Length(e); one > 0 {
			u[i] = normal() / one
		}
		e[i] = 0
	}
	mask(u, s.held)
	if !s.begin(u) {
		return nil
	}
	return s.run(n)
}

// FlatAlong looks whether the log-likelihood is flat in the direction in which an estimate of the information is smallest.
// It evaluates two points where the estimate gives reason to, and the one that it is given unless that is known. Its only step
// carries a certificate of which Curvature alone is set: that of the information along the direction, NaN where the estimate
// gives no reason to look.
type FlatAlong struct {
	Estimate func(v []float64) ([]float64, error) // the estimate times a move
	Held     []bool                               // parameters that it leaves out
	Seed     uint64                               // of the move that the search begins with
	Known    *Point                               // the point at theta; nil where it has to be evaluated
	Least    *float64                             // set to the smallest eigenvalue of the estimate, in units of the complete-data information
}

// Steps implements Driver.
func (f FlatAlong) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		c := &counted{Objective: o}
		p, err := f.Known, error(nil)
		if p == nil || p.Near == nil {
			p, err = c.Eval(ctx, theta, 1)
		}
		s := Step{Point: p, Distance: unknown, Remaining: unknown, Certificate: &Certificate{Curvature: unknown}, Done: FixedPoint}
		if err == nil {
			s.Certificate.Curvature, err = f.along(ctx, c, p)
		}
		s.Sweeps = c.n
		yield(s, err)
	}
}

// along returns the curvature at p along the direction, NaN where there is no reason to look.
func (f FlatAlong) along(ctx context.Context, o Objective, p *Point) (float64, error) {
	least, v, err := LeastCurvature(p.Near, len(p.Theta), f.Held, f.Estimate, rng.Probes.New(f.Seed).NormFloat64)
	if *f.Least = least; err != nil || !(least < ridge) {
		return unknown, err
	}
	mask(v, p.Held)
	b := observed{ctx: ctx, o: o, at: p, central: true}
	y, err := b.times(v)
	if err != nil {
		return unknown, err
	}
	length := p.Near.Length(v)
	return dot(v, y) / (length * length), nil
}
