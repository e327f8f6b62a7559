package latent

import (
	"context"
	"errors"
	"fmt"
	"math"
)

// leastWeight is the least sum of row weights that is fitted: what is in proportion to it, as a log-likelihood is, must keep
// its digits.
const leastWeight = 0x1p-1000

// checkWeights refuses weights whose sum no float64 can hold, or only few digits of it.
func checkWeights(sum float64) error {
	switch {
	case math.IsInf(sum, 1):
		return errors.New("the row weights add up to more than a float64 can hold")
	case sum < leastWeight:
		return fmt.Errorf("the row weights add up to %g, so little that sums lose their digits; multiply the weights by a constant", sum)
	}
	return nil
}

// OutOfRange returns what Fit says of a column of a Gaussian mixture whose values have the standard deviation sd, where it
// refuses it because no float64 could hold the covariances; nil where it does not.
func OutOfRange(column string, sd float64) error {
	switch power := 2 * math.Log2(sd); {
	case sd == 0:
		return nil
	case power > math.Log2(mostVariance):
		return tooLarge(column)
	case power < math.Log2(leastVariance):
		return tooSmall(column)
	}
	return nil
}

// WeightsOutOfRange returns what Fit says of row weights that add up to sum, where it refuses them because no float64 could hold
// what is in proportion to them; nil where it does not.
func WeightsOutOfRange(sum float64) error {
	if sum == 0 {
		return nil
	}
	return checkWeights(sum)
}

// checkNumbers refuses a result with a number that no float64 can hold, and an inertia whose squares have vanished.
func (f *fit) checkNumbers(ctx context.Context, r numbers) error {
	for _, v := range []*float64{r.LogLik, r.BIC, r.AIC, r.ICL, r.Inertia, r.Objective} {
		if v != nil && *v-*v != 0 {
			what := "log-likelihood"
			if r.LogLik == nil {
				what = "inertia"
			}
			return fmt.Errorf("the %s is more than a float64 can hold; divide the columns, or the row weights, by a constant", what)
		}
	}
	const normal = 0x1p-1022 // numbers below it have fewer digits
	if r.Inertia == nil || *r.Inertia >= normal || *r.Inertia > 0 && f.plan.Medians() {
		return nil
	}
	if *r.Inertia > 0 {
		return errors.New("the inertia is less than a float64 can hold with all its digits; multiply the columns, or the row weights, by a constant")
	}
	// Rows cost nothing only where each equals its centre.
	if distinct, err := distinctRows(ctx, f.user, f.mix.K+1); err != nil || distinct <= f.mix.K {
		return err
	}
	at := -1
	for j, hi := range f.look.Max {
		if width := hi - f.look.Min[j]; width > 0 && (at < 0 || width < f.look.Max[at]-f.look.Min[at]) {
			at = j
		}
	}
	if at < 0 || at >= len(f.names) || len(f.look.Max) != len(f.names) {
		return errors.New("rows of one group differ by so little that the squares underflow; use --scale standard")
	}
	return fmt.Errorf("column %q: rows of one group differ by so little that the squares underflow; multiply the column by a constant, or use --scale standard", f.names[at])
}
