package ascent

import (
	"context"
	"iter"
	"slices"

	"gonum.org/v1/gonum/mat"
)

// Hessian is a driver that goes nowhere: it finds minus the second derivatives of F at the start, the observed information, by differences
// of gradients on both sides of it, two evaluations a parameter.
type Hessian struct {
	// Keep are the places of the parameters in which it differentiates; moves of the others are 0.
	Keep []int
	// Gradient, where not nil, returns the gradient of another function, whose second derivatives are found instead; no more than one
	// evaluation is made then.
	Gradient func(theta []float64) []float64
	// Into is set to the matrix, of len(Keep) rows.
	Into *mat.SymDense
}

// Steps implements Driver. Its one step is the start.
func (d Hessian) Steps(ctx context.Context, o Objective, theta []float64) iter.Seq2[Step, error] {
	return func(yield func(Step, error) bool) {
		s := Step{Sweeps: 1, Distance: unknown, Remaining: unknown, Done: Limit}
		var err error
		if s.Point, err = o.Eval(ctx, theta, 1); err != nil {
			yield(s, err)
			return
		}
		p := len(d.Keep)
		all := mat.NewDense(max(p, 1), max(p, 1), nil)
		v := make([]float64, len(theta))
		for j, at := range d.Keep {
			clear(v)
			v[at] = 1
			h := wide / s.Point.Near.Length(v)
			var beside [2][]float64
			for side, f := range []float64{-h, h} {
				to := slices.Clone(s.Point.Theta)
				axpy(to, f, v)
				if d.Gradient != nil {
					beside[side] = d.Gradient(to)
					continue
				}
				q, err := o.Eval(ctx, to, 1)
				if err != nil {
					yield(s, err)
					return
				}
				s.Sweeps++
				beside[side] = q.Whole
			}
			for i, from := range d.Keep {
				all.Set(i, j, (beside[0][from]-beside[1][from])/(2*h))
			}
		}
		for i := range p {
			for j := range i + 1 {
				d.Into.SetSym(i, j, (all.At(i, j)+all.At(j, i))/2)
			}
		}
		yield(s, nil)
	}
}
