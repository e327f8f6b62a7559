package inference

import (
	"context"
	"math"
	"slices"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/model"
)

// Certify says how far from the optimum the last step s of the fit is. Distances are in standard errors, log-likelihoods in the user's
// units. It makes no pass.
func (f *Fit) Certify(s ascent.Step) (c model.Certificate) {
	c.OnEdge = []string{}
	switch {
	case f.Plan.RegCovar > 0:
		c.Why = "--reg-covar adds to the variances, so that no likelihood is maximised"
		return c
	case f.Plan.Hard() && f.Plan.Mixture():
		c.Why = "hard labels maximise another function than the log-likelihood"
		return c
	case f.Plan.Hard():
		return c
	}
	method := "estimate" // that of the driver, where the information was not looked at
	if s.Certificate != nil {
		method = string(s.Certificate.Method)
		if s.Certificate.AtLeast {
			method = "lower bound"
		}
		c.Why, c.Saddles = s.Certificate.Why, s.Certificate.Saddles
		if s.Certificate.Curvature == s.Certificate.Curvature {
			c.Curvature, c.Whole = new(s.Certificate.Curvature), s.Certificate.Whole
		}
	}
	if s.Distance == s.Distance && (s.Certificate != nil || s.Iteration >= ascent.EstimateAfter) {
		c.DistanceSE, c.Remaining, c.Method = new(s.Distance), new(f.UserWeight(s.Remaining)), &method
	}
	return c
}

// CanCertify reports whether the fit climbs the log-likelihood until a certificate says that the optimum is near.
func (f *Fit) CanCertify() bool {
	return f.Mix.Smooth() && !f.Plan.Hard() && f.Plan.RegCovar == 0 && f.Plan.TolLogLik == 0
}

// flatDirection looks for a direction in which no row's density changes, and returns the certificate of s with what it found. info is the sum
// over the rows of the outer products of their scores, for the parameters keep; parameters held are left out. Directions that the rows
// do not determine are in its null space. The pass for info is one that standard errors take anyway; two more, along the direction alone,
// tell whether the log-likelihood is flat there. Where s was looked at in every direction, it finds nothing new and returns at once.
func (f *Fit) flatDirection(ctx context.Context, s *ascent.Step, keep []int, held []bool, info *mat.SymDense, rows int64) (*ascent.Certificate, error) {
	if s.Certificate == nil || s.Certificate.Whole || !f.CanCertify() || int64(len(keep)) >= rows {
		return s.Certificate, nil
	}
	var least float64
	look := ascent.FlatAlong{Seed: f.Plan.Seed, Known: s.Point, Least: &least, Held: held, Estimate: f.outerProducts(keep, held, info)}
	last, err := f.Climb(ctx, look, s.Point.Theta)
	if err != nil {
		return nil, err
	}
	c := *s.Certificate
	if least < c.Curvature { // the certificate went by the curvature that the climb had met
		grow := math.Sqrt(c.Curvature / max(least, FlatBelow))
		c.Distance, c.Remaining = c.Distance*grow, c.Remaining*grow*grow
	}
	if along := last.Certificate.Curvature; along < c.Curvature {
		c.Curvature = along
	}
	return &c, nil
}

// outerProducts returns a function that multiplies info, the sum of outer products, with a step v. info is of the parameters keep, which lack
// one of each group of logits: the scores of a group add up to 0, so that the one left out follows from the others.
func (f *Fit) outerProducts(keep []int, held []bool, info *mat.SymDense) func(v []float64) ([]float64, error) {
	n := f.Mix.Params()
	kept, anchor := make([]bool, n), slices.Repeat([]int{-1}, n) // of each parameter, the one left out of its group; -1 where none is
	for _, at := range keep {
		kept[at] = true
	}
	f.Mix.Groups(func(from, to int) {
		for i := from; i < to; i++ {
			if !kept[i] && !held[i] {
				for j := from; j < to; j++ {
					anchor[j] = i
				}
			}
		}
	})
	return func(v []float64) ([]float64, error) {
		x, y, product := make([]float64, len(keep)), make([]float64, n), mat.NewVecDense(len(keep), nil)
		for j, at := range keep {
			if x[j] = v[at]; anchor[at] >= 0 {
				x[j] -= v[anchor[at]]
			}
		}
		product.MulVec(info, mat.NewVecDense(len(x), x))
		for i, at := range keep {
			y[at] = product.AtVec(i)
			if anchor[at] >= 0 {
				y[anchor[at]] -= y[at]
			}
		}
		return y, nil
	}
}

// Undetermined is what is said where the log-likelihood is flat in some direction.
const Undetermined = "these rows do not determine all parameters: the log-likelihood is flat in some direction"

// FlatBelow is the curvature, in units of the complete-data information, below which a direction is called flat: the precision of a difference
// of gradients.
const FlatBelow = 1e-4

// IsFlat reports whether the log-likelihood was found to be flat in some direction at s.
func IsFlat(s *ascent.Step) bool {
	return s.Certificate != nil && math.Abs(s.Certificate.Curvature) < FlatBelow
}
