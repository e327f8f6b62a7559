// Package resampling repeats a fit on other rows: on bootstrap samples, to tell how stable its groups are, and on rows drawn from its model,
// to test it against one more component.
package resampling

import (
	"context"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/merging"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/search"
	"github.com/latent-go/latent/internal/selection"
)

// Fit makes the fit or the choice of a plan, merges its components where the plan says so, and then makes the bootstrap and the likelihood-ratio test where the plan asks for them. If ctx ends
// during these, the result of the fit is returned with what they have by then.
func Fit(ctx context.Context, src data.Source, p plan.Plan, see search.Observer) (*search.Result, error) {
	var sequences *resample
	var err error
	if p.Bootstrap > 0 && p.Chain { // before a fit that may take long
		if sequences, err = ofSequences(ctx, src); err != nil {
			return nil, err
		}
	}
	r, err := selection.Fit(ctx, src, p.WithoutRepeats(), see)
	if err != nil {
		return nil, err
	}
	if err := merging.Fitted(context.WithoutCancel(ctx), src, &p, r); err != nil {
		return nil, err
	}
	found := &r.Model.Provenance.Findings
	if p.Bootstrap > 0 {
		if found.Stability, err = stability(ctx, src, p, r, sequences, see.Replicate); err != nil {
			return nil, err
		}
	}
	if p.LRT > 0 {
		if found.LRT, err = likelihoodRatio(ctx, src, p, r, see.Replicate); err != nil {
			return nil, err
		}
	}
	return r, nil
}
