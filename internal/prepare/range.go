package prepare

import (
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
