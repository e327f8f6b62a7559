// Package median holds what every weighted median of the project must agree on: where half of the weight lies, and which
// value of an interval of medians is taken.
package median

// Slack is how far from half a sum of weights may be, as a share of all weight, and still count as half: 0.1 + 0.2 must
// balance 0.3, though their float64 sums differ. No cost can tell: half the weight lies on either side of such an
// interval, so crossing it changes sum w |x - m| by at most about four times this share of it.
const Slack = 1e-13

// Middle returns the middle of an interval of medians.
func Middle(lower, upper float64) float64 {
	if lower == upper {
		return lower
	}
	return lower/2 + upper/2 // the sum could overflow
}
