package inference

import (
	"context"

	"gonum.org/v1/gonum/mat"

	"github.com/latent-go/latent/internal/ascent"
	"github.com/latent-go/latent/internal/sweep"
	"github.com/latent-go/latent/model"
)

// mostDifferenced is the most that rows x p^2 may be for the information of p parameters to be found by differences of gradients, which take 2 p
// passes. Where rows are many the outer products of a part of them are enough, since a prior adds little.
const mostDifferenced = 2e8

// differences reports whether standard errors of p parameters are those of the observed information, by differences of gradients: where these
// read no rows; under a prior, where rows are few, since outer products of the rows' gradients would lack the information of the prior and are
// singular of fewer rows than parameters; and of a chain, whose rows are not independent, so that outer products of rows tell nothing.
func (f *Fit) differences(p int) bool {
	return f.Gradient != nil || f.Mix.Chain || f.Mix.Prior != nil && float64(p)*float64(p)*float64(f.Survey.Used) <= mostDifferenced
}

// differenced returns minus the second derivatives of the log posterior in the parameters keep of theta.
func (f *Fit) differenced(ctx context.Context, theta []float64, keep []int) (*mat.SymDense, error) {
	info := mat.NewSymDense(len(keep), nil)
	_, err := f.Climb(ctx, ascent.Hessian{Keep: keep, Gradient: f.Gradient, Into: info}, theta)
	return info, err
}

// addPrior adds the information of the prior to that of the rows.
func (f *Fit) addPrior(ctx context.Context, info *sweep.Information, theta []float64, keep []int) error {
	own := mat.NewSymDense(len(keep), nil)
	gradient := func(theta []float64) []float64 {
		g := make([]float64, len(theta))
		f.Mix.AddPriorGrad(g, theta)
		return g
	}
	if _, err := f.Climb(ctx, ascent.Hessian{Keep: keep, Gradient: gradient, Into: own}, theta); err != nil {
		return err
	}
	info.Matrix.AddSym(info.Matrix, own)
	return nil
}

// information returns the information of the parameters keep of theta, with that of a prior, how it was found, and how many rows it is of.
func (f *Fit) information(ctx context.Context, s *ascent.Step, keep []int, held []bool) (info *mat.SymDense, e *model.StandardErrors, err error) {
	theta, p := s.Point.Theta, len(keep)
	if f.differences(p) {
		info, err = f.differenced(ctx, theta, keep)
		return info, &model.StandardErrors{Method: "observed information", Rows: f.Survey.Used}, err
	}
	outer, err := f.Local.Information(ctx, f.Mix, theta, keep, sweep.InformationShare(p, f.Survey.Used), f.Plan.Seed)
	if err != nil {
		return nil, nil, err
	}
	f.Sweeps++
	if f.Mix.Prior != nil {
		if err := f.addPrior(ctx, outer, theta, keep); err != nil {
			return nil, nil, err
		}
	}
	s.Certificate, err = f.flatDirection(ctx, s, keep, held, outer.Matrix, outer.Rows)
	return outer.Matrix, &model.StandardErrors{Method: "outer products", Rows: outer.Rows}, err
}
