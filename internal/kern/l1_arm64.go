//go:build !purego

package kern

func fastL1All(dst, x, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		l1AllNEON(&dst[c*Rows], &x[0], &centres[c*d], min(step, k-c), d)
	}
	return true
}

func fastL1Nearest(least []float64, label []int64, x, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/d, 1)
	for c := 0; c < k; c += step {
		l1NearestNEON(&least[0], &label[0], &x[0], &centres[c*d], c, min(step, k-c), d)
	}
	return true
}

// rowCells is how many cells one call of the kernels that go by rows takes in.
const rowCells = 32 * callCells

func fastL1Rows(dst, x, centres []float64, label []int32, d int) bool {
	if level == Go {
		return false
	}
	step := max(rowCells/d, 1)
	for lo := 0; lo < len(dst); lo += step {
		l1RowsNEON(&dst[lo], &x[lo*d], &centres[0], &label[lo], min(step, len(dst)-lo), d)
	}
	return true
}

func fastDistanceSums(dst, x, w, centres []float64, k, d int) bool {
	if level == Go {
		return false
	}
	step := max(callCells/(d+8), 1)
	for c := 0; c < k; c += step {
		distanceSumsNEON(&dst[c], &x[0], &w[0], &centres[c*d], min(step, k-c), d)
	}
	return true
}

// fastBracket reports false: without a way to store the lanes of a mask the loop in Go, which skips most cells, is no slower.
func fastBracket(_, _ []float64, _ []int32, _, _, _ []float64, _ []int32, _ int) (n int, ok bool) {
	return 0, false
}
