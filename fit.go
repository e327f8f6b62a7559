package latent

import (
	"context"
	"time"

	"github.com/latent-go/latent/data"
	"github.com/latent-go/latent/internal/plan"
	"github.com/latent-go/latent/internal/resampling"
	"github.com/latent-go/latent/internal/updating"
)

// Fit finds the groups in the rows of src that spec asks for. Observers are told how it is getting on.
//
// A fit that used up its steps is a result with Converged false, not an error. If ctx ends while the starts climb, or while
// components are split and merged after them, the best so far is returned with Interrupted set; before there is anything to return, the
// error is that of ctx. Errors are for what cannot be fitted: a spec that makes no sense, rows
// with values that are not finite, fewer distinct rows than groups, a column without spread under a mixture.
//
// Where spec leaves a choice of K or of the covariance shape, every candidate is fitted, and again from where its neighbours
// ended. The result is that of the best, with the Candidates beside it: the same as of a Fit with its K and shape, unless Choice.From names the
// candidate at which it began. Those with a component at the floor of
// variances never win; where no other is left, that is an error.
//
// Bootstrap and LRT repeat the fit on other rows when it is done. If ctx ends meanwhile, the result stands, and its Stability and
// LRT say how many replicates they are of.
func Fit(ctx context.Context, src data.Source, spec Spec, see ...Observer) (*Result, error) {
	began := time.Now()
	if err := data.CheckContext(ctx); err != nil {
		return nil, err
	}
	src, err := data.Checked(src)
	if err != nil {
		return nil, err
	}
	p, err := plan.New(plan.Spec(spec))
	if err != nil {
		return nil, err
	}
	r, err := resampling.Fit(ctx, src, p, observers(see).stages())
	if err == nil && p.KeepSums { // Ctrl-C ended the climb, not what is kept of where it ended
		r.Model.Sums, err = updating.Gather(context.WithoutCancel(ctx), src, r.Model, p.Threads)
	}
	if err != nil {
		return nil, err
	}
	return newResult(r, p.Threads, time.Since(began)), nil
}
