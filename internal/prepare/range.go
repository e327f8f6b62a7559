package prepare

import (
	"errors"
	"fmt"
	"math"
)

// leastWeight is the least sum of row weights that is fitted: a log-likelihood, which is in proportion to it, must keep its digits.
const leastWeight = 0x1p-1000

// checkWeights refuses a sum of row weights that float64 cannot hold with all its digits.
func checkWeights(sum float64) error {
	switch {
	case math.IsInf(sum, 1):
		return errors.New("the row weights add up to more than a float64 can hold")
	case sum < leastWeight:
		return fmt.Errorf("the row weights add up to %g, so little that sums lose their digits; multiply the weights by a constant", sum)
	}
	return nil
}

// OutOfRange returns the error of New for a column of a Gaussian mixture whose values have the standard deviation sd, if float64 could not
// hold the covariances; else nil.
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

// WeightsOutOfRange returns the error of New for row weights that add up to sum, if float64 could not hold sums in proportion to them; else
// nil.
func WeightsOutOfRange(sum float64) error {
	if sum == 0 {
		return nil
	}
	return checkWeights(sum)
}
